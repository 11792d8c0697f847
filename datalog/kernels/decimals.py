"""Decimals: products and quotients over words of 128 bits, and the ways to and from floats.

A decimal's code is a whole number of its smallest unit, of which `unit` make 1.
"""

from __future__ import annotations

import numpy as np

from datalog.kernels.codes import HIGHEST, magnitude_of, number_of, word_of
from datalog.kernels.encoding import CODE_DIVIDE, DIVISION_BY_ZERO, NO_ERROR, NOT_A_NUMBER, OUT_OF_RANGE, OVERFLOW, STATE_ERROR
from datalog.kernels.jit import Words, device

LOW_HALF = 2**32 - 1
FRACTION = 2**52 - 1  # the bits of a float's fraction
EXACT = 2**53  # integers up to here are floats


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
def apply_decimal(operation: int, left: np.int64, right: np.int64, unit: int, state: Words) -> np.int64:
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
def decimal_to_float(value: np.int64, unit: int) -> np.float64:
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
def float_to_decimal(value: np.float64, unit: int, state: Words) -> np.int64:
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
        above = bool(dropped > half)
        tie = bool(dropped == half)
    elif exponent == -64:
        quotient = high
        above = bool(low > np.uint64(2**63))
        tie = bool(low == np.uint64(2**63))
    elif exponent > -114:
        count = np.uint64(-64 - exponent)
        quotient = high >> count
        dropped = high & ((one << count) - one)
        half = one << (count - one)
        above = bool(dropped > half or (dropped == half and low != np.uint64(0)))
        tie = bool(dropped == half and low == np.uint64(0))
    if above or (tie and quotient & one):
        quotient = _one_more(quotient, state)
    result = _with_sign(quotient, bool(value < 0.0), state)
    if state[STATE_ERROR] != NO_ERROR:
        state[STATE_ERROR] = OUT_OF_RANGE
    return result
