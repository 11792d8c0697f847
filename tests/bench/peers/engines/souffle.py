"""Soufflé: the binary that SOUFFLE names, or `souffle`. Only totals are known, of a process that reads files and mostly prints sizes."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from time import perf_counter

from tests.bench.peers import by_hand
from tests.bench.peers.engine import Engine, Task
from tests.bench.peers.rules import clauses, declarations

EXAMPLES = Path(__file__).parents[4]
AGGREGATES = """
.decl s(i: number, g: number, a: number)
.input s
.decl group(g: number)
group(g) :- s(_, g, _).
.decl o(g: number, total: number, sales: number, least: number, greatest: number)
o(g, t, n, a, b) :-
    group(g), t = sum v : { s(_, g, v) }, n = count : { s(_, g, _) }, a = min v : { s(_, g, v) }, b = max v : { s(_, g, v) }.
.output o
"""
CSV = """
.decl sale(id: number, customer: symbol, town: symbol, amount: number)
.input sale(filename="sale.csv", delimiter=",")
.printsize sale
"""


def binary() -> str:
    """Raises OSError where there is none."""
    found = shutil.which(os.environ.get("SOUFFLE", "souffle"))
    if found is None:
        raise OSError("no souffle binary: neither on the path nor in SOUFFLE")
    return found


def apart(program: str) -> str:
    """A program whose types and relations share no name, as Soufflé demands."""
    for name in re.findall(r"^\.type (\w+)", program, re.MULTILINE):
        program = re.sub(rf"^\.type {name}\b", f".type {name}Type", program, flags=re.MULTILINE)
        program = re.sub(rf"(\w: ){name}(?=[,)])", rf"\1{name}Type", program)
    return program


class Peer(Engine):
    """The interpreter."""

    problems = Engine.problems | {"java", "document", "csv", "start", "rules"}
    changing = frozenset()
    apart = False

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._folder = tempfile.TemporaryDirectory()
        self._out = Path(self._folder.name)
        self._program = self._out / "program.dl"
        self._program.write_text(self._text(), encoding="utf-8")
        self._printed = ""
        self._command = [binary(), "-w", "-j", str(task.threads), str(self._program)]

    @classmethod
    def version(cls) -> str:
        lines = subprocess.run([binary(), "--version"], capture_output=True, text=True, check=True).stdout.splitlines()
        version, words = (next(line.split(":")[1].strip() for line in lines if line.startswith(name)) for name in ("Version", "Word size"))
        return f"{version or 'of no version'}, words of {words}"

    def evaluate(self) -> None:
        command = [*self._command, "-F", str(self.place), "-D", str(self._out)]
        self._printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def answer(self) -> tuple[int, ...]:
        sizes = dict(line.split("\t") for line in self._printed.splitlines() if line.count("\t") == 1)
        if self.problem.result in sizes:
            return (int(sizes[self.problem.result]),)
        lines = (self._out / f"{self.problem.result}.csv").read_text(encoding="utf-8").splitlines()
        if self.problem.name == "aggregates":
            return by_hand.sums(list(zip(*(map(int, line.split("\t")) for line in lines), strict=True)))
        return (len(lines),)

    def close(self) -> None:
        self._folder.cleanup()

    def _text(self) -> str:
        match self.problem.name:
            case "aggregates":
                return AGGREGATES
            case "csv":
                return CSV
            case "java" | "document":
                return apart((EXAMPLES / self.task.workload.program).read_text(encoding="utf-8"))
            case "start" | "rules":
                return (self.place / "rules.dl").read_text(encoding="utf-8")
        return declarations(self.problem.arities, self.problem.given) + clauses(self.problem.rules) + f".printsize {self.problem.result}\n"


class Compiled(Peer):
    """The program as C++, compiled before the figures are taken; once, and kept beside the facts."""

    compiles = True
    compiling: float | None = None

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        digest = hashlib.sha256(f"{self.version()} {self._text()}".encode()).hexdigest()[:16]
        program = self.place.parents[1] / f"souffle-{digest}"  # for all sizes
        took = program.with_suffix(".seconds")
        if not took.exists():
            start = perf_counter()
            subprocess.run([*self._command[:-1], "-o", str(program), self._command[-1]], capture_output=True, text=True, check=True)
            took.write_text(str(perf_counter() - start), encoding="utf-8")
        self.compiling = float(took.read_text(encoding="utf-8"))
        self._command = [str(program), "-j", str(task.threads)]
