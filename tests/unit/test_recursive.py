"""Recursive strata by stamps: small cases in which a row's support is subtle."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pytest

from datalog import Database
from datalog.maintain.engine import Maintain

MAINTAIN: list[Maintain] = ["derived", "auto", "recorded", "recompute"]
Rows = Iterable[tuple[int, ...]]

REACH = """.decl start(x: number)
.decl e(x: number, y: number)
p(x) :- start(x).
p(y) :- p(x), e(x, y).
"""


def change(db: Database, insert: Mapping[str, Rows] | None = None, delete: Mapping[str, Rows] | None = None) -> None:
    with db.transaction() as tx:
        for name, rows in (delete or {}).items():
            tx.delete(name, rows)
        for name, rows in (insert or {}).items():
            tx.insert(name, rows)


@pytest.fixture(params=MAINTAIN)
def maintain(request: pytest.FixtureRequest) -> Maintain:
    way: Maintain = request.param
    return way


def nodes(db: Database) -> set[int]:
    return {row[0] for row in db["p"]}  # type: ignore[misc]


def test_a_row_kept_by_an_inserted_fact_falls_if_the_row_that_it_was_kept_by_falls_later(maintain: Maintain) -> None:
    db = Database(REACH, maintain=maintain)
    change(db, {"start": [(0,)], "e": [(0, 1), (1, 2), (0, 10), (10, 11), (11, 3)]})
    change(db, {"e": [(2, 3)]}, {"e": [(0, 1), (11, 3)]})
    assert nodes(db) == {0, 10, 11}
    db.check()


def test_a_row_kept_by_a_fact_that_a_negation_gained_falls_with_the_row_that_it_was_kept_by(maintain: Maintain) -> None:
    text = REACH.replace("e(x, y).\n", "e(x, y), !shut(x, y).\n") + ".decl shut(x: number, y: number)\n"
    db = Database(text, maintain=maintain)
    edges = [(0, 1), (1, 2), (0, 10), (10, 11), (11, 3), (2, 3)]
    change(db, {"start": [(0,)], "e": edges, "shut": [(2, 3)]})
    change(db, {"shut": [(0, 1), (11, 3)]}, {"shut": [(2, 3)]})
    assert nodes(db) == {0, 10, 11}
    change(db, delete={"shut": [(0, 1)]})
    assert nodes(db) == {0, 1, 2, 3, 10, 11}
    db.check()


def test_rows_kept_one_by_another_over_inserted_facts_all_fall_with_the_first(maintain: Maintain) -> None:
    """A ladder: each rung loses its own support and is kept by the rung before it, through an edge that is new."""
    db = Database(REACH, maintain=maintain)
    rungs = range(1, 8)
    direct = [(100 * rung, rung) for rung in rungs]
    ways = [edge for rung in rungs for edge in [(0, 1000 + rung), (1000 + rung, 100 * rung)]]
    change(db, {"start": [(0,)], "e": [*direct, *ways, (0, 50), (50, 51)]})
    change(db, {"e": [(51, 1), *((rung, rung + 1) for rung in rungs)]}, {"e": [*direct, (0, 50)]})
    assert nodes(db) == {0, *(1000 + rung for rung in rungs), *(100 * rung for rung in rungs)}
    db.check()


def test_rows_that_share_their_first_columns_are_each_judged_by_their_own_stamp(maintain: Maintain) -> None:
    """q(1, 2) is younger than a(1), q(1, 3) is older: a(1) may keep the one and not the other."""
    text = """.decl f(x: number, y: number)
    .decl e(x: number, y: number)
    .decl g(x: number, y: number)
    a(x) :- q(x, _).
    q(x, z) :- f(x, z).
    q(x, z) :- a(x), e(x, z).
    q(x, z) :- a(x), g(x, z).
    """
    db = Database(text, maintain=maintain)
    change(db, {"f": [(1, 3)], "e": [(1, 2), (1, 3)], "g": [(1, 2)]})
    assert list(db["q"]) == [(1, 2), (1, 3)]
    change(db, delete={"f": [(1, 3)], "g": [(1, 2)]})
    assert list(db["q"]) == [] == list(db["a"])
    db.check()


def test_a_row_that_falls_and_is_derived_again_in_the_same_transaction_is_no_change(maintain: Maintain) -> None:
    db = Database(REACH, maintain=maintain)
    change(db, {"start": [(0,)], "e": [(0, 1), (1, 2), (2, 3)]})
    with db.transaction() as tx:
        tx.delete("e", [(0, 1)])
        tx.insert("e", [(0, 7), (7, 1)])
    assert (tx.changes["p"].inserted, tx.changes["p"].deleted) == ([(7,)], [])
    db.check()


def test_rows_come_back_in_an_order_of_their_own_and_may_then_support_each_other_the_other_way_round(maintain: Maintain) -> None:
    db = Database(REACH, maintain=maintain)
    both_ways = [(1, 2), (2, 1), (2, 3), (3, 2), (3, 4), (4, 3)]
    change(db, {"start": [(0,)], "e": [(0, 1), *both_ways]})
    change(db, {"e": [(0, 4)]}, {"e": [(0, 1)]})
    assert nodes(db) == {0, 1, 2, 3, 4}
    db.check()
    change(db, {"e": [(0, 2)]}, {"e": [(0, 4)]})
    assert nodes(db) == {0, 1, 2, 3, 4}
    change(db, delete={"e": [(0, 2)]})
    assert nodes(db) == {0}
    db.check()


def test_an_aborted_transaction_leaves_rows_and_stamps_as_they_were(maintain: Maintain) -> None:
    text = ".decl e(x: number, y: number)\np(x, n) :- e(_, x), n = 1.\np(y, m) :- p(x, n), e(x, y), m = n * 10000000000.\n"
    db = Database(text, maintain=maintain)
    change(db, {"e": [(0, 1), (1, 2)]})
    before = list(db["p"])
    with pytest.raises(Exception, match="64-bit"):
        change(db, {"e": [(2, 3), (3, 4)]}, {"e": [(0, 1)]})
    assert list(db["p"]) == before
    db.check()
    change(db, delete={"e": [(1, 2)]})
    assert list(db["p"]) == [(1, 1)]
    db.check()


@pytest.mark.parametrize("maintain", ["derived", "recompute"])
def test_a_nullary_predicate_may_be_part_of_a_recursion(maintain: Maintain) -> None:
    text = ".decl s(x: number)\n.decl e(x: number, y: number)\nq(x) :- s(x).\non() :- q(3).\nq(y) :- on(), e(x, y), q(x).\n"
    db = Database(text, maintain=maintain)
    change(db, {"s": [(1,)], "e": [(1, 2), (2, 5), (5, 3)]})
    assert list(db["on"]) == [] and list(db["q"]) == [(1,)]
    change(db, {"s": [(3,)]})
    assert list(db["on"]) == [()] and list(db["q"]) == [(1,), (2,), (3,), (5,)]
    change(db, delete={"s": [(3,)]})
    assert list(db["on"]) == [] and list(db["q"]) == [(1,)], "q(3) stood on itself only"
    db.check()
