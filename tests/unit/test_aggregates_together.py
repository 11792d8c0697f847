"""Several totals over the same rows, which are read where they are or from a body that is made, follow every change."""

from __future__ import annotations

from random import Random

import pytest

from datalog import Database
from datalog.errors import EvaluationError
from tests.kernels.blocks import COMPILED
from tests.oracle.aggregates import aggregate

TOTALS = {
    "sum": "sum(v)",
    "count": "count()",
    "min": "min(v)",
    "mean": "mean(v)",
    "max": "max(v)",
    "median": "median(v)",
    "bitxor": "bitxor(v)",
}
PROGRAM = f"""
.decl s(i: number, g: number, v: number)
.decl o(g: number, {", ".join(f"{name}_: {'float' if name == 'mean' else 'number'}" for name in TOTALS)})
o(g, {", ".join(TOTALS)}) <- agg<<{", ".join(f"{name} = {call}" for name, call in TOTALS.items())}>> s(_, g, v)COMPARED.
"""
BODIES = {"in place": "", "made": ", v > -9"}
Row = tuple[int, int, int]


def expected(rows: set[Row]) -> set[tuple[object, ...]]:
    groups: dict[int, list[tuple[int]]] = {}
    for _, group, value in rows:
        groups.setdefault(group, []).append((value,))
    types = {name: "float" if name == "mean" else "number" for name in TOTALS}
    return {(group, *(aggregate(name, values, types[name]) for name in TOTALS)) for group, values in groups.items()}


@pytest.mark.parametrize("maintain", ["auto", "derived", "recompute"])
@pytest.mark.parametrize("body", BODIES)
def test_all_totals_follow_every_change(body: str, maintain: str) -> None:
    random, rows = Random(7), set[Row]()
    db = Database(PROGRAM.replace("COMPARED", BODIES[body]), maintain=maintain)
    assert bool(db._engine.program.unmade) == (body == "in place")
    for step in range(40 if COMPILED else 10):
        some = {(random.randrange(30), random.randrange(4), random.randrange(-8, 9)) for _ in range(random.choice((1, 1, 2, 9)))}
        gone = set(random.sample(sorted(rows), min(len(rows), random.choice((0, 1, 3, len(rows) if step % 10 == 9 else 2))))) - some
        with db.transaction() as transaction:
            transaction.delete("s", sorted(gone))
            transaction.insert("s", sorted(some))
        rows = (rows - gone) | some
        assert set(db["o"]) == expected(rows)
    db.check()


def test_rows_that_are_read_in_place_are_kept_once() -> None:
    db = Database(PROGRAM.replace("COMPARED", ""), facts=None)
    storage = db._engine.storage
    assert [kept.columns for kept in storage.arrangements["s"]] == [(1, 2, 0)]
    with db.transaction() as transaction:
        transaction.insert("s", [(1, 2, 3), (2, 2, 3)])
    assert storage.size("o@body1") == 0
    assert db.query("s(i, 2, v)") == [(1, 3), (2, 3)]


def test_queries_total_what_is_stored() -> None:
    db = Database(PROGRAM.replace("COMPARED", "") + "s(1, 1, 5). s(2, 1, 5). s(3, 1, 1).")
    assert db.query("n = count : { s(_, _, _) }, t = sum v : { s(_, 1, v) }") == [(3, 11)]
    assert db.query("o(g, _, _, _, _, _, _, _), t = sum v : { s(_, g, v) }") == [(1, 11)]


def test_a_sum_that_leaves_its_range_changes_nothing_and_one_that_comes_back_is_exact() -> None:
    db = Database(PROGRAM.replace("COMPARED", ""))
    with db.transaction() as transaction:
        transaction.insert("s", [(1, 1, 2**63 - 1), (2, 1, -5)])
    with pytest.raises(EvaluationError, match=r"`sum` leaves the 64-bit range where g = 1"), db.transaction() as transaction:
        transaction.insert("s", [(3, 1, 6)])
    with db.transaction() as transaction:
        transaction.insert("s", [(3, 1, 6), (4, 1, -1)])
    assert [row[1] for row in db["o"]] == [2**63 - 1]
    db.check()
