"""The stratum of an equivalence that does not take part in a recursion: the reflexive, symmetric and transitive closure of pairs.

Pairs that are gone split the classes that they were in into what the rest of the pairs holds together, found by disjoint sets over the
pairs within these classes; pairs that have come then merge classes. Cost: the rows that come and go, the elements and the pairs of
classes that lose pairs, O(log n) for each pair.

That is never much more than an evaluation and the comparison with what was. So `auto` evaluates anew only where most pairs change.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from datalog.evaluate.classes import Classes, closure_of, ranges_of
from datalog.evaluate.join import OverBudget
from datalog.ir.core import CoreClosure
from datalog.store.storage import Delta, Storage
from datalog.store.tally import A_CALL

Words = NDArray[np.int64]

MOST = 0.5  # of the pairs


class EquivalenceStratum:
    """One equivalence, kept up to date. Methods run within a transaction."""

    def __init__(self, storage: Storage, closure: CoreClosure, auto: bool) -> None:
        self._storage, self._core, self._auto = storage, closure, auto

    def evaluate(self) -> None:
        """Fill the empty head."""
        rows = closure_of(self._storage.rows(self._core.pairs), self._storage.tally)
        self._storage.replace(self._core.head, rows, np.ones(len(rows), np.int64))

    def maintain(self, deltas: Mapping[str, Delta]) -> Delta:
        """What changes in the head. With `auto`, raises OverBudget where an evaluation takes less."""
        storage, delta = self._storage, deltas[self._core.pairs]
        if self._auto and len(delta) > MOST * storage.size(self._core.pairs):
            raise OverBudget
        storage.tally.cost += A_CALL
        classes = Classes(storage, self._core.head)
        gone = classes.split(delta.deleted, ranges_of(storage, self._core.pairs)) if len(delta.deleted) else delta.deleted
        come = classes.merge(delta.inserted) if len(delta.inserted) else delta.inserted
        return storage.change(self._core.head, np.concatenate((gone, come)), np.repeat(np.array((-1, 1)), (len(gone), len(come))))
