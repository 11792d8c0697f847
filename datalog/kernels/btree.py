"""Changing a copy-on-write B-tree by a batch of ascending rows: insert, delete, adjust payloads.

The rows of a batch that belong to one leaf are a *run*. For each run the kernel descends from the root once, decides what becomes of
every row, and only if anything changes makes the pages of the path writable, from the root down. Then the leaf is edited column by
column, and on the way up every inner entry of the path is rewritten from its child. So separators, row counts and scans are exact after
each run. A run ends at the latest when it has inserted as many rows as a leaf holds, so that at most one page a level is split off.

Deletion is lazier than the textbook's: a page that becomes sparse is merged with a neighbour under the same parent if both fit into one
page, and otherwise left alone. No page is ever empty. Heights stay logarithmic in the greatest size that the tree had since it was built.

Kernels never grow the pool. Before each run they check that the pages which it may need are available and otherwise return; the caller
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
    PAYLOAD,
    REMOVE,
    ROOT,
    WIDTH,
)
from datalog.kernels.pages import (
    append_entries,
    ascends,
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
    place_from,
    summarise,
    take,
)

# What an action makes of one row.
KEEP, INSERT, UPDATE, DELETE, BROKEN = 0, 1, 2, 3, 4

# What is to be done to a leaf, a row of numbers each: places of the entries that go; of each row that comes, its place among the entries
# that stay, its number in the batch, and its payload.
GONE, AT, ROW, WEIGHT = 0, 1, 2, 3


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
def split_for(pages: Words, ledger: Words, ctl: Words, shape: Words, page: int, entry: int, last: bool) -> tuple[int, int, int]:
    """Make room for an entry of an inner page: the page and place for it, and the new right-hand page or EMPTY.

    Pages are split as leaves are (`edit_leaf`): no page is left with a single entry, but at the right edge.
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
def partner(pages: Words, shape: Words, page: int, slot: int) -> int:
    """The first of two children after each other, one of them that at `slot`, which fit into one page; EMPTY if there are none."""
    base = HEADER + (shape[WIDTH] + CHILD) * shape[INNER_CAP]
    for left in range(max(slot - 1, 0), min(slot + 1, pages[page, COUNT] - 1)):
        child = pages[page, base + left]
        if pages[child, COUNT] + pages[pages[page, base + left + 1], COUNT] <= cap_of(pages, shape, child):
            return left
    return EMPTY


@device
def merge_children(pages: Words, ledger: Words, ctl: Words, shape: Words, page: int, slot: int) -> int:
    """Append the child after `slot` to the child at `slot`, whose entry is then to be written; that child."""
    cap = shape[INNER_CAP]
    base = HEADER + (shape[WIDTH] + CHILD) * cap + slot
    right = pages[page, base + 1]
    left = own(pages, ledger, ctl, pages[page, base])
    append_entries(pages, left, right, 0, cap_of(pages, shape, left), columns_of(pages, shape, left))
    give_up(pages, ledger, ctl, right)
    close_gap(pages, page, cap, columns_of(pages, shape, page), slot + 1)
    return left


@device
def edit_leaf(
    pages: Words, ledger: Words, ctl: Words, shape: Words, leaf: int, edits: Words, gone: int, come: int, rows: Words, last: bool
) -> int:
    """Delete and insert what `edits` lists in a leaf that is owned; the new right-hand page or EMPTY.

    If there is no room, both pages get as many entries, or the right one gets one more; but at the right edge of the tree (`last`) the
    old page stays full, so ascending insertion packs pages.
    """
    cap = shape[LEAF_CAP]
    width = shape[WIDTH]
    columns = width + shape[PAYLOAD]
    count = pages[leaf, COUNT]
    stay = count - gone
    total = stay + come
    keep = total
    right = leaf
    if total > cap:
        keep = cap if last and edits[AT, 0] == stay else total >> 1
        right = take(pages, ledger, ctl)
        pages[right, LEVEL] = 0
        pages[right, COUNT] = total - keep
    pages[leaf, COUNT] = keep
    for column in range(columns):
        base = HEADER + column * cap
        if gone > 0:
            target = edits[GONE, 0]
            for index in range(gone):
                end = edits[GONE, index + 1] if index + 1 < gone else count
                for entry in range(edits[GONE, index] + 1, end):
                    pages[leaf, base + target] = pages[leaf, base + entry]
                    target += 1
        # From the last entry on, so that no entry is overwritten before it has moved. Entry `keep` is the right page's first.
        entry = stay
        for index in range(come, -1, -1):
            first = edits[AT, index - 1] if index > 0 else min(keep, stay)
            while entry > first and entry + index > keep:
                entry -= 1
                pages[right, base + entry + index - (keep if right != leaf else 0)] = pages[leaf, base + entry]
            while entry > first:
                entry -= 1
                pages[leaf, base + entry + index] = pages[leaf, base + entry]
            if index > 0:
                value = rows[edits[ROW, index - 1], column] if column < width else edits[WEIGHT, index - 1]
                place = entry + index - 1
                if place >= keep:
                    pages[right, base + place - keep] = value
                else:
                    pages[leaf, base + place] = value
    return EMPTY if right == leaf else right


@device
def climb(pages: Words, ledger: Words, ctl: Words, shape: Words, top: int, path: Words, right: int, last: bool) -> int:
    """Rewrite the inner entries of a path whose leaf was edited, and split or merge pages where need be; the new root.

    `right` is the page that was split off the leaf, or EMPTY.
    """
    child = path[0, 0]
    level = 1
    while level <= top or right != EMPTY:
        if level > top:  # a root of two children; the first stands there already, but for what its entry says
            page = take(pages, ledger, ctl)
            pages[page, LEVEL] = level
            pages[page, COUNT] = 1
            slot = 0
        else:
            page = path[0, level]
            slot = path[1, level]
        target, entry = page, slot
        new = right
        right = EMPTY
        if pages[child, COUNT] == 0:
            give_up(pages, ledger, ctl, child)
            close_gap(pages, page, shape[INNER_CAP], columns_of(pages, shape, page), slot)
            entry = EMPTY
        elif pages[child, COUNT] < max(2, cap_of(pages, shape, child) >> 2) and new == EMPTY:
            left = partner(pages, shape, page, slot)
            if left != EMPTY:
                child = merge_children(pages, ledger, ctl, shape, page, left)
                entry = left
        while entry != EMPTY:  # the child's entry, and then that of the new page
            summarise(pages, shape, target, entry, child)
            entry = EMPTY
            if new != EMPTY:
                target, entry, right = split_for(pages, ledger, ctl, shape, page, slot + 1, last)
                child = new
                new = EMPTY
        child = page
        level += 1
    if pages[child, COUNT] == 0:
        give_up(pages, ledger, ctl, child)
        return EMPTY
    while pages[child, LEVEL] > 0 and pages[child, COUNT] == 1:
        below = pages[child, HEADER + (shape[WIDTH] + CHILD) * shape[INNER_CAP]]
        give_up(pages, ledger, ctl, child)
        child = below
    return int(child)


@kernel(INT(WRITE2, WRITE2, WRITE1, READ1, READ2, WRITE1, INT))
def apply_rows(pages: Words, ledger: Words, ctl: Words, shape: Words, rows: Words, changes: Words, action: int) -> int:
    """Apply ascending `rows` with their weights in `changes` to the tree at ctl[ROOT], from row ctl[DONE] on.

    Each weight is replaced by the row's transition: 1 it came, -1 it went, 0 neither. Returns 0 when all rows are done, n > 0 when
    n pages must be made available first, -1 when row ctl[DONE] takes away more than there is, and -2 when it is not greater than the
    row before it.
    """
    width = shape[WIDTH]
    leaf_cap = shape[LEAF_CAP]
    inner_cap = shape[INNER_CAP]
    child_base = HEADER + (width + CHILD) * inner_cap
    path = np.empty((2, MAX_HEIGHT), np.int64)  # page and place, by level
    edits = np.empty((4, leaf_cap), np.int64)
    root = ctl[ROOT]
    status = 0
    row = ctl[DONE]
    while row < rows.shape[0] and status == 0:
        needed = 1 if root == EMPTY else 2 * pages[root, LEVEL] + 5
        if available(pages, ctl) < needed:
            status = needed
            break
        if root == EMPTY:
            root = take(pages, ledger, ctl)
            pages[root, LEVEL] = 0
            pages[root, COUNT] = 0
        top = pages[root, LEVEL]
        leaf = root
        bound = EMPTY  # the page, and then the entry, whose separator is the least row beyond the leaf
        bound_entry = 0
        for level in range(top, 0, -1):
            slot = child_for(pages, leaf, inner_cap, rows, row, width)
            path[0, level] = leaf
            path[1, level] = slot
            if slot + 1 < pages[leaf, COUNT]:
                bound = leaf
                bound_entry = slot + 1
            leaf = pages[leaf, child_base + slot]
        path[0, 0] = leaf
        count = pages[leaf, COUNT]
        first = row
        place = gone = come = 0
        changed = count == 0
        while row < rows.shape[0] and come < leaf_cap:
            if row > 0 and not ascends(rows, row):
                status = -2
                break
            if row > first and bound != EMPTY and compare(pages, bound, inner_cap, bound_entry, rows, row, width) <= 0:
                break
            if row == first:
                place = first_not_less(pages, leaf, leaf_cap, rows, row, width)
            else:
                place = place_from(pages, leaf, leaf_cap, place, rows, row, width)
            present = place < count and compare(pages, leaf, leaf_cap, place, rows, row, width) == 0
            before = 0
            if present and shape[PAYLOAD] == 1:
                before = pages[leaf, HEADER + width * leaf_cap + place]
            verdict, payload = decide(action, present, before, changes[row])
            if verdict == BROKEN:
                status = -1
                break
            if verdict != KEEP and not changed:
                changed = True
                own_path(pages, ledger, ctl, shape, top, path)
                leaf = path[0, 0]
                root = path[0, top]
            changes[row] = 0
            if verdict == INSERT:
                edits[AT, come] = place - gone
                edits[ROW, come] = row
                edits[WEIGHT, come] = payload
                come += 1
                changes[row] = 1
            elif verdict == DELETE:
                edits[GONE, gone] = place
                gone += 1
                changes[row] = -1
            elif verdict == UPDATE:
                pages[leaf, HEADER + width * leaf_cap + place] = payload
            row += 1
        if changed:
            right = EMPTY
            if gone + come > 0:
                right = edit_leaf(pages, ledger, ctl, shape, leaf, edits, gone, come, rows, bound == EMPTY)
            root = climb(pages, ledger, ctl, shape, top, path, right, bound == EMPTY)
    ctl[ROOT] = root
    ctl[DONE] = row
    return status
