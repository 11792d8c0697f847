"""The join kernel against its slow readable twin, over random rules, orders, prefixes, pages and interruptions."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datalog.ir.core import CoreAtom, CoreRule, Type
from datalog.kernels import encoding as code
from datalog.plan.rule import RulePlan, plan_delta, plan_rule, plan_support, suspects_of
from datalog.syntax.tree import NOWHERE
from tests.kernels.blocks import COMPILED, LEAST, examples
from tests.kernels.random_rules import PREDICATES, orders, prefixes, relations, rules
from tests.kernels.triejoin_twin import NO_STAMP, Prefix, Relations, Trees, encode, least_record_room, run, sizes, twin

Stored = dict[str, dict[tuple[int, ...], int]]
PAGES = st.sampled_from([3, 4, None])


FIRST = [code.ALL, code.FIRST_OF_PREFIX, code.FIRST_OF_HEAD]


def denied(rule: CoreRule) -> set[str]:
    """Predicates of lower strata: those that the rule negates."""
    return {atom.predicate for atom in rule.atoms if atom.negated}


def suspecting(stored: Stored, random: Random) -> Stored:
    """The relations with some of their rows under suspicion."""
    suspects = {suspects_of(name): dict.fromkeys(random.sample(sorted(rows), len(rows) // 3), 1) for name, rows in stored.items()}
    return stored | suspects


def agree(plan: RulePlan, stored: Relations, asked: list[Prefix], per_page: int | None, first_only: int = code.ALL) -> None:
    trees = Trees(stored, per_page)
    assert run(encode(plan, trees), trees, asked, first_only=first_only).output == twin(plan, stored, asked, first_only)


def test_plain_python_kernels_agree_with_the_twin_too() -> None:
    if not COMPILED:
        return  # this is that run
    command = [sys.executable, "-m", "pytest", __file__, "-q", "-p", "no:cacheprovider", "-x", "-k", "twin_finds or stops"]
    done = subprocess.run(command, env={**os.environ, "NUMBA_DISABLE_JIT": "1"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:]


@settings(max_examples=examples(150))
@given(data=st.data(), rule=rules(), stored=relations(), per_page=PAGES)
def test_a_full_evaluation_finds_what_the_twin_finds(data: st.DataObject, rule: CoreRule, stored: Stored, per_page: int | None) -> None:
    plan = plan_rule(rule, sizes(stored), data.draw(st.one_of(st.none(), orders(rule))))
    agree(plan, stored, [Prefix(())], per_page)


@settings(max_examples=examples(150))
@given(data=st.data(), rule=rules(), stored=relations(), per_page=PAGES, first_only=st.sampled_from(FIRST))
def test_prefixes_with_intervals_find_what_the_twin_finds(
    data: st.DataObject, rule: CoreRule, stored: Stored, per_page: int | None, first_only: int
) -> None:
    plan = plan_rule(rule, sizes(stored), data.draw(st.one_of(st.none(), orders(rule))))
    agree(plan, stored, data.draw(prefixes(len(plan.order))), per_page, first_only)


@settings(max_examples=examples(100))
@given(data=st.data(), rule=rules(), stored=relations(), per_page=PAGES)
def test_delta_plans_of_positive_and_negated_atoms_find_what_the_twin_finds(
    data: st.DataObject, rule: CoreRule, stored: Stored, per_page: int | None
) -> None:
    given_atom = data.draw(st.integers(0, len(rule.atoms) - 1))
    plan = plan_delta(rule, sizes(stored), given_atom)
    least = sum(v is not None for v in rule.atoms[given_atom].columns)
    agree(plan, stored, data.draw(prefixes(len(plan.order), least)), per_page)


@settings(max_examples=examples(100))
@given(data=st.data(), rule=rules(), stored=relations(), per_page=PAGES)
def test_delta_plans_report_the_youngest_premise_that_the_twin_finds(
    data: st.DataObject, rule: CoreRule, stored: Stored, per_page: int | None
) -> None:
    given_atom = data.draw(st.sampled_from([place for place, atom in enumerate(rule.atoms) if not atom.negated]))
    plan = plan_delta(rule, sizes(stored), given_atom, set(PREDICATES) - denied(rule))
    asked = data.draw(prefixes(len(plan.order), sum(v is not None for v in rule.atoms[given_atom].columns)))
    asked = [replace(prefix, stamp=data.draw(st.integers(0, 6))) for prefix in asked]
    trees = Trees(stored, per_page)
    assert run(encode(plan, trees, youngest=True), trees, asked).output == twin(plan, stored, asked, youngest=True)


@settings(max_examples=examples(100))
@given(data=st.data(), rule=rules(), stored=relations(), per_page=PAGES, stamp=st.integers(0, 6), first_only=st.booleans())
def test_support_plans_find_what_the_twin_finds_with_older_stamps(
    data: st.DataObject, rule: CoreRule, stored: Stored, per_page: int | None, stamp: int, first_only: bool
) -> None:
    recursive = data.draw(st.sets(st.sampled_from(sorted(PREDICATES)))) - denied(rule)
    plan = plan_support(rule, sizes(stored), recursive)
    asked = data.draw(prefixes(len(plan.order), len(set(rule.head_columns))))
    agree(
        plan,
        suspecting(stored, Random(data.draw(st.integers(0, 99)))),
        [replace(prefix, stamp=stamp) for prefix in asked],
        per_page,
        first_only,
    )


@settings(max_examples=examples(100))
@given(data=st.data(), rule=rules(), stored=relations(), per_page=PAGES)
def test_each_prefix_is_judged_by_its_own_stamp_and_the_twin_finds_the_same(
    data: st.DataObject, rule: CoreRule, stored: Stored, per_page: int | None
) -> None:
    plan = plan_support(rule, sizes(stored), set(PREDICATES) - denied(rule))
    asked = data.draw(prefixes(len(plan.order), len(set(rule.head_columns))))
    stamps = st.sampled_from([0, 2, 3, 4, NO_STAMP])
    agree(plan, stored, [replace(prefix, stamp=data.draw(stamps)) for prefix in asked], per_page)


def test_a_prefix_that_shares_values_with_the_one_before_is_judged_by_its_own_stamp() -> None:
    body = (CoreAtom("a", (0,), False, NOWHERE), CoreAtom("e", (0, 1), False, NOWHERE))
    rule = CoreRule("h", (0, 1), ("x", "y"), (Type.NUMBER,) * 2, body, (), (), NOWHERE, "h(x, y) ← a(x), e(x, y).")
    stored: Stored = {"a": {(1,): 3}, "e": {(1, 2): 1, (1, 3): 1}}
    plan = plan_support(rule, sizes(stored), {"a"})
    agree(plan, stored, [Prefix((1, 2), stamp=5), Prefix((1, 3), stamp=2)], None)
    agree(plan, stored, [Prefix((1, 2), stamp=2), Prefix((1, 3), stamp=5)], None)


@settings(max_examples=examples(150))
@given(
    data=st.data(),
    rule=rules(),
    stored=relations(),
    per_page=PAGES,
    recording=st.sampled_from([code.RECORD_NOTHING, code.RECORD_EXACT, code.RECORD_RUNS, code.RECORD_HULLS]),
    pace=st.sampled_from([1, 2, 7, 1 << 40]),
    room=st.integers(0, 3),
)
def test_a_join_that_stops_at_every_chance_goes_on_as_if_it_had_not(
    data: st.DataObject, rule: CoreRule, stored: Stored, per_page: int | None, recording: int, pace: int, room: int
) -> None:
    plan = plan_rule(rule, sizes(stored), data.draw(orders(rule)))
    asked = data.draw(prefixes(len(plan.order)))
    trees = Trees(stored, per_page)
    encoded = encode(plan, trees)
    whole = run(encoded, trees, asked, recording)
    small = run(encoded, trees, asked, recording, rows=1, records=least_record_room(plan) + room, pace=pace)
    assert whole.output == twin(plan, stored, asked)
    assert (small.output, small.records, small.steps) == (whole.output, whole.records, whole.steps)


def test_records_of_many_negated_atoms_stay_within_their_buffer_wherever_it_becomes_full() -> None:
    names = ["a", "b", *(f"n{place}" for place in range(6))]
    body = tuple(CoreAtom(name, (0,), place > 1, NOWHERE) for place, name in enumerate(names))
    rule = CoreRule("h", (0,), ("x",), (Type.NUMBER,), body, (), (), NOWHERE, "h(x) ← …")
    stored: Stored = {name: {(1000,): 1} for name in names}
    stored["a"] = {(n,): 1 for n in range(300) if n % 2 == 0 or n % 17 == 0}
    stored["b"] = {(n,): 1 for n in range(300) if n % 2 == 1 or n % 34 == 0}
    plan = plan_rule(rule, sizes(stored))
    trees = Trees(stored, None)
    encoded = encode(plan, trees)
    for recording in (code.RECORD_EXACT, code.RECORD_RUNS):
        whole = run(encoded, trees, [Prefix(())], recording)
        assert len(whole.output) == len(stored["a"].keys() & stored["b"].keys()) > 5
        for room in range(least_record_room(plan), least_record_room(plan) + 60):
            small = run(encoded, trees, [Prefix(())], recording, records=room)
            assert small.records == whole.records


def test_a_pause_comes_within_a_few_steps_of_the_budget_also_where_nothing_matches() -> None:
    body = tuple(CoreAtom(name, (0,), False, NOWHERE) for name in "ab")
    rule = CoreRule("h", (0,), ("x",), (Type.NUMBER,), body, (), (), NOWHERE, "h(x) ← a(x), b(x).")
    stored: Stored = {"a": {(2 * n,): 1 for n in range(500)}, "b": {(2 * n + 1,): 1 for n in range(500)}}
    trees = Trees(stored, None)
    paused = run(encode(plan_rule(rule, sizes(stored)), trees), trees, [Prefix(())], pace=10)
    assert paused.output == []
    assert paused.stops.get(code.PAUSED, 0) >= paused.steps // 20, "a leap through two interleaved columns is one stretch without a pause"


@pytest.mark.parametrize("per_page", [3, None])
def test_long_columns_are_leapt_through_over_many_pages(per_page: int | None) -> None:
    """Relations of several levels of pages, which the random ones are too small for."""
    size = 400 if COMPILED else 60
    body = (CoreAtom("e", (0, 1), False, NOWHERE), CoreAtom("e", (1, 2), False, NOWHERE), CoreAtom("f", (0, 2), False, NOWHERE))
    rule = CoreRule("h", (0, 1, 2), ("x", "y", "z"), (Type.NUMBER,) * 3, body, (), (), NOWHERE, "h(x, y, z) ← …")
    edges: dict[tuple[int, ...], int] = {(n % 37, n * 7 % 41): 1 for n in range(size)}
    stored: Stored = {"e": edges, "f": {(y, x): 1 for x, y in edges if (x + y) % 3}}
    for order in ((0, 1, 2), (2, 0, 1), (1, 2, 0)):
        plan = plan_rule(rule, sizes(stored), order)
        trees = Trees(stored, per_page)
        expected = {(x, y, z) for x, y in stored["e"] for y2, z in stored["e"] if y == y2 and (x, z) in stored["f"]}
        found = run(encode(plan, trees), trees, [Prefix(())]).output
        assert len(found) == len(expected) and set(found) == expected


def test_an_interval_of_no_values_gives_nothing_and_takes_few_steps() -> None:
    rule = CoreRule("h", (0,), ("x",), (Type.NUMBER,), (CoreAtom("a", (0,), False, NOWHERE),), (), (), NOWHERE, "h(x) ← a(x).")
    trees = Trees({"a": {(n,): 1 for n in range(1000)}}, None)
    encoded = encode(plan_rule(rule, sizes({})), trees)
    assert run(encoded, trees, [Prefix((), 5, 4)]).steps == 0
    assert run(encoded, trees, [Prefix((), LEAST, -1)]).steps <= 2
    assert run(encoded, trees, [Prefix((), 500, 501)]).output == [(500,), (501,)]
    assert run(encoded, trees, [Prefix((), 500, 501)]).steps <= 4
