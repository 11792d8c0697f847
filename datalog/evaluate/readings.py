"""Aggregates by reading all rows of a range: for functions that no tree keeps up to date, and to decide ties.

O(m log m) for m rows. Values are taken in the order of their types, symbols in that of their texts.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from datalog.errors import InternalError
from datalog.ir.core import PyValue, Type
from datalog.ir.spelling import spell_value
from datalog.store.interner import order_of
from datalog.store.values import Values

Words = NDArray[np.int64]

LARGEST = 2**64  # no integer product that has become larger comes back, unless by a factor 0


class Reading:
    """One function of the rows of a range. `types` are those of its arguments."""

    def __init__(self, values: Values, function: str, types: Sequence[Type], parameter: PyValue | None) -> None:
        self._values, self._function, self._types, self._parameter = values, function, types, parameter

    def of(self, arguments: Words, counts: Words, rank: int) -> int | None:
        """The result's code for distinct or repeated rows of arguments, each with a count, or None if 64 bits do not hold it.

        `rank` is that of the value that a median or quantile asks for, from 1.
        """
        type = self._types[0]
        distinct, places = self._in_order(arguments[:, 0], type)
        match self._function:
            case "min":
                return int(distinct[0])
            case "max":
                return int(distinct[-1])
            case "argmin" | "argmax":
                best = 0 if self._function == "argmin" else len(distinct) - 1
                return int(self._in_order(arguments[places == best, 1], self._types[1])[0][0])
        repeated = np.zeros(len(distinct), np.int64)
        np.add.at(repeated, places, counts)
        if self._function in ("median", "quantile"):
            return int(distinct[np.searchsorted(np.cumsum(repeated), rank)])
        return self._of_all(self._values.decode_column(distinct, type), repeated.tolist())

    def _of_all(self, values: list[PyValue], repeated: list[int]) -> int | None:
        type = self._types[0]
        if self._function == "collect":
            texts = [json.dumps(value, ensure_ascii=False) if isinstance(value, str) else spell_value(value) for value in values]
            return self._values.encode(f"[{', '.join(texts)}]", Type.SYMBOL)
        if self._function == "join":
            texts = [text for text, times in zip(map(spell_value, values), repeated, strict=True) for _ in range(times)]
            return self._values.encode(str(self._parameter).join(texts), Type.SYMBOL)
        if self._function == "product" and type is Type.FLOAT:
            return self._values.encode(math.prod(value for value, times in zip(values, repeated, strict=True) for _ in range(times)), type)
        if self._function == "product":
            return self._product([value for value in values if isinstance(value, int)], repeated, type)
        raise InternalError(f"the aggregate {self._function} is not computed by reading rows")

    def _product(self, values: list[int], repeated: list[int], type: Type) -> int | None:
        product = 0 if 0 in values else 1
        for value, times in zip(values, repeated, strict=True):
            product *= value ** (times if abs(value) < 2 else min(times, 65))
            if abs(product) > LARGEST:
                return None
        low, high = (0, 2**64) if type is Type.UNSIGNED else (-(2**63), 2**63)
        return self._values.encode(product, type) if low <= product < high else None

    def _in_order(self, codes: Words, type: Type) -> tuple[Words, Words]:
        """The distinct codes in the order of their values, and for each code its place among them."""
        distinct, places = np.unique(codes, return_inverse=True)
        if type is not Type.SYMBOL:
            return distinct, places
        ranks = order_of(self._values.symbols.texts(distinct.tolist()))
        ordered = np.empty_like(distinct)
        ordered[ranks] = distinct
        return ordered, ranks[places]
