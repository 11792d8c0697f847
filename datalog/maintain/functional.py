"""Functional predicates: after each transaction every key has one value, or the transaction is rejected.

Deletions come before insertions, since deltas are consolidated, so only the keys of inserted rows are looked at: how many
rows an arrangement that begins with the key has for each, O(log n). Given predicates are checked before any rule runs.

For the message about a derived predicate its rules are evaluated, to see which of them give the values. (METHOD.md, section 2.)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from datalog.errors import DataError, Diagnostic, EvaluationError
from datalog.ir.core import BASE, CoreProgram, Predicate, PyValue
from datalog.ir.spelling import spell_value
from datalog.maintain.joins import Joins
from datalog.store.keys import Flags, all_values, arrange_keys, crowded_keys, find_values
from datalog.store.rows import sort_distinct
from datalog.store.storage import Delta, Storage
from datalog.store.values import Values, shown
from datalog.syntax.tree import Span

Words = NDArray[np.int64]
SHOWN_VALUES = 3


class Functions:
    """The functional predicates of a program over its storage."""

    def __init__(self, program: CoreProgram, storage: Storage, values: Values, joins: Joins) -> None:
        self._program, self._storage, self._values, self._joins = program, storage, values, joins
        self._names = [name for name, predicate in program.predicates.items() if predicate.functional]

    def arrange(self) -> None:
        """Have what the checks read, before there are rows. Within a transaction only."""
        for name in self._names:
            arrange_keys(self._storage, name)

    def check(self, names: Iterable[str], deltas: Mapping[str, Delta] | None = None) -> None:
        """Raise DataError, or for a derived predicate EvaluationError, if a key has two values in the running version.

        With `deltas`, what the transaction has changed so far, only inserted rows are looked at.
        """
        if not self._names:
            return
        for name in names:
            if self._program.predicates[name].functional and (deltas is None or name in deltas):
                inserted = None if deltas is None else deltas[name].inserted[:, :-1]
                crowded = crowded_keys(self._storage, name, self._storage.roots, inserted)
                if len(crowded):
                    self._refuse(self._program.predicates[name], sort_distinct(crowded))

    def stored(self, name: str, keys: Words) -> tuple[Flags, Words]:
        """Which keys have a value in the committed version, and its code (0 for the others). O(log n) a key."""
        return find_values(self._storage, name, keys, self._storage.committed)

    def _refuse(self, predicate: Predicate, keys: Words) -> NoReturn:
        """Say what is wrong with the first of the keys, in the order of their values."""
        storage, values, name = self._storage, self._values, predicate.name
        *types, type = predicate.types
        key = values.sort_by_value(keys, types)[0]
        before = all_values(storage, name, key, storage.committed).tolist()
        codes = values.sort_by_value(all_values(storage, name, key, storage.roots).reshape(-1, 1), [type])[:, 0].tolist()
        codes.sort(key=lambda code: code not in before)
        found = [values.decode(code, type) for code in codes]
        public = name.removesuffix(BASE)
        term = f"{public}[{', '.join(written(values.decode(*cell)) for cell in zip(key.tolist(), types, strict=True))}]"
        message = f"{term} has {listed(found)}" + (f", as have {len(keys) - 1} keys more" if len(keys) > 1 else "")
        if predicate.derived:
            rows = {(*key.tolist(), code): value for code, value in zip(codes[:SHOWN_VALUES], found, strict=False)}
            raise EvaluationError(self._blame(message, predicate, rows))
        hint = (
            f"delete {written(found[0])} as well, or replace it by `^{term} = {written(found[-1])}.` (`upsert` in Python)" if before else ""
        )
        raise DataError([Diagnostic(message, f"<rows of {public}>", 0, 0, hint=hint)])

    def _blame(self, message: str, predicate: Predicate, rows: dict[tuple[int, ...], PyValue]) -> list[Diagnostic]:
        """A finding for each rule that derives one of the rows."""
        derived: dict[tuple[Span, str], dict[PyValue, None]] = {}
        for rule, join in zip(self._program.rules, self._joins.full, strict=True):
            if rule.head == predicate.name:
                heads, _ = join.complete(self._storage.pool.pages, join.at(self._storage.roots), join.everything())
                own = [rows[row] for row in map(tuple, heads.tolist()) if row in rows]
                if own and rule.atoms and rule.atoms[0].predicate == predicate.base:
                    message += f"; {written(own[0])} is given"
                elif own:
                    derived.setdefault((rule.span, rule.text), {}).update(dict.fromkeys(own))
        findings: list[Diagnostic] = []
        for (span, text), blamed in derived.items():
            blame = f"{' and '.join(map(written, blamed))} from the rule `{text}`"
            findings.append(Diagnostic(f"{message}; {blame}" if not findings else blame, span.file, span.line, span.column))
        return findings or [Diagnostic(message, f"<rows of {predicate.name}>", 0, 0)]


def written(value: PyValue) -> str:
    return shown(value) if isinstance(value, str) else spell_value(value)


def listed(values: list[PyValue]) -> str:
    """`two values, 60 and 70`; of more than a few only the first."""
    if len(values) == 2:
        return f"two values, {written(values[0])} and {written(values[1])}"
    first = ", ".join(map(written, values[:SHOWN_VALUES]))
    return f"{len(values)} values, {first}{', …' if len(values) > SHOWN_VALUES else ''}"
