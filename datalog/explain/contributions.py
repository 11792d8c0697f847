"""What an aggregate's result rests on: rows of its source, and the derivations of these, which are what counts.

All rows of the group or interval are looked at, O(m) for m of them. Of functions that pick a value (min, argmax, median, …) only
the rows that have it are deciding.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from datalog.explain.workbench import Workbench
from datalog.ir.core import CoreAggregate, Type
from datalog.store.ranges import Ranges

Words = NDArray[np.int64]
Flags = NDArray[np.bool_]

COMPARE = {">": np.greater, ">=": np.greater_equal, "<": np.less, "<=": np.less_equal}
PICKS = frozenset(("min", "max", "median", "quantile", "argmin", "argmax"))


@dataclass(frozen=True, slots=True)
class Contributions:
    """The rows of the source that a result is over, each with the number of its derivations: `total` derivations in all,
    `deciding` of them in `rows`."""

    total: int
    deciding: int
    rows: Words
    counts: Words


def contributions(bench: Workbench, aggregate: CoreAggregate, head: tuple[int, ...]) -> Contributions:
    """What a row of the aggregate's head rests on."""
    storage, groups = bench.storage, aggregate.groups
    first = storage.arrangements[aggregate.source][0]
    group = np.array([head[:groups]], np.int64).reshape(1, groups)
    found = Ranges(first.tree, int(storage.roots[first.number]), storage.tally).rows(group, group)
    rows, counts = found.rows, found.payloads
    ends = iter(head[groups:-1])
    for operator in (aggregate.low, aggregate.high):
        if operator:
            kept = COMPARE[operator](rows[:, groups], next(ends))
            rows, counts = rows[kept], counts[kept]
    total = int(counts.sum())
    if aggregate.function in PICKS:
        kept = _deciding(bench, aggregate, rows[:, groups + bool(aggregate.needs) + aggregate.ordered :], head[-1])
        rows, counts = rows[kept], counts[kept]
    return Contributions(total, int(counts.sum()), rows, counts)


def _deciding(bench: Workbench, aggregate: CoreAggregate, arguments: Words, result: int) -> Flags:
    """Which rows of arguments have the value that was picked; with a witness, the best value."""
    has: Flags = arguments[:, -1] == result
    if len(aggregate.types) == 1:
        return has
    compared = np.unique(arguments[has, 0])
    if aggregate.types[0] is Type.SYMBOL:
        compared = bench.values.sort_by_value(compared.reshape(-1, 1), aggregate.types[:1])[:, 0]
    best: Flags = has & (arguments[:, 0] == compared[0 if aggregate.function == "argmin" else -1])
    return best
