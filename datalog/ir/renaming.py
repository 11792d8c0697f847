"""Formulas with other names for their variables. Blocks of quantifiers are dropped: `datalog.analysis.quantify` places them anew."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from datalog.ir.formulas import Aggregation, Atom, Comparison, Conjunction, Disjunction, Literal, Negation, Operation, Term, Truth, Variable


def fresh_name(name: str, taken: set[str]) -> str:
    """`name` with as many primes as make it none of those `taken`, which it joins."""
    while name in taken:
        name += "'"
    taken.add(name)
    return name


def written_name(name: str) -> str:
    """The name that the author of a program gave a variable, which may have got primes since."""
    return name.rstrip("'")


def rename_conjunction(conjunction: Conjunction, renaming: Mapping[str, str]) -> Conjunction:
    """The conj with the new names for the variables that have one."""
    return Conjunction((), tuple(rename_literal(literal, renaming) for literal in conjunction.literals), conjunction.span)


def rename_literal(literal: Literal, renaming: Mapping[str, str]) -> Literal:
    """The literal with the new names."""
    match literal:
        case Atom():
            return replace(literal, terms=tuple(rename_term(term, renaming) for term in literal.terms))
        case Comparison():
            return replace(literal, left=rename_term(literal.left, renaming), right=rename_term(literal.right, renaming))
        case Negation():
            return replace(literal, body=rename_conjunction(literal.body, renaming))
        case Disjunction():
            return replace(literal, branches=tuple(rename_conjunction(branch, renaming) for branch in literal.branches))
        case Conjunction():
            return rename_conjunction(literal, renaming)
        case Aggregation():
            return replace(
                literal,
                result=replace(literal.result, name=renaming.get(literal.result.name, literal.result.name)),
                arguments=tuple(rename_term(term, renaming) for term in literal.arguments),
                body=rename_conjunction(literal.body, renaming),
            )
        case Truth():
            return literal


def rename_term(term: Term, renaming: Mapping[str, str]) -> Term:
    """The term with the new names."""
    match term:
        case Variable():
            return replace(term, name=renaming.get(term.name, term.name))
        case Operation():
            return replace(term, arguments=tuple(rename_term(argument, renaming) for argument in term.arguments))
        case _:
            return term
