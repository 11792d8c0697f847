"""Sorting and consolidating blocks of weighted rows, as words where they fit into words.

A row whose columns range over few values is packed, with its weight, into one word of 63 bits: each column takes the bits that its range
needs, and what lies lowest is taken off. Words are sorted by their bytes, from the last to the first (a radix sort), and unpacked. Rows
that take more bits, and few rows, are sorted as they are (`rows.py`).
"""

from __future__ import annotations

import numpy as np

from datalog.kernels.codes import HIGHEST
from datalog.kernels.jit import INT, WRITE1, WRITE2, Words, device, kernel
from datalog.kernels.rows import ascends, sort

FEW = 64  # rows for which counting bytes does not pay
WORD_BITS = 63
DIGIT_BITS = 8
DIGITS = 256


@device
def bits_between(low: int, high: int) -> int:
    """How many bits it takes to tell the numbers low … high apart."""
    if low < 0 and high > HIGHEST + low:
        return WORD_BITS + 1
    span = high - low
    bits = 0
    while span > 0:
        span >>= 1
        bits += 1
    return bits


@device
def fit(rows: Words, weights: Words, lows: Words, bits: Words) -> int:
    """The least value of each column, the weight last, and the bits that it takes; all bits together."""
    width = rows.shape[1]
    total = 0
    for column in range(width):
        low = high = int(rows[0, column])
        for row in range(1, rows.shape[0]):
            low = min(low, rows[row, column])
            high = max(high, rows[row, column])
        lows[column] = low
        bits[column] = bits_between(low, high)
        total += int(bits[column])
    if weights.shape[0] > 0:
        low = high = int(weights[0])
        for row in range(1, rows.shape[0]):
            low = min(low, weights[row])
            high = max(high, weights[row])
        lows[width] = low
        bits[width] = bits_between(low, high)
        total += int(bits[width])
    return total


@device
def pack(rows: Words, weights: Words, lows: Words, bits: Words, words: Words) -> None:
    width = rows.shape[1]
    for row in range(rows.shape[0]):
        word = 0
        for column in range(width):
            word = (word << int(bits[column])) | int(rows[row, column] - lows[column])
        if weights.shape[0] > 0:
            word = (word << int(bits[width])) | int(weights[row] - lows[width])
        words[row] = word


@device
def sort_words(words: Words, spare: Words, start: int, end: int) -> bool:
    """Sort words of no sign by their bits start … end - 1, stably. True: the sorted ones are in `spare`."""
    count = words.shape[0]
    digits = (end - start + DIGIT_BITS - 1) // DIGIT_BITS
    places = np.zeros((digits, DIGITS), np.int64)
    for index in range(count):
        word = words[index] >> start
        for digit in range(digits):
            places[digit, word & (DIGITS - 1)] += 1
            word >>= DIGIT_BITS
    source, target = words, spare
    swapped = False
    for digit in range(digits):
        shift = start + digit * DIGIT_BITS
        if places[digit, (words[0] >> shift) & (DIGITS - 1)] == count:
            continue  # all have the same
        place = 0
        for value in range(DIGITS):
            following = place + places[digit, value]
            places[digit, value] = place
            place = following
        for index in range(count):
            word = source[index]
            value = (word >> shift) & (DIGITS - 1)
            target[places[digit, value]] = word
            places[digit, value] += 1
        source, target = target, source
        swapped = not swapped
    return swapped


@device
def unpack(words: Words, lows: Words, bits: Words, rows: Words, weights: Words) -> int:
    """Write the distinct ones of sorted rows with the sums of their weights, but for sums of 0; how many there are."""
    width = rows.shape[1]
    low = bits[width]
    total = words.shape[0]
    count = 0
    index = 0
    while index < total:
        word = words[index]
        packed = word >> low
        if weights.shape[0] > 0:
            weight = lows[width] + (word - (packed << low))
            index += 1
            while index < total and words[index] >> low == packed:
                weight += lows[width] + (words[index] - (packed << low))
                index += 1
            if weight == 0:
                continue
            weights[count] = weight
        else:
            index += 1
            while index < total and words[index] == word:
                index += 1
        for place in range(width):
            column = width - 1 - place
            above = packed >> bits[column]
            rows[count, column] = lows[column] + (packed - (above << bits[column]))
            packed = above
        count += 1
    return count


@device
def add_up(rows: Words, weights: Words) -> int:
    """Do for sorted rows what `unpack` does for sorted words."""
    width = rows.shape[1]
    count = 0
    row = 0
    total = rows.shape[0]
    while row < total:
        weight = weights[row]
        following = row + 1
        while following < total and ascends(rows, following, row):
            weight += weights[following]
            following += 1
        if weight != 0:
            for column in range(width):
                rows[count, column] = rows[row, column]
            weights[count] = weight
            count += 1
        row = following
    return count


@kernel(INT(WRITE2, WRITE1))
def consolidate(rows: Words, weights: Words) -> int:
    """Sort the rows in place, add the weights of equal rows, drop those that add up to 0; the number of rows left.

    With no weights at all, all distinct rows are left.
    """
    total, width = rows.shape
    if total > FEW:
        lows, bits = np.zeros(width + 1, np.int64), np.zeros(width + 1, np.int64)
        needed = fit(rows, weights, lows, bits)
        if needed <= WORD_BITS:
            words, spare = np.empty(total, np.int64), np.empty(total, np.int64)
            pack(rows, weights, lows, bits, words)
            if sort_words(words, spare, int(bits[width]), needed):
                words = spare
            return unpack(words, lows, bits, rows, weights)
    if weights.shape[0] == 0:
        weights = np.ones(total, np.int64)
    sort(rows, weights)
    return add_up(rows, weights)
