"""Aggregates, functional predicates, primitives and types: maintained = recomputed = naive, on random programs and streams."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from tests.properties.programs import Drawn, rich_programs
from tests.properties.streams import Transaction, difference, streams
from tests.properties.test_differential import apply, assert_holds, start, step


@st.composite
def cases(draw: Any) -> tuple[Drawn, list[Transaction]]:
    drawn = draw(rich_programs())
    return drawn, draw(streams(drawn))


def follow(case: tuple[Drawn, list[Transaction]], **options: Any) -> tuple[Any, list[Any]]:
    """The database after the stream, and the facts and relations that it passed."""
    drawn, stream = case
    note(f"{options}")
    db, facts, relations = start(drawn, **options)
    assert_holds(db, relations)
    passed = [(facts, relations)]
    for transaction in stream:
        how = {name: options[name] for name in ("failing", "overflow") if name in options}
        passed.append(step(db, drawn.program, transaction, *passed[-1], **how))
    return db, passed


@pytest.mark.parametrize("maintain", ["auto", "recorded", "derived", "recompute"])
def test_what_rules_compute_equals_the_naive_evaluation_after_each_transaction(maintain: str) -> None:
    @settings(max_examples=60)
    @given(case=cases())
    def run(case: tuple[Drawn, list[Transaction]]) -> None:
        follow(case, maintain=maintain, rows_per_page=4)

    run()


@settings(max_examples=40)
@given(case=cases())
def test_a_computation_without_a_result_does_not_hold_where_failing_is_skip(case: tuple[Drawn, list[Transaction]]) -> None:
    follow(case, failing="skip", rows_per_page=4)


@pytest.mark.parametrize("failing", ["error", "skip"])
def test_numbers_wrap_around_where_that_is_asked_for(failing: str) -> None:
    @settings(max_examples=40)
    @given(case=cases())
    def run(case: tuple[Drawn, list[Transaction]]) -> None:
        follow(case, overflow="wrap", failing=failing, rows_per_page=4)

    run()


@settings(max_examples=30)
@given(case=cases())
def test_undoing_a_stream_restores_what_rules_compute(case: tuple[Drawn, list[Transaction]]) -> None:
    db, passed = follow(case, rows_per_page=4)
    for later, earlier in pairwise(reversed(passed)):
        apply(db, difference(later[0], earlier[0]))
        assert_holds(db, earlier[1])
