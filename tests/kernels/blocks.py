"""Blocks of rows for the tests of trees, and where examples come from. With the JIT off, tests try fewer examples."""

from __future__ import annotations

import os
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

Row = tuple[int, ...]
Block = npt.NDArray[np.int64]

COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") == "0"
LEAST, GREATEST = -(2**63), 2**63 - 1


def examples(count: int) -> int:
    return count if COMPILED else max(5, count // 8)


def block(rows: Iterable[Row], width: int) -> Block:
    return np.array(list(rows), np.int64).reshape(-1, width)


def tuples(rows: Block) -> list[Row]:
    return [tuple(row) for row in rows.tolist()]


def random_rows(seed: int, count: int, width: int, below: int) -> Block:
    """`count` distinct ascending rows."""
    random = np.random.default_rng(seed)
    rows: set[Row] = set()
    while len(rows) < count:
        rows.update(tuples(random.integers(0, below, (count - len(rows), width))))
    return block(sorted(rows), width)


def keys(width: int) -> st.SearchStrategy[Row]:
    """Rows that collide often, with the extreme words among them."""
    near = st.integers(-20 if width == 1 else -3, 20 if width == 1 else 3)
    word = st.one_of(near, near, near, st.sampled_from([LEAST, LEAST + 1, GREATEST - 1, GREATEST]))
    return st.tuples(*[word] * width)
