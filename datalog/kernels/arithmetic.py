"""What operations compute, on codes: numbers, unsigned, floats, decimals, bits, and the conversions between them.

Codes are those of `datalog/store/values.py`: a number is itself, an unsigned has its top bit flipped, a float is its
bits mapped so that integer order is float order, with one NaN (the greatest) and one zero; a decimal is a whole number of
its smallest unit, of which `unit` make 1; a bool is 0 or 1.
What has no value sets STATE_ERROR; nothing wraps but shifts. Signed sums and products are taken on unsigned words: the
compiler may assume that signed ones do not overflow, and then drops the very test for it.
"""

from __future__ import annotations

import numpy as np

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
    KIND_UNSIGNED,
    NEGATIVE,
    NO_ERROR,
    NOT_A_NUMBER,
    OUT_OF_RANGE,
    OVERFLOW,
    STATE_ERROR,
)
from datalog.kernels.jit import Words, device

LOWEST = -(2**63)
HIGHEST = 2**63 - 1
SIGN_REST = 2**63 - 1  # all bits but the sign
LOW_HALF = 2**32 - 1
FRACTION = 2**52 - 1  # the bits of a float's fraction
EXACT = 2**53  # integers up to here are floats


@device
def word_of(value: np.int64) -> np.uint64:
    return np.int64(value).view(np.uint64)


@device
def number_of(word: np.uint64) -> np.int64:
    return np.uint64(word).view(np.int64)


@device
def float_of(code: np.int64) -> np.float64:
    """Codes of floats are their bits, mapped so that integer order is float order."""
    if code < 0:
        code = code ^ SIGN_REST
    return np.int64(code).view(np.float64)


@device
def code_of(value: np.float64) -> np.int64:
    if value != value:
        return np.int64(0x7FF8000000000000)  # the one NaN
    if value == 0.0:
        return np.int64(0)  # -0.0 = 0.0
    bits = np.float64(value).view(np.int64)
    if bits < 0:
        bits = bits ^ SIGN_REST
    return bits


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


# --- unsigned ----------------------------------------------------------------------------------------------------------------


@device
def _multiply_unsigned(left: np.uint64, right: np.uint64, state: Words) -> np.uint64:
    product = left * right
    if left != np.uint64(0) and product // left != right:
        state[STATE_ERROR] = OVERFLOW
    return product


@device
def _apply_unsigned(operation: int, left_code: np.int64, right_code: np.int64, state: Words) -> np.int64:
    left = word_of(left_code ^ LOWEST)
    right = word_of(right_code ^ LOWEST)
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


# --- words of 128 bits, and decimals --------------------------------------------------------------------------------------------


@device
def magnitude_of(value: np.int64) -> np.uint64:
    return np.uint64(0) - word_of(value) if value < 0 else word_of(value)


@device
def _with_sign(magnitude: np.uint64, negative: bool, state: Words) -> np.int64:
    if magnitude > np.uint64(HIGHEST) and not (negative and magnitude == np.uint64(2**63)):
        state[STATE_ERROR] = OVERFLOW
        return np.int64(0)
    return number_of(np.uint64(0) - magnitude if negative else magnitude)


@device
def _high_product(left: np.uint64, right: np.uint64) -> np.uint64:
    """The upper 64 bits of a product of 128."""
    half = np.uint64(32)
    mask = np.uint64(LOW_HALF)
    low = (left & mask) * (right & mask)
    middle = (left >> half) * (right & mask) + (low >> half)
    other = (left & mask) * (right >> half) + (middle & mask)
    return (left >> half) * (right >> half) + (middle >> half) + (other >> half)


@device
def _divide_wide(high: np.uint64, low: np.uint64, divisor: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Quotient and remainder of high·2⁶⁴ + low; high < divisor."""
    if high == np.uint64(0):
        return low // divisor, low % divisor
    one = np.uint64(1)
    quotient = np.uint64(0)
    for bit in range(63, -1, -1):
        carry = high >> np.uint64(63)
        high = (high << one) | ((low >> np.uint64(bit)) & one)
        quotient = quotient << one
        if carry != np.uint64(0) or high >= divisor:
            high = high - divisor
            quotient = quotient | one
    return quotient, high


@device
def _rounded_quotient(high: np.uint64, low: np.uint64, divisor: np.uint64, state: Words) -> np.uint64:
    """(high·2⁶⁴ + low) / divisor, rounded half to even."""
    if high >= divisor:
        state[STATE_ERROR] = OVERFLOW
        return np.uint64(0)
    quotient, remainder = _divide_wide(high, low, divisor)
    rest = divisor - remainder
    if remainder > rest or (remainder == rest and quotient & np.uint64(1)):
        return _one_more(quotient, state)
    return quotient


@device
def _one_more(quotient: np.uint64, state: Words) -> np.uint64:
    if quotient == np.uint64(2**64 - 1):
        state[STATE_ERROR] = OVERFLOW
        return quotient
    return quotient + np.uint64(1)


@device
def _apply_decimal(operation: int, left: np.int64, right: np.int64, unit: int, state: Words) -> np.int64:
    """Products and quotients, rounded half to even; everything else of decimals is as for numbers."""
    if operation == CODE_DIVIDE and right == 0:
        state[STATE_ERROR] = DIVISION_BY_ZERO
        return np.int64(0)
    first = magnitude_of(left)
    factor = magnitude_of(right)
    divisor = word_of(unit)
    if operation == CODE_DIVIDE:
        factor, divisor = divisor, factor
    quotient = _rounded_quotient(_high_product(first, factor), first * factor, divisor, state)
    return _with_sign(quotient, (left < 0) != (right < 0), state)


@device
def _decimal_to_float(value: np.int64, unit: int) -> np.float64:
    """value / unit, rounded once."""
    divisor = word_of(unit)
    magnitude = magnitude_of(value)
    sign = -1.0 if value < 0 else 1.0
    if magnitude <= np.uint64(EXACT):
        return sign * (np.float64(magnitude) / np.float64(divisor))
    whole = magnitude // divisor
    part, rest = _divide_wide(magnitude % divisor, np.uint64(0), divisor)  # of 2⁻⁶⁴; at least 2⁵⁷ where whole is 0
    scale = 1.0 / 2.0**64
    if whole != np.uint64(0):
        scale = 1.0
        while whole >> np.uint64(63) == np.uint64(0):
            whole = (whole << np.uint64(1)) | (part >> np.uint64(63))
            part = part << np.uint64(1)
            scale = scale * 0.5
        rest = rest | part
        part = whole
    if rest != np.uint64(0):
        part = part | np.uint64(1)  # below the bits that a float keeps: it only breaks ties
    return sign * np.float64(part) * scale


@device
def _float_to_decimal(value: np.float64, unit: int, state: Words) -> np.int64:
    """value · unit, rounded half to even, as if the product were exact."""
    if value != value:
        state[STATE_ERROR] = NOT_A_NUMBER
        return np.int64(0)
    if value - value != 0.0:
        state[STATE_ERROR] = OUT_OF_RANGE
        return np.int64(0)
    one = np.uint64(1)
    bits = np.float64(value).view(np.uint64)
    exponent = np.int64((bits >> np.uint64(52)) & np.uint64(2047))
    fraction = bits & np.uint64(FRACTION)
    if exponent != 0:
        fraction = fraction | np.uint64(FRACTION + 1)
    else:
        exponent = np.int64(1)
    exponent -= 1075  # the value is fraction · 2^exponent
    high = _high_product(fraction, word_of(unit))  # below 2⁴⁹
    low = fraction * word_of(unit)
    quotient = np.uint64(0)
    above = False  # is what is dropped more than a half, or exactly one?
    tie = False
    if exponent >= 0:
        if exponent > 62 or high != np.uint64(0) or low > np.uint64(2**63) >> np.uint64(exponent):
            state[STATE_ERROR] = OUT_OF_RANGE
            return np.int64(0)
        quotient = low << np.uint64(exponent)
    elif exponent > -64:
        count = np.uint64(-exponent)
        if high >> count != np.uint64(0):
            state[STATE_ERROR] = OUT_OF_RANGE
            return np.int64(0)
        quotient = (high << (np.uint64(64) - count)) | (low >> count)
        dropped = low & ((one << count) - one)
        half = one << (count - one)
        above = dropped > half
        tie = dropped == half
    elif exponent == -64:
        quotient = high
        above = low > np.uint64(2**63)
        tie = low == np.uint64(2**63)
    elif exponent > -114:
        count = np.uint64(-64 - exponent)
        quotient = high >> count
        dropped = high & ((one << count) - one)
        half = one << (count - one)
        above = dropped > half or (dropped == half and low != np.uint64(0))
        tie = dropped == half and low == np.uint64(0)
    if above or (tie and quotient & one):
        quotient = _one_more(quotient, state)
    result = _with_sign(quotient, value < 0.0, state)
    if state[STATE_ERROR] != NO_ERROR:
        state[STATE_ERROR] = OUT_OF_RANGE
    return result


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
        return _apply_decimal(operation, left, right, unit, state)
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
            return _apply_unsigned(CODE_SUBTRACT, np.int64(LOWEST), code, state)
        return _apply_number(CODE_SUBTRACT, np.int64(0), code, state)
    if operation == CODE_ABSOLUTE:
        if kind == KIND_FLOAT:
            return code_of(abs(float_of(code)))
        if kind == KIND_UNSIGNED or code >= 0:
            return np.int64(code)
        return _apply_number(CODE_SUBTRACT, np.int64(0), code, state)
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
        return code_of(_decimal_to_float(code, unit))
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
        return _float_to_decimal(value, unit, state)
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
