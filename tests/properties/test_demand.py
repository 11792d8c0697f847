"""Demand: what outputs ask for is the same with and without it, after every transaction, and so are queries."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import datalog
from datalog.errors import DatalogError
from tests.kernels.blocks import examples
from tests.oracle.structures import evaluate, text
from tests.properties.demand import Asking, askings
from tests.properties.recursive_programs import SHAPES, Relations, Row, fixpoint, stream
from tests.properties.streams import Transaction, after, streams
from tests.properties.structures import GIVEN, Maker, clauses, value
from tests.properties.test_differential import Facts, apply, naive
from tests.properties.test_recursion import apply as apply_changes
from tests.properties.test_structures import program as program_of
from tests.properties.test_structures import rows_of, to_engine


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


@pytest.mark.parametrize("name", SHAPES)
def test_a_recursion_that_is_asked_by_constants_and_by_what_changes_gives_what_it_gives_whole(name: str) -> None:
    @settings(max_examples=examples(6))
    @given(seed=st.integers(0, 10**6), maintain=st.sampled_from(["auto", "derived", "recorded", "recompute"]))
    def run(seed: int, maintain: str) -> None:
        shape, random = SHAPES[name], Random(seed)
        widths = {rule.head.predicate: len(rule.head.terms) for stratum in shape.rules for rule in stratum}
        asked = {predicate: random.randrange(width) for predicate, width in widths.items()}
        constants = {predicate: _some(random, shape.values, width) for predicate, width in widths.items()}
        extra = [_outputs(predicate, constants[predicate], asked[predicate]) for predicate in widths]
        facts: Relations = {**shape.facts(random), "asked": set()}
        db = datalog.Database(f"{shape.text}.decl asked(c: number)\n{''.join(extra)}", on_demand="*", maintain=maintain)  # type: ignore[arg-type]
        apply_changes(db, [(1, predicate, row) for predicate, rows in facts.items() for row in rows])
        for changes in stream(shape, random, facts, 5):
            value = (random.randrange(shape.values),)
            sign = -1 if value in facts["asked"] else 1
            (facts["asked"].add if sign > 0 else facts["asked"].discard)(value)
            apply_changes(db, [*changes, (sign, "asked", value)])
            whole = fixpoint(shape, facts)
            for predicate, rows in whole.items():
                if predicate in widths:
                    assert set(db[f"some_{predicate}"]) == {row for row in rows if _fits(row, constants[predicate])}
                    assert set(db[f"of_{predicate}"]) == {row for row in rows if (row[asked[predicate]],) in facts["asked"]}
            db.check()

    run()


def _some(random: Random, values: int, width: int) -> list[int | None]:
    return [random.randrange(values) if random.random() < 0.6 else None for _ in range(width)]


def _outputs(predicate: str, constants: list[int | None], asked: int) -> str:
    """Two outputs, of the rows with some values, and of those that the predicate `asked` asks for by one column."""
    columns = ", ".join(f"x{at}" for at in range(len(constants)))
    typed = ", ".join(f"x{at}: number" for at in range(len(constants)))
    equal = "".join(f", x{at} = {value}" for at, value in enumerate(constants) if value is not None)
    return f""".decl some_{predicate}({typed}) .output some_{predicate}
some_{predicate}({columns}) :- {predicate}({columns}){equal}.
.decl of_{predicate}({typed}) .output of_{predicate}
of_{predicate}({columns}) :- asked(x{asked}), {predicate}({columns}).
"""


def _fits(row: Row, values: list[int | None]) -> bool:
    return all(value is None or cell == value for cell, value in zip(row, values, strict=True))


@settings(max_examples=examples(40))
@given(seed=st.integers(0, 2**32))
def test_records_and_branches_that_are_asked_for_are_those_of_the_whole_evaluation(seed: int) -> None:
    random = Random(seed)
    maker = Maker(random)
    rules = [maker.rule(f"d{number}") for number in range(4)]
    db = datalog.Database(program_of(rules, maker.types) + "\n.output d2, d3\n", on_demand="*")
    facts: dict[str, set[tuple[Any, ...]]] = {name: set() for name in GIVEN}
    for _ in range(4):
        with db.transaction() as tx:
            for name, types in GIVEN.items():
                deleted = {row for row in sorted(facts[name], key=text) if random.random() < 0.3}
                inserted = {tuple(value(random, type) for type in types) for _ in range(random.choice((0, 1, 3)))} - deleted
                tx.delete(name, [tuple(map(to_engine, row)) for row in deleted])
                tx.insert(name, [tuple(map(to_engine, row)) for row in inserted])
                facts[name] = facts[name] - deleted | inserted
        expected = evaluate([clauses(), *([rule] for rule in rules)], facts)
        for name in ("d2", "d3"):
            assert rows_of(db, name) == expected[name]
        for name in ("list", "tree", "d0"):
            types = maker.types[name]
            rows = db.query(f"{name}({', '.join(f'x{at}' for at in range(len(types)))})")
            assert set(rows) == {tuple(map(to_engine, row)) for row in expected[name]}
        db.check()
