"""NumPy, plain Python and pyarrow, as somebody would use them who needs one of the problems solved and no engine."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.bench.peers import by_hand
from tests.bench.peers.changes import Change, Row, read_rows
from tests.bench.peers.engine import Engine, Task


class Peer(Engine):
    """Full evaluation in NumPy, but points-to, Galen's rules and the document in Python; triangles and aggregates follow changes."""

    problems = Engine.problems | {"document", "csv"}

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._facts: dict[str, Any] = {}
        self._result: Any = None
        self._follower: _Triangles | _Groups | None = None

    @classmethod
    def version(cls) -> str:
        import platform

        return f"NumPy {np.__version__}, Python {platform.python_version()}"

    @property
    def _arrays(self) -> bool:
        return self.problem.name in ("triangles", "closure", "aggregates")

    def load(self) -> None:
        if self.problem.name == "document":
            self._facts = {name: read_rows(self.place / f"{name}.txt", " ") for name in self.problem.given}
        elif self._arrays:
            for name in self.problem.given:
                self._facts[name] = np.loadtxt(self.place / f"{name}.facts", np.int64, delimiter="\t", ndmin=2)
        elif self.problem.name != "csv":
            self._facts = {name: read_rows(self.place / f"{name}.facts") for name in self.problem.given}

    def evaluate(self) -> None:
        match self.problem.name:
            case "triangles":
                self._result = by_hand.triangles(self._facts["e"])
            case "closure":
                self._result = by_hand.closure(self._facts["e"])
            case "aggregates":
                self._result = by_hand.aggregates(self._facts["s"])
            case "points-to":
                self._result = by_hand.points_to(self._facts)
            case "galen":
                self._result = by_hand.galen(self._facts)[0]
            case "document":
                self._result = by_hand.document(self._facts["insert"], self._facts["remove"])
            case "csv":
                csv = importlib.import_module("pyarrow.csv")
                options = csv.ReadOptions(autogenerate_column_names=True, use_threads=self.task.threads > 1)
                self._result = csv.read_csv(self.place / "sale.csv", read_options=options)

    def answer(self) -> tuple[int, ...]:
        if self._follower is not None:
            return self._follower.answer()
        match self.problem.name:
            case "closure":
                return (by_hand.bits_set(self._result),)
            case "aggregates":
                return by_hand.sums(self._result)
            case "points-to":
                return (sum(map(len, self._result.values())),)
        return (len(self._result),)

    def prepare_changes(self) -> None:
        if self.problem.name == "triangles":
            self.follows = "incremental"
            self._follower = _Triangles(read_rows(self.place / "e.facts"))
        elif self.problem.name == "aggregates":
            self.follows = "incremental"
            self._follower = _Groups(read_rows(self.place / "s.facts"))
        else:
            self.given()

    def apply(self, changes: Sequence[Change]) -> int | None:
        if self._follower is None:
            self.change_given(changes)
            given = self.given()
            self._facts = {name: np.array(list(rows), np.int64) for name, rows in given.items()} if self._arrays else dict(given)
            self.evaluate()
            return None
        return sum(self._follower.change(change.sign, change.row) for change in changes)


class _Triangles:
    """Triangles by sets of neighbours."""

    def __init__(self, edges: list[Row]) -> None:
        self._out: dict[Any, set[Any]] = {}
        self._in: dict[Any, set[Any]] = {}
        self._found: set[Row] = set()
        for edge in edges:
            self.change(1, edge)

    def change(self, sign: int, edge: Row) -> int:
        x, y = edge
        out_x, out_y = self._out.setdefault(x, set()), self._out.setdefault(y, set())
        in_x, in_y = self._in.setdefault(x, set()), self._in.setdefault(y, set())
        rows = [(x, y, z) for z in out_x & out_y] + [(z, x, y) for z in in_x & in_y] + [(x, z, y) for z in out_x & in_y]
        if sign > 0:
            out_x.add(y)
            in_y.add(x)
            self._found.update(rows)
        else:
            out_x.discard(y)
            in_y.discard(x)
            self._found.difference_update(rows)
        return len(rows)

    def answer(self) -> tuple[int, ...]:
        return (len(self._found),)


class _Groups:
    """Aggregates by a dictionary of groups; extremes are looked for anew when one goes."""

    def __init__(self, sales: list[Row]) -> None:
        self._amounts: dict[Any, dict[Any, Any]] = {}
        self._result: dict[Any, tuple[Any, int, Any, Any]] = {}
        for sale in sales:
            self.change(1, sale)

    def change(self, sign: int, sale: Row) -> int:
        number, group, amount = sale
        amounts = self._amounts.setdefault(group, {})
        total, count, least, greatest = self._result.get(group, (0, 0, amount, amount))
        if sign > 0:
            amounts[number] = amount
            self._result[group] = total + amount, count + 1, min(least, amount), max(greatest, amount)
            return 2 if count else 1
        del amounts[number]
        if not amounts:
            del self._result[group]
            return 1
        if amount in (least, greatest):
            least, greatest = min(amounts.values()), max(amounts.values())
        self._result[group] = total - amount, count - 1, least, greatest
        return 2

    def answer(self) -> tuple[int, ...]:
        return by_hand.sums(list(zip(*((group, *row) for group, row in self._result.items()), strict=True)))
