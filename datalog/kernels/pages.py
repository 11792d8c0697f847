"""What all B-tree kernels do with single pages: take and give up, search, move entries, summarise.

A page that the running transaction took is written in place; any other may be in use by a reader and is copied first (`own`). So a
version, once committed, never changes. Within one transaction a root that was handed to a writing kernel is used up: its pages may now
belong to the new root.
"""

from __future__ import annotations

from datalog.kernels.jit import Words, device
from datalog.kernels.layout import (
    BORN,
    CHILD,
    COUNT,
    FREE,
    HEADER,
    INNER_CAP,
    LEAF_CAP,
    LEVEL,
    NO_SCAN,
    PAYLOAD,
    RECYCLED,
    RETIRED,
    ROWS,
    SCAN,
    SCANNED,
    TAKEN,
    TOP,
    TRANSACTION,
    WIDTH,
)
from datalog.kernels.scans import word_below

A_LINE = 8  # words of a cache line


@device
def available(pages: Words, ctl: Words) -> int:
    """How many pages `take` can hand out before the pool must grow."""
    return int(ctl[FREE] + ctl[RECYCLED] + pages.shape[0] - ctl[TOP])


@device
def take(pages: Words, ledger: Words, ctl: Words) -> int:
    """A page to write, born in the running transaction. The caller has made sure that one is available."""
    if ctl[RECYCLED] > 0:  # taken by this transaction before: it stands in TAKEN already
        ctl[RECYCLED] -= 1
        page = ledger[RECYCLED, ctl[RECYCLED]]
    else:
        if ctl[FREE] > 0:
            ctl[FREE] -= 1
            page = ledger[FREE, ctl[FREE]]
        else:
            page = ctl[TOP]
            ctl[TOP] += 1
        ledger[TAKEN, ctl[TAKEN]] = page
        ctl[TAKEN] += 1
    pages[page, BORN] = ctl[TRANSACTION]
    return int(page)


@device
def give_up(pages: Words, ledger: Words, ctl: Words, page: int) -> None:
    """Record that the tree under construction no longer reaches `page`."""
    stack = RECYCLED if pages[page, BORN] == ctl[TRANSACTION] else RETIRED
    ledger[stack, ctl[stack]] = page
    ctl[stack] += 1


@device
def own(pages: Words, ledger: Words, ctl: Words, page: int) -> int:
    """The page itself if the running transaction took it, else a copy that may be written."""
    if pages[page, BORN] == ctl[TRANSACTION]:
        return page
    copy = take(pages, ledger, ctl)
    for word in range(pages.shape[1]):
        pages[copy, word] = pages[page, word]
    pages[copy, BORN] = ctl[TRANSACTION]
    give_up(pages, ledger, ctl, page)
    return copy


@device
def cap_of(pages: Words, shape: Words, page: int) -> int:
    return int(shape[LEAF_CAP] if pages[page, LEVEL] == 0 else shape[INNER_CAP])


@device
def columns_of(pages: Words, shape: Words, page: int) -> int:
    return int(shape[WIDTH] + (shape[PAYLOAD] if pages[page, LEVEL] == 0 else 2 + (shape[SCAN] != NO_SCAN)))


@device
def ascends(rows: Words, row: int) -> bool:
    """Whether a row is greater than the row before it."""
    for column in range(rows.shape[1]):
        if rows[row, column] != rows[row - 1, column]:
            return bool(rows[row, column] > rows[row - 1, column])
    return False


@device
def compare(pages: Words, page: int, cap: int, entry: int, rows: Words, row: int, width: int) -> int:
    """-1, 0 or 1 as the entry's first `width` columns are less than, equal to or greater than those of `rows[row]`."""
    for column in range(width):
        here = pages[page, HEADER + column * cap + entry]
        there = rows[row, column]
        if here != there:
            return -1 if here < there else 1
    return 0


@device
def first_beyond(pages: Words, page: int, cap: int, rows: Words, row: int, width: int, side: int) -> int:
    """The first entry that compares with the row as `side` or more (0: it is not less, 1: it is greater); COUNT if there is none.

    One entry of each cache line is looked at first: these are fetched together, whereas each step of a bisection waits for the last.
    """
    count = pages[page, COUNT]
    passed = 0
    for entry in range(0, count, A_LINE):
        passed += compare(pages, page, cap, entry, rows, row, width) < side
    low = max(0, (passed - 1) * A_LINE + 1)
    high = min(passed * A_LINE, count)
    while low < high:
        middle = (low + high) >> 1
        if compare(pages, page, cap, middle, rows, row, width) < side:
            low = middle + 1
        else:
            high = middle
    return low


@device
def first_not_less(pages: Words, page: int, cap: int, rows: Words, row: int, width: int) -> int:
    """The first entry of the page that is not less than the row (COUNT if there is none)."""
    return first_beyond(pages, page, cap, rows, row, width, 0)


@device
def place_from(pages: Words, page: int, cap: int, low: int, rows: Words, row: int, width: int) -> int:
    """The first entry from `low` on that is not less than the row: tries near by, and then ever further on."""
    high = pages[page, COUNT]
    step = 1
    while low + step <= high and compare(pages, page, cap, low + step - 1, rows, row, width) < 0:
        low += step
        step *= 2
    high = min(high, low + step - 1)
    while low < high:
        middle = (low + high) >> 1
        if compare(pages, page, cap, middle, rows, row, width) < 0:
            low = middle + 1
        else:
            high = middle
    return low


@device
def child_for(pages: Words, page: int, cap: int, rows: Words, row: int, width: int) -> int:
    """The entry of an inner page below which the row stands or would stand: the last that is not greater, else the first."""
    return max(0, first_beyond(pages, page, cap, rows, row, width, 1) - 1)


@device
def open_gap(pages: Words, page: int, cap: int, columns: int, entry: int) -> None:
    """Move the entries from `entry` on one up, and count the new one."""
    count = pages[page, COUNT]
    for column in range(columns):
        base = HEADER + column * cap
        for index in range(count, entry, -1):
            pages[page, base + index] = pages[page, base + index - 1]
    pages[page, COUNT] = count + 1


@device
def close_gap(pages: Words, page: int, cap: int, columns: int, entry: int) -> None:
    """Remove one entry."""
    count = pages[page, COUNT] - 1
    for column in range(columns):
        base = HEADER + column * cap
        for index in range(entry, count):
            pages[page, base + index] = pages[page, base + index + 1]
    pages[page, COUNT] = count


@device
def append_entries(pages: Words, page: int, source: int, first: int, cap: int, columns: int) -> None:
    """Append the entries of page `source` from `first` on, which stay there too."""
    count = pages[page, COUNT]
    moved = pages[source, COUNT] - first
    for column in range(columns):
        base = HEADER + column * cap
        for index in range(moved):
            pages[page, base + count + index] = pages[source, base + first + index]
    pages[page, COUNT] = count + moved


@device
def summarise(pages: Words, shape: Words, page: int, entry: int, child: int) -> None:
    """Write the entry of an inner page that leads to `child`: separator, child, rows, and the scan's word if there is one."""
    width = shape[WIDTH]
    cap = shape[INNER_CAP]
    count = pages[child, COUNT]
    child_cap = cap_of(pages, shape, child)
    for column in range(width):
        pages[page, HEADER + column * cap + entry] = pages[child, HEADER + column * child_cap]
    after = HEADER + width * cap + entry
    pages[page, after + CHILD * cap] = child
    rows = count
    if pages[child, LEVEL] > 0:
        rows = 0
        base = HEADER + (width + ROWS) * cap
        for index in range(count):
            rows += pages[child, base + index]
    pages[page, after + ROWS * cap] = rows
    if shape[SCAN] != NO_SCAN:
        pages[page, after + SCANNED * cap] = word_below(pages, shape, child)
