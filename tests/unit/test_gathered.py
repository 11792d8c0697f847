"""Rows that a fixpoint gathers: each once, in the order in which they are found, in whichever form they are told apart."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datalog.evaluate.gathered import SMALLEST_ROOM, Gathered
from datalog.kernels.gather import BITS, ROWS, WORDS
from tests.kernels.blocks import COMPILED, GREATEST, LEAST, Row, block, examples, tuples

HUGE = [LEAST, LEAST + 1, -(2**62), -(2**61), -1, 0, 1, 2**61, 2**62, GREATEST - 1, GREATEST]


def gathered(blocks: list[list[Row]], width: int, packed: bool = True) -> Gathered:
    found = Gathered(width, packed)
    for rows in blocks:
        found.add(block(rows, width))
    return found


def rows_of(width: int) -> st.SearchStrategy[list[list[Row]]]:
    value = st.one_of(st.integers(-3, 3), st.integers(-3, 3), st.integers(-300, 300), st.sampled_from(HUGE))
    return st.lists(st.lists(st.tuples(*[value] * width), max_size=30), max_size=6)


@pytest.mark.parametrize("packed", [True, False])
@settings(max_examples=examples(150), deadline=None)
@given(data=st.data(), width=st.integers(1, 3))
def test_each_row_is_there_once_where_it_was_first_found(packed: bool, data: st.DataObject, width: int) -> None:
    blocks = data.draw(rows_of(width))
    found = gathered(blocks, width, packed)
    assert tuples(found.rows[: found.count]) == list(dict.fromkeys(row for rows in blocks for row in rows))


def test_rows_are_bits_of_a_small_space_words_of_a_large_one_and_else_themselves() -> None:
    steps = range(0, 100 * SMALLEST_ROOM, 100) if COMPILED else range(0, 20_000, 100)
    small: list[Row] = [(value % 60, value % 61) for value in steps]
    large: list[Row] = [(value, 7 * value) for value in steps]
    for rows, form in ((small, BITS), (large, WORDS), ([*large, (LEAST, GREATEST)], ROWS)):
        found = gathered([rows], 2)
        assert found.form == form
        assert tuples(found.rows[: found.count]) == list(dict.fromkeys(rows))


def test_a_hash_table_becomes_bits_when_it_would_be_larger_than_they_are() -> None:
    corners: list[Row] = [(0, 0), (1023, 1023)]
    assert gathered([corners], 2).form == WORDS
    rows = corners + [(value // 1024, value % 1024) for value in range(5 * SMALLEST_ROOM)]
    found = gathered([[row] for row in corners] + [rows], 2)
    assert found.form == BITS
    assert tuples(found.rows[: found.count]) == list(dict.fromkeys(rows))


@pytest.mark.parametrize("step", [1, -1, 3, -1000])
def test_values_that_grow_or_fall_for_long_make_few_tables(step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    made = 0
    make_room = Gathered._make_room

    def counted(self: Gathered, heads: np.ndarray) -> None:
        nonlocal made
        made += 1
        make_room(self, heads)

    monkeypatch.setattr(Gathered, "_make_room", counted)
    count = 4000 if COMPILED else 500
    found = gathered([[(step * number, 0)] for number in range(count)], 2)
    assert found.count == count
    assert made <= 30
