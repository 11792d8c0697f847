"""Which variables, predicates and literals a formula mentions, in the order of its text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal as OneOf

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
)
from datalog.ir.primitives import GENERATORS, always_has_value

Under = OneOf["", "negated", "aggregated"]
"""What an atom stands under; the outermost decides."""


def term_variables(term: Term) -> Iterator[Variable]:
    """Each occurrence of a variable in `term`."""
    if isinstance(term, Variable):
        yield term
    elif isinstance(term, Operation):
        for argument in term.arguments:
            yield from term_variables(argument)


def term_names(term: Term) -> frozenset[str]:
    """The names of the variables in `term`."""
    return frozenset(variable.name for variable in term_variables(term))


def flat(literals: Iterable[Literal]) -> Iterator[Literal]:
    """The literals, and in place of each conjunction among them what it holds."""
    for literal in literals:
        if isinstance(literal, Conjunction):
            yield from flat(literal.literals)
        else:
            yield literal


def literal_variables(literal: Literal) -> Iterator[Variable]:
    """Each occurrence of a variable in `literal`, at any depth."""
    match literal:
        case Atom():
            for term in literal.terms:
                yield from term_variables(term)
        case Comparison():
            yield from term_variables(literal.left)
            yield from term_variables(literal.right)
        case Truth():
            return
        case Negation():
            yield from literal_variables(literal.body)
        case Disjunction():
            for branch in literal.branches:
                yield from literal_variables(branch)
        case Conjunction():
            for inner in literal.literals:
                yield from literal_variables(inner)
        case Aggregation():
            yield literal.result
            for term in literal.arguments:
                yield from term_variables(term)
            yield from literal_variables(literal.body)


def literal_names(literal: Literal) -> frozenset[str]:
    """The names of the variables in `literal`, at any depth."""
    return frozenset(variable.name for variable in literal_variables(literal))


def names_in(literals: Iterable[Literal], terms: Iterable[Term]) -> frozenset[str]:
    """The names of the variables in any of them."""
    return frozenset[str]().union(*map(literal_names, literals), *map(term_names, terms))


def literal_atoms(literal: Literal, under: Under = "") -> Iterator[tuple[Atom, Under]]:
    """Each atom in `literal`, and whether it stands under a negation or in an aggregate (`under`: what the literal itself does)."""
    match literal:
        case Atom():
            yield literal, under
        case Negation():
            yield from literal_atoms(literal.body, under or "negated")
        case Disjunction():
            for branch in literal.branches:
                yield from literal_atoms(branch, under)
        case Conjunction():
            for inner in literal.literals:
                yield from literal_atoms(inner, under)
        case Aggregation():
            yield from literal_atoms(literal.body, under or "aggregated")
        case Comparison() | Truth():
            return


def aggregations(literal: Literal) -> Iterator[Aggregation]:
    """Each aggregation in `literal`, at any depth."""
    match literal:
        case Conjunction():
            for inner in literal.literals:
                yield from aggregations(inner)
        case Disjunction():
            for branch in literal.branches:
                yield from aggregations(branch)
        case Negation():
            yield from aggregations(literal.body)
        case Aggregation():
            yield literal
            yield from aggregations(literal.body)


def may_fail(literal: Literal) -> bool:
    """Whether an operation that may have no value occurs in `literal`."""
    match literal:
        case Atom():
            return any(map(term_may_fail, literal.terms))
        case Comparison():
            return term_may_fail(literal.left) or term_may_fail(literal.right)
        case Truth():
            return False
        case Negation():
            return may_fail(literal.body)
        case Disjunction():
            return any(map(may_fail, literal.branches))
        case Conjunction():
            return any(map(may_fail, literal.literals))
        case Aggregation():
            return any(map(term_may_fail, literal.arguments)) or may_fail(literal.body)


def term_may_fail(term: Term) -> bool:
    """Whether an operation that may have no value occurs in `term`."""
    if not isinstance(term, Operation):
        return False
    types = [argument.type for argument in term.arguments]
    return not always_has_value(term.name, types, term.type) or any(map(term_may_fail, term.arguments))


def is_of_one_atom(body: Iterable[Literal]) -> bool:
    """Whether the rows of an aggregate's body are those of its only atom, so that wildcards count: Soufflé's rule, to the letter."""
    body = tuple(flat(body))
    found = [literal for literal in body if isinstance(literal, Atom | Disjunction)]
    if len(found) != 1 or not isinstance(found[0], Atom) or any(any(aggregations(literal)) for literal in body):
        return False
    names = [variable.name for variable in literal_variables(found[0])]
    return len(set(names)) == len(names) and not any(map(_generates, body))


def _generates(literal: Literal) -> bool:
    return isinstance(literal, Comparison) and any(
        isinstance(side, Operation) and side.name in GENERATORS for side in (literal.left, literal.right)
    )
