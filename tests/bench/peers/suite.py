"""Runs every engine at every workload, in turn with ours, checks the answers, and reports.

Each run is a process of its own. A peer's ratio to ours is of the best of the runs of that pair: ours, peer, ours, peer, … A run that
takes long is made once. Times are by the clock, since engines may use threads; ours has its machine code compiled and loaded before, but
where the start of a process is what is measured.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from tests.bench.measure import Wrong, require
from tests.bench.peers.aims import report_aims
from tests.bench.peers.chart import draw
from tests.bench.peers.data import Data
from tests.bench.peers.engines import OURS, PEERS, engine_class
from tests.bench.peers.truth import Truth
from tests.bench.peers.workloads import Workload, chosen
from tests.bench.report import Column, Figure, Report, megabytes, seconds, times

ROOT = Path(__file__).parents[3]
LONG = 60.0  # seconds of a run that is not made again
PATIENCE = 600.0  # seconds that a run may take


@dataclass(frozen=True, slots=True)
class Settings:
    """What to run. `python` is the interpreter of the peers; `data` a folder that keeps the facts for other runs."""

    names: tuple[str, ...] = ()
    peers: tuple[str, ...] = PEERS
    small: bool = False
    rounds: int = 3
    threads: int = 1
    python: str = sys.executable
    data: Path | None = None
    chart: Path | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """One engine at one workload: what its process printed, and the seconds that the process took."""

    figures: Mapping[str, object]
    wall: float

    def number(self, name: str) -> float | None:
        found = self.figures.get(name)
        return float(found) if isinstance(found, int | float) else None

    @property
    def transactions(self) -> list[float]:
        found = self.figures.get("transactions")
        return found if isinstance(found, list) else []

    @property
    def median(self) -> float:
        """Seconds of the median transaction."""
        return statistics.median(self.transactions)

    @property
    def per_row(self) -> float | None:
        """Seconds for each row that came or went, among the given ones and in the result."""
        changed = self.number("changed")
        return None if changed is None else sum(self.transactions) / (changed + float(self.number("given") or 0))


@dataclass(slots=True)
class Outcome:
    """The runs of an engine at a workload; ours in turn with them; or why there are none."""

    engine: str
    runs: list[Run] = field(default_factory=list)
    beside: list[Run] = field(default_factory=list)  # ours, between these
    failure: str = ""

    def best(self, workload: Workload, runs: Sequence[Run] | None = None) -> float | None:
        """Seconds of the best run: of the median transaction, of the evaluation, or of all where that is what can be compared."""
        runs = self.runs if runs is None else runs
        return min((figure for run in runs if (figure := _figure(workload, run, self.whole)) is not None), default=None)

    @property
    def whole(self) -> bool:
        """Whether the engine cannot tell its evaluation from loading."""
        return any(run.number("evaluation") is None for run in self.runs)

    def ratio(self, workload: Workload) -> float | None:
        """The peer's time to ours, above 1 where ours is faster."""
        theirs, ours = self.best(workload), self.best(workload, self.beside)
        return theirs / ours if theirs is not None and ours else None

    @property
    def peak(self) -> float | None:
        return max((run.number("peak") or 0.0 for run in self.runs), default=None)


def _figure(workload: Workload, run: Run, whole: bool) -> float | None:
    if workload.changes:
        return run.median
    if workload.measure == "wall":
        return run.wall
    return run.number("total" if whole or workload.measure == "total" else "evaluation")


def run(report: Report, limit: float, settings: Settings | None = None) -> None:
    """Run the workloads of the settings. Raises Wrong, after all of them, if an answer was wrong."""
    settings = settings or Settings()
    with tempfile.TemporaryDirectory() as folder:
        size = "small" if settings.small else "full"
        Suite(report, limit, settings, (settings.data or Path(folder)) / size).run()


class Suite:
    """One run of the suite."""

    def __init__(self, report: Report, limit: float, settings: Settings, folder: Path) -> None:
        self._report, self._limit, self._settings = report, limit, settings
        whole = Path(os.environ["DATALOG_DATA"]) if os.environ.get("DATALOG_DATA") and not settings.small else None
        self._data, self._truth = Data(folder, settings.small, whole), Truth(whole is not None)
        self._wrong: list[str] = []

    def run(self) -> None:
        """Everything, with the table, the aims and the chart."""
        self._report.keep("machine", machine(self._settings.threads))
        versions = self._versions()
        peers = [name for name in self._settings.peers if name in versions]
        if self._data.whole is None and not self._settings.small:
            self._report.note("w7 and w8 run on the extracts of the examples: DATALOG_DATA does not name the large data sets")
        self._compile()
        results: dict[str, list[Outcome]] = {}
        rows: list[list[Figure]] = []
        for workload in chosen(self._settings.names):
            results[workload.name] = self._workload(workload, peers)
            rows += [_row(workload, outcome) for outcome in results[workload.name]]
        self._report.table(f"Beside other engines, {'small' if self._settings.small else 'full'} sizes", COLUMNS, rows)
        report_aims(self._report, results)
        if self._settings.chart is not None:
            draw(self._settings.chart, results)
            self._report.note(f"chart: {self._settings.chart}")
        if self._wrong:
            raise Wrong("; ".join(self._wrong))

    def _versions(self) -> dict[str, str]:
        """The engines that are installed, with their versions; those that are not are named."""
        found = {OURS: engine_class(OURS).version()}
        missing: dict[str, str] = {}
        for name in self._settings.peers:
            asked = self._process(name, [])
            lines = asked.stdout.split("\n") if asked.returncode == 0 else asked.stderr.strip().split("\n")
            (found if asked.returncode == 0 else missing)[name] = lines[0 if asked.returncode == 0 else -1]
        self._report.keep("versions", found)
        self._report.keep("missing", missing)
        self._report.note("versions: " + ", ".join(f"{name} {version}" for name, version in found.items()))
        if missing:
            self._report.note("missing: " + ", ".join(f"{name} ({why})" for name, why in missing.items()))
        return found

    def _compile(self) -> None:
        from datalog.kernels.machine_code import compile_all

        compile_all()

    def _workload(self, workload: Workload, peers: Sequence[str]) -> list[Outcome]:
        place = self._data.make(workload.data)
        ours, outcomes = Outcome(OURS), []
        for name in peers or [OURS]:
            engine = engine_class(name)
            problem = workload.problem.name
            if problem not in engine.problems or (workload.changes and problem not in engine.changing):
                continue
            outcome = ours if name == OURS else Outcome(name)
            for _ in range(self._settings.rounds):
                if outcome is not ours and not self._once(ours, workload, place, outcome.beside):
                    break
                if not self._once(outcome, workload, place, outcome.runs) or outcome.runs[-1].wall > LONG:
                    break
            self._report.console.print(f"{workload.name}, {name}: {_said(workload, outcome)}", highlight=False)
            if outcome is not ours:
                outcomes.append(outcome)
                ours.runs += outcome.beside
        if not ours.runs and not ours.failure:
            self._once(ours, workload, place, ours.runs)
        return [ours, *outcomes]

    def _once(self, outcome: Outcome, workload: Workload, place: Path, runs: list[Run]) -> bool:
        """Run an engine once and check its answer; whether that went well."""
        start = perf_counter()
        engine = outcome.engine if runs is outcome.runs else OURS
        try:
            done = self._process(engine, [workload.name, str(place), str(self._settings.threads), str(self._limit)], workload)
        except subprocess.TimeoutExpired:
            outcome.failure = f"more than {PATIENCE:.0f} s"
            return False
        wall = perf_counter() - start
        if done.returncode:
            outcome.failure = (done.stderr.strip().split("\n")[-1] or f"exit status {done.returncode}")[:200]
            return False
        run = Run(json.loads(done.stdout.strip().split("\n")[-1]), wall)
        known = self._truth.answer(workload, place, len(run.transactions), run.figures.get("follows") == "inserts only")
        try:
            require(f"{workload.name}, {engine}", tuple(run.figures["answer"]), known)  # type: ignore[arg-type]
        except Wrong as reason:
            outcome.failure = str(reason)
            self._wrong.append(str(reason))
            return False
        runs.append(run)
        return True

    def _process(self, engine: str, arguments: list[str], workload: Workload | None = None) -> subprocess.CompletedProcess[str]:
        threads = str(self._settings.threads)
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}
        environment |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"), threads)
        if engine == OURS and (workload is None or workload.measure != "wall"):
            environment["DATALOG_PATIENCE"] = "0"
        python = sys.executable if engine == OURS else self._settings.python
        command = [python, "-m", "tests.bench.peers", engine, *arguments]
        return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT, timeout=PATIENCE)


def _said(workload: Workload, outcome: Outcome) -> str:
    """A line for those who wait for the table."""
    best, ratio = outcome.best(workload), outcome.ratio(workload)
    return outcome.failure if best is None else seconds(best) + (f", {times(ratio)} ours" if ratio else "")


COLUMNS = (
    Column("workload"),
    Column("engine"),
    Column("way"),
    Column("loading", seconds),
    Column("evaluation", seconds),
    Column("in all", seconds),
    Column("transactions"),
    Column("median", seconds),
    Column("p99", seconds),
    Column("a changed row", seconds),
    Column("peak memory", megabytes),
    Column("to ours", times),
)


def _row(workload: Workload, outcome: Outcome) -> list[Figure]:
    if not outcome.runs:
        return [workload.name, outcome.engine, outcome.failure or "not run", *[None] * (len(COLUMNS) - 3)]

    def least(name: str) -> float | None:
        return min((figure for run in outcome.runs if (figure := run.number(name)) is not None), default=None)

    in_all = min(run.wall for run in outcome.runs) if workload.measure == "wall" else least("total")
    way, stream = "", [None, None, None, None]
    if workload.changes:
        best = min(outcome.runs, key=lambda run: run.median)
        ordered = sorted(best.transactions)
        way = str(best.figures["follows"])
        stream = [len(ordered), best.median, ordered[max(0, -(-99 * len(ordered) // 100) - 1)], best.per_row]  # type: ignore[list-item]
    elif least("compiling") is not None:
        way = f"compiled in {seconds(least('compiling') or 0)}"
    ratio = outcome.ratio(workload)
    return [workload.name, outcome.engine, way, least("load"), least("evaluation"), in_all, *stream, outcome.peak, ratio]


def machine(threads: int) -> dict[str, object]:
    """What the figures were taken on."""
    processor = platform.processor()
    information = Path("/proc/cpuinfo")
    if information.exists():
        lines = information.read_text(encoding="utf-8").splitlines()
        processor = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), processor)
    return {
        "processor": processor,
        "cores": os.cpu_count(),
        "threads": threads,
        "system": platform.platform(),
        "python": platform.python_version(),
    }
