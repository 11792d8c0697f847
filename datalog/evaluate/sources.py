"""The rows that an aggregate is over: those of its source, or of its origin in the order of the source's columns (`CoreAggregate`).

In an origin the columns of the source come first, and what follows them is of no interest: a row of the source is there as often as
it counts. A source's rows carry their counts, and its tree adds them up.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from datalog.errors import InternalError
from datalog.ir.core import CoreAggregate
from datalog.store.ranges import Found, Ranges
from datalog.store.rows import consolidate
from datalog.store.storage import Delta, Storage

Words = NDArray[np.int64]
Flags = NDArray[np.bool_]

ONCE = np.empty(0, np.int64)  # the counts of rows that all count once


class Source:
    """The rows of one aggregate. `width` is how many columns of each are of interest."""

    def __init__(self, storage: Storage, aggregate: CoreAggregate, width: int) -> None:
        self.width = width
        self._counted = not aggregate.origin
        self._storage, self._columns = storage, aggregate.columns
        kept = storage.serving(aggregate.read, aggregate.columns or tuple(range(width)))
        if kept is None or (self._counted and (kept is not storage.arrangements[aggregate.read][0] or not kept.tree.scan)):
            raise InternalError(f"{aggregate.read} is not arranged as an aggregate reads it")
        self._kept = kept

    def everything(self) -> tuple[Words, Words]:
        """All rows in order, and how often each counts. O(n)."""
        root = int(self._storage.roots[self._kept.number])
        return self._kept.tree.export_with_payload(root) if self._counted else (self._kept.tree.export(root), ONCE)

    def changed(self, delta: Delta) -> tuple[Words, Words]:
        """The rows of the source whose counts changed, sorted, and by how much."""
        if self._counted:
            assert delta.counted is not None, "the source of an aggregate tells how its counts changed"
            return delta.counted
        inserted, deleted = delta.inserted[:, self._columns], delta.deleted[:, self._columns]
        if not len(deleted) or not len(inserted):
            rows = np.ascontiguousarray(inserted if len(inserted) else deleted)
            return consolidate(rows, np.full(len(rows), 1 if len(inserted) else -1, np.int64))
        return consolidate(np.concatenate((inserted, deleted)), np.repeat(np.array((1, -1)), (len(inserted), len(deleted))))

    def counts(self, lows: Words, highs: Words) -> Words:
        """How many rows ranges have, each as often as it counts. O(log n) a range."""
        words, rows = self._ranges().fold(lows, highs)
        return words if self._counted else rows

    def at(self, lows: Words, highs: Words, ranks: Words | int, each: bool = False) -> Words:
        """The rows at ranks, which there are: 1 is the first, -1 the last; `each`: rows count as often as they do. O(log n) a range."""
        return self._ranges().select(lows, highs, ranks, each and self._counted)[1]

    def rows(self, lows: Words, highs: Words) -> Found:
        """All rows of ranges, in order within each, with how often they count; they may repeat."""
        found = self._ranges().rows(lows, highs)
        return found if self._counted else Found(found.which, found.rows, np.ones(len(found.which), np.int64))

    def _ranges(self) -> Ranges:
        return Ranges(self._kept.tree, int(self._storage.roots[self._kept.number]), self._storage.tally)


def bounds_of(rows: Words, columns: int) -> Words:
    """Where the runs of sorted rows that agree in their first columns begin, and the number of rows. O(n)."""
    if len(rows) < 2:
        return np.arange(len(rows) + 1)
    new = np.zeros(len(rows) + 1, np.bool_)
    new[0] = new[-1] = True
    for column in range(columns):
        new[1:-1] |= rows[1:, column] != rows[:-1, column]
    return np.flatnonzero(new)
