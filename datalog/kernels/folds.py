"""Reading a range of a tree by its inner entries, in O(log n) pages: folds of the scan, rows by rank, and the intervals around a point.

A range is two prefixes of the rows, `lows[i]` and `highs[i]`, of one length: the rows whose first columns lie between the two,
inclusive. Every kernel takes many ranges and adds to `nodes[0]` how many pages it has looked into.
"""

from __future__ import annotations

import numpy as np

from datalog.kernels.jit import INT, NOTHING, READ1, READ2, WRITE1, WRITE2, Words, device, kernel
from datalog.kernels.layout import (
    CHILD,
    COUNT,
    EMPTY,
    HEADER,
    INNER_CAP,
    LEAF_CAP,
    LEVEL,
    MAX_HEIGHT,
    NO_SCAN,
    PAYLOAD,
    ROWS,
    SCAN,
    SCANNED,
    WIDTH,
)
from datalog.kernels.lookup import weight_before, weight_of
from datalog.kernels.pages import cap_of, compare, first_beyond, first_not_less
from datalog.kernels.scans import combined, neutral, word_of_page


@device
def rows_in(pages: Words, shape: Words, page: int, first: int, end: int) -> int:
    """How many rows the entries first … end - 1 are or lead to."""
    if pages[page, LEVEL] == 0:
        return end - first
    base = HEADER + (shape[WIDTH] + ROWS) * shape[INNER_CAP]
    rows = 0
    for entry in range(first, end):
        rows += pages[page, base + entry]
    return rows


@kernel(NOTHING(READ2, READ1, INT, READ2, READ2, WRITE2, WRITE1))
def fold(pages: Words, shape: Words, root: int, lows: Words, highs: Words, folded: Words, nodes: Words) -> None:
    """Write for each range the scan's word (0 without a scan) and the number of rows.

    On each level only the pages with the ends of the range are entered: the children between them lie within.
    """
    kind = shape[SCAN]
    length = lows.shape[1]
    waiting = np.empty((2 * MAX_HEIGHT, 3), np.int64)  # page; is it open to the left, to the right?
    for row in range(lows.shape[0]):
        word = neutral(kind)
        rows = 0
        waits = 0
        if root != EMPTY:
            waiting[0, 0] = root
            waiting[0, 1] = waiting[0, 2] = 1
            waits = 1
        while waits > 0:
            waits -= 1
            page = waiting[waits, 0]
            left = waiting[waits, 1]
            right = waiting[waits, 2]
            nodes[0] += 1
            cap = cap_of(pages, shape, page)
            first = first_beyond(pages, page, cap, lows, row, length, 0) if left == 1 else 0
            end = first_beyond(pages, page, cap, highs, row, length, 1) if right == 1 else pages[page, COUNT]
            if end < first:
                continue  # the high end lies below the low end
            if pages[page, LEVEL] > 0:
                # The child before `first` may hold rows from the low end on, the last before `end` rows beyond the high end.
                base = HEADER + (shape[WIDTH] + CHILD) * cap
                split = end - 1
                if left == 1 and first > 0 and end > 0:
                    waiting[waits, 0] = pages[page, base + first - 1]
                    waiting[waits, 1] = 1
                    waiting[waits, 2] = 1 if right == 1 and split == first - 1 else 0
                    waits += 1
                if right == 1:
                    if split >= first:
                        waiting[waits, 0] = pages[page, base + split]
                        waiting[waits, 1] = 0
                        waiting[waits, 2] = 1
                        waits += 1
                    end = split
            if first < end:
                rows += rows_in(pages, shape, page, first, end)
                if kind != NO_SCAN:
                    word = combined(kind, word, word_of_page(pages, shape, page, first, end))
        folded[row, 0] = word
        folded[row, 1] = rows


@kernel(NOTHING(READ2, READ1, INT, READ2, READ2, READ2, INT, WRITE1, WRITE2, WRITE1))
def select(
    pages: Words, shape: Words, root: int, lows: Words, highs: Words, ranks: Words, column: int, counts: Words, rows: Words, nodes: Words
) -> None:
    """Write for each range how many rows it has, and one after the other those of them that stand at ranks.

    Ranks are 1, 2, … from the low end, -1, -2, … from the high end; rows that there are not are left alone. `ranks` has a row for each
    range, or one for all.
    `column` is ROWS to count rows, or SCANNED to count each as often as its payload says, in a tree with a scan of totals.
    """
    width = shape[WIDTH]
    each = ranks.shape[1]
    for row in range(lows.shape[0]):
        counts[row] = 0
        if root == EMPTY:
            continue
        start = weight_before(pages, shape, root, lows, row, 0, column, nodes)
        end = weight_before(pages, shape, root, highs, row, 1, column, nodes)
        counts[row] = max(end - start, 0)  # the ends of an empty range may be the wrong way round
        for place in range(each):
            rank = ranks[row if ranks.shape[0] > 1 else 0, place]
            rank += start if rank > 0 else end + 1
            if rank <= start or rank > end:
                continue
            page = root
            while True:
                nodes[0] += 1
                entry = 0
                weight = weight_of(pages, shape, page, entry, column)
                while weight < rank:
                    rank -= weight
                    entry += 1
                    weight = weight_of(pages, shape, page, entry, column)
                if pages[page, LEVEL] == 0:
                    break
                page = pages[page, HEADER + (width + CHILD) * shape[INNER_CAP] + entry]
            for key in range(width):
                rows[row * each + place, key] = pages[page, HEADER + key * shape[LEAF_CAP] + entry]


@device
def enter(path: Words, depth: int, page: int) -> None:
    """Go on at a page, which has not been looked into yet."""
    path[0, depth] = page
    path[1, depth] = -1


@device
def next_entry(pages: Words, shape: Words, path: Words, depth: int, bounds: Words, row: int, length: int, nodes: Words) -> int:
    """The next entry of the page that the path has come to: at first the one from which on rows may not be less than the bound."""
    page = path[0, depth]
    if path[1, depth] < 0:
        nodes[0] += 1
        first = first_not_less(pages, page, cap_of(pages, shape, page), bounds, row, length)
        path[1, depth] = max(first - 1, 0) if pages[page, LEVEL] > 0 else first
    return int(path[1, depth])


@kernel(INT(READ2, READ1, INT, READ2, READ2, WRITE1, WRITE2, WRITE1, WRITE1))
def within(
    pages: Words, shape: Words, root: int, lows: Words, highs: Words, which: Words, rows: Words, payloads: Words, nodes: Words
) -> int:
    """Write the rows of all ranges one after the other, which range each is of, and its payload if the tree has one; how many there are.

    The three have room for all of them (`fold` counts them).
    """
    width = shape[WIDTH]
    length = lows.shape[1]
    children = HEADER + (width + CHILD) * shape[INNER_CAP]
    path = np.empty((2, MAX_HEIGHT), np.int64)  # page and next entry, by depth
    count = 0
    for row in range(lows.shape[0]):
        enter(path, 0, root)
        depth = 0 if root != EMPTY else -1
        while depth >= 0:
            page = path[0, depth]
            cap = cap_of(pages, shape, page)
            inner = pages[page, LEVEL] > 0
            entry = next_entry(pages, shape, path, depth, lows, row, length, nodes)
            if entry == pages[page, COUNT]:
                depth -= 1
            elif compare(pages, page, cap, entry, highs, row, length) > 0:
                depth = -1
            elif inner:
                path[1, depth] = entry + 1
                depth += 1
                enter(path, depth, pages[page, children + entry])
            else:
                path[1, depth] = entry + 1
                which[count] = row
                for key in range(width):
                    rows[count, key] = pages[page, HEADER + key * cap + entry]
                if shape[PAYLOAD] == 1:
                    payloads[count] = pages[page, HEADER + width * cap + entry]
                count += 1
    return count


@kernel(INT(READ2, READ1, INT, READ2, WRITE2, WRITE1))
def around(pages: Words, shape: Words, root: int, points: Words, rows: Words, nodes: Words) -> int:
    """Write the rows (α, low, high) of a tree with a scan of the greatest last column that hold a point (α, key): low ≤ key ≤ high.

    Returns how many there are; those that do not fit are only counted. A row around several points is written for each of them.
    O((m + 1) log n) for m rows: section 3.2 of the paper.
    """
    width = shape[WIDTH]
    length = width - 2
    children = HEADER + (width + CHILD) * shape[INNER_CAP]
    path = np.empty((2, MAX_HEIGHT), np.int64)
    count = 0
    for point in range(points.shape[0]):
        key = points[point, length]
        enter(path, 0, root)
        depth = 0 if root != EMPTY else -1
        while depth >= 0:
            page = path[0, depth]
            cap = cap_of(pages, shape, page)
            inner = pages[page, LEVEL] > 0
            entry = next_entry(pages, shape, path, depth, points, point, length, nodes)
            if entry == pages[page, COUNT]:
                depth -= 1
                continue
            if compare(pages, page, cap, entry, points, point, length + 1) > 0:
                depth = -1  # all that follow begin later
                continue
            path[1, depth] = entry + 1
            if inner:
                if pages[page, HEADER + (width + SCANNED) * cap + entry] >= key:
                    depth += 1
                    enter(path, depth, pages[page, children + entry])
            elif pages[page, HEADER + (width - 1) * cap + entry] >= key:
                if count < rows.shape[0]:
                    for column in range(width):
                        rows[count, column] = pages[page, HEADER + column * cap + entry]
                count += 1
    return count
