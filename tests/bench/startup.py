"""Start-up: importing, the help, small programs and one of 300 rules from the command line, each in a process of its own."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random
from time import perf_counter

from datalog.kernels.machine_code import compile_all
from tests.bench.measure import require
from tests.bench.report import Aim, Column, Report, seconds

RUNS = 5
PROGRAM = "\n".join(f"edge({node}, {node + 1})." for node in range(10)) + (
    "\npath(x, y) :- edge(x, y).\npath(x, z) :- path(x, y), edge(y, z).\n"
    ".decl edge(x: number, y: number)\n.decl path(x: number, y: number)\n.output path\n"
)
PAIRS = 55  # of the closure of a chain of 11 nodes
GIVEN, DERIVED, RULES = 12, 48, 300
PAIRS_OF_RULES = 6  # of the last predicate of the program of 300 rules
IMPORT, SMALL, MANY_RULES, COMPILING = 0.06, 0.35, 1.0, 15.0  # seconds


def run(report: Report, limit: float) -> None:
    """Least and median of five runs, after one that fills the caches; then the compilation, and a run with an empty cache."""
    compile_all()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        place = Path(folder)
        chain, rules = place / "chain.dl", place / "rules.dl"
        chain.write_text(PROGRAM, encoding="utf-8")
        rules.write_text(many_rules(), encoding="utf-8")
        commands = {
            "python -c pass": ["-c", "pass"],
            "import datalog": ["-c", "import datalog"],
            "datalog --help": ["-m", "datalog", "--help"],
            "datalog check, ten facts": ["-m", "datalog", "check", str(chain)],
            "datalog run, ten facts": ["-m", "datalog", "run", str(chain), "-D", folder],
            "datalog run, 300 rules": ["-m", "datalog", "run", str(rules), "-D", folder],
        }
        rows: list[list[str | int | float]] = []
        for name, arguments in commands.items():
            took = [_seconds([sys.executable, *arguments], folder) for _ in range(1 + RUNS)][1:]
            walls, cpus = [wall for wall, _ in took], [cpu for _, cpu in took]
            rows.append([name, min(walls), statistics.median(walls), statistics.median(cpus)])
        require("pairs of a chain", len((place / "path.csv").read_text().splitlines()), PAIRS)
        require("pairs of 300 rules", len((place / f"p{GIVEN + DERIVED - 1}.csv").read_text().splitlines()), PAIRS_OF_RULES)
        compiling = "from datalog.kernels.machine_code import compile_all; compile_all()"
        wall, cpu = _seconds([sys.executable, "-c", compiling], folder, place / "kernels")
        rows.append(["compiling all kernels", wall, wall, cpu])
        # Once and last, since it leaves compilers at work.
        cold, cpu = _seconds([sys.executable, *commands["datalog run, ten facts"]], folder, place / "no kernels")
        rows.append(["datalog run, ten facts, empty cache", cold, cold, cpu])
    report.table(
        "Start-up, warm", (Column("command"), Column("least", seconds), Column("median", seconds), Column("median CPU", seconds)), rows
    )
    figures = {str(row[0]): row for row in rows}
    report.aim(Aim("median CPU of import datalog", float(figures["import datalog"][3]), IMPORT, seconds))
    report.aim(Aim("median CPU of a ten-fact program", float(figures["datalog run, ten facts"][3]), SMALL, seconds))
    report.aim(Aim("median CPU of a program of 300 rules", float(figures["datalog run, 300 rules"][3]), MANY_RULES, seconds))
    report.aim(Aim("compiling all kernels", wall, COMPILING, seconds))


def many_rules() -> str:
    """300 rules over 60 binary predicates, joins of two to four atoms, a seventh of the predicates recursive; 14 facts each."""
    random = Random(5)
    names = [f"p{number}" for number in range(GIVEN + DERIVED)]
    lines = [f".decl {name}(x: number, y: number)" for name in names]
    lines += [f"{name}({random.randrange(40)}, {random.randrange(40)})." for name in names[:GIVEN] for _ in range(14)]
    for rule in range(RULES):
        head = GIVEN + rule % DERIVED
        before = names[max(0, head - 20) : head + (random.random() < 0.15)]
        atoms = [
            f"{random.choice(before if random.random() < 0.6 else names[:GIVEN])}(v{number}, v{number + 1})"
            for number in range(random.randint(2, 4))
        ]
        lines.append(f"{names[head]}(v0, v{len(atoms)}) :- {', '.join(atoms)}.")
    return "\n".join([*lines, f".output {names[-1]}", ""])


def _seconds(command: list[str], cache: str, kernels: Path | None = None) -> tuple[float, float]:
    """One run's wall-clock and CPU time. Byte code is kept in `cache`, whatever the surroundings say, and kernels in `kernels` if given."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONDONTWRITEBYTECODE", "DATALOG_PATIENCE")}
    if kernels is not None:
        environment["NUMBA_CACHE_DIR"] = str(kernels)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = perf_counter()
    subprocess.run(command, check=True, capture_output=True, env={**environment, "PYTHONPYCACHEPREFIX": cache})
    wall = perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
