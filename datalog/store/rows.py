"""Blocks of rows, `int64[n, k]`: sorting, and adding up weights. The arguments are never changed."""

from __future__ import annotations

import numpy as np

from datalog.kernels.jit import Words
from datalog.kernels.rows import consolidate as _consolidate


def consolidate(rows: Words, weights: Words) -> tuple[Words, Words]:
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
    rows, weights = np.array(rows, order="C"), np.array(weights)
    count = _consolidate(rows, weights)
    return rows[:count], weights[:count]


def sort_distinct(rows: Words) -> Words:
    """The distinct rows in ascending order. O(n log n), and O(n) for sorted rows."""
    return consolidate(rows, np.ones(len(rows), np.int64))[0] if len(rows) > 1 else np.ascontiguousarray(rows)
