"""clingo, whose grounder evaluates positive programs. Facts that have been grounded stay, so each change starts anew."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from tests.bench.peers import by_hand
from tests.bench.peers.changes import Change
from tests.bench.peers.engine import Engine, Task
from tests.bench.peers.rules import clauses

AGGREGATES = """
g(G) :- s(_, G, _).
o(G, S, C, L, H) :- g(G),
    S = #sum { A, I : s(I, G, A) }, C = #count { I : s(I, G, A) }, L = #min { A : s(I, G, A) }, H = #max { A : s(I, G, A) }.
"""


class Peer(Engine):
    problems = Engine.problems | {"start", "rules"}

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._clingo = importlib.import_module("clingo")
        self._program = (clauses(self.problem.rules, str.upper) or AGGREGATES) + "#show.\n"
        self._facts: list[str] = []
        self._control: Any = None

    @classmethod
    def version(cls) -> str:
        return str(importlib.import_module("clingo").__version__)

    def load(self) -> None:
        """Make text of the facts: there is no other way in that is as fast."""
        self._facts = []
        for name in self.problem.given:
            lines = (self.place / f"{name}.facts").read_text(encoding="utf-8").splitlines()
            self._facts += [f"{name}({line.replace(chr(9), ',')})." for line in lines]

    def evaluate(self) -> None:
        self._control = self._clingo.Control(["--warn=none"])
        self._control.add("base", [], "\n".join(self._facts))
        self._control.add("base", [], self._program)
        self._control.ground([("base", [])])

    def answer(self) -> tuple[int, ...]:
        atoms = self._control.symbolic_atoms
        if self.problem.name != "aggregates":
            return (sum(1 for _ in atoms.by_signature(self.problem.result, self.problem.arities[self.problem.result])),)
        rows = [[argument.number for argument in atom.symbol.arguments] for atom in atoms.by_signature("o", 5)]
        return by_hand.sums(list(zip(*rows, strict=True)))

    def prepare_changes(self) -> None:
        self.given()

    def apply(self, changes: Sequence[Change]) -> None:
        self.change_given(changes)
        self._facts = [f"{name}({','.join(map(str, row))})." for name, rows in self.given().items() for row in rows]
        self.evaluate()
