"""Scans: what an inner entry of a tree can hold of all rows below it, an associative and commutative ⊕ in one word.

A kind tells the word of one row and how two words combine. Sources of a word are the payload and the last key column. A product
that leaves the range -(2^63 - 1) … 2^63 - 1 is MARK from then on, unless a factor is 0; whoever meets MARK has to look at the rows.
Source: leapfrog-triejoin-maintenance, section 2.3.3, with ⊕ over the entries of a page where the paper has a binary tree.
"""

from __future__ import annotations

from datalog.kernels.codes import HIGHEST, LOWEST
from datalog.kernels.jit import Words, device
from datalog.kernels.layout import (
    ALL_BITS,
    ANY_BITS,
    COUNT,
    GREATEST_KEY,
    GREATEST_PAYLOAD,
    HEADER,
    INNER_CAP,
    LEAF_CAP,
    LEAST_KEY,
    LEVEL,
    ODD_BITS,
    PRODUCT,
    SCAN,
    SCANNED,
    TOTAL,
    WIDTH,
)

MARK = LOWEST


@device
def neutral(kind: int) -> int:
    """The word of no rows."""
    if kind in (GREATEST_PAYLOAD, GREATEST_KEY):
        return LOWEST
    if kind == LEAST_KEY:
        return HIGHEST
    if kind == ALL_BITS:
        return -1
    return 1 if kind == PRODUCT else 0


@device
def times(left: int, right: int) -> int:
    if left == 0 or right == 0:
        return 0
    if left == MARK or right == MARK or abs(left) > HIGHEST // abs(right):
        return MARK
    return left * right


@device
def power(base: int, exponent: int) -> int:
    """The product of `exponent` > 0 factors `base`."""
    if base in (0, 1):
        return base
    if base == -1:
        return -1 if exponent % 2 == 1 else 1
    result = 1
    for _ in range(min(exponent, 64)):  # any other base leaves 64 bits before that
        result = times(result, base)
    return result


@device
def combined(kind: int, left: int, right: int) -> int:
    if kind == TOTAL:
        return left + right
    if kind in (GREATEST_PAYLOAD, GREATEST_KEY):
        return max(left, right)
    if kind == LEAST_KEY:
        return min(left, right)
    if kind == ALL_BITS:
        return left & right
    if kind == ANY_BITS:
        return left | right
    return left ^ right if kind == ODD_BITS else times(left, right)


@device
def word_of_row(kind: int, key: int, payload: int) -> int:
    """`key` is the last key column; `payload` is read only by kinds that need trees with payloads."""
    if kind in (TOTAL, GREATEST_PAYLOAD):
        return payload
    if kind == ODD_BITS:
        return key if payload & 1 else 0
    return power(key, payload) if kind == PRODUCT else key


@device
def word_of_entry(pages: Words, shape: Words, page: int, entry: int) -> int:
    """The word of one entry of a page: of a row, or of all rows below a child."""
    width = shape[WIDTH]
    if pages[page, LEVEL] > 0:
        return int(pages[page, HEADER + (width + SCANNED) * shape[INNER_CAP] + entry])
    kind = shape[SCAN]
    cap = shape[LEAF_CAP]
    key = pages[page, HEADER + (width - 1) * cap + entry]
    payload = 1
    if kind in (TOTAL, GREATEST_PAYLOAD, ODD_BITS, PRODUCT):
        payload = pages[page, HEADER + width * cap + entry]
    return word_of_row(kind, key, payload)


@device
def word_of_page(pages: Words, shape: Words, page: int, first: int, end: int) -> int:
    """The word of the entries first … end - 1 of a page."""
    kind = shape[SCAN]
    word = neutral(kind)
    for entry in range(first, end):
        word = combined(kind, word, word_of_entry(pages, shape, page, entry))
    return word


@device
def word_below(pages: Words, shape: Words, page: int) -> int:
    """The word of all rows below a page, or in it."""
    return word_of_page(pages, shape, page, 0, pages[page, COUNT])
