"""Ours, through its Python interface."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter

from tests.bench.peers import by_hand
from tests.bench.peers.changes import Change
from tests.bench.peers.engine import Engine, Task
from tests.bench.peers.rules import clauses, declarations

EXAMPLES = Path(__file__).parents[4]
AGGREGATES = """
.decl s(i: number, g: number, a: number)
.input s
.decl o(g: number, total: number, sales: number, least: number, greatest: number)
o(g, t, n, a, b) <- agg<<t = sum(v), n = count(), a = min(v), b = max(v)>> s(_, g, v).
"""
CSV = """
.decl sale(id: number, customer: symbol, town: symbol, amount: number)
.input sale(filename="sale.csv", delimiter=",")
"""
SMALL = (
    "path(x, y) :- edge(x, y). path(x, z) :- path(x, y), edge(y, z). edge(1, 2). edge(2, 3). .decl edge(x: number, y: number) .input edge"
)


class Peer(Engine):
    problems = Engine.problems | {"java", "document", "csv", "start", "rules"}
    changing = Engine.problems | {"java", "document"}
    follows = "incremental"

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        match self.problem.name:
            case "aggregates":
                self._program: str | Path = AGGREGATES
            case "csv":
                self._program = CSV
            case "java" | "document":
                self._program = EXAMPLES / task.workload.program
            case "start" | "rules":
                self._program = (self.place / "rules.dl").read_text(encoding="utf-8")
            case _:
                self._program = declarations(self.problem.arities, self.problem.given) + clauses(self.problem.rules)

    @classmethod
    def version(cls) -> str:
        import datalog

        return datalog.__version__

    def warm_up(self) -> None:
        """Load the machine code that small programs and transactions use."""
        from datalog import Database

        database = Database(SMALL)
        for word in ("insert", "delete"):
            with database.transaction() as transaction:
                getattr(transaction, word)("edge", [(3, 4)])

    def run(self) -> tuple[float, float]:
        """Indexing the given rows is part of loading; evaluation begins with the first stratum."""
        from datalog import Database

        begun: list[float] = []
        start = perf_counter()
        facts = None if self.problem.name in ("start", "rules") else self.place
        self._database = Database(
            self._program, facts=facts, threads=self.task.threads, progress=lambda done, _: begun.append(perf_counter())
        )
        end = perf_counter()
        first = begun[0] if begun else end
        return first - start, end - first

    def answer(self) -> tuple[int, ...]:
        relation = self._database[self.problem.result]
        if self.problem.name == "aggregates":
            table = relation.to_arrow()
            return by_hand.sums([column.to_numpy() for column in table.columns])
        return (len(relation),)

    def apply(self, changes: Sequence[Change]) -> int:
        transaction = self._database.transaction()
        if len(changes) == 1:
            ((sign, name, row),) = changes
            (transaction.insert if sign > 0 else transaction.delete)(name, [row])
        else:
            for name in {change.name for change in changes}:
                transaction.delete(name, [change.row for change in changes if change.name == name and change.sign < 0])
                transaction.insert(name, [change.row for change in changes if change.name == name and change.sign > 0])
        change = transaction.commit()[self.problem.result]
        return len(change.inserted) + len(change.deleted)


class TwoThreads(Peer):
    """The same on two threads, whatever the task says: a peer, to see what they bring."""

    problems = frozenset({"triangles", "closure", "points-to"})
    changing = frozenset()

    def __init__(self, task: Task) -> None:
        super().__init__(replace(task, threads=2))
