"""What the random programs and streams reach: no property over them is empty.

Counted by the oracle alone, over as many cases as one run of a property has and a few more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, seed, settings

from tests.oracle import naive
from tests.oracle.aggregates import aggregate
from tests.oracle.flatten import flatten
from tests.oracle.naive import OracleArithmeticError, OracleConflictError, evaluate
from tests.oracle.rules import Fold, Program, Row, Value, reads
from tests.properties.programs import Drawn
from tests.properties.streams import Facts, Transaction, after, conflicts
from tests.properties.test_values import cases

CASES = 250  # of one search, whose cases resemble each other
SEARCHES = 10  # at most
FAMILIES = {
    "count": "counts",
    "sum": "sums",
    **dict.fromkeys(("min", "max"), "extremes"),
    **dict.fromkeys(("median", "quantile"), "ranks"),
    **dict.fromkeys(("argmin", "argmax"), "witnesses"),
    **dict.fromkeys(("mean", "product"), "means and products"),
    **dict.fromkeys(("bitand", "bitor", "bitxor"), "bits"),
    **dict.fromkeys(("collect", "join"), "texts"),
}
LEAST = {
    **{f"groups with {family}": 5 for family in sorted(set(FAMILIES.values()))},
    "empty groups": 50,
    "groups with several rows": 200,
    "extremes deleted under an ordered aggregate": 5,
    "groups of facts that were emptied and refilled": 20,
    "upserts that replace a value": 20,
    "violations by facts": 3,
    "violations by rules": 1,
    "failing computations": 1,
    "failing computations that can be skipped": 1,
    "functional values": 100,
}
ORDERED = frozenset(("min", "max", "median", "quantile", "argmin", "argmax"))


@pytest.fixture(scope="module")
def reached() -> Counter[str]:
    """How often what was reached, over searches with different seeds until everything was."""
    counts: Counter[str] = Counter()

    def counting(function: str, rows: Any, type: str, parameter: Any = None) -> Value | None:
        counts[f"groups with {FAMILIES[function]}"] += bool(rows)
        counts["empty groups"] += not rows
        counts["groups with several rows"] += len(rows) > 1
        return aggregate(function, rows, type, parameter)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(naive, "aggregate", counting)
        for number in range(SEARCHES):

            @seed(number)
            @settings(max_examples=CASES, database=None)
            @given(case=cases())
            def count(case: tuple[Drawn, list[Transaction]]) -> None:
                follow(*case, counts)

            count()
            if all(counts[what] >= least for what, least in LEAST.items()):
                break
    return counts


def follow(drawn: Drawn, stream: list[Transaction], counts: Counter[str]) -> None:
    program = drawn.program
    facts: Facts = {name: set(rows) for name, rows in drawn.facts.items()}
    ordered = set(aggregated(program, ORDERED))
    states = [facts]
    for transaction in ((), *stream):
        changed = after(states[-1], transaction)
        counts["transactions"] += 1
        counts["upserts that replace a value"] += sum(replaces(states[-1], change) for change in transaction)
        counts["extremes deleted under an ordered aggregate"] += any(loses_an_extreme(states[-1], changed, name) for name in ordered)
        try:
            relations = evaluate(program, changed)
        except OracleArithmeticError:
            counts["failing computations"] += 1
            counts["failing computations that can be skipped"] += survives(program, changed)
            continue
        except OracleConflictError:
            counts["violations by facts" if conflicts(changed, program.functional) else "violations by rules"] += 1
            continue
        states.append(changed)
        counts["derived relations"] += sum(name not in drawn.domains for name in relations)
        counts["derived relations with rows"] += sum(name not in drawn.domains and bool(rows) for name, rows in relations.items())
        counts["functional values"] += sum(len(relations[name]) for name in program.functional if name not in drawn.domains)
    counts["groups of facts that were emptied and refilled"] += sum(refilled(states, name) for name in drawn.domains)


def aggregated(program: Program, functions: frozenset[str]) -> Iterator[str]:
    """The predicates that the bodies of such aggregates read."""
    for rule in map(flatten, program.rules):
        for literal in rule.body:
            if isinstance(literal, Fold) and any(total.function in functions for total in literal.totals):
                yield from (name for name, _ in reads(literal.body))


def replaces(facts: Facts, change: tuple[str, str, Row]) -> bool:
    kind, name, row = change
    return kind == "upsert" and any(other[:-1] == row[:-1] and other != row for other in facts[name])


def loses_an_extreme(old: Facts, new: Facts, name: str) -> bool:
    """Whether a group, by the first column, loses its least or greatest row, and keeps others."""
    if name not in old:
        return False
    return any(
        bool(left) and (row < min(left) or row > max(left))
        for row in old[name] - new[name]
        for left in [[other for other in new[name] if other[:1] == row[:1]]]
    )


def refilled(states: list[Facts], name: str) -> bool:
    """Whether a group loses all its rows and gets others later."""
    gone: set[Row] = set()
    for old, new in pairwise(states):
        before, now = ({row[:1] for row in facts[name]} for facts in (old, new))
        if gone & now:
            return True
        gone |= before - now
    return False


def survives(program: Program, facts: Facts) -> bool:
    try:
        evaluate(program, facts, "skip")
    except (OracleArithmeticError, OracleConflictError):
        return False
    return True


@pytest.mark.parametrize(("what", "least"), LEAST.items())
def test_random_cases_reach(what: str, least: int, reached: Counter[str]) -> None:
    assert reached[what] >= least, dict(reached)


def test_half_of_what_random_programs_derive_has_rows(reached: Counter[str]) -> None:
    assert 3 * reached["derived relations with rows"] > reached["derived relations"]
