"""`true` and `false` vanish: a true literal from its conj, a false conj from its disjunction, a rule with a false body whole."""

from __future__ import annotations

from dataclasses import replace

from datalog.analysis.quantify import quantify
from datalog.ir.formulas import Conjunction, Disjunction, Literal, Negation, Program, Rule, Truth


def drop_truths(program: Program) -> Program:
    """The program without truth values."""
    rules: list[Rule] = []
    for rule in program.rules:
        body = _conjunction(rule.body)
        if isinstance(body, Conjunction):
            rules.append(quantify(rule.heads, body, rule.span, rule.text))
        elif body.value:
            rules.append(quantify(rule.heads, Conjunction((), (), rule.body.span), rule.span, rule.text))
    return replace(program, rules=tuple(rules))


def _literal(literal: Literal) -> Literal:
    match literal:
        case Negation():
            body = _conjunction(literal.body)
            return Truth(not body.value, literal.span) if isinstance(body, Truth) else Negation(body, literal.span)
        case Conjunction():
            return _conjunction(literal)
        case Disjunction():
            branches = [_conjunction(branch) for branch in literal.branches]
            if any(isinstance(branch, Truth) and branch.value for branch in branches):
                return Truth(True, literal.span)
            left = tuple(branch for branch in branches if isinstance(branch, Conjunction))
            return Disjunction(left, literal.span) if left else Truth(False, literal.span)
        case _:
            return literal


def _conjunction(conjunction: Conjunction) -> Conjunction | Truth:
    left: list[Literal] = []
    for literal in map(_literal, conjunction.literals):
        if not isinstance(literal, Truth):
            left.append(literal)
        elif not literal.value:
            return Truth(False, conjunction.span)
    return Conjunction((), tuple(left), conjunction.span) if left else Truth(True, conjunction.span)
