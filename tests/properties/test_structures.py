"""Random programs over records and branches: what is maintained is what is computed anew, and what the naive oracle finds."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datalog import Branch, Database
from datalog.maintain.engine import Maintain
from tests.oracle.structures import Clause, clause_text, evaluate, text
from tests.properties.structures import GIVEN, PARTS, TYPES, Maker, clauses, value

RULES = 4
TRANSACTIONS = 4
Facts = dict[str, set[tuple[Any, ...]]]


def program(rules: list[Clause], types: dict[str, tuple[str, ...]]) -> str:
    declared = [f".decl {name}({', '.join(f'c{at}: {type}' for at, type in enumerate(row))})" for name, row in types.items()]
    inputs = [f".input {name}" for name in GIVEN]
    recursion = [rule for _, *parts in PARTS.values() for rule in parts]
    return "\n".join((TYPES, *declared, *inputs, *recursion, *map(clause_text, rules)))


def to_engine(one: Any) -> Any:
    """The oracle's form of a value as Python code gives it to the engine."""
    if not isinstance(one, tuple):
        return one
    if one and isinstance(one[0], str) and one[0].startswith("$"):
        return Branch(one[0][1:], *map(to_engine, one[1:]))
    return tuple(map(to_engine, one))


def to_oracle(one: Any) -> Any:
    if isinstance(one, Branch):
        return (f"${one.branch}", *map(to_oracle, one))
    return tuple(map(to_oracle, one)) if isinstance(one, tuple) else one


def rows_of(database: Database, name: str) -> set[tuple[Any, ...]]:
    return {tuple(map(to_oracle, row)) for row in database[name]}


@pytest.mark.parametrize("maintain", ["auto", "recorded", "derived", "recompute"])
@given(seed=st.integers(0, 2**32))
@settings(max_examples=15, deadline=None)
def test_maintained_is_recomputed_is_naive(maintain: Maintain, seed: int) -> None:
    random = Random(seed)
    maker = Maker(random)
    rules = [maker.rule(f"d{number}") for number in range(RULES)]
    source = program(rules, maker.types)
    database = Database(source, maintain=maintain)
    facts: Facts = {name: set() for name in GIVEN}
    for _ in range(TRANSACTIONS):
        with database.transaction() as transaction:
            for name, types in GIVEN.items():
                deleted = {row for row in sorted(facts[name], key=text) if random.random() < 0.3}
                inserted = {tuple(value(random, type) for type in types) for _ in range(random.choice((0, 1, 3)))} - deleted
                transaction.delete(name, [tuple(map(to_engine, row)) for row in deleted])
                transaction.insert(name, [tuple(map(to_engine, row)) for row in inserted])
                facts[name] = facts[name] - deleted | inserted
        expected = evaluate([clauses(), *([rule] for rule in rules)], facts)
        for name in maker.types:
            assert rows_of(database, name) == expected[name], (name, source)
    again = Database(source)
    with again.transaction() as transaction:
        for name, rows in facts.items():
            transaction.insert(name, [tuple(map(to_engine, row)) for row in sorted(rows, key=text)])
    for name in maker.types:
        assert list(again[name]) == list(database[name]), "the order of rows says nothing of what was there before"
