"""Kernels of classes, compiled and plain, against sets of Python that grow together."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datalog.kernels import classes
from tests.kernels.blocks import examples

Pair = tuple[int, int]


def forms(kernel: Any) -> list[Callable[..., None]]:
    return [kernel, getattr(kernel, "py_func", kernel)]


def united(pairs: list[Pair], count: int) -> list[set[int]]:
    found = [{element} for element in range(count)]
    for pair in pairs:
        touched = [one for one in found if not one.isdisjoint(pair)]
        found = [one for one in found if one.isdisjoint(pair)] + [set[int]().union(*touched)]
    return found


def columns(rows: list[Any], width: int) -> list[Any]:
    block = np.array(rows, np.int64).reshape(-1, width)
    return [np.ascontiguousarray(column) for column in block.T]


@pytest.mark.parametrize("form", [0, 1], ids=["compiled", "plain"])
@settings(max_examples=examples(40))
@given(seed=st.integers(0, 10**6), count=st.integers(1, 30))
def test_united_elements_have_the_least_of_their_class_for_a_parent(form: int, seed: int, count: int) -> None:
    random = Random(seed)
    pairs = [(random.randrange(count), random.randrange(count)) for _ in range(random.randint(0, count))]
    parents = np.arange(count)
    forms(classes.unite)[form](*columns(pairs, 2), parents)
    assert parents.tolist() == [min(next(one for one in united(pairs, count) if element in one)) for element in range(count)]


@pytest.mark.parametrize("form", [0, 1], ids=["compiled", "plain"])
@settings(max_examples=examples(40))
@given(seed=st.integers(0, 10**6), count=st.integers(1, 12))
def test_questions_see_the_pairs_with_stamps_below_their_limits(form: int, seed: int, count: int) -> None:
    random = Random(seed)
    pairs = sorted((random.randrange(9), random.randrange(count), random.randrange(count)) for _ in range(random.randint(0, 12)))
    asked = sorted((random.randrange(11), random.randrange(count), random.randrange(count)) for _ in range(15))
    stamps, lefts, rights = columns(pairs, 3)
    limits, ones, others = columns(asked, 3)
    flags = np.zeros(len(asked), np.bool_)
    forms(classes.united_before)[form](lefts, rights, stamps, ones, others, limits, np.full(count, -1), flags)
    for (limit, one, other), flag in zip(asked, flags.tolist(), strict=True):
        older = [(left, right) for stamp, left, right in pairs if stamp < limit]
        held = any(one in pair for pair in older)
        assert flag == (held and any({one, other} <= members for members in united(older, count))), (limit, one, other)


@pytest.mark.parametrize("form", [0, 1], ids=["compiled", "plain"])
def test_a_crossing_has_the_rows_of_one_outer_run_and_two_inner_ones(form: int) -> None:
    members, outer, inner = columns([(7, 0, 0), (3, 0, 0), (9, 0, 1), (4, 1, 2), (5, 1, 2), (6, 2, 3), (8, 2, 4), (1, 2, 5)], 3)
    rows = np.empty((4 + 6, 2), np.int64)
    forms(classes.cross)[form](members, outer, inner, rows)
    across = [(7, 9), (3, 9), (9, 7), (9, 3), (6, 8), (6, 1), (8, 6), (8, 1), (1, 6), (1, 8)]
    assert sorted(map(tuple, rows.tolist())) == sorted(across)
