"""The oracle's own picture of a program: plain values, nothing of it shared with the engine.

A variable's type stands nowhere; operations carry the type that they compute in, constants the type that they are written in.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

Value = int | float | str
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
    """`name` is one of + - * / % with two arguments, or - with one; `type` is number, unsigned or float."""

    name: str
    arguments: tuple[Term, ...]
    type: str


Term = Var | Const | Blank | Op


@dataclass(frozen=True, slots=True)
class Atom:
    predicate: str
    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Compare:
    operator: str
    left: Term
    right: Term


@dataclass(frozen=True, slots=True)
class Not:
    body: tuple[Literal, ...]


@dataclass(frozen=True, slots=True)
class Or:
    branches: tuple[tuple[Literal, ...], ...]


Literal = Atom | Compare | Not | Or


@dataclass(frozen=True, slots=True)
class Rule:
    heads: tuple[Atom, ...]
    body: tuple[Literal, ...]


@dataclass(frozen=True, slots=True)
class Program:
    """`types` gives every predicate's column types: number, unsigned, float, symbol."""

    types: dict[str, tuple[str, ...]]
    rules: tuple[Rule, ...]


def mentions(part: Term | Literal) -> Iterator[str]:
    """The names of all variable occurrences in `part`, with repetitions."""
    match part:
        case Var(name):
            yield name
        case Op(_, terms, _) | Atom(_, terms):
            for term in terms:
                yield from mentions(term)
        case Compare(_, left, right):
            yield from mentions(left)
            yield from mentions(right)
        case Not(body):
            for literal in body:
                yield from mentions(literal)
        case Or(branches):
            for branch in branches:
                for literal in branch:
                    yield from mentions(literal)


def computes(part: Term | Literal) -> bool:
    """Whether an operation, which may have no result, occurs in `part`."""
    match part:
        case Op():
            return True
        case Atom(_, terms):
            return any(computes(term) for term in terms)
        case Compare(_, left, right):
            return computes(left) or computes(right)
        case Not(body):
            return any(computes(literal) for literal in body)
        case Or(branches):
            return any(computes(literal) for branch in branches for literal in branch)
    return False


def reads(body: tuple[Literal, ...], negated: bool = False) -> Iterator[tuple[str, bool]]:
    """The predicates that `body` reads, each with whether it stands under a negation."""
    for literal in body:
        match literal:
            case Atom(predicate, _):
                yield predicate, negated
            case Not(inner):
                yield from reads(inner, True)
            case Or(branches):
                for branch in branches:
                    yield from reads(branch, negated)
