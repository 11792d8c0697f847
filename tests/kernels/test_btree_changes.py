"""Random transactions on trees against dictionaries: contents, transitions, invariants, old versions, aborts."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from datalog.errors import InternalError
from datalog.kernels.layout import LEVEL
from datalog.store.btree import (
    ADD,
    ALL_BITS,
    ANY_BITS,
    COUNT_UP,
    EMPTY,
    GREATEST_KEY,
    GREATEST_PAYLOAD,
    LEAST_KEY,
    MAX,
    NO_SCAN,
    ODD_BITS,
    PRODUCT,
    REMOVE,
    SET,
    TOTAL,
    BTree,
)
from datalog.store.pool import PagePool
from tests.kernels.blocks import Block, Row, block, examples, keys, random_rows, tuples

Contents = dict[Row, int]


def expected(contents: Contents, rows: list[Row], weights: list[int], action: int) -> list[int]:
    """What an action does, row by row, on a dictionary."""
    transitions = []
    for row, weight in zip(rows, weights, strict=True):
        before = row in contents
        if action == SET and weight > 0:
            contents[row] = 0
        elif action == REMOVE or (action == SET and weight < 0):
            contents.pop(row, None)
        elif action == MAX:
            contents[row] = max(contents.get(row, weight), weight)
        elif action in (COUNT_UP, ADD):
            contents[row] = contents.get(row, 0) + weight
            if contents[row] == 0:
                del contents[row]
        transitions.append((row in contents) - before)
    return transitions


class Transactions(RuleBasedStateMachine):
    """One tree in one pool, always inside a transaction."""

    width = 2
    payload = False
    scans: tuple[int, ...] = (NO_SCAN, LEAST_KEY, GREATEST_KEY, ALL_BITS, ANY_BITS)
    action = SET

    @initialize(rows=st.sampled_from([(256, 3), (256, 4), (28, None)]), data=st.data())
    def begin(self, rows: tuple[int, int | None], data: st.DataObject) -> None:
        self.pool = PagePool(*rows)
        self.tree = BTree(self.pool, self.width, self.payload, data.draw(st.sampled_from(self.scans)))
        self.root = self.committed_root = EMPTY
        self.contents: Contents = {}
        self.committed: Contents = {}
        self.pinned: list[tuple[int, int, Contents]] = []
        self.pool.begin()

    def apply(self, changes: Contents, action: int) -> None:
        rows = sorted(changes)
        weights = [changes[row] for row in rows]
        if action == COUNT_UP:
            weights = [max(weight, -self.contents.get(row, 0)) for row, weight in zip(rows, weights, strict=True)]
        transitions = expected(self.contents, rows, weights, action)
        self.root, got = self.tree.apply(self.root, block(rows, self.width), np.array(weights, np.int64), action)
        assert got.tolist() == transitions

    @rule(data=st.data())
    def change(self, data: st.DataObject) -> None:
        changes = data.draw(st.dictionaries(keys(self.width), st.integers(-3, 4), max_size=40))
        self.apply(changes, self.action)

    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        candidates = st.sampled_from(sorted(self.contents)) if self.contents else keys(self.width)
        self.apply(dict.fromkeys(data.draw(st.sets(candidates, max_size=30)), 0), REMOVE)

    @rule()
    def commit(self) -> None:
        self.pool.commit()
        self.check_diff(self.committed_root, self.committed)
        self.committed_root, self.committed = self.root, dict(self.contents)
        self.pinned.append((self.pool.pin(), self.root, self.committed))
        self.pool.begin()

    @rule()
    def abort(self) -> None:
        self.pool.abort()
        self.root, self.contents = self.committed_root, dict(self.committed)
        self.pool.begin()

    @precondition(lambda self: self.pinned)
    @rule(data=st.data())
    def unpin(self, data: st.DataObject) -> None:
        number, _, _ = self.pinned.pop(data.draw(st.integers(0, len(self.pinned) - 1)))
        self.pool.unpin(number)

    def check_diff(self, old: int, contents: Contents) -> None:
        deleted, inserted, _ = self.tree.diff(old, self.root)
        assert tuples(deleted) == sorted(contents.keys() - self.contents.keys())
        assert tuples(inserted) == sorted(self.contents.keys() - contents.keys())

    def holds(self, root: int, contents: Contents) -> None:
        assert tuples(self.tree.export(root)) == sorted(contents)
        assert self.tree.size(root) == len(contents)
        if self.payload:
            assert self.tree.export_with_payload(root)[1].tolist() == [contents[row] for row in sorted(contents)]

    @invariant()
    def the_tree_is_sound(self) -> None:
        self.tree.check(self.root)
        self.holds(self.root, self.contents)

    @invariant()
    def pinned_versions_are_as_they_were(self) -> None:
        for _, root, contents in self.pinned:
            self.holds(root, contents)
            self.check_diff(root, contents)

    def teardown(self) -> None:
        """Only the pages of the tree stay in use once nobody reads."""
        if hasattr(self, "pool"):
            self.pool.commit()
            for number, _, _ in self.pinned:
                self.pool.unpin(number)
            assert self.pool.used_pages == self.tree.pages_of(self.root)


class Counts(Transactions):
    width = 1
    payload = True
    scans: tuple[int, ...] = (NO_SCAN, TOTAL, ODD_BITS, PRODUCT)
    action = COUNT_UP


class Ends(Transactions):
    width = 3
    payload = True
    scans = (GREATEST_PAYLOAD,)
    action = MAX


class Sums(Counts):
    width = 2
    scans = (TOTAL, GREATEST_PAYLOAD)
    action = ADD


LIMITS = settings(max_examples=examples(100), stateful_step_count=14, deadline=None, suppress_health_check=[HealthCheck.too_slow])
for machine in (Transactions, Counts, Ends, Sums):
    machine.TestCase.settings = LIMITS
TestSetsOfRows = Transactions.TestCase
TestSupportCounts = Counts.TestCase
TestEndsOfIntervals = Ends.TestCase
TestSums = Sums.TestCase


def committed(tree: BTree, rows: Block, payloads: Block | None = None) -> int:
    tree.pool.begin()
    root = tree.build(rows, payloads)
    tree.pool.commit()
    return root


@pytest.mark.parametrize("rows_per_page", [3, 4, None])
@pytest.mark.parametrize("order", ["ascending", "descending", "random"])
def test_rows_inserted_and_deleted_one_by_one_leave_a_sound_tree_at_each_step(rows_per_page: int | None, order: str) -> None:
    pool = PagePool(words=32, rows_per_page=rows_per_page)
    tree = BTree(pool, 2)
    rows = random_rows(1, 200, 2, 1000)
    sequence = rows[np.random.default_rng(2).permutation(len(rows))] if order == "random" else rows[:: -1 if order == "descending" else 1]
    root = EMPTY
    pool.begin()
    for weight in (1, -1):
        for row in sequence:
            root, transitions = tree.apply(root, row.reshape(1, 2).copy(), np.array([weight]), SET)
            assert transitions.tolist() == [weight]
            tree.check(root)
    assert root == EMPTY
    assert pool.used_pages == 0


def test_ascending_insertion_fills_pages() -> None:
    pool = PagePool()
    tree = BTree(pool, 1)
    rows = np.arange(20_000).reshape(-1, 1)
    pool.begin()
    root = EMPTY
    for start in range(0, len(rows), 100):
        root, _ = tree.apply(root, rows[start : start + 100], np.ones(100, np.int64), SET)
    assert tree.pages_of(root) <= 1.02 * len(rows) / 252 + 2


def test_deleting_most_rows_merges_pages() -> None:
    pool = PagePool()
    tree = BTree(pool, 1)
    rows = np.arange(20_000).reshape(-1, 1)
    root = committed(tree, rows)
    pool.begin()
    gone = rows[np.arange(len(rows)) % 20 != 0]
    root, _ = tree.apply(root, gone, -np.ones(len(gone), np.int64), SET)
    tree.check(root)
    assert tree.size(root) == 1000
    assert tree.pages_of(root) < 20


@pytest.mark.parametrize("rows_per_page", [3, 4, 5, 8])
def test_a_tree_whose_rows_come_and_go_stays_as_low_as_its_size_has_it(rows_per_page: int) -> None:
    pool = PagePool(words=32, rows_per_page=rows_per_page)
    tree = BTree(pool, 2)
    random = Random(rows_per_page)
    present: set[Row] = set()
    root = EMPTY
    for _ in range(200):
        wave = random.choice((1, 20, 100))
        going = {row for row in present if random.random() < wave / 200}
        coming = {(random.randrange(4), random.randrange(250)) for _ in range(wave // 2)} - present
        changes = sorted([*((row, 1) for row in coming), *((row, -1) for row in going)])
        pool.begin()
        root, _ = tree.apply(root, block([row for row, _ in changes], 2), np.array([weight for _, weight in changes], np.int64), SET)
        pool.commit()
        present = (present | coming) - going
        assert root == EMPTY or pool.pages[root, LEVEL] <= 8, f"{len(present)} rows"
    tree.check(root)


def test_taking_more_derivations_than_there_are_names_the_row_and_an_abort_restores_everything() -> None:
    pool = PagePool(rows_per_page=4)
    tree = BTree(pool, 2, payload=True)
    rows = random_rows(3, 50, 2, 100)
    root = committed(tree, rows, np.full(50, 2))
    used = pool.used_pages
    for broken, weight in ((rows[20:21].copy(), -3), (block([(500, 500)], 2), -1)):
        batch = np.concatenate([rows[:10], broken])
        weights = np.array([-2] * 10 + [weight])
        pool.begin()
        with pytest.raises(InternalError, match=r"row \[\d+, \d+\] would become negative"):
            tree.apply(root, batch, weights, COUNT_UP)
        pool.abort()
        assert pool.used_pages == used
        tree.check(root)
        assert np.array_equal(tree.export(root), rows)


def test_rows_that_change_nothing_copy_no_page() -> None:
    pool = PagePool(rows_per_page=4)
    rows = random_rows(4, 100, 2, 1000)
    plain, scan = BTree(pool, 2), BTree(pool, 2, payload=True, scan=GREATEST_PAYLOAD)
    roots = committed(plain, rows), committed(scan, rows, np.full(100, 7))
    used = pool.used_pages
    pool.begin()
    assert plain.apply(roots[0], rows[:20], np.ones(20, np.int64), SET)[0] == roots[0]
    assert plain.apply(roots[0], rows[:20] + 1000, -np.ones(20, np.int64), SET)[0] == roots[0]
    assert scan.apply(roots[1], rows[:20], np.full(20, 7), MAX)[0] == roots[1]
    assert pool.used_pages == used


def test_a_transaction_copies_each_page_once() -> None:
    pool = PagePool(rows_per_page=4)
    tree = BTree(pool, 2)
    rows = random_rows(5, 300, 2, 10_000)
    root = committed(tree, rows)
    pool.begin()
    used = pool.used_pages
    for _ in range(50):
        root, _ = tree.apply(root, rows[:1], np.array([-1]), SET)
        root, _ = tree.apply(root, rows[:1], np.array([1]), SET)
    assert pool.used_pages - used <= 6  # one path


def test_trees_are_changed_inside_transactions_only() -> None:
    tree = BTree(PagePool(), 2)
    with pytest.raises(InternalError, match="outside a transaction"):
        tree.build(block([(1, 2)], 2))
    with pytest.raises(InternalError, match="outside a transaction"):
        tree.apply(EMPTY, block([(1, 2)], 2), np.ones(1, np.int64), SET)


def test_blocks_of_another_shape_or_word_are_refused() -> None:
    tree = BTree(PagePool(), 2)
    tree.pool.begin()
    one = np.ones(1, np.int64)
    refused: list[Any] = [np.zeros((1, 3), np.int64), np.zeros((1, 2), np.int32), np.zeros((2, 2), np.int64).T[:1], np.zeros(2, np.int64)]
    for rows in refused:
        with pytest.raises(ValueError, match="not C-contiguous int64 rows of 2 columns"):
            tree.apply(EMPTY, rows, one, SET)
    with pytest.raises(ValueError, match="1 rows need as many int64 weights"):
        tree.apply(EMPTY, block([(1, 2)], 2), np.ones(2, np.int64), SET)
    halves: Any = np.array([0.5])
    with pytest.raises(ValueError, match="need as many int64 weights, not float64"):
        tree.apply(EMPTY, block([(1, 2)], 2), halves, SET)


@pytest.mark.parametrize("third", [3, 5])
def test_a_batch_that_does_not_ascend_is_refused(third: int) -> None:
    tree = BTree(PagePool(), 1)
    root = committed(tree, np.arange(10).reshape(-1, 1))
    tree.pool.begin()
    with pytest.raises(InternalError, match=rf"do not ascend at row 2: \[{third}\]"):
        tree.apply(root, block([(2,), (5,), (third,)], 1), np.zeros(3, np.int64), REMOVE)


def test_actions_that_need_payloads_are_refused_on_trees_without() -> None:
    pool = PagePool()
    pool.begin()
    row, one = block([(1, 2)], 2), np.ones(1, np.int64)
    for action in (COUNT_UP, MAX, ADD):
        with pytest.raises(ValueError, match="needs a tree with payloads"):
            BTree(pool, 2).apply(EMPTY, row, one, action)


def test_set_writes_weights_as_payloads_and_leaves_those_of_rows_that_are_there() -> None:
    tree = BTree(PagePool(), 2, payload=True)
    tree.pool.begin()
    root, _ = tree.apply(EMPTY, block([(1, 2), (3, 4)], 2), np.array([5, 7]), SET)
    root, changes = tree.apply(root, block([(1, 2), (3, 4), (5, 6)], 2), np.array([9, -1, 8]), SET)
    rows, payloads = tree.export_with_payload(root)
    assert (changes.tolist(), rows.tolist(), payloads.tolist()) == ([0, -1, 1], [[1, 2], [5, 6]], [5, 8])
