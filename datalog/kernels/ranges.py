"""Ranges inside the join: start, start + step, … before end, upwards or downwards.

Integers of all kinds are counted exactly in 64 bits without a sign, and always upwards. A sum of floats is rounded at
each step, so that floats are walked through from the start; a step that is too small to change the value ends the range.
With a step of 0 a range has its start alone, if that is not its end, as for Soufflé.
"""

from __future__ import annotations

import numpy as np

from datalog.kernels.codes import LOWEST, code_of, float_of, magnitude_of, number_of, word_of
from datalog.kernels.encoding import (
    GIVES_FLOATS,
    KIND_FLOAT,
    KIND_UNSIGNED,
    LEVEL_AT,
    LEVEL_HIGH,
    LEVEL_LOW,
    LEVEL_START,
    LEVEL_STEP,
    LEVEL_TARGET,
    NOT_A_NUMBER,
    STATE_ERROR,
    STATE_STEPS,
)
from datalog.kernels.jit import Words, device

WHOLE_SUMS = 2.0**52  # sums and differences of whole floats up to here are exact


@device
def spread(kind: int, default: int, state: Words, at: int) -> None:
    """Turn (start, end, step) at state[at:] into (least, greatest, step without sign) for integers; floats stay as they are.

    Without a `default` the step is given; with one, it is that, downwards where the end lies below. Sets STATE_ERROR for NaN.
    """
    start = state[at]
    end = state[at + 1]
    if kind == KIND_FLOAT:
        if default > 0:
            state[at + 2] = code_of(-1.0 if end < start else 1.0)
        step_size = float_of(state[at + 2])
        if float_of(start) != float_of(start) or float_of(end) != float_of(end) or step_size != step_size:
            state[STATE_ERROR] = NOT_A_NUMBER
        elif step_size == 0.0 and start != end:  # the end comes to be beside the start; -1 is a code of no float
            below = start - 1 if start != 0 else -2
            state[at + 1] = below if end < start else start + 1
            state[at + 2] = code_of(-1.0 if end < start else 1.0)
        elif step_size == 0.0:
            state[at + 2] = code_of(1.0)
        return
    rising = end >= start
    step = word_of(default)
    if default == 0 and kind == KIND_UNSIGNED:
        rising = True
        step = word_of(state[at + 2] ^ LOWEST)
    elif default == 0:
        rising = state[at + 2] > 0
        step = magnitude_of(state[at + 2])
    least = np.int64(0)
    greatest = np.int64(-1)
    if step == np.uint64(0):
        step = np.uint64(1)
        if start != end:
            least = np.int64(start)
            greatest = np.int64(start)
    elif rising and start < end:
        length = word_of(end) - word_of(start) - np.uint64(1)
        least = np.int64(start)
        greatest = number_of(word_of(start) + length // step * step)
    elif not rising and end < start:
        length = word_of(start) - word_of(end) - np.uint64(1)
        least = number_of(word_of(start) - length // step * step)
        greatest = np.int64(start)
    state[at] = least
    state[at + 1] = greatest
    state[at + 2] = number_of(step)


@device
def _walk(value: float, step: float, target: float) -> float:
    """The first value from `value` on, in steps, that is not before the target."""
    while (value < target) if step > 0.0 else (value > target):
        following = value + step
        if following == value:
            break
        value = following
    return value


@device
def is_within(kind: int, code: np.int64, state: Words, at: int) -> bool:
    """Is the value in the range that `spread` left at state[at:]?"""
    if kind != KIND_FLOAT:
        if code < state[at] or code > state[at + 1]:
            return False
        return bool((word_of(code) - word_of(state[at])) % word_of(state[at + 2]) == np.uint64(0))
    value = float_of(code)
    start = float_of(state[at])
    end = float_of(state[at + 1])
    step = float_of(state[at + 2])
    if not ((start <= value < end) if step > 0.0 else (start >= value > end)):
        return False
    if max(abs(start), abs(value), abs(step)) <= WHOLE_SUMS and np.floor(start) == start and np.floor(step) == step:
        return bool(np.floor(value) == value and np.fmod(value - start, step) == 0.0)
    return bool(_walk(start, step, value) == value)


@device
def open_range(gives: int, state: Words, at: int, level: int) -> bool:
    """Note the range that `spread` left at state[at:] as the interval of a depth."""
    low = state[at]
    high = state[at + 1]
    if gives == GIVES_FLOATS:
        if float_of(state[at + 2]) > 0.0:
            high = high - 1
        else:
            low, high = high + 1, low
        if state[at] != state[level + LEVEL_START] or state[at + 2] != state[level + LEVEL_STEP]:
            state[level + LEVEL_START] = state[at]
            state[level + LEVEL_AT] = state[at]
    state[level + LEVEL_STEP] = state[at + 2]
    state[level + LEVEL_LOW] = low
    state[level + LEVEL_HIGH] = high
    return bool(low <= high)


@device
def enter_range(gives: int, state: Words, level: int, least: int) -> bool:
    """Go to the first value within the depth's interval, which others may have narrowed. `least`: of a range of integers."""
    state[STATE_STEPS] += 1
    low = state[level + LEVEL_LOW]
    high = state[level + LEVEL_HIGH]
    if gives == GIVES_FLOATS:
        step = float_of(state[level + LEVEL_STEP])
        target = float_of(low if step > 0.0 else high)
        reached = float_of(state[level + LEVEL_AT])  # values of ever later prefixes are walked to once, not from the start each
        if (reached > target) if step > 0.0 else (reached < target):
            reached = float_of(state[level + LEVEL_START])
        value = code_of(_walk(reached, step, target))
        state[level + LEVEL_AT] = value
        state[level + LEVEL_TARGET] = value
        return bool(low <= value <= high)
    step_word = word_of(state[level + LEVEL_STEP])
    over = (word_of(low) - word_of(least)) % step_word
    if over != np.uint64(0):
        missing = step_word - over
        if word_of(high) - word_of(low) < missing:
            return False
        low = number_of(word_of(low) + missing)
    state[level + LEVEL_TARGET] = low
    return True


@device
def advance_range(gives: int, state: Words, level: int) -> bool:
    """Go to the next value within the depth's interval."""
    state[STATE_STEPS] += 1
    here = state[level + LEVEL_TARGET]
    high = state[level + LEVEL_HIGH]
    if gives == GIVES_FLOATS:
        following = code_of(float_of(here) + float_of(state[level + LEVEL_STEP]))
        if following == here or following < state[level + LEVEL_LOW] or following > high:
            return False
        state[level + LEVEL_AT] = following
        state[level + LEVEL_TARGET] = following
        return True
    step = word_of(state[level + LEVEL_STEP])
    if word_of(high) - word_of(here) < step:
        return False
    state[level + LEVEL_TARGET] = number_of(word_of(here) + step)
    return True
