"""Recursion costs what a change changes: cliques, chains, and edges that add no fact."""

from __future__ import annotations

from itertools import pairwise

import pytest

from datalog.maintain.engine import Maintain
from tests.kernels.blocks import COMPILED
from tests.work.graphs import CHAINS, CLIQUES, LEFT, LINEAR, NON_LINEAR, RIGHT, chain, change, clique, on_edges

MAINTAIN: list[Maintain] = ["derived", "recorded", "auto"]
CLOSURES = {**LINEAR, "non-linear": NON_LINEAR}


@pytest.mark.parametrize("maintain", MAINTAIN)
@pytest.mark.parametrize("closure", CLOSURES)
def test_an_edge_of_a_clique_costs_a_linear_number_of_steps_and_changes_nothing(closure: str, maintain: Maintain) -> None:
    costs = []
    for nodes in CLIQUES:
        db = on_edges(CLOSURES[closure], clique(nodes), maintain)
        gone, back = change(db, delete=[(3, nodes // 2)]), change(db, insert=[(3, nodes // 2)])
        assert gone.inserted == gone.deleted == back.inserted == back.deleted == 0
        costs.append(gone.steps)
        assert gone.steps <= 15 * nodes and back.steps <= 15 * nodes
    assert all(larger <= 2.3 * smaller for smaller, larger in pairwise(costs)), costs


@pytest.mark.parametrize("maintain", MAINTAIN)
def test_in_a_clique_only_the_pairs_that_lose_their_last_path_go(maintain: Maintain) -> None:
    """A leaf that hangs on the clique by one edge: its pairs go, and no others are looked at."""
    costs = []
    for nodes in CLIQUES:
        db = on_edges(LEFT, [*clique(nodes), (0, nodes)], maintain)
        gone = change(db, delete=[(0, nodes)])
        assert (gone.inserted, gone.deleted) == (0, nodes)
        costs.append(gone.steps)
        db.check()
    assert all(larger <= 2.3 * smaller for smaller, larger in pairwise(costs)), costs


@pytest.mark.parametrize("closure", LINEAR)
def test_cutting_a_chain_in_the_middle_costs_a_constant_for_each_pair_that_it_disconnects(closure: str) -> None:
    for nodes in CHAINS:
        db = on_edges(LINEAR[closure], chain(nodes), "derived")
        cut = nodes // 2
        pairs = (cut + 1) * (nodes - cut)
        gone, back = change(db, delete=[(cut, cut + 1)]), change(db, insert=[(cut, cut + 1)])
        assert (gone.inserted, gone.deleted, back.inserted, back.deleted) == (0, pairs, pairs, 0)
        assert gone.steps <= 25 * pairs
        assert back.steps <= 6 * pairs


@pytest.mark.parametrize("closure", LINEAR)
def test_cutting_off_an_end_of_a_chain_is_cheap(closure: str) -> None:
    """Under "derived": the chains are so short that "auto" may find evaluation anew the cheaper way, rightly."""
    costs = []
    for nodes in CHAINS:
        db = on_edges(LINEAR[closure], chain(nodes), "derived")
        for cut in ((nodes - 1, nodes), (0, 1)):
            gone, back = change(db, delete=[cut]), change(db, insert=[cut])
            assert gone.deleted == back.inserted == nodes
            costs.append(gone.steps)
            assert gone.steps <= 25 * nodes and back.steps <= 6 * nodes
    assert all(larger <= 2.3 * smaller for smaller, larger in zip(costs, costs[2:], strict=False)), costs


@pytest.mark.parametrize("maintain", MAINTAIN)
@pytest.mark.parametrize("closure", LINEAR)
def test_an_edge_that_adds_no_fact_costs_its_own_derivations_whatever_the_size(closure: str, maintain: Maintain) -> None:
    """Chains of ten; the shortcut adds a derivation to one pair, and a constant number of pairs lie around it."""
    costs = []
    for chains in (10, 100, 1_000) if COMPILED else (4, 12, 36):
        db = on_edges(LINEAR[closure], [edge for first in range(chains) for edge in chain(9, 10 * first)], maintain)
        first = 10 * (chains // 2)
        shortcut = (first + 7, first + 9) if LINEAR[closure] is RIGHT else (first, first + 2)
        back, gone = change(db, insert=[shortcut]), change(db, delete=[shortcut])
        assert back.inserted == back.deleted == gone.inserted == gone.deleted == 0
        costs.append((back.steps, gone.steps))
    assert costs[0] == costs[1] == costs[2]
    assert costs[0][0] <= 10 and costs[0][1] <= 40
