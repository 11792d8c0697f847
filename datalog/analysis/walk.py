"""The atoms and terms of a syntax tree, in the order of the text."""

from __future__ import annotations

from collections.abc import Iterator

from datalog.syntax.tree import Atom, Comparison, Conjunction, Disjunction, Literal, Negation, Operation, Term, Truth, Variable


def atoms(literal: Literal) -> Iterator[Atom]:
    """Each atom in `literal`, at any depth."""
    for leaf in leaves(literal):
        if isinstance(leaf, Atom):
            yield leaf


def leaves(literal: Literal) -> Iterator[Atom | Comparison]:
    """Each atom and comparison in `literal`, at any depth."""
    match literal:
        case Atom() | Comparison():
            yield literal
        case Negation():
            yield from leaves(literal.body)
        case Conjunction():
            for inner in literal.literals:
                yield from leaves(inner)
        case Disjunction():
            for branch in literal.branches:
                yield from leaves(branch)
        case Truth():
            return


def terms(leaf: Atom | Comparison) -> tuple[Term, ...]:
    """The terms of an atom, or the two sides of a comparison."""
    return leaf.terms if isinstance(leaf, Atom) else (leaf.left, leaf.right)


def subterms(term: Term) -> Iterator[Term]:
    """The term and all terms in it, outermost first."""
    yield term
    if isinstance(term, Operation):
        for argument in term.arguments:
            yield from subterms(argument)


def variables(literal: Literal) -> Iterator[Variable]:
    """Each occurrence of a variable in `literal`, at any depth."""
    for leaf in leaves(literal):
        for term in terms(leaf):
            for inner in subterms(term):
                if isinstance(inner, Variable):
                    yield inner
