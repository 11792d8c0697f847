"""Worst-case optimality: steps on triangle instances on which every plan of binary joins makes quadratically many pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import permutations

import pytest

from datalog.ir.core import CoreAtom, CoreRule, Type
from datalog.plan.rule import plan_rule
from datalog.syntax.tree import NOWHERE
from tests.kernels.blocks import COMPILED, Row
from tests.kernels.triejoin_twin import Prefix, Trees, encode, run, sizes

TRIANGLE = {"r": (0, 1), "s": (1, 2), "t": (0, 2)}
SIZES = (1_000, 10_000) if COMPILED else (50, 500)
Instance = dict[str, set[Row]]


def star(n: int) -> Instance:
    """R = S = T = {(0, i)} ∪ {(i, 0)}: every value meets the hub in every relation."""
    rows: set[Row] = {pair for i in range(n) for pair in ((0, i), (i, 0))}
    return dict.fromkeys(TRIANGLE, rows)


def hubs_apart(n: int) -> Instance:
    """As the star, with a hub of its own for each variable: no triangle but those through two hubs."""
    return {
        "r": {(0, n + i) for i in range(1, n)} | {(i, n) for i in range(1, n)},
        "s": {(n, 2 * n + i) for i in range(1, n)} | {(n + i, 2 * n) for i in range(1, n)},
        "t": {(0, 2 * n + i) for i in range(1, n)} | {(i, 2 * n) for i in range(1, n)},
    }


def binary_pairs(instance: Instance, left: str, right: str) -> int:
    """How many pairs the join of two of the relations on their common variable has."""
    (common,) = set(TRIANGLE[left]) & set(TRIANGLE[right])
    sides = [Counter(row[TRIANGLE[name].index(common)] for row in instance[name]) for name in (left, right)]
    return sum(count * sides[1][value] for value, count in sides[0].items())


def steps(instance: Instance, order: tuple[int, ...]) -> tuple[int, int]:
    """Iterator operations, and triangles."""
    body = tuple(CoreAtom(name, variables, False, NOWHERE) for name, variables in TRIANGLE.items())
    rule = CoreRule("h", (0, 1, 2), ("a", "b", "c"), (Type.NUMBER,) * 3, body, (), (), NOWHERE, "h(a, b, c) ← r(a, b), s(b, c), t(a, c).")
    plan = plan_rule(rule, sizes({name: dict.fromkeys(rows, 0) for name, rows in instance.items()}), order)
    trees = Trees({name: dict.fromkeys(rows, 0) for name, rows in instance.items()}, None)
    done = run(encode(plan, trees), trees, [Prefix(())], rows=1 << 17)
    return done.steps, len(done.output)


@pytest.mark.parametrize("make", [star, hubs_apart])
def test_steps_grow_linearly_in_every_order_where_any_binary_plan_is_quadratic(make: Callable[[int], Instance]) -> None:
    small, large = (make(n) for n in SIZES)
    growth = SIZES[1] / SIZES[0]
    for left, right in (("r", "s"), ("s", "t"), ("r", "t")):
        pairs = [binary_pairs(instance, left, right) for instance in (small, large)]
        assert pairs[0] >= SIZES[0] ** 2 / 4 and pairs[1] / pairs[0] > growth**2 / 2, (left, right)
    triangles = brute_force(small), brute_force(large)
    for order in permutations(range(3)):
        (few, found), (many, found_of_large) = steps(small, order), steps(large, order)
        assert few <= 30 * SIZES[0], order
        assert many / few <= 1.3 * growth, order
        assert (found, found_of_large) == triangles


def brute_force(instance: Instance) -> int:
    after: dict[int, set[int]] = {}
    for b, c in instance["s"]:
        after.setdefault(b, set()).add(c)
    above: dict[int, set[int]] = {}
    for a, c in instance["t"]:
        above.setdefault(a, set()).add(c)
    return sum(len(after.get(b, set()) & above.get(a, set())) for a, b in instance["r"])
