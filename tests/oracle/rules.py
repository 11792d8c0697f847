"""The oracle's own picture of a program: plain values, nothing of it shared with the engine.

A variable's type stands nowhere; operations carry the type of their result, constants the type that they are written in. Types are
named as programs name them: number, unsigned, float, symbol, bool, date, datetime, decimal(2).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

Value = int | float | str | bool | date | Decimal  # a datetime is a date, too, for Python
Row = tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Var:
    name: str


@dataclass(frozen=True, slots=True)
class Const:
    value: Value
    type: str


@dataclass(frozen=True, slots=True)
class Blank:
    """The wildcard `_`."""


@dataclass(frozen=True, slots=True)
class Op:
    """An operator or a functor; `type` is that of the result. The minus before a term is `-` with one argument."""

    name: str
    arguments: tuple[Term, ...]
    type: str


@dataclass(frozen=True, slots=True)
class Application:
    """`F[x, y]`: the value of a functional predicate."""

    predicate: str
    keys: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Agg:
    """`function arguments : { body }`, with a result of `type`. A `parameter` is written behind the arguments; of
    one of the user's own, `@@f`, it is the initial value.

    Its groups are the values of those of its variables that come from outside (`tests.oracle.scopes`).
    """

    function: str
    arguments: tuple[Term, ...]
    body: tuple[Literal, ...]
    type: str
    parameter: Const | None = None


Term = Var | Const | Blank | Op | Application | Agg


@dataclass(frozen=True, slots=True)
class Atom:
    """`p(x, y)`, or `F[x] = y` with `bracketed`, which is another way to write it and means the same."""

    predicate: str
    terms: tuple[Term, ...]
    bracketed: bool = False


@dataclass(frozen=True, slots=True)
class Compare:
    operator: str
    left: Term
    right: Term


@dataclass(frozen=True, slots=True)
class Test:
    """A term of type bool that has to be true, such as `contains("a", x)`."""

    __test__ = False  # no class of tests, whatever its name

    term: Op


@dataclass(frozen=True, slots=True)
class Not:
    body: tuple[Literal, ...]


@dataclass(frozen=True, slots=True)
class Or:
    branches: tuple[tuple[Literal, ...], ...]


@dataclass(frozen=True, slots=True)
class Total:
    """`result = function(arguments)` within `agg<<…>>`, or of an aggregate of its own."""

    result: Var
    function: str
    arguments: tuple[Term, ...]
    type: str
    parameter: Const | None = None


@dataclass(frozen=True, slots=True)
class Fold:
    """What aggregates become when rules are flattened (`tests.oracle.flatten`). A `grouping` one gives its groups their values.

    `witnesses` get values from the rows that attain the extremum: each name with that in the body."""

    totals: tuple[Total, ...]
    body: tuple[Literal, ...]
    groups: tuple[str, ...]
    grouping: bool
    witnesses: tuple[tuple[str, str], ...] = ()


Literal = Atom | Compare | Test | Not | Or | Fold


@dataclass(frozen=True, slots=True)
class Rule:
    """`heads :- body`, or with `totals` `heads <- agg<<totals>> body`."""

    heads: tuple[Atom, ...]
    body: tuple[Literal, ...]
    totals: tuple[Total, ...] = ()


@dataclass(frozen=True, slots=True)
class Program:
    """`types` gives every predicate's column types; the last column of a `functional` one is its value."""

    types: dict[str, tuple[str, ...]]
    rules: tuple[Rule, ...]
    functional: frozenset[str] = frozenset()


def mentions(part: Term | Literal, inside: bool = True) -> Iterator[str]:
    """The names of all variable occurrences in `part`, with repetitions; those in aggregates only where `inside` asks for them."""
    match part:
        case Var(name):
            yield name
        case Op(_, terms, _) | Atom(_, terms, _) | Application(_, terms):
            for term in terms:
                yield from mentions(term, inside)
        case Agg() if inside:
            yield from mentions_of((*part.arguments, *part.body))
        case Compare(_, left, right):
            yield from mentions(left, inside)
            yield from mentions(right, inside)
        case Test(term):
            yield from mentions(term, inside)
        case Not(body):
            yield from mentions_of(body, inside)
        case Or(branches):
            for branch in branches:
                yield from mentions_of(branch, inside)
        case Fold():
            yield from part.groups
            yield from (total.result.name for total in part.totals)
            yield from (name for name, _ in part.witnesses)


def mentions_of(parts: tuple[Term | Literal, ...], inside: bool = True) -> Iterator[str]:
    for part in parts:
        yield from mentions(part, inside)


def computes(part: Term | Literal) -> bool:
    """Whether an operation or an aggregate, which may have no result, occurs in `part`."""
    match part:
        case Op() | Agg() | Fold() | Test():
            return True
        case Atom(_, terms, _) | Application(_, terms):
            return any(computes(term) for term in terms)
        case Compare(_, left, right):
            return computes(left) or computes(right)
        case Not(body):
            return any(computes(literal) for literal in body)
        case Or(branches):
            return any(computes(literal) for branch in branches for literal in branch)
    return False


def reads(body: tuple[Literal, ...], strict: bool = False) -> Iterator[tuple[str, bool]]:
    """The predicates that the flat `body` reads, each with whether it must be complete before: under a negation or an aggregate."""
    for literal in body:
        match literal:
            case Atom(predicate, _):
                yield predicate, strict
            case Not(inner) | Fold(body=inner):
                yield from reads(inner, True)
            case Or(branches):
                for branch in branches:
                    yield from reads(branch, strict)
