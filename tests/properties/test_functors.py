"""Random programs with functors and aggregates of the user's own: maintained is recomputed is naive."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datalog import Database
from datalog.maintain.engine import Maintain
from tests.oracle.functors import FUNCTORS, declarations, functions
from tests.oracle.naive import evaluate
from tests.oracle.rules import Row
from tests.oracle.text import to_text
from tests.properties.functors import GIVEN, Maker, random_rows

TRANSACTIONS = 5


@pytest.mark.parametrize("maintain", ["auto", "recorded", "derived", "recompute"])
@given(seed=st.integers(0, 2**32))
@settings(max_examples=50, deadline=None)
def test_maintained_is_recomputed_is_naive(maintain: Maintain, seed: int) -> None:
    random = Random(seed)
    program = Maker(random).program()
    source = declarations(FUNCTORS) + to_text(program)
    database = Database(source, functions=functions(), maintain=maintain, rows_per_page=4)
    facts: dict[str, set[Row]] = {name: set() for name in GIVEN}
    for _ in range(TRANSACTIONS):
        new = {name: {row for row in rows if random.random() < 0.7} | random_rows(random, name, 4) for name, rows in facts.items()}
        with database.transaction() as transaction:
            for name in GIVEN:
                transaction.delete(name, sorted(facts[name] - new[name]))
                transaction.insert(name, sorted(new[name] - facts[name]))
        facts = new
        for name, rows in evaluate(program, facts).items():
            assert list(database[name]) == sorted(rows), (name, source)
        database.check()
