"""Sensitivity records as the join writes them: what each iterator depended on, joined as STATE_RECORDING says.

A record is (iterator, low, high; the values above): section 4.1 of `leapfrog-triejoin-maintenance`, METHOD.md, section 3.
While a depth is open, the interval that an iterator is at lies in its cursor; it is written out when a gap ends it, or
when the depth is left. Hulls have no gaps.
"""

from __future__ import annotations

from datalog.kernels.encoding import (
    CURSOR_AT_END,
    CURSOR_FROM,
    CURSOR_KEY,
    CURSOR_RECORDED,
    CURSOR_TO,
    CURSOR_WORDS,
    DEPTH_ITERATORS,
    DEPTH_ITERATORS_END,
    DEPTH_WORDS,
    LEVEL_HIGH,
    LEVEL_NATURAL_LOW,
    LEVEL_VALUE,
    LEVEL_WORDS,
    PLAN_DEPTHS_AT,
    RECORD_EXACT,
    RECORD_HIGH,
    RECORD_HULLS,
    RECORD_ITERATOR,
    RECORD_LOW,
    RECORD_VALUES,
    STATE_RECORDING,
    STATE_RECORDS,
    STATE_WORDS,
)
from datalog.kernels.jit import Words, device


@device
def write_record(state: Words, records: Words, iterator: int, depth: int, low: int, high: int) -> None:
    at = state[STATE_RECORDS]
    records[at, RECORD_ITERATOR] = iterator
    records[at, RECORD_LOW] = low
    records[at, RECORD_HIGH] = high
    for above in range(depth):
        records[at, RECORD_VALUES + above] = state[STATE_WORDS + above * LEVEL_WORDS + LEVEL_VALUE]
    state[STATE_RECORDS] = at + 1


@device
def record(state: Words, records: Words, iterator: int, cursor: int, depth: int, low: int) -> None:
    """The iterator moved: it depends on [low, landing], or on all from low on at the end."""
    level = STATE_WORDS + depth * LEVEL_WORDS
    high = state[level + LEVEL_HIGH]
    if state[cursor + CURSOR_AT_END] == 0:
        high = min(high, state[cursor + CURSOR_KEY])
    recording = state[STATE_RECORDING]
    if state[cursor + CURSOR_RECORDED] == 1:
        if recording == RECORD_HULLS or (recording != RECORD_EXACT and low <= state[cursor + CURSOR_TO] + 1):
            state[cursor + CURSOR_TO] = high
            return
        write_record(state, records, iterator, depth, state[cursor + CURSOR_FROM], state[cursor + CURSOR_TO])
    if recording == RECORD_HULLS:
        low = state[level + LEVEL_NATURAL_LOW]
    state[cursor + CURSOR_RECORDED] = 1
    state[cursor + CURSOR_FROM] = low
    state[cursor + CURSOR_TO] = high


@device
def flush_records(plan: Words, state: Words, records: Words, cursors: int, depth: int) -> None:
    """The depth is left: write out what its iterators still hold."""
    row = plan[PLAN_DEPTHS_AT] + depth * DEPTH_WORDS
    for iterator in range(plan[row + DEPTH_ITERATORS], plan[row + DEPTH_ITERATORS_END]):
        cursor = cursors + iterator * CURSOR_WORDS
        if state[cursor + CURSOR_RECORDED] == 1:
            write_record(state, records, iterator, depth, state[cursor + CURSOR_FROM], state[cursor + CURSOR_TO])
            state[cursor + CURSOR_RECORDED] = 0
