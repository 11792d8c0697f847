"""Codes: equal iff the values are, ordered where that is promised, and nothing converted silently."""

from __future__ import annotations

import math
import struct
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datalog.ir.core import Type
from datalog.store.interner import Interner
from datalog.store.values import BadValue, Values
from tests.unit.typed import (
    ARROW,
    BOOL,
    DATE,
    DATETIME,
    FINEST,
    FLOAT,
    MONEY,
    NAMES,
    NUMBER,
    SYMBOL,
    TYPED,
    TYPES,
    UNSIGNED,
    WHOLE,
    bits,
    texts,
)


@pytest.mark.parametrize("type", TYPES, ids=NAMES)
@given(data=st.data())
def test_a_code_decodes_to_the_value_it_was_made_of(type: Type, data: st.DataObject) -> None:
    value = data.draw(TYPED[type])
    values = Values()
    decoded = values.decode(values.encode(value, type), type)
    assert bits(decoded) == bits(value + 0.0 if type is FLOAT else value)
    assert decoded.__class__ is value.__class__


@pytest.mark.parametrize("type", TYPES, ids=NAMES)
@given(data=st.data())
def test_a_column_has_the_codes_of_its_values(type: Type, data: st.DataObject) -> None:
    column = data.draw(st.lists(TYPED[type], max_size=8))
    values = Values()
    codes = values.encode_column(column, type)
    assert codes.dtype == np.int64
    assert codes.tolist() == [values.encode(value, type) for value in column]
    assert [bits(value) for value in values.decode_column(codes, type)] == [bits(values.decode(code, type)) for code in codes]
    arrow = pa.array(column, ARROW[type])
    assert values.encode_column(arrow, type).tolist() == codes.tolist()
    assert values.encode_column(pa.chunked_array([arrow, arrow]), type).tolist() == codes.tolist() * 2


@pytest.mark.parametrize("type", [type for type in TYPES if type is not SYMBOL], ids=[name for name in NAMES if name != "symbol"])
@given(data=st.data())
def test_codes_of_all_but_symbols_are_ordered_as_the_values_are(type: Type, data: st.DataObject) -> None:
    left, right = data.draw(TYPED[type]), data.draw(TYPED[type])
    values = Values()
    code_left, code_right = values.encode(left, type), values.encode(right, type)
    if isinstance(left, float) and (math.isnan(left) or math.isnan(right)):
        assert (code_left < code_right) == (math.isnan(right) and not math.isnan(left))
    else:
        assert (code_left < code_right) == (left < right)
        assert (code_left == code_right) == (left == right)


def test_there_is_one_nan_and_it_is_the_greatest_float() -> None:
    values = Values()
    negative_nan = struct.unpack("d", struct.pack("Q", 0xFFF8000000000001))[0]
    codes = values.encode_column([math.nan, negative_nan, -math.nan], FLOAT)
    assert len(set(codes.tolist())) == 1
    assert codes[0] > values.encode(math.inf, FLOAT)


def test_minus_zero_is_zero() -> None:
    values = Values()
    assert values.encode(-0.0, FLOAT) == values.encode(0.0, FLOAT) == values.encode(0, FLOAT)
    assert math.copysign(1, float(values.decode(values.encode(-0.0, FLOAT), FLOAT))) == 1


GOOD: dict[Type, Any] = {NUMBER: 1, UNSIGNED: 1, FLOAT: 1.0, SYMBOL: "a", BOOL: True, DATE: date(2024, 5, 1), MONEY: Decimal("1.50")}
GOOD[DATETIME], GOOD[WHOLE], GOOD[FINEST] = datetime(2024, 5, 1), 1, 1
BEYOND = "out of range: a decimal(2) goes from -92233720368547758.08 to 92233720368547758.07"


@pytest.mark.parametrize(
    ("value", "type", "message"),
    [
        (1, BOOL, "1 is no bool"),
        ("true", BOOL, '"true" is no bool'),
        (np.int64(1), BOOL, "1 is no bool"),
        (np.bool_(True), NUMBER, "True is no number"),
        (True, MONEY, "True is no decimal(2)"),
        (Decimal(1), NUMBER, "1 is no number"),
        (Decimal("0.5"), FLOAT, "0.5 is no float"),
        (0.5, MONEY, "0.5 is a float, and no float is taken for a decimal; give a decimal.Decimal"),
        (
            Decimal("12.345"),
            MONEY,
            "12.345 has 3 digits behind the point, and a decimal(2) has 2: round it to 12.34, or declare decimal(3)",
        ),
        (
            Decimal("1e-30"),
            FINEST,
            "0.000000000000000000000000000001 has 30 digits behind the point, and a decimal(18) has 18: round it to 0." + "0" * 18,
        ),
        (Decimal("92233720368547758.08"), MONEY, f"92233720368547758.08 is {BEYOND}"),
        (10**17, MONEY, f"100000000000000000 is {BEYOND}"),
        (2**4000, MONEY, f"an integer of more than 64 bits is {BEYOND}"),
        (Decimal("1e999999"), MONEY, f"1E+999999 is {BEYOND}"),
        (Decimal("NaN"), MONEY, "NaN is no decimal"),
        ("1.50", MONEY, '"1.50" is no decimal(2)'),
        (datetime(2024, 5, 1), DATE, '"2024-05-01T00:00:00" is no date'),
        (date(2024, 5, 1), DATETIME, '"2024-05-01" is no datetime'),
        ("2024-05-01", DATE, '"2024-05-01" is no date'),
        (19844, DATE, "19844 is no date"),
        (np.datetime64("2024-05-01"), NUMBER, "2024-05-01 is no number"),
        (np.datetime64("2024-05-01T12:00:00.000000000"), NUMBER, "2024-05-01T12:00:00.000000000 is no number"),
        (np.datetime64("2024-05"), DATE, "2024-05 is no date"),
        (np.datetime64("NaT", "D"), DATE, "a missing value is no date"),
        (np.timedelta64(1, "D"), DATE, "1 days is no date"),
        (
            datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=1))),
            DATETIME,
            '"0001-01-01T00:00:00+01:00" is out of range: a datetime lies within the years 1 to 9999 in UTC',
        ),
        ("abc", NUMBER, '"abc" is no number'),
        (True, NUMBER, "True is no number"),
        (True, FLOAT, "True is no float"),
        (1.0, NUMBER, "1.0 is no number"),
        (np.float64(1.5), UNSIGNED, "1.5 is no unsigned number"),
        (None, SYMBOL, "a missing value is no symbol"),
        (5, SYMBOL, "5 is no symbol"),
        (b"x", SYMBOL, "b'x' is no symbol"),
        ("1", FLOAT, '"1" is no float'),
        (2**63, NUMBER, "9223372036854775808 is out of range: a number goes from -9223372036854775808 to 9223372036854775807"),
        (-1, UNSIGNED, "-1 is out of range: an unsigned number goes from 0 to 18446744073709551615"),
        (2**53 + 1, FLOAT, "9007199254740993 has no exact float; write it with a decimal point to have it rounded"),
        ("\ud800", SYMBOL, "'\\ud800' has half a surrogate pair at character 1, which is no text"),
        ("a\n" + "x" * 100, NUMBER, '"a\\n' + "x" * 57 + '…" is no number'),
    ],
)
def test_a_value_that_its_type_does_not_admit_is_named(value: object, type: Type, message: str) -> None:
    with pytest.raises(BadValue) as caught:
        Values().encode(value, type)
    assert str(caught.value) == message
    good = GOOD[type]
    with pytest.raises(BadValue) as caught:
        Values().encode_column([good, good, value], type)
    assert (str(caught.value), caught.value.row) == (message, 2)


@pytest.mark.parametrize(("type", "message"), [(NUMBER, "is out of range: a number"), (FLOAT, "has no exact float")])
def test_an_integer_too_long_to_print_is_refused_all_the_same(type: Type, message: str) -> None:
    with pytest.raises(BadValue, match=f"an integer of more than 64 bits {message}"):
        Values().encode(10**5000, type)


def test_python_values_are_brought_to_their_one_form() -> None:
    values = Values()

    def there_and_back(value: object, type: Type) -> object:
        return values.decode(values.encode(value, type), type)

    assert there_and_back(datetime(2024, 5, 1, 12), DATETIME) == datetime(2024, 5, 1, 12, tzinfo=UTC)
    berlin = timezone(timedelta(hours=2))
    assert there_and_back(datetime(2024, 5, 1, 12, tzinfo=berlin), DATETIME) == datetime(2024, 5, 1, 10, tzinfo=UTC)
    assert str(there_and_back(Decimal("-0"), MONEY)) == "0.00"
    assert str(there_and_back(Decimal("1.5000"), MONEY)) == "1.50"
    with localcontext(prec=2):
        assert str(there_and_back(Decimal("12345678901234567.89"), MONEY)) == "12345678901234567.89"


def test_pandas_times_keep_their_nanoseconds_from_getting_lost() -> None:
    class Timestamp(datetime):
        """As pandas' is: a datetime with three digits more."""

        nanosecond = 5

    with pytest.raises(BadValue, match="is finer than a microsecond"):
        Values().encode(Timestamp(2024, 5, 1), DATETIME)


def test_rows_come_back_as_they_went_in() -> None:
    values = Values()
    types = (NUMBER, SYMBOL, FLOAT, UNSIGNED)
    rows = [(1, "b", 0.5, 2**64 - 1), (-1, "", math.inf, 0)]
    codes = values.encode_rows(iter(rows), types)
    assert codes.shape == (2, 4)
    assert codes.flags.c_contiguous
    assert values.decode_rows(codes, types) == rows
    assert values.encode_rows([], types).shape == (0, 4)
    assert values.decode_rows(values.encode_rows([], types), types) == []


@given(rows=st.lists(st.tuples(texts, *(TYPED[type] for type in TYPES if type is not SYMBOL)).filter(lambda row: row[3] == row[3])))
def test_rows_are_sorted_as_python_sorts_their_values(rows: list[tuple[Any, ...]]) -> None:
    values = Values()
    types = (SYMBOL, *(type for type in TYPES if type is not SYMBOL))
    codes = values.sort_by_value(values.encode_rows(rows, types), types)
    assert codes.flags.c_contiguous
    assert values.decode_rows(codes, types) == sorted(rows)


def test_an_arrow_table_has_the_columns_types() -> None:
    values = Values()
    types = (NUMBER, UNSIGNED, FLOAT, SYMBOL)
    rows = [(1, 2**64 - 1, 0.5, "é"), (2, 0, -0.5, "é"), (3, 7, 0.0, "")]
    table = values.to_arrow(values.encode_rows(rows, types), "abcd", types)
    assert table.schema.types == [pa.int64(), pa.uint64(), pa.float64(), pa.string()]
    assert [tuple(row.values()) for row in table.to_pylist()] == rows
    assert values.to_arrow(values.encode_rows([], types), "abcd", types).num_rows == 0


@given(batches=st.lists(st.lists(texts, max_size=12), max_size=12))
def test_labels_are_ordered_as_the_texts_are_after_every_batch(batches: list[list[str]]) -> None:
    symbols = Interner()
    kept: list[tuple[np.ndarray, list[int]]] = []
    for batch in batches:
        symbols.intern_all(batch)
        labels = symbols.labels()
        assert len(labels) == len(symbols)
        known = symbols.texts(range(len(symbols)))
        assert [known[at] for at in np.argsort(labels)] == sorted(known)
        assert len(set(labels.tolist())) == len(symbols)
        kept.append((labels, labels.tolist()))
    assert all(labels.tolist() == then for labels, then in kept), "labels that were handed out have changed"


@pytest.mark.parametrize("name", ["{:06d}", "m{:06d}", "{:06d}m"])
@pytest.mark.parametrize("step", [1, -1])
def test_labels_survive_long_runs_of_neighbours(name: str, step: int) -> None:
    symbols = Interner()
    symbols.intern_all(["a", "z", "m"])
    symbols.labels()
    for number in range(1000)[::step]:
        symbols.intern(name.format(number))
        symbols.labels()
    known = symbols.texts(range(len(symbols)))
    assert [known[at] for at in np.argsort(symbols.labels())] == sorted(known)


def test_labels_cannot_be_written() -> None:
    symbols = Interner()
    symbols.intern("a")
    with pytest.raises(ValueError, match="read-only"):
        symbols.labels()[0] = 1


def test_values_do_not_import_pyarrow_or_numba() -> None:
    code = "import sys, datalog.store.values, datalog.io.facts, datalog.io.stream; print(sorted({'pyarrow', 'numba'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
