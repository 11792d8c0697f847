"""An aggregate that is asked within a recursion (`datalog.ir.core.CoreAggregate.asked`): results for groups as they come in.

Where the values of its groups come from the recursion and all else that its body reads is complete before, a group's rows are there at
once when the group is, and do not change while the recursion goes on. So the groups that a round brings are answered in that round.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from datalog.evaluate.aggregates import Aggregate
from datalog.evaluate.fixpoint import DeltaJoin, RecursiveRule
from datalog.evaluate.folds import Calls
from datalog.ir.core import CoreAggregate, CoreProgram
from datalog.store.rows import among, consolidate, sort_distinct
from datalog.store.storage import Storage
from datalog.store.values import Values

Words = NDArray[np.int64]


class AskedAggregate:
    """One such aggregate; `rules` are those of its stratum. Methods run within a transaction."""

    def __init__(
        self,
        program: CoreProgram,
        storage: Storage,
        values: Values,
        aggregate: CoreAggregate,
        rules: Sequence[RecursiveRule],
        calls: Calls,
    ) -> None:
        self.head, self.source, self.asked = aggregate.head, aggregate.source, aggregate.asked
        self._storage, self._core = storage, aggregate
        self._aggregate = Aggregate(storage, values, aggregate, program.predicates[aggregate.source], calls)
        self._width = program.predicates[aggregate.source].width
        self._joins: list[DeltaJoin] = [delta for rule in rules if rule.head == aggregate.source for delta in rule.deltas]
        (function,) = aggregate.functions
        self._empty = None if aggregate.empty is None else values.encode(aggregate.empty, function.result)

    def begin(self) -> None:
        """Nothing has been asked."""
        self._aggregate.evaluate()

    def answer(self, groups: Words, stamp: int) -> Words:
        """Let what is known of new groups come in; returns the new rows of the head."""
        rows = self._rows(sort_distinct(groups))
        delta = self._storage.change(self._core.source, *consolidate(rows, np.ones(len(rows), np.int64)))
        changed = self._aggregate.changed(delta)
        heads = self._aggregate.results(changed.keys, changed)
        if self._empty is not None:
            empty = groups[~among(groups, changed.keys)]
            heads = sort_distinct(np.concatenate((heads, np.column_stack((empty, np.full(len(empty), self._empty))))))
        if len(heads):
            self._storage.change(self.head, heads, np.full(len(heads), stamp, np.int64))
        return heads

    def _rows(self, groups: Words) -> Words:
        """The rows of the source that belong to the groups, each as often as it has derivations."""
        storage = self._storage
        found = [np.empty((0, self._width), np.int64)]
        for delta in self._joins:
            prefixes = delta.join.prefixes(sort_distinct(delta.turned(groups)))
            found.append(delta.join.complete(storage.pool.pages, delta.join.at(storage.roots), prefixes, judge=storage.roots)[0])
        return np.concatenate(found)
