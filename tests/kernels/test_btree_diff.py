"""The difference of two versions: right, and found without looking at what they share."""

from __future__ import annotations

from math import ceil, log

import numpy as np
import pytest

from datalog.kernels.layout import INNER_CAP
from datalog.store import btree
from datalog.store.btree import EMPTY, SET, BTree
from datalog.store.pool import PagePool
from tests.kernels.blocks import COMPILED, Block, random_rows, tuples

ROWS = 100_000 if COMPILED else 3_000


def pinned(tree: BTree, rows: Block) -> int:
    tree.pool.begin()
    root = tree.build(rows)
    tree.pool.commit()
    tree.pool.pin()
    return root


def changed(tree: BTree, root: int, rows: Block, weights: Block) -> int:
    tree.pool.begin()
    root, _ = tree.apply(root, rows, weights, SET)
    tree.pool.commit()
    return root


@pytest.mark.parametrize("rows_per_page", [4, None])
@pytest.mark.parametrize("count", [1, 10, 100])
def test_few_changes_are_found_by_visiting_the_pages_of_their_paths_only(rows_per_page: int | None, count: int) -> None:
    tree = BTree(PagePool(rows_per_page=rows_per_page), 2)
    rows = random_rows(1, ROWS, 2, 10**6)
    old = pinned(tree, rows)
    random = np.random.default_rng(count)
    picked = np.sort(random.choice(len(rows), count, replace=False))
    weights = np.where(np.arange(count) % 2 == 0, 1, -1)
    batch = rows[picked]
    batch[weights > 0, 1] += 10**7  # not in the tree; the order stays
    new = changed(tree, old, batch, weights)
    deleted, inserted, visited = tree.diff(old, new)
    assert np.array_equal(deleted, batch[weights < 0])
    assert np.array_equal(inserted, batch[weights > 0])
    height = ceil(log(ROWS, int(tree.shape[INNER_CAP]))) + 1
    # A changed row changes one path, and a split or merge one more page a level, in the old version and in the new.
    assert visited <= 4 * height * count
    if COMPILED and count < 100:
        assert visited < tree.pages_of(old) / 10


def test_the_number_of_pages_visited_does_not_grow_with_the_tree_but_for_its_height() -> None:
    visited = []
    for size in (ROWS // 100, ROWS // 10, ROWS):
        tree = BTree(PagePool(rows_per_page=16), 2)
        rows = random_rows(2, size, 2, 10**6)
        old = pinned(tree, rows)
        new = changed(tree, old, rows[size // 2 : size // 2 + 1], np.array([-1]))
        visited.append(tree.diff(old, new)[2])
    assert visited[-1] <= 2 * (ceil(log(ROWS, 16)) + 1)
    assert visited[0] <= visited[1] <= visited[2] <= visited[0] + 4


@pytest.mark.parametrize("sizes", [(10, 3000), (3000, 10), (0, 500), (500, 0), (0, 0), (500, 500)])
def test_versions_of_different_heights_differ_by_the_difference_of_their_rows(sizes: tuple[int, int]) -> None:
    tree = BTree(PagePool(rows_per_page=4), 2)
    blocks = [random_rows(seed, size, 2, 100) for seed, size in enumerate(sizes)]
    old, new = (pinned(tree, rows) for rows in blocks)
    assert old == EMPTY or old != new
    deleted, inserted, _ = tree.diff(old, new)
    before, after = set(tuples(blocks[0])), set(tuples(blocks[1]))
    assert tuples(deleted) == sorted(before - after)
    assert tuples(inserted) == sorted(after - before)


def test_a_tree_that_shrank_to_a_shared_leaf_is_compared_with_the_leaf_where_it_was() -> None:
    tree = BTree(PagePool(rows_per_page=4), 1)
    rows = np.arange(64).reshape(-1, 1)
    old = pinned(tree, rows)
    gone = np.delete(rows, slice(20, 24), axis=0)
    new = changed(tree, old, gone, -np.ones(len(gone), np.int64))
    assert tree.pages_of(new) == 1
    deleted, inserted, _ = tree.diff(old, new)
    assert np.array_equal(deleted, gone)
    assert len(inserted) == 0


def test_the_same_version_differs_nowhere_and_no_page_is_visited() -> None:
    tree = BTree(PagePool(), 2)
    root = pinned(tree, random_rows(3, 1000, 2, 100))
    deleted, inserted, visited = tree.diff(root, root)
    assert (len(deleted), len(inserted), visited) == (0, 0, 0)


def test_a_payload_that_changed_is_no_difference() -> None:
    pool = PagePool(rows_per_page=4)
    tree = BTree(pool, 2, payload=True)
    rows = random_rows(4, 300, 2, 100)
    pool.begin()
    old = tree.build(rows, np.ones(300, np.int64))
    pool.commit()
    pool.pin()
    pool.begin()
    new, _ = tree.apply(old, rows[:5], np.ones(5, np.int64), btree.COUNT_UP)
    assert new != old
    deleted, inserted, visited = tree.diff(old, new)
    assert len(deleted) == len(inserted) == 0
    assert visited > 0
