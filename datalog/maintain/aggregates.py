"""The stratum of an aggregate: its head follows the counts of its source, and the intervals that are needed.

Of each changed source row only its group matters, or with intervals its group and key: an index of the intervals, keyed
(group…, low, high) with a scan of the greatest high, tells which ones the key lies in. The results that may have changed are read
again (`datalog.evaluate.aggregates`) and compared with the head's rows; only those that differ are the head's delta.
Cost: O(log n) for each changed row and each result asked for again, but for functions that read all rows of a range.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from datalog.evaluate.aggregates import Aggregate
from datalog.evaluate.folds import Calls
from datalog.evaluate.join import Budget, OverBudget
from datalog.evaluate.sources import Runs
from datalog.ir.core import CoreAggregate, CoreProgram
from datalog.store.btree import GREATEST_KEY, SET
from datalog.store.ranges import Found, Ranges
from datalog.store.rows import consolidate, sort_distinct
from datalog.store.state import StateTree
from datalog.store.storage import Delta, Storage
from datalog.store.tally import A_CALL, A_CHANGE
from datalog.store.values import Values

Words = NDArray[np.int64]

OUT_AND_IN = np.array((-1, 1))  # signs of what was and of what is, where one result has changed


class AggregateStratum:
    """One aggregate, kept up to date. Methods run within a transaction."""

    def __init__(self, program: CoreProgram, storage: Storage, values: Values, aggregate: CoreAggregate, calls: Calls) -> None:
        self._storage, self._core = storage, aggregate
        self._aggregate = Aggregate(storage, values, aggregate, program.predicates[aggregate.source], calls)
        self._head = storage.arrangements[aggregate.head][0]
        self._needed = StateTree.made(storage, aggregate.groups + 2, scan=GREATEST_KEY) if aggregate.needs else None

    @property
    def trees(self) -> tuple[StateTree, ...]:
        """All trees that it keeps."""
        return self._aggregate.trees if self._needed is None else (*self._aggregate.trees, self._needed)

    def evaluate(self) -> None:
        """Fill the empty head; whatever the trees hold."""
        if self._needed is not None:
            self._needed.build(sort_distinct(self._intervals(self._storage.rows(self._core.needs))))
        rows = self._aggregate.evaluate()
        self._storage.replace(self._core.head, rows, np.ones(len(rows), np.int64))

    def maintain(self, deltas: Mapping[str, Delta], budget: Budget | None) -> Delta:
        """What changes in the head. Raises OverBudget before it does more work than `budget` allows."""
        self._storage.tally.cost += A_CALL
        none = np.empty((0, self._core.keys), np.int64)
        gone = none
        asked: list[Words] = []
        changed: Runs | None = None
        if self._core.needs in deltas:
            delta = deltas[self._core.needs]
            self._spend(budget, len(delta))
            self._need(delta)
            gone = delta.deleted
            asked.append(delta.inserted)
        if self._core.read in deltas:
            self._spend(budget, 2 * len(deltas[self._core.read]))
            changed = self._aggregate.changed(deltas[self._core.read])
            asked.append(changed.keys if self._needed is None else sort_distinct(self._around(changed.keys)))
        again = asked[0] if len(asked) == 1 else sort_distinct(np.concatenate(asked)) if asked else none
        self._spend(budget, len(again))
        heads = self._results_now(np.concatenate((again, gone)) if len(gone) else again)
        before, after = heads.rows, self._aggregate.results(again, changed, heads)
        if before.tobytes() == after.tobytes():
            return Delta(before[:0], before[:0])
        signs = OUT_AND_IN if len(before) == len(after) == 1 else np.repeat((-1, 1), (len(before), len(after)))
        return self._storage.change(self._core.head, np.concatenate((before, after)), signs)

    def _spend(self, budget: Budget | None, changes: int) -> None:
        if budget is not None and A_CHANGE * changes > budget.left:
            raise OverBudget

    def _need(self, delta: Delta) -> None:
        """Bring the index of intervals up to date."""
        assert self._needed is not None
        come, gone = self._intervals(delta.inserted), self._intervals(delta.deleted)
        intervals, signs = consolidate(np.concatenate((come, gone)), np.repeat(np.array((1, -1)), (len(come), len(gone))))
        self._needed.apply(intervals, signs, SET)

    def _intervals(self, needs: Words) -> Words:
        """The intervals (group…, low, high) of rows of `needs`, without empty ones."""
        lows, highs = self._aggregate.ranges(needs)
        return np.column_stack((lows, highs[:, -1]))[lows[:, -1] <= highs[:, -1]]

    def _around(self, points: Words) -> Words:
        """The rows of `needs` whose intervals hold one of the points (group…, key)."""
        assert self._needed is not None
        intervals = self._needed.ranges().around(points)
        core, groups = self._core, self._core.groups
        columns = [intervals[:, :groups]]
        if core.low:
            columns.append(intervals[:, groups : groups + 1] - (core.low == ">"))
        if core.high:
            columns.append(intervals[:, groups + 1 :] + (core.high == "<"))
        return np.concatenate(columns, axis=1)

    def _results_now(self, asked: Words) -> Found:
        """The head's rows for groups, or for rows of `needs`: at most one for each."""
        root = int(self._storage.roots[self._head.number])
        return Ranges(self._head.tree, root, self._storage.tally).rows(asked, asked, most=len(asked))
