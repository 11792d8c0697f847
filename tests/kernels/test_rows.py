"""Sorting and consolidating blocks of rows against a dictionary."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datalog.store.rows import FEW, among, consolidate, sort_distinct
from tests.kernels.blocks import COMPILED, LEAST, Row, block, examples, keys, tuples


@settings(max_examples=examples(150), deadline=None)
@given(st.integers(1, 3).flatmap(lambda width: st.lists(st.tuples(keys(width), st.integers(-2, 2)), max_size=150)))
def test_consolidated_rows_ascend_with_the_sums_of_their_weights_and_zeros_are_gone(pairs: list[tuple[Row, int]]) -> None:
    width = len(pairs[0][0]) if pairs else 2
    rows, weights = block([row for row, _ in pairs], width), np.array([weight for _, weight in pairs], np.int64)
    before = rows.copy(), weights.copy()
    got_rows, got_weights = consolidate(rows, weights)
    sums: Counter[Row] = Counter()
    for row, weight in pairs:
        sums[row] += weight
    wanted = sorted((row, weight) for row, weight in sums.items() if weight)
    assert list(zip(tuples(got_rows), got_weights.tolist(), strict=True)) == wanted
    assert np.array_equal(rows, before[0])
    assert np.array_equal(weights, before[1])
    assert tuples(sort_distinct(rows)) == sorted(sums)


@settings(max_examples=examples(100), deadline=None)
@given(st.integers(1, 3).flatmap(lambda width: st.tuples(st.just(width), *[st.lists(keys(width), max_size=40, unique=True)] * 2)))
def test_rows_are_found_among_others_whatever_their_order(drawn: tuple[int, list[Row], list[Row]]) -> None:
    width, rows, others = drawn
    assert among(block(rows, width), block(others, width)).tolist() == [row in others for row in rows]


@pytest.mark.parametrize("shape", ["random", "sorted", "reversed", "runs", "equal"])
@pytest.mark.parametrize("size", [0, 1, 23, 24, 25, 48, 49, 1000, 3000])
def test_blocks_of_many_sizes_and_shapes_are_sorted(shape: str, size: int) -> None:
    if not COMPILED and size == 3000:
        size = 300
    rows = np.random.default_rng(size).integers(-50, 50, (size, 2))
    wanted = np.unique(rows, axis=0)
    if shape == "sorted":
        rows = rows[np.lexsort(rows.T[::-1])]
    elif shape == "reversed":
        rows = rows[np.lexsort(rows.T[::-1])[::-1]]
    elif shape == "runs":
        rows = np.concatenate([part[np.lexsort(part.T[::-1])] for part in np.array_split(rows, 3)])
    elif shape == "equal":
        rows = np.full((size, 2), 7)
        wanted = rows[:1]
    assert np.array_equal(sort_distinct(rows), wanted)


@pytest.mark.parametrize("size", [2, 63, 64, 200])
def test_rows_that_ascend_already_are_not_copied_and_lose_only_those_of_weight_zero(size: int) -> None:
    rows = np.arange(2 * size).reshape(-1, 2)
    weights = np.ones(size, np.int64)
    assert np.shares_memory(sort_distinct(rows), rows) == (size >= FEW)
    got_rows, got_weights = consolidate(rows, weights)
    assert np.shares_memory(got_rows, rows) == (size >= FEW)
    assert np.array_equal(got_rows, rows)
    assert np.array_equal(got_weights, weights)
    weights[1] = 0
    assert np.array_equal(consolidate(rows, weights)[0], np.delete(rows, 1, axis=0))
    assert len(sort_distinct(np.repeat(rows, 2, axis=0))) == size


@pytest.mark.parametrize("bits", [(0, 0), (1, 0), (8, 9), (20, 17), (31, 31), (31, 32), (32, 32), (0, 63), (63, 1), (64, 3)])
@pytest.mark.parametrize("weigh", [1, 5, 2**40])
def test_rows_are_sorted_alike_whether_they_fit_into_a_word_or_not(bits: tuple[int, int], weigh: int) -> None:
    random = np.random.default_rng(sum(bits))
    columns = []
    for width in bits:
        least = LEAST if width == 64 else -(2**width // 3)
        columns.append(random.choice(random.integers(least, least + 2**width - 1, 30, endpoint=True), 200 if COMPILED else 80))
    rows = np.stack(columns, axis=1)
    weights = random.integers(-weigh, weigh, len(rows), endpoint=True)
    sums: Counter[Row] = Counter()
    for row, weight in zip(tuples(rows), weights.tolist(), strict=True):
        sums[row] += weight
    got_rows, got_weights = consolidate(rows, weights)
    assert list(zip(tuples(got_rows), got_weights.tolist(), strict=True)) == sorted((row, sum_) for row, sum_ in sums.items() if sum_)
    assert tuples(sort_distinct(rows)) == sorted(sums)


def test_blocks_in_another_memory_order_are_sorted_by_rows() -> None:
    rows = np.array([[3, 1], [2, 9], [3, 0]])
    assert tuples(sort_distinct(np.asfortranarray(rows))) == [(2, 9), (3, 0), (3, 1)]


def test_a_weight_for_each_row_is_demanded() -> None:
    with pytest.raises(ValueError, match="2 rows have 1 weights"):
        consolidate(np.zeros((2, 1), np.int64), np.ones(1, np.int64))


def test_words_are_not_cut_from_other_numbers() -> None:
    halves: Any = np.array([0.5])
    with pytest.raises(ValueError, match="int64 words, not int64 and float64"):
        consolidate(np.zeros((1, 1), np.int64), halves)


def test_rows_without_columns_are_all_equal() -> None:
    rows, weights = consolidate(np.empty((3, 0), np.int64), np.array([2, 3, -1]))
    assert (rows.shape, weights.tolist()) == ((1, 0), [4])
