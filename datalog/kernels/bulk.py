"""Whole trees at once: build bottom-up, and export.

A built tree's pages are full, except that the last two pages of a level share what is left evenly, so that none is empty.
"""

from __future__ import annotations

import numpy as np

from datalog.kernels.jit import INT, NOTHING, READ1, READ2, WRITE1, WRITE2, Words, device, kernel
from datalog.kernels.layout import CHILD, COUNT, EMPTY, HEADER, INNER_CAP, LEAF_CAP, LEVEL, MAX_HEIGHT, PAYLOAD, WIDTH
from datalog.kernels.pages import ascends, summarise, take


@device
def share(total: int, cap: int, index: int, parts: int) -> int:
    """How many of `total` entries go to page `index` of `parts` pages."""
    if index < parts - 2 or parts == 1:
        return min(cap, total)
    rest = total - (parts - 2) * cap
    return (rest + 1) // 2 if index == parts - 2 else rest // 2


@kernel(INT(WRITE2, WRITE2, WRITE1, READ1, READ2, READ1))
def build(pages: Words, ledger: Words, ctl: Words, shape: Words, rows: Words, payloads: Words) -> int:
    """The root of a new tree of ascending distinct rows, or -2 - i if row i is not greater than the row before it.

    `payloads` is read only if the shape has a payload. The caller has made enough pages available.
    """
    total = rows.shape[0]
    if total == 0:
        return EMPTY
    for row in range(1, total):
        if not ascends(rows, row):
            return -2 - row
    width = shape[WIDTH]
    cap = shape[LEAF_CAP]
    parts = (total + cap - 1) // cap
    below = np.empty(parts, np.int64)
    row = 0
    for index in range(parts):
        page = take(pages, ledger, ctl)
        count = share(total, cap, index, parts)
        pages[page, LEVEL] = 0
        pages[page, COUNT] = count
        for column in range(width):
            base = HEADER + column * cap
            for entry in range(count):
                pages[page, base + entry] = rows[row + entry, column]
        if shape[PAYLOAD] == 1:
            base = HEADER + width * cap
            for entry in range(count):
                pages[page, base + entry] = payloads[row + entry]
        below[index] = page
        row += count
    cap = shape[INNER_CAP]
    level = 0
    while parts > 1:
        level += 1
        total = parts
        parts = (total + cap - 1) // cap
        child = 0
        for index in range(parts):
            page = take(pages, ledger, ctl)
            count = share(total, cap, index, parts)
            pages[page, LEVEL] = level
            pages[page, COUNT] = count
            for entry in range(count):
                summarise(pages, shape, page, entry, below[child + entry])
            below[index] = page
            child += count
    return int(below[0])


@kernel(NOTHING(READ2, READ1, INT, WRITE2, WRITE1))
def export(pages: Words, shape: Words, root: int, rows: Words, payloads: Words) -> None:
    """Write all rows of a non-empty tree in order; the payloads too if there is room for them."""
    width = shape[WIDTH]
    cap = shape[LEAF_CAP]
    child_base = HEADER + (width + CHILD) * shape[INNER_CAP]
    path = np.empty((2, MAX_HEIGHT), np.int64)  # page and next entry, by level
    top = pages[root, LEVEL]
    path[0, top] = root
    path[1, top] = 0
    level = top
    row = 0
    while level <= top:
        page = path[0, level]
        count = pages[page, COUNT]
        if level == 0:
            for column in range(width):
                base = HEADER + column * cap
                for entry in range(count):
                    rows[row + entry, column] = pages[page, base + entry]
            if payloads.shape[0] > 0:
                base = HEADER + width * cap
                for entry in range(count):
                    payloads[row + entry] = pages[page, base + entry]
            row += count
            level += 1
        elif path[1, level] < count:
            entry = path[1, level]
            path[1, level] = entry + 1
            level -= 1
            path[0, level] = pages[page, child_base + entry]
            path[1, level] = 0
        else:
            level += 1
