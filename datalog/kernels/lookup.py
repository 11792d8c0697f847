"""Reading a B-tree: rows by key, and ranks by the row counts of inner entries."""

from __future__ import annotations

from datalog.kernels.jit import INT, NOTHING, READ1, READ2, WRITE1, WRITE_FLAGS, Flags, Words, device, kernel
from datalog.kernels.layout import CHILD, COUNT, EMPTY, HEADER, INNER_CAP, LEAF_CAP, LEVEL, ROWS, WIDTH
from datalog.kernels.pages import child_for, compare, first_not_less


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
def rank(pages: Words, shape: Words, root: int, prefixes: Words, row: int, bound: int) -> int:
    """How many rows of the tree have a prefix whose comparison with `prefixes[row]` is less than `bound` (0: below; 1: up to)."""
    width = shape[WIDTH]
    length = prefixes.shape[1]
    page = root
    before = 0
    while True:
        level = pages[page, LEVEL]
        cap = shape[LEAF_CAP] if level == 0 else shape[INNER_CAP]
        low = 0
        high = pages[page, COUNT]
        while low < high:
            middle = (low + high) >> 1
            if compare(pages, page, cap, middle, prefixes, row, length) < bound:
                low = middle + 1
            else:
                high = middle
        if level == 0:
            return before + low
        if low == 0:
            return before
        # All rows before child `low - 1` are counted, none after it is: only that child is in question.
        base = HEADER + (width + ROWS) * cap
        for entry in range(low - 1):
            before += pages[page, base + entry]
        page = pages[page, HEADER + (width + CHILD) * cap + low - 1]


@kernel(NOTHING(READ2, READ1, INT, READ2, WRITE1))
def count_prefixes(pages: Words, shape: Words, root: int, prefixes: Words, counts: Words) -> None:
    """How many rows of a non-empty tree begin with each prefix."""
    for row in range(prefixes.shape[0]):
        counts[row] = rank(pages, shape, root, prefixes, row, 1) - rank(pages, shape, root, prefixes, row, 0)
