"""The atoms and terms of a syntax tree, in the order of the text. Of a desugared one: aggregates stand in `x = aggregate` only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from datalog.syntax.tree import (
    Aggregate,
    Atom,
    Branch,
    Cast,
    Comparison,
    Conjunction,
    Disjunction,
    Literal,
    Negation,
    Operation,
    Record,
    Term,
    Truth,
    Variable,
    Wildcard,
)


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


def with_terms(leaf: Atom | Comparison, new: Sequence[Term]) -> Atom | Comparison:
    """The atom or comparison with as many other terms."""
    return replace(leaf, terms=tuple(new)) if isinstance(leaf, Atom) else replace(leaf, left=new[0], right=new[1])


def operands(term: Term) -> tuple[Term, ...]:
    """The terms that a term is made of; of an aggregate its arguments."""
    match term:
        case Operation() | Aggregate() | Branch():
            return term.arguments
        case Record():
            return term.fields
        case Cast():
            return (term.term,)
        case _:
            return ()


def with_operands(term: Term, new: Sequence[Term]) -> Term:
    """The term, made of as many others."""
    match term:
        case Operation() | Aggregate() | Branch():
            return replace(term, arguments=tuple(new))
        case Record():
            return replace(term, fields=tuple(new))
        case Cast():
            return replace(term, term=new[0])
        case _:
            return term


def subterms(term: Term) -> Iterator[Term]:
    """The term and all terms in it, outermost first; of an aggregate its arguments."""
    yield term
    for inner in operands(term):
        yield from subterms(inner)


def is_pattern(term: Term) -> bool:
    """Whether a term is a record or a branch with something to bind or to leave open in it."""
    return isinstance(term, Record | Branch) and any(isinstance(part, Variable | Wildcard) or is_pattern(part) for part in operands(term))


def variables(literal: Literal) -> Iterator[Variable]:
    """Each occurrence of a variable in `literal`, at any depth."""
    for leaf in leaves(literal):
        for term in terms(leaf):
            yield from variables_in(term)


def variables_in(term: Term) -> Iterator[Variable]:
    """Each occurrence of a variable in `term`; of an aggregate in its arguments."""
    return (inner for inner in subterms(term) if isinstance(inner, Variable))
