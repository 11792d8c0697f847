"""What the figures are aimed at, beside what they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from tests.bench.peers.engines import OURS
from tests.bench.peers.workloads import WORKLOADS, Workload
from tests.bench.report import Aim, Report, seconds, times

if TYPE_CHECKING:
    from tests.bench.peers.suite import Outcome

Results = Mapping[str, Sequence["Outcome"]]
ENGINES = ("duckdb", "nemo", "kuzu", "egglog", "souffle compiled")
RATIOS = (
    # Workloads, peers of which the best counts, and what our time may be of theirs.
    (("w1-20k", "w1-200k", "w1-1m"), ENGINES, 0.5),
    (("w2-random", "w2-chain", "w2-tree", "w3"), ("duckdb",), 1.0),
    (("w2-random", "w2-chain", "w2-tree", "w3"), ("souffle compiled",), 1.0),
    (("w4",), ("duckdb",), 3.0),
    (("w5-aggregates",), ("duckdb",), 1 / 200),
    (("w5-triangles", "w5-closure", "w5-points-to"), ("pathway",), 1 / 20),
    (("w5-aggregates",), ("pathway",), 1 / 7),
    (("w5-triangles",), ("duckdb", "nemo", "kuzu", "clingo"), 1 / 1000),
    (("w6",), ("duckdb", "nemo", "kuzu", "clingo"), 1.2),
    (("w7",), ("souffle",), 1.0),
    (("w10-csv",), ("by hand",), 2.0),
)
MEDIANS = {"w5-triangles": 100e-6, "w5-aggregates": 100e-6, "w8-changes": 50e-6}  # seconds of a transaction
PER_ROW = {"w5-closure": 3e-6, "w5-points-to": 3e-6, "w6": 2e-6}  # seconds of a changed row
TOTALS = {"w8": 3.5}  # seconds
MEMORY = 2.0  # times DuckDB's, on the first three groups
CHANGE = 1 / 1000  # of the evaluation, on w7


def report_aims(report: Report, results: Results) -> None:
    """Report each aim whose workload and peers ran."""
    ours = {name: outcome for name, outcomes in results.items() for outcome in outcomes if outcome.engine == OURS and outcome.runs}
    workloads = {workload.name: workload for workload in WORKLOADS}
    for names, peers, limit in RATIOS:
        for name in names:
            found = [(ratio, one.engine) for one in results.get(name, ()) if one.engine in peers and (ratio := one.ratio(workloads[name]))]
            if found:
                ratio, peer = min(found)
                report.aim(Aim(f"{name}: ours to {peer}", 1 / ratio, limit, times))
    for name, limit in MEDIANS.items():
        _seconds(report, f"{name}: median transaction", ours.get(name), workloads[name], limit)
    for name, limit in PER_ROW.items():
        rows = [run.per_row for run in ours[name].runs if run.per_row is not None] if name in ours else []
        if rows:
            report.aim(Aim(f"{name}: a changed row", min(rows), limit, _nanoseconds))
    for name, limit in TOTALS.items():
        _seconds(report, f"{name}: evaluation", ours.get(name), workloads[name], limit)
    _changes_of_java(report, ours, workloads)
    for name, outcomes in results.items():
        peaks = {one.engine: one.peak for one in outcomes if one.peak}
        if name.split("-")[0] in ("w1", "w2", "w3") and OURS in peaks and "duckdb" in peaks:
            report.aim(Aim(f"{name}: peak memory to DuckDB's", (peaks[OURS] or 0) / (peaks["duckdb"] or 1), MEMORY, times))


def _changes_of_java(report: Report, ours: Mapping[str, Outcome], workloads: Mapping[str, Workload]) -> None:
    if "w7" in ours and "w7-changes" in ours:
        full, change = ours["w7"].best(workloads["w7"]), ours["w7-changes"].best(workloads["w7-changes"])
        if full and change:
            report.aim(Aim("w7-changes: median transaction to the evaluation", change / full, CHANGE, times))


def _seconds(
    report: Report, what: str, outcome: Outcome | None, workload: Workload, limit: float, show: Callable[[float], str] = seconds
) -> None:
    best = outcome.best(workload) if outcome else None
    if best is not None:
        report.aim(Aim(what, best, limit, show))


def _nanoseconds(value: float) -> str:
    return f"{value * 1e6:.2f} µs"
