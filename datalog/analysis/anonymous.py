"""Records that need no type: those that a body only compares with each other.

    [x, 1] = [2, y]          becomes   x = 2, 1 = y
    [x, 1] != [2, y]         becomes   (x != 2; 1 != y)
    a = [1, b], a = [c, 3]   becomes   1 = c, b = 3

A variable is replaced by the record that it equals where it stands in no other place than beside `=` and `!=`: nothing would say of
which type it is. Branches of algebraic types are treated alike.
Records of different lengths are left as they are: no type has both.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from datalog.analysis.walk import leaves, operands, subterms, terms, with_operands
from datalog.syntax.tree import (
    Aggregate,
    Branch,
    Comparison,
    Conjunction,
    Disjunction,
    Literal,
    Negation,
    Nil,
    Record,
    Rule,
    Term,
    Truth,
    Variable,
    Wildcard,
)


def compare_by_parts(rule: Rule, named: Collection[str] = ()) -> Rule:
    """The rule without comparisons of records with records; the variables `named` stay."""
    body = rule.body
    if not any(isinstance(leaf, Comparison) and any(isinstance(side, Record | Branch) for side in terms(leaf)) for leaf in leaves(body)):
        return rule
    return replace(rule, body=replace(body, literals=tuple(_without_aliases(rule, named))))


def _without_aliases(rule: Rule, named: Collection[str]) -> list[Literal]:
    literals = [part for literal in rule.body.literals for part in _by_parts(literal)]
    tied = set(named).union(name for head in rule.heads for name in _names(head.terms))
    while True:
        for place, literal in enumerate(literals):
            found = _alias(literal)
            if found is None or found[0].name in tied or _is_typed(found[0].name, literals):
                continue
            name, term = found[0].name, found[1]
            rest = literals[:place] + literals[place + 1 :]
            literals = [part for other in rest for part in _by_parts(_replaced(other, name, term))]
            break
        else:
            return literals


def _alias(literal: Literal) -> tuple[Variable, Term] | None:
    """The variable that is a record, or is another variable that may be one."""
    if isinstance(literal, Comparison) and literal.operator == "=":
        for side, other in ((literal.left, literal.right), (literal.right, literal.left)):
            if isinstance(side, Variable) and isinstance(other, Record | Branch) and side.name not in _names((other,)):
                return side, other
    return None


def _is_typed(name: str, literals: list[Literal]) -> bool:
    """Whether a variable stands elsewhere than beside `=` and `!=` in the body itself, or within a record there."""
    for literal in literals:
        if isinstance(literal, Comparison) and literal.operator in ("=", "!=") and not isinstance(literal.right, Aggregate):
            for side in terms(literal):
                if not isinstance(side, Variable | Record | Branch) and name in _names((side,)):
                    return True
        elif any(name in _names(terms(leaf)) for leaf in leaves(literal)):
            return True
    return False


def _names(of: tuple[Term, ...]) -> set[str]:
    return {inner.name for term in of for inner in subterms(term) if isinstance(inner, Variable)}


def _replaced(literal: Literal, name: str, term: Term) -> Literal:
    if not isinstance(literal, Comparison):
        return literal
    return replace(literal, left=_exchanged(literal.left, name, term), right=_exchanged(literal.right, name, term))


def _exchanged(whole: Term, name: str, term: Term) -> Term:
    if isinstance(whole, Variable):
        return term if whole.name == name else whole
    inner = operands(whole)
    return with_operands(whole, [_exchanged(part, name, term) for part in inner]) if inner else whole


def _by_parts(literal: Literal) -> Iterator[Literal]:
    match literal:
        case Comparison(operator="=", left=Wildcard(), right=Record() | Branch()):
            return
        case Comparison(operator="=", left=Record() | Branch() as left, right=Record() | Branch() as right):
            if not _alike(left, right):
                yield literal if isinstance(left, Record) and isinstance(right, Record) else Truth(False, literal.span)
                return
            for one, other in zip(operands(left), operands(right), strict=True):
                if not isinstance(one, Wildcard) and not isinstance(other, Wildcard):
                    yield from _by_parts(Comparison("=", one, other, literal.span))
        case Comparison(operator="!=", left=Record() | Branch() as left, right=Record() | Branch() as right):
            if not _alike(left, right):
                yield literal if isinstance(left, Record) and isinstance(right, Record) else Truth(True, literal.span)
                return
            tests = [
                tuple(_by_parts(Comparison("!=", one, other, literal.span)))
                for one, other in zip(operands(left), operands(right), strict=True)
            ]
            if len(tests) > 1:
                yield Disjunction(tuple(Conjunction(test, literal.span) for test in tests), literal.span)
            else:
                yield from tests[0] if tests else (Truth(False, literal.span),)
        case Comparison(operator="=", left=Nil(), right=Record()) | Comparison(operator="=", left=Record(), right=Nil()):
            yield Truth(False, literal.span)
        case Negation():
            yield replace(literal, body=_within(literal.body))
        case Conjunction():
            yield _within(literal)
        case Disjunction():
            yield replace(literal, branches=tuple(map(_within, literal.branches)))
        case _:
            yield literal


def _within(conjunction: Conjunction) -> Conjunction:
    return replace(conjunction, literals=tuple(part for literal in conjunction.literals for part in _by_parts(literal)))


def _alike(left: Record | Branch, right: Record | Branch) -> bool:
    names = [side.name if isinstance(side, Branch) else "" for side in (left, right)]
    return names[0] == names[1] and len(operands(left)) == len(operands(right))
