"""Limbs against fractions: what is put together from them is the exact sum, whatever the order and whatever came and went."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datalog.ir.core import PyValue, Type
from datalog.kernels.limbs import BIASED, FLOATS, INFINITE, MINUS_INFINITE, NOT_A_NUMBER, WHOLE, add_integers, limbs_of_runs, round_floats
from datalog.store.values import Values
from tests.kernels.blocks import Block, examples

Weighted = list[tuple[PyValue, int]]
KINDS = {WHOLE: Type.NUMBER, BIASED: Type.UNSIGNED, FLOATS: Type.FLOAT}
NUMBERS: dict[int, st.SearchStrategy[PyValue]] = {
    WHOLE: st.integers(-(2**63), 2**63 - 1),
    BIASED: st.integers(0, 2**64 - 1),
    FLOATS: st.floats(allow_nan=False, allow_infinity=False),
}
WEIGHTS = st.integers(-3, 3)


def limbs(runs: list[Weighted], kind: int) -> Block:
    """Rows (run, limb, word)."""
    values = [number for run in runs for number, _ in run]
    codes = Values().encode_column(values, KINDS[kind])
    weights = np.array([weight for run in runs for _, weight in run], np.int64)
    bounds = np.cumsum([0, *map(len, runs)], dtype=np.int64)
    room = 3 * len(codes) if kind == FLOATS else 2 * len(runs)
    which, rows, words = np.empty(room, np.int64), np.empty((room, 1), np.int64), np.empty(room, np.int64)
    count = limbs_of_runs(codes.reshape(-1, 1), 0, 0, weights, bounds, kind, which, rows, words)
    return np.column_stack((which, rows, words))[:count]


def total(rows: Block, kind: int) -> Fraction:
    unit = Fraction(1, 2**1074) if kind == FLOATS else Fraction(1)
    return sum((Fraction(word * 2 ** (32 * limb)) for _, limb, word in rows.tolist()), Fraction(0)) * unit


@settings(max_examples=examples(150))
@given(data=st.data())
@pytest.mark.parametrize("kind", list(KINDS))
def test_the_limbs_of_each_run_add_up_to_its_exact_sum(kind: int, data: st.DataObject) -> None:
    runs = data.draw(st.lists(st.lists(st.tuples(NUMBERS[kind], WEIGHTS), min_size=1, max_size=8), max_size=5))
    rows = limbs(runs, kind)
    assert (rows[:, 2] != 0).all()
    assert rows[:, :2].tolist() == sorted(rows[:, :2].tolist())
    for place, run in enumerate(runs):
        exact = sum((Fraction(number) * weight for number, weight in run), Fraction(0))  # type: ignore[arg-type]
        assert total(rows[rows[:, 0] == place], kind) == exact


@settings(max_examples=examples(100))
@given(data=st.data())
@pytest.mark.parametrize("kind", list(KINDS))
def test_limbs_are_linear_so_what_goes_leaves_no_trace(kind: int, data: st.DataObject) -> None:
    runs = data.draw(st.lists(st.tuples(NUMBERS[kind], WEIGHTS), min_size=2, max_size=12))
    words: Counter[int] = Counter()
    cut = data.draw(st.integers(1, len(runs) - 1))
    for part in (runs[:cut], runs[cut:]):
        for _, limb, word in limbs([part], kind).tolist():
            words[limb] += word
    assert {limb: word for limb, word in words.items() if word} == {limb: word for _, limb, word in limbs([runs], kind).tolist()}
    assert len(limbs([[*runs, *((number, -weight) for number, weight in runs)]], kind)) == 0


def test_infinities_and_nan_are_counted() -> None:
    run: Weighted = [(math.inf, 2), (-math.inf, 1), (math.nan, 4), (math.inf, 1), (1.0, 1)]
    special = {limb: word for _, limb, word in limbs([run], FLOATS).tolist() if limb < 0}
    assert special == {INFINITE: 3, MINUS_INFINITE: 1, NOT_A_NUMBER: 4}


def rounded(numbers: list[float]) -> float:
    which, limb, words = np.ascontiguousarray(limbs([[(number, 1) for number in numbers]], FLOATS).T)
    codes = np.zeros(1, np.int64)
    round_floats(which, limb, words, codes)
    value = Values().decode(int(codes[0]), Type.FLOAT)
    assert isinstance(value, float)
    return value


# Where rounding is decided: powers of 2 that are far apart, the ends of the range, and neighbours.
EDGES = [1.0, 2.0**-53, 2.0**-106, 1 + 2.0**-52, 2.0**970, 2.0**969, 1.7976931348623157e308, 2.2250738585072014e-308, 5e-324, 1e-310, 0.0]


@settings(max_examples=examples(400))
@given(
    st.lists(st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(EDGES + [-edge for edge in EDGES])), min_size=1)
)
def test_sums_of_floats_are_rounded_once_to_the_nearest(numbers: list[float]) -> None:
    exact = sum(map(Fraction, numbers), Fraction(0))
    try:
        nearest = exact.numerator / exact.denominator
    except OverflowError:
        nearest = math.inf if exact > 0 else -math.inf
    assert rounded(numbers).hex() == nearest.hex()
    assert rounded([*numbers, *(-number for number in numbers)]).hex() == (0.0).hex()


def test_infinities_and_nan_decide_a_sum() -> None:
    assert rounded([math.inf, 1e308, 1e308]) == math.inf
    assert rounded([-math.inf, 1e308, 1e308]) == -math.inf
    assert math.isnan(rounded([math.inf, -math.inf]))
    assert math.isnan(rounded([math.nan, 1.0]))


@settings(max_examples=examples(100))
@given(data=st.data())
@pytest.mark.parametrize("kind", [WHOLE, BIASED])
def test_integers_are_added_to_sums_as_far_as_these_fit_into_codes(kind: int, data: st.DataObject) -> None:
    type, values = KINDS[kind], Values()
    least, greatest = (-(2**63), 2**63 - 1) if kind == WHOLE else (0, 2**64 - 1)
    runs = data.draw(st.lists(st.lists(st.tuples(NUMBERS[kind], WEIGHTS), min_size=1, max_size=5), max_size=4))
    before = data.draw(st.lists(NUMBERS[kind], min_size=len(runs), max_size=len(runs)))
    rows = values.encode_column([number for run in runs for number, _ in run], type).reshape(-1, 1)
    weights = np.array([weight for run in runs for _, weight in run], np.int64)
    sums = values.encode_column(before, type).copy()
    failed = add_integers(rows, 0, weights, np.cumsum([0, *map(len, runs)], dtype=np.int64), kind, sums)
    exact = [old + sum(number * weight for number, weight in run) for old, run in zip(before, runs, strict=True)]  # type: ignore[operator]
    fitting = [least <= number <= greatest for number in exact]
    assert failed == (fitting.index(False) if False in fitting else -1)
    for code, number, fits in zip(sums.tolist(), exact, fitting, strict=True):
        assert not fits or values.decode(code, type) == number
