"""Rules without recursion: what does not concern a rule costs it nothing, and a local change costs the same at any size."""

from __future__ import annotations

import pytest

from datalog.maintain.engine import Maintain
from tests.kernels.blocks import COMPILED
from tests.work.graphs import TRIANGLES, change, on_edges, ring

SIZES = [1_000, 10_000, 100_000] if COMPILED else [60, 240]
MAINTAIN: list[Maintain] = ["recorded", "derived", "auto"]


@pytest.mark.parametrize("maintain", [*MAINTAIN, "recompute"])
def test_a_change_that_a_rule_does_not_read_makes_no_step_for_it(maintain: Maintain) -> None:
    db = on_edges(TRIANGLES, ring(100), maintain)
    with db.transaction() as tx:
        tx.insert("lone", [(1,), (2,), (3,)])
    before = db.steps
    with db.transaction() as tx:
        tx.insert("lone", [(4,)])
    assert tx.changes["named"].inserted == [(4,)]
    few = db.steps - before
    larger = on_edges(TRIANGLES, ring(1_000 if COMPILED else 200), maintain)
    with larger.transaction() as tx:
        tx.insert("lone", [(1,), (2,), (3,)])
    before = larger.steps
    with larger.transaction() as tx:
        tx.insert("lone", [(4,)])
    assert larger.steps - before == few <= 6, "only the rule that copies `lone` may work"


@pytest.mark.parametrize("maintain", [*MAINTAIN, "recompute"])
def test_a_change_that_no_rule_reads_makes_no_step_at_all(maintain: Maintain) -> None:
    db = on_edges(TRIANGLES + ".decl unread(x: number)\n", ring(100), maintain)
    before = db.steps
    with db.transaction() as tx:
        tx.insert("unread", [(1,)])
    assert len(tx.changes) == 1
    assert db.steps == before


@pytest.mark.parametrize("maintain", [*MAINTAIN, "recompute"])
def test_a_change_that_changes_nothing_makes_no_step(maintain: Maintain) -> None:
    db = on_edges(TRIANGLES, ring(100), maintain)
    assert change(db, insert=[(1, 2)], delete=[(50, 7)], derived="t").steps == 0
    with db.transaction() as tx:
        tx.delete("e", [(1, 2)])
        tx.insert("e", [(1, 2)])
    assert len(tx.changes) == 0


@pytest.mark.parametrize("maintain", MAINTAIN)
def test_one_edge_deleted_and_inserted_again_costs_the_same_at_every_size(maintain: Maintain) -> None:
    costs = []
    for nodes in SIZES:
        db = on_edges(TRIANGLES, ring(nodes), maintain)
        edge = (nodes // 2, nodes // 2 + 1)
        gone, back = change(db, delete=[edge], derived="t"), change(db, insert=[edge], derived="t")
        assert gone.deleted == back.inserted == 2
        assert gone.inserted == back.deleted == 0
        costs.append((gone.steps, back.steps))
    for deleting, inserting in costs:
        assert 0.8 <= deleting / costs[0][0] <= 1.2, costs
        assert 0.8 <= inserting / costs[0][1] <= 1.2, costs
    assert max(map(sum, costs)) < 400


@pytest.mark.parametrize("maintain", MAINTAIN)
def test_the_cost_of_a_local_change_stays_the_same_through_many_transactions(maintain: Maintain) -> None:
    db = on_edges(TRIANGLES, ring(500 if COMPILED else 120), maintain)
    costs = []
    for round_ in range(120):
        node = 37 * round_ % 100
        edge = (node, node + 1)
        costs.append(change(db, delete=[edge], derived="t").steps + change(db, insert=[edge], derived="t").steps)
    assert max(costs[-20:]) <= 1.2 * max(costs[:20]), "a stream must not make a database slower"
    db.check()
