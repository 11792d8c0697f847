"""Aggregates by reading all rows of ranges: for functions that no tree keeps up to date, and to decide ties.

O(m log m) for m rows. Values are taken in the order of their types, symbols in that of their texts.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from datalog.errors import InternalError
from datalog.ir.core import PyValue, Type
from datalog.ir.spelling import spell_value
from datalog.store.interner import order_of
from datalog.store.values import Values

Words = NDArray[np.int64]
Flags = NDArray[np.bool_]
Counts = dict[int, int]  # of each value, by its place among all values

WORDS = 2**64
LARGEST = WORDS  # no integer product that has become larger comes back, unless by a factor 0


class Reading:
    """One function of the rows of ranges. `types` are those of its arguments. With `wraps` products are taken modulo 2⁶⁴."""

    def __init__(self, values: Values, function: str, types: Sequence[Type], parameter: PyValue | None, wraps: bool = False) -> None:
        self._values, self._function, self._types, self._parameter, self._wraps = values, function, types, parameter, wraps

    def of(self, arguments: Words, counts: Words, bounds: Words, ranks: Words) -> tuple[Words, Flags]:
        """The codes of the results, and which of them 64 bits do not hold.

        Result i is that of the rows bounds[i] … bounds[i + 1] - 1, at least one, of arguments with counts; rows may repeat.
        `ranks` are those of the values that medians and quantiles ask for, from 1.
        """
        function = self._function
        distinct, places = self._in_order(arguments[:, 0], self._types[0])
        blocks = [slice(start, end) for start, end in pairwise(bounds.tolist())]
        fine = np.zeros(len(blocks), np.bool_)
        if function in ("min", "max"):
            best = min if function == "min" else max
            return distinct[[best(places[block].tolist()) for block in blocks]], fine
        if function in ("argmin", "argmax"):
            return self._witnesses(places, arguments[:, 1], blocks), fine
        counted = [_counts(places[block].tolist(), counts[block].tolist()) for block in blocks]
        if function in ("median", "quantile"):
            return distinct[[_at_rank(have, rank) for have, rank in zip(counted, ranks.tolist(), strict=True)]], fine
        return self._of_all(self._values.decode_column(distinct, self._types[0]), counted)

    def _witnesses(self, places: Words, column: Words, blocks: list[slice]) -> Words:
        """Of the rows with the best value the least witness."""
        best = min if self._function == "argmin" else max
        distinct, witnesses = self._in_order(column, self._types[1])
        found = []
        for block in blocks:
            here = places[block].tolist()
            wanted = best(here)
            found.append(min(witness for place, witness in zip(here, witnesses[block].tolist(), strict=True) if place == wanted))
        return distinct[found]

    def _of_all(self, values: list[PyValue], counted: list[Counts]) -> tuple[Words, Flags]:
        """Results that every value has a part in."""
        function, type = self._function, self._types[0]
        fine = np.zeros(len(counted), np.bool_)
        if function == "collect":
            texts = [json.dumps(value, ensure_ascii=False) if isinstance(value, str) else spell_value(value) for value in values]
            return self._values.symbols.intern_all(f"[{', '.join(texts[place] for place in have)}]" for have in counted), fine
        if function == "join":
            texts, separator = list(map(spell_value, values)), str(self._parameter)
            return self._values.symbols.intern_all(separator.join(texts[place] for place in _repeated(have)) for have in counted), fine
        if function != "product":
            raise InternalError(f"the aggregate {function} is not computed by reading rows")
        if type is Type.FLOAT:
            floats = [value for value in values if isinstance(value, float)]
            products = [math.prod((floats[place] for place in _repeated(have)), start=1.0) for have in counted]
            return self._values.encode_column(products, type), fine
        low, high = (0, 2**64) if type is Type.UNSIGNED else (-(2**63), 2**63)
        product = _product_of_words if self._wraps else _product
        exact = [product({value: have[place] for place in have if isinstance(value := values[place], int)}) for have in counted]
        if self._wraps and low < 0:
            exact = [word if word < high else word - WORDS for word in exact]
        failed = np.array([not low <= value < high for value in exact], np.bool_)
        return self._values.encode_column([value if low <= value < high else 0 for value in exact], type), failed

    def _in_order(self, codes: Words, type: Type) -> tuple[Words, Words]:
        """The distinct codes in the order of their values, and for each code its place among them."""
        distinct, places = np.unique(codes, return_inverse=True)
        if type is not Type.SYMBOL:
            return distinct, places
        ranks = order_of(self._values.symbols.texts(distinct.tolist()))
        ordered = np.empty_like(distinct)
        ordered[ranks] = distinct
        return ordered, ranks[places]


def _counts(places: list[int], counts: list[int]) -> Counts:
    """How often each place is there, in ascending order."""
    found: Counts = {}
    for place, count in sorted(zip(places, counts, strict=True)):
        found[place] = found.get(place, 0) + count
    return found


def _repeated(counted: Counts) -> list[int]:
    return [place for place, count in counted.items() for _ in range(count)]


def _at_rank(counted: Counts, rank: int) -> int:
    for place, count in counted.items():
        rank -= count
        if rank <= 0:
            return place
    raise InternalError("a rank lies beyond the rows of its range")


def _product_of_words(factors: dict[int, int]) -> int:
    """The product of powers modulo 2⁶⁴."""
    product = 1
    for base, exponent in factors.items():
        product = product * pow(base, exponent, WORDS) % WORDS
    return product


def _product(factors: dict[int, int]) -> int:
    """The product of powers; one that is larger than LARGEST may be given too small, but still larger."""
    if 0 in factors:
        return 0
    product = 1
    for base, exponent in factors.items():
        product *= base ** (exponent if abs(base) < 2 else min(exponent, 65))
        if abs(product) > LARGEST:
            break
    return product
