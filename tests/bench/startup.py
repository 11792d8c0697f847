"""Start-up: importing, the help, and a small program from the command line, each in a process of its own."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from tests.bench.measure import require
from tests.bench.report import Aim, Column, Report, seconds

RUNS = 5
PROGRAM = "\n".join(f"edge({node}, {node + 1})." for node in range(10)) + (
    "\npath(x, y) :- edge(x, y).\npath(x, z) :- path(x, y), edge(y, z).\n"
    ".decl edge(x: number, y: number)\n.decl path(x: number, y: number)\n.output path\n"
)
PAIRS = 55  # of the closure of a chain of 11 nodes
LIMIT = 1.0  # seconds for the small program


def run(report: Report, limit: float) -> None:
    """Least and median of five runs, after one that fills the caches."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "chain.dl"
        program.write_text(PROGRAM, encoding="utf-8")
        commands = {
            "python -c pass": ["-c", "pass"],
            "import datalog": ["-c", "import datalog"],
            "datalog --help": ["-m", "datalog", "--help"],
            "datalog check, ten facts": ["-m", "datalog", "check", str(program)],
            "datalog run, ten facts": ["-m", "datalog", "run", str(program), "-D", folder],
        }
        rows: list[list[str | int | float]] = []
        for name, arguments in commands.items():
            took = [_seconds([sys.executable, *arguments], folder) for _ in range(1 + RUNS)][1:]
            walls, cpus = [wall for wall, _ in took], [cpu for _, cpu in took]
            rows.append([name, min(walls), statistics.median(walls), statistics.median(cpus)])
        require("pairs of a chain", len((Path(folder) / "path.csv").read_text().splitlines()), PAIRS)
    report.table(
        "Start-up, warm", (Column("command"), Column("least", seconds), Column("median", seconds), Column("median CPU", seconds)), rows
    )
    report.aim(Aim("median CPU of a ten-fact program", float(rows[-1][3]), LIMIT, seconds))


def _seconds(command: list[str], cache: str) -> tuple[float, float]:
    """One run's wall-clock and CPU time; byte code is kept in `cache`, whatever the surroundings say."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = perf_counter()
    subprocess.run(command, check=True, capture_output=True, env={**environment, "PYTHONPYCACHEPREFIX": cache})
    wall = perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
