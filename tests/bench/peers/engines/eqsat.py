"""egglog through the bindings of its Rust engine. It takes nothing back, so it follows insertions only."""

from __future__ import annotations

import importlib
import re
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from tests.bench.peers import by_hand
from tests.bench.peers.changes import Change
from tests.bench.peers.engine import Engine, Task
from tests.bench.peers.rules import lisp

RUN = "(run-schedule (saturate (run)))"
AGGREGATES = """
(function total (i64) i64 :merge (+ old new)) (function sales (i64) i64 :merge (+ old new))
(function least (i64) i64 :merge (min old new)) (function greatest (i64) i64 :merge (max old new))
(rule ((s i g a)) ((set (total g) a) (set (sales g) 1) (set (least g) a) (set (greatest g) a)))
"""


class Peer(Engine):
    problems = Engine.problems | {"start", "rules"}
    follows = "inserts only"

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._graph = importlib.import_module("egglog.bindings").EGraph(fact_directory=str(self.place))

    @classmethod
    def version(cls) -> str:
        importlib.import_module("egglog.bindings")
        return version("egglog")

    def load(self) -> None:
        for name, arity in self.problem.arities.items():
            self._say(f"(relation {name} ({' '.join(['i64'] * arity)}))")
        for name in self.problem.given:
            self._say(f'(input {name} "{name}.facts")')

    def evaluate(self) -> None:
        self._say((lisp(self.problem.rules) or AGGREGATES) + RUN)

    def answer(self) -> tuple[int, ...]:
        if self.problem.name != "aggregates":
            return (int(re.findall(r"\d+", str(self._say(f"(print-size {self.problem.result})")[-1]))[-1]),)
        columns = [self._function(name) for name in ("total", "sales", "least", "greatest")]
        groups = sorted(columns[0])
        return by_hand.sums([groups, *([column[group] for group in groups] for column in columns)])

    def apply(self, changes: Sequence[Change]) -> None:
        facts = " ".join(f"({name} {' '.join(map(str, row))})" for _, name, row in changes)
        self._say(f"{facts} {RUN}")

    def _function(self, name: str) -> dict[int, int]:
        printed = str(self._say(f"(print-function {name} 1000000)")[-1])
        return {int(group): int(value) for group, value in re.findall(rf"\({name} (-?\d+)\)\s*(?:->\s*)?(-?\d+)", printed)}

    def _say(self, program: str) -> Any:
        return self._graph.run_program(*self._graph.parse_program(program))
