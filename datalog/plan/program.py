"""The plan of a whole program: a plan a rule, delta plans for recursive rules, and the arrangements that serve all of them."""

from __future__ import annotations

from dataclasses import dataclass

from datalog.ir.core import CoreProgram, CoreRule
from datalog.plan.arrangements import Columns, fewest_arrangements
from datalog.plan.order import Statistics
from datalog.plan.rule import RulePlan, plan_delta, plan_rule


@dataclass(frozen=True, slots=True)
class ProgramPlan:
    """`rules[i]` and `deltas[i]` belong to rule i; a delta plan takes the rows of one recursive atom as prefixes."""

    rules: tuple[RulePlan, ...]
    deltas: tuple[tuple[RulePlan, ...], ...]
    orders: dict[str, tuple[Columns, ...]]


def plan_program(program: CoreProgram, statistics: Statistics) -> ProgramPlan:
    """Plan all rules; `statistics` tells or guesses what predicates hold."""
    recursive = {number: stratum.stamped for stratum in program.strata for number in stratum.rules}
    rules = {number: plan_rule(rule, statistics) for number, rule in enumerate(program.rules) if not _takes_any_order(rule)}
    deltas = tuple(
        tuple(
            plan_delta(rule, statistics, place, recursive[number], joined_first=True)
            for place, atom in enumerate(rule.atoms)
            if not atom.negated and atom.predicate in recursive.get(number, ())
        )
        for number, rule in enumerate(program.rules)
    )
    requests: dict[str, set[Columns]] = {name: set() for name in program.predicates}
    for plan in (*rules.values(), *(plan for plans in deltas for plan in plans)):
        for predicate, columns in plan.requests:
            requests[predicate].add(columns)
    for stratum in program.strata:
        for aggregate in stratum.aggregates:  # heads and sources are read in declared order, which comes first
            head, read = aggregate.head, aggregate.read
            requests[head].add(tuple(range(program.predicates[head].width)))
            requests[read].add(aggregate.columns or tuple(range(program.predicates[read].width)))
        if stratum.numbering is not None:
            requests[stratum.numbering.head].add(tuple(range(program.predicates[stratum.numbering.head].width)))
        for closure in stratum.closures:
            requests[closure.pairs].add((0, 1))
        if stratum.guard is not None:
            for name, keys in stratum.guard.choices.items():
                requests[name].update(keys)
    requests |= {closure.head: {(0, 1)} for stratum in program.strata for closure in stratum.closures}  # symmetric: that is (1, 0), too
    orders = {name: fewest_arrangements(asked, program.predicates[name].width) for name, asked in requests.items()}
    for number, rule in enumerate(program.rules):
        if number not in rules:
            (atom,) = rule.atoms
            columns = orders[atom.predicate][0]
            rules[number] = plan_rule(rule, statistics, [variable for column in columns if (variable := atom.columns[column]) is not None])
    return ProgramPlan(tuple(rules[number] for number in range(len(program.rules))), deltas, orders)


def _takes_any_order(rule: CoreRule) -> bool:
    """Whether a rule can do with whatever arrangement there is: it only copies rows."""
    return rule.projection is not None and (rule.forced is None or rule.forced.full is None)
