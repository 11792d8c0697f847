"""The main property: after every transaction, maintained = recomputed = naive, on random programs and random streams."""

from __future__ import annotations

import inspect
from itertools import count, groupby, pairwise, product
from typing import Any

import pytest
from hypothesis import assume, given, note, seed, settings
from hypothesis import strategies as st

import datalog
from datalog.errors import EvaluationError, PlacedError
from tests.conftest import IN_CI
from tests.oracle.naive import OracleArithmeticError, OracleConflictError, evaluate
from tests.oracle.rules import Program, Row
from tests.properties.programs import Drawn, programs, rich_programs
from tests.properties.streams import Transaction, after, conflicts, difference, streams

Facts = dict[str, set[Row]]
Relations = dict[str, set[Row]]
Changes = dict[str, tuple[list[Row], list[Row]]]

TREATMENTS: dict[str, tuple[object, ...]] = {
    "rows_per_page": (4,),
    "coalesce": ("exact", "run", "hull"),
    "maintain": ("recorded", "recompute"),
}


@st.composite
def cases(draw: Any) -> tuple[Drawn, list[Transaction]]:
    drawn = draw(programs())
    return drawn, draw(streams(drawn))


@st.composite
def mixed_cases(draw: Any) -> tuple[Drawn, list[Transaction]]:
    """Plain cases, and now and then one with everything that rules compute."""
    drawn = draw(st.one_of(programs(), programs(), rich_programs()))
    return drawn, draw(streams(drawn))


def naive(program: Program, facts: Facts, failing: str = "error", overflow: str = "error") -> Relations | type[PlacedError]:
    """The oracle's relations, or what the engine has to raise: a computation has no result, or a key has two values."""
    if conflicts(facts, program.functional):
        return PlacedError  # where the facts stand
    try:
        return evaluate(program, facts, failing, overflow)
    except (OracleArithmeticError, OracleConflictError):
        return EvaluationError


def start(drawn: Drawn, **options: Any) -> tuple[Any, Facts, Relations]:
    """A database on the program and its facts; without the facts if those have no result."""
    facts = {name: set(rows) for name, rows in drawn.facts.items()}
    failing, overflow = options.get("failing", "error"), options.get("overflow", "error")
    expected = naive(drawn.program, facts, failing, overflow)
    if isinstance(expected, dict):
        return datalog.Database(drawn.text, **options), facts, expected
    with pytest.raises(expected):
        datalog.Database(drawn.text, **options)
    facts = {name: set() for name in facts}
    return datalog.Database(drawn.text_without_facts, **options), facts, evaluate(drawn.program, facts, failing, overflow)


def apply(db: Any, transaction: Transaction) -> Any:
    """Run `transaction`, rows of one kind in one call, and return its changes."""
    with db.transaction() as tx:
        for (kind, name), group in groupby(transaction, key=lambda change: change[:2]):
            getattr(tx, kind)(name, [row for _, _, row in group])
    return tx.changes


def assert_holds(db: Any, expected: Relations) -> None:
    for name, rows in expected.items():
        found, wanted = list(db[name]), sorted(rows)
        assert found == wanted, name
        assert list(map(repr, found)) == list(map(repr, wanted)), f"types of {name}"
    db.check()


def assert_changed(changes: Any, old: Relations, new: Relations) -> None:
    assert set(changes) <= set(new), "only the program's own predicates are reported"
    for name in new:
        inserted = list(changes[name].inserted) if name in changes else []
        deleted = list(changes[name].deleted) if name in changes else []
        assert (inserted, deleted) == (sorted(new[name] - old[name]), sorted(old[name] - new[name])), name


def step(
    db: Any,
    program: Program,
    transaction: Transaction,
    facts: Facts,
    relations: Relations,
    failing: str = "error",
    overflow: str = "error",
) -> tuple[Facts, Relations]:
    """Apply `transaction` and compare everything with the oracle; returns what holds afterwards."""
    new_facts = after(facts, transaction)
    expected = naive(program, new_facts, failing, overflow)
    if not isinstance(expected, dict):
        with pytest.raises(expected):
            apply(db, transaction)
        assert_holds(db, relations)
        return facts, relations
    assert_changed(apply(db, transaction), relations, expected)
    assert_holds(db, expected)
    return new_facts, expected


def test_after_each_transaction_everything_equals_the_naive_evaluation(batch: tuple[int, int]) -> None:
    number, pairs = batch
    compared = 0

    @given(case=cases())
    def follow(case: tuple[Drawn, list[Transaction]]) -> None:
        nonlocal compared
        drawn, stream = case
        db, facts, relations = start(drawn)
        assert_holds(db, relations)
        for transaction in stream:
            facts, relations = step(db, drawn.program, transaction, facts, relations)
            compared += 1

    for turn in count():
        if compared >= pairs:
            break
        if IN_CI:
            seed(1_000 * number + turn)(follow)
        follow()


@settings(max_examples=60)
@given(case=cases())
def test_undoing_a_stream_restores_every_state_on_the_way_back(case: tuple[Drawn, list[Transaction]]) -> None:
    drawn, stream = case
    db, facts, relations = start(drawn)
    passed = [(facts, relations)]
    for transaction in stream:
        passed.append(step(db, drawn.program, transaction, *passed[-1]))
    for later, earlier in pairwise(reversed(passed)):
        apply(db, difference(later[0], earlier[0]))
        assert_holds(db, earlier[1])


@settings(max_examples=60)
@given(case=cases(), cuts=st.lists(st.integers(0, 40), max_size=6))
def test_one_transaction_and_its_changes_split_up_give_the_same(case: tuple[Drawn, list[Transaction]], cuts: list[int]) -> None:
    drawn, stream = case
    whole = tuple(change for transaction in stream for change in transaction)
    places = [0, *sorted(min(cut, len(whole)) for cut in cuts), len(whole)]
    db, facts, relations = start(drawn)
    split, split_facts, split_relations = start(drawn)
    for first, last in pairwise(places):
        expected = naive(drawn.program, after(split_facts, whole[first:last]))
        assume(isinstance(expected, dict))  # a rejected part would leave the two with different facts
        split_facts, split_relations = step(split, drawn.program, whole[first:last], split_facts, split_relations)
    step(db, drawn.program, whole, facts, relations)
    for name in drawn.program.types:
        assert list(db[name]) == list(split[name]), name


def test_the_treatments_are_options_of_the_database() -> None:
    assert set(TREATMENTS) <= set(inspect.signature(datalog.Database).parameters)


@pytest.mark.parametrize("values", list(product(*TREATMENTS.values())), ids=str)
def test_every_treatment_gives_the_same_relations_and_changes(values: tuple[object, ...]) -> None:
    options: dict[str, Any] = dict(zip(TREATMENTS, values, strict=True))

    @settings(max_examples=25)
    @given(case=mixed_cases())
    def follow(case: tuple[Drawn, list[Transaction]]) -> None:
        drawn, stream = case
        note(f"{options}")
        db, facts, relations = start(drawn, **options)
        assert_holds(db, relations)
        for transaction in stream:
            facts, relations = step(db, drawn.program, transaction, facts, relations)

    follow()
