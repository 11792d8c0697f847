"""Core programs around one aggregate, their transactions, and what the aggregate's oracle makes of the given rows.

body(group, [key,] [order,] arguments…) ← e(group, [key,] [order,] arguments…, _).     each id counts
body(group, [key,] [order,] arguments…) ← f(group, [key,] [order,] arguments…).
need(group, [low,] [high]) ← n(group, [low,] [high]).
result(…) = function over body
out(…) ← result(…).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from operator import ge, gt, le, lt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from datalog.ir.core import (
    CoreAggregate,
    CoreAtom,
    CoreBinding,
    CoreFunction,
    CoreProgram,
    CoreRule,
    Predicate,
    PyValue,
    Row,
    Stratum,
    Type,
    Value,
)
from datalog.maintain.engine import Engine, Options
from datalog.store.storage import Delta
from datalog.store.values import Values
from datalog.syntax.tree import NOWHERE
from tests.oracle.aggregates import aggregate

Words = NDArray[np.int64]
HOLDS = {">": gt, ">=": ge, "<": lt, "<=": le}


@dataclass(frozen=True)
class Case:
    """An aggregate function of arguments; with `low` or `high` over intervals of keys, with `ordered` by a word before the first one."""

    function: str
    types: tuple[Type, ...]
    result: Type
    parameter: PyValue | None = None
    low: str = ""
    high: str = ""
    ordered: bool = False
    groups: int = 1

    def __str__(self) -> str:
        arguments = ", ".join(type.value for type in self.types)
        bounds = f" key{self.low}{self.high}" if self.keyed else ""
        return f"{self.function}({arguments}){bounds}{' ordered' * self.ordered}"

    @property
    def keyed(self) -> bool:
        return bool(self.low or self.high)

    def within(self, low: str = "", high: str = "") -> Case:
        """The same over intervals."""
        return replace(self, low=low, high=high)

    def program(self) -> CoreProgram:
        columns = [(f"g{place}", Type.NUMBER) for place in range(self.groups)]
        columns += [("key", Type.NUMBER)] * self.keyed + [("order", Type.NUMBER)] * self.ordered
        columns += [(f"x{place}", type) for place, type in enumerate(self.types)]
        bounds = [(f"g{place}", Type.NUMBER) for place in range(self.groups)]
        bounds += [("low", Type.NUMBER)] * bool(self.low) + [("high", Type.NUMBER)] * bool(self.high)
        head = [*(bounds if self.keyed else columns[: self.groups]), ("result", self.result)]
        predicates = [_predicate("e", [*columns, ("id", Type.NUMBER)], False), _predicate("f", columns, False)]
        predicates += [_predicate("body", columns), _predicate("result", head), _predicate("out", head)]
        rules = [
            _copy("body", "e", [*columns, ("id", Type.NUMBER)], len(columns)),
            _copy("body", "f", columns),
            _copy("out", "result", head),
        ]
        strata = [Stratum(("body",), (0, 1), False)]
        if self.keyed:
            predicates += [_predicate("n", bounds, False), _predicate("need", bounds)]
            rules.append(_copy("need", "n", bounds))
            strata.append(Stratum(("need",), (3,), False))
        function = CoreFunction(self.function, self.types, self.result, NOWHERE, self.ordered, self.parameter)
        core = CoreAggregate(
            *("result", "body", self.groups, (function,), "out(g, r) :- …"),
            needs="need" if self.keyed else "",
            low=self.low,
            high=self.high,
        )
        strata += [Stratum(("result",), (), False, core), Stratum(("out",), (2,), False)]
        return CoreProgram({predicate.name: predicate for predicate in predicates}, tuple(rules), tuple(strata), {}, ())

    def expected(self, given: Mapping[str, Iterable[Row]]) -> set[Row]:
        """The rows of `out`, by the oracle."""
        groups: dict[Row, list[tuple[Any, Row]]] = {}
        for row in [*(row[:-1] for row in given["e"]), *given["f"]]:
            key = row[self.groups] if self.keyed else None
            groups.setdefault(row[: self.groups], []).append((key, row[self.groups + self.keyed + self.ordered :]))
        if not self.keyed:
            return {(*group, self._of([row for _, row in rows])) for group, rows in groups.items()}
        found = set()
        for need in given["n"]:
            keyed = groups.get(need[: self.groups], [])
            if self.low:
                keyed = [(key, row) for key, row in keyed if HOLDS[self.low](key, need[self.groups])]
            if self.high:
                keyed = [(key, row) for key, row in keyed if HOLDS[self.high](key, need[-1])]
            if keyed:
                found.add((*need, self._of([row for _, row in keyed])))
        return found

    def _of(self, rows: list[Row]) -> PyValue:
        result = aggregate(self.function, rows, self.result.value, self.parameter)
        assert result is not None
        return result


@dataclass
class Live:
    """An engine of a case, and the rows that it was given."""

    case: Case
    options: Options = field(default_factory=lambda: Options(rows_per_page=4))
    given: dict[str, set[Row]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.values = Values()
        self.program = self.case.program()
        self.given = {name: set(self.given.get(name, ())) for name in ("e", "f", "n")[: 2 + self.case.keyed]}
        facts = {name: self.codes(name, rows) for name, rows in self.given.items()}
        self.engine = Engine(self.program, self.values, facts, self.options)

    def codes(self, name: str, rows: Iterable[Row]) -> Words:
        """Rows as codes, sorted by them."""
        codes = self.values.encode_rows(list(rows), self.program.predicates[name].types)
        return np.ascontiguousarray(codes[np.lexsort(codes.T[::-1])])

    def apply(self, insert: Mapping[str, Iterable[Row]], delete: Mapping[str, Iterable[Row]] | None = None) -> dict[str, Delta]:
        """One transaction; rows that are inserted stay, whether or not they are deleted, too."""
        changes: dict[str, tuple[Words, Words]] = {}
        after = {}
        for name, before in self.given.items():
            come = set(insert.get(name, ()))
            gone = set((delete or {}).get(name, ())) - come
            after[name] = (before - gone) | come
            blocks = [self.codes(name, rows) for rows in (come, gone)]
            signs = np.repeat(np.array((1, -1)), [len(block) for block in blocks])
            rows = np.concatenate(blocks)
            order = np.lexsort(rows.T[::-1])
            if len(rows):
                changes[name] = np.ascontiguousarray(rows[order]), signs[order]
        deltas = self.engine.apply(changes)
        self.given = after
        self.engine.settle()
        return deltas

    def rows(self, name: str = "out") -> set[Row]:
        return set(self.values.decode_rows(self.engine.storage.rows(name), self.program.predicates[name].types))

    def expected(self) -> set[Row]:
        return self.case.expected(self.given)


def _predicate(name: str, columns: list[tuple[str, Type]], derived: bool = True) -> Predicate:
    return Predicate(name, tuple(column for column, _ in columns), tuple(type for _, type in columns), derived)


def _copy(head: str, source: str, columns: list[tuple[str, Type]], kept: int | None = None) -> CoreRule:
    """head(…) ← source(…), of the first `kept` columns."""
    names, types = tuple(name for name, _ in columns), tuple(type for _, type in columns)
    places = tuple(range(len(columns)))
    atom = CoreAtom(source, places or (0,), False, NOWHERE)
    if places[:kept]:
        return CoreRule(head, places[:kept], names, types, (atom,), (), (), NOWHERE, f"{head} :- {source}.")
    # Without columns it is stored as one that holds 0.
    zero = CoreBinding(1, Value(0, Type.NUMBER), NOWHERE)
    return CoreRule(head, (1,), ("id", "zero"), (Type.NUMBER, Type.NUMBER), (atom,), (zero,), (), NOWHERE, f"{head} :- {source}.")
