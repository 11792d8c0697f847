"""Programs whose rounds matter: choice domains, subsumption, `debug_delta`, `.limitsize` and `recursive_iteration_cnt()`, naively.

The predicates that depend on each other are evaluated together, in rounds. A round takes what rules derive with the help of a row that
the round before brought (the first round: without any row of theirs). It comes in row by row in the order of values, but not where a
key is taken. Then all new rows leave that another row dominates, and after that all older rows that are dominated by what is left or
because of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from typing import Any

from tests.oracle.naive import _derive, alternatives
from tests.oracle.rules import Atom, Compare, Const, Literal, Op, Program, Row, reads
from tests.oracle.tables import Tables
from tests.oracle.text import Style, _Writer, to_text

COUNTER = Op("recursive_iteration_cnt", (), "unsigned")


class EndlessError(Exception):
    """There are more rounds than there may be."""


@dataclass(frozen=True, slots=True)
class Subsumption:
    less: Atom
    greater: Atom
    body: tuple[Literal, ...]


@dataclass(frozen=True, slots=True)
class Guarded:
    """A program with keys of choice domains, subsumptions, limits of sizes, and predicates of `debug_delta` by their names."""

    program: Program
    choices: Mapping[str, tuple[tuple[int, ...], ...]] = field(default_factory=dict)
    subsumptions: tuple[Subsumption, ...] = ()
    limits: Mapping[str, int] = field(default_factory=dict)
    deltas: Mapping[str, str] = field(default_factory=dict)

    def text(self) -> str:
        writer = _Writer(Style())
        lines = []
        for line in to_text(self.program).splitlines():
            name = line.removeprefix(".decl ").partition("(")[0]
            if line.startswith(".decl ") and name in self.deltas:
                line = f".decl {name} = debug_delta({self.deltas[name]})"
            elif line.startswith(".decl ") and name in self.choices:
                keys = (f"({', '.join('abcdefgh'[column] for column in key)})" for key in self.choices[name])
                line = f"{line} choice-domain {', '.join(keys)}"
            lines.append(line)
        for one in self.subsumptions:
            body = writer.body(one.body) if one.body else "true"
            lines.append(f"{writer.literal(one.less)} <= {writer.literal(one.greater)} :- {body}.")
        lines += [f".limitsize {name}(n={limit})" for name, limit in self.limits.items()]
        return "\n".join(lines) + "\n"


def evaluate(guarded: Guarded, facts: Mapping[str, Set[Row]], rounds: int) -> dict[str, set[Row]]:
    """All relations on the facts. Raises EndlessError where something takes more than so many rounds."""
    tables = Tables({name: set() for name in guarded.program.types}, False)
    for group in _groups(guarded):
        _Group(guarded, group, facts, tables).run(rounds)
    return tables.rows


def _groups(guarded: Guarded) -> Iterator[frozenset[str]]:
    """The predicates that depend on each other, those on which others depend first."""
    following: dict[str, set[str]] = {name: set() for name in guarded.program.types}
    for rule in guarded.program.rules:
        for head in rule.heads:
            following[head.predicate].update(name for name, _ in reads(rule.body))
    for one in _busy(guarded):
        following[one.less.predicate].update(name for name, _ in reads(one.body))
    for name, whose in guarded.deltas.items():
        following[name].add(whose)
        following[whose].add(name)
    reached = {name: {name} for name in following}
    growing = True
    while growing:
        growing = False
        for own in reached.values():
            more = set().union(*(following[other] for other in own)) - own
            own |= more
            growing |= bool(more)
    groups = {frozenset(other for other in own if name in reached[other]) for name, own in reached.items()}
    return iter(sorted(groups, key=lambda group: len(reached[min(group)])))


def _busy(guarded: Guarded) -> Iterator[Subsumption]:
    """The subsumptions that can hold: no row subsumes itself."""
    return (one for one in guarded.subsumptions if one.less != one.greater)


class _Group:
    """The predicates of one group while they are evaluated."""

    def __init__(self, guarded: Guarded, group: frozenset[str], facts: Mapping[str, Set[Row]], tables: Tables) -> None:
        self.guarded, self.group, self.facts, self.tables = guarded, group, facts, tables
        self.rules = [(head, rule.body) for rule in guarded.program.rules for head in rule.heads if head.predicate in group]

    def run(self, rounds: int) -> None:
        found: dict[str, set[Row]] = {name: set(self.facts.get(name, ())) for name in self.group}
        for head, body in self.rules:
            if not any(name in self.group for name, _ in reads(body)):
                found[head.predicate] |= self._derived(head, _counted(body, 0))
        number = 0
        while True:
            new = self._round(found, number)
            if not any(new.values()) or any(len(self.tables.rows[name]) >= limit for name, limit in self._limits().items()):
                return
            number += 1
            if number > rounds:
                raise EndlessError
            found = {name: set() for name in self.group}
            for head, body in self.rules:
                for fresh in self._with_new(_counted(body, number), new):
                    found[head.predicate] |= self._derived(head, fresh)

    def _limits(self) -> dict[str, int]:
        """A size ends a recursion only."""
        recursive = any(name in self.group for _, body in self.rules for name, _ in reads(body))
        return {name: limit for name, limit in self.guarded.limits.items() if recursive and name in self.group}

    def _derived(self, head: Atom, body: tuple[Literal, ...]) -> set[Row]:
        return {row for flat in alternatives(body) for row in _derive(head, flat, self.tables)}

    def _with_new(self, body: tuple[Literal, ...], new: Mapping[str, set[Row]]) -> Iterator[tuple[Literal, ...]]:
        """The body with one atom of the group, each in turn, that takes only rows of `new`."""
        for place, literal in enumerate(body):
            if isinstance(literal, Atom) and literal.predicate in self.group:
                name = f"new {literal.predicate}"
                self.tables.rows[name] = set()
                self.tables.add(name, new[literal.predicate])
                self.tables._indexes.pop(name, None)
                yield (*body[:place], replace(literal, predicate=name), *body[place + 1 :])
                del self.tables.rows[name]

    def _round(self, found: Mapping[str, set[Row]], number: int) -> dict[str, set[Row]]:
        new: dict[str, set[Row]] = {name: set() for name in self.group}
        for name, rows in found.items():
            for row in sorted(rows - self.tables.rows[name]):
                if self._is_free(name, row):
                    new[name].add(row)
                    self.tables.add(name, {row})
        for name, rows in self._dominated(new, lambda name, row: row in new[name]).items():
            self._remove(name, rows)
            new[name] -= rows
        for name, rows in self._dominated(new, lambda name, row: True).items():
            assert not rows & new[name]
            self._remove(name, rows)
        for name, whose in self.guarded.deltas.items():
            if whose in self.group:
                new[name] |= {(*row, number) for row in new[whose]}
                self.tables.add(name, new[name])
        return new

    def _is_free(self, name: str, row: Row) -> bool:
        return not any(
            all(row[column] == other[column] for column in key)
            for key in self.guarded.choices.get(name, ())
            for other in self.tables.rows[name]
        )

    def _dominated(self, new: Mapping[str, set[Row]], wanted: Any) -> dict[str, set[Row]]:
        """The rows that are dominated now, of those that are wanted."""
        found: dict[str, set[Row]] = {}
        for one in _busy(self.guarded):
            name = one.less.predicate
            if name not in self.group:
                continue
            for body in alternatives(one.body):
                both = Atom(f"{name}!", (*one.less.terms, *one.greater.terms))
                for pair in _derive(both, (one.less, one.greater, *body), self.tables):
                    less, greater = pair[: len(pair) // 2], pair[len(pair) // 2 :]
                    if less != greater and wanted(name, less):
                        found.setdefault(name, set()).add(less)
        return found

    def _remove(self, name: str, rows: set[Row]) -> None:
        self.tables.rows[name] -= rows
        self.tables._indexes.pop(name, None)


def _counted(body: tuple[Literal, ...], number: int) -> tuple[Literal, ...]:
    """The body with the round's number."""

    def literal(one: Literal) -> Literal:
        if isinstance(one, Compare) and one.right == COUNTER:
            return replace(one, right=Const(number, "unsigned"))
        return one

    return tuple(map(literal, body))
