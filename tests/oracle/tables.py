"""Relations, and the join of assignments with one.

An assignment is a row whose first column holds the reason why it is an error, or "", and whose other columns hold the values of
variables, `MISSING` for one whose computation has no result.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tests.oracle.rules import Atom, Blank, Const, Op, Row, Term, Value, Var, mentions
from tests.oracle.values import OracleArithmeticError, compute


class Missing:
    """The value of a variable whose computation has no result."""


MISSING: Any = Missing()
REASON = ""  # the name of the first column of every table: why the assignment is an error, or ""


class Tables:
    """The relations during an evaluation, with hash indexes on demand."""

    def __init__(self, rows: dict[str, set[Row]], skip: bool) -> None:
        self.rows = rows
        self.skip = skip  # whether a literal that has no value does not hold
        self._indexes: dict[str, dict[tuple[int, ...], dict[Row, list[Row]]]] = {}

    def matching(self, predicate: str, columns: tuple[int, ...]) -> dict[Row, list[Row]]:
        indexes = self._indexes.setdefault(predicate, {})
        if columns not in indexes:
            index: dict[Row, list[Row]] = {}
            for row in self.rows[predicate]:
                index.setdefault(tuple(row[column] for column in columns), []).append(row)
            indexes[columns] = index
        return indexes[columns]

    def add(self, predicate: str, rows: set[Row]) -> bool:
        new = rows - self.rows[predicate]
        if new:
            self.rows[predicate] |= new
            self._indexes.pop(predicate, None)
        return bool(new)


def value_of(term: Term, position: Mapping[str, int], row: Row) -> Value:
    match term:
        case Var(name):
            value = row[position[name]]
            if value is MISSING:
                raise OracleArithmeticError(row[0])
            return value
        case Const(value, _):
            return value
        case Op(name, arguments, type):
            return compute(name, [value_of(argument, position, row) for argument in arguments], type)
    raise AssertionError(f"no value: {term}")


def join(atom: Atom, tables: Tables, names: tuple[str, ...], rows: set[Row]) -> tuple[tuple[str, ...], set[Row]]:
    position = {name: place for place, name in enumerate(names)}
    keys: list[tuple[int, Term]] = []
    fresh: dict[str, int] = {}
    late: list[tuple[int, Term]] = []  # what only the atom's own fresh variables decide
    for column, term in enumerate(atom.terms):
        if isinstance(term, Blank):
            continue
        if all(name in position for name in mentions(term)):
            keys.append((column, term))
        elif isinstance(term, Var) and term.name not in fresh:
            fresh[term.name] = column
        else:
            late.append((column, term))
    all_names = (*names, *fresh)
    all_position = {name: place for place, name in enumerate(all_names)}
    index = tables.matching(atom.predicate, tuple(column for column, _ in keys))
    result: set[Row] = set()
    for row in rows:
        try:
            found = index.get(tuple(value_of(term, position, row) for _, term in keys), ())
        except OracleArithmeticError as error:
            result.update(
                _join_what_has_values(atom, tables, keys, list(fresh.values()), late, position, all_position, (str(error), *row[1:]))
            )
            continue
        for match in found:
            extended = (*row, *(match[column] for column in fresh.values()))
            try:
                if all(value_of(term, all_position, extended) == match[column] for column, term in late):
                    result.add(extended)
            except OracleArithmeticError as error:
                result.add((str(error), *extended[1:]))
    return all_names, result


def _join_what_has_values(
    atom: Atom,
    tables: Tables,
    keys: list[tuple[int, Term]],
    fresh: list[int],
    late: list[tuple[int, Term]],
    position: Mapping[str, int],
    all_position: Mapping[str, int],
    row: Row,
) -> Iterator[Row]:
    """The join of an assignment in which some computation has no value: terms without a value match anything, and a variable
    without one takes the value that it meets."""
    judged, missing = [], {}
    for column, term in keys:
        try:
            judged.append((column, value_of(term, position, row)))
        except OracleArithmeticError:
            if isinstance(term, Var):
                missing[position[term.name]] = column
    for match in tables.matching(atom.predicate, tuple(column for column, _ in judged)).get(tuple(value for _, value in judged), ()):
        met = tuple(match[missing[place]] if place in missing else value for place, value in enumerate(row))
        extended = (*met, *(match[column] for column in fresh))
        if all(_may_equal(term, all_position, extended, match[column]) for column, term in late):
            yield extended


def _may_equal(term: Term, position: Mapping[str, int], row: Row, value: Value) -> bool:
    try:
        return value_of(term, position, row) == value
    except OracleArithmeticError:
        return True
