"""Building, exporting and reading whole trees."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datalog.errors import InternalError
from datalog.kernels.layout import BORN, COUNT, HEADER, LEVEL
from datalog.store.btree import EMPTY, GREATEST_PAYLOAD, NO_SCAN, BTree
from datalog.store.pool import PagePool
from tests.kernels.blocks import Row, block, examples, keys, random_rows, tuples

pools = st.sampled_from([(256, 3), (256, 4), (32, None), (256, None)])


@settings(max_examples=examples(60), deadline=None)
@given(pools, st.sets(keys(3), max_size=120), st.lists(keys(3), max_size=20), st.sampled_from([NO_SCAN, GREATEST_PAYLOAD]))
def test_a_built_tree_has_its_rows_payloads_and_prefix_counts(
    sizes: tuple[int, int | None], rows: set[Row], others: list[Row], scan: int
) -> None:
    tree = BTree(PagePool(*sizes), 3, payload=True, scan=scan)
    tree.pool.begin()
    payloads = {row: row[1] ^ row[2] for row in rows}
    root = tree.build(block(sorted(rows), 3), np.array([payloads[row] for row in sorted(rows)], np.int64))
    tree.check(root)
    assert tuples(tree.export(root)) == sorted(rows)
    assert tree.export_with_payload(root)[1].tolist() == [payloads[row] for row in sorted(rows)]
    asked = [*others, *sorted(rows)[:10]]
    found, values = tree.find(root, block(asked, 3), default=99)
    assert found.tolist() == [row in rows for row in asked] == tree.contains(root, block(asked, 3)).tolist()
    assert values.tolist() == [payloads.get(row, 99) for row in asked]
    for length in range(4):
        counts = tree.count_prefixes(root, np.ascontiguousarray(block(asked, 3)[:, :length]))
        assert counts.tolist() == [sum(row[:length] == one[:length] for row in rows) for one in asked]


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 13, 16, 17, 64, 65, 100, 1000])
def test_built_pages_are_full_but_for_the_last_two_of_a_level(count: int) -> None:
    tree = BTree(PagePool(rows_per_page=4), 1)
    tree.pool.begin()
    root = tree.build(np.arange(count).reshape(-1, 1))
    tree.check(root)
    needed = level = -(-count // 4)
    while level > 1:
        level = -(-level // 4)
        needed += level
    assert tree.pages_of(root) == tree.pool.used_pages == needed


def test_the_size_of_a_large_tree_is_read_from_its_root() -> None:
    tree = BTree(PagePool(), 2)
    tree.pool.begin()
    rows = random_rows(1, 5000, 2, 2000)
    root = tree.build(rows)
    assert tree.size(root) == 5000
    assert tree.size(EMPTY) == 0


@pytest.mark.parametrize("rows", [[(1, 2), (1, 2)], [(1, 2), (1, 1)], [(0, 5), (1, 2), (0, 9)]])
def test_rows_that_do_not_ascend_are_not_built(rows: list[Row]) -> None:
    tree = BTree(PagePool(), 2)
    tree.pool.begin()
    with pytest.raises(InternalError, match="do not ascend at row"):
        tree.build(block(rows, 2))


def test_frozen_rows_are_accepted() -> None:
    tree = BTree(PagePool(), 2)
    tree.pool.begin()
    rows = block([(1, 2), (3, 4)], 2)
    rows.flags.writeable = False
    root = tree.build(rows)
    assert tree.contains(root, rows).all()


def test_a_dropped_tree_gives_its_pages_back() -> None:
    pool = PagePool(rows_per_page=4)
    tree = BTree(pool, 2)
    pool.begin()
    kept = tree.build(random_rows(2, 100, 2, 50))
    pool.commit()
    used = pool.used_pages
    pool.begin()
    tree.drop(tree.build(random_rows(3, 100, 2, 50)))
    assert pool.used_pages == used
    tree.drop(kept)
    pool.commit()
    assert pool.used_pages == 0


def test_shapes_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ValueError, match="needs a key column"):
        BTree(PagePool(), 0)
    with pytest.raises(ValueError, match="this scan needs a payload"):
        BTree(PagePool(), 1, scan=GREATEST_PAYLOAD)
    with pytest.raises(ValueError, match="too small for rows of 9 columns"):
        BTree(PagePool(words=32), 9)
    with pytest.raises(ValueError, match="room for 3 rows"):
        PagePool(rows_per_page=2)


# Each damage is done to the inner page (of 4 leaves, 4 rows each, widths 2 with payload and scan) or to its second leaf.
CAP = 4
DAMAGES = {
    "the page is empty or overfull": ("leaf", COUNT, 0),
    "the level is not one below": ("leaf", LEVEL, 1),
    "the page is younger": ("leaf", BORN, 99),
    "the rows do not ascend": ("leaf", HEADER + 1, 0),
    "the separator above is not the least row": ("leaf", HEADER + CAP, 40),
    "the scan above is not that of the rows": ("leaf", HEADER + 2 * CAP + 3, 1000),
    "the page does not exist": ("root", HEADER + 2 * CAP + 1, 63),
    "the number of rows above is wrong": ("root", HEADER + 3 * CAP + 1, 5),
}


@pytest.mark.parametrize("invariant", DAMAGES)
def test_check_names_the_invariant_that_a_damaged_page_breaks(invariant: str) -> None:
    tree = BTree(PagePool(rows_per_page=CAP), 2, payload=True, scan=GREATEST_PAYLOAD)
    tree.pool.begin()
    rows = np.stack([np.arange(16), np.full(16, 50)], axis=1)
    root = tree.build(rows, np.arange(16))
    tree.check(root)
    pages = tree.pool.pages
    leaf = pages[root, HEADER + 2 * CAP + 1]
    which, word, value = DAMAGES[invariant]
    pages[root if which == "root" else leaf, word] = value
    with pytest.raises(InternalError, match=invariant):
        tree.check(root)


def test_check_finds_a_page_that_is_free_or_has_two_parents() -> None:
    pool = PagePool(rows_per_page=CAP)
    tree = BTree(pool, 1)
    pool.begin()
    root = tree.build(np.arange(40).reshape(-1, 1))
    pool.commit()
    pool.begin()
    dropped = tree.build(np.arange(40).reshape(-1, 1))
    tree.drop(dropped)
    with pytest.raises(InternalError, match="free or retired"):
        tree.check(dropped)
    left = pool.pages[root, HEADER + CAP]
    pool.pages[root, HEADER + CAP + 1] = left
    with pytest.raises(InternalError, match=r"do not ascend|two parents"):
        tree.check(root)
