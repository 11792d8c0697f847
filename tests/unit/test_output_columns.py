"""Large relations are written by column: the text is that of writing them row by row, and rows are sorted by value."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from io import StringIO
from pathlib import Path

import numpy as np
import pytest

from datalog.errors import UnreadableText
from datalog.io import output
from datalog.io.layout import Layout
from datalog.ir.core import Predicate, Type
from datalog.store import ordering
from datalog.store.values import Values
from datalog.syntax.tree import Directive

TYPES = (Type.NUMBER, Type.UNSIGNED, Type.FLOAT, Type.SYMBOL, Type.BOOL, Type.DATE, Type.DATETIME, Type.DECIMALS[2])
ROWS = [
    (-(2**63), 2**64 - 1, 0.1, 'a "quoted" é', True, date(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999_999, UTC), Decimal("-0.05")),
    (0, 0, float("nan"), "", False, date(1970, 1, 1), datetime(1970, 1, 1, tzinfo=UTC), Decimal("0.00")),
    (
        2**63 - 1,
        7,
        float("-inf"),
        "%s,\\",
        True,
        date(2024, 2, 29),
        datetime(2000, 1, 1, 1, 2, 3, tzinfo=UTC),
        Decimal("12345678901234567.89"),
    ),
    (5, 7, 1e300, "𝄞", True, date(9999, 12, 31), datetime(1, 1, 1, tzinfo=UTC), Decimal("1.50")),
]


def written(types: tuple[Type, ...], rows: Sequence[tuple[object, ...]], layout: Layout) -> str:
    values = Values()
    predicate = Predicate("p", tuple(f"c{number}" for number in range(len(types))), types, derived=True)
    return "".join(output.lines(predicate, values.encode_rows(rows, types), values, layout))


@pytest.mark.parametrize(
    "layout", [Layout("\t"), Layout(",", rfc4180=True), Layout("<>", headers=True), Layout("|", headers=True, rfc4180=True)]
)
@pytest.mark.parametrize("block", [1, 3, 100])
def test_columns_are_written_as_rows_are(layout: Layout, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    kinds: list[tuple[Type, ...]] = [TYPES, *((type,) for type in TYPES), (Type.SYMBOL, Type.NUMBER)]
    for types in kinds:
        places = [TYPES.index(type) for type in types]
        rows = [tuple(row[place] for place in places) for row in ROWS]
        by_row = written(types, rows, layout)
        with monkeypatch.context() as patch:
            patch.setattr(output, "LARGE", 0)
            patch.setattr(output, "BLOCK", block)
            patch.setattr(output, "lines_of_values", lambda *_: pytest.fail("row by row"))
            assert written(types, rows, layout) == by_row


def test_a_symbol_that_would_not_read_back_is_named_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "LARGE", 0)
    values, predicate = Values(), Predicate("p", ("x", "y"), (Type.NUMBER, Type.SYMBOL), derived=True)
    codes = values.encode_rows([(1, "fine"), (2, "a\tb"), (3, "c\td")], predicate.types)
    with pytest.warns(UnreadableText, match=r'"a\\tb" \(column y of p\) has the delimiter in it') as warned:
        output.write_output(Directive("output", ("p",)), predicate, codes, values, tmp_path, StringIO())
    assert len(warned) == 1


@pytest.mark.parametrize("small", [0, 1_000])
def test_rows_are_sorted_by_value_whichever_way_is_quick(small: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ordering, "SMALL", small)
    generator = np.random.default_rng(2)
    values = Values()
    for names, low, high in ((40, -5, 5), (7, -(2**63), 2**63 - 1)):
        rows = [
            (f"é{generator.integers(names)}", int(generator.integers(low, high)), int(generator.integers(low, high))) for _ in range(300)
        ]
        types = (Type.SYMBOL, Type.NUMBER, Type.NUMBER)
        for given in (rows, sorted(rows), sorted(rows, reverse=True), [rows[0]] * 3):
            codes = values.encode_rows(given, types)
            assert values.decode_rows(values.sort_by_value(codes, types), types) == sorted(given)


def test_distinct_values_of_a_column_are_found_by_marking_them_or_by_sorting(monkeypatch: pytest.MonkeyPatch) -> None:
    column = np.random.default_rng(3).integers(0, 50, 200)
    by_sorting = ordering.distinct_of(column, 60)
    monkeypatch.setattr(ordering, "SMALL", 0)
    marked = ordering.distinct_of(column, 60)
    assert all(np.array_equal(one, other) for one, other in zip(by_sorting, marked, strict=True))
    assert np.array_equal(marked[0][marked[1]], column)
