"""Seeking the first row that is not less than a prefix, against a sorted list."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datalog.store.btree import SET, BTree
from datalog.store.pool import PagePool
from datalog.store.ranges import Ranges
from datalog.store.tally import Tally
from tests.kernels.blocks import block, examples, random_rows, tuples


def sought(tree: BTree, root: int, prefixes: np.ndarray[tuple[int, int], np.dtype[np.int64]]) -> list[tuple[int, ...] | None]:
    found, rows = Ranges(tree, root, Tally()).select(prefixes, np.full_like(prefixes, 2**63 - 1), 1)
    return [row if there else None for row, there in zip(tuples(rows), found.tolist(), strict=True)]


@pytest.mark.parametrize("length", [0, 1, 2, 3])
@settings(max_examples=examples(40))
@given(seed=st.integers(0, 10_000), count=st.integers(1, 120))
def test_the_first_row_not_less_than_a_prefix_is_found_on_whichever_page_it_stands(length: int, seed: int, count: int) -> None:
    tree = BTree(PagePool(rows_per_page=4), 3)
    rows = random_rows(seed, count, 3, 7)
    tree.pool.begin()
    root = tree.build(rows)
    random = np.random.default_rng(seed)
    gone = rows[random.random(len(rows)) < 0.3]
    if len(gone) < len(rows):
        root, _ = tree.apply(root, gone, np.full(len(gone), -1, np.int64), SET)
    tree.pool.commit()
    left = tuples(tree.export(root))
    prefixes = random.integers(-1, 8, (60, length))
    places = [bisect_left(left, prefix, key=lambda row: row[:length]) for prefix in tuples(prefixes)]
    expected = [left[place] if place < len(left) else None for place in places]
    assert sought(tree, root, block(tuples(prefixes), length) if length else np.zeros((60, 0), np.int64)) == expected
