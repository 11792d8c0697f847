"""Blocks of rows, `int64[n, k]`: sorting, comparing, and adding up weights.

The arguments may be the results. They are never changed, but that with `own` the rows may be: nobody needs them as they were.
"""

from __future__ import annotations

import numpy as np

from datalog.kernels.jit import Flags, Words
from datalog.kernels.radix import consolidate as _consolidate
from datalog.kernels.rows import ascending

FEW = 64  # rows that are sorted at once, not looked through first
NO_WEIGHTS = np.empty(0, np.int64)


def consolidate(rows: Words, weights: Words, own: bool = False) -> tuple[Words, Words]:
    """The distinct rows in ascending order with the sums of their weights, without those that add up to 0.

    O(n log n), and O(n) for sorted rows.
    """
    if len(rows) != len(weights):
        raise ValueError(f"{len(rows)} rows have {len(weights)} weights")
    if rows.dtype != np.int64 or weights.dtype != np.int64:
        raise ValueError(f"rows and weights are int64 words, not {rows.dtype} and {weights.dtype}")
    if len(rows) < 2:
        kept = int(weights[0] != 0) if len(rows) else 0
        return np.ascontiguousarray(rows[:kept]), weights[:kept]
    sortable = _as_block(rows, own)
    if sortable is None:
        if weights.all():
            return rows, weights
        kept = weights != 0
        return rows[kept], weights[kept]
    weights = np.array(weights)
    count = _consolidate(sortable, weights)
    return sortable[:count], weights[:count]


def sort_distinct(rows: Words, own: bool = False) -> Words:
    """The distinct rows in ascending order. O(n log n), and O(n) for sorted rows."""
    if len(rows) < 2:
        return np.ascontiguousarray(rows)
    sortable = _as_block(rows, own)
    return rows if sortable is None else sortable[: _consolidate(sortable, NO_WEIGHTS)]


def among(rows: Words, others: Words) -> Flags:
    """Which of the rows are among the others; each of the two has distinct rows, in any order. O(n log n)."""
    both = np.concatenate((rows, others))
    order = np.lexsort(both.T[::-1])
    both = both[order]
    equal = np.all(both[1:] == both[:-1], axis=1)
    twice = np.zeros(len(both), np.bool_)
    twice[:-1] |= equal
    twice[1:] |= equal
    found = np.empty(len(both), np.bool_)
    found[order] = twice
    return found[: len(rows)]


def _as_block(rows: Words, own: bool) -> Words | None:
    """A C-contiguous block of the rows that may be written, or None if they are distinct, ascend and lie as they should."""
    if len(rows) < FEW or not rows.flags.c_contiguous:
        return np.array(rows, order="C")
    return None if ascending(rows) == len(rows) else rows if own else rows.copy()
