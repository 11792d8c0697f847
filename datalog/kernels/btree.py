"""Changing a copy-on-write B-tree row by row: insert, delete, adjust payloads.

Each row descends from the root, and if it changes anything, the pages on its path are made writable from the root down and every inner
entry on the path is rewritten from its child on the way up. So separators, row counts and scans are exact after each row, at the price
of one pass over each page of the path.

Deletion is lazier than the textbook's: a page that becomes sparse is merged with a neighbour under the same parent if both fit into one
page, and otherwise left alone. No page is ever empty. Heights stay logarithmic in the greatest size that the tree had since it was built.

Kernels never grow the pool. Before each row they check that the pages which it may need are available and otherwise return; the caller
grows the pool and calls again, `ctl[DONE]` says where to go on.
"""

from __future__ import annotations

import numpy as np

from datalog.kernels.jit import INT, READ1, READ2, WRITE1, WRITE2, Words, device, kernel
from datalog.kernels.layout import (
    ADD,
    CHILD,
    COUNT,
    COUNT_UP,
    DONE,
    EMPTY,
    HEADER,
    INNER_CAP,
    LEAF_CAP,
    LEVEL,
    MAX,
    MAX_HEIGHT,
    NO_SCAN,
    PAYLOAD,
    REMOVE,
    ROOT,
    SCAN,
    WIDTH,
)
from datalog.kernels.pages import (
    append_entries,
    available,
    cap_of,
    child_for,
    close_gap,
    columns_of,
    compare,
    first_not_less,
    give_up,
    open_gap,
    own,
    summarise,
    take,
)

# What an action makes of one row.
KEEP, INSERT, UPDATE, DELETE, BROKEN = 0, 1, 2, 3, 4


@device
def decide(action: int, present: bool, payload: int, weight: int) -> tuple[int, int]:
    """What becomes of a row, and its payload then."""
    if action == COUNT_UP:
        if not present:
            return (BROKEN if weight < 0 else INSERT if weight > 0 else KEEP), weight
        total = payload + weight
        return (BROKEN if total < 0 else DELETE if total == 0 else KEEP if weight == 0 else UPDATE), total
    if action == ADD:
        total = payload + weight
        if not present:
            return (KEEP if weight == 0 else INSERT), weight
        return (DELETE if total == 0 else KEEP if weight == 0 else UPDATE), total
    if action == MAX:
        return (INSERT if not present else UPDATE if weight > payload else KEEP), weight
    if action == REMOVE:
        return (DELETE if present else KEEP), 0
    if present:
        return (DELETE if weight < 0 else KEEP), 0
    return (INSERT if weight > 0 else KEEP), weight


@device
def own_path(pages: Words, ledger: Words, ctl: Words, shape: Words, top: int, path: Words) -> None:
    """Make the pages of the path writable, from the root down."""
    base = HEADER + (shape[WIDTH] + CHILD) * shape[INNER_CAP]
    for level in range(top, -1, -1):
        page = own(pages, ledger, ctl, path[0, level])
        path[0, level] = page
        if level < top:
            pages[path[0, level + 1], base + path[1, level + 1]] = page


@device
def at_right_edge(pages: Words, path: Words, top: int) -> bool:
    """Whether the path leads to the last leaf."""
    last = True
    for level in range(1, top + 1):
        last = last and path[1, level] == pages[path[0, level], COUNT] - 1
    return last


@device
def split_for(pages: Words, ledger: Words, ctl: Words, shape: Words, page: int, entry: int, last: bool) -> tuple[int, int, int]:
    """Make room for an entry: the page and place for it, and the new right-hand page or EMPTY.

    Both halves have as many entries, or the right one has one more when the entry is there, so that no page is left with a single
    entry; but at the right edge of the tree (`last`) the old page stays full, so ascending insertion packs pages.
    """
    cap = cap_of(pages, shape, page)
    columns = columns_of(pages, shape, page)
    if pages[page, COUNT] < cap:
        open_gap(pages, page, cap, columns, entry)
        return page, entry, EMPTY
    half = (cap + 1) >> 1
    keep = cap if last and entry == cap else half if entry >= half else half - 1
    right = take(pages, ledger, ctl)
    pages[right, LEVEL] = pages[page, LEVEL]
    pages[right, COUNT] = 0
    append_entries(pages, right, page, keep, cap, columns)
    pages[page, COUNT] = keep
    target = page
    if entry >= half:
        target = right
        entry -= keep
    open_gap(pages, target, cap, columns, entry)
    return target, entry, right


@device
def insert(pages: Words, ledger: Words, ctl: Words, shape: Words, top: int, path: Words, rows: Words, row: int, payload: int) -> int:
    """Insert a row at the leaf's place path[1, 0], whose path is owned, and return the new root."""
    last = at_right_edge(pages, path, top)
    target, entry, right = split_for(pages, ledger, ctl, shape, path[0, 0], path[1, 0], last)
    width = shape[WIDTH]
    for column in range(width):
        pages[target, HEADER + column * shape[LEAF_CAP] + entry] = rows[row, column]
    if shape[PAYLOAD] == 1:
        pages[target, HEADER + width * shape[LEAF_CAP] + entry] = payload
    for level in range(1, top + 1):
        page = path[0, level]
        slot = path[1, level]
        summarise(pages, shape, page, slot, path[0, level - 1])
        if right != EMPTY:
            new = right
            target, entry, right = split_for(pages, ledger, ctl, shape, page, slot + 1, last)
            summarise(pages, shape, target, entry, new)
    root = path[0, top]
    if right == EMPTY:
        return int(root)
    above = take(pages, ledger, ctl)
    pages[above, LEVEL] = top + 1
    pages[above, COUNT] = 2
    for slot in range(2):
        summarise(pages, shape, above, slot, root if slot == 0 else right)
    return above


@device
def merge_into(pages: Words, ledger: Words, ctl: Words, shape: Words, page: int, slot: int) -> bool:
    """Append the child after `slot` to the child at `slot` if both fit into one page."""
    cap = shape[INNER_CAP]
    base = HEADER + (shape[WIDTH] + CHILD) * cap + slot
    left = pages[page, base]
    right = pages[page, base + 1]
    child_cap = cap_of(pages, shape, left)
    if pages[left, COUNT] + pages[right, COUNT] > child_cap:
        return False
    left = own(pages, ledger, ctl, left)
    append_entries(pages, left, right, 0, child_cap, columns_of(pages, shape, left))
    give_up(pages, ledger, ctl, right)
    close_gap(pages, page, cap, columns_of(pages, shape, page), slot + 1)
    summarise(pages, shape, page, slot, left)
    return True


@device
def delete(pages: Words, ledger: Words, ctl: Words, shape: Words, top: int, path: Words) -> int:
    """Remove the row at the leaf's place path[1, 0], whose path is owned, and return the new root."""
    leaf = path[0, 0]
    close_gap(pages, leaf, shape[LEAF_CAP], columns_of(pages, shape, leaf), path[1, 0])
    for level in range(1, top + 1):
        page = path[0, level]
        slot = path[1, level]
        child = path[0, level - 1]
        count = pages[child, COUNT]
        if count == 0:
            give_up(pages, ledger, ctl, child)
            close_gap(pages, page, shape[INNER_CAP], columns_of(pages, shape, page), slot)
            continue
        summarise(pages, shape, page, slot, child)
        if count < max(2, cap_of(pages, shape, child) >> 2):
            merged = slot > 0 and merge_into(pages, ledger, ctl, shape, page, slot - 1)
            if not merged and slot + 1 < pages[page, COUNT]:
                merge_into(pages, ledger, ctl, shape, page, slot)
    root = path[0, top]
    if pages[root, COUNT] == 0:
        give_up(pages, ledger, ctl, root)
        return EMPTY
    while pages[root, LEVEL] > 0 and pages[root, COUNT] == 1:
        child = pages[root, HEADER + (shape[WIDTH] + CHILD) * shape[INNER_CAP]]
        give_up(pages, ledger, ctl, root)
        root = child
    return int(root)


@kernel(INT(WRITE2, WRITE2, WRITE1, READ1, READ2, WRITE1, INT))
def apply_rows(pages: Words, ledger: Words, ctl: Words, shape: Words, rows: Words, changes: Words, action: int) -> int:
    """Apply `rows` with their weights in `changes` to the tree at ctl[ROOT], from row ctl[DONE] on.

    Each weight is replaced by the row's transition: 1 it came, -1 it went, 0 neither. Returns 0 when all rows are done, n > 0 when
    n pages must be made available first, and -1 when row ctl[DONE] takes away more than there is.
    """
    width = shape[WIDTH]
    leaf_cap = shape[LEAF_CAP]
    child_base = HEADER + (width + CHILD) * shape[INNER_CAP]
    path = np.empty((2, MAX_HEIGHT), np.int64)  # page and place, by level
    root = ctl[ROOT]
    status = 0
    row = ctl[DONE]
    while row < rows.shape[0]:
        needed = 1
        if root != EMPTY:
            needed = 2 * pages[root, LEVEL] + 5
        if available(pages, ctl) < needed:
            status = needed
            break
        top = 0
        present = False
        before = 0
        if root != EMPTY:
            top = pages[root, LEVEL]
            page = root
            for level in range(top, 0, -1):
                slot = child_for(pages, page, shape[INNER_CAP], rows, row, width)
                path[0, level] = page
                path[1, level] = slot
                page = pages[page, child_base + slot]
            place = first_not_less(pages, page, leaf_cap, rows, row, width)
            path[0, 0] = page
            path[1, 0] = place
            present = place < pages[page, COUNT] and compare(pages, page, leaf_cap, place, rows, row, width) == 0
            if present and shape[PAYLOAD] == 1:
                before = pages[page, HEADER + width * leaf_cap + place]
        verdict, payload = decide(action, present, before, changes[row])
        if verdict in (INSERT, UPDATE, DELETE):
            if root == EMPTY:
                root = take(pages, ledger, ctl)
                pages[root, LEVEL] = 0
                pages[root, COUNT] = 0
                path[0, 0] = root
                path[1, 0] = 0
            else:
                own_path(pages, ledger, ctl, shape, top, path)
                root = path[0, top]
        if verdict == INSERT:
            root = insert(pages, ledger, ctl, shape, top, path, rows, row, payload)
        elif verdict == DELETE:
            root = delete(pages, ledger, ctl, shape, top, path)
        elif verdict == UPDATE:
            pages[path[0, 0], HEADER + width * leaf_cap + path[1, 0]] = payload
            if shape[SCAN] != NO_SCAN:
                for level in range(1, top + 1):
                    summarise(pages, shape, path[0, level], path[1, level], path[0, level - 1])
        if verdict == BROKEN:
            status = -1
            break
        changes[row] = 1 if verdict == INSERT else -1 if verdict == DELETE else 0
        row += 1
    ctl[ROOT] = root
    ctl[DONE] = row
    return status
