"""Numeric primitives inside the join against exact arithmetic in Python: decimals, bits, extremes, conversions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import product
from random import Random

import numpy as np
import pytest

from datalog.ir.core import Apply, CoreAtom, CoreBinding, CoreRule, Expression, Reference, Type
from datalog.kernels import encoding as code
from datalog.plan.encode import encode_plan
from datalog.plan.order import is_fallible
from datalog.plan.rule import plan_rule
from datalog.store.columns import float_codes, floats_of
from datalog.syntax.tree import NOWHERE
from tests.kernels.blocks import GREATEST, LEAST, Row
from tests.kernels.triejoin_twin import Prefix, Trees, no_memo, run, sizes

NUMBER, UNSIGNED, FLOAT, BOOL = Type.NUMBER, Type.UNSIGNED, Type.FLOAT, Type.BOOL
WHOLE, CENTS, TINY = Type.DECIMALS[0], Type.DECIMALS[2], Type.DECIMALS[18]
RANDOM = Random(7)
WORDS = [
    LEAST,
    LEAST + 1,
    -(2**53) - 1,
    -250,
    -150,
    -101,
    -50,
    -2,
    -1,
    0,
    1,
    2,
    3,
    49,
    50,
    51,
    63,
    64,
    100,
    150,
    250,
    350,
    10**18,
    GREATEST,
]
WORDS += [RANDOM.getrandbits(bits) * sign for bits in (20, 40, 55, 60, 63) for sign in (1, -1)]
FLOATS = [-math.inf, -1e300, -(2.0**63), -2.5, -1.0, -0.5, -5e-324, 0.0, 5e-324, 0.005, 0.015, 0.125, 0.5, 1.5, 2.675, 1e15 + 0.375]
FLOATS += [2.0**53, 2.0**63 - 1024, 2.0**63, 2.0**64 - 2048, 2.0**64, 1e18, 92233720368547758.07, 1e300, math.inf, math.nan]

Exact = int | Fraction | float | None  # None: no value


def codes(type_: Type) -> list[int]:
    """Codes of a type, the ends of its range among them."""
    if type_ is BOOL:
        return [0, 1]
    return [int(word) for word in float_codes(np.array(FLOATS))] if type_ is FLOAT else WORDS


def exact(word: int, type_: Type) -> int | Fraction | float:
    if type_ is FLOAT:
        return float(floats_of(np.array([word], np.int64))[0])
    return word - LEAST if type_ is UNSIGNED else Fraction(word, 10**type_.scale) if type_.scale >= 0 else word


def coded(value: Exact, type_: Type) -> int | None:
    """The code of an exact value, rounded half to even where the type is a decimal's; None where it has none."""
    if value is None:
        return None
    if type_ is FLOAT:
        return int(float_codes(np.array([float(value)]))[0])
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        value = Fraction(value)
    word = round(value * 10**type_.scale) if type_.scale >= 0 else int(value) + (LEAST if type_ is UNSIGNED else 0)
    return word if LEAST <= word <= GREATEST else None


def solve(name: str, types: Sequence[Type], result: Type, rows: Sequence[Row]) -> dict[Row, int]:
    """What the join computes for each row of argument codes; rows without a value are missing."""
    arguments: tuple[Expression, ...] = tuple(Reference(place, type_) for place, type_ in enumerate(types))
    count = len(types)
    compute = CoreBinding(count, Apply(name, arguments, result, NOWHERE), NOWHERE)
    atom = CoreAtom("e", tuple(range(count)), False, NOWHERE)
    names = tuple(f"v{place}" for place in range(count + 1))
    rule = CoreRule("h", tuple(range(count + 1)), names, (*types, result), (atom,), (compute,), (), NOWHERE, "h ← …")
    trees = Trees({"e": dict.fromkeys(rows, 1)}, None)
    encoded = encode_plan(plan_rule(rule, sizes({})), lambda value, type_: int(str(value)), no_memo().number, trees.shape)
    done = run(encoded, trees, [Prefix(())], trusted=False)
    failed = len(set(rows)) - len(done.output)
    assert len(done.failures) == failed
    assert is_fallible(compute.expression) or not failed, "what always has a value must have one"
    return {row[:count]: row[count] for row in done.output}


def agree(name: str, types: Sequence[Type], result: Type, expected: Callable[..., Exact]) -> None:
    rows = list(product(*map(codes, types)))
    found = solve(name, types, result, rows)
    for row in rows:
        wanted = coded(expected(*(exact(word, type_) for word, type_ in zip(row, types, strict=True))), result)
        assert found.get(row) == wanted, (name, row)


def divided(left: Fraction, right: Fraction) -> Fraction | None:
    return left / right if right else None


def remainder(left: Fraction, right: Fraction) -> Fraction | None:
    return left - right * int(left / right) if right else None  # int() truncates: the sign is the left side's


@pytest.mark.parametrize("type_", [WHOLE, CENTS, TINY])
def test_decimals_are_exact_and_rounded_half_to_even(type_: Type) -> None:
    pairs: dict[str, Callable[[Fraction, Fraction], Exact]] = {
        "+": lambda a, b: a + b,
        "-": lambda a, b: a - b,
        "*": lambda a, b: a * b,
        "/": divided,
        "%": remainder,
    }
    for name, expected in pairs.items():
        agree(name, (type_, type_), type_, expected)
    agree("neg", (type_,), type_, lambda a: -a)
    agree("abs", (type_,), type_, abs)


def test_absolute_values_of_numbers_unsigned_and_floats() -> None:
    for type_ in (NUMBER, UNSIGNED, FLOAT):
        agree("abs", (type_,), type_, abs)


def signed(bits: int, type_: Type) -> int:
    bits %= 2**64
    return bits - 2**64 if type_ is NUMBER and bits > GREATEST else bits


@pytest.mark.parametrize("type_", [NUMBER, UNSIGNED])
def test_bits_are_those_of_the_64_bit_word_and_shifts_take_their_count_modulo_64(type_: Type) -> None:
    agree("band", (type_, type_), type_, lambda a, b: a & b)
    agree("bor", (type_, type_), type_, lambda a, b: a | b)
    agree("bxor", (type_, type_), type_, lambda a, b: a ^ b)
    agree("bnot", (type_,), type_, lambda a: signed(~a, type_))
    agree("bshl", (type_, type_), type_, lambda a, b: signed(a << b % 64, type_))
    agree("bshr", (type_, type_), type_, lambda a, b: a >> b % 64)
    agree("bshru", (type_, type_), type_, lambda a, b: signed(a % 2**64 >> b % 64, type_))


@pytest.mark.parametrize("type_", [NUMBER, UNSIGNED, BOOL])
def test_logical_operations_give_one_or_zero(type_: Type) -> None:
    agree("land", (type_, type_), type_, lambda a, b: int(bool(a) and bool(b)))
    agree("lor", (type_, type_), type_, lambda a, b: int(bool(a) or bool(b)))
    agree("lxor", (type_, type_), type_, lambda a, b: int(bool(a) != bool(b)))
    agree("lnot", (type_,), type_, lambda a: int(not a))


def ranked(value: float) -> tuple[bool, float]:
    """NaN is greater than everything."""
    return (True, 0.0) if value != value else (False, value)


@pytest.mark.parametrize("type_", [NUMBER, UNSIGNED, FLOAT, BOOL, Type.DATE, Type.DATETIME, CENTS])
def test_the_least_and_the_greatest_of_any_number_of_values(type_: Type) -> None:
    for name, best in (("min", min), ("max", max)):
        agree(name, (type_,), type_, lambda a: a)
        agree(name, (type_, type_), type_, lambda a, b, best=best: best(a, b, key=ranked))
    few = codes(type_)[::9]
    found = solve("max", (type_,) * 3, type_, list(product(few, repeat=3)))
    assert found == {row: max(row) for row in product(few, repeat=3)}


def truncated(value: float | Fraction) -> int | None:
    return int(value) if math.isfinite(value) else None


@pytest.mark.parametrize("source", [NUMBER, UNSIGNED, FLOAT, BOOL, Type.DATE, Type.DATETIME, WHOLE, CENTS, TINY])
def test_conversions_to_integers_truncate_and_fail_outside_of_the_range(source: Type) -> None:
    agree("to_number", (source,), NUMBER, truncated)
    if source not in (Type.DATE, Type.DATETIME):
        agree("to_unsigned", (source,), UNSIGNED, truncated)


@pytest.mark.parametrize("source", [NUMBER, UNSIGNED, FLOAT, BOOL, WHOLE, CENTS, Type.DECIMALS[9], TINY])
def test_conversions_to_floats_round_once(source: Type) -> None:
    agree("to_float", (source,), FLOAT, lambda a: a)


def test_floats_of_many_long_decimals_are_rounded_once() -> None:
    for scale in (1, 5, 17, 18):
        type_ = Type.DECIMALS[scale]
        rows = [(RANDOM.getrandbits(RANDOM.randint(50, 63)),) for _ in range(300)]
        found = solve("to_float", (type_,), FLOAT, rows)
        assert found == {row: coded(Fraction(row[0], 10**scale), FLOAT) for row in rows}


@pytest.mark.parametrize("target", [WHOLE, CENTS, Type.DECIMALS[9], TINY])
@pytest.mark.parametrize("source", [NUMBER, UNSIGNED, FLOAT, WHOLE, CENTS, TINY])
def test_conversions_to_decimals_round_half_to_even(source: Type, target: Type) -> None:
    agree("to_decimal", (source,), target, lambda a: a)


def test_decimals_of_random_floats_are_those_of_their_exact_values() -> None:
    floats = [RANDOM.uniform(-1, 1) * 2.0 ** RANDOM.randint(-120, 62) for _ in range(500)]
    rows = [(int(word),) for word in float_codes(np.array(floats))]
    for target in (WHOLE, CENTS, TINY):
        found = solve("to_decimal", (FLOAT,), target, rows)
        for row, value in zip(rows, floats, strict=True):
            assert found.get(row) == coded(value, target), (value, Decimal(value))


@pytest.mark.parametrize("source", [NUMBER, UNSIGNED])
def test_only_zero_is_false(source: Type) -> None:
    agree("to_bool", (source,), BOOL, bool)


def test_a_failed_conversion_says_why() -> None:
    reasons = {}
    for value in (math.nan, math.inf, -3.0):
        x = Reference(0, FLOAT)
        compute = CoreBinding(1, Apply("to_unsigned", (x,), UNSIGNED, NOWHERE), NOWHERE)
        atom = CoreAtom("e", (0,), False, NOWHERE)
        rule = CoreRule("h", (0, 1), ("x", "y"), (FLOAT, UNSIGNED), (atom,), (compute,), (), NOWHERE, "h ← …")
        trees = Trees({"e": {(int(float_codes(np.array([value]))[0]),): 1}}, None)
        encoded = encode_plan(plan_rule(rule, sizes({})), lambda value, type_: 0, no_memo().number, trees.shape)
        reasons[str(value)] = [reason for reason, _ in run(encoded, trees, [Prefix(())], trusted=False).failures]
    assert reasons == {"nan": [code.NOT_A_NUMBER], "inf": [code.OUT_OF_RANGE], "-3.0": [code.NEGATIVE]}
