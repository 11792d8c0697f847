"""Persistent B-trees: sets of rows, or maps from rows to one payload word, as values that a root page names.

A `BTree` is a description (width, payload, scan) in a pool; its methods take roots and give roots. Methods that write run inside a
transaction of the pool and use up the root that they are given; roots of committed versions stay what they were while they are pinned.
Blocks of rows are C-contiguous `int64[n, k]`, and those that build or change a tree are ascending and distinct.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from datalog.errors import InternalError, MemoryLimit
from datalog.kernels import bulk, lookup
from datalog.kernels.btree import apply_rows
from datalog.kernels.difference import ENTERED, FOUND, PATH
from datalog.kernels.difference import diff as _diff
from datalog.kernels.jit import Flags, Words
from datalog.kernels.layout import (
    ADD,
    ALL_BITS,
    ANY_BITS,
    BORN,
    COUNT,
    COUNT_UP,
    DONE,
    EMPTY,
    GREATEST_KEY,
    GREATEST_PAYLOAD,
    HEADER,
    INNER_CAP,
    LEAF_CAP,
    LEAST_KEY,
    LEVEL,
    MAX,
    MAX_HEIGHT,
    NO_SCAN,
    ODD_BITS,
    PRODUCT,
    RECYCLED,
    REMOVE,
    RETIRED,
    ROOT,
    ROWS,
    SET,
    SHAPE_WORDS,
    TOTAL,
    TRANSACTION,
)
from datalog.store.check import check_tree, levels
from datalog.store.pool import PagePool

__all__ = [
    "ADD",
    "ALL_BITS",
    "ANY_BITS",
    "COUNT_UP",
    "EMPTY",
    "GREATEST_KEY",
    "GREATEST_PAYLOAD",
    "LEAST_KEY",
    "MAX",
    "NO_SCAN",
    "ODD_BITS",
    "PRODUCT",
    "REMOVE",
    "SET",
    "TOTAL",
    "BTree",
    "widest",
]

SCANS_OF_PAYLOADS = (GREATEST_PAYLOAD, TOTAL, ODD_BITS, PRODUCT)

DENSE = 256  # rows
NO_WORDS = np.empty(0, np.int64)
WORD = np.dtype(np.int64)


def widest(pool: PagePool, scan: int = NO_SCAN) -> int:
    """How many columns rows may have, so that an inner page has room for three children."""
    return (pool.words - HEADER) // 3 - 2 - (scan != NO_SCAN)


@dataclass(frozen=True, slots=True)
class BTree:
    """Trees of `width` key columns in `pool`, with a payload word per row, and with a scan: a kind of `kernels/layout.py`."""

    pool: PagePool
    width: int
    payload: bool = False
    scan: int = NO_SCAN
    shape: Words = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.width < 1:
            raise ValueError("a tree needs a key column")
        if self.scan in SCANS_OF_PAYLOADS and not self.payload:
            raise ValueError("this scan needs a payload")
        room = self.pool.words - HEADER
        limit = self.pool.rows_per_page or room
        if self.width > widest(self.pool, self.scan):
            raise ValueError(f"pages of {self.pool.words} words are too small for rows of {self.width} columns")
        shape = np.empty(SHAPE_WORDS, np.int64)
        shape[:] = (
            self.width,
            self.payload,
            self.scan,
            min(room // (self.width + self.payload), limit),
            min(room // (self.width + 2 + (self.scan != NO_SCAN)), limit),
        )
        shape.flags.writeable = False
        object.__setattr__(self, "shape", shape)

    @property
    def leaf_rows(self) -> int:
        """Rows that a leaf has room for."""
        return int(self.shape[LEAF_CAP])

    @property
    def inner_rows(self) -> int:
        """Children that an inner page has room for."""
        return int(self.shape[INNER_CAP])

    def build(self, rows: Words, payloads: Words | None = None) -> int:
        """A new tree of ascending distinct rows, with full pages. O(n). Raises InternalError if the rows do not ascend."""
        self._writing(rows)
        if self.payload != (payloads is not None) or (payloads is not None and len(payloads) != len(rows)):
            raise ValueError(f"{len(rows)} rows of a tree {'with' if self.payload else 'without'} payloads do not go with these payloads")
        pool = self.pool
        needed = level = -(-len(rows) // int(self.shape[LEAF_CAP]))
        while level > 1:
            level = -(-level // int(self.shape[INNER_CAP]))
            needed += level
        pool.reserve(needed)
        root = bulk.build(pool.pages, pool.ledger, pool.ctl, self.shape, rows, NO_WORDS if payloads is None else payloads)
        if root < EMPTY:
            raise InternalError(f"the rows of a new tree do not ascend at row {-2 - root}: {rows[-2 - root].tolist()}")
        return root

    def apply(self, root: int, rows: Words, weights: Words, action: int) -> tuple[int, Words]:
        """Apply a batch; the new root, and for each row 1 if it came, -1 if it went, 0 if neither.

        SET inserts rows of positive weight, with the weight as payload in a tree that has them, and deletes those of negative weight;
        a row that is there stays as it is. COUNT_UP adds weights to payloads, and a row is there
        while its payload is positive; raises InternalError if one becomes negative. ADD does the same for payloads that may be
        negative: a row is there while its payload is not 0. MAX raises payloads to weights and inserts rows
        that are absent. REMOVE deletes rows. O(log n) for each leaf that is touched, and O(1) a row.
        """
        count = len(rows)
        self._writing(rows)
        if weights.shape != (count,) or weights.dtype != WORD:
            raise ValueError(f"{count} rows need as many int64 weights, not {weights.dtype}{list(weights.shape)}")
        if action in (COUNT_UP, MAX, ADD) and not self.payload:
            raise ValueError(f"action {action} needs a tree with payloads")
        changes = weights.copy()
        pool = self.pool
        ctl = pool.ctl
        ctl[ROOT] = root
        ctl[DONE] = 0
        while status := apply_rows(pool.pages, pool.ledger, ctl, self.shape, rows, changes, action):
            if status < 0:
                row = int(ctl[DONE])
                raise self._broken(rows, changes, row) if status == -1 else self._disorder(rows, row)
            try:
                pool.reserve(status)
            except MemoryLimit as error:
                error.unreadable.add(root)
                raise
        return int(ctl[ROOT]), changes

    def is_dense(self, root: int, count: int) -> bool:
        """Does a batch of so many rows change many in each leaf?"""
        return count >= DENSE and 4 * count >= self.size(root)

    def drop(self, root: int) -> None:
        """Give up all pages of a tree. O(pages)."""
        self._writing()
        pool = self.pool
        for _, pages in levels(self, root):
            born = pool.pages[pages, BORN] == pool.ctl[TRANSACTION]
            for stack, given_up in ((RECYCLED, pages[born]), (RETIRED, pages[~born])):
                height = int(pool.ctl[stack])
                pool.ledger[stack, height : height + len(given_up)] = given_up
                pool.ctl[stack] = height + len(given_up)

    def size(self, root: int) -> int:
        """Number of rows. O(page)."""
        if root == EMPTY:
            return 0
        page = self.pool.pages[root]
        if page[LEVEL] == 0:
            return int(page[COUNT])
        base = HEADER + (self.width + ROWS) * int(self.shape[INNER_CAP])
        return int(page[base : base + page[COUNT]].sum())

    def contains(self, root: int, rows: Words) -> Flags:
        """Which of the rows, in any order, the tree has. O(log n) a row."""
        self._fits(rows)
        found = np.empty(len(rows), np.bool_)
        lookup.lookup(self.pool.pages, self.shape, root, rows, found, NO_WORDS)
        return found

    def find(self, root: int, rows: Words, default: int = 0) -> tuple[Flags, Words]:
        """Which of the rows the tree has, and their payloads (`default` for the others). O(log n) a row."""
        self._fits(rows)
        if not self.payload:
            raise ValueError("the tree has no payloads")
        found, payloads = np.empty(len(rows), np.bool_), np.full(len(rows), default, np.int64)
        lookup.lookup(self.pool.pages, self.shape, root, rows, found, payloads)
        return found, payloads

    def count_prefixes(self, root: int, prefixes: Words) -> Words:
        """How many rows begin with each of the prefixes, `int64[n, p]` with p ≤ width. O(log n) a prefix."""
        if prefixes.shape[1] > self.width:
            raise ValueError(f"a prefix of {prefixes.shape[1]} columns is longer than the rows, {self.width}")
        counts = np.zeros(len(prefixes), np.int64)
        if root != EMPTY:
            lookup.count_prefixes(self.pool.pages, self.shape, root, prefixes, counts)
        return counts

    def export(self, root: int) -> Words:
        """All rows in order. O(n)."""
        rows = np.empty((self.size(root), self.width), np.int64)
        if root != EMPTY:
            bulk.export(self.pool.pages, self.shape, root, rows, NO_WORDS)
        return rows

    def export_with_payload(self, root: int) -> tuple[Words, Words]:
        """All rows in order, and their payloads. O(n)."""
        if not self.payload:
            raise ValueError("the tree has no payloads")
        size = self.size(root)
        rows, payloads = np.empty((size, self.width), np.int64), np.empty(size, np.int64)
        if root != EMPTY:
            bulk.export(self.pool.pages, self.shape, root, rows, payloads)
        return rows, payloads

    def diff(self, old: int, new: int) -> tuple[Words, Words, int]:
        """The rows that only `old` has, those that only `new` has, and how many pages were visited. O(δ log n) for δ rows.

        Payloads are not compared.
        """
        nothing = np.empty((0, self.width), np.int64)
        if old == new:
            return nothing, nothing, 0
        if EMPTY in (old, new):
            pages = self.pages_of(old) + self.pages_of(new)
            return self.export(old), self.export(new), pages
        state = np.zeros((2, PATH + 2 * MAX_HEIGHT), np.int64)
        state[0, PATH], state[1, PATH] = old, new
        sides = [np.empty((64, self.width), np.int64), np.empty((64, self.width), np.int64)]
        while _diff(self.pool.pages, self.shape, state, *sides):
            for side, rows in enumerate(sides):
                if state[side, FOUND] == len(rows):
                    sides[side] = np.concatenate([rows, np.empty_like(rows)])
        deleted, inserted = (rows[: state[side, FOUND]] for side, rows in enumerate(sides))
        return deleted, inserted, int(state[:, ENTERED].sum())

    def pages_of(self, root: int) -> int:
        """Number of pages. O(pages)."""
        return sum(len(pages) for _, pages in levels(self, root))

    def check(self, root: int) -> None:
        """Check all invariants of the tree at `root`; raises InternalError that names the broken one. O(n log n)."""
        check_tree(self, root)

    def _broken(self, rows: Words, changes: Words, row: int) -> InternalError:
        taken = -int(changes[row])
        return InternalError(f"the support count of row {rows[row].tolist()} would become negative: {taken} derivations were taken from it")

    def _disorder(self, rows: Words, row: int) -> InternalError:
        return InternalError(f"the rows of a batch do not ascend at row {row}: {rows[row].tolist()}")

    def _fits(self, rows: Words) -> None:
        if rows.ndim != 2 or rows.shape[1] != self.width or rows.dtype != WORD or not rows.flags.c_contiguous:
            raise ValueError(f"not C-contiguous int64 rows of {self.width} columns: {rows.dtype}{list(rows.shape)}")

    def _writing(self, rows: Words | None = None) -> None:
        if not self.pool.in_transaction:
            raise InternalError("a tree was changed outside a transaction")
        if rows is not None:
            self._fits(rows)
