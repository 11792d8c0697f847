"""Null tokens: defaults, files of rejected rows, and what is said where neither is there."""

from __future__ import annotations

import csv
import warnings
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import datalog
from datalog.errors import DataError, IgnoredParameter, ProgramError, RejectedRows
from datalog.io.facts import read_facts, read_table
from datalog.io.rows import rows_of
from datalog.ir.core import Predicate, Type
from datalog.store.values import Row, Values
from datalog.syntax.tree import Directive, Span

SPAN = Span("p.dl", 10, 22, 3, 1, 3, 13)
PERSON = Predicate("person", ("name", "age"), (Type.SYMBOL, Type.NUMBER), False)
PRICE = Predicate("price", ("item", "day", "paid", "sold"), (Type.SYMBOL, Type.DATE, Type.DECIMALS[2], Type.BOOL), False)
FLAG = Predicate("flag", (), (Type.NUMBER,), False)
HINT = 'give it one, default_age="…" (in Python defaults={"age": …}), or name a file for such rows, rejects="…"'


def facts(folder: Path, predicate: Predicate, data: str, **parameters: str | int) -> list[Row]:
    """The rows that `.input` reads from `data`."""
    (folder / f"{predicate.name}.facts").write_text(data)
    values = Values()
    directive = Directive("input", (predicate.name,), tuple(parameters.items()), SPAN)
    return rows_of(read_facts(directive, predicate, folder, values), predicate, values)


def table(path: Path, predicate: Predicate, data: str, **options: Any) -> list[Row]:
    """The rows that Python's `load` reads from `data`."""
    path.write_text(data)
    values = Values()
    return rows_of(read_table(path, predicate, values, **options), predicate, values)


def rejected(path: Path) -> list[list[str]]:
    """The rows of a file of rejected rows, below its header."""
    with path.open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["line", "column", "reason", "row"]
    return rows


def test_a_null_token_stands_for_its_columns_default(tmp_path: Path) -> None:
    parameters = {"null": "NA", "default_age": -1, "default_name": "nobody"}
    assert facts(tmp_path, PERSON, "Ann\tNA\nNA\t7\n", **parameters) == [("Ann", -1), ("nobody", 7)]
    data = "x\tNA\tNA\tNA\ny\t2024-05-01\t0.5\ttrue\n"
    defaults = {"default_day": "1970-01-01", "default_paid": "0.00", "default_sold": "false"}
    assert facts(tmp_path, PRICE, data, null="NA", **defaults) == [
        ("x", date(1970, 1, 1), Decimal("0.00"), False),
        ("y", date(2024, 5, 1), Decimal("0.50"), True),
    ]


def test_several_tokens_are_parted_by_bars_and_one_may_be_the_empty_cell(tmp_path: Path) -> None:
    assert facts(tmp_path, PERSON, "a\tNA\nb\t\nc\tNULL\n\t1\n", null="NA|NULL|", default_age=0, default_name="?") == [
        ("a", 0),
        ("b", 0),
        ("c", 0),
        ("?", 1),
    ]
    assert facts(tmp_path, PERSON, "a\t\n", null="", default_age=0) == [("a", 0)]


def test_a_token_counts_only_as_the_whole_cell_and_without_quotes(tmp_path: Path) -> None:
    data = '"NA",1\nNA,2\nNAB,3\n NA,4\n'
    assert facts(tmp_path, PERSON, data, rfc4180="true", null="NA", default_name="?") == [("NA", 1), ("?", 2), ("NAB", 3), (" NA", 4)]
    with pytest.raises(DataError, match=r'"NA" is no number \(column age of person\)'):
        facts(tmp_path, PERSON, 'a,"NA"\n', rfc4180="true", null="NA", default_age=0)


def test_an_empty_cell_at_the_end_of_a_file_is_null_also_behind_a_quoted_one(tmp_path: Path) -> None:
    assert table(tmp_path / "p.csv", PERSON, '"Ann",\n"Ben",', null="", defaults={"age": 0}) == [("Ann", 0), ("Ben", 0)]


def test_without_null_a_token_is_text_like_any_other(tmp_path: Path) -> None:
    assert facts(tmp_path, PERSON, "NA\t1\nNULL\t2\n") == [("NA", 1), ("NULL", 2)]


def test_a_null_without_a_default_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        facts(tmp_path, PERSON, "Ann\t1\nBob\tNA\n", null="NA")
    error = caught.value
    assert (error.message, error.hint) == ('"NA" is a null, and column age of person has no default', HINT)
    assert (error.line, error.column, error.text) == (2, 5, "Bob\tNA")
    with pytest.raises(DataError, match="an empty cell is a null, and column name"):
        facts(tmp_path, PERSON, "\t1\n", null="")


def test_bad_rows_go_to_the_file_of_rejected_rows_and_are_reported(tmp_path: Path) -> None:
    data = 'Ann,1\nBob,NA\n"Eve\n, x",x\nAnn,2,3\nNA,5\n'
    path = tmp_path / "person.facts"
    with pytest.warns(RejectedRows, match="^3 rows of person not loaded, the first for this: ") as caught:
        found = facts(tmp_path, PERSON, data, rfc4180="true", null="NA", default_name="?", rejects="out/bad.csv")
    assert found == [("Ann", 1), ("?", 5)]
    assert (caught[0].filename, caught[0].lineno) == (str(path), 2)
    assert rejected(tmp_path / "out" / "bad.csv") == [
        ["2", "5", '"NA" is a null, and column age of person has no default', "Bob,NA"],
        ["4", "6", '"x" is no number (column age of person)', '"Eve\n, x",x'],
        ["5", "7", "3 fields where person has 2 columns (name, age)", "Ann,2,3"],
    ]


def test_the_file_of_rejected_rows_never_tells_of_an_earlier_run(tmp_path: Path) -> None:
    with pytest.warns(RejectedRows):
        facts(tmp_path, PERSON, "Ann\tx\n", rejects="bad.csv")
    assert len(rejected(tmp_path / "bad.csv")) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert facts(tmp_path, PERSON, "Ann\t1\n", rejects="bad.csv") == [("Ann", 1)]
    assert rejected(tmp_path / "bad.csv") == []


def test_every_load_with_rejected_rows_warns(tmp_path: Path) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(2):
            table(tmp_path / "p.csv", PERSON, "Ann,x\n", rejects=tmp_path / "bad.csv")
    assert [warning.category for warning in caught] == [RejectedRows] * 2


def test_damaged_text_is_rejected_too(tmp_path: Path) -> None:
    (tmp_path / "p.tsv").write_bytes(b"Ann\t1\nB\xffb\t2\n")
    values = Values()
    with pytest.warns(RejectedRows, match="1 row of person"):
        codes = read_table(tmp_path / "p.tsv", PERSON, values, rejects=tmp_path / "bad.csv")
    assert rows_of(codes, PERSON, values) == [("Ann", 1)]
    assert rejected(tmp_path / "bad.csv") == [["2", "2", "the byte 0xff is no valid UTF-8", "B\ufffdb\t2"]]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"default_age": 0}, "default_age stands for a null, and nothing says what a null is"),
        ({"null": "NA", "default_ages": 0}, "person has no column ages that could have a default; did you mean `age`?"),
        ({"null": "NA", "default_age": "none"}, 'a default of person: "none" is no number'),
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters: dict[str, str | int], message: str, tmp_path: Path) -> None:
    with pytest.raises(ProgramError) as caught:
        facts(tmp_path, PERSON, "a\t1\n", **parameters)
    assert (caught.value.message, caught.value.line) == (message, 3)


def test_two_predicates_cannot_share_a_file_of_rejected_rows(tmp_path: Path) -> None:
    directive = Directive("input", ("person", "price"), (("rejects", "bad.csv"),), SPAN)
    with pytest.raises(ProgramError, match="the rejected rows of person and price cannot have one file"):
        read_facts(directive, PERSON, tmp_path, Values())


def test_rejected_rows_are_never_written_over_the_facts(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="the rejected rows of person would be written over its facts"):
        facts(tmp_path, PERSON, "a\tx\n", rejects="person.facts")
    assert (tmp_path / "person.facts").read_text() == "a\tx\n"


def test_an_output_has_no_nulls(tmp_path: Path) -> None:
    with pytest.warns(IgnoredParameter, match=r"null is no parameter of \.output"):
        datalog.Database('.decl p(x: number)\n.output p(null="NA")\np(1).\n')


def test_a_nullary_predicate_has_no_column_for_a_default(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="flag has no column x that could have a default"):
        table(tmp_path / "f.csv", FLAG, "()\n", null="NA", defaults={"x": 1})


def test_python_gives_defaults_as_values(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    assert table(path, PERSON, "Ann,NA\n-,3\n", null=["NA", "-"], defaults={"age": 0, "name": "?"}) == [("Ann", 0), ("?", 3)]
    with pytest.raises(DataError, match=r'the default of column age of person: "0" is no number'):
        table(path, PERSON, "", null="NA", defaults={"age": "0"})
    with pytest.raises(DataError, match="nothing says what a null is"):
        table(path, PERSON, "", defaults={"age": 0})


def test_a_database_loads_a_file_with_nulls(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("Ann,NA\nBob,2\n,3\n")
    db = datalog.Database(".decl p(name: symbol, age: number)\n.input p\n.decl q(n: number)\nq(n) :- p(_, n).\n")
    with pytest.warns(RejectedRows, match="1 row of p"):
        db.load("p", tmp_path / "p.csv", null="NA|", defaults={"age": -1}, rejects=tmp_path / "bad.csv")
    assert list(db["p"]) == [("Ann", -1), ("Bob", 2)]
    assert list(db["q"]) == [(-1,), (2,)]


CELLS = st.sampled_from(["1", "2", "NA", "", '"NA"', "x"])


@given(rows=st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=6))
def test_every_row_is_loaded_or_rejected(rows: list[tuple[str, str]], tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("in")
    data = "".join(f"{name},{age}\n" for name, age in rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loaded = facts(folder, PERSON, data, rfc4180="true", null="NA", default_name="?", rejects="bad.csv")
    lines = [int(line) for line, *_ in rejected(folder / "bad.csv")]
    assert lines == [number for number, (_, age) in enumerate(rows, 1) if age not in ("1", "2")]
    names = {"NA": "?", '"NA"': "NA"}
    assert loaded == [(names.get(name, name), int(age)) for name, age in rows if age in ("1", "2")]
