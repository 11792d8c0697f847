"""The last depth of a join, where most of its time goes, in tight loops over leaves.

Where nothing is computed, recorded or checked there, all that remains is to list what one iterator or two have under their
prefixes. Between calls and at pauses the iterators stand on keys that have not been given yet; within one, where they
stand is kept in variables. An iterator leaves its leaf by `seek`.
"""

from __future__ import annotations

from datalog.kernels.cursors import lower_bound, seek
from datalog.kernels.encoding import (
    CURSOR_AT_END,
    CURSOR_KEY,
    CURSOR_LIMIT,
    CURSOR_STACK,
    CURSOR_WORDS,
    DEPTH_ITERATORS,
    DEPTH_WORDS,
    ITERATOR_LEVEL,
    ITERATOR_SLOT,
    ITERATOR_WORDS,
    LEVEL_HIGH,
    LEVEL_VALUE,
    LEVEL_WORDS,
    PLAN_DEPTHS_AT,
    PLAN_ITERATORS_AT,
    PLAN_LAST_COLUMN,
    PLAN_OUTPUT_AT,
    PLAN_OUTPUT_WIDTH,
    PLAN_SLOTS_AT,
    PLAN_TIGHT,
    SLOT_COLUMNS,
    SLOT_LEAF_ROWS,
    SLOT_WORDS,
    STATE_BUDGET,
    STATE_OUTPUT,
    STATE_STEPS,
    STATE_WORDS,
)
from datalog.kernels.jit import Words, device
from datalog.kernels.layout import COUNT, HEADER
from datalog.kernels.stamps import youngest_premise

EXHAUSTED, NO_ROOM, SPENT = 0, 4, 3


@device
def _list_one(pages: Words, plan: Words, state: Words, output: Words, iterator: int, cursors: int, high: int, column: int) -> int:
    """Give the keys of one iterator up to `high`, in the column of the output, if that is one: leaf by leaf."""
    at = plan[PLAN_ITERATORS_AT] + iterator * ITERATOR_WORDS
    slot = plan[PLAN_SLOTS_AT] + plan[at + ITERATOR_SLOT] * SLOT_WORDS
    level = plan[at + ITERATOR_LEVEL]
    rows_are_keys = level + 1 == plan[slot + SLOT_COLUMNS]
    keys = HEADER + level * plan[slot + SLOT_LEAF_ROWS]
    cursor = cursors + iterator * CURSOR_WORDS
    room = output.shape[0]
    row = state[STATE_OUTPUT]
    while state[STATE_STEPS] < state[STATE_BUDGET]:
        page = state[cursor + CURSOR_STACK]
        entry = state[cursor + CURSOR_STACK + 1]
        limit = state[cursor + CURSOR_LIMIT]
        end = limit
        if pages[page, keys + limit - 1] > high:
            end = lower_bound(pages, page, keys, entry, limit, high + 1)
        first = row
        if rows_are_keys:
            count = min(end - entry, room - row)
            if column >= 0:
                for place in range(count):
                    output[row + place, column] = pages[page, keys + entry + place]
            row += count
            entry += count
        else:
            while entry < end and row < room:
                key = pages[page, keys + entry]
                if column >= 0:
                    output[row, column] = key
                row += 1
                entry += 1
                if key == high:  # which may have no successor
                    entry = end
                elif entry < end and pages[page, keys + entry] == key:
                    entry = lower_bound(pages, page, keys, entry, end, key + 1)
        state[STATE_OUTPUT] = row
        state[STATE_STEPS] += row - first
        if entry < end:
            state[cursor + CURSOR_STACK + 1] = entry
            state[cursor + CURSOR_KEY] = pages[page, keys + entry]
            return NO_ROOM
        if end < pages[page, COUNT] or pages[page, keys + end - 1] >= high:
            return EXHAUSTED
        state[cursor + CURSOR_STACK + 1] = entry - 1
        seek(pages, plan, state, iterator, cursors, pages[page, keys + end - 1] + 1)
        if state[cursor + CURSOR_AT_END] == 1 or state[cursor + CURSOR_KEY] > high:
            return EXHAUSTED
    return SPENT


@device
def _list_common(pages: Words, plan: Words, state: Words, output: Words, first: int, cursors: int, high: int, column: int) -> int:
    """Give the keys up to `high` that two iterators, `first` and the following, have in common."""
    at = plan[PLAN_ITERATORS_AT] + first * ITERATOR_WORDS
    # The iterator that is to move, and the other, which stands on the same key or a later one.
    iterator = first
    cursor = cursors + first * CURSOR_WORDS
    keys = HEADER + plan[at + ITERATOR_LEVEL] * plan[plan[PLAN_SLOTS_AT] + plan[at + ITERATOR_SLOT] * SLOT_WORDS + SLOT_LEAF_ROWS]
    page = state[cursor + CURSOR_STACK]
    entry = state[cursor + CURSOR_STACK + 1]
    limit = state[cursor + CURSOR_LIMIT]
    key = state[cursor + CURSOR_KEY]
    at += ITERATOR_WORDS
    other = first + 1
    other_cursor = cursor + CURSOR_WORDS
    other_keys = HEADER + plan[at + ITERATOR_LEVEL] * plan[plan[PLAN_SLOTS_AT] + plan[at + ITERATOR_SLOT] * SLOT_WORDS + SLOT_LEAF_ROWS]
    other_page = state[other_cursor + CURSOR_STACK]
    other_entry = state[other_cursor + CURSOR_STACK + 1]
    other_limit = state[other_cursor + CURSOR_LIMIT]
    other_key = state[other_cursor + CURSOR_KEY]
    room = output.shape[0]
    row = state[STATE_OUTPUT]
    steps = state[STATE_STEPS]
    budget = state[STATE_BUDGET]
    outcome = EXHAUSTED
    while True:
        if key > other_key:
            iterator, other = other, iterator
            cursor, other_cursor = other_cursor, cursor
            keys, other_keys = other_keys, keys
            page, other_page = other_page, page
            entry, other_entry = other_entry, entry
            limit, other_limit = other_limit, limit
            key, other_key = other_key, key
        if other_key > high:
            break
        if steps >= budget:
            outcome = SPENT
            break
        target = other_key
        if key == other_key:
            if row == room:
                outcome = NO_ROOM
                break
            if column >= 0:
                output[row, column] = key
            row += 1
            if key == high:
                break
            target = key + 1
        if pages[page, keys + limit - 1] >= target:
            steps += 1
            entry = lower_bound(pages, page, keys, entry, limit, target)
            key = pages[page, keys + entry]
        else:
            if limit < pages[page, COUNT]:
                steps += 1
                break
            state[STATE_STEPS] = steps
            state[cursor + CURSOR_STACK + 1] = entry
            seek(pages, plan, state, iterator, cursors, target)
            steps = state[STATE_STEPS]
            if state[cursor + CURSOR_AT_END] == 1:
                break
            page = state[cursor + CURSOR_STACK]
            entry = state[cursor + CURSOR_STACK + 1]
            limit = state[cursor + CURSOR_LIMIT]
            key = state[cursor + CURSOR_KEY]
    state[cursor + CURSOR_STACK + 1] = entry
    state[cursor + CURSOR_KEY] = key
    state[other_cursor + CURSOR_STACK + 1] = other_entry
    state[other_cursor + CURSOR_KEY] = other_key
    state[STATE_OUTPUT] = row
    state[STATE_STEPS] = steps
    return outcome


@device
def _fill(plan: Words, state: Words, output: Words, first: int, last: int, column: int, youngest: int) -> None:
    """Write what the rows first … last - 1 of the output have in common: all but the column of the last variable."""
    end = state[STATE_OUTPUT]
    for other in range(plan[PLAN_OUTPUT_WIDTH]):
        place = plan[plan[PLAN_OUTPUT_AT] + other]
        if place == last:
            if other != column:
                for row in range(first, end):
                    output[row, other] = output[row, column]
            continue
        value = youngest
        if place >= 0:
            value = state[STATE_WORDS + place * LEVEL_WORDS + LEVEL_VALUE]
        for row in range(first, end):
            output[row, other] = value


@device
def list_last(pages: Words, plan: Words, prefixes: Words, state: Words, output: Words, depth: int, cursors: int) -> int:
    """All bindings of the last depth, whose iterators stand, to the output: EXHAUSTED, NO_ROOM or SPENT."""
    first = state[STATE_OUTPUT]
    column = plan[PLAN_LAST_COLUMN]
    iterator = plan[plan[PLAN_DEPTHS_AT] + depth * DEPTH_WORDS + DEPTH_ITERATORS]
    high = state[STATE_WORDS + depth * LEVEL_WORDS + LEVEL_HIGH]
    if plan[PLAN_TIGHT] == 1:
        outcome = _list_one(pages, plan, state, output, iterator, cursors, high, column)
    else:
        outcome = _list_common(pages, plan, state, output, iterator, cursors, high, column)
    if state[STATE_OUTPUT] > first:
        _fill(plan, state, output, first, depth, column, youngest_premise(pages, plan, prefixes, state, cursors))
    return outcome
