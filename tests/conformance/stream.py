"""A database whose facts, those of the text and those of files, come as transactions with detours instead of all at once.

It begins with a random part of them. Transactions then insert facts that are missing and delete ones that are there, each as the
dice fall; one of them deletes all facts of a predicate; the last one inserts whatever is missing. A transaction that cannot be
applied, since the rules make no sense without the facts it deletes, is passed over, as is such a beginning. That goes for recursion
that does not end soon, too: many programs count up to a number which is a fact.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

import datalog.database
from datalog.database import Database
from datalog.errors import DatalogError, InternalError
from datalog.evaluate.fixpoint import Limits
from datalog.last_words import DELETE, INSERT
from datalog.maintain.engine import Engine, Progress

TRANSACTIONS = 6
FEW = 1000  # at most about so many facts are missing at first, so that large tests stay quick
MOVED = 300  # at most about so many facts come or go in one transaction

SOON = 1.5  # seconds for each recursion before all facts are there

Words = NDArray[np.int64]
Flags = NDArray[np.bool_]


class Patience(Limits):
    """The limits of a recursion, and a shorter time while facts are missing."""

    complete: ClassVar[bool] = False

    def passed(self, rounds: int, rows: int, seconds: float, computing: bool) -> str:
        if not Patience.complete and seconds > SOON:
            return f"{SOON} seconds"
        return super().passed(rounds, rows, seconds, computing)


class Streamed(Database):
    """Ends with the same facts as a `Database` made with the same arguments."""

    seed = 0

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._whole_at_first = Patience.complete = False
        try:
            super().__init__(*arguments, **options)
        except InternalError:
            raise
        except DatalogError:
            self._whole_at_first = Patience.complete = True
            super().__init__(*arguments, **options)
        self._play()

    def _first_facts(self, directory: Path | None) -> dict[str, Words]:
        given = super()._first_facts(directory)
        self._facts = {name: rows for name, rows in given.items() if len(rows) and name.removesuffix("@base") in self}
        self._dice = np.random.default_rng(self.seed)
        self._total = sum(map(len, self._facts.values()))
        missing = 0.0 if self._whole_at_first or not self._total else min(0.5, FEW / self._total)
        self._present = {name: self._dice.random(len(rows)) >= missing for name, rows in self._facts.items()}
        return {**given, **{name: rows[self._present[name]] for name, rows in self._facts.items()}}

    def _evaluate(self, facts: Mapping[str, Words], progress: Progress | None = None) -> Engine:
        limits = self._options.limits
        Patience.complete = Patience.complete or all(present.all() for present in self._present.values())
        self._options = replace(self._options, limits=Patience(limits.rounds, limits.rows, limits.seconds))
        return super()._evaluate(facts, progress)

    def _play(self) -> None:
        if not self._total:
            return
        Patience.complete = False
        rejected = 0
        moved = min(0.3, MOVED / self._total)
        small = [name for name, rows in self._facts.items() if len(rows) <= MOVED]
        for number in range(TRANSACTIONS):
            wanted = {name: present ^ (self._dice.random(len(present)) < moved) for name, present in self._present.items()}
            if number == TRANSACTIONS // 2 and small:
                cleared = small[int(self._dice.integers(len(small)))]
                wanted[cleared] = np.zeros(len(self._facts[cleared]), bool)
            try:
                self._become(wanted)
            except InternalError:
                raise
            except DatalogError:
                rejected += 1
        Patience.complete = True
        self._become({name: np.ones(len(rows), bool) for name, rows in self._facts.items()})
        if rejected or self._whole_at_first:
            at_first = ", and so was the beginning" if self._whole_at_first else ""
            print(f"stream: {rejected} of {TRANSACTIONS} transactions were passed over{at_first}", file=sys.stderr)

    def _become(self, wanted: dict[str, Flags]) -> None:
        """Have exactly the wanted facts, by one transaction."""
        transaction = self.transaction()
        for name, rows in self._facts.items():
            transaction.stage(name, rows[wanted[name] & ~self._present[name]], INSERT)
            transaction.stage(name, rows[~wanted[name] & self._present[name]], DELETE)
        transaction.commit()
        self._present = wanted


def stream_everything(name: str, seed: int) -> None:
    """From now on every database of this process streams its facts. The dice depend on the seed and the test's name."""
    Streamed.seed = zlib.crc32(name.encode()) + seed
    datalog.database.Database = Streamed  # type: ignore[misc]
