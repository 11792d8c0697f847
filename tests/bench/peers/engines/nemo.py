"""Nemo through its Python bindings. Loading is lazy, so only totals are known; there are no changes, each one starts anew from files."""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tests.bench.peers import by_hand
from tests.bench.peers.changes import Change
from tests.bench.peers.engine import Engine, Task
from tests.bench.peers.rules import clauses

AGGREGATES = """
total(?g, #sum(?a, ?i)) :- s(?i, ?g, ?a) .
sales(?g, #count(?i)) :- s(?i, ?g, ?a) .
least(?g, #min(?a)) :- s(?i, ?g, ?a) .
greatest(?g, #max(?a)) :- s(?i, ?g, ?a) .
o(?g, ?t, ?n, ?a, ?b) :- total(?g, ?t), sales(?g, ?n), least(?g, ?a), greatest(?g, ?b) .
@output o .
"""


class Peer(Engine):
    problems = Engine.problems | {"start", "rules"}
    apart = False

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._nemo = importlib.import_module("nmo_python")
        self._rows: list[Any] = []

    @classmethod
    def version(cls) -> str:
        importlib.import_module("nmo_python")
        return version("nemo-python")

    def evaluate(self) -> None:
        problem = self.problem
        imports = ""
        for name, arity in problem.given.items():
            kinds = ", ".join(["int"] * arity)
            imports += f'@import {name} :- tsv{{resource="{self.place}/{name}.facts", format=({kinds})}} .\n'
        if problem.name == "aggregates":
            program, output = AGGREGATES, "o"
        else:
            names = ", ".join(f"?c{column}" for column in range(problem.arities[problem.result]))
            count = f"rows(#count({names})) :- {problem.result}({names}) .\n@output rows .\n"
            program, output = clauses(problem.rules, "?{}".format, " .") + count, "rows"
        engine = self._nemo.NemoEngine(self._nemo.load_string(imports + program))
        engine.reason()
        self._rows = list(engine.result(output))

    def answer(self) -> tuple[int, ...]:
        return by_hand.sums(list(zip(*self._rows, strict=True))) if self.problem.name == "aggregates" else (int(self._rows[0][0]),)

    def prepare_changes(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        given = self.given()
        self.place = Path(self._folder.name)
        self._write(given)

    def apply(self, changes: Sequence[Change]) -> None:
        self.change_given(changes)
        self._write({change.name for change in changes})
        self.evaluate()

    def _write(self, names: Sequence[str] | set[str] | dict[str, Any]) -> None:
        for name in names:
            lines = ("\t".join(map(str, row)) + "\n" for row in self.given()[name])
            (self.place / f"{name}.facts").write_text("".join(lines), encoding="utf-8")
