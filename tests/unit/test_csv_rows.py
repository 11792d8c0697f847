"""Rows handed over by Python code: tuples, scalars, arrays, tables; and errors that name row, column and predicate."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from datalog.errors import DataError
from datalog.io.rows import rows_from, rows_of
from datalog.ir.core import Predicate, Type
from datalog.store.values import Row, Values

EDGE = Predicate("edge", ("x", "y"), (Type.NUMBER, Type.NUMBER), False)
PERSON = Predicate("person", ("name", "age"), (Type.SYMBOL, Type.UNSIGNED), False)
WORD = Predicate("word", ("text",), (Type.SYMBOL,), False)
SALE = Predicate("sale", ("paid", "day", "at", "total"), (Type.BOOL, Type.DATE, Type.DATETIME, Type.DECIMALS[2]), False)
FLAG = Predicate("flag", (), (), False)


class Frame:
    """Speaks Arrow's stream protocol and nothing else, as DataFrames do."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


def taken(source: object, predicate: Predicate) -> list[Row]:
    values = Values()
    codes = rows_from(source, predicate, values)
    assert codes.dtype == np.int64
    assert codes.flags.c_contiguous
    assert codes.shape[1] == max(1, len(predicate.attributes))
    return rows_of(codes, predicate, values)


def test_rows_may_be_tuples_lists_and_arrays() -> None:
    expected = [(1, 2), (3, 4)]
    assert taken(expected, EDGE) == taken(iter(expected), EDGE) == taken([[1, 2], (3, 4)], EDGE) == expected
    assert taken(np.array(expected), EDGE) == taken(np.array(expected, np.uint8), EDGE) == taken(list(np.array(expected)), EDGE) == expected
    assert sorted(taken({(1, 2), (3, 4)}, EDGE)) == expected
    assert taken([], EDGE) == taken([], WORD) == taken([], FLAG) == []


def test_a_predicate_of_one_column_takes_values_alone() -> None:
    assert taken(["a", "bc"], WORD) == taken([("a",), ("bc",)], WORD) == taken([("a",), "bc"], WORD) == [("a",), ("bc",)]
    assert taken((word for word in "ab"), WORD) == taken(pa.chunked_array([["a"], ["b"]]), WORD) == [("a",), ("b",)]


def test_a_nullary_predicate_takes_empty_tuples() -> None:
    assert taken([()], FLAG) == [()]


def test_tables_are_taken_by_column_position() -> None:
    table = pa.table({"q": ["Ann", "Bob"], "p": pa.array([41, 2**64 - 1], pa.uint64())})
    expected = [("Ann", 41), ("Bob", 2**64 - 1)]
    assert taken(table, PERSON) == taken(Frame(table), PERSON) == expected
    assert taken(Frame(table.slice(0, 0)), PERSON) == []
    assert taken(pa.table({"q": pa.array(["Ann", "Bob"]).dictionary_encode(), "p": pa.chunked_array([[41], [7]])}), PERSON) == [
        ("Ann", 41),
        ("Bob", 7),
    ]


def test_bools_dates_datetimes_and_decimals_are_taken_from_rows_and_tables() -> None:
    noon = datetime(2024, 5, 1, 12, tzinfo=UTC)
    expected = [(True, date(2024, 5, 1), noon, Decimal("12.50")), (False, date(1, 1, 1), noon, Decimal("-3.00"))]
    assert (
        taken(expected, SALE)
        == taken([(True, date(2024, 5, 1), noon.replace(tzinfo=None), Decimal("12.5")), expected[1]], SALE)
        == expected
    )
    assert taken([(*expected[1][:3], -3)], SALE) == expected[1:]
    columns = dict(zip(SALE.attributes, zip(*expected, strict=True), strict=True))
    assert taken(pa.table({name: list(column) for name, column in columns.items()}), SALE) == expected
    assert taken(np.array(expected, object), SALE) == expected


@pytest.mark.parametrize(
    ("source", "predicate", "message"),
    [
        (
            [(1, date(2024, 5, 1), datetime(2024, 5, 1), 1)],
            SALE,
            "row 1: 1 is no bool (column paid of sale)",
        ),
        (
            [(True, date(2024, 5, 1), datetime(2024, 5, 1), 0.5)],
            SALE,
            "row 1: 0.5 is a float, and no float is taken for a decimal; give a decimal.Decimal (column total of sale)",
        ),
        (
            pa.table({"a": [True], "b": pa.array([None], pa.date32()), "c": [datetime(2024, 5, 1)], "d": [1]}),
            SALE,
            "row 1: a missing value is no date (column day of sale)",
        ),
        ([(1, 2), (1, "a")], EDGE, 'row 2: "a" is no number (column y of edge)'),
        ([(1, 2), (1, 2, 3)], EDGE, "row 2 has 3 values where edge has 2 columns (x, y)"),
        ([(1, 2), 5], EDGE, "row 2: 5 is no tuple"),
        (["ab"], EDGE, 'row 1: "ab" is no tuple'),
        ([(1, 2), {"x": 1, "z": 2}], EDGE, "row 2: z is no column of edge(x, y)"),
        ([(1, True)], EDGE, "row 1: True is no number (column y of edge)"),
        ([("Ann", -1)], PERSON, "row 1: -1 is out of range: an unsigned number goes from 0 to 18446744073709551615 (column age of person)"),
        (np.array([[1.5, 2.0]]), EDGE, "row 1: 1.5 is no number (column x of edge)"),
        (np.array([[1, 2, 3]]), EDGE, "3 columns for edge, which has 2 columns (x, y)"),
        (pa.table({"a": [1]}), EDGE, "1 column for edge, which has 2 columns (x, y)"),
        (Frame(pa.table({"a": ["x", None], "b": [1, 2]})), PERSON, "row 2: a missing value is no symbol (column name of person)"),
        ("ab", WORD, '"ab" is no collection of rows'),
        ({"a": 1}, WORD, "{'a': 1} is no collection of rows"),
        (5, EDGE, "5 is no collection of rows"),
        ([(1,)], FLAG, "row 1 has 1 value where flag has no columns"),
    ],
)
def test_errors_name_row_column_and_predicate(source: object, predicate: Predicate, message: str) -> None:
    with pytest.raises(DataError) as caught:
        taken(source, predicate)
    assert caught.value.message == message
    assert caught.value.file == f"<rows of {predicate.name}>"
