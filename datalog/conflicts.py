"""The facts that a program starts with: a functional predicate that has two values for a key is told where they stand.

The engine would find them, too (`datalog.maintain.functional`), but it sees rows only, and not the text and the files that
they came from. To say where they stand, the files are read once more.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from datalog.errors import DataError, Diagnostic, MissingFile, ProgramError
from datalog.io.facts import read_facts
from datalog.io.layout import place_of
from datalog.io.literals import spell
from datalog.ir.core import BASE, CoreProgram, Predicate
from datalog.ir.formulas import Constant, Program
from datalog.store.values import Values

Words = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Start:
    """What a program starts with: its text in both forms, and the directory of its fact files, if it reads any."""

    program: Program
    core: CoreProgram
    directory: Path | None


def refuse_conflicts(start: Start, facts: Mapping[str, Words], values: Values) -> None:
    """Raise ProgramError or DataError if a key has two values in `facts`, sorted distinct rows by the predicates that store them."""
    for name, rows in facts.items():
        predicate = start.core.predicates[name]
        crowded = np.flatnonzero(np.all(rows[1:, :-1] == rows[:-1, :-1], axis=1)) if predicate.functional else ()
        if len(crowded):
            first = values.sort_by_value(rows[crowded], predicate.types)[0]
            pair = values.sort_by_value(rows[np.all(rows[:, :-1] == first[:-1], axis=1)], predicate.types)[:2]
            _refuse(start, start.core.predicates[name.removesuffix(BASE)], pair, values)


def _refuse(start: Start, predicate: Predicate, pair: Words, values: Values) -> NoReturn:
    rows = values.decode_rows(pair, predicate.types)
    keys = ", ".join(spell(*cell) for cell in zip(rows[0][:-1], predicate.types, strict=False))
    one, other = (spell(row[-1], predicate.types[-1]) for row in rows)
    facts = [atom for atom in start.program.facts if atom.predicate == predicate.name]
    stated = {tuple(term.value for term in atom.terms if isinstance(term, Constant)): atom.span for atom in facts}
    if all(row in stated for row in rows):
        earlier, later = sorted((stated[row] for row in rows), key=lambda span: span.start)
        messages = {later: f"{predicate.name}[{keys}] has two values, {one} and {other}", earlier: "the other value is given here"}
        raise ProgramError([Diagnostic(text, at.file, at.line, at.column, length=at.end - at.start) for at, text in messages.items()])
    places = _in_files(start, predicate, pair, values)
    for row, codes in zip(rows, map(tuple, pair.tolist()), strict=True):
        if row in stated:
            places.setdefault(codes, f"{stated[row].file}, line {stated[row].line}")
    first, second = (places.get(codes, "given before") for codes in map(tuple, pair.tolist()))
    message = f"{predicate.name}[{keys}] has two values, {one} ({first}) and {other} ({second})"
    raise DataError([Diagnostic(message, f"<rows of {predicate.name}>", 0, 0)])


def _in_files(start: Start, predicate: Predicate, pair: Words, values: Values) -> dict[tuple[int, ...], str]:
    """In which file, and as which of its rows, the rows stand that stand in one; not as which, where rows of it have been rejected."""
    found: dict[tuple[int, ...], str] = {}
    for directive in start.core.directives if start.directory is not None else ():
        if directive.kind == "input" and predicate.name in directive.predicates:
            assert start.directory is not None
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the first reading has told of them
                try:
                    codes = read_facts(directive, predicate, start.directory, values)
                except MissingFile:
                    continue
            place = place_of(directive)
            file = start.directory / place.file(predicate.name, "input")
            for row in pair:
                places = np.flatnonzero(np.all(codes == row, axis=1))
                if len(places):
                    found.setdefault(tuple(row.tolist()), str(file) if place.rejects else f"{file}, row {places[0] + 1}")
    return found
