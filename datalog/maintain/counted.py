"""One rule of a recursion-free stratum, and the two ways to maintain it; both give the exact signed head rows.

recorded: the change oracle names regions from the sensitivity index; δhead ← (Body[old] … Body[new]), ChangeOracle.
derived: telescoped delta plans, δ(A⋈B⋈C) = δA⋈B⋈C + A′⋈δB⋈C + A′⋈B′⋈δC, a negated atom with the opposite sign
(METHOD.md, sections 3 and 4). A change of an atom with wildcards is a change of whether any row has its other values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from datalog.evaluate.join import Budget, Join, OverBudget
from datalog.kernels import encoding as code
from datalog.maintain.choice import RecordsChoice
from datalog.maintain.records import RecordIndex
from datalog.maintain.recursive import ChangeJoin
from datalog.store.storage import Delta, Storage
from datalog.store.tally import A_BINDING

Words = NDArray[np.int64]
Signed = list[tuple[Words, int]]  # head rows, each block with its sign, none of them empty


class CountedRule:
    """A rule, its full join, and, while it is maintained by records, its index."""

    def __init__(self, storage: Storage, join: Join, recording: int, choice: RecordsChoice) -> None:
        self.join = join
        self.reads = frozenset(atom.predicate for atom in join.encoded.plan.rule.atoms)
        self.index: RecordIndex | None = None
        self.unsettled = False  # the other way of maintenance is wanted
        self._evaluation = 0  # steps of the last full evaluation
        self._projection = join.encoded.plan.projection
        self._storage, self._recording, self._choice = storage, recording, choice

    def record(self) -> None:
        """Be maintained by records from the next full evaluation on."""
        self.index = RecordIndex(self._storage, self.join.encoded.plan)

    def settle(self) -> None:
        """Change to or from records, as the last transaction has suggested. In a transaction of its own."""
        self._storage.begin()
        index = self.index
        try:
            if index is None:
                self.record()
                self.evaluate()
            else:
                index.clear()
                self.index = None
            self._storage.commit()
        except BaseException:
            self.index = index
            self._storage.abort()
            raise
        finally:
            self.unsettled = False

    def evaluate(self) -> Words:
        """The head rows of all bindings; plants the records."""
        if self.index is None and self._projection is not None:
            return self._copied(self._storage.rows(next(iter(self.reads))))
        before = self.join.tally.steps
        recording = self._recording if self.index is not None else code.RECORD_NOTHING
        join = self.join
        roots, failures = self._storage.roots, join.failures
        rows, records = join.complete(self._storage.pool.pages, join.at(roots), join.everything(), recording, judge=roots)
        if self.index is not None:
            self.index.rebuild(records)
            # Records do not say when a failure that was no error becomes one.
            self.unsettled = join.failures > failures
        self._evaluation = self.join.tally.steps - before
        return rows

    def recorded(self, deltas: Mapping[str, Delta], old: Words, budget: Budget | None) -> Signed:
        """The changes of the head, by records."""
        storage, join, index = self._storage, self.join, self.index
        assert index is not None
        before = join.tally.steps
        regions = index.regions(deltas, old, storage.roots)
        if not len(regions):
            return []
        gone, _ = join.complete(storage.pool.pages, join.at(old), regions, budget=budget)
        failures = join.failures
        come, records = join.complete(
            storage.pool.pages, join.at(storage.roots), regions, self._recording, budget=budget, judge=storage.roots
        )
        if len(records):
            index.plant(records)
            if index.outgrown:
                self.evaluate()
        self.unsettled = self._choice.recorded(self._rows_in(deltas), join.tally.steps - before) or join.failures > failures
        return [(rows, sign) for rows, sign in ((gone, -1), (come, 1)) if len(rows)]

    def derived(self, changes: Sequence[ChangeJoin], deltas: Mapping[str, Delta], old: Words, budget: Budget | None) -> Signed:
        """The changes of the head, by delta plans; `changes` holds those of all atoms whose predicates changed.

        A rule that only copies rows needs neither plans nor records.
        """
        if self._projection is not None:
            (name,) = self.reads
            return [(self._copied(rows), sign) for rows, sign in ((deltas[name].inserted, 1), (deltas[name].deleted, -1)) if len(rows)]
        before = self.join.tally.steps
        rows_in = self._rows_in(deltas)
        try:
            signed = self._by_delta_plans(changes, deltas, old, budget)
        except OverBudget:
            self._suggest(rows_in, 0, self.join.tally.steps - before)
            raise
        self._suggest(rows_in, sum([len(rows) for rows, _ in signed]), self.join.tally.steps - before)
        return signed

    def given_up(self, deltas: Mapping[str, Delta]) -> None:
        """The rule is evaluated anew for a change, since delta plans were thought to be dearer."""
        if self.index is None:
            self._suggest(self._rows_in(deltas), 0, self._evaluation)

    def _suggest(self, rows_in: int, rows_out: int, steps: int) -> None:
        self.unsettled = self._choice.derived(rows_in, rows_out, steps, self._evaluation)

    def _rows_in(self, deltas: Mapping[str, Delta]) -> int:
        return sum([len(deltas[name]) for name in self.reads if name in deltas])

    def _copied(self, rows: Words) -> Words:
        """The heads that a rule which only copies rows makes of them."""
        self.join.tally.cost += A_BINDING * len(rows)
        return rows if self._projection == tuple(range(rows.shape[1])) else rows[:, self._projection]

    def _by_delta_plans(self, changes: Sequence[ChangeJoin], deltas: Mapping[str, Delta], old: Words, budget: Budget | None) -> Signed:
        storage = self._storage
        signed: Signed = []
        for change in changes:
            delta, join = change.delta, change.delta.join
            if delta.predicate not in deltas:
                continue
            born, died = storage.node_changes(delta.predicate, deltas[delta.predicate], delta.columns, old, storage.roots)
            for rows, sign in ((born, -1 if change.negated else 1), (died, 1 if change.negated else -1)):
                if len(rows):
                    # Only an added binding can be one that fails and did not before.
                    judge = storage.roots if sign > 0 else None
                    roots = join.between(old, storage.roots)
                    heads, _ = join.complete(storage.pool.pages, roots, join.prefixes(rows), budget=budget, judge=judge)
                    if len(heads):
                        signed.append((heads, sign))
        return signed
