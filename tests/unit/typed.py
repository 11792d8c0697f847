"""Types for tests, and values of each: of the decimals the ends and the usual one."""

from __future__ import annotations

import math
import struct
from datetime import UTC
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from datalog.ir.core import Type
from datalog.ir.spelling import decimal_of

NUMBER, UNSIGNED, FLOAT, SYMBOL, BOOL, DATE, DATETIME = Type.ALL[:7]
WHOLE, MONEY, FINEST = Type.DECIMALS[0], Type.DECIMALS[2], Type.DECIMALS[18]

numbers = st.integers(-(2**63), 2**63 - 1)
unsigneds = st.integers(0, 2**64 - 1)
floats = st.floats(allow_nan=True, allow_infinity=True)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)


def decimals(scale: int) -> st.SearchStrategy[Any]:
    return st.builds(decimal_of, st.integers(-300, 300) | numbers, st.just(scale))


TYPED: dict[Type, st.SearchStrategy[Any]] = {
    NUMBER: numbers,
    UNSIGNED: unsigneds,
    FLOAT: floats,
    SYMBOL: texts,
    BOOL: st.booleans(),
    DATE: st.dates(),
    DATETIME: st.datetimes(timezones=st.just(UTC)),
    WHOLE: decimals(0),
    MONEY: decimals(2),
    FINEST: decimals(18),
}
TYPES = list(TYPED)
NAMES = [type.value for type in TYPES]

ARROW = {
    NUMBER: pa.int64(),
    UNSIGNED: pa.uint64(),
    FLOAT: pa.float64(),
    SYMBOL: pa.string(),
    BOOL: pa.bool_(),
    DATE: pa.date32(),
    DATETIME: pa.timestamp("us", tz="UTC"),
    WHOLE: pa.decimal128(19, 0),
    MONEY: pa.decimal128(19, 2),
    FINEST: pa.decimal128(19, 18),
}


def bits(value: object) -> object:
    """Equality that tells -0.0 from 0.0 and takes all NaNs for one."""
    if isinstance(value, float):
        return "nan" if math.isnan(value) else struct.pack("d", value)
    return value
