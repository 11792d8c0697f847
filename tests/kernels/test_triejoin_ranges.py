"""Ranges of every numeric type inside the join, as what gives a variable its values and as a test, against loops in Python."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest

from datalog.ir.core import Apply, CoreAtom, CoreBinding, CoreRule, Expression, Reference, Type
from datalog.kernels import encoding as code
from datalog.plan.encode import encode_plan
from datalog.plan.rule import plan_rule
from datalog.store.columns import float_codes, floats_of
from datalog.syntax.tree import NOWHERE
from tests.kernels.blocks import GREATEST, LEAST, Row
from tests.kernels.triejoin_twin import Prefix, Run, Trees, no_memo, run, sizes

NUMBERS = [LEAST, LEAST + 2, -3, 0, 1, 4, 7, GREATEST - 2, GREATEST]
STEPS = [LEAST, -(2**62), -2, 0, 1, 3, 2**62, GREATEST]
FLOATS = [-math.inf, -1.0, 0.0, 0.1, 0.7, 1.0, 2.0**53, 2.0**53 + 8, math.inf, math.nan]
FLOAT_STEPS = [-math.inf, -0.1, 0.0, 0.1, 0.3, 1.0, 1e300, math.nan]
LONGEST = 50  # values of a range that a test has


def expected(start: int, end: int, step: int) -> range:
    return range(start, end, step) if step else range(start, start + (start != end))


def walked(start: float, end: float, step: float) -> list[float]:
    """Sums that are rounded at each step, until they reach the end or stay where they are."""
    out: list[float] = []
    if step == 0 and start != end and start == start and end == end:
        return [start]
    while step == step and step and (start < end if step > 0 else start > end) and (not out or start != out[-1]) and len(out) <= LONGEST:
        out.append(start)
        start += step
    return out


def solve(
    type_: Type, rows: Sequence[Row], tested: list[int] | None = None, prefixes: list[Prefix] | None = None, pace: int = 1 << 40
) -> Run:
    """(start, end, [step,] value) for each row; values are those of `tested`, or those that the range gives."""
    count = len(rows[0])
    arguments: tuple[Expression, ...] = tuple(Reference(place, type_) for place in range(count))
    binding = CoreBinding(count, Apply("range", arguments, type_, NOWHERE), NOWHERE)
    atoms = [CoreAtom("e", tuple(range(count)), False, NOWHERE)] + [CoreAtom("a", (count,), False, NOWHERE)] * (tested is not None)
    variables = tuple("abcd"[: count + 1])
    rule = CoreRule("h", tuple(range(count + 1)), variables, (type_,) * (count + 1), tuple(atoms), (binding,), (), NOWHERE, "h ← …")
    trees = Trees({"e": dict.fromkeys(rows, 1), "a": dict.fromkeys([(value,) for value in tested or ()], 1)}, None)
    plan = plan_rule(rule, sizes({}), tuple(range(count + 1)))
    encoded = encode_plan(plan, lambda value, type_: int(str(value)), no_memo().number, trees.shape)
    return run(encoded, trees, prefixes or [Prefix(())], trusted=False, pace=pace)


@pytest.mark.parametrize("offset", [0, LEAST])
def test_ranges_of_integers_are_those_of_python_also_at_the_ends_of_the_64_bits(offset: int) -> None:
    type_ = Type.UNSIGNED if offset else Type.NUMBER
    steps = [step + offset for step in (0, 1, 3, 2**62, 2**64 - 1)] if offset else STEPS
    rows = [(a, b, s) for a, b, s in product(NUMBERS, NUMBERS, steps) if len(expected(a, b, s - offset)[: LONGEST + 1]) <= LONGEST]
    found = solve(type_, rows)
    assert set(found.output) == {(*row, x) for row in rows for x in expected(row[0], row[1], row[2] - offset)}
    assert not found.failures
    every = list(product(NUMBERS, NUMBERS, steps))
    tested = solve(type_, every, NUMBERS).output
    assert set(tested) == {(*row, x) for row in every for x in NUMBERS if x in expected(row[0], row[1], row[2] - offset)}


@pytest.mark.parametrize("type_", [Type.NUMBER, Type.UNSIGNED, Type.DECIMALS[2], Type.FLOAT])
def test_without_a_step_a_range_goes_by_one_towards_its_end(type_: Type) -> None:
    unit = 100 if type_.scale > 0 else 1
    rows = [(-3 * unit, 2 * unit), (2 * unit, -3 * unit), (4, 4), (5, 6 + unit)]
    if type_ is Type.FLOAT:
        rows = [(int(a), int(b)) for a, b in float_codes(np.array(rows, np.float64))]
        by = [(floats_of(np.array(row)), row) for row in rows]
        wanted = {(*row, int(float_codes(np.array([x]))[0])) for (a, b), row in by for x in walked(a, b, 1.0 if a < b else -1.0)}
    else:
        wanted = {(a, b, x) for a, b in rows for x in range(a, b, unit if a < b else -unit)}
    assert set(solve(type_, rows).output) == wanted
    assert len(wanted) == 5 + 5 + 0 + 2


def test_a_range_of_floats_adds_up_step_by_step() -> None:
    coded = {value: int(float_codes(np.array([value]))[0]) for value in {*FLOATS, *FLOAT_STEPS} if value == value}
    wanted: set[Row] = set()
    rows: list[Row] = []
    tested: set[int] = set(coded.values())
    for start, end, step in product(FLOATS, FLOATS, FLOAT_STEPS):
        values = walked(start, end, step)
        if len(values) <= LONGEST:
            row = tuple(int(word) for word in float_codes(np.array([start, end, step])))
            rows.append(row)
            wanted |= {(*row, int(word)) for word in float_codes(np.array(values, np.float64))}
    found = solve(Type.FLOAT, rows)
    assert set(found.output) == wanted
    assert {reason for reason, _ in found.failures} == {code.NOT_A_NUMBER}
    tested |= {row[-1] for row in wanted}
    assert set(solve(Type.FLOAT, rows, sorted(tested)).output) == wanted


@pytest.mark.parametrize("type_", [Type.NUMBER, Type.FLOAT])
def test_a_prefix_binds_or_narrows_the_values_of_a_range(type_: Type) -> None:
    def word(value: float) -> int:
        return int(value) if type_ is Type.NUMBER else int(float_codes(np.array([float(value)]))[0])

    for start, end, step in ((0, 100, 7), (100, 0, -7)):
        row = (word(start), word(end), word(step))
        values = [word(value) for value in range(start, end, step)]
        prefixes = [Prefix((*row, word(value))) for value in range(-5, 110)]
        prefixes += [Prefix(row, word(10), word(50)), Prefix(row, word(50), word(10))]
        found = [output[-1] for output in solve(type_, [row], prefixes=prefixes).output]
        between = [value for value in values if word(10) <= value <= word(50)]
        assert sorted(found) == sorted(values + between)


def test_a_long_range_pauses_within_the_budget() -> None:
    rows: list[Row] = [(0, 1000)]
    paused = solve(Type.NUMBER, rows, pace=10)
    assert len(paused.output) == 1000 and paused.stops[code.PAUSED] >= 90
