"""Recursion: after every transaction maintained = recomputed = a naive fixpoint, and every row has support that is older than it is."""

from __future__ import annotations

from itertools import permutations
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datalog import Database
from tests.kernels.blocks import examples
from tests.properties.recursive_programs import SHAPES, Change, Relations, Row, Shape, derivations, fixpoint, stream

MAINTAIN = ["auto", "derived", "recorded", "recompute"]
CLOSURE = SHAPES["closure, left-linear"]


def apply(db: Any, changes: list[Change]) -> Any:
    with db.transaction() as tx:
        for sign, name, row in changes:
            (tx.insert if sign > 0 else tx.delete)(name, [row])
    return tx.changes


def assert_holds(db: Any, shape: Shape, facts: Relations) -> Relations:
    expected = fixpoint(shape, facts)
    for name, rows in expected.items():
        assert set(db[name]) == rows, name
    db.check()
    assert_older_support(db, shape, expected)
    return expected


def assert_older_support(db: Any, shape: Shape, relations: Relations) -> None:
    """Every row of a recursive stratum has a derivation whose premises in the stratum all have smaller stamps."""
    for rules in shape.rules:
        own = {rule.head.predicate for rule in rules}
        if not any(literal.predicate in own for rule in rules for literal in rule.body):
            continue
        stamps = {}
        for name in own:
            rows = sorted(relations[name])
            if rows:
                found = db._engine.storage.stamps(name, np.array(rows, np.int64))
                stamps.update({(name, row): stamp for row, stamp in zip(rows, found.tolist(), strict=True)})
        assert all(stamp > 0 for stamp in stamps.values())
        supported = {
            (rule.head.predicate, row)
            for rule in rules
            for row, premises in derivations(rule, relations)
            if all(stamps[premise] < stamps[rule.head.predicate, row] for premise in premises if premise in stamps)
        }
        assert supported == set(stamps), "a row without older support"


def assert_changes(changes: Any, old: Relations, new: Relations) -> None:
    for name in new:
        assert (set(changes[name].inserted), set(changes[name].deleted)) == (new[name] - old[name], old[name] - new[name]), name


def follow(shape: Shape, seed: int, maintain: str, rows_per_page: int | None, transactions: int) -> None:
    random = Random(seed)
    facts = shape.facts(random)
    db = Database(shape.text, maintain=maintain, rows_per_page=rows_per_page)  # type: ignore[arg-type]
    apply(db, [(1, name, row) for name, rows in facts.items() for row in rows])
    relations = assert_holds(db, shape, facts)
    passed = [({name: set(rows) for name, rows in facts.items()}, relations)]
    for changes in stream(shape, random, facts, transactions):
        done = apply(db, changes)
        relations = assert_holds(db, shape, facts)
        assert_changes(done, passed[-1][1], relations)
        passed.append(({name: set(rows) for name, rows in facts.items()}, relations))
    for (later, _), (earlier, expected) in zip(passed[:0:-1], passed[-2::-1], strict=True):  # the whole way back
        apply(db, [(1 if row in earlier[name] else -1, name, row) for name in later for row in later[name] ^ earlier[name]])
        for name, rows in expected.items():
            assert set(db[name]) == rows, name
    db.check()
    assert_older_support(db, shape, passed[0][1])


@pytest.mark.parametrize("name", SHAPES)
def test_a_recursive_program_stays_true_under_a_stream_that_deletes_a_lot_and_on_the_way_back(name: str) -> None:
    @settings(max_examples=examples(6))
    @given(seed=st.integers(0, 10**6), maintain=st.sampled_from(MAINTAIN), rows_per_page=st.sampled_from([4, None]))
    def run(seed: int, maintain: str, rows_per_page: int | None) -> None:
        follow(SHAPES[name], seed, maintain, rows_per_page, 5)

    run()


@pytest.mark.parametrize("spread", [1, 10**6, 2**59])
@pytest.mark.parametrize("name", [name for name, shape in SHAPES.items() if not any(letter.isdigit() for letter in "".join(shape.strata))])
def test_values_far_apart_and_below_zero_are_found_as_small_ones_are(name: str, spread: int) -> None:
    @settings(max_examples=examples(8))
    @given(seed=st.integers(0, 10**6), maintain=st.sampled_from(["auto", "recompute"]))
    def run(seed: int, maintain: str) -> None:
        shape, random = SHAPES[name], Random(seed)

        def spaced(facts: Relations) -> Relations:
            return {name: {tuple(spread * (value - 2) for value in row) for row in rows} for name, rows in facts.items()}

        facts = shape.facts(random)
        db = Database(shape.text, maintain=maintain)  # type: ignore[arg-type]
        apply(db, [(1, name, row) for name, rows in spaced(facts).items() for row in rows])
        relations = assert_holds(db, shape, spaced(facts))
        assert all(list(db[name]) == sorted(rows) for name, rows in relations.items())
        before = spaced(facts)
        next(stream(shape, random, facts, 1))
        after = spaced(facts)
        apply(db, [(1 if row in after[name] else -1, name, row) for name in before for row in before[name] ^ after[name]])
        assert_holds(db, shape, after)

    run()


@pytest.mark.parametrize("maintain", MAINTAIN)
@pytest.mark.parametrize("name", ["closure, left-linear", "closure, right-linear", "closure, non-linear"])
def test_bridges_of_a_long_chain_can_go_and_come_back(name: str, maintain: str) -> None:
    nodes = 24
    shape, chain = SHAPES[name], [(node, node + 1) for node in range(24)]
    db = Database(shape.text, maintain=maintain, rows_per_page=4)  # type: ignore[arg-type]
    apply(db, [(1, "e", edge) for edge in chain])
    for cut in (nodes // 2, 1, nodes - 1, 0):
        changes = apply(db, [(-1, "e", chain[cut])])
        gone = {(x, y) for x in range(cut + 1) for y in range(cut + 1, nodes + 1)}
        assert (changes["p"].inserted, set(changes["p"].deleted)) == ([], gone)
        assert set(apply(db, [(1, "e", chain[cut])])["p"].inserted) == gone
    apply(db, [(-1, "e", chain[5]), (-1, "e", chain[11]), (1, "e", (5, 12))])
    left: set[Row] = {*chain, (5, 12)}
    assert_holds(db, shape, {"e": left - {chain[5], chain[11]}})


@pytest.mark.parametrize("maintain", MAINTAIN)
def test_edges_leave_a_clique_one_by_one_and_pairs_go_with_their_last_path(maintain: str) -> None:
    edges = list(permutations(range(5), 2))
    Random(1).shuffle(edges)
    db = Database(SHAPES["closure, non-linear"].text, maintain=maintain, rows_per_page=4)  # type: ignore[arg-type]
    apply(db, [(1, "e", edge) for edge in edges])
    while edges:
        apply(db, [(-1, "e", edges.pop())])
        assert_holds(db, SHAPES["closure, non-linear"], {"e": set(edges)})
    assert len(db["p"]) == 0


@pytest.mark.parametrize("maintain", MAINTAIN)
def test_deleting_and_inserting_again_in_one_transaction_changes_nothing(maintain: str) -> None:
    edges: set[Row] = {(5, 0)}
    edges.update((x, y) for x in range(6) for y in range(x + 1, 6))
    db = Database(CLOSURE.text, maintain=maintain)  # type: ignore[arg-type]
    apply(db, [(1, "e", edge) for edge in edges])
    changes = apply(db, [change for edge in sorted(edges) for change in ((-1, "e", edge), (1, "e", edge))])
    assert len(changes) == 0
    assert_holds(db, CLOSURE, {"e": edges})


def test_a_cycle_that_only_supports_itself_falls() -> None:
    db = Database(CLOSURE.text, maintain="derived")
    ring = [(1, 2), (2, 3), (3, 1)]
    apply(db, [(1, "e", edge) for edge in [(0, 1), *ring]])
    assert set(apply(db, [(-1, "e", (0, 1))])["p"].deleted) == {(0, 1), (0, 2), (0, 3)}
    apply(db, [(-1, "e", (1, 2))])
    assert_holds(db, CLOSURE, {"e": {(2, 3), (3, 1)}})
