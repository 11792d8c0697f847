"""Rules without shorthands: applications, aggregates and ranges leave the terms and become literals beside them.

    p(F[x])                    becomes  p('1), F(x, '1)
    h(x, count : { q(x, y) })  becomes  h(x, '1) … fold '1 = count : { q(x, y'2) }, with the group x
    contains("a", x)           becomes  contains("a", x) = true
    p(range(1, 9))             becomes  p('1), '1 = range(1, 9)
    !p(sum y : { q(y) })       becomes  !p('1) … fold '1 = sum y : { q(y) }
    wildcards of aggregates    become variables where what they stand for is counted

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
from tests.oracle.scopes import Scope, own_and_witnesses


@lru_cache(maxsize=4096)
def flatten(rule: Rule) -> Rule:
    """The rule without applications, aggregates and totals."""
    return _Flattening().rule(rule)


class _Flattening:
    def __init__(self) -> None:
        self._numbers = count(1)

    def rule(self, rule: Rule) -> Rule:
        taken = tuple(argument for total in rule.totals for argument in total.arguments)
        scope = Scope(frozenset(mentions_of((*rule.heads, *taken), False)), frozenset(), frozenset())
        lifted: list[Literal] = []
        around = scope.beside(rule.body)
        heads = tuple(self._atom(head, lifted, around) for head in rule.heads)
        if not rule.totals:
            return Rule(heads, (*self._conjunction(rule.body, scope), *lifted))
        body = (*self._conjunction(rule.body, scope), *lifted)
        results = {total.result.name for total in rule.totals}
        groups = {name for name in mentions_of(heads) if name not in results}
        return Rule(heads, (self._fold(rule.totals, body, tuple(sorted(groups)), around, True),))

    def _conjunction(self, body: tuple[Literal, ...], scope: Scope) -> tuple[Literal, ...]:
        parts: list[Literal] = []
        for place, literal in enumerate(body):
            parts += self._literal(literal, scope.beside((*body[:place], *body[place + 1 :]), (literal,)))
        return tuple(parts)

    def _literal(self, literal: Literal, scope: Scope) -> Iterator[Literal]:
        lifted: list[Literal] = []
        match literal:
            case Atom():
                plain: Literal = self._atom(literal, lifted, scope)
            case Compare(operator, left, right):
                plain = Compare(operator, self._term(left, lifted, scope), self._term(right, lifted, scope))
            case Test(term):
                plain = Compare("=", self._term(term, lifted, scope), Const(True, "bool"))
            case Not((Test(term),)):
                plain = Compare("=", self._term(term, lifted, scope), Const(False, "bool"))
            case Not((Atom(predicate, terms, bracketed),)):
                bare = Atom(predicate, tuple(self._outside(term, lifted, scope) for term in terms), bracketed)
                plain = Not(self._conjunction((bare,), scope))
            case Not((Compare(operator, left, right),)):
                sides = (self._outside(side, lifted, scope) for side in (left, right))
                plain = Not(self._conjunction((Compare(operator, *sides),), scope))
            case Not(body):
                plain = Not(self._conjunction(body, scope))
            case Or(branches):
                plain = Or(tuple(self._conjunction(branch, scope) for branch in branches))
            case Fold():
                plain = literal
        yield plain
        yield from lifted

    def _atom(self, atom: Atom, lifted: list[Literal], scope: Scope) -> Atom:
        return Atom(atom.predicate, self._terms(atom.terms, lifted, scope))

    def _terms(self, terms: tuple[Term, ...], lifted: list[Literal], scope: Scope) -> tuple[Term, ...]:
        return tuple(self._term(term, lifted, scope) for term in terms)

    def _term(self, term: Term, lifted: list[Literal], scope: Scope) -> Term:
        match term:
            case Op():
                plain = replace(term, arguments=self._terms(term.arguments, lifted, scope))
                if term.name != "range":
                    return plain
                value = self._fresh("")
                lifted.append(Compare("=", value, plain))
                return value
            case Application(predicate, keys):
                value = self._fresh("")
                lifted.append(Atom(predicate, (*self._terms(keys, lifted, scope), value)))
                return value
            case Agg():
                value = self._fresh("")
                lifted.append(self._aggregate(term, value, scope))
                return value
        return term

    def _outside(self, term: Term, lifted: list[Literal], scope: Scope) -> Term:
        """The term of a negated literal without its aggregates, which stand outside."""
        match term:
            case Op():
                return replace(term, arguments=tuple(self._outside(argument, lifted, scope) for argument in term.arguments))
            case Agg():
                return self._term(term, lifted, scope)
        return term

    def _aggregate(self, term: Agg, result: Var, scope: Scope) -> Fold:
        own, witnesses = own_and_witnesses(term, scope)
        names = dict.fromkeys(mentions_of((*term.arguments, *term.body)))
        fresh = {name: self._fresh(name).name for name in names if name in own or name in witnesses}
        arguments = tuple(renamed_term(argument, fresh) for argument in term.arguments)
        body = tuple(renamed(literal, fresh) for literal in term.body)
        within = scope.within(mentions_of(arguments))
        totals = (Total(result, term.function, arguments, term.type, term.parameter),)
        groups = tuple(sorted(name for name in names if name not in fresh))
        fold = self._fold(totals, self._conjunction(body, within), groups, within.beside(body), False)
        return replace(fold, witnesses=tuple((name, fresh[name]) for name in witnesses))

    def _fold(self, totals: tuple[Total, ...], body: tuple[Literal, ...], groups: tuple[str, ...], scope: Scope, grouping: bool) -> Fold:
        """Of a body that is flat already."""
        lifted: list[Literal] = []
        flat = tuple(replace(total, arguments=self._terms(total.arguments, lifted, scope)) for total in totals)
        literals = (*body, *lifted)
        if grouping or _is_of_one_atom(literals):
            literals = tuple(self._named(literal) for literal in literals)
        return Fold(flat, literals, groups, grouping)

    def _named(self, literal: Literal) -> Literal:
        """A positive atom with variables for its wildcards."""
        if not isinstance(literal, Atom):
            return literal
        return Atom(literal.predicate, tuple(self._fresh("_") if isinstance(term, Blank) else term for term in literal.terms))

    def _fresh(self, name: str) -> Var:
        return Var(f"{name}'{next(self._numbers)}")


def _is_of_one_atom(body: tuple[Literal, ...]) -> bool:
    """Whether what wildcards stand for is counted."""
    atoms = [literal for literal in body if isinstance(literal, Atom)]
    if len(atoms) != 1 or any(isinstance(literal, Fold | Or) for literal in body):
        return False
    names = list(mentions(atoms[0]))
    ranges = (side for literal in body if isinstance(literal, Compare) for side in (literal.left, literal.right))
    return len(set(names)) == len(names) and not any(isinstance(side, Op) and side.name == "range" for side in ranges)


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
