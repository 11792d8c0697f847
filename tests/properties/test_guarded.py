"""Random programs with choice domains and subsumption: maintained is recomputed is naive, and does not depend on what has been before."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datalog import Database
from datalog.errors import EvaluationError
from datalog.maintain.engine import Maintain
from tests.oracle.rounds import EndlessError, Guarded, evaluate
from tests.oracle.rules import Row
from tests.properties.guarded import GIVEN, Maker, random_rows

ROUNDS = 40
TRANSACTIONS = 5
Facts = dict[str, set[Row]]


def given_names(guarded: Guarded) -> list[str]:
    """What takes facts: also derived predicates, whose facts count like what rules derive."""
    return [name for name in guarded.program.types if name not in guarded.deltas]


def naive(guarded: Guarded, facts: Facts) -> dict[str, set[Row]] | None:
    """None: it does not end."""
    try:
        return evaluate(guarded, facts, ROUNDS)
    except EndlessError:
        return None


def changed(random: Random, guarded: Guarded, facts: Facts) -> Facts:
    new: Facts = {}
    for name in given_names(guarded):
        kept = {row for row in sorted(facts[name]) if random.random() < 0.7}
        new[name] = kept | random_rows(random, name, guarded.program.types[name], 3 if name in GIVEN else 1)
    return new


def apply(database: Any, old: Facts, new: Facts) -> None:
    with database.transaction() as transaction:
        for name in new:
            transaction.delete(name, sorted(old[name] - new[name]))
            transaction.insert(name, sorted(new[name] - old[name]))


@pytest.mark.parametrize("maintain", ["auto", "recorded", "derived", "recompute"])
@given(seed=st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_maintained_is_recomputed_is_naive(maintain: Maintain, seed: int) -> None:
    random = Random(seed)
    guarded = Maker(random).program()
    source = guarded.text()
    facts: Facts = {name: set() for name in given_names(guarded)}
    expected = naive(guarded, facts)
    if expected is None:  # facts of the text alone do not end
        with pytest.raises(EvaluationError):
            Database(source, max_rounds=ROUNDS)
        return
    database = Database(source, maintain=maintain, max_rounds=ROUNDS, rows_per_page=4)
    for _ in range(TRANSACTIONS):
        new = changed(random, guarded, facts)
        expected = naive(guarded, new)
        if expected is None:
            with pytest.raises(EvaluationError):
                apply(database, facts, new)
            continue
        apply(database, facts, new)
        facts = new
        for name, rows in expected.items():
            assert list(database[name]) == sorted(rows), (name, source)
        database.check()
    fresh = Database(source, max_rounds=ROUNDS)
    apply(fresh, {name: set() for name in facts}, facts)
    for name in guarded.program.types:
        assert list(fresh[name]) == list(database[name]), name


def spelled(name: str, row: Row) -> str:
    terms = (f'"{value}"' if isinstance(value, str) else str(value) for value in row)
    return f"{name}({', '.join(terms)})"


@given(seed=st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_each_row_has_a_proof_or_has_outlived_it_and_each_absence_a_reason(seed: int) -> None:
    random = Random(seed)
    guarded = Maker(random).program()
    facts = changed(random, guarded, {name: set() for name in given_names(guarded)})
    expected = naive(guarded, facts)
    if expected is None:
        return
    database = Database(guarded.text(), max_rounds=ROUNDS)
    apply(database, {name: set() for name in facts}, facts)
    for name, types in guarded.program.types.items():
        for row in expected[name]:
            proof = database.explain(spelled(name, row))
            assert proof.fact == spelled(name, row)
            for node in proof.nodes():
                assert node.kind != "derived" or node.premises or (node.rule is None and "have left since" in node.note), proof
        for row in sorted(random_rows(random, name, types, 4) - expected[name] if name not in guarded.deltas else ()):
            reason = database.why_not(spelled(name, row))
            for attempt in reason.attempts:
                assert attempt.failed is not None or attempt.reason, reason
    database.check()
