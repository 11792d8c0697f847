"""Exact sums as limbs: numbers cut into chunks of 32 bits, chunk i of weight 2^(32 i), that are added up independently.

A sum is a word per limb, without carries between them: so it is linear in the numbers' weights, whatever their order, and a number
that is taken away leaves no trace. Words stay right for fewer than 2^31 numbers. Integers have limbs 0 and 1, the upper one signed
(but of unsigned numbers not). A float m·2^e is m·2^(e + 1074), which has up to three limbs among 0 … 65; limbs below 0 count
infinities and NaNs.
"""

from __future__ import annotations

import numpy as np

from datalog.kernels.jit import INT, READ1, WRITE2, Words, kernel

# What codes are.
WHOLE, BIASED, FLOATS = 0, 1, 2

INFINITE, MINUS_INFINITE, NOT_A_NUMBER = -1, -2, -3
LIMBS = 66
SPECIAL = 3
FIELDS = 3  # of what is written: run, limb, word

LOWER = 2**32 - 1
SIGN_BIT = -(2**63)
LOWER_BITS = 2**63 - 1
FRACTION = 2**52 - 1
EXPONENT = 2**11 - 1


@kernel(INT(READ1, READ1, READ1, INT, WRITE2))
def limbs_of_runs(codes: Words, weights: Words, runs: Words, kind: int, out: Words) -> int:
    """The limbs, if not 0, of the weighted sum of each run of numbers: rows (run, limb, word) in `out`, which ascend; how many.

    `runs[i]`, ascending, says which run codes[i] is in. `out` has room for three rows a number.
    """
    words = np.zeros(LIMBS + SPECIAL, np.int64)  # those below 0 stand at the end
    count = 0
    for place in range(codes.shape[0]):
        code = codes[place]
        weight = weights[place]
        if kind == FLOATS:
            bits = code if code >= 0 else code ^ LOWER_BITS
            position = (bits >> 52) & EXPONENT
            mantissa = bits & FRACTION
            if position == EXPONENT:
                words[NOT_A_NUMBER if mantissa != 0 else INFINITE if bits >= 0 else MINUS_INFINITE] += weight
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
                words[limb] += weight * (low & LOWER)
                words[limb + 1] += weight * (high & LOWER)
                words[limb + 2] += weight * (high >> 32)
        else:
            if kind == BIASED:
                code ^= SIGN_BIT
            words[0] += weight * (code & LOWER)
            words[1] += weight * ((code >> 32) & LOWER if kind == BIASED else code >> 32)
        if place + 1 == codes.shape[0] or runs[place + 1] != runs[place]:
            for limb in range(-SPECIAL, LIMBS):
                if words[limb] != 0:
                    out[count, 0] = runs[place]
                    out[count, 1] = limb
                    out[count, 2] = words[limb]
                    count += 1
                    words[limb] = 0
    return count
