"""A whole program from quantified rules to core rules."""

from __future__ import annotations

from datalog.ir.core import CoreProgram, CoreRule
from datalog.ir.demand import Demand
from datalog.ir.formulas import Program
from datalog.rewrite.close_pairs import close_pairs
from datalog.rewrite.demand import evaluate_on_demand, given_rows
from datalog.rewrite.drop_unneeded import drop_unneeded, outputs_of
from datalog.rewrite.existence import ask_existence
from datalog.rewrite.flatten import flatten
from datalog.rewrite.forget_singletons import forget_singletons
from datalog.rewrite.keep_plans import keep_plans
from datalog.rewrite.passes import PASSES
from datalog.rewrite.read_in_place import read_in_place
from datalog.rewrite.separate_facts import separate_facts
from datalog.rewrite.stratify import stratify

NOTHING = Demand()


def lower(program: Program, demand: Demand = NOTHING) -> CoreProgram:
    """The core rules of an analysed program, with its predicates, strata and facts; `demand` is what is wanted on demand beside what
    the program says itself.

    Raises ProgramError where a negated group cannot be made range restricted without a negation through recursion.
    """
    program = on_demand(simplify(program), demand)
    predicates, copies, facts = separate_facts(program)
    rules = [*copies, *given_rows(program), *core_rules(program)]
    rules, helpers = ask_existence(rules, predicates, rounds=program.guard.rounds)
    predicates.update(helpers)
    rules = keep_plans(rules, program.plans)
    rules, pairs, closures = close_pairs(rules, predicates, program.equivalences)
    predicates.update(pairs)
    aggregates = read_in_place(program.aggregates, rules)
    strata = stratify(predicates, rules, aggregates, program.text, closures, program.guard, program.numberings)
    inline = frozenset(program.inline)
    return CoreProgram(predicates, tuple(rules), strata, facts, program.directives, program.wraps, demanded=program.demanded, inline=inline)


def simplify(program: Program) -> Program:
    """The program through all passes from formulas to formulas, with flat rules."""
    for rewrite in PASSES:
        program = rewrite(program)
    return program


def on_demand(program: Program, demand: Demand) -> Program:
    """The program, which has gone through all passes, with what is wanted on demand on demand."""
    outputs = outputs_of(program)
    if demand.outputs_only and outputs:
        program = drop_unneeded(program, outputs)
    elif demand.outputs_only:
        return program  # everything is an output
    return evaluate_on_demand(program, program.demand.joined(demand), outputs)


def core_rules(program: Program) -> list[CoreRule]:
    """The rules of a program that has gone through all passes. Of an aggregate's body every variable counts, also one that occurs once."""
    bodies = {aggregate.source for aggregate in program.aggregates}
    flat = map(flatten, program.rules)
    return [rule if rule.head in bodies else forget_singletons(rule) for rule in flat]
