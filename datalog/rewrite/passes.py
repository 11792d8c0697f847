"""The passes from formulas to simpler formulas, in their order.

Lattices and guards go first, since they become aggregates and negations where they can; then aggregates, since they bring disjunctions
and negations with them. Groups are lifted while disjunctions are whole, so that a group makes one helper and not one a branch around it.
Numbers come last, since each alternative and each head numbers its own bindings.
"""

from __future__ import annotations

from collections.abc import Callable

from datalog.ir.formulas import Program
from datalog.rewrite.distribute_negations import distribute_negations
from datalog.rewrite.drop_truths import drop_truths
from datalog.rewrite.expand_disjunctions import expand_disjunctions
from datalog.rewrite.guards import lower_guards
from datalog.rewrite.join_lattices import join_lattices
from datalog.rewrite.lift_negated_groups import lift_negated_groups
from datalog.rewrite.lower_aggregates import lower_aggregates
from datalog.rewrite.number_bindings import number_bindings
from datalog.rewrite.split_heads import split_heads

PASSES: tuple[Callable[[Program], Program], ...] = (
    join_lattices,
    lower_guards,
    lower_aggregates,
    drop_truths,
    distribute_negations,
    lift_negated_groups,
    expand_disjunctions,
    split_heads,
    number_bindings,
)
