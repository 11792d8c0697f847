"""Values and their codes: every value is one int64, and two codes of one type are equal iff the values are.

number is itself. unsigned is shifted by 2^63 and float is its bits with the lower 63 flipped where the sign is set, so
that codes of these three are ordered as their values are. Floats have one NaN, which is equal to itself and greater than
everything, and one zero. A symbol is its id in the database's interner; ids are not ordered (see `Interner.labels`).

Nothing is converted silently: a bool or a float is no number, and an int is a float only where it is one exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

import numpy as np

from datalog.ir.core import PyValue, Row, Type
from datalog.store.interner import Codes, Interner, order_of

LEAST, GREATEST = -(2**63), 2**63 - 1
GREATEST_UNSIGNED = 2**64 - 1
LOWER_BITS = np.int64(GREATEST)
SIGN_BIT = np.int64(LEAST)
QUIET_NAN = np.array(math.nan).view(np.int64) & LOWER_BITS
SHOWN = 60  # a longer value is shortened in messages


class BadValue(ValueError):
    """A value that its type does not admit; `row` is its place in the column that was encoded (0 for a single value)."""

    def __init__(self, message: str, row: int = 0) -> None:
        super().__init__(message)
        self.row = row


def shown(value: object) -> str:
    """A value as messages quote it: strings in double quotes, long ones shortened."""
    if isinstance(value, str):
        text = value if len(value) <= SHOWN else value[: SHOWN - 1] + "…"
        escaped = text.translate({0x22: '\\"', 0x5C: "\\\\", 0x0A: "\\n", 0x0D: "\\r", 0x09: "\\t"})
        return f'"{escaped}"' if escaped.isprintable() else f'"{ascii(escaped)[1:-1]}"'
    if value is None:
        return "a missing value"
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, int) and value.bit_length() > 8 * SHOWN:
        return "an integer of more than 64 bits"  # Python refuses to print the longest ones
    text = repr(value)
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


def noun(type: Type) -> str:
    """What messages call a value of `type`."""
    return {Type.NUMBER: "number", Type.UNSIGNED: "unsigned number", Type.FLOAT: "float", Type.SYMBOL: "symbol"}[type]


def canonical(value: object, type: Type) -> PyValue:
    """`value` in Python's form of `type`, with one NaN and one zero. BadValue if the type does not admit it."""
    if isinstance(value, np.generic):
        value = value.item()
    if type is Type.SYMBOL:
        if isinstance(value, str):
            return value if value.__class__ is str else str(value)
    elif isinstance(value, bool):
        pass
    elif type is Type.FLOAT:
        if isinstance(value, float):
            return math.nan if value != value else value + 0.0
        if isinstance(value, int):
            return exact_float(value)
    elif isinstance(value, int):
        low, high = (LEAST, GREATEST) if type is Type.NUMBER else (0, GREATEST_UNSIGNED)
        if not low <= value <= high:
            raise BadValue(out_of_range(value, type))
        return value if value.__class__ is int else int(value)
    raise BadValue(f"{shown(value)} is no {noun(type)}")


def exact_float(value: int) -> float:
    try:
        converted = float(value)
    except OverflowError:
        converted = math.inf
    if converted != value:
        raise BadValue(f"{shown(value)} has no exact float; write it with a decimal point to have it rounded")
    return converted


def out_of_range(value: int, type: Type) -> str:
    """The message for an integer that the 64 bits of `type` do not hold."""
    bounds = f"{LEAST} to {GREATEST}" if type is Type.NUMBER else f"0 to {GREATEST_UNSIGNED}"
    return f"{shown(value)} is out of range: {'a' if type is Type.NUMBER else 'an'} {noun(type)} goes from {bounds}"


class Values:
    """The codes of one database."""

    __slots__ = ("symbols",)

    def __init__(self) -> None:
        self.symbols = Interner()

    def encode(self, value: object, type: Type) -> int:
        """The code of one value. BadValue if `type` does not admit it."""
        known = canonical(value, type)
        if type is Type.SYMBOL:
            assert isinstance(known, str)
            return self._intern(known, 0)
        if type is Type.FLOAT:
            return int(float_codes(np.array([known], np.float64))[0])
        assert isinstance(known, int)
        return known if type is Type.NUMBER else known + LEAST

    def decode(self, code: int, type: Type) -> PyValue:
        if type is Type.NUMBER:
            return int(code)
        if type is Type.UNSIGNED:
            return int(code) - LEAST
        if type is Type.SYMBOL:
            return self.symbols.text(int(code))
        return float(floats_of(np.array([code], np.int64))[0])

    def encode_column(self, column: Any, type: Type) -> Codes:
        """The codes of a column: any sequence of Python values, a numpy array, or an Arrow array (chunked or not).

        O(n), without a Python step a value for numbers, floats and Arrow strings. BadValue names the first bad row.
        """
        if isinstance(column, np.ndarray):
            if column.dtype.kind not in "iuf":
                column = column.tolist()
        elif hasattr(column, "dictionary_encode"):
            return self._encode_arrow(column, type)
        if not isinstance(column, np.ndarray):
            return self._encode_sequence(list(column), type)
        if type is Type.NUMBER and column.dtype.kind in "iu":
            if column.dtype.kind == "u" and len(column) and int(column.max()) > GREATEST:
                reject(column.tolist(), type)
            return np.ascontiguousarray(column, np.int64)
        if type is Type.UNSIGNED and column.dtype.kind in "iu":
            if column.dtype.kind == "i" and len(column) and int(column.min()) < 0:
                reject(column.tolist(), type)
            return np.ascontiguousarray(column.astype(np.uint64).view(np.int64) ^ SIGN_BIT)
        if type is Type.FLOAT and column.dtype.kind == "f" and column.dtype.itemsize <= 8:
            return float_codes(column.astype(np.float64))
        return self._encode_sequence(column.tolist(), type)

    def decode_column(self, codes: Codes, type: Type) -> list[Any]:
        """The Python values of a column of codes."""
        codes = np.ascontiguousarray(codes, np.int64)
        if type is Type.SYMBOL:
            return self.symbols.texts(codes.tolist())
        if type is Type.UNSIGNED:
            return list((codes ^ SIGN_BIT).view(np.uint64).tolist())
        return list((floats_of(codes) if type is Type.FLOAT else codes).tolist())

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

    def decode_rows(self, codes: Codes, types: Sequence[Type]) -> list[Row]:
        """int64[n, k] as tuples of Python values, in the same order."""
        return list(zip(*(self.decode_column(codes[:, number], type) for number, type in enumerate(types)), strict=True))

    def sort_by_value(self, codes: Codes, types: Sequence[Type]) -> Codes:
        """The rows of int64[n, k] in the order of their values, the first column most significant. O(n log n)."""
        if len(codes) < 2 or not types:  # a nullary predicate has at most one row
            return np.ascontiguousarray(codes)
        keys = [self._ranks(codes[:, number]) if type is Type.SYMBOL else codes[:, number] for number, type in enumerate(types)]
        return np.ascontiguousarray(codes[np.lexsort(keys[::-1])])

    def to_arrow(self, codes: Codes, names: Sequence[str], types: Sequence[Type]) -> Any:
        """A pyarrow.Table with int64, uint64, double and string columns."""
        import pyarrow as pa

        columns = []
        for number, type in enumerate(types):
            column = np.ascontiguousarray(codes[:, number])
            if type is Type.NUMBER:
                columns.append(pa.array(column))
            elif type is Type.UNSIGNED:
                columns.append(pa.array((column ^ SIGN_BIT).view(np.uint64)))
            elif type is Type.FLOAT:
                columns.append(pa.array(floats_of(column)))
            else:
                distinct, places = np.unique(column, return_inverse=True)
                texts = pa.array(self.symbols.texts(distinct.tolist()), pa.string())
                columns.append(texts.take(pa.array(places)))
        return pa.Table.from_arrays(columns, names=list(names))

    def _ranks(self, column: Codes) -> Codes:
        distinct, places = np.unique(column, return_inverse=True)
        return order_of(self.symbols.texts(distinct.tolist()))[places]

    def _intern(self, text: str, row: int) -> int:
        try:
            return self.symbols.intern(text)
        except ValueError as error:
            raise BadValue(str(error), row) from None

    def _encode_sequence(self, column: list[Any], type: Type) -> Codes:
        kinds = set(map(class_of, column))
        if type is Type.SYMBOL and kinds <= {str}:
            try:
                return self.symbols.intern_all(column)
            except ValueError:
                return np.array([self._intern(text, row) for row, text in enumerate(column)], np.int64)
        if type is Type.FLOAT and kinds <= {float}:
            return float_codes(np.array(column, np.float64))
        if type in (Type.NUMBER, Type.UNSIGNED) and kinds <= {int}:
            try:
                return self.encode_column(np.array(column, np.int64 if type is Type.NUMBER else np.uint64), type)
            except OverflowError:
                reject(column, type)
        codes = np.empty(len(column), np.int64)
        for row, value in enumerate(column):
            try:
                codes[row] = self.encode(value, type)
            except BadValue as error:
                raise BadValue(str(error), row) from None
        return codes

    def _encode_arrow(self, column: Any, type: Type) -> Codes:
        import pyarrow as pa

        if column.null_count:
            reject(column.to_pylist(), type)
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        kind = column.type
        if type is Type.SYMBOL and (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
            encoded = column.dictionary_encode()
            chunks = encoded.unify_dictionaries().chunks if isinstance(encoded, pa.ChunkedArray) else [encoded]
            if not chunks:
                return np.empty(0, np.int64)
            ids = self.symbols.intern_all(chunks[0].dictionary.to_numpy(zero_copy_only=False).tolist())
            return np.concatenate([ids[chunk.indices.to_numpy()] for chunk in chunks])
        if pa.types.is_integer(kind) or pa.types.is_floating(kind):
            return self.encode_column(column.to_numpy(), type)
        return self._encode_sequence(column.to_pylist(), type)


def class_of(value: object) -> object:
    return value.__class__


def float_codes(values: np.ndarray[Any, np.dtype[np.float64]]) -> Codes:
    """float64[n] as codes; -0.0 becomes 0.0 and every NaN the one NaN."""
    bits = (values + 0.0).view(np.int64)
    bits = np.where(values != values, QUIET_NAN, bits)
    return np.where(bits < 0, bits ^ LOWER_BITS, bits)


def floats_of(codes: Codes) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.where(codes < 0, codes ^ LOWER_BITS, codes).view(np.float64)


def reject(column: Sequence[object], type: Type) -> NoReturn:
    """Find the first value that `type` does not admit, and raise BadValue for it."""
    for row, value in enumerate(column):
        try:
            canonical(value, type)
        except BadValue as error:
            raise BadValue(str(error), row) from None
    raise AssertionError("the column has no bad value")
