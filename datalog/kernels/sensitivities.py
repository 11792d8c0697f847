"""The change oracle's kernels: which recorded contexts a change hits, and which regions of a rule those make.

Records of one watch (rule, atom, level) lie in a B-tree keyed (α, a, γ) with the interval's end b as payload and a
max-scan over it, which makes the tree an interval tree (section 3.2 of `leapfrog-triejoin-maintenance`).
"""

from __future__ import annotations

from datalog.kernels.encoding import PREFIX_HIGH, PREFIX_LENGTH, PREFIX_LOW, PREFIX_STAMP, PREFIX_VALUES
from datalog.kernels.jit import INT, READ1, READ2, WRITE1, WRITE2, Words, device, kernel
from datalog.kernels.layout import CHILD, COUNT, EMPTY, HEADER, INNER_CAP, LEAF_CAP, LEVEL, MAX_HEIGHT, SCANNED, WIDTH
from datalog.kernels.pages import compare

# words of a watch
WATCH_LEVEL = 0  # of the atom: how many values α has
WATCH_DEPTH = 1  # of the variable there: how many values α and γ have together
WATCH_DEPTHS = 2  # the depths of α's values, then of γ's

# words of `roots`
OLD = 0
NEW = 1
RECORDS = 2


@device
def begins(pages: Words, shape: Words, root: int, rows: Words, row: int, length: int) -> bool:
    """Does a row of the tree begin with the first `length` values of rows[row]?"""
    if root == EMPTY:
        return False
    children = HEADER + (shape[WIDTH] + CHILD) * shape[INNER_CAP]
    page = root
    behind = EMPTY  # the nearest page to the right of the path, at the lowest level that has one
    while pages[page, LEVEL] > 0:
        low = 0
        high = pages[page, COUNT]
        while high - low > 1:
            middle = (low + high) >> 1
            if compare(pages, page, shape[INNER_CAP], middle, rows, row, length) < 0:
                low = middle
            else:
                high = middle
        if low + 1 < pages[page, COUNT]:
            behind = pages[page, children + low + 1]
        page = pages[page, children + low]
    low = 0
    high = pages[page, COUNT]
    while low < high:
        middle = (low + high) >> 1
        if compare(pages, page, shape[LEAF_CAP], middle, rows, row, length) < 0:
            low = middle + 1
        else:
            high = middle
    if low == pages[page, COUNT]:
        if behind == EMPTY:
            return False
        page = behind
        while pages[page, LEVEL] > 0:
            page = pages[page, children]
        low = 0
    return compare(pages, page, shape[LEAF_CAP], low, rows, row, length) == 0


@device
def same_start(rows: Words, left: int, right: int, length: int) -> bool:
    for column in range(length):
        if rows[left, column] != rows[right, column]:
            return False
    return True


@device
def first_of_context(pages: Words, page: int, cap: int, rows: Words, row: int, level: int) -> int:
    """The last entry of an inner page whose α is below the row's (below it the first records of α may lie), or 0."""
    low = 0
    high = pages[page, COUNT]
    while high - low > 1:
        middle = (low + high) >> 1
        if compare(pages, page, cap, middle, rows, row, level) < 0:
            low = middle
        else:
            high = middle
    return low


@kernel(INT(READ2, READ1, READ1, READ1, READ2, READ1, WRITE1, WRITE2))
def stab(pages: Words, shape: Words, record_shape: Words, roots: Words, rows: Words, watch: Words, path: Words, regions: Words) -> int:
    """Write a region for every record that a changed row hits; returns how many there are.

    shape, roots[OLD], roots[NEW]: the changed arrangement before and after; rows: its changed rows, int64[m, columns],
    sorted; record_shape, roots[RECORDS]: the watch's records; watch: see WATCH_*; path: scratch, 2 * MAX_HEIGHT words;
    regions: int64[n, 4 + variables], see PREFIX_*. Those that do not fit are counted only: call again with more room.
    A row counts at the watch's level only if the trie node of its first level + 1 values is born or dies with it.
    O((m + 1) log n) for m records hit.
    """
    level = watch[WATCH_LEVEL]
    depth = watch[WATCH_DEPTH]
    width = depth + 1
    leaf_cap = record_shape[LEAF_CAP]
    inner_cap = record_shape[INNER_CAP]
    children = HEADER + (width + CHILD) * inner_cap
    scans = HEADER + (width + SCANNED) * inner_cap
    found = 0
    if roots[RECORDS] == EMPTY:
        return found
    for row in range(rows.shape[0]):
        if row > 0 and same_start(rows, row, row - 1, level + 1):
            continue
        if level + 1 < shape[WIDTH] and begins(pages, shape, roots[OLD], rows, row, level + 1) == begins(
            pages, shape, roots[NEW], rows, row, level + 1
        ):
            continue
        key = rows[row, level]
        top = 0
        path[0] = roots[RECORDS]
        path[1] = 0 if pages[path[0], LEVEL] == 0 else first_of_context(pages, path[0], inner_cap, rows, row, level)
        while top >= 0:
            page = path[2 * top]
            entry = path[2 * top + 1]
            if entry == pages[page, COUNT]:
                top -= 1
                continue
            path[2 * top + 1] = entry + 1
            if pages[page, LEVEL] > 0:
                side = compare(pages, page, inner_cap, entry, rows, row, level)
                if side > 0 or (side == 0 and pages[page, HEADER + level * inner_cap + entry] > key):
                    top = -1  # all that follows begins later
                elif pages[page, scans + entry] >= key:
                    child = pages[page, children + entry]
                    top += 1
                    path[2 * top] = child
                    path[2 * top + 1] = 0 if pages[child, LEVEL] == 0 else first_of_context(pages, child, inner_cap, rows, row, level)
                continue
            side = compare(pages, page, leaf_cap, entry, rows, row, level)
            if side > 0 or (side == 0 and pages[page, HEADER + level * leaf_cap + entry] > key):
                top = -1
                continue
            if side < 0 or pages[page, HEADER + width * leaf_cap + entry] < key:
                continue
            if found < regions.shape[0]:
                regions[found, PREFIX_LENGTH] = depth
                regions[found, PREFIX_LOW] = key
                regions[found, PREFIX_HIGH] = key
                regions[found, PREFIX_STAMP] = 0
                for column in range(depth):
                    stored = column if column < level else column + 1  # a stands between α and γ
                    regions[found, PREFIX_VALUES + watch[WATCH_DEPTHS + column]] = pages[page, HEADER + stored * leaf_cap + entry]
            found += 1
    return found


@device
def precedes(regions: Words, left: int, right: int) -> bool:
    """Order of regions: by the values that they fix, one that another one extends before that other one."""
    fixed = min(regions[left, PREFIX_LENGTH], regions[right, PREFIX_LENGTH])
    for place in range(fixed + 1):
        a = regions[left, PREFIX_VALUES + place] if place < regions[left, PREFIX_LENGTH] else regions[left, PREFIX_LOW]
        b = regions[right, PREFIX_VALUES + place] if place < regions[right, PREFIX_LENGTH] else regions[right, PREFIX_LOW]
        if a != b:
            return bool(a < b)
    return bool(regions[left, PREFIX_LENGTH] < regions[right, PREFIX_LENGTH])


@device
def swallows(regions: Words, left: int, right: int) -> bool:
    """Does the right region lie within the left one?"""
    length = regions[left, PREFIX_LENGTH]
    if length > regions[right, PREFIX_LENGTH]:
        return False
    for place in range(length):
        if regions[left, PREFIX_VALUES + place] != regions[right, PREFIX_VALUES + place]:
            return False
    deeper = regions[right, PREFIX_LENGTH] > length
    return bool(regions[left, PREFIX_LOW] == (regions[right, PREFIX_VALUES + length] if deeper else regions[right, PREFIX_LOW]))


@kernel(INT(READ2, WRITE2, WRITE2))
def merge_regions(regions: Words, order: Words, merged: Words) -> int:
    """Sort regions, each a prefix and one key, and drop those that lie within another; returns how many are left.

    regions, merged: int64[m, 4 + variables]; order: scratch, int64[2, m]. Merge sort, bottom-up; O(m log m).
    """
    count = regions.shape[0]
    for index in range(count):
        order[0, index] = index
    source = 0
    run = 1
    while run < count:
        for start in range(0, count, 2 * run):
            left = start
            left_end = min(start + run, count)
            right = left_end
            right_end = min(start + 2 * run, count)
            for place in range(start, right_end):
                if right >= right_end or (left < left_end and not precedes(regions, order[source, right], order[source, left])):
                    order[1 - source, place] = order[source, left]
                    left += 1
                else:
                    order[1 - source, place] = order[source, right]
                    right += 1
        source = 1 - source
        run *= 2
    kept = 0
    last = -1
    for place in range(count):
        index = order[source, place]
        if last >= 0 and swallows(regions, last, index):
            continue
        last = index
        for column in range(regions.shape[1]):
            merged[kept, column] = regions[index, column]
        kept += 1
    return kept


SCRATCH_WORDS = 2 * MAX_HEIGHT
