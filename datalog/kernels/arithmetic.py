"""What operations compute, on codes: numbers, unsigned, floats, decimals, bits, and the conversions between them.

Codes are those of `datalog/store/values.py`: a number is itself, an unsigned has its top bit flipped, a float is its
bits mapped so that integer order is float order, with one NaN (the greatest) and one zero; a decimal is a whole number of
its smallest unit, of which `unit` make 1; a bool is 0 or 1.
Sums, products and powers of unsigned are taken modulo 2⁶⁴, and so are numbers of KIND_WRAPPING; everything else that has no value sets
STATE_ERROR. Signed sums and products are taken on unsigned words: the compiler may assume that signed ones do not overflow,
and then drops the very test for it.
"""

from __future__ import annotations

import numpy as np

from datalog.kernels.codes import LOWEST, code_of, float_of, number_of, word_of
from datalog.kernels.decimals import apply_decimal, decimal_to_float, float_to_decimal
from datalog.kernels.encoding import (
    CODE_ABSOLUTE,
    CODE_ADD,
    CODE_AND,
    CODE_BOTH,
    CODE_COMPLEMENT,
    CODE_DIVIDE,
    CODE_EITHER,
    CODE_EXCLUSIVE_OR,
    CODE_GREATEST,
    CODE_LEAST,
    CODE_MULTIPLY,
    CODE_NEGATE,
    CODE_NOT,
    CODE_OR,
    CODE_POWER,
    CODE_REMAINDER,
    CODE_SHIFT_LEFT,
    CODE_SHIFT_RIGHT,
    CODE_SUBTRACT,
    CODE_TO_DECIMAL,
    CODE_TO_FLOAT,
    CODE_TO_NUMBER,
    DIVISION_BY_ZERO,
    KIND_FLOAT,
    KIND_NUMBER,
    KIND_UNCHECKED,
    KIND_UNSIGNED,
    KIND_WRAPPING,
    NEGATIVE,
    NO_ERROR,
    NOT_A_NUMBER,
    OUT_OF_RANGE,
    OVERFLOW,
    STATE_ERROR,
)
from datalog.kernels.jit import Words, device

# --- numbers ---------------------------------------------------------------------------------------------------------------


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
    product = number_of(word_of(left) * word_of(right))
    if left == -1:
        if right == LOWEST:
            state[STATE_ERROR] = OVERFLOW
    elif left != 0 and product // left != right:
        state[STATE_ERROR] = OVERFLOW
    return product


@device
def _apply_number(operation: int, left: np.int64, right: np.int64, state: Words) -> np.int64:
    if operation == CODE_ADD:
        result = number_of(word_of(left) + word_of(right))
        if ((left ^ result) & (right ^ result)) < 0:
            state[STATE_ERROR] = OVERFLOW
        return result
    if operation == CODE_SUBTRACT:
        result = number_of(word_of(left) - word_of(right))
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


# --- modulo 2⁶⁴ ------------------------------------------------------------------------------------------------------------------


@device
def _apply_words(operation: int, left: np.uint64, right: np.uint64) -> np.uint64:
    """What numbers with and without a sign have in common: sums, differences, products and powers."""
    if operation == CODE_ADD:
        return left + right
    if operation == CODE_SUBTRACT:
        return left - right
    if operation == CODE_MULTIPLY:
        return left * right
    result = np.uint64(1)
    base = left
    exponent = right
    while exponent > np.uint64(0):
        if exponent & np.uint64(1):
            result = result * base
        exponent = exponent >> np.uint64(1)
        base = base * base
    return result


@device
def _apply_wrapping(operation: int, left: np.int64, right: np.int64, state: Words) -> np.int64:
    if operation == CODE_DIVIDE and right == -1:
        return number_of(_apply_words(int(CODE_SUBTRACT), np.uint64(0), word_of(left)))
    if operation in (CODE_DIVIDE, CODE_REMAINDER) or (operation == CODE_POWER and right < 0):
        return _apply_number(operation, left, right, state)
    return number_of(_apply_words(operation, word_of(left), word_of(right)))


@device
def _apply_unsigned(operation: int, left_code: np.int64, right_code: np.int64, state: Words) -> np.int64:
    left = word_of(left_code ^ LOWEST)
    right = word_of(right_code ^ LOWEST)
    result = np.uint64(0)
    if operation not in (CODE_DIVIDE, CODE_REMAINDER):
        result = _apply_words(operation, left, right)
    elif right == np.uint64(0):
        state[STATE_ERROR] = DIVISION_BY_ZERO
    elif operation == CODE_DIVIDE:
        result = left // right
    else:
        result = left % right
    return number_of(result) ^ LOWEST


# --- floats ------------------------------------------------------------------------------------------------------------------


@device
def _apply_float(operation: int, left_code: np.int64, right_code: np.int64, state: Words) -> np.int64:
    left = float_of(left_code)
    right = float_of(right_code)
    if operation == CODE_ADD:
        return code_of(left + right)
    if operation == CODE_SUBTRACT:
        return code_of(left - right)
    if operation == CODE_MULTIPLY:
        return code_of(left * right)
    if operation == CODE_POWER:
        return code_of(np.power(left, right))
    if right == 0.0:
        state[STATE_ERROR] = DIVISION_BY_ZERO
        return np.int64(0)
    return code_of(left / right)


@device
def _divide_unchecked(left_code: np.int64, right_code: np.int64) -> np.int64:
    """As IEEE has it; zeros have no sign here."""
    left = float_of(left_code)
    right = float_of(right_code)
    if right != 0.0:
        return code_of(left / right)
    if left == 0.0 or left != left:
        return code_of(np.nan)
    return code_of(np.inf if left > 0.0 else -np.inf)


# --- bits --------------------------------------------------------------------------------------------------------------------


@device
def _apply_bits(operation: int, kind: int, left: np.int64, right: np.int64) -> np.int64:
    """Of numbers, of unsigned, and of bools the logical ones. Shifts take their count modulo 64."""
    flip = LOWEST if kind == KIND_UNSIGNED else 0
    left = left ^ flip
    right = right ^ flip
    count = right & 63
    if operation == CODE_AND:
        result = left & right
    elif operation == CODE_OR:
        result = left | right
    elif operation == CODE_EXCLUSIVE_OR:
        result = left ^ right
    elif operation == CODE_SHIFT_LEFT:
        result = number_of(word_of(left) << word_of(count))
    elif operation == CODE_SHIFT_RIGHT and kind == KIND_NUMBER:
        result = left >> count
    elif operation <= CODE_SHIFT_RIGHT:
        result = number_of(word_of(left) >> word_of(count))
    elif operation == CODE_BOTH:
        result = np.int64(1) if left != 0 and right != 0 else np.int64(0)
    elif operation == CODE_EITHER:
        result = np.int64(1) if left != 0 or right != 0 else np.int64(0)
    else:
        result = np.int64(1) if (left != 0) != (right != 0) else np.int64(0)
    return np.int64(result ^ flip)


# --- the operations --------------------------------------------------------------------------------------------------------------


@device
def apply_two(operation: int, kind: int, left: np.int64, right: np.int64, unit: int, state: Words) -> np.int64:
    """An operation of two codes of one kind."""
    if operation <= CODE_POWER:
        if kind == KIND_NUMBER:
            return _apply_number(operation, left, right, state)
        if kind == KIND_FLOAT:
            return _apply_float(operation, left, right, state)
        if kind == KIND_UNSIGNED:
            return _apply_unsigned(operation, left, right, state)
        if kind == KIND_WRAPPING:
            return _apply_wrapping(operation, left, right, state)
        if kind == KIND_UNCHECKED:
            return _divide_unchecked(left, right)
        return apply_decimal(operation, left, right, unit, state)
    if operation == CODE_LEAST:
        return np.int64(min(left, right))
    if operation == CODE_GREATEST:
        return np.int64(max(left, right))
    return _apply_bits(operation, kind, left, right)


@device
def apply_one(operation: int, kind: int, code: np.int64, unit: int, state: Words) -> np.int64:
    """An operation of one code; conversions from `kind`."""
    if operation == CODE_NEGATE:
        if kind == KIND_FLOAT:
            return code_of(-float_of(code))
        if kind == KIND_UNSIGNED:
            return _apply_unsigned(int(CODE_SUBTRACT), np.int64(LOWEST), code, state)
        if kind == KIND_WRAPPING:
            return _apply_wrapping(int(CODE_SUBTRACT), np.int64(0), code, state)
        return _apply_number(int(CODE_SUBTRACT), np.int64(0), code, state)
    if operation == CODE_ABSOLUTE:
        if kind == KIND_FLOAT:
            return code_of(abs(float_of(code)))
        if kind == KIND_UNSIGNED or code >= 0:
            return np.int64(code)
        if kind == KIND_WRAPPING:
            return _apply_wrapping(int(CODE_SUBTRACT), np.int64(0), code, state)
        return _apply_number(int(CODE_SUBTRACT), np.int64(0), code, state)
    if operation == CODE_COMPLEMENT:
        return np.int64(~code)  # of an unsigned, too: the flipped top bit is complemented with the others
    if operation == CODE_NOT:
        flip = LOWEST if kind == KIND_UNSIGNED else 0
        return np.int64(flip ^ (1 if code ^ flip == 0 else 0))
    if operation == CODE_TO_FLOAT:
        if kind == KIND_NUMBER:
            return code_of(np.float64(code))
        if kind == KIND_UNSIGNED:
            return code_of(np.float64(word_of(code ^ LOWEST)))
        return code_of(decimal_to_float(code, unit))
    if kind == KIND_FLOAT:
        return _from_float(operation, float_of(code), unit, state)
    code = np.int64(code ^ LOWEST)  # between numbers and unsigned, where both have the value
    if (code if operation == CODE_TO_NUMBER else code ^ LOWEST) < 0:
        state[STATE_ERROR] = OUT_OF_RANGE if operation == CODE_TO_NUMBER else NEGATIVE
    return code


@device
def _from_float(operation: int, value: np.float64, unit: int, state: Words) -> np.int64:
    """To an integer, truncated towards zero; to a decimal, rounded."""
    if operation == CODE_TO_DECIMAL:
        return float_to_decimal(value, unit, state)
    if value != value:
        state[STATE_ERROR] = NOT_A_NUMBER
        return np.int64(0)
    if operation == CODE_TO_NUMBER:
        if value < -(2.0**63) or value >= 2.0**63:
            state[STATE_ERROR] = OUT_OF_RANGE
            return np.int64(0)
        return np.int64(value)
    if value <= -1.0:
        state[STATE_ERROR] = NEGATIVE
        return np.int64(0)
    if value >= 2.0**64:
        state[STATE_ERROR] = OUT_OF_RANGE
        return np.int64(0)
    whole = np.int64(value) if value < 2.0**63 else np.int64(value - 2.0**63) ^ LOWEST
    return np.int64(whole ^ LOWEST)
