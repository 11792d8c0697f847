"""Semi-naive evaluation of a recursive stratum by delta prefixes.

Each round inserts what the round before found and completes, for every recursive atom of every rule, the rows that were
new, as prefixes: the rows of the atom bind the first variables of the atom's delta plan. New rows are stamped with the
running number of their round, so that every row has a derivation whose premises in the stratum have smaller stamps.

Maintenance inserts into the trees. An evaluation from scratch gathers the rows of all rounds and builds the trees at its
end, but for those that the rules read while it goes on: trees for the other atoms of rules that are not linear. Of rounds that are
small, `rounds.py` does many at once.

The loop ends because every round but the last adds a row, and heads range over values that are there. Rules whose heads
compute new values may go on for ever: `Limits` stops those, with an error that names a rule and the round. Limits are looked
at once a round.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from datalog.errors import Diagnostic, EvaluationError
from datalog.evaluate.classes import Classes
from datalog.evaluate.gathered import Gathered
from datalog.evaluate.join import ENDLESS, Budget, Join
from datalog.evaluate.rounds import Followed, Rounds
from datalog.ir.core import CoreClosure
from datalog.plan.arrangements import Columns
from datalog.store.rows import sort_distinct
from datalog.store.storage import Arrangement, Storage

Words = NDArray[np.int64]
Found = dict[str, list[Words]]
NOTHING, NO_STAMPS = np.empty((0, 1), np.int64), np.empty((0, 2), np.int64)
AT_FIRST = 4  # rounds that are done one by one, whatever follows


@dataclass(frozen=True, slots=True)
class DeltaJoin:
    """A join whose prefixes are changes of one atom: of `predicate`, cut to the columns that the atom uses, in the plan's order."""

    predicate: str
    columns: tuple[int, ...]
    join: Join

    def turned(self, rows: Words) -> Words:
        """The columns of rows of the predicate that make prefixes."""
        return rows if self.columns == tuple(range(rows.shape[1])) else rows.take(self.columns, axis=1)


@dataclass(frozen=True, slots=True)
class RecursiveRule:
    """A rule of a recursive stratum: its head, its full join, and the delta joins of its recursive atoms.

    `dependents` are these once more, with the stamp of the premise as a last column of the output. `computes`: may its head hold
    a value that no body atom holds?
    """

    head: str
    join: Join
    deltas: Sequence[DeltaJoin]
    dependents: Sequence[DeltaJoin]
    computes: bool = field(init=False)

    def __post_init__(self) -> None:
        rule = self.join.encoded.plan.rule
        stored = {variable for atom in rule.atoms if not atom.negated for variable in atom.columns}
        object.__setattr__(self, "computes", not stored.issuperset(rule.head_columns))


@dataclass(frozen=True, slots=True)
class Limits:
    """How far one fixpoint may go: in rounds, where rules compute values; in rows that it adds; in seconds."""

    rounds: int = 10_000_000
    rows: int = 1 << 31
    seconds: float = math.inf

    def passed(self, rounds: int, rows: int, seconds: float, computing: bool) -> str:
        """The limit that is passed, for a message, or nothing."""
        if rows > self.rows:
            return f"{self.rows} rows (max_rows)"
        if computing and rounds > self.rounds:
            return f"{self.rounds} rounds (max_rounds)"
        return f"{self.seconds:g} seconds (max_seconds)" if seconds > self.seconds else ""


class Insertion(Protocol):
    """Where a fixpoint puts the rows that it finds."""

    def insert(self, predicate: str, found: list[Words], stamp: int) -> Words:
        """Insert rows, found once or more often, with a stamp; returns those that are new."""


class Gathering:
    """The rows of a stratum that is evaluated from scratch, and the trees that must always hold all of them."""

    def __init__(self, storage: Storage, predicates: Iterable[str], rules: Sequence[RecursiveRule]) -> None:
        self._storage = storage
        requests = {request for rule in rules for delta in rule.deltas for request in delta.join.encoded.plan.requests}
        self._gathered = {name: Gathered(len(storage.arrangements[name][0].columns)) for name in predicates}
        self._stamps: dict[str, list[Words]] = {name: [] for name in self._gathered}  # in blocks of stamps and how many rows have them
        self._stamped = dict.fromkeys(self._gathered, 0)  # how many rows have one
        self._read = {name: _serving(storage, name, requests) for name in self._gathered}
        self._deltas = [(rule.head, delta) for rule in rules for delta in rule.deltas]
        self._rounds: Rounds | None = None
        self._before = 0  # rounds

    def insert(self, predicate: str, found: list[Words], stamp: int) -> Words:
        gathered = self._gathered[predicate]
        for heads in found:
            gathered.add(heads)
        new = gathered.rows[self._stamped[predicate] : gathered.count]
        if len(new):
            self._stamp(predicate, np.array([[stamp, len(new)]], np.int64))
            for arrangement in self._read[predicate]:
                self._storage.insert(arrangement, new, stamp)
        return new

    def follow(self, new: Mapping[str, Words], stamp: int, rounds: int, rows: int) -> Followed | None:
        """Do small rounds after the one that found the new rows (`Rounds.follow`), or none if that does not suit."""
        if self._rounds is None:
            self._before += 1
            if self._before <= AT_FIRST or not self._deltas:
                return None
            self._rounds = Rounds(self._storage, self._gathered, self._read, self._deltas)
        if not self._rounds.suit(new):
            return None
        followed = self._rounds.follow(new, stamp, rounds, rows)
        for predicate, sizes in followed.sizes.items():
            (found,) = np.nonzero(sizes)
            self._stamp(predicate, np.column_stack((found + stamp + 1, sizes[found])))
        return followed

    def _stamp(self, predicate: str, stamps: Words) -> None:
        self._stamps[predicate].append(stamps)
        self._stamped[predicate] += int(stamps[:, 1].sum())

    def finish(self) -> None:
        """Build the other trees."""
        for name, gathered in self._gathered.items():
            stamps, sizes = np.concatenate([NO_STAMPS, *self._stamps[name]]).T
            self._storage.replace(name, gathered.rows[: gathered.count], np.repeat(stamps, sizes), self._read[name])
            del gathered.rows


class Inserting:
    """Inserts into the trees, and keeps what was new."""

    def __init__(self, storage: Storage, predicates: Iterable[str]) -> None:
        self._storage = storage
        self.inserted: dict[str, list[Words]] = {predicate: [] for predicate in predicates}

    def insert(self, predicate: str, found: list[Words], stamp: int) -> Words:
        rows = sort_distinct(found[0] if len(found) == 1 else np.concatenate(found)) if found else NOTHING
        if len(rows):
            rows = self._storage.change(predicate, rows, np.full(len(rows), stamp, np.int64)).inserted
            if len(rows):
                self.inserted[predicate].append(rows)
        return rows


def evaluate(
    storage: Storage,
    predicates: Iterable[str],
    rules: Sequence[RecursiveRule],
    stamp: int,
    limits: Limits,
    closures: Sequence[CoreClosure] = (),
) -> int:
    """Evaluate a stratum that is empty; returns the last stamp given."""
    found: Found = {}
    for rule in rules:
        join = rule.join
        heads, _ = join.complete(storage.pool.pages, join.at(storage.roots), join.everything(), judge=storage.roots, distinct=True)
        found.setdefault(rule.head, []).append(heads)
    gathering = Gathering(storage, predicates, rules)
    stamp = close(storage, rules, found, gathering, stamp, limits, closures=closures)
    gathering.finish()
    return stamp


def close(
    storage: Storage,
    rules: Sequence[RecursiveRule],
    found: Found,
    into: Insertion,
    stamp: int,
    limits: Limits,
    budget: Budget | None = None,
    closures: Sequence[CoreClosure] = (),
) -> int:
    """Insert what was found and all that follows. Returns the last stamp given.

    The first round's rows get the stamp after `stamp`. Within a transaction. Raises EvaluationError at a limit.
    """
    computing = next((rule for rule in rules if rule.computes and rule.deltas), None)
    merging = [(closure, Classes(storage, closure.head, budget)) for closure in closures]
    most = ENDLESS if computing is None else limits.rounds
    swift = into if isinstance(into, Gathering) and not merging else None
    rounds = rows = 0
    began = time.monotonic()
    while True:
        stamp += 1
        rounds += 1
        new: dict[str, Words] = {}
        for predicate, blocks in found.items():
            block = into.insert(predicate, blocks, stamp)
            if len(block):
                new[predicate] = block
                rows += len(block)
        if not new:
            return stamp
        found = {}
        while new and not found:
            passed = limits.passed(rounds, rows, time.monotonic() - began, computing is not None)
            if passed:
                raise runaway(computing or next((rule for rule in rules if rule.deltas), rules[0]), passed, rounds, rows)
            followed = swift.follow(new, stamp, most - rounds + 1, limits.rows - rows) if swift is not None else None
            if followed is None:
                found = follow(storage, rules, new, budget, merging)
                break
            stamp, rounds, rows = stamp + followed.rounds, rounds + followed.rounds, rows + followed.rows
            new, found = followed.new, followed.heads


def follow(
    storage: Storage,
    rules: Iterable[RecursiveRule],
    new: Mapping[str, Words],
    budget: Budget | None,
    merging: Iterable[tuple[CoreClosure, Classes]] = (),
) -> Found:
    """What the rules derive from new rows, and what new pairs add to equivalences."""
    found: Found = {closure.head: [classes.merge(new[closure.pairs])] for closure, classes in merging if closure.pairs in new}
    sorted_rows: dict[tuple[str, Columns], Words] = {}  # most rules of a large stratum take them in the same order
    for rule in rules:
        for delta in rule.deltas:
            rows = new.get(delta.predicate)
            if rows is not None:
                join, wanted = delta.join, (delta.predicate, delta.columns)
                if wanted not in sorted_rows:
                    turned = delta.turned(rows)
                    sorted_rows[wanted] = sort_distinct(turned, own=turned is not rows)
                prefixes, roots = join.prefixes(sorted_rows[wanted]), join.at(storage.roots)
                heads, _ = join.complete(storage.pool.pages, roots, prefixes, budget=budget, judge=storage.roots, distinct=True)
                if len(heads):
                    found.setdefault(rule.head, []).append(heads)
    return found


def _serving(storage: Storage, predicate: str, requests: Iterable[tuple[str, Columns]]) -> list[Arrangement]:
    """The arrangements of a predicate that serve requests."""
    serving = [storage.serving(name, columns) for name, columns in requests if name == predicate]
    return [kept for kept in storage.arrangements[predicate] if kept in serving]


def runaway(rule: RecursiveRule, passed: str, rounds: int, rows: int) -> EvaluationError:
    source = rule.join.encoded.plan.rule
    message = (
        f"the recursion through {rule.head} takes more than {passed}: in round {rounds} it has added {rows} row{'s' if rows > 1 else ''},"
        f" in the rule `{source.text}`"
    )
    limit = passed.partition("(")[2].rstrip(")")
    hint = f"bound the values that the rule computes, or raise the limit {limit}" if rule.computes else f"raise the limit {limit}"
    return EvaluationError([Diagnostic(message, source.span.file, source.span.line, source.span.column, hint=hint)])
