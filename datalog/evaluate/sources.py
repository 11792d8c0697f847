"""The rows that an aggregate is over: those of its source, or of its origin in the order of the source's columns (`CoreAggregate`).

In an origin the columns of the source come first, and what follows them is of no interest: a row of the source is there as often as
it counts. A source's rows carry their counts, and its tree adds them up.
"""

from __future__ import annotations

from dataclasses import dataclass

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


@dataclass(slots=True)
class Runs:
    """Sorted rows, cut where one of their first `columns` changes: run i is bounds[i] … bounds[i + 1] - 1.

    `each` has how often each row counts, or by how much its count has changed; without words, each counts once."""

    rows: Words
    each: Words
    columns: int
    bounds: Words

    @property
    def keys(self) -> Words:
        """What rows have in the first columns, once for each run, C-contiguous. O(runs)."""
        rows = self.rows if len(self.rows) < 2 else self.rows[self.bounds[:-1]]
        return np.ascontiguousarray(rows[:, : self.columns])


class Source:
    """The rows of one aggregate, in runs of one group, and of one key if there are keys. `width`: how many columns are of interest."""

    def __init__(self, storage: Storage, aggregate: CoreAggregate, width: int) -> None:
        self.width = width
        self._keys = aggregate.groups + bool(aggregate.needs)
        self._counted = not aggregate.origin
        self._storage, self._columns = storage, aggregate.columns
        kept = storage.serving(aggregate.read, aggregate.columns or tuple(range(width)))
        if kept is None or (self._counted and (kept is not storage.arrangements[aggregate.read][0] or not kept.tree.scan)):
            raise InternalError(f"{aggregate.read} is not arranged as an aggregate reads it")
        self._kept = kept

    def everything(self) -> Runs:
        """All rows in order. O(n)."""
        root = int(self._storage.roots[self._kept.number])
        return self._cut(*(self._kept.tree.export_with_payload(root) if self._counted else (self._kept.tree.export(root), ONCE)))

    def changed(self, delta: Delta) -> Runs:
        """The rows of the source whose counts changed, and by how much."""
        if self._counted:
            assert delta.counted is not None, "the source of an aggregate tells how its counts changed"
            return self._cut(*delta.counted)
        inserted, deleted = delta.inserted, delta.deleted
        if len(inserted) and len(deleted):
            rows, weights = np.concatenate((inserted, deleted)), np.repeat((1, -1), (len(inserted), len(deleted)))
        else:
            rows = inserted if len(inserted) else deleted
            weights = np.empty(len(rows), np.int64)
            weights[:] = 1 if len(inserted) else -1
        return self._cut(*consolidate(rows.take(self._columns, axis=1), weights))

    def picked(self, lows: Words, highs: Words, ranks: Words) -> tuple[Words, Words]:
        """How often the rows of ranges count, and those at ranks, int64[n, k, columns]; each row has as many ranks as it counts.

        1 is the first, -1 the last; a row of ranks for each range, or one for all. O(log n) a range.
        """
        return self._ranges().picked(lows, highs, ranks, self._counted)

    def rows(self, lows: Words, highs: Words) -> Found:
        """All rows of ranges, in order within each, with how often they count; they may repeat."""
        found = self._ranges().rows(lows, highs)
        return found if self._counted else Found(found.which, found.rows, np.ones(len(found.which), np.int64))

    def _ranges(self) -> Ranges:
        return Ranges(self._kept.tree, int(self._storage.roots[self._kept.number]), self._storage.tally)

    def _cut(self, rows: Words, each: Words) -> Runs:
        return Runs(rows, each, self._keys, _bounds(rows, self._keys))


def _bounds(rows: Words, columns: int) -> Words:
    """Where the runs of sorted rows that agree in their first columns begin, and the number of rows. O(n)."""
    if len(rows) < 2:
        return np.arange(len(rows) + 1)
    new = np.zeros(len(rows) + 1, np.bool_)
    new[0] = new[-1] = True
    for column in range(columns):
        new[1:-1] |= rows[1:, column] != rows[:-1, column]
    return np.flatnonzero(new)
