"""Sorting blocks of weighted rows.

A merge sort that takes the ascending runs it finds, so sorted input costs one pass and a few sorted runs one after the other cost
one pass for each doubling. Short runs are first extended to RUN rows by insertion. Rows move with their weights; no index is kept.
"""

from __future__ import annotations

import numpy as np

from datalog.kernels.jit import INT, READ2, Words, device, kernel

RUN = 24


@device
def ascends(rows: Words, i: int, j: int) -> bool:
    """Whether row i is at most row j."""
    for column in range(rows.shape[1]):
        if rows[i, column] != rows[j, column]:
            return bool(rows[i, column] < rows[j, column])
    return True


@device
def extend_run(rows: Words, weights: Words, start: int, sorted_to: int, end: int) -> None:
    """Make rows start … end - 1 ascend, given that start … sorted_to - 1 do."""
    width = rows.shape[1]
    for row in range(sorted_to, end):
        place = row
        while place > start and not ascends(rows, place - 1, place):
            for column in range(width):
                held = rows[place, column]
                rows[place, column] = rows[place - 1, column]
                rows[place - 1, column] = held
            held = weights[place]
            weights[place] = weights[place - 1]
            weights[place - 1] = held
            place -= 1


@device
def merge_runs(rows: Words, weights: Words, start: int, middle: int, end: int, to_rows: Words, to_weights: Words) -> None:
    """Merge the runs [start, middle) and [middle, end) into the same places of the other block."""
    width = rows.shape[1]
    left = start
    right = middle
    for place in range(start, end):
        if right == end or (left < middle and ascends(rows, left, right)):
            source = left
            left += 1
        else:
            source = right
            right += 1
        for column in range(width):
            to_rows[place, column] = rows[source, column]
        to_weights[place] = weights[source]


@device
def sort(rows: Words, weights: Words) -> None:
    total = rows.shape[0]
    bounds = np.empty(total // RUN + 2, np.int64)  # where runs begin, and the end
    runs = 0
    start = 0
    while start < total:
        end = start + 1
        while end < total and ascends(rows, end - 1, end):
            end += 1
        if end - start < RUN and end < total:
            longer = min(start + RUN, total)
            extend_run(rows, weights, start, end, longer)
            end = longer
        bounds[runs] = start
        runs += 1
        start = end
    bounds[runs] = total
    if runs < 2:
        return
    from_rows, from_weights = rows, weights
    to_rows, to_weights = np.empty(rows.shape, np.int64), np.empty(total, np.int64)
    swapped = False
    while runs > 1:
        merged = 0
        for run in range(0, runs, 2):
            middle = bounds[run + 1]
            end = bounds[min(run + 2, runs)]
            merge_runs(from_rows, from_weights, bounds[run], middle, end, to_rows, to_weights)
            bounds[merged] = bounds[run]
            merged += 1
        bounds[merged] = total
        runs = merged
        from_rows, to_rows = to_rows, from_rows
        from_weights, to_weights = to_weights, from_weights
        swapped = not swapped
    if swapped:
        for row in range(total):
            for column in range(rows.shape[1]):
                rows[row, column] = from_rows[row, column]
            weights[row] = from_weights[row]


@kernel(INT(READ2))
def ascending(rows: Words) -> int:
    """How many rows from the first on ascend, each greater than the one before it."""
    row = min(1, rows.shape[0])
    while row < rows.shape[0] and not ascends(rows, row, row - 1):
        row += 1
    return int(row)
