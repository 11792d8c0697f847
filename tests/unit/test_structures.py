"""Records and algebraic types at a database's faces: Python, Arrow, files, streams, queries."""

from __future__ import annotations

import io
import pickle
from pathlib import Path
from typing import Any

import pytest

from datalog import Branch, Database, DataError, StreamError
from datalog.io.changes import format_changes
from datalog.io.stream import Format, read_transactions
from datalog.outputs import write_outputs

LISTS = """
.type List = [head: number, tail: List]
.decl l(x: List)
.input l
"""
EXPRESSIONS = """
.type Expr = Add { left: Expr, right: Expr } | Num { n: number } | Named { name: symbol } | Zero {}
.decl e(x: Expr)
.input e
"""
EVERYTHING = """
.type Point = [x: float, y: float]
.type Place = [name: symbol, at: Point]
.type Shape = Circle { at: Point, size: unsigned } | Empty {}
.decl p(a: Place, s: Shape, n: number)
.input p
.output p
"""
ROWS: list[tuple[Any, ...]] = [
    (None, Branch("Empty"), 1),
    (("plain", None), Branch("Circle", None, 2**64 - 1), 2),
    (('a "b", [c]', (0.5, -1e300)), Branch("Circle", (0.0, 2.0), 0), 3),
    (("", (1.0, 2.0)), Branch("Empty"), -4),
    ((" blanks ", (1.0, 2.0)), Branch("Empty"), 5),
    (("back\\slash) $x", (1.0, 2.0)), Branch("Empty"), 6),
]


def with_rows(program: str, **rows: list[Any]) -> Database:
    database = Database(program)
    with database.transaction() as transaction:
        for name, given in rows.items():
            transaction.insert(name, given)
    return database


def values_in(database: Database, name: str) -> list[Any]:
    """The first column."""
    return [row[0] for row in database[name]]


def test_records_come_as_named_tuples_and_nil_as_none() -> None:
    database = with_rows(LISTS, l=[((1, (2, None)),), (None,)])
    nil, longer = values_in(database, "l")
    assert nil is None
    assert longer == (1, (2, None))
    assert (longer.head, longer.tail.head, longer.tail.tail) == (1, 2, None)


def test_records_are_taken_as_tuples_lists_and_dictionaries() -> None:
    database = with_rows(LISTS, l=[((1, None),), ([2, [3, None]],), ({"tail": None, "head": 4},)])
    assert set(values_in(database, "l")) == {(1, None), (2, (3, None)), (4, None)}
    assert ((2, (3, None)),) in database["l"]
    assert ((2, (4, None)),) not in database["l"]


def test_a_branch_is_immutable_hashable_matched_and_shown_as_it_is_written() -> None:
    tree = Branch("Add", Branch("Num", 1), Branch("Named", 'a"b'))
    assert repr(tree) == '$Add($Num(1), $Named("a\\"b"))'
    assert repr(Branch("Zero")) == "$Zero"
    assert tree == Branch("Add", Branch("Num", 1), Branch("Named", 'a"b')) != Branch("Add")
    assert len({tree, pickle.loads(pickle.dumps(tree))}) == 1
    with pytest.raises(AttributeError, match="immutable"):
        tree.branch = "Sub"
    match tree:
        case Branch("Add", (Branch("Num", (one,)), right)):
            assert (one, right[0], list(right), len(tree)) == (1, 'a"b', ['a"b'], 2)
        case _:
            pytest.fail("the pattern fits")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ((1, 2), "row 1: 2 is no List, which is [head, tail] (column x of l)"),
        ((1,), "row 1: [1] is no List, which is [head, tail] (column x of l)"),
        (("a", None), 'row 1: "a" is no number (column x of l)'),
        ({"head": 1}, "row 1: {'head': 1} is no List, which is [head, tail] (column x of l)"),
    ],
)
def test_what_is_no_record_is_refused_with_its_place(value: object, message: str) -> None:
    with pytest.raises(DataError) as caught:
        with_rows(LISTS, l=[(value,)])
    assert caught.value.diagnostics[0].message == message


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, 'row 1: a missing value is no Expr; it takes a Branch, in JSON {"Add": […]} (column x of e)'),
        (Branch("Sub", 1), "row 1: $Sub(1) is no Expr, which has $Add and $Named and $Num and $Zero (column x of e)"),
        (Branch("Num"), "row 1: $Num is no Expr: $Num has 1 field (column x of e)"),
        (Branch("Num", "a"), 'row 1: "a" is no number (column x of e)'),
    ],
)
def test_what_is_no_branch_is_refused_with_its_place(value: object, message: str) -> None:
    with pytest.raises(DataError) as caught:
        with_rows(EXPRESSIONS, e=[(value,)])
    assert caught.value.diagnostics[0].message == message


def test_values_are_ordered_by_depth_then_branch_then_fields_whatever_came_first() -> None:
    values = [None, (1, None), (2, None), (0, (9, None)), (1, (0, None)), (0, (0, (0, None)))]
    for order in (values, values[::-1]):
        assert values_in(with_rows(LISTS, l=[(value,) for value in order]), "l") == values
    branches = [Branch("Named", "b"), Branch("Num", -1), Branch("Num", 5), Branch("Zero"), Branch("Add", Branch("Zero"), Branch("Num", 1))]
    assert values_in(with_rows(EXPRESSIONS, e=[(one,) for one in branches[::-1]]), "e") == branches


def test_lists_of_any_length_are_read_sorted_decoded_and_written(tmp_path: Path) -> None:
    length = 20_000
    facts = tmp_path / "l.facts"
    facts.write_text("".join(f"[{number}, " for number in range(length)) + "nil" + "]" * length + "\n[7, nil]\n")
    program = LISTS + ".decl n(c: number)\nn(c) :- c = count : { part(_) }.\n.decl part(x: List)\npart(x) :- l([_, x]).\n.output l\n"
    database = Database(program, facts=tmp_path)
    short, long = values_in(database, "l")
    assert short == (7, None)
    for number in range(length):
        assert long.head == number
        long = long.tail
    assert long is None
    assert list(database["n"]) == [(2,)]
    write_outputs(database, tmp_path, io.StringIO())
    assert (tmp_path / "l.csv").read_text().splitlines()[1] == facts.read_text().splitlines()[0]


@pytest.mark.parametrize("layout", ["", ', delimiter=","', ", rfc4180=true", ", headers=true"])
def test_files_are_read_back_as_the_same_rows(layout: str, tmp_path: Path) -> None:
    program = EVERYTHING.replace(".input p", f'.input p(filename="p.csv"{layout})').replace(
        ".output p", f'.output p(filename="p.csv"{layout})'
    )
    (tmp_path / "p.csv").write_text("a,s,n\n".replace(",", "\t") if "headers" in layout else "")
    database = Database(program, facts=tmp_path)
    with database.transaction() as transaction:
        transaction.insert("p", ROWS)
    write_outputs(database, tmp_path, io.StringIO())
    assert list(Database(program, facts=tmp_path)["p"]) == list(database["p"])


def test_files_have_records_and_branches_as_souffle_writes_them(tmp_path: Path) -> None:
    database = with_rows(EVERYTHING, p=ROWS[:2])
    write_outputs(database, tmp_path, io.StringIO())
    assert (tmp_path / "p.csv").read_text() == "nil\t$Empty\t1\n[plain, nil]\t$Circle(nil, 18446744073709551615)\t2\n"


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("[1]", '"[1]" is no List: `,` is missing at character 3'),
        ("[1, [2, nil]", '"[1, [2, nil]" is no List: `]` is missing at character 13'),
        ("1", '"1" is no List: `[` or nil is missing at character 1'),
        ("nil]", '"nil]" is no List: its end is missing at character 4'),
        ("[a, nil]", '"a" is no number'),
    ],
)
def test_a_cell_that_spells_no_record_is_refused(cell: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "l.facts").write_text(f"[0,nil]\n{cell}\n")
    with pytest.raises(DataError) as caught:
        Database(LISTS, facts=tmp_path)
    assert caught.value.diagnostics[0].line == 2
    assert caught.value.diagnostics[0].message.startswith(message)


@pytest.mark.parametrize("format", ["text", "jsonl"])
def test_changes_are_read_back_as_the_same_transaction(format: Format) -> None:
    database = Database(EVERYTHING)
    with database.transaction() as transaction:
        transaction.insert("p", ROWS)
    changes = {"p": (transaction.changes["p"].inserted, transaction.changes["p"].deleted)}
    text = format_changes(1, changes, format, database.predicates)
    other = Database(EVERYTHING)
    for staged in read_transactions(text.splitlines(keepends=True), format, database.predicates, "<changes>"):
        assert not isinstance(staged, StreamError), staged
        with other.transaction() as transaction:
            for name, rows in staged.insert.items():
                transaction.insert(name, list(rows))
    assert list(other["p"]) == list(database["p"])


def test_arrow_has_structs_for_flat_records_and_texts_for_the_rest() -> None:
    database = with_rows(EVERYTHING, p=ROWS)
    table = database["p"].to_arrow()
    assert str(table.schema.field("a").type) == "struct<name: string, at: struct<x: double, y: double>>"
    assert str(table.schema.field("s").type) == "string"
    assert list(with_rows(EVERYTHING, p=table)["p"]) == list(database["p"])


def test_records_are_keys_of_functional_predicates() -> None:
    database = with_rows(
        LISTS + ".decl f(x: List) = n: number\n.input f\n.decl g(n: number)\ng(n) :- n = f[[1, nil]].\n", f=[((1, None), 5), (None, 6)]
    )
    assert (database["f"][(1, None),], database["f"].get(((2, None),)), list(database["g"])) == (5, None, [(5,)])


def test_patterns_stand_in_aggregates_negations_and_queries() -> None:
    program = (
        LISTS
        + """
.decl total(s: number)
total(s) :- s = sum h : { l([h, _]) }.
.decl last(x: number)
last(h) :- l([h, t]), !l(t), !l([h, [_, _]]).
"""
    )
    database = with_rows(program, l=[((1, None),), ((5, (1, None)),), ((7, (9, (8, None))),)])
    assert list(database["total"]) == [(13,)]
    assert list(database["last"]) == [(1,)]
    assert database.query("l([h, [t, _]])") == [(5, 1), (7, 9)]
    assert database.query("l(x), x = [5, y]") == [((5, (1, None)), (1, None))]


def test_a_record_whose_parts_are_known_is_looked_up() -> None:
    program = LISTS + ".decl q(n: number)\n.input q\n.decl found(n: number)\nfound(n) :- q(n), l([n, nil]).\n"
    steps = []
    for size in (1_000, 4_000):
        database = with_rows(program, l=[((number, None),) for number in range(size)])
        before = database.steps
        with database.transaction() as transaction:
            transaction.insert("q", [(5,), (size + 5,)])
        assert list(database["found"]) == [(5,)]
        steps.append(database.steps - before)
    assert steps[1] <= steps[0] + 10


def test_a_cast_takes_a_record_for_one_of_another_type_and_a_subtype_for_another() -> None:
    program = """
.type A = [x: number, y: number]
.type B = [left: number, right: number]
.type City <: symbol
.decl a(x: A)
a([1, 2]). a(nil).
.decl b(x: B)
b(as(x, B)) :- a(x).
b([y, x]) :- b([x, y]).
.decl city(c: City)
city(as("x", City)).
"""
    database = Database(program)
    assert list(database["b"]) == [(None,), ((1, 2),), ((2, 1),)]
    assert list(database["city"]) == [("x",)]
