"""Equivalences: a change within a few classes costs the same however many others there are, and closing them takes no step a row."""

from __future__ import annotations

import pytest

from datalog import Database
from datalog.maintain.engine import Maintain
from tests.kernels.blocks import COMPILED

ALONE = ".decl e(x: number, y: number)\n.decl p(x: number, y: number) eqrel\np(x, y) :- e(x, y).\n"
RECURSIVE = ALONE + ".decl f(x: number, y: number)\np(x, z) :- p(x, y), f(y, z).\n"
SIZES = [100, 1_000, 10_000] if COMPILED else [20, 80]
SMALL_STEPS: list[Maintain] = ["derived", "auto"]


def chains(count: int) -> list[tuple[int, int]]:
    """So many classes of six elements."""
    return [(10 * number + link, 10 * number + link + 1) for number in range(count) for link in range(5)]


def steps(db: Database, insert: list[tuple[int, int]], delete: list[tuple[int, int]]) -> int:
    before = db.steps
    with db.transaction() as tx:
        tx.insert("e", insert)
        tx.delete("e", delete)
    return db.steps - before


@pytest.mark.parametrize("maintain", SMALL_STEPS)
@pytest.mark.parametrize("program", [ALONE, RECURSIVE], ids=["alone", "recursive"])
def test_merging_and_splitting_cost_the_same_with_any_number_of_other_classes(program: str, maintain: Maintain) -> None:
    costs = []
    for count in SIZES:
        db = Database(program, maintain=maintain)
        with db.transaction() as tx:
            tx.insert("e", chains(count))
        steps(db, [(-1, -2)], [])  # what the first change prepares
        costs.append([steps(db, [(5, 10)], []), steps(db, [], [(5, 10)]), steps(db, [], [(12, 13)]), steps(db, [(12, 13)], [])])
    for cost in zip(*costs, strict=True):
        assert max(cost) <= 3 * min(cost) and max(cost) < 500, "of six elements and a logarithm"


@pytest.mark.parametrize("maintain", SMALL_STEPS)
def test_a_pair_that_others_make_needless_goes_without_a_look_at_its_class(maintain: Maintain) -> None:
    costs = []
    for count in (8, 32) if not COMPILED else (20, 200):
        db = Database(ALONE, maintain=maintain)
        clique = [(x, y) for x in range(count) for y in range(x + 1, count)]
        with db.transaction() as tx:
            tx.insert("e", clique)
        steps(db, [(-1, -2)], [])
        costs.append(steps(db, [], [(3, 5)]))
        assert len(db["p"]) == count * count + 4
    assert costs[1] <= 20 * costs[0], "the neighbours of two elements are looked at, and not the pairs of all"
