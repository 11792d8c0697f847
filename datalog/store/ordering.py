"""Rows in order, and the distinct values of a column: what is quick where a relation is large, and what a small one needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from datalog.store.interner import Codes

SMALL = 1_000  # rows for which looking first costs more than it saves
WIDEST = 2**62
Keys = Callable[[int], Codes]
"""The keys by which rows are compared in a column: the first column first."""


def order_of_rows(count: int, width: int, keys: Keys) -> Codes | None:
    """The places of `count` rows in their order, or None if they stand in order. O(n log n), and O(n) for rows in order.

    Keys of a column are asked for only where those before it leave rows that are equal. Where all keys of a row fit into one word,
    that is sorted by, which takes a third of the time of sorting by one key after the other.
    """
    if count >= SMALL and _ascend(count, width, keys):
        return None
    columns = [keys(column) for column in range(width)]
    packed = _packed(columns) if count >= SMALL else None
    return np.lexsort(columns[::-1]) if packed is None else np.argsort(packed)


def _ascend(count: int, width: int, keys: Keys) -> bool:
    equal = np.ones(count - 1, np.bool_)
    for column in range(width):
        key = keys(column)
        if (equal & (key[:-1] > key[1:])).any():
            return False
        equal &= key[:-1] == key[1:]
        if not equal.any():
            break
    return True


def _packed(columns: Sequence[Codes]) -> Codes | None:
    """The keys of each row as one word, or None where they do not fit."""
    least = [int(column.min()) for column in columns]
    spans = [int(column.max()) - low + 1 for column, low in zip(columns, least, strict=True)]
    size = 1
    for span in spans:
        size *= span
    if size > WIDEST:
        return None
    packed = np.zeros(len(columns[0]), np.int64)
    for column, low, span in zip(columns, least, spans, strict=True):
        packed = packed * span + (column - low)
    return packed


def distinct_of(column: Codes, count: int) -> tuple[Codes, Codes]:
    """The distinct values of a column of numbers below `count`, ascending, and the place of each row's value among them."""
    if len(column) < SMALL or count > 4 * len(column):
        distinct, places = np.unique(column, return_inverse=True)
        return distinct, places
    used = np.zeros(count, np.bool_)
    used[column] = True
    return np.flatnonzero(used), (np.cumsum(used) - 1)[column]
