"""What the planner knows of predicates: how many rows they have, and how many distinct values some of their columns hold.

Of relations that are there it is counted, when the planner first asks; of predicates that are still to be derived it is
estimated from the rules, stratum by stratum, as if columns were independent of each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from datalog.ir.core import CoreAggregate, CoreClosure, CoreNumbering, CoreProgram, CoreRule
from datalog.plan.order import Columns, Statistics, fan_out, variable_order

Words = NDArray[np.int64]

COUNTED = 500_000  # of a larger relation, so many rows are looked at
RECURSION = 3  # times that a recursive stratum's estimates are drawn from each other
STALE = 4  # a relation that has grown or shrunk by this factor is counted again


class Uniform:
    """Statistics from sizes alone: a row's columns have rows^(1/width) values each."""

    def __init__(self, rows: Callable[[str], int]) -> None:
        self._rows = rows

    def rows(self, name: str) -> float:
        return max(self._rows(name), 1)

    def size(self, name: str) -> int | None:
        return self._rows(name)

    def distinct(self, name: str, columns: Columns, width: int) -> float:
        return float(self.rows(name) ** (len(columns) / max(width, 1)))


class Counted:
    """Statistics of relations, counted when asked for and kept; `estimates` are for predicates that have no rows yet."""

    def __init__(self, sizes: Callable[[str], int | None], rows: Callable[[str], Words]) -> None:
        self._sizes, self._relation = sizes, rows
        self._distinct: dict[tuple[str, Columns], tuple[int, float]] = {}
        self.estimates: dict[str, tuple[float, tuple[float, ...]]] = {}  # rows, and distinct values of each column

    def rows(self, name: str) -> float:
        size = self._sizes(name)
        return max(size, 1) if size is not None else self.estimates.get(name, (1.0, ()))[0]

    def size(self, name: str) -> int | None:
        return self._sizes(name)

    def distinct(self, name: str, columns: Columns, width: int) -> float:
        size = self._sizes(name)
        if size is None:
            rows, each = self.estimates.get(name, (1.0, (1.0,) * width))
            return min(rows, prod([each[column] for column in columns]))
        if size <= 1 or not columns:
            return 1.0
        if len(columns) == width:
            return size
        known = self._distinct.get((name, columns))
        if known is None or not known[0] / STALE <= size <= known[0] * STALE:
            known = self._distinct[name, columns] = (size, _count(self._relation(name)[:, sorted(columns)]))
        return known[1]


def _count(values: Words) -> float:
    """How many distinct rows there are; of many rows, scaled from a part of them."""
    part = values[:: -(-len(values) // COUNTED)]
    mixed = part[:, 0].copy()
    for column in range(1, part.shape[1]):
        mixed = mixed * np.int64(-7046029254386353131) + part[:, column]  # wraps, as a hash may
    mixed.sort()  # some twenty times faster than NumPy's unique values by hashing
    found = 1 + int(np.count_nonzero(mixed[1:] != mixed[:-1]))
    # Where half of the part repeats itself, the rest is likely to, as well.
    return float(found) if 2 * found <= len(part) else found * len(values) / len(part)


def estimate(program: CoreProgram, counted: Counted) -> None:
    """Give `counted` estimates of all derived predicates."""
    for stratum in program.strata:
        if stratum.aggregate is not None:
            counted.estimates[stratum.aggregate.head] = _estimate_aggregate(program, stratum.aggregate, counted)
            continue
        if stratum.numbering is not None:
            counted.estimates[stratum.numbering.head] = _estimate_numbering(program, stratum.numbering, counted)
            continue
        closures = {closure.head: closure for closure in stratum.closures}
        asked = {aggregate.head: aggregate for aggregate in stratum.asked}
        for _ in range(RECURSION if stratum.recursive else 1):
            for name in stratum.predicates:
                if name in closures:
                    counted.estimates[name] = _estimate_closure(closures[name], counted)
                    continue
                if name in asked:
                    counted.estimates[name] = _estimate_aggregate(program, asked[name], counted)
                    continue
                rules = [program.rules[number] for number in stratum.rules if program.rules[number].head == name]
                counted.estimates[name] = _estimate(rules, program.predicates[name].width, counted)


def _estimate(rules: list[CoreRule], width: int, statistics: Statistics) -> tuple[float, tuple[float, ...]]:
    rows, each = 1.0, [1.0] * width
    for rule in rules:
        bindings, values = _bindings(rule, statistics)
        distinct = [values[variable] for variable in rule.head_columns]
        rows += min(bindings, prod(distinct))
        each = [max(own, other) for own, other in zip(each, distinct, strict=True)]
    return rows, tuple(min(own, rows) for own in each)


def _estimate_aggregate(program: CoreProgram, aggregate: CoreAggregate, statistics: Statistics) -> tuple[float, tuple[float, ...]]:
    """A row for each group of the source, or for each row of `needs`; results may all differ."""
    asked = aggregate.needs or aggregate.read
    width = program.predicates[asked].width
    columns = tuple(range(aggregate.keys)) if aggregate.needs or not aggregate.origin else aggregate.columns[: aggregate.keys]
    each = tuple(statistics.distinct(asked, frozenset((column,)), width) for column in columns)
    rows = statistics.distinct(asked, frozenset(columns), width) if columns else 1.0
    return rows, (*each, *(rows for _ in aggregate.functions))


def _estimate_numbering(program: CoreProgram, numbering: CoreNumbering, statistics: Statistics) -> tuple[float, tuple[float, ...]]:
    """A row for each of the source, each with a number of its own."""
    width, rows = program.predicates[numbering.head].width - 1, statistics.rows(numbering.source)
    return rows, (*(statistics.distinct(numbering.source, frozenset((column,)), max(1, width)) for column in range(width)), rows)


def _estimate_closure(closure: CoreClosure, statistics: Statistics) -> tuple[float, tuple[float, ...]]:
    """Most classes are small: each pair in both directions, and each element with itself."""
    elements = sum(statistics.distinct(closure.pairs, frozenset((column,)), 2) for column in (0, 1))
    return 2 * statistics.rows(closure.pairs) + elements, (elements, elements)


def values_by_depth(rule: CoreRule, statistics: Statistics, order: Sequence[int], known: int = 0, without: int = -1) -> list[float]:
    """How many values each variable of `order` has under those before it, but for the first `known`; `without` as in `variable_order`."""
    return [
        min(
            [
                *(fan for _, fan in fan_out(rule, statistics, variable, order[:depth], without)),
                *(1.0 for binding in rule.bindings if binding.variable == variable),
            ]
        )
        for depth, variable in enumerate(order)
        if depth >= known
    ]


def _bindings(rule: CoreRule, statistics: Statistics) -> tuple[float, dict[int, float]]:
    """How many bindings the body may have, and how many values each variable."""
    bindings = 1.0
    values: dict[int, float] = {}
    order = variable_order(rule, statistics)
    for variable, fan in zip(order, values_by_depth(rule, statistics, order), strict=True):
        bindings *= fan
        alone = [fan for _, fan in fan_out(rule, statistics, variable, set())]
        values[variable] = max(1.0, min([*alone, bindings]) if alone else bindings)
    return max(bindings, 1.0), values
