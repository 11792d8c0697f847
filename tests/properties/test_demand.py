"""Demand: what outputs ask for is the same with and without it, after every transaction, and so are queries."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import datalog
from datalog.errors import DatalogError
from tests.properties.demand import Asking, askings
from tests.properties.streams import Transaction, after, streams
from tests.properties.test_differential import Facts, apply, naive


@st.composite
def cases(draw: Any) -> tuple[Asking, list[Transaction]]:
    asking = draw(askings())
    return asking, draw(streams(asking.drawn))


@settings(max_examples=150)
@given(case=cases())
def test_what_outputs_and_queries_ask_for_is_that_of_the_whole_evaluation(case: tuple[Asking, list[Transaction]]) -> None:
    asking, stream = case
    program = asking.drawn.program
    facts: Facts = {name: set(rows) for name, rows in asking.drawn.facts.items()}
    expected = naive(program, facts, "skip")
    if isinstance(expected, dict):
        db = datalog.Database(asking.drawn.text + asking.outputs, on_demand="*", failing="skip")
    else:
        facts = {name: set() for name in facts}
        expected = naive(program, facts, "skip")
        db = datalog.Database(asking.drawn.text_without_facts + asking.outputs, on_demand="*", failing="skip")
    assert isinstance(expected, dict)
    for transaction in [(), *stream]:
        changed = after(facts, transaction)
        wanted = naive(program, changed, "skip")
        if isinstance(wanted, dict):
            apply(db, transaction)
            facts, expected = changed, wanted
        else:
            with pytest.raises(DatalogError):
                apply(db, transaction)
        for name in asking.wants:
            assert list(db[name]) == sorted(expected[name]), name
        for number, (name, _) in enumerate(asking.queries):
            rows = asking.answer(number, expected[name])
            assert db.query(asking.query(number)) == rows, asking.query(number)
        db.check()
