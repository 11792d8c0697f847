"""Exact sums as limbs: numbers cut into chunks of 32 bits, chunk i of weight 2^(32 i), that are added up independently.

A sum is a word per limb, without carries between them: so it is linear in the numbers' weights, whatever their order, and a number
that is taken away leaves no trace. Words stay right for fewer than 2^31 numbers. Integers have limbs 0 and 1, the upper one signed
(but of unsigned numbers not). A float m·2^e is m·2^(e + 1074), which has up to three limbs among 0 … 65; limbs below 0 count
infinities and NaNs. A sum of floats is rounded when it is read, once: to nearest, and to even in the middle.
"""

from __future__ import annotations

import numpy as np

from datalog.kernels.codes import LOWEST, SIGN_REST
from datalog.kernels.jit import INT, NOTHING, READ1, READ2, WRITE1, WRITE2, Words, device, kernel

# What codes are.
WHOLE, BIASED, FLOATS = 0, 1, 2

INFINITE, MINUS_INFINITE, NOT_A_NUMBER = -1, -2, -3
LIMBS = 66
SPECIAL = 3
DIGITS = LIMBS + 3  # of a sum: limbs without sign, and what is carried beyond the last

LOWER = 2**32 - 1
FRACTION = 2**52 - 1
EXPONENT = 2**11 - 1
INFINITY = EXPONENT << 52
QUIET_NAN = INFINITY | 2**51


@kernel(INT(READ2, INT, INT, READ1, READ1, INT, WRITE1, WRITE2, WRITE1))
def limbs_of_runs(
    rows: Words, groups: int, column: int, weights: Words, bounds: Words, kind: int, which: Words, limbs: Words, words: Words
) -> int:
    """The limbs, if not 0, of the weighted sum of each run of numbers, which stand in a column; how many.

    Run i is the rows bounds[i] … bounds[i + 1] - 1; all weights are 1 if there are none. What is written of a limb: which run it is of;
    the row (group…, limb, what stands between groups and numbers); its word. There is room for two limbs a run of integers,
    for three a number of floats.
    """
    lowest, beyond = (-SPECIAL, LIMBS) if kind == FLOATS else (0, 2)
    sums = np.zeros(LIMBS + SPECIAL, np.int64)  # those below 0 stand at the end
    count = 0
    run = 0
    for place in range(rows.shape[0]):
        code = rows[place, column]
        weight = weights[place] if weights.shape[0] > 0 else 1
        if kind == FLOATS:
            bits = code if code >= 0 else code ^ SIGN_REST
            position = (bits >> 52) & EXPONENT
            mantissa = bits & FRACTION
            if position == EXPONENT:
                sums[NOT_A_NUMBER if mantissa != 0 else INFINITE if bits >= 0 else MINUS_INFINITE] += weight
            else:
                if position > 0:
                    mantissa |= FRACTION + 1
                    position -= 1
                if bits < 0:
                    weight = -weight
                limb = position >> 5
                shift = position & 31
                low = (mantissa & LOWER) << shift
                high = ((mantissa >> 32) << shift) + (low >> 32)
                sums[limb] += weight * (low & LOWER)
                sums[limb + 1] += weight * (high & LOWER)
                sums[limb + 2] += weight * (high >> 32)
        else:
            if kind == BIASED:
                code ^= LOWEST
            sums[0] += weight * (code & LOWER)
            sums[1] += weight * ((code >> 32) & LOWER if kind == BIASED else code >> 32)
        if place + 1 == bounds[run + 1]:
            for limb in range(lowest, beyond):
                if sums[limb] != 0:
                    which[count] = run
                    for key in range(groups):
                        limbs[count, key] = rows[place, key]
                    limbs[count, groups] = limb
                    for key in range(groups, column):
                        limbs[count, key + 1] = rows[place, key]
                    words[count] = sums[limb]
                    count += 1
                    sums[limb] = 0
            run += 1
    return count


@device
def carried(words: Words, first: int, digits: Words, sign: int) -> int:
    """Write the digits of a sum of limbs first … LIMBS - 1, times the sign; what is left over, negative iff the sum is."""
    carry = 0
    for place in range(first, DIGITS):
        if place < LIMBS:
            carry += sign * words[place]
        digits[place] = carry & LOWER
        carry >>= 32
    return carry


@device
def nearest(digits: Words, first: int) -> int:
    """The bits of the float nearest to a sum of digits, in units of 2^-1074."""
    last = DIGITS - 1
    while last > first and digits[last] == 0:
        last -= 1
    if digits[last] == 0:
        return 0
    length = 0  # of the last digit, in bits
    while digits[last] >> length != 0:
        length += 1
    cut = max(32 * last + length - 53, 0)  # bits below this one are rounded away
    mantissa = 0
    for place in range(max(cut >> 5, first), last + 1):
        shift = 32 * place - cut
        mantissa |= digits[place] << shift if shift >= 0 else digits[place] >> -shift
    if cut > 0:
        half = (cut - 1) >> 5
        if half >= first and (digits[half] >> ((cut - 1) & 31)) & 1 == 1:
            rest = digits[half] & ((1 << ((cut - 1) & 31)) - 1)
            for place in range(first, half):
                rest |= digits[place]
            if rest != 0 or mantissa & 1 == 1:
                mantissa += 1
    # The bit above a normal mantissa's fraction adds 1 to the exponent, and so does rounding up to the next power of 2.
    return min((cut << 52) + mantissa, INFINITY) if cut < EXPONENT - 1 else INFINITY


@device
def add_to(sums: Words, place: int, low: int, high: int, kind: int) -> bool:
    """Add high · 2^32 + low to a sum of integers, which is a code; does the result fit into one?"""
    code = sums[place]
    if kind == BIASED:
        code ^= LOWEST
    low += code & LOWER
    high += ((code >> 32) & LOWER if kind == BIASED else code >> 32) + (low >> 32)
    code = (high << 32) | (low & LOWER)
    sums[place] = code ^ LOWEST if kind == BIASED else code
    return bool(0 <= high <= LOWER) if kind == BIASED else bool(-(2**31) <= high < 2**31)


@kernel(INT(READ2, INT, READ1, READ1, INT, WRITE1))
def add_integers(rows: Words, column: int, weights: Words, bounds: Words, kind: int, sums: Words) -> int:
    """Add the weighted sum of each run of integers to a code; the first run whose code leaves its range, or -1.

    Runs, weights and the column are those of `limbs_of_runs`.
    """
    failed = -1
    for run in range(bounds.shape[0] - 1):
        low = 0
        high = 0
        for place in range(bounds[run], bounds[run + 1]):
            code = rows[place, column]
            weight = weights[place] if weights.shape[0] > 0 else 1
            if kind == BIASED:
                code ^= LOWEST
            low += weight * (code & LOWER)
            high += weight * ((code >> 32) & LOWER if kind == BIASED else code >> 32)
        if not add_to(sums, run, low, high, kind) and failed < 0:
            failed = run
    return failed


@kernel(INT(READ1, READ1, READ1, INT, WRITE1))
def join_integers(which: Words, numbers: Words, words: Words, kind: int, codes: Words) -> int:
    """Make sums of integers, which are the codes of 0, of their limbs; the first that does not fit into a code, or -1.

    Limbs are as for `round_floats`.
    """
    failed = -1
    place = 0
    while place < which.shape[0]:
        sum = which[place]
        low = 0
        high = 0
        while place < which.shape[0] and which[place] == sum:
            if numbers[place] == 0:
                low = words[place]
            else:
                high = words[place]
            place += 1
        if not add_to(codes, sum, low, high, kind) and failed < 0:
            failed = sum
    return failed


@kernel(NOTHING(READ1, READ1, READ1, WRITE1))
def round_floats(which: Words, numbers: Words, words: Words, codes: Words) -> None:
    """Write the codes of sums of floats. Limb `numbers[i]` of sum `which[i]`, both ascending, is `words[i]`; others are left alone."""
    limbs, digits = np.zeros(LIMBS, np.int64), np.empty(DIGITS, np.int64)
    start = 0
    while start < which.shape[0]:
        end = start
        first = LIMBS
        above = below = undefined = False
        while end < which.shape[0] and which[end] == which[start]:
            number = numbers[end]
            if number >= 0:
                limbs[number] = words[end]
                first = min(first, number)
            elif words[end] != 0:
                above = above or number == INFINITE
                below = below or number == MINUS_INFINITE
                undefined = undefined or number == NOT_A_NUMBER
            end += 1
        if undefined or (above and below):
            code = QUIET_NAN
        elif above or below:
            code = INFINITY if above else (INFINITY | LOWEST) ^ SIGN_REST
        else:
            negative = carried(limbs, first, digits, 1) < 0
            if negative:
                carried(limbs, first, digits, -1)
            bits = nearest(digits, first) if first < LIMBS else 0
            code = (bits | LOWEST) ^ SIGN_REST if negative and bits != 0 else bits
        codes[which[start]] = code
        limbs[first:] = 0
        start = end
