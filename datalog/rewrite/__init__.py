"""From quantified rules to core rules, one pass a file.

    join_lattices → lower_guards → lower_aggregates → drop_truths             formulas to simpler formulas (`passes.py`)
    → distribute_negations → lift_negated_groups → expand_disjunctions → split_heads → number_bindings
    → drop_unneeded → evaluate_on_demand                                      on request: what nothing asks for goes
    → flatten → forget_singletons → ask_existence                             formulas to core rules
    separate_facts, keep_plans, close_pairs, read_in_place, stratify          predicates, given rows, plans, equivalences, strata

Existence is asked last, when it is known which columns nobody asks for. Every core rule that comes out keeps what
`datalog.ir.core` promises, and: no atom is all wildcards, every variable of a head, of a negated atom, of a filter or of
an expression is bound by a positive atom or a chain of bindings. A rule may have no positive atom at all: `p(1) :- true.`
"""

from __future__ import annotations

from datalog.rewrite.ask import Source
from datalog.rewrite.program import lower, simplify
from datalog.rewrite.query import CoreQuery, lower_query

__all__ = ["CoreQuery", "Source", "lower", "lower_query", "simplify"]
