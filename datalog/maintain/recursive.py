"""One recursive stratum, kept by stamps (METHOD.md, section 6).

Invariant: every row of the stratum has a derivation whose premises in the stratum all carry smaller stamps. So support
is well-founded, and a row that loses a derivation is judged by rows with smaller stamps alone.

A transaction is one pass:

1. Heads of derivations that used a lost premise of a lower stratum, and older premises of this one, are suspects.
2. Suspects are judged in waves. A suspect that has a derivation from rows with smaller stamps that are not suspects stays,
   and nothing that depends on it is visited. When no more suspects can be cleared so, the rest fall, all of them: the one
   with the smallest stamp has no derivation left, and so on upward. Rows with greater stamps that used a fallen one are
   the next wave's suspects; a row that was cleared by one that falls later is among them again.
3. Fallen rows that have a derivation from what stands, whatever the stamps, come back with a new stamp, together with
   what gained premises derive; semi-naive rounds go on from there.

A negated atom's premise is lost when the row it denies comes, and gained when that row goes. A computation that fails
is judged in step 3 only: what stands then stands at the end, too, and before the transaction nothing failed.

Deviation from the method: it judges suspects one stamp at a time. Waves make as many kernel calls as the longest chain of
rows that fall by each other, and not as many as there are stamps, of which each transaction adds some.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from datalog.evaluate.fixpoint import DeltaJoin, Found, Inserting, Limits, RecursiveRule, close, evaluate
from datalog.evaluate.join import Budget, Join
from datalog.ir.core import CoreClosure
from datalog.maintain.holding import Holding
from datalog.plan.rule import suspects_of
from datalog.store.rows import among, consolidate, sort_distinct
from datalog.store.storage import Delta, Storage

Words = NDArray[np.int64]
Stamped = tuple[Words, Words]  # distinct rows and their stamps
ANY_STAMP = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class SupportJoin:
    """Finds derivations of given head rows: `columns` of the head are the prefix; the others repeat those in `repeats`."""

    head: str
    columns: tuple[int, ...]
    repeats: tuple[tuple[int, int], ...]
    join: Join

    def supported(self, storage: Storage, rows: Words, stamps: Words, budget: Budget | None) -> Words:
        """Those of the head rows that the rule derives from unsuspected rows of the stratum older than their stamps."""
        for column, other in self.repeats:
            equal = rows[:, column] == rows[:, other]
            rows, stamps = rows[equal], stamps[equal]
        prefixes = self.join.prefixes(rows[:, self.columns], stamps)
        return self.join.complete(storage.pool.pages, self.join.at(storage.roots), prefixes, first_only=True, budget=budget)[0]


@dataclass(frozen=True, slots=True)
class ChangeJoin:
    """What a change of one atom means for a rule's head; the atom's predicate is of a lower stratum.

    For a head of a recursive stratum, the output ends with the greatest stamp of the premises in the stratum.
    """

    head: str
    negated: bool
    delta: DeltaJoin


class RecursiveStratum:
    """A recursive stratum's rules and the running number of its rounds."""

    def __init__(
        self,
        storage: Storage,
        predicates: Sequence[str],
        rules: Sequence[RecursiveRule],
        limits: Limits,
        closures: Sequence[CoreClosure] = (),
    ) -> None:
        self.predicates, self.rules, self.closures = tuple(predicates), tuple(rules), tuple(closures)
        self.stamp = 0
        self._storage, self._limits = storage, limits
        self._holding: list[Holding] = []  # during a transaction

    def evaluate(self) -> None:
        """Evaluate the stratum, which is empty, from scratch."""
        self.stamp = evaluate(self._storage, self.predicates, self.rules, self.stamp, self._limits, self.closures)

    def empty(self) -> None:
        """Empty the stratum's predicates, and forget suspects that an attempt left when its budget was spent."""
        for name in self.predicates:
            self._storage.clear(name)
            self._storage.clear(suspects_of(name))

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
        self._holding = [Holding(storage, closure, old, budget) for closure in self.closures]
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
        fallen = self._fell(lost, bool(gained), supports, old, budget) if lost else {}
        found: Found = {name: [] for name in self.predicates}
        for name, rows in fallen.items():
            found[name].append(self._supported(supports, name, rows, np.full(len(rows), ANY_STAMP, np.int64), budget))
        for change, more in gained:
            join = change.delta.join
            roots = join.at(storage.roots)
            heads, _ = join.complete(storage.pool.pages, roots, join.prefixes(more), budget=budget, judge=storage.roots)
            found[change.head].append(heads[:, :-1])
        into = Inserting(storage, self.predicates)
        self.stamp = close(storage, self.rules, found, into, self.stamp, self._limits, budget, self.closures)
        return {name: _net(into.inserted[name], fallen.get(name)) for name in self.predicates}

    def _fell(self, lost: Found, gained: bool, supports: Sequence[SupportJoin], old: Words, budget: Budget | None) -> dict[str, Words]:
        """Judge the heads of lost derivations and all that depends on those that fall; takes the fallen out.

        With `gained`, lower strata have premises that they had not before, and a suspect may have been cleared by one.
        """
        storage = self._storage
        suspects = {name: self._younger(name, _distinct(blocks)) for name, blocks in lost.items()}
        fallen: dict[str, list[Words]] = {}
        while suspects:
            falling = self._judge({name: suspected for name, suspected in suspects.items() if len(suspected[0])}, supports, budget)
            found = self._dependents(falling, old, budget)
            if gained:
                for name, blocks in self._dependents(falling, storage.roots, budget).items():
                    found.setdefault(name, []).extend(blocks)
            for holding in self._holding:
                if holding.pairs in falling:
                    found.setdefault(holding.head, []).append(holding.dependents(*falling[holding.pairs]))
            for name, (rows, _) in falling.items():
                storage.change(name, rows, np.full(len(rows), -1, np.int64))
                fallen.setdefault(name, []).append(rows)
            suspects = {name: self._younger(name, _distinct(blocks)) for name, blocks in found.items()}
        return {name: _distinct(blocks) for name, blocks in fallen.items()}

    def _dependents(self, falling: Mapping[str, Stamped], version: Words, budget: Budget | None) -> Found:
        """Heads of derivations that use a falling row in a version, each with the greatest stamp of its premises."""
        found: Found = {}
        for rule in self.rules:
            for delta in rule.dependents:
                if delta.predicate in falling:
                    rows, stamps = falling[delta.predicate]
                    prefixes = delta.join.prefixes(delta.turned(rows), stamps)
                    heads, _ = delta.join.complete(self._storage.pool.pages, delta.join.at(version), prefixes, budget=budget)
                    found.setdefault(rule.head, []).append(heads)
        return found

    def _judge(self, suspects: dict[str, Stamped], supports: Sequence[SupportJoin], budget: Budget | None) -> dict[str, Stamped]:
        """Clear suspects until no more can be cleared; returns those that fall."""
        storage = self._storage
        if sum(len(rows) for rows, _ in suspects.values()) == 1:  # its support, being older, is no suspect
            ((name, (rows, stamps)),) = suspects.items()
            return {} if len(self._supported(supports, name, rows, stamps, budget)) else suspects
        for name, (rows, _) in suspects.items():
            storage.change(suspects_of(name), rows, np.ones(len(rows), np.int64))
        progress = True
        while progress:
            progress = False
            for name, (rows, stamps) in list(suspects.items()):
                cleared = self._supported(supports, name, rows, stamps, budget)
                if len(cleared):
                    progress = True
                    storage.change(suspects_of(name), cleared, np.full(len(cleared), -1, np.int64))
                    suspects[name] = _without(rows, stamps, cleared)
        for name in suspects:
            storage.clear(suspects_of(name))
        return {name: suspected for name, suspected in suspects.items() if len(suspected[0])}

    def _younger(self, name: str, heads: Words) -> Stamped:
        """Of heads, each with the greatest stamp of its premises as last column, those that stand and are younger than that.

        Any other derivation was no well-founded support, and its loss does not matter.
        """
        rows = np.ascontiguousarray(heads[:, :-1])
        stamps = self._storage.stamps(name, rows)
        younger = stamps > heads[:, -1]
        rows, stamps = rows[younger], stamps[younger]
        if len(rows) < 2:
            return rows, stamps
        last = np.ones(len(rows), bool)
        last[:-1] = np.any(rows[:-1] != rows[1:], axis=1)  # heads are sorted
        return rows[last], stamps[last]

    def _supported(self, supports: Sequence[SupportJoin], name: str, rows: Words, stamps: Words, budget: Budget | None) -> Words:
        """Those of the rows that some rule derives from unsuspected rows of the stratum older than their stamps."""
        found: list[Words] = []
        none = rows[:0]
        for support in supports:
            if support.head == name and len(rows):
                cleared = support.supported(self._storage, rows, stamps, budget)
                if len(cleared):
                    found.append(cleared)
                    rows, stamps = _without(rows, stamps, cleared)
        for holding in self._holding:
            if holding.head == name and len(rows):
                found.append(holding.supported(rows, stamps))
        return _distinct(found) if found else none


def _distinct(blocks: list[Words]) -> Words:
    return sort_distinct(blocks[0] if len(blocks) == 1 else np.concatenate(blocks))


def _without(rows: Words, stamps: Words, others: Words) -> Stamped:
    """Distinct rows and their stamps, without those of `others`, which is a subset of them."""
    if len(others) in (0, len(rows)):
        return rows[len(others) :], stamps[len(others) :]
    left = ~among(rows, others)
    return rows[left], stamps[left]


def _net(inserted: list[Words], fallen: Words | None) -> Delta:
    """What came and what went, without what fell and came back."""
    blocks = [*inserted] if fallen is None else [*inserted, fallen]
    if not blocks:
        nothing = np.empty((0, 1), np.int64)
        return Delta(nothing, nothing)
    if len(blocks) == 1:
        block, none = blocks[0], blocks[0][:0]
        return Delta(block, none) if inserted else Delta(none, block)
    weights = np.concatenate([np.full(len(block), 1 if place < len(inserted) else -1, np.int64) for place, block in enumerate(blocks)])
    rows, weights = consolidate(np.concatenate(blocks), weights)
    return Delta(rows[weights > 0], rows[weights < 0])
