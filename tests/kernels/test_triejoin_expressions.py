"""Expressions and comparisons inside the join, at the ends of their types' ranges, against Python's own arithmetic."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from datalog.ir.core import Apply, CoreAtom, CoreBinding, CoreFilter, CoreRule, Reference, Type
from datalog.kernels import encoding as code
from datalog.plan.encode import encode_plan
from datalog.plan.rule import plan_rule
from datalog.store.values import Values
from datalog.syntax.tree import NOWHERE
from tests.kernels.blocks import GREATEST, LEAST, Row
from tests.kernels.triejoin_twin import Prefix, Trees, no_memo, number, run, sizes

Number = int | float
NUMBERS = [LEAST, LEAST + 1, -(2**32), -7, -2, -1, 0, 1, 2, 3, 7, 62, 63, 64, 2**31, 3037000499, 3037000500, GREATEST - 1, GREATEST]
UNSIGNEDS = [0, 1, 2, 3, 7, 63, 64, 65, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 2, 2**64 - 1]
FLOATS = [-math.inf, -1.5e308, -2.0, -1.0, -0.5, -5e-324, 0.0, 5e-324, 0.1, 0.2, 1.0, 2.0, 3.0, 1.5e308, math.inf, math.nan]
SAMPLES: dict[Type, list[int] | list[float]] = {Type.NUMBER: NUMBERS, Type.UNSIGNED: UNSIGNEDS, Type.FLOAT: FLOATS}
COMPARE: dict[str, Callable[[Number, Number], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def ranked(value: Number) -> tuple[bool, Number]:
    """A value as the language orders it: NaN is equal to itself and greater than everything."""
    return (True, 0) if value != value else (False, value)


def expected(name: str, left: Number, right: Number, type_: Type) -> Number | None:
    if type_ is Type.NUMBER:
        return number(name, int(left), int(right))
    if type_ is Type.UNSIGNED:
        return unsigned(name, int(left), int(right))
    if name == "/" and right == 0:
        return None
    with np.errstate(all="ignore"):
        a, b = np.float64(left), np.float64(right)
        result = {"+": a + b, "-": a - b, "*": a * b, "/": a / b if b else a, "^": np.power(a, b), "neg": -a}[name]
    return float(result) + 0.0


def unsigned(name: str, left: int, right: int) -> int | None:
    if name in "/%":
        return None if right == 0 else left // right if name == "/" else left % right
    if name == "^":
        return pow(left, right, 2**64)
    return {"+": left + right, "-": left - right, "*": left * right, "neg": -left}[name] % 2**64


def solve(rule: CoreRule, rows: set[Row], values: Values) -> set[tuple[object, ...]]:
    trees = Trees({"e": dict.fromkeys(rows, 1), "a": dict.fromkeys({row[:1] for row in rows}, 1)}, None)
    encoded = encode_plan(plan_rule(rule, sizes({})), values.encode, no_memo().number, trees.shape)
    output = run(encoded, trees, [Prefix(())]).output
    types = [rule.types[v] for v in rule.head_columns]
    return {tuple(ranked(values.decode(word, type_)) for word, type_ in zip(row, types, strict=True)) for row in output}  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["+", "-", "*", "/", "%", "^", "neg"])
@pytest.mark.parametrize("type_", SAMPLES)
def test_an_operation_gives_the_exact_value_or_none(name: str, type_: Type) -> None:
    if type_ is Type.FLOAT and name == "%":
        return  # the language has no remainder of floats
    values = Values()
    x, y = Reference(0, type_), Reference(1, type_)
    arguments = (x,) if name == "neg" else (x, y)
    compute = CoreBinding(2, Apply(name, arguments, type_, NOWHERE), NOWHERE)
    atom = CoreAtom("e", (0, 1), False, NOWHERE)
    rule = CoreRule("h", (0, 1, 2), ("x", "y", "z"), (type_,) * 3, (atom,), (compute,), (), NOWHERE, "h ← …")
    pairs = list(product(SAMPLES[type_], repeat=2))
    rows: set[Row] = {(values.encode(left, type_), values.encode(right, type_)) for left, right in pairs}
    wanted = {(left, right, expected(name, left, right, type_)) for left, right in pairs}
    assert solve(rule, rows, values) == {tuple(map(ranked, row)) for row in wanted if row[2] is not None}  # type: ignore[arg-type]


@pytest.mark.parametrize("name", COMPARE)
@pytest.mark.parametrize("type_", SAMPLES)
def test_a_comparison_holds_as_a_bound_and_as_a_filter_also_at_the_ends_of_the_range(name: str, type_: Type) -> None:
    values = Values()
    atoms = (CoreAtom("a", (0,), False, NOWHERE), CoreAtom("a", (1,), False, NOWHERE))
    check = CoreFilter(name, Reference(0, type_), Reference(1, type_), NOWHERE)
    rule = CoreRule("h", (0, 1), ("x", "y"), (type_,) * 2, atoms, (), (check,), NOWHERE, "h ← …")
    rows: set[Row] = {(values.encode(value, type_), 0) for value in SAMPLES[type_]}
    wanted = {(ranked(x), ranked(y)) for x, y in product(SAMPLES[type_], repeat=2) if holds(name, x, y)}
    assert solve(rule, rows, values) == wanted


def holds(name: str, left: Number, right: Number) -> bool:
    if left != left or right != right:
        return COMPARE[name](int(left != left), int(right != right))
    return COMPARE[name](Fraction(left) if math.isfinite(left) else left, Fraction(right) if math.isfinite(right) else right)  # type: ignore[arg-type]


def test_a_computation_that_fails_leaves_its_place_to_whoever_judges_it() -> None:
    values = Values()
    x, y = Reference(0, Type.NUMBER), Reference(1, Type.NUMBER)
    divide = CoreBinding(2, Apply("/", (x, y), Type.NUMBER, NOWHERE), NOWHERE)
    rule = CoreRule(
        "h", (2,), ("x", "y", "z"), (Type.NUMBER,) * 3, (CoreAtom("e", (0, 1), False, NOWHERE),), (divide,), (), NOWHERE, "h ← …"
    )
    trees = Trees({"e": {(6, 0): 1, (6, 2): 1, (LEAST, -1): 1, (9, 3): 1}}, None)
    encoded = encode_plan(plan_rule(rule, sizes({})), values.encode, no_memo().number, trees.shape)
    assert run(encoded, trees, [Prefix(())]).output == [(3,), (3,)]
    assert code.FAILED not in run(encoded, trees, [Prefix(())]).stops
    judged = run(encoded, trees, [Prefix(())], trusted=False)
    assert judged.output == [(3,), (3,)]
    assert [failure[0] for failure in judged.failures] == [code.OVERFLOW, code.DIVISION_BY_ZERO]
    assert {encoded.operations[at][0].name for _, at in judged.failures} == {"/"}
