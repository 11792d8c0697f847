"""Formulas with other terms for their variables. Blocks of quantifiers are dropped: `datalog.analysis.quantify` places them anew."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from datalog.ir.formulas import (
    Aggregation,
    Atom,
    Comparison,
    Conjunction,
    Disjunction,
    Literal,
    Negation,
    Operation,
    Term,
    Truth,
    Variable,
    Wildcard,
)
from datalog.syntax.tree import Span


def fresh_name(name: str, taken: set[str]) -> str:
    """`name` with as many primes as make it none of those `taken`, which it joins."""
    while name in taken:
        name += "'"
    taken.add(name)
    return name


def with_named_wildcards(atom: Atom, taken: set[str]) -> Atom:
    """The atom with variables for its wildcards: each row counts. Their names join those `taken`."""
    terms = (
        Variable(fresh_name(f"_{at}", taken), term.type, term.span) if isinstance(term, Wildcard) else term
        for at, term in enumerate(atom.terms, 1)
    )
    return replace(atom, terms=tuple(terms))


def written_name(name: str) -> str:
    """The name that the author of a program gave a variable, which may have got primes since."""
    return name.lstrip("@").rstrip("'")


def uncounted(name: str) -> str:
    """The name of a variable in the body of an aggregate whose values do not count as rows."""
    return name if is_uncounted(name) else f"@{name}"


def is_uncounted(name: str) -> bool:
    """Whether it is such a name."""
    return name.startswith("@")


def rename_conjunction(conjunction: Conjunction, renaming: Mapping[str, str]) -> Conjunction:
    """The conj with the new names for the variables that have one."""
    return _renaming(renaming).conjunction(conjunction)


def rename_literal(literal: Literal, renaming: Mapping[str, str]) -> Literal:
    """The literal with the new names."""
    return _renaming(renaming).literal(literal)


def rename_term(term: Term, renaming: Mapping[str, str]) -> Term:
    """The term with the new names."""
    return _renaming(renaming).term(term)


def _renaming(names: Mapping[str, str]) -> Substitution:
    return Substitution(lambda variable: replace(variable, name=names.get(variable.name, variable.name)))


@dataclass(frozen=True, slots=True)
class Substitution:
    """`variable` gives what stands in the place of each variable; with `span`, everything is said to stand there."""

    variable: Callable[[Variable], Term]
    span: Span | None = None

    def conjunction(self, conjunction: Conjunction) -> Conjunction:
        """The conj with the other terms."""
        return Conjunction((), tuple(map(self.literal, conjunction.literals)), self.span or conjunction.span)

    def literal(self, literal: Literal) -> Literal:
        """The literal with the other terms."""
        span = self.span or literal.span
        match literal:
            case Atom():
                return replace(literal, terms=tuple(map(self.term, literal.terms)), span=span)
            case Comparison():
                return replace(literal, left=self.term(literal.left), right=self.term(literal.right), span=span)
            case Negation():
                return replace(literal, body=self.conjunction(literal.body), span=span)
            case Disjunction():
                return replace(literal, branches=tuple(map(self.conjunction, literal.branches)), span=span)
            case Conjunction():
                return self.conjunction(literal)
            case Aggregation():
                result = self.term(literal.result)
                assert isinstance(result, Variable), "what is computed has a name"
                arguments = tuple(map(self.term, literal.arguments))
                return replace(literal, result=result, arguments=arguments, body=self.conjunction(literal.body), span=span)
            case Truth():
                return replace(literal, span=span)

    def term(self, term: Term) -> Term:
        """The term with the other terms in it."""
        match term:
            case Variable():
                found = self.variable(term)
                return replace(found, span=self.span or term.span)
            case Operation():
                return replace(term, arguments=tuple(map(self.term, term.arguments)), span=self.span or term.span)
            case _:
                return replace(term, span=self.span) if self.span else term
