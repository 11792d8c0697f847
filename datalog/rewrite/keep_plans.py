"""What `.plan` directives say of rules becomes what they say of core rules.

A core rule knows its atoms by their places in the text. One that came from a branch of a disjunction takes the plan's order
for the atoms that it has. Where rewriting put a predicate of its own in the place of a part of the body, the plan says
nothing about that predicate, and is ignored.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from datalog.ir.core import CoreAtom, CoreRule, ForcedOrder
from datalog.ir.formulas import JoinPlan


def keep_plans(rules: Iterable[CoreRule], plans: Iterable[JoinPlan]) -> list[CoreRule]:
    """The rules, each with the order that its `.plan` asks for."""
    by_rule = {plan.rule: plan for plan in plans if plan.rule.line}  # a generated tree has no places
    return [replace(rule, forced=_forced(rule, by_rule[rule.span])) if rule.span in by_rule else rule for rule in rules]


def _forced(rule: CoreRule, plan: JoinPlan) -> ForcedOrder:
    positive = {atom.span: number for number, atom in enumerate(rule.atoms) if not atom.negated}
    if len(positive) < sum(not atom.negated for atom in rule.atoms):
        return ForcedOrder(".plan", ignored="an atom of the body is inline and has become several")
    if len(set(plan.atoms)) < len(plan.atoms) or not positive.keys() <= set(plan.atoms):
        return ForcedOrder(".plan", ignored="a part of the body has become a predicate of its own")
    orders = {
        version: _variables([rule.atoms[positive[span]] for span in spans if span in positive]) for version, spans in plan.orders.items()
    }
    deltas = {
        positive[span]: orders[version]
        for version, spans in enumerate(plan.recursive)
        for span in spans
        if span in positive and version in orders
    }
    return ForcedOrder(".plan", orders.get(0), deltas)


def _variables(atoms: Iterable[CoreAtom]) -> tuple[int, ...]:
    """The atoms' variables in the order of their first appearance."""
    return tuple(dict.fromkeys(variable for atom in atoms for variable in atom.columns if variable is not None))
