"""Expressions and comparisons of a rule, interpreted inside the join: postfix code over a stack in the join's state.

Where an expression has no value, STATE_ERROR says why and STATE_ERROR_AT where. Functions that are not computed here are
looked up in a memo; a call that the memo does not know is MISSED, and its arguments stay on the stack.
"""

from __future__ import annotations

import numpy as np

from datalog.kernels.arithmetic import apply_one, apply_two
from datalog.kernels.codes import HIGHEST, LOWEST, word_of
from datalog.kernels.encoding import (
    CALL_FAILED,
    CHECK_LEFT,
    CHECK_OPERATOR,
    CHECK_RIGHT,
    CHECK_SYMBOLS,
    CHECK_WORDS,
    CODE_CALL,
    CODE_CONSTANT,
    CODE_END,
    CODE_KIND,
    CODE_NEGATE,
    CODE_RANGE,
    CODE_VARIABLE,
    EQUAL,
    GREATER,
    LESS,
    LESS_EQUAL,
    LEVEL_HIGH,
    LEVEL_LOW,
    LEVEL_VALUE,
    LEVEL_WORDS,
    MEMO_ARGUMENTS,
    MEMO_FACTOR,
    MEMO_KEY,
    MISSED,
    NO_ERROR,
    NO_VALUE,
    NOT_EQUAL,
    PLAN_CHECKS_AT,
    STATE_ARGUMENTS_AT,
    STATE_ERROR,
    STATE_ERROR_AT,
    STATE_FAILURE,
    STATE_WORDS,
)
from datalog.kernels.jit import Words, device
from datalog.kernels.ranges import is_within, spread


@device
def _find_call(memo: Words, function: int, count: int, state: Words, first: int) -> int:
    """The memo's row for a call with the arguments at state[first:], or -1."""
    mixed = word_of(function + 1)
    for place in range(first, first + count):
        mixed = (mixed ^ word_of(state[place])) * np.uint64(MEMO_FACTOR)
        mixed = mixed ^ (mixed >> np.uint64(32))
    last = memo.shape[0] - 1
    at = np.int64(mixed & np.uint64(last))
    while memo[at, MEMO_KEY] != 0:
        if abs(memo[at, MEMO_KEY]) == function + 1:
            same = 0
            while same < count and memo[at, MEMO_ARGUMENTS + same] == state[first + same]:
                same += 1
            if same == count:
                return int(at)
        at = (at + 1) & last
    return -1


@device
def _call(memo: Words, function: int, count: int, state: Words, first: int) -> None:
    """Put the result of a call in the place of its arguments, or set STATE_ERROR."""
    row = _find_call(memo, function, count, state, first)
    if row < 0:
        state[STATE_ERROR] = MISSED
        state[STATE_ARGUMENTS_AT] = first
    elif memo[row, MEMO_KEY] < 0:
        state[STATE_FAILURE] = memo[row, memo.shape[1] - 1]
        state[STATE_ERROR] = CALL_FAILED if state[STATE_FAILURE] >= 0 else NO_VALUE
    else:
        state[first] = memo[row, memo.shape[1] - 1]


@device
def evaluate(plan: Words, at: int, state: Words, stack: int, memo: Words) -> np.int64:
    """The value of the code at offset `at`; sets STATE_ERROR where it has none. `stack`: offset of scratch in state."""
    top = stack - 1
    while plan[at] != CODE_END:
        code = plan[at]
        operand = plan[at + 1]
        if code == CODE_VARIABLE:
            top += 1
            state[top] = state[STATE_WORDS + operand * LEVEL_WORDS + LEVEL_VALUE]
        elif code == CODE_CONSTANT:
            top += 1
            state[top] = operand
        else:
            kind = code // CODE_KIND
            operation = code - kind * CODE_KIND
            if operation < CODE_RANGE:
                top -= 1
                state[top] = apply_two(operation, kind, state[top], state[top + 1], operand, state)
            elif operation >= CODE_NEGATE:
                state[top] = apply_one(operation, kind, state[top], operand, state)
            elif operation == CODE_CALL:
                top -= kind - 1
                _call(memo, operand, kind, state, top)
            elif operation == CODE_RANGE:
                if operand > 0:
                    top += 1
                spread(kind, operand, state, top - 2)
            else:
                top -= 3
                state[top] = 1 if is_within(kind, state[top], state, top + 1) else 0
            if state[STATE_ERROR] != NO_ERROR:
                state[STATE_ERROR_AT] = at
                return np.int64(0)
        at += 2
    return np.int64(state[top])


@device
def passes_filters(plan: Words, first: int, last: int, state: Words, stack: int, labels: Words, memo: Words) -> bool:
    for check in range(first, last):
        at = plan[PLAN_CHECKS_AT] + check * CHECK_WORDS
        left = evaluate(plan, plan[at + CHECK_LEFT], state, stack, memo)
        if state[STATE_ERROR] != NO_ERROR:
            return False
        right = evaluate(plan, plan[at + CHECK_RIGHT], state, stack, memo)
        if state[STATE_ERROR] != NO_ERROR:
            return False
        operator = plan[at + CHECK_OPERATOR]
        if plan[at + CHECK_SYMBOLS] == 1:
            left = labels[left]
            right = labels[right]
        if operator == EQUAL:
            holds = left == right
        elif operator == NOT_EQUAL:
            holds = left != right
        elif operator == LESS:
            holds = left < right
        elif operator == LESS_EQUAL:
            holds = left <= right
        elif operator == GREATER:
            holds = left > right
        else:
            holds = left >= right
        if not holds:
            return False
    return True


@device
def narrow(plan: Words, first: int, last: int, state: Words, level: int, stack: int, memo: Words) -> bool:
    """Narrow the depth's interval by bounds `variable operator expression`; False if nothing is left."""
    for check in range(first, last):
        at = plan[PLAN_CHECKS_AT] + check * CHECK_WORDS
        bound = evaluate(plan, plan[at + CHECK_RIGHT], state, stack, memo)
        if state[STATE_ERROR] != NO_ERROR:
            return False
        operator = plan[at + CHECK_OPERATOR]
        if operator == LESS:
            if bound == LOWEST:
                return False
            state[level + LEVEL_HIGH] = min(state[level + LEVEL_HIGH], bound - 1)
        elif operator == LESS_EQUAL:
            state[level + LEVEL_HIGH] = min(state[level + LEVEL_HIGH], bound)
        elif operator == GREATER:
            if bound == HIGHEST:
                return False
            state[level + LEVEL_LOW] = max(state[level + LEVEL_LOW], bound + 1)
        else:
            state[level + LEVEL_LOW] = max(state[level + LEVEL_LOW], bound)
    return bool(state[level + LEVEL_LOW] <= state[level + LEVEL_HIGH])
