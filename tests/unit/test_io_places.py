"""Where `.input` and `.output` send rows and take them from: SQLite, JSON, gzip, standard input and output, picked columns, names."""

from __future__ import annotations

import gzip
import io
import json
import math
import sqlite3
import sys
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from datalog import Branch, Database, DataError, ProgramError
from datalog.errors import IgnoredFields
from datalog.outputs import write_outputs

TYPES = """
.type List = [head: number, tail: List]
.type Tree = Leaf {} | Node { left: Tree, label: symbol }
"""
COLUMNS = "s: symbol, n: number, u: unsigned, f: float, b: bool, d: date, t: datetime, m: decimal(2), l: List, a: Tree"
EVERYTHING = f"{TYPES}.decl e({COLUMNS})\n"
ROWS: list[tuple[Any, ...]] = [
    ("", -(2**63), 0, -0.5, True, date(2024, 2, 29), datetime(2024, 2, 29, 12, tzinfo=UTC), Decimal("1.50"), None, Branch("Leaf")),
    ('quoted "é"\n, and\ttabs', 2**63 - 1, 2**64 - 1, math.inf, False, date(1999, 12, 31),
     datetime(1999, 12, 31, 23, 59, 59, 500000, tzinfo=UTC), Decimal("-99.99"),
     (1, (2, None)),
     Branch("Node", Branch("Leaf"), 'a "b", c)')),
]  # fmt: skip


def written(program: str, folder: Path, **rows: list[Any]) -> str:
    """What a program prints, its outputs written to a folder."""
    database = Database(program)
    with database.transaction() as transaction:
        for name, given in rows.items():
            transaction.insert(name, given)
    before, sys.stdout = sys.stdout, io.StringIO()
    try:
        write_outputs(database, folder, sys.stdout)
        return sys.stdout.getvalue()
    finally:
        sys.stdout = before


def read(program: str, folder: Path, name: str) -> list[Any]:
    return list(Database(program, facts=folder)[name])


@pytest.mark.parametrize(
    "parameters",
    ["IO=sqlite", 'IO=sqlite, filename="sub/all.db", name="other"', 'IO=jsonfile, filename="e.json"', 'IO=jsonfile, format=object',
     'filename="e.gz", compress=true, rfc4180=true'],
)  # fmt: skip
def test_rows_of_all_types_read_back(parameters: str, tmp_path: Path) -> None:
    written(f"{EVERYTHING}.input e\n.output e({parameters})\n", tmp_path, e=ROWS)
    reading = parameters.replace(", format=object", "").replace(", compress=true", "")
    expected = Database(f"{EVERYTHING}.input e\n")
    with expected.transaction() as transaction:
        transaction.insert("e", ROWS)
    assert sorted(map(str, read(f"{EVERYTHING}.input e({reading})\n", tmp_path, "e"))) == sorted(map(str, expected["e"]))


def test_a_table_has_numbers_of_texts_and_a_view_shows_the_texts(tmp_path: Path) -> None:
    program = ".decl p(who: symbol, age: number)\n.input p\n.output p(IO=sqlite)\n"
    written(program, tmp_path, p=[("ann", 3), ("bob", 4)])
    base = sqlite3.connect(tmp_path / "p.sqlite")
    assert base.execute("SELECT who, age FROM p ORDER BY age").fetchall() == [("ann", 3), ("bob", 4)]
    assert base.execute('SELECT symbol, "1" FROM _p JOIN __SymbolTable ON id = "0" ORDER BY 2').fetchall() == [("ann", 3), ("bob", 4)]


def test_what_else_is_in_a_database_stays_and_old_rows_go(tmp_path: Path) -> None:
    base = sqlite3.connect(tmp_path / "p.sqlite")
    base.executescript("CREATE TABLE mine (x); INSERT INTO mine VALUES (1);")
    program = ".decl p(who: symbol)\n.input p\n.output p(IO=sqlite)\n"
    written(program, tmp_path, p=[("ann",)])
    written(program, tmp_path, p=[("bob",)])
    assert base.execute("SELECT * FROM mine").fetchall() == [(1,)]
    assert base.execute("SELECT * FROM p").fetchall() == [("bob",)]


def test_a_table_that_is_in_the_views_way_is_an_error_and_stays(tmp_path: Path) -> None:
    base = sqlite3.connect(tmp_path / "p.sqlite")
    base.executescript("CREATE TABLE p (x); INSERT INTO p VALUES (1);")
    with pytest.raises(DataError, match=r"cannot write p to .*p\.sqlite"):
        written(".decl p(x: number)\n.input p\n.output p(IO=sqlite)\n", tmp_path, p=[(7,)])
    assert base.execute("SELECT name FROM sqlite_master").fetchall() == [("p",)]


def test_tables_of_other_programs_are_read_by_place_by_name_and_with_picked_columns(tmp_path: Path) -> None:
    base = sqlite3.connect(tmp_path / "shop.db")
    base.executescript("CREATE TABLE bills (id, amount, payer); INSERT INTO bills VALUES (1, 2.5, 'ann'), (2, 4, NULL);")
    source = 'IO=sqlite, filename="shop.db", name="bills"'
    picked = f'.decl p(who: symbol, id: number)\n.input p({source}, columns="payer:0")\n'
    assert read(picked, tmp_path, "p") == [("", 2), ("ann", 1)]
    renamed = f".decl p(payer: symbol, id: number, amount: float)\n.input p({source})\n"
    assert sorted(read(renamed, tmp_path, "p")) == [("", 2, 4.0), ("ann", 1, 2.5)]
    placed = f".decl p(a: number, b: float, c: symbol)\n.input p({source})\n"
    assert sorted(read(placed, tmp_path, "p")) == [(1, 2.5, "ann"), (2, 4.0, "")]


@pytest.mark.parametrize(
    ("declared", "parameters", "message", "hint"),
    [
        ("x: number", 'filename="no.db"', "there is no database", "there are shop.db, text.db"),
        ("x: number", 'filename="shop.db", name="bill"', "there is no table or view bill", "did you mean `bills`?"),
        ("x: number", 'filename="shop.db", name="bills"', "the table bills has 2 columns, where p has 1", 'columns="id"'),
        ("x: number", 'filename="shop.db", name="bills", columns="pay"', "the table bills has no column pay", "did you mean `payer`?"),
        ("x: number, y: number", 'filename="shop.db", name="bills"', 'NULL is no number (column y of p, row 2', ""),
        ("x: number", 'filename="text.db", name="bills"', "file is not a database", ""),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_table_is_said_at_the_directive(
    declared: str, parameters: str, message: str, hint: str, tmp_path: Path
) -> None:
    base = sqlite3.connect(tmp_path / "shop.db")
    base.executescript("CREATE TABLE bills (id, payer); INSERT INTO bills VALUES (1, 2), (2, NULL);")
    (tmp_path / "text.db").write_text("no database at all, but a text that is long enough to be looked at" * 20)
    with pytest.raises(DataError) as caught:
        read(f".decl p({declared})\n.input p(IO=sqlite, {parameters})\n", tmp_path, "p")
    (found,) = caught.value.diagnostics
    assert message in found.message and hint in found.hint
    assert (found.line, found.text) == (2, f".input p(IO=sqlite, {parameters})")


def test_json_is_arrays_or_objects_a_row_a_line(tmp_path: Path) -> None:
    program = f"{TYPES}.decl p(n: number, l: List)\n.input p\n.output p(IO=jsonfile)\n.output p(IO=json, format=object)\n"
    printed = written(program, tmp_path, p=[(1, (2, None)), (3, None)])
    assert (tmp_path / "p.json").read_text() == "[[1, [2, null]],\n[3, null]]\n"
    assert printed == '[{"n": 1, "l": {"head": 2, "tail": null}},\n{"n": 3, "l": null}]\n'


def test_long_lists_are_written_as_json_whatever_their_depth(tmp_path: Path) -> None:
    deep: Any = None
    for number in range(3000):
        deep = (number, deep)
    written(f"{TYPES}.decl p(l: List)\n.input p\n.output p(IO=jsonfile)\n", tmp_path, p=[(deep,)])
    assert (tmp_path / "p.json").read_text().startswith("[[[2999, [2998, ")


def test_floats_in_json_keep_all_their_digits(tmp_path: Path) -> None:
    written(".decl p(x: float)\n.input p\n.output p(IO=jsonfile)\n", tmp_path, p=[(0.1 + 0.2,), (math.nan,)])
    assert json.loads((tmp_path / "p.json").read_text()) == [[0.1 + 0.2], ["nan"]]


@pytest.mark.parametrize(
    ("text", "message", "line", "column"),
    [
        ('[[1, "a"],\n["x", "b"]]', '"x" is no number (column n of p)', 2, 2),
        ('[{"n": 1, "s": "a"},\n{"n": 1.5, "s": "b"}]', "1.5 is no number (column n of p)", 2, 7),
        ('[{"n": 1}]', "there is no s", 1, 2),
        ('[[1, "a", 2]]', "3 values where p has 2 columns (n, s)", 1, 2),
        ('{"n": 1}', "the facts of p are no array", 1, 1),
        ('[[1, "a"]', "this is no JSON: expecting ',' delimiter", 1, 10),
        ("[7]", "a row of p is an array of 2 values, or an object", 1, 2),
    ],
)
def test_bad_json_is_told_with_its_place(text: str, message: str, line: int, column: int, tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text(text)
    with pytest.raises(DataError) as caught:
        read(".decl p(n: number, s: symbol)\n.input p(IO=jsonfile)\n", tmp_path, "p")
    (found,) = caught.value.diagnostics
    assert (found.message, found.line, found.column, found.file) == (message, line, column, str(tmp_path / "p.json"))


def test_json_that_is_nested_too_deep_is_an_error_and_no_crash(tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text("[" * 200_000)
    with pytest.raises(DataError, match="no JSON that can be read"):
        read(".decl p(n: number)\n.input p(IO=jsonfile)\n", tmp_path, "p")


@pytest.mark.parametrize("parameters", ["", "IO=sqlite", "IO=jsonfile", "compress=true"])
@pytest.mark.parametrize("holds", [True, False])
def test_a_nullary_predicate_reads_back(parameters: str, holds: bool, tmp_path: Path) -> None:
    written(f".decl p()\n.input p\n.output p({parameters})\n", tmp_path, p=[()] if holds else [])
    for name in ("p.csv", "p.csv.gz"):
        if (tmp_path / name).exists():
            (tmp_path / name).rename(tmp_path / name.replace("csv", "facts"))
    assert read(f".decl p()\n.input p({parameters.replace('compress=true', '')})\n", tmp_path, "p") == ([()] if holds else [])


def test_an_empty_line_says_that_a_nullary_predicate_holds(tmp_path: Path) -> None:
    (tmp_path / "p.facts").write_text("\n")
    assert read(".decl p()\n.input p\n", tmp_path, "p") == [()]


def test_compressed_outputs_are_the_same_each_time(tmp_path: Path) -> None:
    program = ".decl p(x: number)\n.input p\n.output p(compress=true)\n"
    written(program, tmp_path, p=[(1,), (2,)])
    first = (tmp_path / "p.csv.gz").read_bytes()
    written(program, tmp_path, p=[(2,), (1,)])
    assert (tmp_path / "p.csv.gz").read_bytes() == first
    assert gzip.decompress(first) == b"1\n2\n"


def test_a_name_stands_for_the_predicates_in_files_and_on_standard_output(tmp_path: Path) -> None:
    program = '.decl p(x: number)\n.input p(name="given")\n.output p(name="a")\n'
    program += '.output p(name="b", IO=stdout)\n.output p(name="c", IO=stdoutprintsize)\n'
    (tmp_path / "given.facts").write_text("7\n")
    database = Database(program, facts=tmp_path)
    assert list(database["p"]) == [(7,)]
    printed = written(program, tmp_path, p=[(1,)])
    assert printed == "---------------\nb\n===============\n1\n===============\nc\t1\n"
    assert (tmp_path / "a.csv").read_text() == "1\n"


def test_the_header_can_be_said(tmp_path: Path) -> None:
    written('.decl p(x: number, y: number)\n.input p\n.output p(headers=true, attributeNames="a\tb")\n', tmp_path, p=[(1, 2)])
    assert (tmp_path / "p.csv").read_text() == "a\tb\n1\t2\n"


@pytest.mark.parametrize("rfc4180", ["true", "false"])
@pytest.mark.parametrize("rows", ["1,a,2.5,x\n2,b,3.5,y\n", "1,a,2.5,x,more\n2,b,3.5\n"], ids=["rectangular", "ragged"])
@pytest.mark.parametrize("headers", ["", "id,word,size,rest\n"])
def test_picked_columns_come_in_the_order_in_which_they_are_named(rows: str, headers: str, rfc4180: str, tmp_path: Path) -> None:
    (tmp_path / "p.facts").write_text(headers + rows)
    layout = f'delimiter=",", rfc4180={rfc4180}, headers={"true" if headers else "false"}'
    declared = ".decl p(a: float, b: number)\n"
    assert sorted(read(f'{declared}.input p({layout}, columns="2:0")\n', tmp_path, "p")) == [(2.5, 1), (3.5, 2)]
    if headers:
        assert sorted(read(f'{declared}.input p({layout}, columns="size:id")\n', tmp_path, "p")) == [(2.5, 1), (3.5, 2)]


def test_bytes_in_columns_that_are_not_picked_do_not_matter(tmp_path: Path) -> None:
    (tmp_path / "p.facts").write_bytes(b"1\t\xff\n2\t\xfe\t\n")
    assert read('.decl p(x: number)\n.input p(columns="0")\n', tmp_path, "p") == [(1,), (2,)]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ('columns="0"', 'columns="0" picks 1, and p has 2'),
        ('columns="0:x"', 'columns="0:x" has the name x in it, and there is no header'),
        ('columns="0:1", IO=jsonfile', "columns= says something about files of delimited text and about tables, and this is JSON"),
        ('null="NA", IO=sqlite', "null= says something about files of delimited text, and this is IO=sqlite"),
        ("format=table, IO=json", 'format="table" is nothing that JSON\'s rows are written as'),
        ("IO=stdout", "IO=stdout is nothing that .input knows"),
    ],
)
def test_parameters_that_make_no_sense_together_are_told(parameters: str, message: str) -> None:
    with pytest.raises(ProgramError) as caught:
        Database(f".decl p(x: number, y: number)\n.input p({parameters})\n")
    assert [found.message for found in caught.value.diagnostics] == [message]


def test_a_picked_column_that_is_not_there_is_told_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "p.facts").write_text("1\t2\n3\n")
    with pytest.raises(DataError, match="2:2: error: 1 field where columns= names column 1, the first being 0"):
        read('.decl p(x: number)\n.input p(columns="1")\n', tmp_path, "p")
    with pytest.raises(DataError, match="the header has no column z"):
        read('.decl p(x: number)\n.input p(headers=true, columns="z")\n', tmp_path, "p")


def test_fields_behind_the_last_column_are_passed_over_with_a_warning(tmp_path: Path) -> None:
    (tmp_path / "p.facts").write_text("1\t2\n3\t4\t5\n")
    with pytest.warns(IgnoredFields, match=r"3 fields where p has 2 columns \(x, y\): what is beyond is ignored") as caught:
        assert read(".decl p(x: number, y: number)\n.input p\n", tmp_path, "p") == [(1, 2), (3, 4)]
    assert [(warning.filename, warning.lineno) for warning in caught] == [(str(tmp_path / "p.facts"), 2)]


@pytest.mark.parametrize(("io_", "text"), [("stdin", "1\n2\n"), ("json", "[[1], [2]]")])
def test_facts_come_from_standard_input(io_: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert read(f".decl p(x: number)\n.input p(IO={io_})\n", tmp_path, "p") == [(1,), (2,)]


def test_standard_input_holds_the_facts_of_one_predicate() -> None:
    with pytest.raises(ProgramError, match="the facts of p and q would both be all of standard input"):
        Database(".decl p(x: number)\n.decl q(x: number)\n.input p(IO=stdin)\n.input q(IO=json)\n")
