"""All invariants of a B-tree, checked level by level from the root with whole-level array operations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from datalog.errors import InternalError
from datalog.kernels.jit import Flags, Words
from datalog.kernels.layout import (
    ALL_BITS,
    ANY_BITS,
    BORN,
    CHILD,
    COUNT,
    EMPTY,
    GREATEST_KEY,
    GREATEST_PAYLOAD,
    HEADER,
    INNER_CAP,
    LEAF_CAP,
    LEAST_KEY,
    LEVEL,
    NO_SCAN,
    ODD_BITS,
    PRODUCT,
    ROWS,
    SCANNED,
    TOP,
    TOTAL,
    TRANSACTION,
)

if TYPE_CHECKING:
    from datalog.store.btree import BTree


def levels(tree: BTree, root: int) -> Iterator[tuple[int, Words]]:
    """The levels from the root's down to 0, each with its pages from left to right."""
    if root == EMPTY:
        return
    pages = tree.pool.pages
    ids = np.array([root], np.int64)
    cap = int(tree.shape[INNER_CAP])
    base = HEADER + (tree.width + CHILD) * cap
    for level in range(int(pages[root, LEVEL]), 0, -1):
        yield level, ids
        children = pages[ids, base : base + cap]
        ids = children[np.arange(cap) < pages[ids, COUNT, None]]
    yield 0, ids


def check_tree(tree: BTree, root: int) -> None:
    """Raise InternalError if the tree at `root` breaks an invariant.

    That is: pages exist, are not free and belong to this tree once; levels descend by one; no page is empty or overfull; rows ascend;
    separators, row counts and scans are those of the children.
    """
    if root == EMPTY:
        return
    pool = tree.pool
    width = tree.width
    seen: list[Words] = []
    above: Words | None = None  # separators, row counts and scans that the level above claims, a column each
    unreachable = pool.unreachable()
    if pool.pages[root, LEVEL] > 0 and pool.pages[root, COUNT] < 2:
        raise InternalError(f"B-tree at page {root}: the root has a single child")
    for level, ids in levels(tree, root):

        def demand(fine: Flags, invariant: str, ids: Words = ids) -> None:
            if not fine.all():
                place = int(np.argmin(fine))
                page = f"page {ids[place]}" if len(fine) == len(ids) else f"entry {place}"
                raise InternalError(f"B-tree at page {root}, level {level}, {page}: {invariant}")  # noqa: B023

        demand((ids >= 0) & (ids < pool.ctl[TOP]), "the page does not exist")
        demand(~np.isin(ids, unreachable), "the page is free or retired")
        seen.append(ids)
        pages = pool.pages[ids]
        demand(pages[:, LEVEL] == level, "the level is not one below the parent's")
        demand(pages[:, BORN] <= pool.ctl[TRANSACTION], "the page is younger than the transaction")
        cap = int(tree.shape[INNER_CAP if level else LEAF_CAP])
        demand((pages[:, COUNT] >= 1) & (pages[:, COUNT] <= cap), "the page is empty or overfull")
        used = np.arange(cap) < pages[:, COUNT, None]
        columns = width + (2 + (tree.scan != NO_SCAN) if level else tree.payload)
        entries = pages[:, HEADER : HEADER + columns * cap].reshape(len(ids), columns, cap)
        flat = entries.transpose(0, 2, 1)[used]
        demand(_ascends(flat[:, :width]), "the rows do not ascend")
        if above is not None:
            demand((entries[:, :width, 0] == above[:, :width]).all(1), "the separator above is not the least row")
            sizes = (entries[:, width + ROWS] * used).sum(1) if level else pages[:, COUNT]
            demand(sizes == above[:, width + ROWS], "the number of rows above is wrong")
            if tree.scan != NO_SCAN:
                words = _scanned(tree, entries, used, level)
                demand(words == above[:, width + SCANNED], "the scan above is not that of the rows")
        above = flat
    every = np.concatenate(seen)
    if len(np.unique(every)) < len(every):
        raise InternalError(f"B-tree at page {root}: a page has two parents")


def _times(left: int, right: int) -> int:
    product = int(left) * int(right)
    return product if abs(product) < 2**63 else -(2**63)


# The neutral word of each kind of scan, and its ⊕.
SCANS: dict[int, tuple[int, Any]] = {
    GREATEST_PAYLOAD: (-(2**63), np.maximum),
    TOTAL: (0, np.add),
    LEAST_KEY: (2**63 - 1, np.minimum),
    GREATEST_KEY: (-(2**63), np.maximum),
    ALL_BITS: (-1, np.bitwise_and),
    ANY_BITS: (0, np.bitwise_or),
    ODD_BITS: (0, np.bitwise_xor),
    PRODUCT: (1, np.frompyfunc(_times, 2, 1)),
}


def _scanned(tree: BTree, entries: Words, used: Flags, level: int) -> Words:
    """The scan's word of each page of a level."""
    neutral, operation = SCANS[tree.scan]
    words = entries[:, tree.width + SCANNED if level else tree.width - 1]
    if not level and tree.scan in (GREATEST_PAYLOAD, TOTAL):
        words = entries[:, tree.width]
    elif not level and tree.scan == ODD_BITS:
        words = np.where(entries[:, tree.width] % 2 == 1, words, 0)
    elif not level and tree.scan == PRODUCT:
        factors = zip(words[used].tolist(), entries[:, tree.width][used].tolist(), strict=True)
        words = words.copy()
        words[used] = [_times(1, base ** (count if abs(base) < 2 else min(count, 64))) for base, count in factors]
    every: Words = operation.reduce(np.where(used, words, neutral), axis=1).astype(np.int64)
    return every


def _ascends(rows: Words) -> Flags:
    """For each row, whether it is greater than the row before it."""
    fine = np.zeros(len(rows), np.bool_)
    fine[:1] = True
    undecided = ~fine
    for column in range(rows.shape[1]):
        here, before = rows[1:, column], rows[:-1, column]
        fine[1:] |= undecided[1:] & (here > before)
        undecided[1:] &= here == before
    return fine
