"""A whole program from quantified rules to core rules."""

from __future__ import annotations

from datalog.ir.core import CoreProgram, CoreRule
from datalog.ir.formulas import Program
from datalog.rewrite.existence import ask_existence
from datalog.rewrite.flatten import flatten
from datalog.rewrite.forget_singletons import forget_singletons
from datalog.rewrite.keep_plans import keep_plans
from datalog.rewrite.passes import PASSES
from datalog.rewrite.read_in_place import read_in_place
from datalog.rewrite.separate_facts import separate_facts
from datalog.rewrite.stratify import stratify


def lower(program: Program) -> CoreProgram:
    """The core rules of an analysed program, with its predicates, strata and facts.

    Raises ProgramError where a negated group cannot be made range restricted without a negation through recursion.
    """
    for rewrite in PASSES:
        program = rewrite(program)
    predicates, copies, facts = separate_facts(program)
    rules = copies + core_rules(program)
    rules, helpers = ask_existence(rules, predicates)
    predicates.update(helpers)
    rules = keep_plans(rules, program.plans)
    strata = stratify(predicates, rules, read_in_place(program.aggregates, rules), program.text)
    return CoreProgram(predicates, tuple(rules), strata, facts, program.directives)


def core_rules(program: Program) -> list[CoreRule]:
    """The rules of a program that has gone through all passes. Of an aggregate's body every variable counts, also one that occurs once."""
    bodies = {aggregate.source for aggregate in program.aggregates}
    flat = map(flatten, program.rules)
    return [rule if rule.head in bodies else forget_singletons(rule) for rule in flat]
