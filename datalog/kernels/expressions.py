"""Expressions and comparisons of a rule, interpreted inside the join: postfix code over a stack in the join's state.

Codes are those of `datalog/store/values.py`: a number is itself, an unsigned has its top bit flipped, a float is its
bits mapped so that integer order is float order, with one NaN (the greatest) and one zero.
Overflow and division by zero set STATE_ERROR; nothing wraps. Signed sums and products are taken on unsigned words: the
compiler may assume that signed ones do not overflow, and then drops the very test for it.
"""

from __future__ import annotations

import numpy as np

from datalog.kernels.encoding import (
    CHECK_LEFT,
    CHECK_OPERATOR,
    CHECK_RIGHT,
    CHECK_SYMBOLS,
    CHECK_WORDS,
    CODE_ADD,
    CODE_CONSTANT,
    CODE_DIVIDE,
    CODE_END,
    CODE_KIND,
    CODE_MULTIPLY,
    CODE_NEGATE,
    CODE_POWER,
    CODE_REMAINDER,
    CODE_SUBTRACT,
    CODE_VARIABLE,
    DIVISION_BY_ZERO,
    EQUAL,
    GREATER,
    KIND_FLOAT,
    KIND_NUMBER,
    LESS,
    LESS_EQUAL,
    LEVEL_HIGH,
    LEVEL_LOW,
    LEVEL_VALUE,
    LEVEL_WORDS,
    NO_ERROR,
    NOT_EQUAL,
    OVERFLOW,
    PLAN_CHECKS_AT,
    STATE_ERROR,
    STATE_ERROR_AT,
    STATE_WORDS,
)
from datalog.kernels.jit import Words, device

LOWEST = -(2**63)
HIGHEST = 2**63 - 1
SIGN_REST = 2**63 - 1  # all bits but the sign


@device
def _float_of(code: np.int64) -> np.float64:
    """Codes of floats are their bits, mapped so that integer order is float order."""
    if code < 0:
        code = code ^ SIGN_REST
    return np.int64(code).view(np.float64)


@device
def _code_of(value: np.float64) -> np.int64:
    if value != value:
        return np.int64(0x7FF8000000000000)  # the one NaN
    if value == 0.0:
        return np.int64(0)  # -0.0 = 0.0
    bits = np.float64(value).view(np.int64)
    if bits < 0:
        bits = bits ^ SIGN_REST
    return bits


@device
def _power_number(base: np.int64, exponent: np.int64, state: Words) -> np.int64:
    if exponent < 0:
        if base == 0:
            state[STATE_ERROR] = DIVISION_BY_ZERO
            return np.int64(0)
        if base == 1:
            return np.int64(1)
        if base == -1:
            return np.int64(1) if exponent % 2 == 0 else np.int64(-1)
        return np.int64(0)  # a proper fraction, truncated
    result = np.int64(1)
    while exponent > 0:
        if exponent & 1:
            result = _multiply_number(result, base, state)
        exponent >>= 1
        if exponent > 0:
            base = _multiply_number(base, base, state)
        if state[STATE_ERROR] != NO_ERROR:
            return np.int64(0)
    return result


@device
def _multiply_number(left: np.int64, right: np.int64, state: Words) -> np.int64:
    product = np.uint64(np.int64(left).view(np.uint64) * np.int64(right).view(np.uint64)).view(np.int64)
    if left == -1:
        if right == LOWEST:
            state[STATE_ERROR] = OVERFLOW
    elif left != 0 and product // left != right:
        state[STATE_ERROR] = OVERFLOW
    return product


@device
def _apply_number(operation: int, left: np.int64, right: np.int64, state: Words) -> np.int64:
    if operation == CODE_ADD:
        result = np.uint64(np.int64(left).view(np.uint64) + np.int64(right).view(np.uint64)).view(np.int64)
        if ((left ^ result) & (right ^ result)) < 0:
            state[STATE_ERROR] = OVERFLOW
        return result
    if operation == CODE_SUBTRACT:
        result = np.uint64(np.int64(left).view(np.uint64) - np.int64(right).view(np.uint64)).view(np.int64)
        if ((left ^ right) & (left ^ result)) < 0:
            state[STATE_ERROR] = OVERFLOW
        return result
    if operation == CODE_MULTIPLY:
        return _multiply_number(left, right, state)
    if operation == CODE_POWER:
        return _power_number(left, right, state)
    if right == 0:
        state[STATE_ERROR] = DIVISION_BY_ZERO
        return np.int64(0)
    if right == -1:
        if operation == CODE_REMAINDER:
            return np.int64(0)
        if left == LOWEST:
            state[STATE_ERROR] = OVERFLOW
            return np.int64(0)
        return np.int64(-left)
    quotient = left // right  # floored; the language truncates towards zero
    remainder = left - quotient * right
    if remainder != 0 and (remainder < 0) != (left < 0):
        quotient += 1
        remainder -= right
    return quotient if operation == CODE_DIVIDE else remainder


@device
def _multiply_unsigned(left: np.uint64, right: np.uint64, state: Words) -> np.uint64:
    product = left * right
    if left != np.uint64(0) and product // left != right:
        state[STATE_ERROR] = OVERFLOW
    return product


@device
def _apply_unsigned(operation: int, left_code: np.int64, right_code: np.int64, state: Words) -> np.int64:
    left = np.int64(left_code ^ LOWEST).view(np.uint64)
    right = np.int64(right_code ^ LOWEST).view(np.uint64)
    result = np.uint64(0)
    if operation == CODE_ADD:
        result = left + right
        if result < left:
            state[STATE_ERROR] = OVERFLOW
    elif operation == CODE_SUBTRACT:
        result = left - right
        if right > left:
            state[STATE_ERROR] = OVERFLOW
    elif operation == CODE_MULTIPLY:
        result = _multiply_unsigned(left, right, state)
    elif operation == CODE_POWER:
        result = np.uint64(1)
        exponent = right
        base = left
        while exponent > np.uint64(0) and state[STATE_ERROR] == NO_ERROR:
            if exponent & np.uint64(1):
                result = _multiply_unsigned(result, base, state)
            exponent = exponent >> np.uint64(1)
            if exponent > np.uint64(0):
                base = _multiply_unsigned(base, base, state)
    elif right == np.uint64(0):
        state[STATE_ERROR] = DIVISION_BY_ZERO
    elif operation == CODE_DIVIDE:
        result = left // right
    else:
        result = left % right
    return np.uint64(result).view(np.int64) ^ LOWEST


@device
def _apply_float(operation: int, left_code: np.int64, right_code: np.int64, state: Words) -> np.int64:
    left = _float_of(left_code)
    right = _float_of(right_code)
    if operation == CODE_ADD:
        return _code_of(left + right)
    if operation == CODE_SUBTRACT:
        return _code_of(left - right)
    if operation == CODE_MULTIPLY:
        return _code_of(left * right)
    if operation == CODE_POWER:
        return _code_of(np.power(left, right))
    if right == 0.0:
        state[STATE_ERROR] = DIVISION_BY_ZERO
        return np.int64(0)
    return _code_of(left / right)


@device
def evaluate(plan: Words, at: int, state: Words, stack: int) -> np.int64:
    """The value of the code at offset `at`; sets STATE_ERROR where it has none. `stack`: offset of scratch in state."""
    top = stack - 1
    while plan[at] != CODE_END:
        code = plan[at]
        if code == CODE_VARIABLE:
            top += 1
            state[top] = state[STATE_WORDS + plan[at + 1] * LEVEL_WORDS + LEVEL_VALUE]
            at += 2
            continue
        if code == CODE_CONSTANT:
            top += 1
            state[top] = plan[at + 1]
            at += 2
            continue
        kind = code // CODE_KIND
        operation = code - kind * CODE_KIND
        if operation == CODE_NEGATE:
            if kind == KIND_FLOAT:
                state[top] = _code_of(-_float_of(state[top]))
            elif kind == KIND_NUMBER:
                state[top] = _apply_number(CODE_SUBTRACT, np.int64(0), state[top], state)
            else:
                state[top] = _apply_unsigned(CODE_SUBTRACT, np.int64(LOWEST), state[top], state)
        else:
            top -= 1
            if kind == KIND_NUMBER:
                state[top] = _apply_number(operation, state[top], state[top + 1], state)
            elif kind == KIND_FLOAT:
                state[top] = _apply_float(operation, state[top], state[top + 1], state)
            else:
                state[top] = _apply_unsigned(operation, state[top], state[top + 1], state)
        if state[STATE_ERROR] != NO_ERROR:
            state[STATE_ERROR_AT] = at
            return np.int64(0)
        at += 1
    return np.int64(state[top])


@device
def passes_filters(plan: Words, first: int, last: int, state: Words, stack: int, labels: Words) -> bool:
    for check in range(first, last):
        at = plan[PLAN_CHECKS_AT] + check * CHECK_WORDS
        left = evaluate(plan, plan[at + CHECK_LEFT], state, stack)
        if state[STATE_ERROR] != NO_ERROR:
            return False
        right = evaluate(plan, plan[at + CHECK_RIGHT], state, stack)
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
def narrow(plan: Words, first: int, last: int, state: Words, level: int, stack: int) -> bool:
    """Narrow the depth's interval by bounds `variable operator expression`; False if nothing is left."""
    for check in range(first, last):
        at = plan[PLAN_CHECKS_AT] + check * CHECK_WORDS
        bound = evaluate(plan, plan[at + CHECK_RIGHT], state, stack)
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
