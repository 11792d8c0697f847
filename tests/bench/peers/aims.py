"""What the figures are aimed at, beside what they are; and for which aims there is no figure, with the reason."""

from __future__ import annotations

from tests.bench.peers.engines import OURS, TWO_THREADS
from tests.bench.peers.outcomes import Kept, Outcome
from tests.bench.peers.workloads import WORKLOADS
from tests.bench.report import Aim, Report, seconds, times

BULK = ("w1-20k", "w1-200k", "w1-1m", "w2-random", "w2-chain", "w2-tree", "w3")
RECOMPUTING = ("duckdb", "nemo", "kuzu", "clingo")
RATIOS = (
    # Workloads, peers of which the best counts, and what our time may be of theirs.
    (BULK[:3], ("duckdb", "nemo", "kuzu", "egglog", "souffle compiled"), 0.5),
    (BULK[3:], ("duckdb",), 1.0),
    (BULK[3:], ("souffle compiled",), 1.0),
    (("w4",), ("duckdb",), 3.0),
    (("w5-aggregates",), ("duckdb",), 1 / 200),
    (("w5-triangles", "w5-closure", "w5-points-to"), ("pathway",), 1 / 20),
    (("w5-aggregates",), ("pathway",), 1 / 7),
    (("w5-triangles",), RECOMPUTING, 1 / 1000),
    (("w6",), RECOMPUTING, 1.2),
    (("w7",), ("souffle",), 1.0),
    (("w10-csv",), ("by hand",), 2.0),
)
MEDIANS = {"w5-triangles": 100e-6, "w5-aggregates": 100e-6, "w8-changes": 50e-6}  # seconds of a transaction
PER_ROW = {"w5-closure": 3e-6, "w5-points-to": 3e-6, "w6": 2e-6}  # seconds of a changed row
TOTALS = {"w8": 3.5, "w10-start": 0.35, "w10-rules": 1.0}  # seconds
CHANGES = {"w7-changes": ("w7", 1 / 1000), "w6": ("w6", 1.2)}  # the median transaction to the evaluation of a workload
MEMORY = 2.0  # times DuckDB's
THREADS = 1 / 1.6  # of the time on one thread that two may take


def report_aims(report: Report, kept: Kept) -> None:
    """Report each aim of the workloads that are there."""
    reporter = _Aims(report, kept)
    for names, peers, limit in RATIOS:
        for name in names:
            reporter.ratio(name, peers, limit)
    for name, limit in MEDIANS.items():
        reporter.seconds(f"{name}: median transaction", name, limit)
    for name, limit in PER_ROW.items():
        reporter.per_row(name, limit)
    for name, limit in TOTALS.items():
        reporter.seconds(f"{name}: all of it", name, limit)
    for name, (whole, limit) in CHANGES.items():
        reporter.change(name, whole, limit)
    for name in BULK:
        reporter.threads(name)
    for name in BULK:
        reporter.memory(name)


class _Aims:
    """The aims of one run."""

    def __init__(self, report: Report, kept: Kept) -> None:
        self._report, self._kept = report, kept
        self._workloads = {workload.name: workload for workload in WORKLOADS}

    def ratio(self, name: str, peers: tuple[str, ...], limit: float) -> None:
        outcomes = {peer: outcome for peer in peers if (outcome := self._kept.find(name, peer)) is not None}
        found = [(ratio, peer) for peer, outcome in outcomes.items() if (ratio := outcome.ratio(self._workloads[name])) is not None]
        what = f"{name}: ours to {peers[0] if len(peers) == 1 else 'the best of ' + ', '.join(peers)}"
        if found:
            ratio, peer = min(found)
            self._report.aim(Aim(f"{name}: ours to {peer}", 1 / ratio, limit, times))
        elif name in self._kept.results:
            self._absent(what, limit, outcomes, peers)

    def seconds(self, what: str, name: str, limit: float) -> None:
        ours = self._ours(name)
        if ours is not None and (best := ours.best(self._workloads[name])) is not None:
            self._report.aim(Aim(what, best, limit, seconds))

    def per_row(self, name: str, limit: float) -> None:
        ours = self._ours(name)
        rows = [run.per_row for run in ours.runs if run.per_row is not None] if ours is not None else []
        if rows:
            self._report.aim(Aim(f"{name}: a changed row", min(rows), limit, _microseconds))

    def change(self, name: str, whole: str, limit: float) -> None:
        changing, full = self._ours(name), self._ours(whole)
        median = changing.least("median") if changing is not None else None
        evaluation = full.least("evaluation") if full is not None else None
        if median is not None and evaluation:
            self._report.aim(Aim(f"{name}: median transaction to our evaluation", median / evaluation, limit, times))

    def threads(self, name: str) -> None:
        two = self._kept.find(name, TWO_THREADS)
        ratio = two.ratio(self._workloads[name]) if two is not None else None
        if ratio is not None:
            self._report.aim(Aim(f"{name}: two threads to one", ratio, THREADS, times))

    def memory(self, name: str) -> None:
        ours, theirs = self._ours(name), self._kept.find(name, "duckdb")
        if ours is not None and theirs is not None and ours.peak and theirs.peak:
            self._report.aim(Aim(f"{name}: peak memory to DuckDB's", ours.peak / theirs.peak, MEMORY, times))

    def _ours(self, name: str) -> Outcome | None:
        return self._kept.find(name, OURS)

    def _absent(self, what: str, limit: float, outcomes: dict[str, Outcome], peers: tuple[str, ...]) -> None:
        reasons = [f"{peer}: {outcomes[peer].failure}" for peer in peers if peer in outcomes and outcomes[peer].failure]
        reasons += [f"{peer} is not installed" for peer in peers if peer in self._kept.about.get("missing", {})]
        if reasons:
            self._report.note(f"no figure  {what}, the aim is at most {times(limit)} ({'; '.join(reasons)})")


def _microseconds(value: float) -> str:
    return f"{value * 1e6:.2f} µs"
