"""Runs every engine at every workload, in turn with ours, checks the answers, and reports.

Each run is a process of its own. A peer's ratio to ours is of the best of the runs of that pair: ours, peer, ours, peer, … A pair that
takes long runs once, and one that takes too long is stopped. Times are by the clock, since engines may use threads; ours has its machine
code compiled and loaded before, but where the start of a process is what is measured.
"""

from __future__ import annotations

import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from tests.bench.measure import Wrong, require
from tests.bench.peers.aims import report_aims
from tests.bench.peers.chart import draw
from tests.bench.peers.data import Data
from tests.bench.peers.engines import OURS, OWN, PEERS, engine_class
from tests.bench.peers.outcomes import About, Kept, Outcome, Run
from tests.bench.peers.tables import into_readme, said, show
from tests.bench.peers.truth import Truth
from tests.bench.peers.workloads import WORKLOADS, Workload, chosen
from tests.bench.report import Report

ROOT = Path(__file__).parents[3]
COMPILING = 180.0  # seconds that a compiler may take besides
LONG = 5.0  # seconds of all runs of a pair after which it does not run again


@dataclass(frozen=True, slots=True)
class Settings:
    """What to run. `python` is the interpreter of the peers; `data` a folder that keeps the facts for other runs."""

    names: tuple[str, ...] = ()
    peers: tuple[str, ...] = PEERS
    small: bool = False
    rounds: int = 3
    threads: int = 1
    patience: float = 90.0  # seconds that a run may take
    python: str = sys.executable
    data: Path | None = None
    keep: Path | None = None  # the file of figures: what it has does not run again
    report_only: bool = False
    chart: Path | None = None
    readme: Path | None = None


def run(report: Report, limit: float, settings: Settings | None = None) -> None:
    """Run the workloads of the settings, and report. Raises Wrong, after all of them, if an answer was wrong."""
    settings = settings or Settings()
    if settings.report_only:
        if settings.keep is None or not settings.keep.exists():
            raise Wrong("there is no file of figures to report: name it with --keep")
        report_all(report, Kept.read(settings.keep), settings)
        return
    with tempfile.TemporaryDirectory() as folder:
        size = "small" if settings.small else "full" if os.environ.get("DATALOG_DATA") else "extracts"
        suite = Suite(report, limit, settings, (settings.data or Path(folder)) / size)
        kept = suite.run()
    report_all(report, kept, settings)
    if suite.wrong:
        raise Wrong("; ".join(suite.wrong))


def report_all(report: Report, kept: Kept, settings: Settings) -> None:
    """The table, the aims, the chart and the README's part of it, from figures that are there."""
    for part, found in kept.about.items():
        report.keep(part, found)
    show(report, kept)
    report_aims(report, kept)
    if settings.chart is not None:
        settings.chart.parent.mkdir(parents=True, exist_ok=True)
        draw(settings.chart, kept.results)
        report.note(f"chart: {settings.chart}")
    if settings.readme is not None:
        into_readme(settings.readme, kept, settings.chart)
        report.note(f"table: {settings.readme}")


class Suite:
    """One run of the suite."""

    def __init__(self, report: Report, limit: float, settings: Settings, folder: Path) -> None:
        self._report, self._limit, self._settings = report, limit, settings
        whole = Path(os.environ["DATALOG_DATA"]) if os.environ.get("DATALOG_DATA") and not settings.small else None
        self._data, self._truth = Data(folder, settings.small, whole), Truth(whole is not None)
        self.wrong: list[str] = []

    def run(self) -> Kept:
        """Everything that the file of figures does not have yet."""
        settings = self._settings
        versions, missing = self._versions()
        how: dict[str, object] = {
            "small": settings.small,
            "whole data": self._data.whole is not None,
            "rounds": settings.rounds,
            "seconds": self._limit,
        }
        about: About = {"machine": machine(settings.threads), "versions": versions, "missing": missing, "settings": how}
        kept = Kept.open(settings.keep, about)
        if self._data.whole is None and not settings.small:
            self._report.note("w7 and w8 run on the extracts of the examples: DATALOG_DATA does not name the large data sets")
        self._compile()
        peers = [name for name in settings.peers if name in versions]
        for workload in chosen(settings.names):
            self._workload(workload, peers, kept)
        return kept

    def _versions(self) -> tuple[dict[str, object], dict[str, object]]:
        """The engines that are installed, with their versions; those that are not, with the reason."""
        found: dict[str, object] = {OURS: engine_class(OURS).version()}
        missing: dict[str, object] = {}
        for name in self._settings.peers:
            asked = self._process(name, [])
            lines = asked.stdout.split("\n") if asked.returncode == 0 else asked.stderr.strip().split("\n")
            (found if asked.returncode == 0 else missing)[name] = lines[0 if asked.returncode == 0 else -1]
        self._report.note("versions: " + ", ".join(f"{name} {version}" for name, version in found.items()))
        if missing:
            self._report.note("missing: " + ", ".join(f"{name} ({why})" for name, why in missing.items()))
        return found, missing

    def _compile(self) -> None:
        from datalog.kernels.machine_code import compile_all

        compile_all()

    def _workload(self, workload: Workload, peers: Sequence[str], kept: Kept) -> None:
        place = self._data.make(workload.data)
        ours = kept.find(workload.name, OURS) or Outcome(OURS)
        kept.add(workload.name, ours)
        for name in peers:
            engine, problem = engine_class(name), workload.problem.name
            if problem not in engine.problems or (workload.changes and problem not in engine.changing):
                continue
            outcome = kept.find(workload.name, name)
            if outcome is None:
                outcome = Outcome(name, failure=_hopeless(kept, workload, name))
                if not outcome.failure:
                    self._pair(outcome, workload, place)
                    ours.runs += outcome.beside
                kept.add(workload.name, outcome)
            self._tell(workload, outcome)
        if not ours.runs and not ours.failure:
            for _ in range(self._settings.rounds):
                if not self._once(ours, workload, place, ours.runs) or sum(run.wall for run in ours.runs) > LONG:
                    break
            self._tell(workload, ours)
        kept.write()

    def _pair(self, outcome: Outcome, workload: Workload, place: Path) -> None:
        """Run a peer in turn with ours."""
        if engine_class(outcome.engine).compiles:  # the memory of the compiler is not the program's: a run of its own makes the program
            with suppress(subprocess.TimeoutExpired):
                self._process(outcome.engine, [workload.name, str(place), "1", "0"], workload, self._settings.patience + COMPILING)
        start = perf_counter()
        for _ in range(self._settings.rounds):
            if not self._once(outcome, workload, place, outcome.beside) or not self._once(outcome, workload, place, outcome.runs):
                return
            if perf_counter() - start > LONG:
                return

    def _tell(self, workload: Workload, outcome: Outcome) -> None:
        self._report.console.print(f"{workload.name}, {outcome.engine}: {said(workload, outcome)}", highlight=False)

    def _once(self, outcome: Outcome, workload: Workload, place: Path, runs: list[Run]) -> bool:
        """Run an engine once and check its answer; whether that went well."""
        engine = outcome.engine if runs is outcome.runs else OURS
        whose = "" if runs is outcome.runs else f"{OURS}: "
        start = perf_counter()
        try:
            done = self._process(engine, [workload.name, str(place), str(self._settings.threads), str(self._limit)], workload)
        except subprocess.TimeoutExpired:
            outcome.failure = f"{whose}more than {self._settings.patience:.0f} s"
            return False
        wall = perf_counter() - start
        if done.returncode:
            outcome.failure = whose + (done.stderr.strip().split("\n")[-1] or f"exit status {done.returncode}")[:200]
            return False
        run = Run(json.loads(done.stdout.strip().split("\n")[-1]), wall)
        transactions, answer = int(run.number("transactions") or 0), run.figures["answer"]
        known = self._truth.answer(workload, place, transactions, run.figures.get("follows") == "inserts only")
        try:
            require(f"{workload.name}, {engine}", tuple(answer) if isinstance(answer, list) else answer, known)
        except Wrong as reason:
            outcome.failure = str(reason)
            self.wrong.append(str(reason))
            return False
        runs.append(run)
        return True

    def _process(
        self, engine: str, arguments: list[str], workload: Workload | None = None, patience: float | None = None
    ) -> subprocess.CompletedProcess[str]:
        threads = str(self._settings.threads)
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment |= {"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore", "PYTHONPYCACHEPREFIX": str(self._data.folder / "bytecode")}
        environment |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"), threads)
        if engine in OWN and (workload is None or workload.measure != "wall"):
            environment["DATALOG_PATIENCE"] = "0"
        python = sys.executable if engine in OWN else self._settings.python
        command = [python, "-m", "tests.bench.peers", engine, *arguments]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environment, cwd=ROOT, start_new_session=True) as process:
            try:
                out, err = process.communicate(timeout=self._settings.patience if patience is None else patience)
            except BaseException:  # with what it has started, which else would disturb all that follows
                os.killpg(process.pid, signal.SIGKILL)
                raise
        return subprocess.CompletedProcess(command, process.returncode, out, err)


def _hopeless(kept: Kept, workload: Workload, engine: str) -> str:
    """Why an engine need not try: it has not come to the end of the evaluation on fewer facts, or on the same before they change."""
    for other in WORKLOADS:
        if other.name == workload.smaller or (workload.changes and other.data == workload.data and not other.changes):
            outcome = kept.find(other.name, engine)
            if outcome is not None and outcome.failure and outcome.beside and not outcome.runs:
                return outcome.failure
    return ""


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
