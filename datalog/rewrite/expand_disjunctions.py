"""Disjunctions become rules: each rule's body to disjunctive normal form, one rule a conj.

Two disjunctions side by side multiply. Where that would make more than `LIMIT` rules of one conj, disjunctions of it, the
largest first, become helper predicates over the variables that they share with the rest of their rule, until it does not.
Only one that needs no other disjunction to be range restricted can become a helper; if there is none, the rules multiply, up to `MOST`.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from itertools import product
from math import prod

from datalog.analysis.dependencies import component_of, recursion_of, rule_edges
from datalog.analysis.findings import Findings
from datalog.analysis.quantify import quantify
from datalog.ir.formulas import Atom, Conjunction, Disjunction, Literal, Program, Rule, Variable
from datalog.ir.occurrences import flat, literal_names
from datalog.rewrite.helpers import Helpers, can_stand_alone, helper_rule, shared_variables

LIMIT = 16
MOST = 10_000
_MOST_HINT = "give a part of it a predicate of its own, with atoms that bind all that it compares"

Flat = tuple[Literal, ...]


def expand_disjunctions(program: Program) -> Program:
    """The program with no disjunction and no conj within a conj."""
    helpers, findings = Helpers(program.signatures), Findings(program.text)
    components = component_of(program.signatures, rule_edges(program.rules))
    rules: list[Rule] = []
    for original in program.rules:
        owner = original.heads[0].predicate
        pending = deque([original])
        while pending:
            rule = pending.popleft()
            expansion = _Expansion(rule, owner, recursion_of(original, components), helpers, findings)
            for literals in expansion.alternatives(rule.body, (), frozenset().union(*map(literal_names, rule.heads))):
                body = Conjunction((), literals, rule.body.span)
                rules.append(quantify(rule.heads, body, rule.span, rule.text))
            pending.extend(expansion.rules)
    return replace(program, rules=tuple(rules), signatures={**program.signatures, **helpers.signatures})


class _Expansion:
    """The expansion of one rule; `rules` are the helpers' rules that it makes, not yet expanded themselves."""

    def __init__(self, rule: Rule, owner: str, avoid: frozenset[str], helpers: Helpers, findings: Findings) -> None:
        self._rule = rule
        self._owner = owner
        self._avoid = avoid
        self._helpers = helpers
        self._findings = findings
        self.rules: list[Rule] = []

    def alternatives(self, conjunction: Conjunction, around: Flat, elsewhere: frozenset[str]) -> list[Flat]:
        """The conj as alternatives without disjunctions.

        `around` are the plain literals that hold beside it, `elsewhere` the variables that the rest of the rule mentions.
        """
        literals = list(flat(conjunction.literals))
        plain = tuple(literal for literal in literals if not isinstance(literal, Disjunction))
        context = (*around, *plain)
        self._lift_largest(literals, context, elsewhere)
        choices: list[list[Flat]] = []
        for at, literal in enumerate(literals):
            if isinstance(literal, Disjunction):
                rest = elsewhere.union(*map(literal_names, literals[:at]), *map(literal_names, literals[at + 1 :]))
                choices.append([one for branch in literal.branches for one in self.alternatives(branch, context, rest)])
            else:
                choices.append([(literal,)])
        if prod(map(len, choices)) > MOST:
            number = f"{prod(map(len, choices)):,}"
            self._findings.add(self._rule.span, f"the disjunctions of this rule multiply to {number} rules", _MOST_HINT)
            self._findings.raise_if_any()
        return [tuple(literal for part in choice for literal in part) for choice in product(*choices)]

    def _lift_largest(self, literals: list[Literal], context: Flat, elsewhere: frozenset[str]) -> None:
        """Replace disjunctions by helpers, in place, while the conj has too many alternatives."""
        standing = sorted((literal for literal in literals if isinstance(literal, Disjunction)), key=_rules_of, reverse=True)
        for disjunction in standing:
            if prod(map(_rules_of, literals)) <= LIMIT or sum(isinstance(literal, Disjunction) for literal in literals) < 2:
                return
            at = next(at for at, literal in enumerate(literals) if literal is disjunction)
            rest = elsewhere.union(*map(literal_names, literals[:at]), *map(literal_names, literals[at + 1 :]))
            columns = shared_variables(disjunction, rest)
            if can_stand_alone(columns, disjunction, context):
                literals[at] = self._helper(disjunction, columns, context)

    def _helper(self, disjunction: Disjunction, columns: tuple[Variable, ...], context: Flat) -> Atom:
        signature = self._helpers.declare(self._owner, "or", columns, disjunction.span)
        head = Atom(signature.name, columns, disjunction.span)
        self.rules.append(helper_rule(head, (disjunction,), context, self._avoid, self._rule.text))
        return head


def _rules_of(literal: Literal) -> int:
    """How many alternatives a literal has."""
    match literal:
        case Disjunction():
            return sum(_rules_of(branch) for branch in literal.branches)
        case Conjunction():
            return prod(_rules_of(inner) for inner in literal.literals)
        case _:
            return 1
