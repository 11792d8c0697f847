"""What no output needs vanishes: rules, aggregates and `.input` directives. The predicates stay, without rows."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from datalog.analysis.dependencies import reached, successors
from datalog.ir.formulas import Program
from datalog.rewrite.edges import program_edges
from datalog.syntax.tree import Directive


def outputs_of(program: Program) -> frozenset[str]:
    """The predicates whose rows, or their number, the program's directives ask for."""
    asked = (directive for directive in program.directives if directive.kind in ("output", "printsize"))
    return frozenset(name for directive in asked for name in directive.predicates)


def drop_unneeded(program: Program, outputs: Collection[str]) -> Program:
    """The program with nothing but what the outputs depend on."""
    needed = reached(outputs, successors(program_edges(program)))
    return replace(
        program,
        rules=tuple(rule for rule in program.rules if any(head.predicate in needed for head in rule.heads)),
        aggregates=tuple(aggregate for aggregate in program.aggregates if aggregate.head in needed),
        numberings=tuple(numbering for numbering in program.numberings if numbering.head in needed),
        equivalences={name: span for name, span in program.equivalences.items() if name in needed},
        directives=tuple(one for directive in program.directives if (one := _needed(directive, needed)) is not None),
    )


def _needed(directive: Directive, needed: Collection[str]) -> Directive | None:
    """The directive, of the inputs those that are needed; None if none is."""
    if directive.kind != "input":
        return directive
    left = tuple(name for name in directive.predicates if name in needed)
    return replace(directive, predicates=left) if left else None
