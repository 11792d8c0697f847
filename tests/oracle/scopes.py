"""Whose the variables of an aggregate are.

Its own are those of its arguments that its body gives values, those that its result alone gives values outside, and those that occur
nowhere else. Of the others, `min` and `max` give values to those that have none outside: of the rows with the least or greatest
value. All that is left comes from outside.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tests.oracle.rules import Agg, Atom, Compare, Literal, Or, Term, Var, mentions, mentions_of


@dataclass(frozen=True, slots=True)
class Scope:
    """What is around a literal: the `names` that occur there outside of aggregates, those of them that have values there, and those
    that have one with the literal itself."""

    names: frozenset[str]
    bound: frozenset[str]
    closed: frozenset[str]

    def beside(self, others: tuple[Literal, ...], literal: tuple[Literal, ...] = ()) -> Scope:
        """Around a literal among others."""
        names = self.names.union(mentions_of((*others, *literal), False))
        return Scope(names, bound_by(others, self.bound), bound_by((*others, *literal), self.closed))

    def within(self, names: Iterable[str]) -> Scope:
        """Around the body of an aggregate."""
        return Scope(self.names.union(names), self.bound, self.bound)


def own_and_witnesses(term: Agg, scope: Scope) -> tuple[frozenset[str], tuple[str, ...]]:
    """The names of an aggregate's own variables, and those that it gives values to."""
    parts = (*term.arguments, *term.body)
    arguments = frozenset(mentions_of(term.arguments))
    given = bound_by(term.body, scope.bound - arguments)
    names = frozenset(mentions_of(parts))
    witnesses = frozenset[str]()
    if term.function in ("min", "max"):
        witnesses = given.intersection(mentions_of(parts, False)) & scope.names - scope.closed
    own = names - scope.names | arguments & given | names & (scope.closed - scope.bound)
    return own - witnesses, tuple(sorted(witnesses))


def bound_by(literals: tuple[Literal, ...], given: frozenset[str]) -> frozenset[str]:
    """`given`, and the variables to which the literals give values; an aggregate has one."""
    bound = given
    while True:
        more = bound.union(*(_binds(literal, bound) for literal in literals))
        if more == bound:
            return bound
        bound = more


def _binds(literal: Literal, bound: frozenset[str]) -> frozenset[str]:
    match literal:
        case Atom(_, terms):
            return _bare(terms)
        case Compare("=", left, right):
            return frozenset[str]().union(
                *(_bare((side,)) for side, other in ((left, right), (right, left)) if bound.issuperset(mentions(other, False)))
            )
        case Or(branches):
            return frozenset.intersection(*(bound_by(branch, bound) for branch in branches))
        case _:
            return frozenset()


def _bare(terms: tuple[Term, ...]) -> frozenset[str]:
    return frozenset(term.name for term in terms if isinstance(term, Var))
