"""What the benchmarks measure: the cost of evaluating a program, and of a stream of transactions after it.

Seconds are this process's CPU time, so that other work on the machine hardly shifts them; steps are iterator
operations, which do not depend on the machine at all. Ratios compare costs of one run only.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time

import numpy as np
from numpy.typing import NDArray

from datalog.database import Database
from datalog.last_words import INSERT
from datalog.maintain.engine import Engine, Maintain, Progress
from datalog.transaction import Changes

Words = NDArray[np.int64]
Rows = Sequence[tuple[int | str, ...]] | Words
Facts = Mapping[str, Rows]


class Skipped(Exception):
    """A benchmark that cannot run here; the message says why."""


class Wrong(Exception):
    """A result that is not what it is known to be: no figure of the benchmark means anything."""


def require(what: str, found: object, known: object) -> None:
    """Raise Wrong unless a result is the known one."""
    if found != known:
        raise Wrong(f"{what}: {found}, and it should be {known}")


def shared_data(name: str) -> Path:
    """A folder or file of the large data sets. Raises Skipped where it is missing."""
    folder = os.environ.get("DATALOG_DATA")
    if not folder:
        raise Skipped("DATALOG_DATA does not name the folder of the large data sets")
    path = Path(folder) / name
    if not path.exists():
        raise Skipped(f"there is no {path}")
    return path


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU seconds and iterator steps."""

    seconds: float
    steps: int


class Measured(Database):
    """A database that knows what its last evaluation from scratch cost, trees included, parsing and reading files not."""

    def _evaluate(self, facts: Mapping[str, Words], progress: Progress | None = None) -> Engine:
        start = process_time()
        engine = super()._evaluate(facts, progress)
        self.evaluation = Cost(process_time() - start, engine.steps)
        return engine

    @property
    def bytes_used(self) -> int:
        """Memory of the pages that hold something."""
        pool = self._engine.storage.pool
        return pool.used_pages * pool.words * pool.pages.itemsize

    @property
    def bytes_held(self) -> int:
        """Memory of the pool, with the pages that it keeps for later."""
        return self._engine.storage.pool.bytes

    def records(self) -> int:
        """How many sensitivity records the rules keep."""
        rules = [rule for stratum in self._engine.strata for rule in stratum.rules]
        return sum(rule.index.size() for rule in rules if rule.index is not None)

    def holds_what(self, other: Database) -> bool:
        """Do both hold the same rows in every predicate? For databases that were given the same symbols in the same order."""
        return all(np.array_equal(self[name].codes(), other[name].codes()) for name in self)


def evaluate(program: str | Path, facts: Facts | Path | None, maintain: Maintain, times: int = 1) -> Measured:
    """Evaluate a program `times` times from scratch; the database carries the least cost of them.

    `facts`: a directory, or rows by predicate, which must then be inputs of the program.
    """
    best: Measured | None = None
    for _ in range(times):
        if facts is None or isinstance(facts, Path):
            database = Measured(program, facts=facts, maintain=maintain)
        else:
            database = _Given(program, facts, maintain)
        if best is not None and best.evaluation.seconds < database.evaluation.seconds:
            database.evaluation = best.evaluation
        best = database
    assert best is not None
    return best


class _Given(Measured):
    """A database whose first facts are rows in memory, in the place of those of a directory."""

    def __init__(self, program: str | Path, facts: Facts, maintain: Maintain) -> None:
        self._given_rows = facts
        super().__init__(program, maintain=maintain)

    def _first_facts(self, directory: Path | None) -> dict[str, Words]:
        from datalog.store.rows import sort_distinct

        found = super()._first_facts(directory)
        for name, rows in self._given_rows.items():
            found[self.predicates[name].base or name] = sort_distinct(self.encode(name, rows, INSERT))
        return found


@dataclass(frozen=True, slots=True)
class Update:
    """One transaction: rows to delete and rows to insert, by predicate."""

    delete: Facts
    insert: Facts

    @property
    def inverse(self) -> Update:
        """What undoes it, if all its rows change something."""
        return Update(self.insert, self.delete)

    def commit(self, database: Database) -> Changes:
        """Apply it to a database."""
        transaction = database.transaction()
        for name, rows in self.delete.items():
            transaction.delete(name, rows)
        for name, rows in self.insert.items():
            transaction.insert(name, rows)
        return transaction.commit()


@dataclass(frozen=True, slots=True)
class Stream:
    """The costs of a stream's transactions, each by itself; `first` plans and arranges for those after it."""

    first: Cost
    others: tuple[Cost, ...]

    def __len__(self) -> int:
        return 1 + len(self.others)

    @property
    def usual(self) -> tuple[Cost, ...]:
        """What the figures are of: the others, or the first where there is no other."""
        return self.others or (self.first,)

    @property
    def median(self) -> float:
        """Seconds of the median transaction."""
        return statistics.median(cost.seconds for cost in self.usual)

    @property
    def p99(self) -> float:
        """Seconds that 99 of 100 transactions do not exceed; the greatest of fewer than 100."""
        ordered = sorted(cost.seconds for cost in self.usual)
        return ordered[max(0, -(-99 * len(ordered) // 100) - 1)]

    @property
    def median_steps(self) -> int:
        return int(statistics.median(cost.steps for cost in self.usual))

    @property
    def most_steps(self) -> int:
        return max(cost.steps for cost in self.usual)


def run_stream(
    database: Database, updates: Iterable[Update], seconds: float, seen: Callable[[Update, Changes], None] | None = None
) -> Stream:
    """Apply updates until there are no more or they have taken `seconds`; `seen` is called after each, unmeasured."""
    costs: list[Cost] = []
    spent = 0.0
    for update in updates:
        steps = database.steps
        start = process_time()
        changes = update.commit(database)
        took = process_time() - start
        costs.append(Cost(took, database.steps - steps))
        if seen is not None:
            seen(update, changes)
        spent += took
        if spent > seconds:
            break
    return Stream(costs[0], tuple(costs[1:]))


def rows_changed(changes: Changes, name: str) -> int:
    """How many rows of a predicate came and went."""
    change = changes[name]
    return len(change.inserted) + len(change.deleted)
