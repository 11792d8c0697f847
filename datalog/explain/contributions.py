"""What an aggregate's result rests on: rows of its source, and the derivations of these, which are what counts.

All rows of the group or interval are looked at, O(m) for m of them. Of functions that pick a value (min, argmax, median, …) only
the rows that have it are deciding.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from datalog.evaluate.sources import Source
from datalog.explain.facts import Codes
from datalog.explain.searches import Searches
from datalog.explain.workbench import Workbench
from datalog.ir.core import CoreAggregate, CoreFunction, Type
from datalog.ir.primitives import aggregate_named
from datalog.store.rows import consolidate

Words = NDArray[np.int64]
Flags = NDArray[np.bool_]

COMPARE = {">": np.greater, ">=": np.greater_equal, "<": np.less, "<=": np.less_equal}
LISTED = 100_000  # derivations of one row that are all looked for


@dataclass(frozen=True, slots=True)
class Contributions:
    """A result is over `total` derivations of source rows, of which `deciding` are those that decide.

    `derivations` are the first of them: each the number of a rule of the source and a binding of the variables of its search."""

    total: int
    deciding: int
    derivations: list[Codes]


@dataclass(frozen=True, slots=True)
class _Rows:
    """The number of derivations of all source rows; those rows that decide, and how many derivations each has."""

    total: int
    rows: Words
    counts: Words


def contributions(
    bench: Workbench, searches: Searches, aggregate: CoreAggregate, results: Iterable[Codes], limit: int
) -> dict[Codes, Contributions]:
    """What results of an aggregate rest on, each with at most `limit` derivations. A result is the number of its function, what it is
    for, and itself."""
    found = {result: _rows(bench, aggregate, result) for result in results}
    wanted: dict[Codes, int] = {}
    for over in found.values():
        wanted.update(zip(map(tuple, over.rows[:limit].tolist()), over.counts[:limit].tolist(), strict=True))
    listed = _derivations(bench, searches, aggregate.source, wanted)
    return {
        result: Contributions(
            over.total,
            int(over.counts.sum()),
            [derivation for row in over.rows[:limit].tolist() for derivation in listed[tuple(row)]][:limit],
        )
        for result, over in found.items()
    }


def _derivations(bench: Workbench, searches: Searches, source: str, rows: dict[Codes, int]) -> dict[Codes, list[Codes]]:
    """Derivations of rows of the source, which come with how many they have: all, or of very many one a rule."""
    found: dict[Codes, list[Codes]] = {row: [] for row in rows}
    for many in (False, True):
        block = [row for row, count in rows.items() if (count > LISTED) is many]
        for number in range(len(bench.rules[source]) if block else 0):
            search = searches.of(source, number)
            for binding in bench.complete(search.join, np.array(block, np.int64), first_only=many).tolist():
                found[tuple(binding[column] for column in search.rule.head_columns)].append((number, *binding))
    return found


def _rows(bench: Workbench, aggregate: CoreAggregate, result: Codes) -> _Rows:
    groups, (number, *keys, code) = aggregate.groups, result
    function, width = aggregate.functions[number], bench.program.predicates[aggregate.source].width
    group = np.array([keys[:groups]], np.int64).reshape(1, groups)
    found = Source(bench.storage, aggregate, width).rows(group, group)
    rows, counts = consolidate(found.rows[:, :width], found.payloads)
    ends = iter(keys[groups:])
    for operator in (aggregate.low, aggregate.high):
        if operator:
            kept = COMPARE[operator](rows[:, groups], next(ends))
            rows, counts = rows[kept], counts[kept]
    total = int(counts.sum())
    if aggregate_named(function.name).picks:
        kept = _deciding(bench, function, rows[:, groups + bool(aggregate.needs) + function.ordered :], code)
        rows, counts = rows[kept], counts[kept]
    return _Rows(total, rows, counts)


def _deciding(bench: Workbench, function: CoreFunction, arguments: Words, result: int) -> Flags:
    """Which rows of arguments have the value that was picked; with a witness, the best value."""
    has: Flags = arguments[:, -1] == result
    if len(function.types) == 1:
        return has
    compared = np.unique(arguments[has, 0])
    if function.types[0] is Type.SYMBOL:
        compared = bench.values.sort_by_value(compared.reshape(-1, 1), function.types[:1])[:, 0]
    best: Flags = has & (arguments[:, 0] == compared[0 if function.name == "argmin" else -1])
    return best
