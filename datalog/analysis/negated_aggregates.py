"""A negated group with an aggregate becomes a disjunction, for of an aggregate without a result there is nothing to negate.

    p(x) :- a(x), !(x < min y : { e(y) }, x < 3)    becomes    p(x) :- a(x), (!(x < min y : { e(y) }) ; !(x < 3))

Without any e(y) the first branch does not hold, as `!(x < min y : { e(y) })` does not when it stands alone. So Soufflé has it, which
takes every group apart. Here only tests of aggregates leave theirs, and only if they share no variable with it that is its own:
`!(n = count : { e(y, x) }, n < 3)` says what n is, and stays whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from datalog.analysis.walk import operands, subterms, terms
from datalog.syntax.tree import (
    Aggregate,
    Application,
    Atom,
    Comparison,
    Conjunction,
    Disjunction,
    Literal,
    Negation,
    Rule,
    Span,
    Term,
    Truth,
    Variable,
)


def negate_aggregates_apart(rule: Rule) -> Rule:
    """The rule with each test of an aggregate negated by itself."""
    if not any(map(_tests_aggregate, rule.body.literals)):
        return rule
    literals: tuple[Literal, ...] = (*rule.heads, rule.body)
    uses = Counter(name for literal in literals for name in _names(literal))
    return replace(rule, body=_Negations(uses).conjunction(rule.body))


class _Negations:
    """Those of one rule, with how often it mentions each variable."""

    def __init__(self, uses: Counter[str]) -> None:
        self._uses = uses

    def conjunction(self, conjunction: Conjunction) -> Conjunction:
        return replace(conjunction, literals=tuple(map(self._literal, conjunction.literals)))

    def _literal(self, literal: Literal) -> Literal:
        match literal:
            case Negation():
                return self._negated(literal.body, literal.span)
            case Conjunction():
                return self.conjunction(literal)
            case Disjunction():
                return replace(literal, branches=tuple(map(self.conjunction, literal.branches)))
            case _:
                return literal

    def _negated(self, group: Conjunction, span: Span) -> Literal:
        """What says that the group does not hold, at the place `span`."""
        literals = group.literals
        if len(literals) == 1 and isinstance(literals[0], Comparison):
            return Negation(group, span)
        leaving = [literal for literal in literals if _tests_aggregate(literal) and self._is_apart(literal, literals)]
        rest = tuple(literal for literal in literals if literal not in leaving)
        if not leaving:
            return Negation(self.conjunction(group), span)
        parts = [self._opposite(literal, span) for literal in leaving]
        if rest:
            if len(rest) == 1 and isinstance(rest[0], Atom):
                rest = (*rest, Truth(True, span))  # a plain atom may have no variables of its own, as one in a group may
            parts.append(Negation(self.conjunction(replace(group, literals=rest)), span))
        if len(parts) == 1:
            return parts[0]
        return Disjunction(tuple(Conjunction((part,), span) for part in parts), span)

    def _opposite(self, literal: Literal, span: Span) -> Literal:
        match literal:
            case Negation():
                return self.conjunction(literal.body)
            case Conjunction():
                return self._negated(literal, span)
            case Disjunction():
                return Conjunction(tuple(self._negated(branch, span) for branch in literal.branches), span)
            case _:
                return Negation(Conjunction((literal,), literal.span), span)

    def _is_apart(self, literal: Literal, group: Sequence[Literal]) -> bool:
        """Whether the literal has no variable but those that occur outside the group, or only in one of its own aggregates."""
        within = Counter(name for other in group for name in _names(other))
        here = Counter(_names(literal))
        outer = {name for name in here if self._uses[name] > within[name]}
        return all(name in outer or here[name] == within[name] for name in here) and outer.issuperset(_names(literal, whole=False))


def _tests_aggregate(literal: Literal) -> bool:
    match literal:
        case Comparison():
            return any(isinstance(inner, Aggregate) for term in terms(literal) for inner in subterms(term))
        case Negation():
            return any(map(_tests_aggregate, literal.body.literals))
        case Conjunction():
            return any(map(_tests_aggregate, literal.literals))
        case Disjunction():
            return any(map(_tests_aggregate, literal.branches))
        case _:
            return False


def _names(literal: Literal, whole: bool = True) -> Iterator[str]:
    """Each mention of a variable in the literal; those in aggregates only if it is `whole`."""
    match literal:
        case Atom() | Comparison():
            for term in terms(literal):
                yield from _names_in(term, whole)
        case Negation():
            yield from _names(literal.body, whole)
        case Conjunction():
            for inner in literal.literals:
                yield from _names(inner, whole)
        case Disjunction():
            for branch in literal.branches:
                yield from _names(branch, whole)


def _names_in(term: Term, whole: bool) -> Iterator[str]:
    match term:
        case Variable():
            yield term.name
        case Aggregate() if not whole:
            return
        case Aggregate():
            yield from _names(term.body)
        case Application():
            for key in term.keys:
                yield from _names_in(key, whole)
    for inner in operands(term):
        yield from _names_in(inner, whole)
