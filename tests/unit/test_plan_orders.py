"""Variable orders do not depend on how a body is written, and arrangements are the fewest."""

from __future__ import annotations

from itertools import combinations, permutations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datalog import Database
from datalog.ir.core import CoreRule
from datalog.plan.arrangements import fewest_arrangements
from datalog.plan.rule import RulePlan, plan_delta, plan_rule, plan_support
from datalog.plan.statistics import Uniform
from tests.kernels.blocks import COMPILED, Row, examples
from tests.kernels.random_rules import Stored, permuted, rules, stored_rows
from tests.kernels.triejoin_twin import Prefix as Asked
from tests.kernels.triejoin_twin import Trees, encode, run, sizes

Rules = list[tuple[str, list[str]]]

POINTS_TO: Rules = [
    ("pt(v, o)", ["new(v, o)"]),
    ("pt(v, o)", ["assign(v, w)", "pt(w, o)"]),
    ("heap(b, f, o)", ["store(v, f, w)", "pt(w, o)", "pt(v, b)"]),
    ("pt(v, o)", ["load(v, w, f)", "pt(w, b)", "heap(b, f, o)"]),
    ("call(s, m)", ["invoke(s, v, n)", "pt(v, o)", "type(o, c)", "dispatch(c, n, m)"]),
    ("pt(t, o)", ["invoke(s, v, n)", "call(s, m)", "pt(v, o)", "this(m, t)", "type(o, c)", "dispatch(c, n, m)"]),
    ("assign(p, a)", ["call(s, m)", "actual(s, i, a)", "formal(m, i, p)"]),
]
GALEN: Rules = [
    ("p(x, z)", ["p(x, y)", "p(y, z)"]),
    ("q(x, r, z)", ["p(x, y)", "q(y, r, z)"]),
    ("p(x, z)", ["p(y, w)", "u(w, r, z)", "q(x, r, y)"]),
    ("p(x, z)", ["c(y, w, z)", "p(x, w)", "p(x, y)"]),
    ("q(x, k, z)", ["q(x, r, z)", "s(r, k)"]),
    ("q(x, e, o)", ["q(x, y, z)", "r(y, k, e)", "q(z, k, o)"]),
]
CSPA: Rules = [
    ("flow(x, y)", ["assign(x, y)"]),
    ("flow(x, x)", ["assign(x, _)"]),
    ("flow(x, x)", ["assign(_, x)"]),
    ("flow(x, y)", ["flow(x, z)", "flow(z, y)"]),
    ("flow(x, y)", ["assign(x, z)", "memory(z, y)"]),
    ("memory(x, w)", ["deref(y, x)", "alias(y, z)", "deref(z, w)"]),
    ("alias(x, y)", ["flow(z, x)", "flow(z, y)"]),
    ("alias(x, y)", ["flow(z, x)", "memory(z, w)", "flow(w, y)"]),
]
TIES: Rules = [
    ("four(a, f)", ["e(a, b)", "e(b, c)", "e(c, d)", "e(d, f)"]),
    ("square(a)", ["e(a, b)", "e(b, c)", "e(c, d)", "e(d, a)", "!f(b, d)", "!f(d, b)", "!g(b)"]),
    ("both(n)", ["g(n)", "e(n, x)", "e(x, y)", "e(y, x)", "e(n, a)", "e(a, b)", "e(b, c)", "e(c, a)"]),
    ("bounds(x, y)", ["e(x, y)", "f(y, x)", "x < y", "g(x)", "g(y)", "y != 3"]),
    ("sums(x, z)", ["e(x, y)", "z = x + y", "g(z)", "!e(z, x)", "w = z - x", "f(w, _)"]),
]
GIVEN = {
    "points-to": "new/2 assign/2 store/3 load/3 invoke/3 type/2 dispatch/3 this/2 actual/3 formal/3",
    "galen": "p/2 q/3 u/3 c/3 s/2 r/3",
    "cspa": "assign/2 deref/2",
    "ties": "e/2 f/2 g/1",
}
PROGRAMS = {"points-to": POINTS_TO, "galen": GALEN, "cspa": CSPA, "ties": TIES}
ROWS = 40 if COMPILED else 12


def facts(name: str) -> str:
    """Skewed rows over few values."""
    random = Random(5)
    out = []
    for signature in GIVEN[name].split():
        predicate, width = signature.split("/")
        for _ in range(ROWS):
            out.append(f"{predicate}({', '.join(str(int(14 * random.random() ** 2)) for _ in range(int(width)))}).")
    return "\n".join(out)


def text(name: str, random: Random | None) -> str:
    """The program, its bodies in random orders if there is a `random`."""
    written = PROGRAMS[name]
    listed = (f"{head} :- {', '.join(random.sample(body, len(body)) if random else body)}." for head, body in written)
    return "\n".join([*listed, facts(name)])


def shape(plan: RulePlan) -> tuple[object, ...]:
    """The plan without names and numbers: head and atoms over depths."""
    depth = {variable: place for place, variable in enumerate(plan.order)}
    atoms = sorted((atom.predicate, atom.negated, tuple(-1 if v is None else depth[v] for v in atom.columns)) for atom in plan.rule.atoms)
    return plan.rule.head, tuple(depth[v] for v in plan.rule.head_columns), tuple(atoms)


@pytest.mark.parametrize("name", PROGRAMS)
def test_permuted_bodies_have_the_same_plans_and_take_the_same_steps(name: str) -> None:
    """All but: of two atoms of one recursive predicate the first sees what is new, and a rule that has its head looks no further."""
    plain = Database(text(name, None), maintain="recompute")
    shapes = [shape(plan) for plan in plain._engine.joins.plan.rules]
    for seed in range(6):
        db = Database(text(name, Random(seed)), maintain="recompute")
        assert [shape(plan) for plan in db._engine.joins.plan.rules] == shapes, seed
        assert abs(db.steps - plain.steps) <= 0.001 * plain.steps, seed
        assert all(list(db[one]) == list(plain[one]) for one in plain)


@pytest.mark.parametrize("name", PROGRAMS)
def test_permuted_bodies_are_maintained_in_nearly_the_same_steps(name: str) -> None:
    """Telescoped deltas of a self-join see its atoms as they are written: the first ones new, the later ones old."""
    costs = []
    for seed in range(4):
        db = Database(text(name, Random(seed)), maintain="derived")
        before = db.steps
        for signature in GIVEN[name].split():
            given_name = signature.split("/")[0]
            row = next(iter(db[given_name]))
            for change in ("delete", "insert"):
                with db.transaction() as tx:
                    getattr(tx, change)(given_name, [row])
        costs.append(db.steps - before)
    assert max(costs) <= 1.02 * min(costs)


@settings(max_examples=examples(120))
@given(data=st.data(), rule=rules(), rows=stored_rows())
def test_the_plan_of_a_random_rule_is_the_same_for_each_permutation_of_its_body(data: st.DataObject, rule: CoreRule, rows: Stored) -> None:
    other = data.draw(permuted(rule))
    first, second = plan_rule(rule, sizes(rows)), plan_rule(other, sizes(rows))
    assert shape(first) == shape(second)
    steps = []
    for plan in (first, second):
        trees = Trees(rows, 4)
        steps.append(run(encode(plan, trees), trees, [Asked(())]).steps)
    assert steps[0] == steps[1]


@settings(max_examples=examples(60))
@given(data=st.data(), rule=rules())
def test_delta_and_support_plans_begin_with_what_is_given(data: st.DataObject, rule: CoreRule) -> None:
    uniform = Uniform(lambda name: 10)
    place = data.draw(st.integers(0, len(rule.atoms) - 1))
    columns = [v for v in rule.atoms[place].columns if v is not None]
    assert list(plan_delta(rule, uniform, place).order[: len(columns)]) == columns
    head = list(dict.fromkeys(rule.head_columns))
    assert list(plan_support(rule, uniform, set()).order[: len(head)]) == head
    recursive = {"e", "t"} - {atom.predicate for atom in rule.atoms if atom.negated}
    for plan in (plan_rule(rule, uniform), plan_delta(rule, uniform, place), plan_support(rule, uniform, recursive)):
        assert sorted(plan.order) == list(range(len(plan.rule.variables)))
        for atom in (*plan.positive, *plan.negated):
            assert list(atom.depths) == sorted(atom.depths), "an atom's columns are read in the order in which they are bound"


def serves(arrangement: Row, request: Row) -> bool:
    return arrangement[: len(request)] == request


@settings(max_examples=examples(300))
@given(data=st.data(), width=st.integers(1, 3))
def test_arrangements_serve_all_requests_and_no_fewer_would(data: st.DataObject, width: int) -> None:
    request = st.permutations(range(width)).flatmap(lambda whole: st.integers(0, width).map(lambda length: tuple(whole[:length])))
    requests = data.draw(st.lists(request, max_size=7))
    chosen = fewest_arrangements(requests, width)
    assert all(sorted(columns) == list(range(width)) for columns in chosen)
    assert all(any(serves(columns, wanted) for columns in chosen) for wanted in requests)
    every = list(permutations(range(width)))
    for fewer in combinations(every, len(chosen) - 1):
        assert not fewer or not all(any(serves(columns, wanted) for columns in fewer) for wanted in requests)
    assert chosen == fewest_arrangements(reversed(requests), width), "whatever order they are asked in"


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_keeps_no_arrangement_that_no_join_reads(name: str) -> None:
    db = Database(text(name, None), maintain="recompute")
    plan = db._engine.joins.plan
    plans = [*plan.rules, *(delta for deltas in plan.deltas for delta in deltas)]
    requests = [request for one in plans for request in one.requests]
    for predicate, orders in plan.orders.items():
        asked = [columns for wanted, columns in requests if wanted == predicate]
        assert len(orders) == 1 or all(any(serves(order, columns) for columns in asked) for order in orders)
        assert all(any(serves(order, columns) for order in orders) for columns in asked)
