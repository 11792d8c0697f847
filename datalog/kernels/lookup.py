"""Reading a B-tree: rows by key, and ranks by the row counts or the scans of inner entries."""

from __future__ import annotations

import numpy as np

from datalog.kernels.jit import INT, NOTHING, READ1, READ2, WRITE1, WRITE_FLAGS, Flags, Words, device, kernel
from datalog.kernels.layout import CHILD, COUNT, EMPTY, HEADER, INNER_CAP, LEAF_CAP, LEVEL, ROWS, SCANNED, WIDTH
from datalog.kernels.pages import cap_of, child_for, compare, first_beyond, first_not_less


@kernel(NOTHING(READ2, READ1, INT, READ2, WRITE_FLAGS, WRITE1))
def lookup(pages: Words, shape: Words, root: int, rows: Words, found: Flags, payloads: Words) -> None:
    """Mark which rows the tree has; where `payloads` has room, write those of the rows found (the others stay as they are)."""
    width = shape[WIDTH]
    cap = shape[LEAF_CAP]
    child_base = HEADER + (width + CHILD) * shape[INNER_CAP]
    for row in range(rows.shape[0]):
        found[row] = False
        if root == EMPTY:
            continue
        page = root
        while pages[page, LEVEL] > 0:
            page = pages[page, child_base + child_for(pages, page, shape[INNER_CAP], rows, row, width)]
        place = first_not_less(pages, page, cap, rows, row, width)
        if place < pages[page, COUNT] and compare(pages, page, cap, place, rows, row, width) == 0:
            found[row] = True
            if payloads.shape[0] > 0:
                payloads[row] = pages[page, HEADER + width * cap + place]


@device
def weight_of(pages: Words, shape: Words, page: int, entry: int, column: int) -> int:
    """The weight of one entry: with SCANNED the total of the payloads, with ROWS the number of rows."""
    if pages[page, LEVEL] > 0:
        return int(pages[page, HEADER + (shape[WIDTH] + column) * shape[INNER_CAP] + entry])
    return int(pages[page, HEADER + shape[WIDTH] * shape[LEAF_CAP] + entry]) if column == SCANNED else 1


@device
def weight_before(pages: Words, shape: Words, root: int, bounds: Words, row: int, side: int, column: int, nodes: Words) -> int:
    """The weight of all rows before the first that compares with bounds[row] as `side` or more."""
    page = root
    weight = 0
    while True:
        nodes[0] += 1
        place = first_beyond(pages, page, cap_of(pages, shape, page), bounds, row, bounds.shape[1], side)
        inner = pages[page, LEVEL] > 0
        if not inner and column == ROWS:
            return weight + place
        # All rows before child `place - 1` count, none after it does: only that child is in question.
        for entry in range(place - 1 if inner else place):
            weight += weight_of(pages, shape, page, entry, column)
        if not inner or place == 0:
            return weight
        page = pages[page, HEADER + (shape[WIDTH] + CHILD) * shape[INNER_CAP] + place - 1]


@kernel(NOTHING(READ2, READ1, INT, READ2, WRITE1))
def count_prefixes(pages: Words, shape: Words, root: int, prefixes: Words, counts: Words) -> None:
    """How many rows of a non-empty tree begin with each prefix."""
    nodes = np.zeros(1, np.int64)
    for row in range(prefixes.shape[0]):
        below = weight_before(pages, shape, root, prefixes, row, 0, ROWS, nodes)
        counts[row] = weight_before(pages, shape, root, prefixes, row, 1, ROWS, nodes) - below
