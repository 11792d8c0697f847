"""Tables whose columns have names: which of them holds which column of a predicate.

Names decide if they are the predicate's, in whatever order, and nothing else is there; upper and lower case are then as good as each
other. If none of them is the predicate's, columns go by position. What lies between is a mistake: a name that is misspelled must
not send another column's values to its place. Columns that nothing names are called c1, c2, …, which nobody needs to know.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from datalog.io.literals import closest
from datalog.ir.core import Predicate
from datalog.store.values import shown

BY_POSITION = "a table goes by its names as soon as one of them is the predicate's"


class BadNames(Exception):
    """What is wrong with the names of a table's columns, seen first at column `place`."""

    def __init__(self, message: str, place: int, hint: str = "") -> None:
        self.message, self.place, self.hint = message, place, hint


def places_of(names: Sequence[str], predicate: Predicate) -> list[int] | None:
    """For each column of the predicate the table's column that holds it; None if columns go by position. BadNames for a mixture."""
    known = predicate.attributes
    for given, wanted in ((list(names), list(known)), ([name.casefold() for name in names], [name.casefold() for name in known])):
        if sorted(given) == sorted(wanted) and len(set(wanted)) == len(wanted):
            return [given.index(name) for name in wanted]
    if set(known).isdisjoint(names) or known == tuple(f"c{at + 1}" for at in range(len(known))):
        return None
    if unknown := [name for name in names if name not in known]:
        one = len(unknown) == 1
        message = f"{listed(unknown)} {'is no column' if one else 'are no columns'} of {signature_of(predicate)}"
        raise BadNames(message, list(names).index(unknown[0]), hint_for(unknown, [name for name in known if name not in names]))
    if missing := [name for name in known if name not in names]:
        raise BadNames(f"there is no {listed(missing)}; the columns are those of {signature_of(predicate)}", len(names) - 1, BY_POSITION)
    twice = next(at for at, name in enumerate(names) if name in names[:at])
    raise BadNames(f"the column {listed([names[twice]])} comes twice", twice)


def cells_of(row: Mapping[Any, Any], predicate: Predicate) -> tuple[Any, ...]:
    """The values of a dictionary by the names of the predicate's columns. BadNames if it has others, or too few."""
    known = predicate.attributes
    if unknown := [name for name in row if name not in known]:
        verb = "is no column" if len(unknown) == 1 else "are no columns"
        raise BadNames(f"{listed(map(str, unknown))} {verb} of {signature_of(predicate)}", 0, hint_for(map(str, unknown), known))
    if missing := [name for name in known if name not in row]:
        raise BadNames(f"there is no {listed(missing)}", 0)
    return tuple(row[name] for name in known)


def signature_of(predicate: Predicate) -> str:
    return f"{predicate.name}({', '.join(predicate.attributes)})"


def hint_for(unknown: Iterable[str], free: Sequence[str]) -> str:
    return next((hint for hint in (closest(name, free) for name in unknown) if hint), BY_POSITION)


def listed(names: Iterable[str]) -> str:
    *most, last = (name if name.isidentifier() else shown(name) for name in names)
    return f"{', '.join(most)} and {last}" if most else last
