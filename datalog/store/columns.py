"""Columns of values to codes and back, without a Python step a value where NumPy or Arrow can do without.

Everything but symbols: those need the database's interner. The functions that take columns give None where a column has to be
looked at value by value, because of its form or because a value in it may be bad; they never let a bad value pass.

NumPy's datetime64 has one type for days and times, and pandas keeps days as times: such a column, also as Arrow's timestamp
without a zone, is taken for dates where every value is a whole day, and for datetimes where every value is a whole microsecond.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from datalog.ir.core import PyValue, Type
from datalog.ir.spelling import decimal_of, unscaled
from datalog.store.canonical import GREATEST, LEAST, BadValue, noun
from datalog.store.interner import Codes

LOWER_BITS = np.int64(GREATEST)
SIGN_BIT = np.int64(LEAST)
QUIET_NAN = np.array(np.nan).view(np.int64) & LOWER_BITS
FIRST_DAY = date(1970, 1, 1).toordinal()
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
DAY = 86_400_000_000  # microseconds
DAYS = 1 - FIRST_DAY, date.max.toordinal() - FIRST_DAY  # codes of the first and the last date
TICKS = {  # how many microseconds each of NumPy's units is
    "D": Fraction(DAY),
    "h": Fraction(3_600_000_000),
    "m": Fraction(60_000_000),
    "s": Fraction(1_000_000),
    "ms": Fraction(1000),
    "us": Fraction(1),
    "ns": Fraction(1, 1000),
    "ps": Fraction(1, 10**6),
    "fs": Fraction(1, 10**9),
    "as": Fraction(1, 10**12),
}
DECIMAL_DIGITS = 19  # of the greatest 64-bit integer


def code_of(value: PyValue, type: Type) -> int:
    """The code of a canonical value that is no symbol."""
    if type.scale >= 0:
        assert isinstance(value, Decimal)
        return unscaled(value, type.scale)
    if isinstance(value, datetime):
        return (value - EPOCH) // MICROSECOND
    if isinstance(value, date):
        return value.toordinal() - FIRST_DAY
    if isinstance(value, float):
        return int(float_codes(np.array([value], np.float64))[0])
    assert isinstance(value, int)
    return value + LEAST if type is Type.UNSIGNED else int(value)


def codes_of_sequence(column: list[Any], type: Type, classes: set[object]) -> Codes | None:
    """The codes of Python values, `classes` being all that they have."""
    if type is Type.FLOAT and classes <= {float}:
        return float_codes(np.array(column, np.float64))
    if type is Type.BOOL and classes <= {bool}:
        return np.array(column, np.int64)
    if type is Type.DATE and classes <= {date}:
        return np.fromiter(map(date.toordinal, column), np.int64, len(column)) - FIRST_DAY
    if type is Type.DATETIME and classes <= {datetime} and {time.tzinfo for time in column} <= {UTC, None}:
        return np.array([time.replace(tzinfo=None) for time in column], "datetime64[us]").view(np.int64)
    if type.scale >= 0 and classes <= {Decimal}:
        try:
            return np.fromiter((unscaled(value, type.scale) for value in column), np.int64, len(column))
        except ValueError:
            return None
    if classes <= {int} and (type in (Type.NUMBER, Type.UNSIGNED) or type.scale >= 0):
        try:
            return codes_of_array(np.array(column, np.uint64 if type is Type.UNSIGNED else np.int64), type)
        except OverflowError:
            return None
    return None


def codes_of_array(column: np.ndarray[Any, Any], type: Type) -> Codes | None:
    """The codes of a NumPy array. BadValue for a datetime64 that the type does not admit."""
    kind = column.dtype.kind
    if kind in "mM":
        return codes_of_ticks(column, type)
    if type is Type.BOOL:
        return column.astype(np.int64) if kind == "b" else None
    if type is Type.FLOAT:
        return float_codes(column.astype(np.float64)) if kind == "f" and column.dtype.itemsize <= 8 else None
    if kind not in "iu":
        return None
    if type is Type.UNSIGNED:
        if kind == "i" and len(column) and int(column.min()) < 0:
            return None
        return np.ascontiguousarray(column.astype(np.uint64).view(np.int64) ^ SIGN_BIT)
    if type is Type.NUMBER or type.scale >= 0:
        return times(column, 10 ** max(0, type.scale))
    return None


def times(column: np.ndarray[Any, Any], factor: int) -> Codes | None:
    """Integers times `factor`; None where a product leaves 64 bits."""
    if len(column) and (int(column.max()) > GREATEST // factor or int(column.min()) < -(-LEAST // factor)):
        return None
    whole = np.ascontiguousarray(column, np.int64)
    return whole if factor == 1 else whole * np.int64(factor)


def codes_of_ticks(column: np.ndarray[Any, Any], type: Type) -> Codes:
    """The codes of a datetime64 array. BadValue names the first that is missing, out of range, or no whole day or microsecond."""
    unit, count = np.datetime_data(column.dtype)
    if column.dtype.kind == "m" or type not in (Type.DATE, Type.DATETIME) or unit not in TICKS:
        if not len(column):
            return np.empty(0, np.int64)
        raise BadValue(f"{column[0]} is no {noun(type)}")
    ticks = column.astype(column.dtype.newbyteorder("="), "C").view(np.int64)
    days = type is Type.DATE
    low, high = DAYS if days else (DAYS[0] * DAY, (DAYS[1] + 1) * DAY - 1)
    size = TICKS[unit] * count / (DAY if days else 1)
    scaled, rest = np.divmod(ticks, size.denominator)
    outside = (scaled < -(-low // size.numerator)) | (scaled > high // size.numerator)
    missing = np.isnat(column)
    bad = missing | outside | (rest != 0)
    if bad.any():
        row = int(np.argmax(bad))
        if missing[row]:
            raise BadValue(f"a missing value is no {noun(type)}", row)
        if outside[row]:
            raise BadValue(f"{column[row]} is out of range: a {noun(type)} lies within the years 1 to 9999", row)
        finer = "is no whole day, and so no date" if days else "is finer than a microsecond; a datetime has 6 digits behind the point"
        raise BadValue(f"{column[row]} {finer}", row)
    return scaled * np.int64(size.numerator)


def codes_of_arrow(column: Any, type: Type) -> Codes | None:
    """The codes of an Arrow array, chunked or not, that has no missing value. BadValue for times that the type does not admit."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_boolean(kind):
        return codes_of_array(column.to_numpy(zero_copy_only=False) if isinstance(column, pa.Array) else column.to_numpy(), type)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return codes_of_array(column.to_numpy(), type)
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return codes_of_arrow_times(column, type)
    if pa.types.is_decimal128(kind) and type.scale >= kind.scale >= 0:
        chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
        halves = np.concatenate([words(chunk) for chunk in chunks]) if chunks else np.empty((0, 2), np.int64)
        low, high = halves[:, 0], halves[:, 1]
        return times(low, 10 ** (type.scale - kind.scale)) if np.array_equal(high, low >> 63) else None
    return None


def words(chunk: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The 128-bit integers of a decimal array as int64[n, 2], the lower halves first."""
    if not len(chunk):
        return np.empty((0, 2), np.int64)
    return np.frombuffer(chunk.buffers()[1], np.int64, 2 * len(chunk), 16 * chunk.offset).reshape(-1, 2)


def codes_of_arrow_times(column: Any, type: Type) -> Codes:
    import pyarrow as pa

    kind = column.type
    unit = "D" if pa.types.is_date32(kind) else "ms" if pa.types.is_date64(kind) else kind.unit
    if pa.types.is_date32(kind):
        column = column.cast(pa.int32())
    ticks = column.cast(pa.int64()).to_numpy().view(f"datetime64[{unit}]")
    other = Type.DATETIME if pa.types.is_date(kind) else Type.DATE if kind.tz is not None else None
    if type is other and len(ticks):
        raise BadValue(f"{ticks[0]}{'Z' if type is Type.DATE else ''} is no {noun(type)}")
    return codes_of_ticks(ticks, type)


def values_of(codes: Codes, type: Type) -> list[Any]:
    """The Python values of codes that are of no symbols."""
    if type is Type.NUMBER:
        return list(codes.tolist())
    if type is Type.UNSIGNED:
        return list((codes ^ SIGN_BIT).view(np.uint64).tolist())
    if type is Type.FLOAT:
        return list(floats_of(codes).tolist())
    if type is Type.BOOL:
        return list((codes != 0).tolist())
    if type is Type.DATE:
        return list(codes.view("datetime64[D]").tolist())
    if type is Type.DATETIME:
        return [time.replace(tzinfo=UTC) for time in codes.view("datetime64[us]").tolist()]
    return [decimal_of(code, type.scale) for code in codes.tolist()]


def arrow_of(codes: Codes, type: Type) -> Any:
    """An Arrow array of codes that are of no symbols: int64, uint64, double, bool, date32, timestamp, decimal128."""
    import pyarrow as pa

    if type is Type.NUMBER:
        return pa.array(codes)
    if type is Type.UNSIGNED:
        return pa.array((codes ^ SIGN_BIT).view(np.uint64))
    if type is Type.FLOAT:
        return pa.array(floats_of(codes))
    if type is Type.BOOL:
        return pa.array(codes != 0)
    if type is Type.DATE:
        return pa.array(codes.view("datetime64[D]"))
    if type is Type.DATETIME:
        return pa.array(codes).cast(pa.timestamp("us", tz="UTC"))
    halves = np.stack((codes, codes >> 63), axis=1)
    return pa.Array.from_buffers(pa.decimal128(DECIMAL_DIGITS, type.scale), len(codes), [None, pa.py_buffer(halves)])


def float_codes(values: np.ndarray[Any, np.dtype[np.float64]]) -> Codes:
    """float64[n] as codes; -0.0 becomes 0.0 and every NaN the one NaN."""
    bits = (values + 0.0).view(np.int64)
    bits = np.where(values != values, QUIET_NAN, bits)
    return np.where(bits < 0, bits ^ LOWER_BITS, bits)


def floats_of(codes: Codes) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.where(codes < 0, codes ^ LOWER_BITS, codes).view(np.float64)
