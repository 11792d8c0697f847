"""The difference of two versions of a tree, by a walk that skips what they share.

Each version has a cursor. A cursor stands at an *item*: a subtree that it has not entered, or a row of a leaf. The two cursors are kept
at the same place of the key order: the one whose item begins at the lesser key moves, and of two items that begin at the same key the
higher one is entered first. Where both stand at the same page, both skip it.

Every shared page is skipped as a whole (or lies in one that is). Suppose one cursor stands at the shared page S, whose least row is s.
The other has not passed s, since neither cursor moves beyond the other's key; so its item either begins before s and is entered or
passed, or begins at s and is higher than S and is entered, or begins at s on S's level: then it is S. This needs separators that are
exactly the least rows, as `btree.py` keeps them. Hence O(δ log n) pages are entered for a difference of δ rows.

Payloads are not compared.
"""

from __future__ import annotations

from datalog.kernels.jit import INT, READ1, READ2, WRITE2, Words, device, kernel
from datalog.kernels.layout import CHILD, COUNT, HEADER, INNER_CAP, LEVEL, WIDTH
from datalog.kernels.pages import cap_of

# Words of a cursor, a row of `state`; then page and entry of each depth. At depth 0 the item is the root itself.
DEPTH = 0  # -1: at the end
FOUND = 1  # rows written
ENTERED = 2  # pages
PATH = 3

# What an item is, if not the page id of a subtree.
ROW = -1
NOTHING_LEFT = -2


@device
def item(pages: Words, shape: Words, cursor: Words) -> int:
    """The subtree at which the cursor stands, or ROW or NOTHING_LEFT."""
    depth = cursor[DEPTH]
    if depth < 0:
        return NOTHING_LEFT
    page = cursor[PATH + 2 * depth]
    if depth == 0:
        return int(page)
    if pages[page, LEVEL] == 0:
        return ROW
    return int(pages[page, HEADER + (shape[WIDTH] + CHILD) * shape[INNER_CAP] + cursor[PATH + 2 * depth + 1]])


@device
def enter(cursor: Words, page: int) -> None:
    """Go from the subtree `page` to its first entry."""
    cursor[DEPTH] += 1
    cursor[ENTERED] += 1
    cursor[PATH + 2 * cursor[DEPTH]] = page
    cursor[PATH + 2 * cursor[DEPTH] + 1] = 0


@device
def step(pages: Words, cursor: Words) -> None:
    """Go to what follows the item."""
    depth = cursor[DEPTH]
    while depth > 0:
        cursor[PATH + 2 * depth + 1] += 1
        if cursor[PATH + 2 * depth + 1] < pages[cursor[PATH + 2 * depth], COUNT]:
            break
        depth -= 1
    cursor[DEPTH] = depth if depth > 0 else -1


@device
def compare_items(pages: Words, shape: Words, left: Words, right: Words) -> int:
    """-1, 0 or 1 as the left cursor's item begins before, at or after the right one's."""
    i = PATH + 2 * left[DEPTH]
    j = PATH + 2 * right[DEPTH]
    i_cap = cap_of(pages, shape, left[i])
    j_cap = cap_of(pages, shape, right[j])
    for column in range(shape[WIDTH]):
        here = pages[left[i], HEADER + column * i_cap + left[i + 1]]
        there = pages[right[j], HEADER + column * j_cap + right[j + 1]]
        if here != there:
            return -1 if here < there else 1
    return 0


@device
def pass_item(pages: Words, shape: Words, cursor: Words, subtree: int, rows: Words) -> bool:
    """The item begins where the other version has nothing: enter it, or write it and go on. False if there is no room."""
    if subtree != ROW:
        enter(cursor, subtree)
        return True
    count = cursor[FOUND]
    if count == rows.shape[0]:
        return False
    leaf = cursor[PATH + 2 * cursor[DEPTH]]
    cap = cap_of(pages, shape, leaf)
    for column in range(shape[WIDTH]):
        rows[count, column] = pages[leaf, HEADER + column * cap + cursor[PATH + 2 * cursor[DEPTH] + 1]]
    cursor[FOUND] = count + 1
    step(pages, cursor)
    return True


@kernel(INT(READ2, READ1, WRITE2, WRITE2, WRITE2))
def diff(pages: Words, shape: Words, state: Words, deleted: Words, inserted: Words) -> int:
    """Walk the versions at whose roots the two cursors in `state` stand; 1 if there is no room for a row, 0 at the end."""
    old = state[0]
    new = state[1]
    room = True
    while room:
        left = item(pages, shape, old)
        right = item(pages, shape, new)
        if left == right and left != ROW:
            if left == NOTHING_LEFT:
                return 0
            step(pages, old)
            step(pages, new)
            continue
        if left == NOTHING_LEFT:
            side = 1
        elif right == NOTHING_LEFT:
            side = -1
        else:
            side = compare_items(pages, shape, old, new)
        if side < 0:
            room = pass_item(pages, shape, old, left, deleted)
        elif side > 0:
            room = pass_item(pages, shape, new, right, inserted)
        elif left == ROW and right == ROW:
            step(pages, old)
            step(pages, new)
        elif left != ROW and (right == ROW or pages[left, LEVEL] >= pages[right, LEVEL]):
            enter(old, left)
        else:
            enter(new, right)
    return 1
