"""A stratum with a guard (`datalog.ir.core.Guard`), from scratch: by rounds, whose rows do not all come in, and may have to leave.

One round, from what the rules have found:

1. What is new comes in, all of it before anything leaves. Of a predicate with choice domains a row comes in only where no row has its
   key, for each of its keys; rows are taken in the order of their values, so that what is chosen does not depend on how values happen to
   be interned, or on what has been before.
2. Of what came in, those rows leave that another row dominates, whether it stood or came in with them. All leave at once: of two that
   dominate each other none stays.
3. Of what stood, those rows leave that are dominated by one that came in and stayed, or because of such a row. So after each round no row
   stands that another one dominates.
4. Aggregates that are asked answer for the groups that came in, and their answers come in, too (`datalog.evaluate.asked`).
5. What came in and stayed is what rules are followed from in the next round, and what `debug_delta` shows with the number of the round.

The first round has number 0 and is that of the rules without premises in the stratum. The rounds end when nothing came in and stayed, or
when a predicate has as many rows as its `.limitsize` says. Rules may go on for ever, since rows may leave and come again: `Limits` stops
them, as it does other fixpoints. Rows are stamped with their rounds, but premises of a row may have left since.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from datalog.evaluate.asked import AskedAggregate
from datalog.evaluate.classes import Classes
from datalog.evaluate.fixpoint import NOTHING, DeltaJoin, Found, Limits, RecursiveRule, follow, runaway
from datalog.ir.core import ROUND, CoreClosure, CoreProgram, Guard, Type
from datalog.store.rows import sort_distinct
from datalog.store.storage import Storage
from datalog.store.values import Values

Words = NDArray[np.int64]


class GuardedStratum:
    """The rules of a stratum and its guard."""

    def __init__(
        self,
        program: CoreProgram,
        storage: Storage,
        values: Values,
        rules: Sequence[RecursiveRule],
        guard: Guard,
        limits: Limits,
        closures: Sequence[CoreClosure] = (),
        asked: Sequence[AskedAggregate] = (),
    ) -> None:
        self._program, self._storage, self._values = program, storage, values
        self._guard, self._limits, self._closures = guard, limits, closures
        subsumed = {hidden: name for name, hidden in guard.subsumed.items()}
        self._asked = tuple(asked)
        apart = subsumed.keys() | {aggregate.source for aggregate in asked}
        self._rules = [rule for rule in rules if rule.head not in apart]
        self._within: list[tuple[str, DeltaJoin]] = []  # what is dominated of new rows, by predicate
        self._because: list[tuple[str, DeltaJoin]] = []  # what is dominated because of new rows
        for rule in rules:
            if rule.head in subsumed:
                name = subsumed[rule.head]
                less = next(number for number, atom in enumerate(rule.join.encoded.plan.rule.atoms) if atom.predicate == name)
                for delta in rule.deltas:
                    (self._within if delta.join.encoded.plan.given == less else self._because).append((name, delta))

    def evaluate(self) -> None:
        """Evaluate the stratum, which is empty."""
        storage = self._storage
        number = rows = 0
        began = time.monotonic()
        self._count(0)
        for aggregate in self._asked:
            aggregate.begin()
        merging = [(closure, Classes(storage, closure.head)) for closure in self._closures]
        found: Found = {}
        for rule in self._rules:
            join = rule.join
            heads, _ = join.complete(storage.pool.pages, join.at(storage.roots), join.everything(), judge=storage.roots)
            found.setdefault(rule.head, []).append(heads)
        while True:
            new = self._round(found, number)
            rows += sum(map(len, new.values()))
            if not new or any(storage.size(name) >= limit for name, limit in self._guard.limits.items()):
                break
            number += 1
            passed = self._limits.passed(number, rows, time.monotonic() - began, True)
            if passed:
                raise runaway(next((rule for rule in self._rules if rule.deltas), self._rules[0]), passed, number, rows)
            self._count(number)
            found = follow(storage, self._rules, new, None, merging)
        if self._guard.counted:
            storage.clear(ROUND)

    def _count(self, number: int) -> None:
        """Let the rules read the number of the round."""
        if self._guard.counted:
            self._storage.clear(ROUND)
            self._storage.replace(ROUND, self._code(number).reshape(1, 1))

    def _code(self, number: int) -> Words:
        return np.array([self._values.encode(number, Type.UNSIGNED)], np.int64)

    def _round(self, found: Found, number: int) -> dict[str, Words]:
        """Let what was found come in; returns what did and stayed."""
        new: dict[str, Words] = {}
        for name, blocks in found.items():
            rows = self._coming(name, blocks)
            if len(rows):
                self._storage.change(name, rows, np.full(len(rows), number + 1, np.int64))
                new[name] = rows
        if self._guard.subsumed and new:
            for name, rows in self._dominated(self._within, new).items():
                self._leave(name, rows)
                new[name] = new[name][self._storage.has(name, new[name])]
            new = {name: rows for name, rows in new.items() if len(rows)}
            for name, rows in self._dominated(self._because, new).items():
                self._leave(name, rows)
        for aggregate in self._asked:
            if aggregate.asked in new:
                rows = aggregate.answer(new[aggregate.asked], number + 1)
                if len(rows):
                    new[aggregate.head] = rows
        for name, whose in self._guard.deltas.items():
            if whose in new:
                rows = np.column_stack((new[whose], self._code(number).repeat(len(new[whose]))))
                self._storage.change(name, rows, np.full(len(rows), number + 1, np.int64))
                new[name] = np.concatenate((new[name], rows)) if name in new else rows
        return new

    # --- coming in --------------------------------------------------------------------------------------------------------

    def _coming(self, name: str, blocks: list[Words]) -> Words:
        """Those of the rows that are not there and may come in."""
        rows = sort_distinct(blocks[0] if len(blocks) == 1 else np.concatenate(blocks)) if blocks else NOTHING
        if len(rows) and self._storage.size(name):
            rows = rows[~self._storage.has(name, rows)]
        keys = self._guard.choices.get(name, ())
        for key in keys:
            if len(rows):
                rows = rows[~self._has_key(name, key, rows)]
        if not keys or len(rows) < 2:
            return rows
        rows = self._values.sort_by_value(rows, self._program.predicates[name].types)
        return _first_by_keys(rows, keys)

    def _has_key(self, name: str, key: tuple[int, ...], rows: Words) -> NDArray[np.bool_]:
        kept = next(kept for kept in self._storage.arrangements[name] if set(kept.columns[: len(key)]) == set(key))
        prefixes = np.ascontiguousarray(rows[:, kept.columns[: len(key)]])
        found: NDArray[np.bool_] = kept.tree.count_prefixes(int(self._storage.roots[kept.number]), prefixes) > 0
        return found

    # --- leaving ----------------------------------------------------------------------------------------------------------

    def _dominated(self, joins: Sequence[tuple[str, DeltaJoin]], new: Mapping[str, Words]) -> dict[str, Words]:
        """The rows of each predicate that rows dominate, of which new ones are or among which new ones are.

        One that dominates a new row is enough, but where a computation may fail: whether it does must not depend on which is first."""
        storage = self._storage
        found: Found = {}
        for name, delta in joins:
            rows = new.get(delta.predicate)
            if rows is not None:
                join = delta.join
                prefixes = join.prefixes(sort_distinct(delta.turned(rows)))
                one = joins is self._within and not join.encoded.plan.late
                heads, _ = join.complete(storage.pool.pages, join.at(storage.roots), prefixes, first_only=one, judge=storage.roots)
                if len(heads):
                    found.setdefault(name, []).append(heads)
        return {name: sort_distinct(np.concatenate(blocks)) for name, blocks in found.items()}

    def _leave(self, name: str, rows: Words) -> None:
        self._storage.change(name, rows, np.full(len(rows), -1, np.int64))


def _first_by_keys(rows: Words, keys: Sequence[tuple[int, ...]]) -> Words:
    """Of rows in the order in which they are taken, those that find all their keys free."""
    numbered = [_numbered(rows[:, key]) for key in keys]
    if len(keys) == 1:
        return rows[np.sort(np.unique(numbered[0], return_index=True)[1])]
    taken = [bytearray(len(rows)) for _ in keys]
    kept: list[int] = []
    for place, own in enumerate(zip(*(numbers.tolist() for numbers in numbered), strict=True)):
        if not any(flags[number] for number, flags in zip(own, taken, strict=True)):
            kept.append(place)
            for number, flags in zip(own, taken, strict=True):
                flags[number] = 1
    return rows[kept]


def _numbered(columns: Words) -> Words:
    """A number below the number of rows for each row, the same for equal rows."""
    numbers = np.zeros(len(columns), np.int64)
    for column in columns.T:
        numbers = numbers * len(columns) + np.unique(column, return_inverse=True)[1]
        numbers = np.unique(numbers, return_inverse=True)[1]
    return numbers
