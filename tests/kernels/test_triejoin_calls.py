"""Functions that the kernel looks up, ranges and inverse bindings, against the twin: every call is missed at first."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from datalog.evaluate.memo import Memo
from datalog.ir.core import Apply, CoreAtom, CoreBinding, CoreRule, Reference, Type, Value
from datalog.kernels import encoding as code
from datalog.plan.rule import Watch, plan_delta, plan_rule, plan_support
from datalog.syntax.tree import NOWHERE
from tests.kernels.blocks import COMPILED, GREATEST, LEAST, Row, examples
from tests.kernels.random_rules import CALLED, OPERATIONS, PREDICATES, Stored, orders, prefixes, relations, rules
from tests.kernels.test_triejoin import PAGES, denied
from tests.kernels.triejoin_twin import Called, Prefix, Trees, encode, least_record_room, run, sizes, twin

CALLING = rules(operations=(*CALLED, *CALLED, *OPERATIONS), ranges=True)


def test_plain_python_kernels_agree_with_the_twin_too() -> None:
    if not COMPILED:
        return  # this is that run
    command = [sys.executable, "-m", "pytest", __file__, "-q", "-p", "no:cacheprovider", "-x", "-k", "twin_finds or stops"]
    done = subprocess.run(command, env={**os.environ, "NUMBA_DISABLE_JIT": "1"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:]


@settings(max_examples=examples(300))
@given(data=st.data(), rule=CALLING, stored=relations(), per_page=PAGES, misses=st.sampled_from([1, 2, 5, 4096]))
def test_prefixes_are_completed_to_what_the_twin_finds(
    data: st.DataObject, rule: CoreRule, stored: Stored, per_page: int | None, misses: int
) -> None:
    plan = plan_rule(rule, sizes(stored), data.draw(st.one_of(st.none(), orders(rule))))
    asked = data.draw(prefixes(len(plan.order)))
    trees, memo = Trees(stored, per_page), Memo(Called())
    found = run(encode(plan, trees, memo=memo), trees, asked, memo=memo, misses=misses)
    assert sorted(found.output) == sorted(twin(plan, stored, asked))


@settings(max_examples=examples(100))
@given(data=st.data(), rule=CALLING, stored=relations(), per_page=PAGES)
def test_delta_plans_give_the_youngest_premise_that_the_twin_finds(
    data: st.DataObject, rule: CoreRule, stored: Stored, per_page: int | None
) -> None:
    given_atom = data.draw(st.sampled_from([place for place, atom in enumerate(rule.atoms) if not atom.negated]))
    plan = plan_delta(rule, sizes(stored), given_atom, set(PREDICATES) - denied(rule))
    asked = data.draw(prefixes(len(plan.order), sum(v is not None for v in rule.atoms[given_atom].columns)))
    asked = [replace(prefix, stamp=data.draw(st.integers(0, 6))) for prefix in asked]
    trees, memo = Trees(stored, per_page), Memo(Called())
    found = run(encode(plan, trees, youngest=True, memo=memo), trees, asked, memo=memo, misses=2)
    assert sorted(found.output) == sorted(twin(plan, stored, asked, youngest=True))


@settings(max_examples=examples(100))
@given(data=st.data(), rule=CALLING, stored=relations(), per_page=PAGES, first_only=st.booleans(), misses=st.sampled_from([1, 3, 4096]))
def test_support_plans_give_the_heads_that_the_twin_finds(
    data: st.DataObject, rule: CoreRule, stored: Stored, per_page: int | None, first_only: bool, misses: int
) -> None:
    plan = plan_support(rule, sizes(stored), set(PREDICATES) - denied(rule))
    asked = data.draw(prefixes(len(plan.order), len(set(rule.head_columns))))
    asked = [replace(prefix, stamp=data.draw(st.sampled_from([0, 3, 9]))) for prefix in asked]
    trees, memo = Trees(stored, per_page), Memo(Called())
    found = run(encode(plan, trees, memo=memo), trees, asked, first_only=first_only, memo=memo, misses=misses).output
    wanted = twin(plan, stored, asked)
    assert set(found) == set(wanted) if first_only else sorted(found) == sorted(wanted)


@settings(max_examples=examples(150))
@given(
    data=st.data(),
    rule=CALLING,
    stored=relations(),
    recording=st.sampled_from([code.RECORD_NOTHING, code.RECORD_EXACT, code.RECORD_RUNS, code.RECORD_HULLS]),
    pace=st.sampled_from([1, 2, 7, 1 << 40]),
    room=st.integers(0, 3),
)
def test_a_join_that_stops_at_every_chance_goes_on_as_if_it_had_not(
    data: st.DataObject, rule: CoreRule, stored: Stored, recording: int, pace: int, room: int
) -> None:
    plan = plan_rule(rule, sizes(stored), data.draw(orders(rule)))
    asked = data.draw(prefixes(len(plan.order)))
    trees, first, second = Trees(stored, 4), Memo(Called()), Memo(Called())
    whole = run(encode(plan, trees, memo=first), trees, asked, recording, memo=first, misses=3)
    tight = least_record_room(plan) + room
    small = run(encode(plan, trees, memo=second), trees, asked, recording, rows=1, records=tight, pace=pace, memo=second, misses=3)
    assert sorted(whole.output) == sorted(twin(plan, stored, asked))
    assert (small.output, small.records, small.steps) == (whole.output, whole.records, whole.steps)


@settings(max_examples=examples(60))
@given(data=st.data(), rule=CALLING, stored=relations())
def test_a_call_is_computed_once_however_often_it_is_needed(data: st.DataObject, rule: CoreRule, stored: Stored) -> None:
    plan = plan_rule(rule, sizes(stored), data.draw(orders(rule)))
    asked = data.draw(prefixes(len(plan.order)))
    trees, called = Trees(stored, None), Called()
    memo = Memo(called)
    encoded = encode(plan, trees, memo=memo)
    first = run(encoded, trees, asked, memo=memo, misses=1)
    before = called.asked
    again = run(encoded, trees, asked, memo=memo)
    assert called.asked == before and sorted(again.output) == sorted(first.output)
    assert code.MISSES_FULL not in again.stops


@settings(max_examples=examples(100))
@given(data=st.data(), rule=CALLING, stored=relations(extremes=False), name=st.sampled_from(sorted(PREDICATES)))
def test_what_changes_a_binding_lies_in_the_records_also_where_calls_were_missed(
    data: st.DataObject, rule: CoreRule, stored: Stored, name: str
) -> None:
    plan = plan_rule(rule, sizes(stored), data.draw(st.one_of(st.none(), orders(rule))))
    recording = data.draw(st.sampled_from([code.RECORD_EXACT, code.RECORD_RUNS, code.RECORD_HULLS]))
    trees, memo = Trees(stored, None), Memo(Called())
    records = run(encode(plan, trees, memo=memo), trees, [Prefix(())], recording, memo=memo, misses=2).records
    row = tuple(data.draw(st.integers(0, 5)) for _ in range(PREDICATES[name]))
    changed = stored | {name: {other: 1 for other in stored[name] if other != row} | ({} if row in stored[name] else {row: 1})}
    whole = replace(plan, rule=replace(rule, head_columns=plan.order))
    moved = set(twin(whole, stored, [Prefix(())])) ^ set(twin(whole, changed, [Prefix(())]))
    watches = plan.watches()
    touched = [
        (watch, record)
        for watch, record in ((watches[record[code.RECORD_ITERATOR]], record) for record in records)
        if watch.atom.predicate == name and is_touched(watch, record, row)
    ]
    for binding in moved:
        assert any(
            all(binding[depth] == record[code.RECORD_VALUES + depth] for depth in range(watch.depth)) for watch, record in touched
        ), f"nothing says that {row} of {name} matters for {binding}"


def is_touched(watch: Watch, record: Row, row: Row) -> bool:
    """Does the row lie in what the record says that its iterator looked at?"""
    values = [row[column] for column in watch.atom.columns]
    above = [record[code.RECORD_VALUES + depth] for depth in watch.above]
    return values[: watch.level] == above and record[code.RECORD_LOW] <= values[watch.level] <= record[code.RECORD_HIGH]


def test_an_inverse_without_a_value_is_no_candidate_and_no_failure() -> None:
    x, y, one = Reference(1, Type.NUMBER), Reference(0, Type.NUMBER), Value(1, Type.NUMBER)
    forth = CoreBinding(0, Apply("+", (x, one), Type.NUMBER, NOWHERE), NOWHERE)
    back = CoreBinding(1, Apply("-", (y, one), Type.NUMBER, NOWHERE), NOWHERE, inverse=True)
    body = (CoreAtom("a", (0,), False, NOWHERE),)
    rule = CoreRule("h", (1,), ("y", "x"), (Type.NUMBER,) * 2, body, (forth, back), (), NOWHERE, "h(x) ← a(y), y = x + 1.")
    trees = Trees({"a": {(LEAST,): 1, (5,): 1}}, None)
    plan = plan_rule(rule, sizes({}))
    found = run(encode(plan, trees), trees, [Prefix(())], trusted=False)
    assert found.output == [(4,)] and not found.failures
    for late in plan.late.values():
        again = run(encode(late, trees), trees, [Prefix(())], trusted=False)
        assert again.output == [(4,)] and not again.failures
    support = plan_support(rule, sizes({}), ())
    found = run(encode(support, trees), trees, [Prefix((GREATEST,)), Prefix((4,)), Prefix((5,))], trusted=False)
    assert found.output == [(4,)]
    assert [reason for reason, _ in found.failures] == [code.OVERFLOW], "what is checked may fail, only the inverse may not"
