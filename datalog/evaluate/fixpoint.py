"""Semi-naive evaluation of one recursive stratum by delta prefixes.

Round 0 evaluates every rule; each later round completes, for every recursive atom of every rule, the rows that were new
in the round before, as prefixes: the rows of the atom bind the first variables of the atom's delta plan. The loop ends
because every round but the last adds a row and heads range over values that are there; rules that compute new values
may run for ever, and are interrupted by Ctrl-C only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from datalog.evaluate.join import Join
from datalog.store.rows import sort_distinct
from datalog.store.storage import Storage

Words = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class DeltaJoin:
    """A join whose prefixes are new rows of `predicate`, cut to the columns that the atom uses."""

    predicate: str
    columns: tuple[int, ...]
    join: Join


@dataclass(frozen=True, slots=True)
class RecursiveRule:
    head: str
    join: Join
    deltas: Sequence[DeltaJoin]


def evaluate_fixpoint(storage: Storage, predicates: Sequence[str], rules: Iterable[RecursiveRule]) -> None:
    """Fill the predicates of a stratum, which are empty, with their least fixpoint. Within a transaction."""
    rules = tuple(rules)
    found: dict[str, list[Words]] = {predicate: [] for predicate in predicates}
    for rule in rules:
        rows, _ = rule.join.complete(storage.pool.pages, storage.roots, rule.join.everything())
        found[rule.head].append(rows)
    while True:
        new = {predicate: _add(storage, predicate, rows) for predicate, rows in found.items()}
        if not any(len(rows) for rows in new.values()):
            return
        found = {predicate: [] for predicate in predicates}
        for rule in rules:
            for delta in rule.deltas:
                rows = new[delta.predicate]
                if len(rows):
                    used = rows[:, delta.columns]
                    prefixes = delta.join.prefixes(sort_distinct(used) if len(delta.columns) < rows.shape[1] else used)
                    found[rule.head].append(delta.join.complete(storage.pool.pages, storage.roots, prefixes)[0])


def _add(storage: Storage, predicate: str, found: list[Words]) -> Words:
    """Insert the rows found; returns those that are new."""
    if not found:
        return np.empty((0, 1), np.int64)
    rows = sort_distinct(np.concatenate(found))
    return storage.change(predicate, rows, np.ones(len(rows), np.int64)).inserted
