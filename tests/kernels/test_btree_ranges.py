"""Ranges of trees against lists: folds of every scan, rows by rank, enumeration, intervals around points; and what they look into."""

from __future__ import annotations

from functools import reduce
from math import ceil, log
from operator import and_, or_, xor
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datalog.store.btree import (
    ADD,
    ALL_BITS,
    ANY_BITS,
    EMPTY,
    GREATEST_KEY,
    GREATEST_PAYLOAD,
    LEAST_KEY,
    NO_SCAN,
    ODD_BITS,
    PRODUCT,
    SET,
    TOTAL,
    BTree,
)
from datalog.store.pool import PagePool
from datalog.store.ranges import Ranges
from datalog.store.tally import Tally
from tests.kernels.blocks import GREATEST, LEAST, Row, block, examples, random_rows, tuples

SCANS = [NO_SCAN, GREATEST_PAYLOAD, TOTAL, LEAST_KEY, GREATEST_KEY, ALL_BITS, ANY_BITS, ODD_BITS, PRODUCT]
Rows = list[tuple[Row, int]]


def word(scan: int, rows: Rows) -> int:
    """What a scan is of rows with payloads."""
    keys, payloads = [row[-1] for row, _ in rows], [payload for _, payload in rows]
    if scan == TOTAL:
        return sum(payloads)
    if scan in (GREATEST_PAYLOAD, GREATEST_KEY):
        return max(payloads if scan == GREATEST_PAYLOAD else keys, default=LEAST)
    if scan == LEAST_KEY:
        return min(keys, default=GREATEST)
    if scan == PRODUCT:
        product = reduce(lambda left, right: left * right, (key**payload for key, payload in zip(keys, payloads, strict=True)), 1)
        return product if abs(product) < 2**63 else LEAST
    odd = [key for key, payload in zip(keys, payloads, strict=True) if payload % 2]
    return {NO_SCAN: 0, ALL_BITS: reduce(and_, keys, -1), ANY_BITS: reduce(or_, keys, 0), ODD_BITS: reduce(xor, odd, 0)}[scan]


def grown(seed: int, scan: int, width: int) -> tuple[BTree, int, Rows]:
    """A tree of random rows after several batches, and what it holds."""
    random = Random(seed)
    tree = BTree(PagePool(rows_per_page=random.choice((3, 4, None))), width, payload=True, scan=scan)
    tree.pool.begin()
    root, contents = EMPTY, dict[Row, int]()
    for _ in range(random.randrange(6)):
        batch = {tuple(random.randint(-4, 4) for _ in range(width)): random.randint(1, 4) for _ in range(random.randrange(60))}
        batch = {row: contents[row] * -1 if row in contents and random.random() < 0.5 else change for row, change in batch.items()}
        rows = sorted(batch)
        root, _ = tree.apply(root, block(rows, width), np.array([batch[row] for row in rows], np.int64), ADD)
        for row, change in batch.items():
            contents[row] = contents.get(row, 0) + change
        contents = {row: payload for row, payload in contents.items() if payload}
    tree.check(root)
    return tree, root, sorted(contents.items())


@settings(max_examples=examples(150))
@given(seed=st.integers(0, 10**6), width=st.integers(1, 3), data=st.data())
@pytest.mark.parametrize("scan", SCANS)
def test_ranges_are_folded_enumerated_and_ranked_as_lists_are(scan: int, seed: int, width: int, data: st.DataObject) -> None:
    tree, root, contents = grown(seed, scan, width)
    random = Random(seed + 1)
    length = data.draw(st.integers(0, width))
    ends = [[tuple(random.choice((*range(-5, 6), LEAST, GREATEST)) for _ in range(length)) for _ in range(6)] for _ in range(2)]
    lows, highs = (block(side, length) if length else np.empty((6, 0), np.int64) for side in ends)
    inside = [[(row, payload) for row, payload in contents if low <= row[:length] <= high] for low, high in zip(*ends, strict=True)]
    ranges = Ranges(tree, root, Tally())
    words, counts = ranges.fold(lows, highs)
    assert counts.tolist() == list(map(len, inside))
    assert words.tolist() == [word(scan, rows) for rows in inside]
    found = ranges.rows(lows, highs)
    expected = [(place, row, payload) for place, rows in enumerate(inside) for row, payload in rows]
    assert list(zip(found.which.tolist(), tuples(found.rows), found.payloads.tolist(), strict=True)) == expected
    for weighted in (False, True) if scan == TOTAL else (False,):
        repeated = [[row for row, payload in rows for _ in range(payload if weighted else 1)] for rows in inside]
        for rank in (1, 2, 7, -1, -3):
            there, rows = ranges.select(lows, highs, rank, weighted)
            picked = [row[rank - (rank > 0)] if len(row) >= abs(rank) else None for row in repeated]
            assert [row if fine else None for fine, row in zip(there.tolist(), tuples(rows), strict=True)] == picked


@settings(max_examples=examples(100))
@given(seed=st.integers(0, 10**6), width=st.integers(2, 4), points=st.integers(0, 5))
def test_the_intervals_around_points_are_those_that_hold_them(seed: int, width: int, points: int) -> None:
    tree, root, contents = grown(seed, GREATEST_KEY, width)
    random = Random(seed)
    asked = [tuple(random.choice((*range(-5, 6), LEAST, GREATEST)) for _ in range(width - 1)) for _ in range(points)]
    expected = [row for *above, key in asked for row, _ in contents if list(row[:-2]) == above and row[-2] <= key <= row[-1]]
    assert tuples(Ranges(tree, root, Tally()).around(block(asked, width - 1))) == expected


def test_folds_and_ranks_look_into_a_few_pages_of_each_level() -> None:
    tree = BTree(PagePool(rows_per_page=4), 2, payload=True, scan=TOTAL)
    rows = random_rows(1, 3000, 2, 2000)
    tree.pool.begin()
    root = tree.build(rows, np.ones(len(rows), np.int64))
    levels = ceil(log(len(rows), 4)) + 1
    lows, highs = np.array([[7], [900], [1500]]), np.array([[1990], [901], [1700]])
    for low, high in zip(lows, highs, strict=True):
        tally = Tally()
        Ranges(tree, root, tally).fold(low.reshape(1, 1), high.reshape(1, 1))
        assert 2 <= tally.steps <= 2 * levels
        tally = Tally()
        Ranges(tree, root, tally).select(low.reshape(1, 1), high.reshape(1, 1), -2, weighted=True)
        assert tally.steps <= 3 * levels
    assert tally.cost >= tally.steps


def test_one_interval_among_many_is_found_in_a_few_pages() -> None:
    tree = BTree(PagePool(rows_per_page=4), 2, scan=GREATEST_KEY)
    starts = np.arange(5000)
    tree.pool.begin()
    root, _ = tree.apply(EMPTY, np.column_stack((3 * starts, 3 * starts + 1)), np.ones(len(starts), np.int64), SET)
    tally = Tally()
    assert Ranges(tree, root, tally).around(np.array([[6001]])).tolist() == [[6000, 6001]]
    assert tally.steps <= 24
