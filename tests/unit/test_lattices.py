"""Columns of lattices: what stands in them, what bodies and queries say of them, and which declarations are refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from datalog import Database, ProgramError
from datalog.syntax import format_program, parse

FUNCTIONS: dict[str, Callable[..., Any]] = {"hi": max, "lo": min, "hull": lambda x, y: (min(x.lb, y.lb), max(x.ub, y.ub))}
NUMBERS = """.type N = number
.functor hi(a: N, b: N): N
.functor lo(a: N, b: N): N
.lattice N<> { Bottom -> 0, Lub -> @hi(_, _), Glb -> @lo(_, _) }
.decl e(k: symbol, v: N)
.decl p(k: symbol, v: N<>)
.decl q(k: symbol, v: N<>)
.decl r(k: symbol, v: N)
"""


def database(text: str) -> Database:
    return Database(NUMBERS + text, functions=FUNCTIONS)


def test_rows_that_agree_in_other_columns_are_joined_and_follow_changes() -> None:
    base = database('e("a", 1). e("a", 4). e("b", 2). p(k, v) :- e(k, v).')
    assert list(base["p"]) == [("a", 4), ("b", 2)]
    with base.transaction() as transaction:
        transaction.delete("e", [("a", 4)])
        transaction.insert("e", [("b", 7)])
        transaction.insert("p", [("c", 3), ("c", 9), ("b", 1)])
    assert list(base["p"]) == [("a", 1), ("b", 7), ("c", 9)]
    assert transaction.changes["p"].inserted == [("a", 1), ("b", 7), ("c", 9)]
    assert transaction.changes["p"].deleted == [("a", 4), ("b", 2)]
    base.check()


def test_columns_are_joined_apart() -> None:
    text = """.type I = [lb: number, ub: number]
.functor hull(a: I, b: I): I stateful
.lattice I<> { Bottom -> [0, -1], Lub -> @hull(_, _) }
.decl both(i: I<>, v: N<>)
both([1, 2], 5). both([4, 9], 3). both([0, 1], 4).
"""
    assert list(database(text)["both"]) == [((0, 9), 5)]


def test_recursion_goes_up_to_a_least_fixpoint() -> None:
    text = """.decl edge(x: symbol, y: symbol)
edge("a", "b"). edge("b", "c"). edge("c", "a"). edge("c", "d").
p("a", 1).
p(y, @lo(v + 1, 10)) :- p(x, v), edge(x, y).
"""
    base = database(text)
    assert list(base["p"]) == [("a", 10), ("b", 10), ("c", 10), ("d", 10)]
    with base.transaction() as transaction:
        transaction.delete("edge", [("c", "a")])
    assert list(base["p"]) == [("a", 1), ("b", 2), ("c", 3), ("d", 4)]
    base.check()
    assert 'edge("a", "b")' in str(base.explain('p("b", 2)'))


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("r(k, v) :- p(k, v).", [("a", 4), ("b", 2)]),
        ("r(k, 3) :- p(k, 3).", [("a", 3)]),  # 3 is not above 4
        ("r(k, v) :- p(k, v), q(k, v).", [("a", 3), ("b", 2)]),  # what the two have in common
        ("r(k, v) :- e(k, v), p(k, v).", [("a", 1), ("a", 4), ("b", 2)]),
        ("r(k, v) :- e(k, v), !p(k, v).", [("c", 0)]),
        ("r(k, v) :- e(k, v), !p(k, _).", [("c", 0)]),
        ("r(k, n) :- e(k, _), n = count : { p(k, 2) }.", [("a", 1), ("b", 1), ("c", 0)]),
        ("r(k, 0) :- e(k, _), (p(k, 4); q(k, 9)).", [("a", 0), ("b", 0)]),
        ("r(k, v) :- p(k, w), v = w + 1.", [("a", 5), ("b", 3)]),
    ],
)
def test_a_row_stands_for_all_values_that_are_not_above_its_own(rule: str, expected: list[Any]) -> None:
    text = f'e("a", 1). e("a", 4). e("b", 2). e("c", 0). q("a", 3). q("b", 9). p("a", 1). p("a", 4). p("b", 2). {rule}'
    assert list(database(text)["r"]) == expected


def test_queries_read_lattices_as_bodies_do() -> None:
    base = database('p("a", 4). p("b", 2). q("a", 3). e("a", 2). e("b", 3).')
    assert base.query("p(k, 3)") == [("a",)]
    assert base.query("p(k, v)") == [("a", 4), ("b", 2)]
    assert base.query("p(k, v), q(k, v)") == [("a", 3)]
    assert base.query("e(k, v), p(k, v)") == [("a", 2)]
    assert base.query("p(k, _), !q(k, 1)") == [("b",)]


def test_without_bounds_below_values_are_compared_as_they_are() -> None:
    text = NUMBERS.replace("Bottom -> 0, ", "").replace(", Glb -> @lo(_, _)", "")
    base = Database(text + 'p("a", 4). r(k, 0) :- p(k, 3). r(k, 1) :- p(k, 4).', functions=FUNCTIONS)
    assert list(base["r"]) == [("a", 1)]


def test_rows_are_explained_and_absent_rows_too() -> None:
    base = database('e("a", 1). e("a", 4). p(k, v) :- e(k, v).')
    assert 'e("a", 4)' in str(base.explain('p("a", 4)'))
    assert "it is 4 here, not 1" in str(base.why_not('p("a", 1)'))


def test_rules_may_be_added_and_are_formatted() -> None:
    base = database('e("a", 1).')
    base.add_rules("p(k, v) :- e(k, v).\np(k, 5) :- p(k, _).")
    assert list(base["p"]) == [("a", 5)]
    text = format_program(parse(NUMBERS))
    assert ".lattice N<> { Bottom -> 0, Lub -> @hi(_, _), Glb -> @lo(_, _) }" in text and "p(k: symbol, v: N<>)" in text


START = ".type N = number\n.functor hi(a: N, b: N): N\n.functor one(a: N): N\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (".lattice N<> { Bottom -> 0 }", "the lattice `N<>` has no `Lub`"),
        (".lattice N<> { Lub -> 3 }", "`Lub` of a lattice is a functor of your own"),
        (".lattice N<> { Lub -> @hi(_, _), Glb -> max(_, _) }", "`Glb` of a lattice is a functor of your own"),
        (".lattice N<> { Lub -> @he(_, _) }", "functor `@he` is not declared"),
        (".lattice N<> { Lub -> @one(_) }", "`@one` does not join values of the lattice `N<>`"),
        (".lattice N<> { Lub -> @hi(_, _), Meet -> @hi(_, _) }", "a lattice has no operator `Meet`"),
        (".lattice N<> { Lub -> @hi(_, _), Lub -> @hi(_, _) }", "`Lub` is said twice of the lattice `N<>`"),
        (".lattice N<> { Lub -> @hi(_, _) } .lattice N<> { Lub -> @hi(_, _) }", "lattice `N<>` is declared twice"),
        (".decl p(x: N<>)", "the type `N` is no lattice"),
        (".lattice N<> { Lub -> @hi(_, _) } .decl p(x: N<>, y: N)", "the column `x` of a lattice stands before others"),
        (
            ".lattice N<> { Lub -> @hi(_, _) } .decl p(x: N, y: N<>) p(x, y) <= p(x, z) :- y < z.",
            "`p` has columns of lattices, and a subsumption",
        ),
        (".lattice N<> { Lub -> @hi(_, _) } .decl p(x: N, y: N<>) brie", "`p` is declared `brie`, and has columns of lattices"),
        (
            ".lattice N<> { Lub -> @hi(_, _) } .decl p(x: N, y: N<>) choice-domain x",
            "`p` has a choice-domain, and has columns of lattices",
        ),
        (
            ".lattice N<> { Bottom -> 0, Lub -> @hi(_, _), Glb -> @hi(_, _) } .decl p(x: N<>) .decl q(x: N) q(x) :- p(x), p(x), x > 3.",
            "`x` is the meet of several values, and stands in another literal",
        ),
        (
            ".type R = [a: N] .functor h(a: R, b: R): R stateful .lattice R<> { Bottom -> [0], Lub -> @h(_, _), Glb -> @h(_, _) } "
            ".decl p(x: R<>) .decl q(x: N) q(x) :- p([x]).",
            "what stands in a column of a lattice is bound by nothing",
        ),
    ],
)
def test_wrong_declarations_and_uses_are_refused_where_they_stand(text: str, message: str) -> None:
    with pytest.raises(ProgramError) as caught:
        Database(START + text, functions={**FUNCTIONS, "one": int})
    assert (caught.value.message, caught.value.line) == (message, 4)
    assert caught.value.hint
