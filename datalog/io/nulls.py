"""Cells that hold no value, and rows that are not loaded.

A null token is a cell's whole text, without quotes. It stands for its column's default; where the column has none, the row is bad,
as one is whose cells do not parse. Bad rows are an error, or go to a file of rejected rows if one is named: that file is always
written, also without rows, so that it never tells of another run, and a `RejectedRows` warning says how many there are.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from datalog.errors import DataError, Diagnostic, RejectedRows
from datalog.io.literals import closest
from datalog.io.output import write_file
from datalog.ir.core import Predicate, PyValue
from datalog.store.values import BadValue, canonical

BETWEEN = "|"


@dataclass(frozen=True, slots=True)
class Nulls:
    """`tokens` are the texts that stand for no value, `defaults` what each column then holds (None: nothing), `rejects` the
    file for bad rows (None: they are an error)."""

    tokens: frozenset[str] = frozenset()
    defaults: tuple[PyValue | None, ...] = ()
    rejects: Path | None = None


NO_NULLS = Nulls()


class Rejection(NamedTuple):
    """A row that is not loaded: where it stands, why, and its text."""

    line: int
    column: int
    reason: str
    row: str


def tokens_of(null: str | Iterable[str] | None) -> frozenset[str]:
    """The tokens that `NA|NULL` names; an empty one is the empty cell."""
    return frozenset(null.split(BETWEEN) if isinstance(null, str) else null or ())


def defaults_of(given: Mapping[str, object], predicate: Predicate, tokens: frozenset[str]) -> tuple[PyValue | None, ...]:
    """The default of each column. ValueError with a message for an unknown column or a value that it does not admit."""
    for name in given:
        if name not in predicate.attributes:
            hint = closest(name, predicate.attributes)
            raise ValueError(f"{predicate.name} has no column {name} that could have a default" + (f"; {hint}" if hint else ""))
    if given and not tokens:
        raise ValueError("a default stands for a null, and nothing says what a null is: say null=, such as null=NA")
    if not tokens:
        return ()
    defaults: list[PyValue | None] = []
    for name, type in zip(predicate.attributes, predicate.types, strict=False):
        try:
            defaults.append(canonical(given[name], type) if name in given else None)
        except BadValue as error:
            raise ValueError(f"the default of column {name} of {predicate.name}: {error}") from None
    return tuple(defaults)


def give_account(rejected: list[Rejection], nulls: Nulls, path: Path, predicate: Predicate) -> None:
    """Write the rejected rows of the file `path`, and warn if there are any. DataError if they cannot be written."""
    if nulls.rejects is None:
        return
    lines = ["line,column,reason,row\n"]
    for line, column, reason, row in rejected:
        lines.append(f"{line},{column},{quoted(reason)},{quoted(row)}\n")
    try:
        write_file(nulls.rejects, iter(lines))
    except OSError as error:
        message = f"cannot write the rejected rows to {nulls.rejects}: {error.strerror or error}"
        raise DataError([Diagnostic(message, str(path), 0, 0)]) from error
    if rejected:
        count = f"{len(rejected):,} row{'s' if len(rejected) > 1 else ''}"
        message = f"{count} of {predicate.name} not loaded, the first for this: {rejected[0].reason}; all are in {nulls.rejects}"
        warnings.warn_explicit(RejectedRows(message), None, str(path), rejected[0].line)


def quoted(text: str) -> str:
    doubled = text.replace('"', '""')
    return f'"{doubled}"'
