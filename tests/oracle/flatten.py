"""Rules without shorthands: applications, aggregates and ranges leave the terms and become literals beside them.

    p(F[x])                    becomes  p('1), F(x, '1)
    h(x, count : { q(x, y) })  becomes  h(x, '1) … fold '1 = count : { q(x, y'2) }, with the group x
    contains("a", x)           becomes  contains("a", x) = true
    p(range(1, 9))             becomes  p('1), '1 = range(1, 9)
    wildcards of aggregates    become variables, because what they stand for is counted

Each literal under a negation, in a disjunction or in an aggregate keeps what leaves it in its own conjunction. Afterwards a variable
of an aggregate is either one of its groups or has a name that is used nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import count

from tests.oracle.rules import (
    Agg,
    Application,
    Atom,
    Blank,
    Compare,
    Const,
    Fold,
    Literal,
    Not,
    Op,
    Or,
    Rule,
    Term,
    Test,
    Total,
    Var,
    mentions,
    mentions_of,
)


@lru_cache(maxsize=4096)
def flatten(rule: Rule) -> Rule:
    """The rule without applications, aggregates and totals."""
    return _Flattening().rule(rule)


class _Flattening:
    def __init__(self) -> None:
        self._numbers = count(1)

    def rule(self, rule: Rule) -> Rule:
        outside = frozenset(mentions_of((*rule.heads, *rule.body), False))
        lifted: list[Literal] = []
        heads = tuple(self._atom(head, lifted, outside) for head in rule.heads)
        if not rule.totals:
            return Rule(heads, (*self._conjunction(rule.body, outside), *lifted))
        body = (*self._conjunction(rule.body, outside), *lifted)
        results = {total.result.name for total in rule.totals}
        groups = {name for name in mentions_of(heads) if name not in results}
        return Rule(heads, (self._fold(rule.totals, body, tuple(sorted(groups)), outside, True),))

    def _conjunction(self, body: tuple[Literal, ...], outside: frozenset[str]) -> tuple[Literal, ...]:
        return tuple(part for literal in body for part in self._literal(literal, outside))

    def _literal(self, literal: Literal, outside: frozenset[str]) -> Iterator[Literal]:
        lifted: list[Literal] = []
        match literal:
            case Atom():
                plain: Literal = self._atom(literal, lifted, outside)
            case Compare(operator, left, right):
                plain = Compare(operator, self._term(left, lifted, outside), self._term(right, lifted, outside))
            case Test(term):
                plain = Compare("=", self._term(term, lifted, outside), Const(True, "bool"))
            case Not((Test(term),)):
                plain = Compare("=", self._term(term, lifted, outside), Const(False, "bool"))
            case Not(body):
                plain = Not(self._conjunction(body, outside))
            case Or(branches):
                plain = Or(tuple(self._conjunction(branch, outside) for branch in branches))
            case Fold():
                plain = literal
        yield plain
        yield from lifted

    def _atom(self, atom: Atom, lifted: list[Literal], outside: frozenset[str]) -> Atom:
        return Atom(atom.predicate, self._terms(atom.terms, lifted, outside))

    def _terms(self, terms: tuple[Term, ...], lifted: list[Literal], outside: frozenset[str]) -> tuple[Term, ...]:
        return tuple(self._term(term, lifted, outside) for term in terms)

    def _term(self, term: Term, lifted: list[Literal], outside: frozenset[str]) -> Term:
        match term:
            case Op():
                plain = replace(term, arguments=self._terms(term.arguments, lifted, outside))
                if term.name != "range":
                    return plain
                value = self._fresh("")
                lifted.append(Compare("=", value, plain))
                return value
            case Application(predicate, keys):
                value = self._fresh("")
                lifted.append(Atom(predicate, (*self._terms(keys, lifted, outside), value)))
                return value
            case Agg():
                value = self._fresh("")
                lifted.append(self._aggregate(term, value, outside))
                return value
        return term

    def _aggregate(self, term: Agg, result: Var, outside: frozenset[str]) -> Fold:
        parts = (*term.arguments, *term.body)
        names = dict.fromkeys(mentions_of(parts))
        own = {name: self._fresh(name).name for name in names if name not in outside}
        arguments = tuple(renamed_term(argument, own) for argument in term.arguments)
        body = tuple(renamed(literal, own) for literal in term.body)
        within = outside | frozenset(mentions_of((*arguments, *body), False))
        totals = (Total(result, term.function, arguments, term.type, term.parameter),)
        groups = tuple(sorted(name for name in names if name in outside))
        return self._fold(totals, self._conjunction(body, within), groups, within, False)

    def _fold(
        self, totals: tuple[Total, ...], body: tuple[Literal, ...], groups: tuple[str, ...], outside: frozenset[str], grouping: bool
    ) -> Fold:
        """Of a body that is flat already."""
        lifted: list[Literal] = []
        flat = tuple(replace(total, arguments=self._terms(total.arguments, lifted, outside)) for total in totals)
        return Fold(flat, tuple(self._named(literal) for literal in (*body, *lifted)), groups, grouping)

    def _named(self, literal: Literal) -> Literal:
        """A positive atom with variables for its wildcards."""
        if not isinstance(literal, Atom):
            return literal
        return Atom(literal.predicate, tuple(self._fresh("_") if isinstance(term, Blank) else term for term in literal.terms))

    def _fresh(self, name: str) -> Var:
        return Var(f"{name}'{next(self._numbers)}")


def counted(fold: Fold) -> frozenset[str]:
    """The variables whose values tell the assignments of an aggregate's body apart.

    Those that stand in some branches of a disjunction only, and nowhere beside it, are not among them, and neither are those of a
    negation alone.
    """
    names = {*fold.groups, *(name for total in fold.totals for argument in total.arguments for name in mentions(argument))}
    within: set[str] = set()  # of disjunctions and negations
    for literal in fold.body:
        match literal:
            case Or():
                names.update(within & set(mentions(literal)), _in_each_branch(literal))
                within.update(mentions(literal))
            case Not():
                continue
            case _:
                names.update(mentions(literal))
    for literal in fold.body:
        if isinstance(literal, Not):
            names.update(within & set(mentions(literal)))
    return frozenset(names)


def _in_each_branch(disjunction: Or) -> set[str]:
    """The variables that every branch gives a value."""
    return set.intersection(*(set[str]().union(*map(_given, branch)) for branch in disjunction.branches))


def _given(literal: Literal) -> set[str]:
    match literal:
        case Or():
            return _in_each_branch(literal)
        case Not():
            return set()
        case _:
            return set(mentions(literal))


def renamed_term(term: Term, names: Mapping[str, str]) -> Term:
    """`term` with other names for variables."""
    match term:
        case Var(name):
            return Var(names.get(name, name))
        case Op():
            return replace(term, arguments=_renamed_terms(term.arguments, names))
        case Application(predicate, keys):
            return Application(predicate, _renamed_terms(keys, names))
        case Agg():
            return replace(
                term,
                arguments=_renamed_terms(term.arguments, names),
                body=tuple(renamed(literal, names) for literal in term.body),
            )
    return term


def renamed(literal: Literal, names: Mapping[str, str]) -> Literal:
    """`literal` with other names for variables."""
    match literal:
        case Atom():
            return replace(literal, terms=_renamed_terms(literal.terms, names))
        case Compare(operator, left, right):
            return Compare(operator, renamed_term(left, names), renamed_term(right, names))
        case Test(term):
            return Test(replace(term, arguments=_renamed_terms(term.arguments, names)))
        case Not(body):
            return Not(tuple(renamed(inner, names) for inner in body))
        case Or(branches):
            return Or(tuple(tuple(renamed(inner, names) for inner in branch) for branch in branches))
    return literal


def _renamed_terms(terms: tuple[Term, ...], names: Mapping[str, str]) -> tuple[Term, ...]:
    return tuple(renamed_term(term, names) for term in terms)
