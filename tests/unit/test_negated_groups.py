"""Negated groups that bind nothing by themselves: in recursions, in and with aggregates, beside predicates whose rounds count."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import datalog

E, F, GIVEN = {1, 2}, {(1, 2), (2, 5), (3, 1)}, {(1, 1), (5, 2), (2, 3)}

PROGRAM = """
.decl e(x: number)
.decl f(x: number, y: number)
.decl first(x: number, y: number)
.decl small(x: number) inline
small(x) :- x < 3, !e(x).
.decl p(x: number, y: number)
e(1). e(2). f(1, 2). f(2, 5). f(3, 1). first(1, 1). first(5, 2). first(2, 3).
p(x, y) :- first(x, y).
p((x + 1) % 9, y) :- p(x, y), GROUP.
"""


@pytest.mark.parametrize(
    ("group", "holds"),
    [
        ("!(x < 3, y < 4)", lambda x, y: not (x < 3 and y < 4)),
        ("!(x < 3, !e(x))", lambda x, y: not (x < 3 and x not in E)),
        ("!small(x)", lambda x, y: not (x < 3 and x not in E)),
        ("!(!e(x))", lambda x, y: x in E),
        ("!(!e(x) ; x > 4)", lambda x, y: x in E and x <= 4),
        ("!(!(f(x, z), z < 5))", lambda x, y: any(a == x and b < 5 for a, b in F)),
        ("!(!(f(x, z), z < 5), y > 1)", lambda x, y: y <= 1 or any(a == x and b < 5 for a, b in F)),
        ("!(f(z, y), z < 3, !e(x))", lambda x, y: x in E or not any(b == y and a < 3 for a, b in F)),
        ("!((x < 2 ; y < 2), (x > 3 ; !e(y)))", lambda x, y: not ((x < 2 or y < 2) and (x > 3 or y not in E))),
        ("!(x = 1 ; !(y = 2 ; !(x < 3, !e(y))))", lambda x, y: x != 1 and (y == 2 or not (x < 3 and y not in E))),
        ("!(x != 0, 6 / x > y, !e(y))", lambda x, y: not (x != 0 and 6 // x > y and y not in E)),
    ],
)
def test_a_group_of_what_only_the_recursion_binds_is_taken_apart(group: str, holds: Callable[[int, int], bool]) -> None:
    expected, new = set(), set(GIVEN)
    while new:
        expected |= new
        new = {((x + 1) % 9, y) for x, y in new if holds(x, y)} - expected
    database = datalog.Database(PROGRAM.replace("GROUP", group))
    assert set(database["p"]) == expected
    with database.transaction() as detour:
        detour.delete("e", [(1,)])
        detour.insert("e", [(3,), (4,)])
        detour.delete("first", [(1, 1)])
        detour.insert("f", [(4, 4)])
    database.check()
    with database.transaction() as back:
        back.insert("e", [(1,)])
        back.delete("e", [(3,), (4,)])
        back.insert("first", [(1, 1)])
        back.delete("f", [(4, 4)])
    database.check()
    assert set(database["p"]) == expected


NUMBERS = range(1, 4)


@pytest.mark.parametrize(
    ("group", "holds"),
    [
        (
            "!(f(w, 2), !(y = w ; y < x ; (f(v, w), w <= x)))",
            lambda x, y: not any(b == 2 and not (y == w or y < x or (w <= x and any(d == w for _, d in F))) for w, b in F),
        ),
        (
            "!(f(w, y), !(f(v, v), v < x), w < 3)",
            lambda x, y: not any(b == y and w < 3 and not any(v == u < x for v, u in F) for w, b in F),
        ),
    ],
)
def test_what_is_left_of_a_group_within_a_group_may_be_one_atom_with_variables_of_its_own(
    group: str, holds: Callable[[int, int], bool]
) -> None:
    database = datalog.Database(
        f"n(1). n(2). n(3). f(1, 2). f(2, 5). f(3, 1). .decl p(x: number, y: number) p(x, y) :- n(x), n(y), {group}."
    )
    assert set(database["p"]) == {(x, y) for x in NUMBERS for y in NUMBERS if holds(x, y)}
    with database.transaction() as change:
        change.insert("f", [(2, 2), (3, 3)])
        change.delete("f", [(1, 2)])
    database.check()


@pytest.mark.parametrize(
    ("group", "counted"),
    [
        ("!(g(w), w > 7, x < 3)", 4),  # both of its parts fail for 3 and for 4, which count once
        ("!(g(w), w = x, x < 3)", 3),
        ("!(x < 3, x > 1)", 3),
        ("!(x < 3, !g(x))", 3),
    ],
)
def test_what_an_aggregate_counts_counts_once_however_its_negated_group_fails(group: str, counted: int) -> None:
    database = datalog.Database(f"e(1). e(2). e(3). e(4). g(1). .decl n(c: number) n(c) :- c = count : {{ e(x), {group} }}.")
    assert list(database["n"]) == [(counted,)]
    with database.transaction() as change:
        change.insert("g", [(9,)])
    database.check()


@pytest.mark.parametrize(
    ("group", "left"),  # as Soufflé has it: least(x) has no value but for 1 and 2, and empty(y) holds for no y
    [
        ("!(x < min y : { empty(y) }, x < 3)", {3, 4}),
        ("!(x < min y : { f(x, y) }, x < 3)", {2, 3, 4}),
        ("!(x < min y : { f(x, y) } ; x > 3)", {2}),
        ("!(x = 3, (x < min y : { f(x, y) } ; x > 3))", {1, 2, 4}),
        ("!(x = 3, !(x < min y : { f(x, y) }))", {1, 2, 4}),
        ("!(f(x, _), 2 > count : { f(x, _) })", {1, 3, 4}),
        ("!(f(x, z), 2 > count : { f(x, _) })", {1, 3, 4}),
        ("!(f(z, z), 2 > count : { f(x, _) })", {1, 2, 3, 4}),
        ("!(n = count : { f(x, _) }, n < 1)", {1, 2}),
    ],
)
def test_a_test_of_an_aggregate_without_a_result_does_not_hold_in_a_negated_group_either(group: str, left: set[int]) -> None:
    facts = "a(1). a(2). a(3). a(4). f(1, 2). f(1, 3). f(2, 1). .decl empty(y: number)"
    database = datalog.Database(f"{facts} .decl p(x: number) p(x) :- a(x), {group}.")
    assert {x for (x,) in database["p"]} == left
    with database.transaction() as change:
        change.insert("f", [(3, 9)])
        change.delete("f", [(1, 2), (2, 1)])
        change.insert("empty", [(9,)])
    database.check()


def test_a_test_of_an_aggregate_may_be_in_a_negated_group_of_a_recursion() -> None:
    database = datalog.Database(PROGRAM.replace("GROUP", "!(x > count : { f(x, _) }, y < 3)"))
    assert set(database["p"]) == {(1, 1), (2, 1), (5, 2), *((x, 3) for x in range(9))}
    with database.transaction() as change:
        change.insert("f", [(2, 6)])
    database.check()


def test_whether_there_are_no_rows_at_all_is_asked_of_a_predicate_whose_rounds_count() -> None:
    database = datalog.Database("""
        .decl e(x: number, y: number)
        e(1, 2). e(2, 1).
        .decl d(x: number, y: number, n: number)
        d(x, y, 1) :- e(x, y).
        d(x, z, n + 1) :- d(x, y, n), e(y, z), n < 9.
        d(x, y, n) <= d(x, y, m) :- m <= n.
        .decl none(t: symbol)
        none("no path") :- !d(_, _, _).
    """)
    assert (len(database["d"]), list(database["none"])) == (4, [])
    with database.transaction() as change:
        change.delete("e", [(1, 2), (2, 1)])
    database.check()
    assert list(database["none"]) == [("no path",)]
