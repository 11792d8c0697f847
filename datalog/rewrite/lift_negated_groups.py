"""A negated group becomes a negated helper predicate over the variables that it shares with the rest of its rule.

    p(x) ← a(x, y), !(∃z. b(x, z), z < y)        p@not1(x, y) ← a(x, y), b(x, z), z < y
                                         becomes  p(x) ← a(x, y), !p@not1(x, y)

A negated plain atom stays, a negated comparison becomes the opposite one. Groups within groups become helpers of the
helper's rule. What the guard is, and why it may be there: `datalog.rewrite.helpers`.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import Literal as OneOf

from datalog.analysis.dependencies import component_of, recursion_of, rule_edges
from datalog.analysis.quantify import quantify
from datalog.analysis.safety import own_variables
from datalog.ir.formulas import Atom, Comparison, Conjunction, Disjunction, Literal, Negation, Program, Rule
from datalog.ir.occurrences import literal_names
from datalog.rewrite.helpers import Helpers, helper_rule, shared_variables
from datalog.rewrite.supersets import Supersets

_OPPOSITE: dict[str, OneOf["=", "!=", "<", "<=", ">", ">="]] = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def lift_negated_groups(program: Program) -> Program:
    """The program with no negation but of plain atoms."""
    helpers = Helpers(program.signatures)
    components = component_of(program.signatures, rule_edges(program.rules))
    supersets = Supersets(program)
    rules: list[Rule] = []
    for original in program.rules:
        owner = original.heads[0].predicate
        recursion = recursion_of(original, components)
        pending = deque([original])
        while pending:
            rule = pending.popleft()
            lift = _Lift(rule, owner, recursion, helpers)
            body = lift.conjunction(rule.body, ())
            rules.append(quantify(rule.heads, body, rule.span, rule.text))
            pending.extend(supersets.stand_in(helper, recursion) for helper in lift.rules)
    for rule in supersets.rules:  # they have no groups, only negated comparisons
        body = _Lift(rule, rule.heads[0].predicate, frozenset(), helpers).conjunction(rule.body, ())
        rules.append(quantify(rule.heads, body, rule.span, rule.text))
    signatures = {**program.signatures, **helpers.signatures, **supersets.signatures}
    return replace(program, rules=tuple(rules), signatures=signatures)


class _Lift:
    """The lifting of one rule's outermost groups; `rules` are the helpers' rules that it makes."""

    def __init__(self, rule: Rule, owner: str, avoid: frozenset[str], helpers: Helpers) -> None:
        self._rule = rule
        self._owner = owner
        self._avoid = avoid
        self._helpers = helpers
        self.rules: list[Rule] = []

    def conjunction(self, conjunction: Conjunction, around: tuple[Literal, ...]) -> Conjunction:
        """The conj with its groups lifted; `around` are the literals of the conjs that enclose it."""
        literals: list[Literal] = []
        for at, literal in enumerate(conjunction.literals):
            context = (*around, *conjunction.literals[:at], *conjunction.literals[at + 1 :])
            match literal:
                case Negation():
                    literals.append(self._negation(literal, context))
                case Conjunction():
                    literals.append(self.conjunction(literal, context))
                case Disjunction():
                    branches = tuple(self.conjunction(branch, context) for branch in literal.branches)
                    literals.append(Disjunction(branches, literal.span))
                case _:
                    literals.append(literal)
        return Conjunction((), tuple(literals), conjunction.span)

    def _negation(self, negation: Negation, context: tuple[Literal, ...]) -> Literal:
        own = own_variables(negation.body)
        match negation.body.literals:
            case (Atom(),) if not own:
                return negation
            case (Comparison() as test,) if not own:
                return Comparison(_OPPOSITE[test.operator], test.left, test.right, negation.span)
        columns = shared_variables(negation.body, literal_names(negation.body) - own)
        signature = self._helpers.declare(self._owner, "not", columns, negation.span)
        head = Atom(signature.name, columns, negation.span)
        self.rules.append(helper_rule(head, negation.body.literals, context, self._avoid, self._rule.text))
        return Negation(Conjunction((), (head,), negation.span), negation.span)
