"""Other terms for the variables of a tree, at any depth; what has none in it keeps its place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from datalog.syntax.tree import (
    Aggregate,
    Application,
    Atom,
    Branch,
    Cast,
    Comparison,
    Conjunction,
    Constant,
    Disjunction,
    Literal,
    Negation,
    Nil,
    Operation,
    Record,
    Term,
    Truth,
    Variable,
    Wildcard,
)


@dataclass(frozen=True, slots=True)
class Substitution:
    """`variable` gives what stands in the place of each variable."""

    variable: Callable[[Variable], Term]

    def conjunction(self, conjunction: Conjunction) -> Conjunction:
        """The conj with the other terms."""
        return replace(conjunction, literals=tuple(map(self.literal, conjunction.literals)))

    def literal(self, literal: Literal) -> Literal:
        """The literal with the other terms."""
        match literal:
            case Atom():
                return replace(literal, terms=self._terms(literal.terms))
            case Comparison():
                return replace(literal, left=self.term(literal.left), right=self.term(literal.right))
            case Negation():
                return replace(literal, body=self.conjunction(literal.body))
            case Disjunction():
                return replace(literal, branches=tuple(map(self.conjunction, literal.branches)))
            case Conjunction():
                return self.conjunction(literal)
            case Truth():
                return literal

    def term(self, term: Term) -> Term:
        """The term with the other terms in it."""
        match term:
            case Variable():
                return self.variable(term)
            case Operation() | Branch():
                return replace(term, arguments=self._terms(term.arguments))
            case Application():
                return replace(term, keys=self._terms(term.keys))
            case Record():
                return replace(term, fields=self._terms(term.fields))
            case Cast():
                return replace(term, term=self.term(term.term))
            case Aggregate():
                return self.aggregate(term)
            case Constant() | Nil() | Wildcard():
                return term

    def aggregate(self, aggregate: Aggregate) -> Aggregate:
        """The aggregate with the other terms in its arguments and in its body."""
        initial = None if aggregate.initial is None else self.term(aggregate.initial)
        return replace(aggregate, arguments=self._terms(aggregate.arguments), body=self.conjunction(aggregate.body), initial=initial)

    def _terms(self, terms: tuple[Term, ...]) -> tuple[Term, ...]:
        return tuple(map(self.term, terms))


def renaming(names: Mapping[str, str]) -> Substitution:
    """Other names for the variables that have one there."""
    return Substitution(lambda variable: replace(variable, name=names.get(variable.name, variable.name)))
