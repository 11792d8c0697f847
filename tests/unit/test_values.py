"""Codes: equal iff the values are, ordered where that is promised, and nothing converted silently."""

from __future__ import annotations

import math
import struct
import subprocess
import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datalog.ir.core import Type
from datalog.store.interner import Interner
from datalog.store.values import BadValue, Values

NUMBER, UNSIGNED, FLOAT, SYMBOL = Type.NUMBER, Type.UNSIGNED, Type.FLOAT, Type.SYMBOL

numbers = st.integers(-(2**63), 2**63 - 1)
unsigneds = st.integers(0, 2**64 - 1)
floats = st.floats(allow_nan=True, allow_infinity=True)
texts = st.text(max_size=6)
TYPED: dict[Type, st.SearchStrategy[Any]] = {NUMBER: numbers, UNSIGNED: unsigneds, FLOAT: floats, SYMBOL: texts}


def bits(value: object) -> object:
    """Equality that tells -0.0 from 0.0 and takes all NaNs for one."""
    if isinstance(value, float):
        return "nan" if math.isnan(value) else struct.pack("d", value)
    return value


@pytest.mark.parametrize("type", list(Type.ALL))
@given(data=st.data())
def test_a_code_decodes_to_the_value_it_was_made_of(type: Type, data: st.DataObject) -> None:
    value = data.draw(TYPED[type])
    values = Values()
    decoded = values.decode(values.encode(value, type), type)
    assert bits(decoded) == bits(value + 0.0 if type is FLOAT else value)
    assert decoded.__class__ is value.__class__


@pytest.mark.parametrize("type", list(Type.ALL))
@given(data=st.data())
def test_a_column_has_the_codes_of_its_values(type: Type, data: st.DataObject) -> None:
    column = data.draw(st.lists(TYPED[type], max_size=8))
    values = Values()
    codes = values.encode_column(column, type)
    assert codes.dtype == np.int64
    assert codes.tolist() == [values.encode(value, type) for value in column]
    assert [bits(value) for value in values.decode_column(codes, type)] == [bits(values.decode(code, type)) for code in codes]
    arrow = pa.array(column, {NUMBER: pa.int64(), UNSIGNED: pa.uint64(), FLOAT: pa.float64(), SYMBOL: pa.string()}[type])
    assert values.encode_column(arrow, type).tolist() == codes.tolist()
    assert values.encode_column(pa.chunked_array([arrow, arrow]), type).tolist() == codes.tolist() * 2


@pytest.mark.parametrize("type", [NUMBER, UNSIGNED, FLOAT])
@given(data=st.data())
def test_codes_of_numbers_are_ordered_as_the_numbers_are(type: Type, data: st.DataObject) -> None:
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


@pytest.mark.parametrize(
    ("value", "type", "message"),
    [
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
    good = {NUMBER: 1, UNSIGNED: 1, FLOAT: 1.0, SYMBOL: "a"}[type]
    with pytest.raises(BadValue) as caught:
        Values().encode_column([good, good, value], type)
    assert (str(caught.value), caught.value.row) == (message, 2)


@pytest.mark.parametrize(("type", "message"), [(NUMBER, "is out of range: a number"), (FLOAT, "has no exact float")])
def test_an_integer_too_long_to_print_is_refused_all_the_same(type: Type, message: str) -> None:
    with pytest.raises(BadValue, match=f"an integer of more than 64 bits {message}"):
        Values().encode(10**5000, type)


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


@given(rows=st.lists(st.tuples(texts, numbers, floats.filter(lambda x: x == x), unsigneds)))
def test_rows_are_sorted_as_python_sorts_their_values(rows: list[tuple[str, int, float, int]]) -> None:
    values = Values()
    types = (SYMBOL, NUMBER, FLOAT, UNSIGNED)
    codes = values.sort_by_value(values.encode_rows(rows, types), types)
    assert codes.flags.c_contiguous
    assert values.decode_rows(codes, types) == sorted((text, number, real + 0.0, unsigned) for text, number, real, unsigned in rows)


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
