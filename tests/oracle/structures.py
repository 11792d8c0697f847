"""Records and branches, evaluated naively: every rule is tried on every combination of rows, and patterns are matched by hand.

`nil` is None, a record is a tuple of Python's, and a branch a tuple whose first part is its name behind a `$`. A term is a value, a
`Var`, the `Blank`, or a `Made` of terms. Positive atoms bind variables, and so does an equality, in either direction, as soon as one of
its sides is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Any

from tests.oracle.rules import Blank, Var


@dataclass(frozen=True, slots=True)
class Made:
    """`[x, y]`, or with a name `$Name(x, y)`."""

    name: str
    parts: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Holds:
    """`p(x, y)`, or `!p(x, y)`."""

    predicate: str
    terms: tuple[Any, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Equal:
    """`left = right`, or `left != right`."""

    left: Any
    right: Any
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Clause:
    head: Holds
    body: tuple[Holds | Equal, ...]


Bound = dict[str, Any]
Rows = Mapping[str, Set[tuple[Any, ...]]]


def evaluate(clauses: list[list[Clause]], facts: Rows) -> dict[str, set[tuple[Any, ...]]]:
    """All rows of all predicates; the lists of clauses are strata, the first ones first."""
    known = {name: set(rows) for name, rows in facts.items()}
    for stratum in clauses:
        for clause in stratum:
            known.setdefault(clause.head.predicate, set())
        grown = True
        while grown:
            found = [(clause.head.predicate, row) for clause in stratum for row in derive(clause, known)]
            grown = any(row not in known[name] for name, row in found)
            for name, row in found:
                known[name].add(row)
    return known


def derive(clause: Clause, known: Rows) -> Iterator[tuple[Any, ...]]:
    """The rows of the head."""
    for bound in solutions(list(clause.body), {}, known):
        yield tuple(value_of(term, bound) for term in clause.head.terms)


def solutions(body: list[Holds | Equal], bound: Bound, known: Rows) -> Iterator[Bound]:
    """Every way to bind the variables so that all literals hold."""
    if not body:
        yield bound
        return
    literal = next(literal for literal in body if is_ready(literal, bound))
    rest = [other for other in body if other is not literal]
    for more in step(literal, bound, known):
        yield from solutions(rest, more, known)


def is_ready(literal: Holds | Equal, bound: Bound) -> bool:
    """Whether nothing that a literal needs is still to be bound."""
    if isinstance(literal, Holds):
        return not literal.negated or all(is_known(term, bound, blank=True) for term in literal.terms)
    sides = [is_known(side, bound) for side in (literal.left, literal.right)]
    return all(sides) if literal.negated else any(sides)


def step(literal: Holds | Equal, bound: Bound, known: Rows) -> Iterator[Bound]:
    """What one literal makes of a binding."""
    if isinstance(literal, Equal):
        if literal.negated:
            if value_of(literal.left, bound) != value_of(literal.right, bound):
                yield bound
            return
        pattern, value = (literal.right, literal.left) if is_known(literal.left, bound) else (literal.left, literal.right)
        found = match(pattern, value_of(value, bound), bound)
        if found is not None:
            yield found
        return
    matches = (match(Made("", literal.terms), row, bound) for row in known[literal.predicate])
    if not literal.negated:
        yield from (found for found in matches if found is not None)
    elif all(found is None for found in matches):
        yield bound


def is_known(term: Any, bound: Bound, blank: bool = False) -> bool:
    """Whether a term has a value; with `blank`, also if `_` stands in it."""
    match term:
        case Var(name):
            return name in bound
        case Blank():
            return blank
        case Made(_, parts):
            return all(is_known(part, bound, blank) for part in parts)
        case _:
            return True


def value_of(term: Any, bound: Bound) -> Any:
    """The value of a term all of whose variables are bound."""
    match term:
        case Var(name):
            return bound[name]
        case Made(name, parts):
            made = tuple(value_of(part, bound) for part in parts)
            return (f"${name}", *made) if name else made
        case _:
            return term


def match(term: Any, value: Any, bound: Bound) -> Bound | None:
    """The bindings under which a term is a value; None if there are none."""
    if isinstance(term, Blank):
        return bound
    if isinstance(term, Var):
        if term.name in bound:
            return bound if bound[term.name] == value else None
        return {**bound, term.name: value}
    if not isinstance(term, Made):
        return bound if term == value else None
    parts = (f"${term.name}", *term.parts) if term.name else term.parts
    if not isinstance(value, tuple) or len(value) != len(parts):
        return None
    found: Bound | None = bound
    for part, inner in zip(parts, value, strict=True):
        found = match(part, inner, found) if found is not None else None
    return found


def text(term: Any) -> str:
    """A term or a value in the program's notation."""
    match term:
        case Var(name):
            return name
        case Blank():
            return "_"
        case None:
            return "nil"
        case Made(name, parts):
            inner = ", ".join(map(text, parts))
            return f"[{inner}]" if not name else f"${name}({inner})"
        case tuple() if term and isinstance(term[0], str) and term[0].startswith("$"):
            return f"{term[0]}({', '.join(map(text, term[1:]))})"
        case tuple():
            return f"[{', '.join(map(text, term))}]"
        case str():
            return f'"{term}"'
        case _:
            return str(term)


def literal_text(literal: Holds | Equal) -> str:
    if isinstance(literal, Equal):
        return f"{text(literal.left)} {'!=' if literal.negated else '='} {text(literal.right)}"
    return f"{'!' if literal.negated else ''}{literal.predicate}({', '.join(map(text, literal.terms))})"


def clause_text(clause: Clause) -> str:
    return f"{literal_text(clause.head)} :- {', '.join(map(literal_text, clause.body))}."
