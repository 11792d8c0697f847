"""One recursive stratum, kept by stamps (METHOD.md, section 6).

Invariant: every row of the stratum has a derivation whose premises in the stratum all carry smaller stamps. So support
is well-founded, and a row that loses a derivation is judged by rows with smaller stamps alone.

A transaction is one pass:

1. Heads of derivations that used a lost premise of a lower stratum are suspects.
2. Suspects are judged in ascending stamp order: one that still has a derivation from smaller stamps stays, and nothing
   that depends on it is visited; any other falls, and the rows with greater stamps that used it become suspects. Rows of
   one stamp cannot support each other and are judged together.
3. Fallen rows that have a derivation from what stands, whatever the stamps, come back with a new stamp, together with
   what gained premises derive; semi-naive rounds go on from there.

A negated atom's premise is lost when the row it denies comes, and gained when that row goes. A computation that fails
is judged in step 3 only: what stands then stands at the end, too, and before the transaction nothing failed.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from datalog.evaluate.fixpoint import DeltaJoin, Found, Limits, RecursiveRule, close, evaluate_all
from datalog.evaluate.join import Budget, Join
from datalog.store.rows import consolidate, sort_distinct
from datalog.store.storage import Delta, Storage

Words = NDArray[np.int64]
ANY_STAMP = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class SupportJoin:
    """Finds derivations of given head rows: `columns` of the head are the prefix; the others repeat those in `repeats`."""

    head: str
    columns: tuple[int, ...]
    repeats: tuple[tuple[int, int], ...]
    join: Join

    def supported(self, storage: Storage, rows: Words, stamp: int, budget: Budget | None) -> Words:
        """Those of the head rows that the rule derives from rows of the stratum older than `stamp`."""
        for column, other in self.repeats:
            rows = rows[rows[:, column] == rows[:, other]]
        prefixes = self.join.prefixes(rows[:, self.columns], stamp)
        return self.join.complete(storage.pool.pages, self.join.at(storage.roots), prefixes, first_only=True, budget=budget)[0]


@dataclass(frozen=True, slots=True)
class ChangeJoin:
    """What a change of one atom means for a rule's head; the atom's predicate is of a lower stratum."""

    head: str
    negated: bool
    delta: DeltaJoin


class _Suspects:
    """Rows to be judged, by ascending stamp."""

    def __init__(self) -> None:
        self._stamps: list[int] = []
        self._rows: dict[int, dict[str, list[Words]]] = {}

    def add(self, predicate: str, rows: Words, stamps: Words) -> None:
        order = np.argsort(stamps, kind="stable")
        rows, stamps = rows[order], stamps[order]
        starts = np.flatnonzero(np.diff(stamps, prepend=stamps[0] - 1))
        for start, block in zip(starts, np.split(rows, starts[1:]), strict=True):
            stamp = int(stamps[start])
            if stamp not in self._rows:
                self._rows[stamp] = {}
                heapq.heappush(self._stamps, stamp)
            self._rows[stamp].setdefault(predicate, []).append(block)

    def pop(self) -> tuple[int, dict[str, Words]] | None:
        """The smallest stamp and its rows, distinct."""
        if not self._stamps:
            return None
        stamp = heapq.heappop(self._stamps)
        return stamp, {name: sort_distinct(np.concatenate(blocks)) for name, blocks in self._rows.pop(stamp).items()}


class RecursiveStratum:
    """A recursive stratum's rules and the running number of its rounds."""

    def __init__(self, storage: Storage, predicates: Sequence[str], rules: Sequence[RecursiveRule], limits: Limits) -> None:
        self.predicates, self.rules = tuple(predicates), tuple(rules)
        self.stamp = 0
        self._storage, self._limits = storage, limits

    def evaluate(self) -> None:
        """Evaluate the stratum, which is empty, from scratch."""
        found = evaluate_all(self._storage, self.predicates, self.rules)
        _, self.stamp = close(self._storage, self.rules, found, self.stamp, self._limits)

    def maintain(
        self,
        changes: Sequence[ChangeJoin],
        supports: Sequence[SupportJoin],
        deltas: Mapping[str, Delta],
        old: Words,
        budget: Budget | None,
    ) -> dict[str, Delta]:
        """Bring the stratum up to date with the changes of lower strata; returns its own. Raises OverBudget half-way."""
        storage = self._storage
        lost: Found = {}
        gained: list[tuple[ChangeJoin, Words]] = []
        for change in changes:
            delta = deltas.get(change.delta.predicate)
            if delta is None:
                continue
            born, died = storage.node_changes(change.delta.predicate, delta, change.delta.columns, old, storage.roots)
            more, less = (died, born) if change.negated else (born, died)
            if len(less):
                join = change.delta.join
                heads, _ = join.complete(storage.pool.pages, join.at(old), join.prefixes(less), budget=budget)
                lost.setdefault(change.head, []).append(heads)
            if len(more):
                gained.append((change, more))
        fallen = self._fell(lost, supports, old, budget) if lost else {}
        found: Found = {name: [] for name in self.predicates}
        for name, rows in fallen.items():
            found[name].append(self._supported(supports, name, rows, ANY_STAMP, budget))
        for change, more in gained:
            join = change.delta.join
            roots = join.at(storage.roots)
            heads, _ = join.complete(storage.pool.pages, roots, join.prefixes(more), budget=budget, judge=storage.roots)
            found[change.head].append(heads)
        inserted, self.stamp = close(storage, self.rules, found, self.stamp, self._limits, budget)
        return {name: _net(inserted[name], fallen.get(name)) for name in self.predicates}

    def _fell(self, lost: Found, supports: Sequence[SupportJoin], old: Words, budget: Budget | None) -> dict[str, Words]:
        """Judge the heads of lost derivations and all that depends on those that fall; takes the fallen out."""
        storage = self._storage
        suspects = _Suspects()
        for name, blocks in lost.items():
            self._suspect(suspects, name, blocks, 0)
        fallen: dict[str, list[Words]] = {}
        while (judged := suspects.pop()) is not None:
            stamp, rows_by_name = judged
            falling = {}
            for name, rows in rows_by_name.items():
                rest = _without(rows, self._supported(supports, name, rows, stamp, budget))
                if len(rest):
                    falling[name] = rest
            for name, rows in falling.items():
                storage.change(name, rows, np.full(len(rows), -1, np.int64))
                fallen.setdefault(name, []).append(rows)
            for rule in self.rules:
                for delta in rule.deltas:
                    if delta.predicate in falling:
                        join = delta.join
                        prefixes = delta.prefixes(falling[delta.predicate])
                        heads, _ = join.complete(storage.pool.pages, join.at(old), prefixes, budget=budget)
                        self._suspect(suspects, rule.head, [heads], stamp)
        return {name: sort_distinct(np.concatenate(blocks)) for name, blocks in fallen.items()}

    def _suspect(self, suspects: _Suspects, name: str, heads: list[Words], beyond: int) -> None:
        """Note the heads that stand and have greater stamps than `beyond`."""
        rows = sort_distinct(heads[0] if len(heads) == 1 else np.concatenate(heads))
        if len(rows):
            stamps = self._storage.stamps(name, rows)
            suspected = stamps > beyond
            if np.any(suspected):
                suspects.add(name, rows[suspected], stamps[suspected])

    def _supported(self, supports: Sequence[SupportJoin], name: str, rows: Words, stamp: int, budget: Budget | None) -> Words:
        """Those of the rows that some rule derives from rows of the stratum older than `stamp`."""
        found = [np.empty((0, rows.shape[1]), np.int64)]
        for support in supports:
            if support.head == name and len(rows):
                found.append(support.supported(self._storage, rows, stamp, budget))
                rows = _without(rows, found[-1])
        return np.concatenate(found)


def _without(rows: Words, others: Words) -> Words:
    """Distinct rows without those of `others`, which is a subset of them."""
    if not len(others):
        return rows
    weights = np.ones(len(rows) + len(others), np.int64)
    weights[len(rows) :] = -1
    return consolidate(np.concatenate((rows, others)), weights)[0]


def _net(inserted: list[Words], fallen: Words | None) -> Delta:
    """What came and what went, without what fell and came back."""
    blocks = [*inserted] if fallen is None else [*inserted, fallen]
    if not blocks:
        nothing = np.empty((0, 1), np.int64)
        return Delta(nothing, nothing)
    weights = np.concatenate([np.full(len(block), 1 if place < len(inserted) else -1, np.int64) for place, block in enumerate(blocks)])
    rows, weights = consolidate(np.concatenate(blocks), weights)
    return Delta(rows[weights > 0], rows[weights < 0])
