"""The atoms and terms of a syntax tree, in the order of the text. Of a desugared one: aggregates stand in `x = aggregate` only."""

from __future__ import annotations

from collections.abc import Iterator

from datalog.syntax.tree import Aggregate, Atom, Comparison, Conjunction, Disjunction, Literal, Negation, Operation, Term, Truth, Variable


def atoms(literal: Literal) -> Iterator[Atom]:
    """Each atom in `literal`, at any depth."""
    for leaf in leaves(literal):
        if isinstance(leaf, Atom):
            yield leaf


def leaves(literal: Literal) -> Iterator[Atom | Comparison]:
    """Each atom and comparison in `literal`, at any depth, also in an aggregate's body."""
    match literal:
        case Atom():
            yield literal
        case Comparison():
            yield literal
            if isinstance(literal.right, Aggregate):
                yield from leaves(literal.right.body)
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
    """The term and all terms in it, outermost first; of an aggregate its arguments."""
    yield term
    if isinstance(term, (Operation, Aggregate)):
        for argument in term.arguments:
            yield from subterms(argument)


def variables(literal: Literal) -> Iterator[Variable]:
    """Each occurrence of a variable in `literal`, at any depth."""
    for leaf in leaves(literal):
        for term in terms(leaf):
            for inner in subterms(term):
                if isinstance(inner, Variable):
                    yield inner
