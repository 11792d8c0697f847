"""Which variables and which predicates a formula mentions, in the order of its text."""

from __future__ import annotations

from collections.abc import Iterator

from datalog.ir.formulas import Atom, Comparison, Conjunction, Disjunction, Literal, Negation, Operation, Term, Truth, Variable


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


def literal_names(literal: Literal) -> frozenset[str]:
    """The names of the variables in `literal`, at any depth."""
    return frozenset(variable.name for variable in literal_variables(literal))


def literal_atoms(literal: Literal, negated: bool = False) -> Iterator[tuple[Atom, bool]]:
    """Each atom in `literal`, and whether it stands under a negation (`negated`: the literal itself does)."""
    match literal:
        case Atom():
            yield literal, negated
        case Negation():
            yield from literal_atoms(literal.body, True)
        case Disjunction():
            for branch in literal.branches:
                yield from literal_atoms(branch, negated)
        case Conjunction():
            for inner in literal.literals:
                yield from literal_atoms(inner, negated)
        case Comparison() | Truth():
            return


def computes(literal: Literal) -> bool:
    """Whether an operation, which may have no result, occurs in `literal`."""
    match literal:
        case Atom():
            return any(isinstance(term, Operation) for term in literal.terms)
        case Comparison():
            return isinstance(literal.left, Operation) or isinstance(literal.right, Operation)
        case Truth():
            return False
        case Negation():
            return computes(literal.body)
        case Disjunction():
            return any(map(computes, literal.branches))
        case Conjunction():
            return any(map(computes, literal.literals))
