"""Demand: what is asked costs what it needs, and not what the graph holds."""

from __future__ import annotations

import pytest

from datalog import Database
from tests.kernels.blocks import COMPILED
from tests.work.graphs import LEFT, NON_LINEAR, RIGHT, Edge, chain

SIZES = (1_000, 10_000) if COMPILED else (100, 400)  # edges
ISLAND = 20  # nodes that reach each other in a chain
ASKS = """.decl asked(x: number)
.decl out(x: number, y: number)
.output out
out(x, y) :- asked(x), p(x, y).
"""
CLOSURES = pytest.mark.parametrize("program", [LEFT, RIGHT, NON_LINEAR], ids=["left-linear", "right-linear", "non-linear"])


def islands(edges: int) -> list[Edge]:
    """Chains that nothing joins."""
    return [edge for island in range(edges // (ISLAND - 1)) for edge in chain(ISLAND - 1, island * ISLAND)]


def on_islands(program: str, edges: int, asked: str = "asked(0).") -> Database:
    facts = " ".join(f"e({x}, {y})." for x, y in islands(edges))
    return Database(f"{program}{ASKS}{asked}\n{facts}\n", on_demand="*")


def flat(costs: list[int]) -> bool:
    return max(costs) <= 1.5 * min(costs)


@CLOSURES
def test_reachability_from_one_node_takes_steps_for_what_it_reaches(program: str) -> None:
    costs = []
    for edges in SIZES:
        db = on_islands(program, edges)
        assert len(db["out"]) == ISLAND - 1
        costs.append(db.steps)
    assert flat(costs), costs
    whole = Database(f"{program}{ASKS}asked(0). " + " ".join(f"e({x}, {y})." for x, y in islands(SIZES[0])))
    assert whole.steps > 5 * max(costs), "the whole closure takes more"


@CLOSURES
def test_a_query_takes_steps_for_what_it_reaches(program: str) -> None:
    costs = []
    for edges in SIZES:
        db = on_islands(program, edges, asked="")
        before = db.steps
        assert db.query("p(40, y)") == [(y,) for y in range(41, 60)]
        costs.append(db.steps - before)
    assert flat(costs), costs


@CLOSURES
def test_what_is_asked_anew_takes_steps_for_what_it_reaches(program: str) -> None:
    costs = []
    for edges in SIZES:
        db = on_islands(program, edges)
        before = db.steps
        with db.transaction() as tx:
            tx.insert("asked", [(40,)])
        assert len(tx.changes["out"].inserted) == ISLAND - 1
        with db.transaction() as tx:
            tx.delete("asked", [(40,)])
        assert len(tx.changes["out"].deleted) == ISLAND - 1
        costs.append(db.steps - before)
        db.check()
    assert flat(costs), costs


@CLOSURES
def test_an_edge_that_nobody_asks_for_costs_next_to_nothing(program: str) -> None:
    for edges in SIZES:
        db = on_islands(program, edges)
        before = db.steps
        with db.transaction() as tx:
            tx.delete("e", [(50, 51)])
        assert "out" not in tx.changes
        assert db.steps - before <= 12


def test_what_nothing_asks_for_is_not_evaluated() -> None:
    db = on_islands(LEFT, SIZES[0], asked="")
    assert db.steps <= 4, "only what is asked is looked at"
