"""What holds the classes of an equivalence together that takes part in a recursion, by stamps (`datalog.maintain.recursive`).

A row (x, y) of an equivalence has as many derivations as there are paths of pairs between x and y; one is well-founded if all pairs
on it have smaller stamps than the row. Whether there is such a path is asked of disjoint sets, into which the pairs of a class are
united in the order of their stamps. Paths lie within the classes of the version before the transaction, since while rows are judged no
pair has come yet. Cost: the pairs of the classes that are asked about, and the rows of those that lose a pair.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from datalog.evaluate.classes import Classes, ranges_of
from datalog.evaluate.join import Budget, OverBudget
from datalog.ir.core import CoreClosure
from datalog.kernels.classes import united_before
from datalog.plan.rule import suspects_of
from datalog.store.rows import among, sort_distinct
from datalog.store.storage import Storage
from datalog.store.tally import A_BINDING

Words = NDArray[np.int64]
Flags = NDArray[np.bool_]


class Holding:
    """The pairs of one equivalence during one transaction, whose version before it is `old`."""

    def __init__(self, storage: Storage, closure: CoreClosure, old: Words, budget: Budget | None) -> None:
        self.head, self.pairs = closure.head, closure.pairs
        self._storage, self._budget = storage, budget
        self._classes = Classes(storage, closure.head, budget, old)

    def supported(self, rows: Words, stamps: Words) -> Words:
        """Those of the rows that a path of unsuspected pairs older than their stamps joins."""
        members, _ = self._classes.members_of(self._classes.labels_of(np.unique(rows)))
        return rows[self._joined(members, self._suspected(), rows, stamps)]

    def dependents(self, falling: Words, stamps: Words) -> Words:
        """The rows that falling pairs, which are there still, may support, and the stamp of the oldest such pair as a last column.

        A pair that falls where others no younger than it join the same elements supports nothing that they do not."""
        members, _ = self._classes.members_of(self._classes.labels_of(np.unique(falling)))
        alone = ~self._joined(members, sort_distinct(falling), falling, stamps + 1)
        if not alone.any():
            return np.empty((0, 3), np.int64)
        falling, stamps = falling[alone], stamps[alone]
        members, own = self._classes.members_of(self._classes.labels_of(np.unique(falling)))
        labels, places = np.unique(self._classes.label_of_each(falling[:, 0]), return_inverse=True)
        oldest = np.full(len(labels), np.iinfo(np.int64).max)
        np.minimum.at(oldest, places.reshape(-1), stamps)
        ends = members.reshape(-1, 1)
        found = ranges_of(self._storage, self.head).rows(ends, ends)
        self._spend(len(found.rows))
        premise = oldest[np.searchsorted(labels, own)][found.which]
        younger = found.payloads > premise
        return np.column_stack((found.rows[younger], premise[younger]))

    def _joined(self, members: Words, without: Words, asked: Words, limits: Words) -> Flags:
        """Which of the rows asked about a path of pairs joins with stamps below a limit; `without` are distinct pairs in order."""
        ends = members.reshape(-1, 1)
        found = ranges_of(self._storage, self.pairs).rows(ends, ends)
        self._spend(len(found.rows) + len(asked))
        pairs, stamps = found.rows, found.payloads
        if len(without):
            kept = ~among(pairs, without)
            pairs, stamps = pairs[kept], stamps[kept]
        order, turn = np.argsort(stamps, kind="stable"), np.argsort(limits, kind="stable")
        lefts, rights = (np.searchsorted(members, pairs[order, column]) for column in (0, 1))
        ones, others = (np.searchsorted(members, asked[turn, column]) for column in (0, 1))
        flags, parents = np.zeros(len(asked), np.bool_), np.full(len(members), -1, np.int64)
        united_before(lefts, rights, stamps[order], ones, others, limits[turn], parents, flags)
        joined = np.empty_like(flags)
        joined[turn] = flags
        return joined

    def _suspected(self) -> Words:
        return sort_distinct(self._storage.rows(suspects_of(self.pairs)))

    def _spend(self, rows: int) -> None:
        tally = self._storage.tally
        tally.cost += A_BINDING * rows
        if self._budget is not None and self._budget.left < 0:
            raise OverBudget
