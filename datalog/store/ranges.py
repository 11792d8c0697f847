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


@dataclass(slots=True)
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
        each = np.broadcast_to(np.asarray(ranks, np.int64), len(lows))
        counts, rows = self.picked(lows, highs, each.reshape(-1, 1), weighted)
        return abs(each) <= counts, rows[:, 0]

    def picked(self, lows: Words, highs: Words, ranks: Words, weighted: bool = False) -> tuple[Words, Words]:
        """Per range how many rows it has, and those at its row of ranks, int64[n, k, columns]: 0 for those that there are not.

        One row of ranks is that of all ranges.
        """
        counts, rows = np.empty(len(lows), np.int64), np.zeros((len(lows) * ranks.shape[1], self._tree.width), np.int64)
        column, pages, shape = SCANNED if weighted else ROWS, self._tree.pool.pages, self._tree.shape
        folds.select(pages, shape, self._root, _block(lows), _block(highs), _block(ranks), column, counts, rows, self._nodes)
        self._looked()
        return counts, rows.reshape(len(lows), ranks.shape[1], self._tree.width)

    def rows(self, lows: Words, highs: Words, most: int | None = None) -> Found:
        """All rows of the ranges, in order within each, of which it is known that there are at most so many.

        O(log n) a range, and O(1) a row.
        """
        lows, highs = _block(lows), _block(highs)
        room = int(self.fold(lows, highs)[1].sum()) if most is None else most
        which, rows = np.empty(room, np.int64), np.empty((room, self._tree.width), np.int64)
        payloads = np.empty(room, np.int64) if self._tree.payload else np.ones(room, np.int64)
        count = folds.within(self._tree.pool.pages, self._tree.shape, self._root, lows, highs, which, rows, payloads, self._nodes)
        self._looked()
        return Found(which[:count], rows[:count], payloads[:count])

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
        nodes = int(self._nodes[0])
        self._tally.steps += nodes
        self._tally.cost += A_PAGE * nodes
        self._nodes[0] = 0


def _block(rows: Words) -> Words:
    return rows if rows.flags.c_contiguous else np.ascontiguousarray(rows)
