"""Random programs with columns of lattices: maintained is recomputed is naive, in recursion and outside of it."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datalog import Database
from datalog.maintain.engine import Maintain
from tests.oracle.functors import functions
from tests.oracle.lattices import evaluate
from tests.oracle.rules import Row
from tests.properties.lattices import Maker

TRANSACTIONS = 4
OUTPUTS = "rn"


@pytest.mark.parametrize("maintain", ["auto", "recorded", "derived", "recompute"])
@given(seed=st.integers(0, 2**32))
@settings(max_examples=50, deadline=None)
def test_maintained_is_recomputed_is_naive(maintain: Maintain, seed: int) -> None:
    random = Random(seed)
    maker = Maker(random)
    program = maker.program()
    database = Database(program.text(), functions=functions(), maintain=maintain, rows_per_page=4)
    for facts in stream(database, maker):
        for name, rows in evaluate(program, facts).items():
            assert list(database[name]) == sorted(rows), (name, program.text())
        database.check()


@given(seed=st.integers(0, 2**32))
@settings(max_examples=50, deadline=None)
def test_on_demand_the_outputs_are_the_same(seed: int) -> None:
    maker = Maker(Random(seed))
    program = maker.program()
    source = program.text() + "".join(f".output {name}\n" for name in OUTPUTS)
    database = Database(source, functions=functions(), on_demand="*", rows_per_page=4)
    for facts in stream(database, maker):
        expected = evaluate(program, facts)
        for name in OUTPUTS:
            assert list(database[name]) == sorted(expected[name]), (name, source)


def stream(database: Database, maker: Maker) -> Iterator[dict[str, set[Row]]]:
    """The facts after each of some random transactions."""
    random = maker.random
    facts: dict[str, set[Row]] = {name: set() for name in maker.facts(0)}
    for _ in range(TRANSACTIONS):
        drawn = maker.facts(4)
        new = {name: {row for row in sorted(rows) if random.random() < 0.7} | drawn[name] for name, rows in facts.items()}
        with database.transaction() as transaction:
            for name in facts:
                transaction.delete(name, sorted(facts[name] - new[name]))
                transaction.insert(name, sorted(new[name] - facts[name]))
        facts = new
        yield facts
