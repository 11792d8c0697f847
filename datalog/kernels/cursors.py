"""Trie iterators on B-tree pages: `open_cursor` and `seek`; and `node_exists`, a look-up without an iterator.

An iterator is one level of one atom. It starts where the iterator of the level above stands and only moves forward,
with a stack of (page, entry) from its leaf to the root as the finger. Within a leaf, `CURSOR_LIMIT` is where the rows
of its prefix end, so a seek there compares one column only.
"""

from __future__ import annotations

from datalog.kernels.encoding import (
    CURSOR_AT_END,
    CURSOR_HEIGHT,
    CURSOR_KEY,
    CURSOR_LIMIT,
    CURSOR_RECORDED,
    CURSOR_STACK,
    CURSOR_WORDS,
    ITERATOR_LEVEL,
    ITERATOR_PARENT,
    ITERATOR_PREFIX_AT,
    ITERATOR_SLOT,
    ITERATOR_WORDS,
    LEVEL_VALUE,
    LEVEL_WORDS,
    PLAN_ITERATORS_AT,
    PLAN_SLOTS_AT,
    SLOT_COLUMNS,
    SLOT_INNER_ROWS,
    SLOT_LEAF_ROWS,
    SLOT_WORDS,
    STATE_STEPS,
    STATE_WORDS,
)
from datalog.kernels.jit import Words, device
from datalog.kernels.layout import COUNT, HEADER


@device
def lower_bound(pages: Words, page: int, at: int, low: int, high: int, value: int) -> int:
    """First entry in [low, high) of the column at word `at` that is >= value, galloping from low."""
    step = 1
    while low < high and pages[page, at + low] < value:
        if low + step >= high or pages[page, at + low + step] >= value:
            top = min(low + step, high)
            low += 1
            while low < top:
                middle = (low + top) >> 1
                if pages[page, at + middle] < value:
                    low = middle + 1
                else:
                    top = middle
            return low
        low += step
        step <<= 1
    return low


@device
def _is_below(pages: Words, page: int, entry: int, rows: int, plan: Words, prefix_at: int, level: int, state: Words, value: int) -> bool:
    """Is the entry's row, cut after column `level`, below (prefix, value)?"""
    at = HEADER + entry
    for column in range(level):
        bound = state[STATE_WORDS + plan[prefix_at + column] * LEVEL_WORDS + LEVEL_VALUE]
        here = pages[page, at + column * rows]
        if here != bound:
            return bool(here < bound)
    return bool(pages[page, at + level * rows] < value)


@device
def _has_prefix(pages: Words, page: int, entry: int, rows: int, plan: Words, prefix_at: int, level: int, state: Words) -> bool:
    at = HEADER + entry
    for column in range(level - 1, -1, -1):
        if pages[page, at + column * rows] != state[STATE_WORDS + plan[prefix_at + column] * LEVEL_WORDS + LEVEL_VALUE]:
            return False
    return True


@device
def _last_below(
    pages: Words, page: int, low: int, high: int, rows: int, plan: Words, prefix_at: int, level: int, state: Words, value: int
) -> int:
    """The last entry in [low, high) whose row is below (prefix, value); low where there is none."""
    if level == 0:  # most jumps go from one first value to another
        while high - low > 1:
            middle = (low + high) >> 1
            if pages[page, HEADER + middle] < value:
                low = middle
            else:
                high = middle
        return low
    while high - low > 1:
        middle = (low + high) >> 1
        if _is_below(pages, page, middle, rows, plan, prefix_at, level, state, value):
            low = middle
        else:
            high = middle
    return low


@device
def node_exists(
    pages: Words, root: int, columns: int, leaf_rows: int, inner_rows: int, plan: Words, values_at: int, levels: int, state: Words
) -> bool:
    """Does a row begin with the values of the depths listed at `values_at`?"""
    if root < 0:
        return False
    page = root
    last = levels - 1
    value = state[STATE_WORDS + plan[values_at + last] * LEVEL_WORDS + LEVEL_VALUE]
    behind = -1  # the sibling that follows the path, lowest one
    while pages[page, 0] > 0:
        count = pages[page, COUNT]
        entry = _last_below(pages, page, 0, count, inner_rows, plan, values_at, last, state, value)
        if entry + 1 < count:
            behind = pages[page, HEADER + columns * inner_rows + entry + 1]
        page = pages[page, HEADER + columns * inner_rows + entry]
    count = pages[page, COUNT]
    entry = _last_below(pages, page, 0, count, leaf_rows, plan, values_at, last, state, value)
    if _is_below(pages, page, entry, leaf_rows, plan, values_at, last, state, value):
        entry += 1
    if entry == count:
        if behind < 0:
            return False
        page = behind
        while pages[page, 0] > 0:
            page = pages[page, HEADER + columns * inner_rows]
        entry = 0
    return pages[page, HEADER + last * leaf_rows + entry] == value and _has_prefix(
        pages, page, entry, leaf_rows, plan, values_at, last, state
    )


@device
def _settle(pages: Words, plan: Words, state: Words, cursor: int, level: int, prefix_at: int, rows: int) -> None:
    """After a move to another leaf: is the iterator still within its prefix, and where does that end in the leaf?"""
    page = state[cursor + CURSOR_STACK]
    entry = state[cursor + CURSOR_STACK + 1]
    if not _has_prefix(pages, page, entry, rows, plan, prefix_at, level, state):
        state[cursor + CURSOR_AT_END] = 1
        return
    count = pages[page, COUNT]
    limit = count
    if level > 0 and not _has_prefix(pages, page, count - 1, rows, plan, prefix_at, level, state):
        low = entry
        while limit - low > 1:
            middle = (low + limit) >> 1
            if _has_prefix(pages, page, middle, rows, plan, prefix_at, level, state):
                low = middle
            else:
                limit = middle
    state[cursor + CURSOR_LIMIT] = limit
    state[cursor + CURSOR_KEY] = pages[page, HEADER + level * rows + entry]


@device
def _jump(
    pages: Words, plan: Words, state: Words, cursor: int, level: int, prefix_at: int, columns: int, rows: int, inner_rows: int, value: int
) -> None:
    """Leave the leaf, in which no row of the prefix is >= value, for the first row >= (prefix, value)."""
    height = state[cursor + CURSOR_HEIGHT]
    children = HEADER + columns * inner_rows
    best = 0  # the lowest level at which a later entry is still below the target, seen from the highest such
    for up in range(1, height + 1):
        page = state[cursor + CURSOR_STACK + 2 * up]
        entry = state[cursor + CURSOR_STACK + 2 * up + 1]
        if entry + 1 < pages[page, COUNT]:
            if not _is_below(pages, page, entry + 1, inner_rows, plan, prefix_at, level, state, value):
                break
            best = up
    if best > 0:
        state[cursor + CURSOR_STACK + 2 * best + 1] += 1
        _descend(pages, plan, state, cursor, int(best), level, prefix_at, children, rows, inner_rows, value)
    else:
        state[cursor + CURSOR_STACK + 1] = pages[state[cursor + CURSOR_STACK], COUNT]
    _land(pages, plan, state, cursor, level, prefix_at, children, rows)


@device
def _descend(
    pages: Words,
    plan: Words,
    state: Words,
    cursor: int,
    top: int,
    level: int,
    prefix_at: int,
    children: int,
    rows: int,
    inner_rows: int,
    value: int,
) -> None:
    """Go down from where the iterator stands `top` levels above its leaf to the first row >= (prefix, value), or to the end of the leaf
    before that."""
    page = state[cursor + CURSOR_STACK + 2 * top]
    child = state[cursor + CURSOR_STACK + 2 * top + 1]
    for up in range(top, 0, -1):
        child = _last_below(pages, page, int(child), pages[page, COUNT], inner_rows, plan, prefix_at, level, state, value)
        state[cursor + CURSOR_STACK + 2 * up] = page
        state[cursor + CURSOR_STACK + 2 * up + 1] = child
        page = pages[page, children + child]
        child = 0
    state[cursor + CURSOR_STACK] = page
    entry = _last_below(pages, page, int(child), pages[page, COUNT], rows, plan, prefix_at, level, state, value)
    if _is_below(pages, page, entry, rows, plan, prefix_at, level, state, value):
        entry += 1
    state[cursor + CURSOR_STACK + 1] = entry


@device
def _land(pages: Words, plan: Words, state: Words, cursor: int, level: int, prefix_at: int, children: int, rows: int) -> None:
    """Where the iterator stands behind a leaf's rows, go on to the next leaf; then see whether the prefix is left."""
    if state[cursor + CURSOR_STACK + 1] == pages[state[cursor + CURSOR_STACK], COUNT]:
        height = state[cursor + CURSOR_HEIGHT]
        up = 1
        while up <= height and state[cursor + CURSOR_STACK + 2 * up + 1] + 1 >= pages[state[cursor + CURSOR_STACK + 2 * up], COUNT]:
            up += 1
        if up > height:
            state[cursor + CURSOR_AT_END] = 1
            return
        state[cursor + CURSOR_STACK + 2 * up + 1] += 1
        while up > 0:
            page = pages[state[cursor + CURSOR_STACK + 2 * up], children + state[cursor + CURSOR_STACK + 2 * up + 1]]
            up -= 1
            state[cursor + CURSOR_STACK + 2 * up] = page
            state[cursor + CURSOR_STACK + 2 * up + 1] = 0
    _settle(pages, plan, state, cursor, level, prefix_at, rows)


@device
def seek(pages: Words, plan: Words, state: Words, iterator: int, cursors: int, value: int) -> None:
    """seek_lub: the least key >= value under the prefix, or at_end. Needs an iterator that stands on a key."""
    row = plan[PLAN_ITERATORS_AT] + iterator * ITERATOR_WORDS
    slot = plan[PLAN_SLOTS_AT] + plan[row + ITERATOR_SLOT] * SLOT_WORDS
    rows = plan[slot + SLOT_LEAF_ROWS]
    level = plan[row + ITERATOR_LEVEL]
    cursor = cursors + iterator * CURSOR_WORDS
    state[STATE_STEPS] += 1
    page = state[cursor + CURSOR_STACK]
    limit = state[cursor + CURSOR_LIMIT]
    column = HEADER + level * rows
    if pages[page, column + limit - 1] >= value:
        entry = lower_bound(pages, page, column, state[cursor + CURSOR_STACK + 1], limit, value)
        state[cursor + CURSOR_STACK + 1] = entry
        state[cursor + CURSOR_KEY] = pages[page, column + entry]
    elif limit < pages[page, COUNT]:
        state[cursor + CURSOR_AT_END] = 1
    else:
        _jump(
            pages,
            plan,
            state,
            cursor,
            level,
            plan[row + ITERATOR_PREFIX_AT],
            plan[slot + SLOT_COLUMNS],
            rows,
            plan[slot + SLOT_INNER_ROWS],
            value,
        )


@device
def open_cursor(pages: Words, roots: Words, plan: Words, state: Words, iterator: int, cursors: int, value: int) -> None:
    """Stand on the first key >= value under the prefix. The iterator of the level above stands on the prefix's last value.

    At level 0 the leaf in which the iterator was left is looked at first: values of sorted prefixes lie close together.
    """
    row = plan[PLAN_ITERATORS_AT] + iterator * ITERATOR_WORDS
    slot = plan[PLAN_SLOTS_AT] + plan[row + ITERATOR_SLOT] * SLOT_WORDS
    rows = plan[slot + SLOT_LEAF_ROWS]
    level = plan[row + ITERATOR_LEVEL]
    cursor = cursors + iterator * CURSOR_WORDS
    state[STATE_STEPS] += 1
    state[cursor + CURSOR_RECORDED] = 0
    page = state[cursor + CURSOR_STACK]
    if level == 0:
        if page >= 0 and pages[page, HEADER] < value <= pages[page, HEADER + pages[page, COUNT] - 1]:
            entry = 0
            if state[cursor + CURSOR_AT_END] == 0 and state[cursor + CURSOR_KEY] < value:
                entry = state[cursor + CURSOR_STACK + 1]
            limit = pages[page, COUNT]
            entry = lower_bound(pages, page, HEADER + level * rows, entry, limit, value)
            state[cursor + CURSOR_AT_END] = 0
            state[cursor + CURSOR_LIMIT] = limit
            state[cursor + CURSOR_STACK + 1] = entry
            state[cursor + CURSOR_KEY] = pages[page, HEADER + entry]
            return
        root = roots[plan[row + ITERATOR_SLOT]]
        if root < 0:
            state[cursor + CURSOR_AT_END] = 1
            return
        state[cursor + CURSOR_AT_END] = 0
        height = pages[root, 0]
        inner_rows = plan[slot + SLOT_INNER_ROWS]
        children = HEADER + plan[slot + SLOT_COLUMNS] * inner_rows
        state[cursor + CURSOR_HEIGHT] = height
        state[cursor + CURSOR_STACK + 2 * height] = root
        state[cursor + CURSOR_STACK + 2 * height + 1] = 0
        prefix_at = plan[row + ITERATOR_PREFIX_AT]
        _descend(pages, plan, state, cursor, height, level, prefix_at, children, rows, inner_rows, value)
        _land(pages, plan, state, cursor, level, prefix_at, children, rows)
        return
    parent = cursors + plan[row + ITERATOR_PARENT] * CURSOR_WORDS
    height = state[parent + CURSOR_HEIGHT]
    state[cursor + CURSOR_AT_END] = 0
    state[cursor + CURSOR_HEIGHT] = height
    for word in range(CURSOR_STACK, CURSOR_STACK + 2 * height + 2):
        state[cursor + word] = state[parent + word]
    page = state[cursor + CURSOR_STACK]
    entry = state[cursor + CURSOR_STACK + 1]
    limit = state[parent + CURSOR_LIMIT]
    above = HEADER + (level - 1) * rows
    key = state[parent + CURSOR_KEY]
    if pages[page, above + limit - 1] != key:
        limit = lower_bound(pages, page, above, entry, limit, key + 1)
    state[cursor + CURSOR_LIMIT] = limit
    state[cursor + CURSOR_KEY] = pages[page, HEADER + level * rows + entry]
    if state[cursor + CURSOR_KEY] < value:
        seek(pages, plan, state, iterator, cursors, value)
