"""Reading ranges of rows of a tree in O(log n) pages (`kernels/folds.py`), with the pages that are looked into on the tally.

A range is two prefixes of rows, of one length: the rows between the two, inclusive. Blocks of ranges are pairs of `int64[n, p]`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from datalog.kernels import folds
from datalog.kernels.jit import Flags, Words
from datalog.kernels.layout import ROWS, SCANNED
from datalog.store.btree import BTree
from datalog.store.tally import A_PAGE, Tally


@dataclass(frozen=True, slots=True)
class Found:
    """The rows of a block of ranges, one range after the other: which range each is of, the rows, and their payloads."""

    which: Words
    rows: Words
    payloads: Words


class Ranges:
    """The ranges of one tree at one root."""

    def __init__(self, tree: BTree, root: int, tally: Tally) -> None:
        self._tree, self._root, self._tally = tree, root, tally
        self._nodes = np.zeros(1, np.int64)

    def fold(self, lows: Words, highs: Words) -> tuple[Words, Words]:
        """Per range the scan's word, the neutral one if it is empty, and the number of rows. O(log n) a range."""
        folded = np.empty((len(lows), 2), np.int64)
        folds.fold(self._tree.pool.pages, self._tree.shape, self._root, _block(lows), _block(highs), folded, self._nodes)
        self._looked()
        return folded[:, 0], folded[:, 1]

    def select(self, lows: Words, highs: Words, ranks: Words | int, weighted: bool = False) -> tuple[Flags, Words]:
        """Per range whether it has a row of this rank, and the row: 1 is the first, -1 the last. O(log n) a range.

        `weighted`: each row counts as often as its payload says, in a tree with a scan of totals.
        """
        rows, found = np.zeros((len(lows), self._tree.width), np.int64), np.empty(len(lows), np.bool_)
        column = SCANNED if weighted else ROWS
        ranks = np.ascontiguousarray(np.broadcast_to(np.asarray(ranks, np.int64), len(lows)))
        pages, shape = self._tree.pool.pages, self._tree.shape
        folds.select(pages, shape, self._root, _block(lows), _block(highs), ranks, column, rows, found, self._nodes)
        self._looked()
        return found, rows

    def rows(self, lows: Words, highs: Words) -> Found:
        """All rows of the ranges, in order within each. O(log n) a range, and O(1) a row."""
        lows, highs = _block(lows), _block(highs)
        total = int(self.fold(lows, highs)[1].sum())
        which, rows, payloads = np.empty(total, np.int64), np.empty((total, self._tree.width), np.int64), np.ones(total, np.int64)
        folds.within(self._tree.pool.pages, self._tree.shape, self._root, lows, highs, which, rows, payloads, self._nodes)
        self._looked()
        return Found(which, rows, payloads)

    def around(self, points: Words) -> Words:
        """The rows (α, low, high), once for each point, with low ≤ key ≤ high for each of the points (α, key).

        In a tree with a scan of the greatest last column. O((m + 1) log n) a point for m rows.
        """
        rows = np.empty((64, self._tree.width), np.int64)
        while True:
            count = folds.around(self._tree.pool.pages, self._tree.shape, self._root, _block(points), rows, self._nodes)
            self._looked()
            if count <= len(rows):
                return rows[:count]
            rows = np.empty((count, self._tree.width), np.int64)

    def _looked(self) -> None:
        self._tally.steps += int(self._nodes[0])
        self._tally.cost += A_PAGE * int(self._nodes[0])
        self._nodes[0] = 0


def _block(rows: Words) -> Words:
    return np.ascontiguousarray(rows, np.int64)
