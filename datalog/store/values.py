"""Values and their codes: every value is one int64, and two codes of one type are equal iff the values are.

number is itself. unsigned is shifted by 2^63 and float is its bits with the lower 63 flipped where the sign is set. bool is 0 or 1,
a date counts days and a datetime microseconds since 1970-01-01 in UTC, and a decimal is its digits as an integer. So codes of all
these are ordered as their values are. Floats have one NaN, which is equal to itself and greater than everything, and one zero.
A symbol is its id in the database's interner; ids are not ordered (see `Interner.labels`). What has parts, a record or a value of an
algebraic type, is its id in `structures` (`datalog.store.nested`).

What each type admits is told by `datalog.store.canonical`, how whole columns are converted by `datalog.store.columns`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, cycle
from typing import Any

import numpy as np

from datalog.ir.core import PyValue, Row, Type
from datalog.ir.structures import Structure
from datalog.store import nested
from datalog.store.canonical import GREATEST, LEAST, BadValue, canonical, noun, shown
from datalog.store.columns import arrow_of, code_of, codes_of_array, codes_of_arrow, codes_of_sequence, codes_of_ticks, values_of
from datalog.store.interner import Codes, Interner, order_of
from datalog.store.ordering import distinct_of, order_of_rows
from datalog.store.structures import Structures

__all__ = ["BadValue", "Row", "Values", "canonical", "noun", "shown"]

FEW = 16  # rows that are encoded cell by cell


class Values:
    """The codes of one database."""

    __slots__ = ("structures", "symbols")

    def __init__(self) -> None:
        self.symbols = Interner()
        self.structures = Structures()

    def encode(self, value: object, type: Type) -> int:
        """The code of one value. BadValue if `type` does not admit it."""
        if isinstance(value, (np.datetime64, np.timedelta64)):
            return int(codes_of_ticks(np.array([value]), type)[0])
        if type is Type.SYMBOL and value.__class__ is str and (symbol := self.symbols.find(value)) is not None:
            return symbol
        if type is Type.NUMBER and value.__class__ is int and LEAST <= value <= GREATEST:
            return value
        if isinstance(type, Structure):
            code = nested.encode(value, type, self)
            self.structures.settle()
            return code
        known = canonical(value, type)
        return self._intern(known, 0) if isinstance(known, str) else code_of(known, type)

    def decode(self, code: int, type: Type) -> PyValue:
        if type is Type.SYMBOL:
            return self.symbols.text(int(code))
        known: PyValue = self.decode_column(np.array([code], np.int64), type)[0]
        return known

    def encode_column(self, column: Any, type: Type) -> Codes:
        """The codes of a column: any sequence of Python values, a numpy array, or an Arrow array (chunked or not).

        O(n), without a Python step a value for NumPy's and Arrow's columns of the type's own kind. BadValue names the first bad row.
        """
        if hasattr(column, "dictionary_encode"):
            return self._encode_arrow(column, type)
        if isinstance(column, np.ndarray):
            codes = codes_of_array(column, type)
            if codes is not None:
                return codes
            column = column.tolist()
        return self._encode_sequence(list(column), type)

    def decode_column(self, codes: Codes, type: Type) -> list[Any]:
        """The Python values of a column of codes."""
        codes = np.ascontiguousarray(codes, np.int64)
        if isinstance(type, Structure):
            return nested.decode(codes, type, self)
        return self.symbols.texts(codes.tolist()) if type is Type.SYMBOL else values_of(codes, type)

    def encode_rows(self, rows: Iterable[Sequence[object]], types: Sequence[Type]) -> Codes:
        """Rows of Python values as int64[n, k], C-contiguous; of no types, as int64[n, 1] zeros, as nullary predicates are stored.

        BadValue names the row; every row must have k values.
        """
        rows = rows if isinstance(rows, list) else list(rows)
        if not types:
            return np.zeros((len(rows), 1), np.int64)
        codes = np.empty((len(rows), len(types)), np.int64)
        for number, column in enumerate(zip(*rows, strict=True) if rows else ()):
            codes[:, number] = self.encode_column(column, types[number])
        return codes

    def encode_tuples(self, rows: list[Any], types: Sequence[Type]) -> Codes | None:
        """Tuples of as many values as there are `types`, at least one, as int64[n, k], without going by columns.

        None where there is another way to take: for bad rows, for many of other types than numbers.
        """
        if set(map(type, rows)) != {tuple} or set(map(len, rows)) != {len(types)}:
            return None
        cells: list[Any] = list(chain.from_iterable(rows))
        try:
            if set(types) != {Type.NUMBER}:
                if len(rows) > FEW:
                    return None
                cells = [self.encode(cell, type) for cell, type in zip(cells, cycle(types), strict=False)]
            elif set(map(type, cells)) != {int}:
                return None
            return np.array(cells, np.int64).reshape(len(rows), len(types))
        except (BadValue, OverflowError):
            return None

    def decode_rows(self, codes: Codes, types: Sequence[Type]) -> list[Row]:
        """int64[n, k] as tuples of Python values, in the same order."""
        columns = codes.T.tolist()
        for number, type in enumerate(types):
            if type is Type.SYMBOL:
                columns[number] = self.symbols.texts(columns[number])
            elif type is not Type.NUMBER:
                columns[number] = self.decode_column(codes[:, number], type)
        return list(zip(*columns, strict=True))

    def sort_by_value(self, codes: Codes, types: Sequence[Type]) -> Codes:
        """The rows of int64[n, k] in the order of their values, the first column most significant. O(n log n); O(n) if they ascend."""
        if len(codes) < 2 or not types:  # a nullary predicate has at most one row
            return np.ascontiguousarray(codes)
        ranks: dict[int, Codes] = {}

        def keys(number: int) -> Codes:
            type = types[number]
            if type is not Type.SYMBOL and not isinstance(type, Structure):
                return codes[:, number]
            if number not in ranks:
                ranks[number] = self._ranks(codes[:, number], type)
            return ranks[number]

        order = order_of_rows(len(codes), len(types), keys)
        return np.ascontiguousarray(codes if order is None else codes[order])

    def ranks(self, column: Codes, type: Type) -> Codes:
        """A number for each value of a column that is ordered as the values are."""
        return self._ranks(column, type) if type is Type.SYMBOL or isinstance(type, Structure) else column

    def to_arrow(self, codes: Codes, names: Sequence[str], types: Sequence[Type]) -> Any:
        """A pyarrow.Table with int64, uint64, double, string, bool, date32, timestamp (µs, UTC) and decimal128(19, scale) columns."""
        import pyarrow as pa

        columns = [self.column_to_arrow(np.ascontiguousarray(codes[:, number]), type) for number, type in enumerate(types)]
        return pa.Table.from_arrays(columns, names=list(names))

    def column_to_arrow(self, column: Codes, type: Type) -> Any:
        """One such column. Records are structs with null for `nil`, or texts, as all that is nested without end or has branches."""
        if isinstance(type, Structure):
            return nested.to_arrow(column, type, self)
        if type is not Type.SYMBOL:
            return arrow_of(column, type)
        import pyarrow as pa

        texts, places = self.distinct_texts(column)
        return pa.array(texts, pa.string()).take(pa.array(places))

    def distinct_texts(self, column: Codes) -> tuple[list[str], Codes]:
        """The distinct symbols of a column, in no particular order, and the place of each row's among them."""
        distinct, places = distinct_of(column, len(self.symbols))
        return self.symbols.texts(distinct.tolist()), places

    def _ranks(self, column: Codes, type: Type) -> Codes:
        if isinstance(type, Structure):
            return nested.ranks(np.ascontiguousarray(column), type, self)
        texts, places = self.distinct_texts(column)
        return order_of(texts)[places]

    def _intern(self, text: str, row: int) -> int:
        try:
            return self.symbols.intern(text)
        except ValueError as error:
            raise BadValue(str(error), row) from None

    def _encode_sequence(self, column: list[Any], type: Type) -> Codes:
        classes = set(map(class_of, column))
        if type is Type.SYMBOL and classes <= {str}:
            try:
                return self.symbols.intern_all(column)
            except ValueError:
                return np.array([self._intern(text, row) for row, text in enumerate(column)], np.int64)
        codes = codes_of_sequence(column, type, classes) if not isinstance(type, Structure) else None
        if codes is not None:
            return codes
        codes = np.empty(len(column), np.int64)
        for row, value in enumerate(column):
            try:
                codes[row] = self.encode(value, type)
            except BadValue as error:
                raise BadValue(str(error), row) from None
        return codes

    def _encode_arrow(self, column: Any, type: Type) -> Codes:
        import pyarrow as pa

        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        kind = column.type
        if column.null_count and not isinstance(type, Structure):
            row = column.is_null().to_numpy(zero_copy_only=False).tolist().index(True)
            self._encode_arrow(column[:row], type)  # a bad value before it is the first
            raise BadValue(f"a missing value is no {noun(type)}", row)
        if type is Type.SYMBOL and (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
            encoded = _whole(column).dictionary_encode()
            ids = self.symbols.intern_all(encoded.dictionary.to_pylist())
            return np.ascontiguousarray(ids[encoded.indices.to_numpy()])
        codes = codes_of_arrow(column, type)
        if codes is not None:
            return codes
        try:
            values = column.to_pylist()
        except (ValueError, OverflowError, ImportError):
            raise BadValue(f"a value of Arrow's type {kind} is no {noun(type)}") from None
        return self._encode_sequence(values, type)


def _whole(column: Any) -> Any:
    """A column of texts in one piece: to unify the dictionaries of many pieces takes Arrow thirty times as long."""
    import pyarrow as pa

    if not isinstance(column, pa.ChunkedArray):
        return column
    return column.chunk(0) if column.num_chunks == 1 else column.cast(pa.large_string()).combine_chunks()


def class_of(value: object) -> object:
    return value.__class__
