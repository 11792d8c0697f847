"""Columns of NumPy and of Arrow: taken as their values would be, and refused as those are."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datalog.ir.core import Type
from datalog.store.values import BadValue, Values
from tests.unit.typed import ARROW, BOOL, DATE, DATETIME, FLOAT, MONEY, NAMES, NUMBER, SYMBOL, TYPED, TYPES, UNSIGNED, WHOLE, bits


@pytest.mark.parametrize(
    ("column", "type", "row", "message"),
    [
        (np.array([1, 2**63], np.uint64), NUMBER, 1, "9223372036854775808 is out of range"),
        (np.array([1, 2, -3]), UNSIGNED, 2, "-3 is out of range"),
        (np.array([1.0]), NUMBER, 0, "1.0 is no number"),
        (np.array([True]), NUMBER, 0, "True is no number"),
        (np.array([2**53 + 1]), FLOAT, 0, "has no exact float"),
        (pa.array([1, None]), NUMBER, 1, "a missing value is no number"),
        (pa.array([True]), UNSIGNED, 0, "True is no unsigned number"),
        (pa.array([1.5]), NUMBER, 0, "1.5 is no number"),
        (pa.array([7]), SYMBOL, 0, "7 is no symbol"),
        (np.array([1, 0]), BOOL, 0, "1 is no bool"),
        (np.array([1.5, 2.0]), MONEY, 0, "1.5 is a float"),
        (np.array([1, 10**17]), MONEY, 1, "100000000000000000 is out of range"),
        (np.array([10**17, 1], np.uint64), MONEY, 0, "100000000000000000 is out of range"),
        (np.array(["2024-05-01", "NaT"], "M8[D]"), DATE, 1, "a missing value is no date"),
        (np.array(["2024-05-01", "2024-05-01T01"], "M8[h]"), DATE, 1, "2024-05-01T01 is no whole day, and so no date"),
        (np.array(["2024-05-01", "2024-05-02T00:00:00.000000001"], "M8[ns]"), DATETIME, 1, "00.000000001 is finer than a microsecond"),
        (np.array(["9999-12-31", "10000-01-01"], "M8[s]"), DATETIME, 1, "10000-01-01T00:00:00 is out of range"),
        (np.array(["0000-12-31"], "M8[D]"), DATE, 0, "0000-12-31 is out of range: a date lies within the years 1 to 9999"),
        (np.array([2**62], "M8[D]"), DATE, 0, "is out of range: a date"),
        (np.array(["2024-05-01"], "M8[ns]"), NUMBER, 0, "is no number"),
        (pa.array([0, 2**31 - 1], pa.int32()).cast(pa.date32()), DATE, 1, "is out of range: a date"),
        (pa.array([0, 1], pa.int64()).cast(pa.timestamp("ns", tz="UTC")), DATETIME, 1, "is finer than a microsecond"),
        (pa.array([0], pa.int64()).cast(pa.timestamp("us", tz="Europe/Berlin")), DATE, 0, "1970-01-01T00:00:00.000000Z is no date"),
        (pa.array([date(2024, 5, 1)]), DATETIME, 0, "2024-05-01 is no datetime"),
        (pa.array([datetime(2024, 5, 1)]), NUMBER, 0, "2024-05-01T00:00:00.000000 is no number"),
        (pa.array([True, None]), BOOL, 1, "a missing value is no bool"),
        (pa.array([1, "x", None][::2]), BOOL, 0, "1 is no bool"),
        (pa.array([Decimal("1.00"), Decimal("1.125")]), MONEY, 1, "1.125 has 3 digits behind the point"),
        (pa.array([Decimal(10**30)]), WHOLE, 0, "is out of range"),
        (pa.array([1.5]), MONEY, 0, "1.5 is a float"),
        (pa.array([10**9], pa.time64("us")), DATETIME, 0, "is no datetime"),
    ],
)
def test_columns_refuse_what_values_refuse(column: object, type: Type, row: int, message: str) -> None:
    with pytest.raises(BadValue, match=message) as caught:
        Values().encode_column(column, type)
    assert caught.value.row == row


def test_numpy_and_arrow_columns_of_other_widths_are_taken() -> None:
    values = Values()
    assert values.encode_column(np.array([1, -2], np.int8), NUMBER).tolist() == [1, -2]
    assert values.encode_column(np.array([1, 2, 3, 4], np.int64)[::2], NUMBER).flags.c_contiguous
    assert values.decode_column(values.encode_column(np.array([1, 2], np.int16), UNSIGNED), UNSIGNED) == [1, 2]
    assert values.decode_column(values.encode_column(np.array([0.5], np.float32), FLOAT), FLOAT) == [0.5]
    assert values.decode_column(values.encode_column(np.array([1, 2]), FLOAT), FLOAT) == [1.0, 2.0]
    assert values.decode_column(values.encode_column([1, 2.5], FLOAT), FLOAT) == [1.0, 2.5]
    words = ["b", "a", "b"]
    expected = values.encode_column(words, SYMBOL).tolist()
    for column in (
        np.array(words),
        pa.array(words, pa.large_string()),
        pa.array(words).dictionary_encode(),
        pa.array(words, pa.string_view()),
    ):
        assert values.encode_column(column, SYMBOL).tolist() == expected


def test_numpy_times_of_all_units_are_taken() -> None:
    values = Values()
    for unit in ("D", "h", "m", "s", "ms", "us", "ns"):
        for type, expected in ((DATE, date(2024, 5, 1)), (DATETIME, datetime(2024, 5, 1, tzinfo=UTC))):
            column = np.array(["2024-05-01", "1970-01-01"], f"M8[{unit}]")
            for form in (column, column.astype(column.dtype.newbyteorder(">")), np.repeat(column, 2)[::2], list(column)):
                assert values.decode_column(values.encode_column(form, type), type)[0] == expected
            assert values.encode(column[0], type) == values.encode(expected, type)
    every_quarter = np.array([1, 2], "M8[15m]")
    assert values.decode_column(values.encode_column(every_quarter, DATETIME), DATETIME)[1] == datetime(1970, 1, 1, 0, 30, tzinfo=UTC)
    assert values.encode_column(np.array([0, 96], "M8[15m]"), DATE).tolist() == [0, 1]
    assert values.encode_column(np.array([0, 5 * 10**6], "M8[ps]"), DATETIME).tolist() == [0, 5]
    assert values.encode_column(np.array([], "M8[Y]"), DATE).tolist() == values.encode_column(np.array([], "m8[s]"), NUMBER).tolist() == []


def test_arrow_times_of_all_units_and_zones_are_taken() -> None:
    values = Values()
    noon = datetime(2024, 5, 1, 12, tzinfo=UTC)
    for unit in ("s", "ms", "us", "ns"):
        for zone in (None, "UTC", "America/New_York"):
            column = pa.array([noon if zone else noon.replace(tzinfo=None)], pa.timestamp(unit, zone))
            assert values.decode_column(values.encode_column(column, DATETIME), DATETIME) == [noon]
        midnight = pa.array([datetime(2024, 5, 1)], pa.timestamp(unit))
        assert values.decode_column(values.encode_column(midnight, DATE), DATE) == [date(2024, 5, 1)]
    for kind in (pa.date32(), pa.date64()):
        assert values.encode_column(pa.chunked_array([pa.array([date(1970, 1, 2)], kind)]), DATE).tolist() == [1]
        assert values.encode_column(pa.chunked_array([], kind), DATE).tolist() == []


def test_arrow_decimals_of_other_scales_are_taken_where_they_fit_exactly() -> None:
    values = Values()
    for column, codes in (
        (pa.array([Decimal("1.5"), Decimal("-2")], pa.decimal128(5, 1)), [150, -200]),
        (pa.array([Decimal("1.5000"), Decimal("-2")], pa.decimal128(38, 20)), [150, -200]),
        (pa.array([Decimal("1.5")], pa.decimal256(50, 5)), [150]),
        (pa.array([Decimal(100)], pa.decimal128(3, -2)), [10000]),
        (pa.array([7, -3]), [700, -300]),
        (pa.array([Decimal("0.01"), Decimal("0.02"), Decimal("0.03")])[1:], [2, 3]),
        (pa.chunked_array([[Decimal("0.01")], [Decimal("0.02")]]), [1, 2]),
        (pa.chunked_array([], pa.decimal128(5, 1)), []),
        (np.array([5, -5], np.int8), [500, -500]),
        (np.array([Decimal("0.5"), 1], object), [50, 100]),
        ([Decimal("0.5"), 1, Decimal("2e1"), Decimal("-0")], [50, 100, 2000, 0]),
    ):
        assert values.encode_column(column, MONEY).tolist() == codes


@given(rows=st.lists(st.tuples(*TYPED.values()), max_size=5))
def test_rows_go_to_arrow_and_come_back(rows: list[tuple[Any, ...]]) -> None:
    values = Values()
    codes = values.encode_rows(rows, TYPES)
    table = values.to_arrow(codes, NAMES, TYPES)
    table.validate(full=True)
    assert table.schema.types == [ARROW[type] for type in TYPES]
    decoded = [tuple(map(bits, row)) for row in values.decode_rows(codes, TYPES)]
    assert [tuple(map(bits, row.values())) for row in table.to_pylist()] == decoded
    for number, type in enumerate(TYPES):
        assert values.encode_column(table.column(number), type).tolist() == codes[:, number].tolist()
