"""What predicates depend on beside what rules say: on what aggregates and numberings read, and on what a guard ties together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from datalog.analysis.dependencies import Edge
from datalog.ir.core import CoreAggregate, CoreNumbering, Guard
from datalog.ir.formulas import Program
from datalog.ir.occurrences import literal_atoms
from datalog.syntax.tree import NOWHERE


def program_edges(program: Program) -> list[Edge]:
    """What each predicate of a program is derived from, all of it: of a subsumption, too, every atom of its rule."""
    edges: list[Edge] = [
        (head.predicate, atom.predicate, under, atom.span)
        for rule in program.rules
        for head in rule.heads
        for atom, under in literal_atoms(rule.body)
    ]
    edges += aggregate_edges(program.aggregates, edges)
    return [*edges, *numbering_edges(program.numberings), *guard_edges(program.guard)]


def numbering_edges(numberings: Iterable[CoreNumbering]) -> list[Edge]:
    """A numbering reads what is complete."""
    return [(one.head, read, "aggregated", one.span) for one in numberings for read in one.reads]


def aggregate_edges(aggregates: Iterable[CoreAggregate], edges: Sequence[Edge]) -> list[Edge]:
    """What the heads of aggregates depend on, given the `edges` of all rules.

    An aggregate reads what is complete. A group of one that is asked is complete when it comes in, if its rows rest on nothing else of
    the recursion: its head may recurse through what it is asked by, and not through what else its source reads.
    """
    found: list[Edge] = []
    for aggregate in aggregates:
        span = aggregate.functions[0].span
        if aggregate.asked:
            found += [(aggregate.head, name, "", span) for name in (aggregate.source, aggregate.asked)]
            others = {read for head, read, _, _ in edges if head == aggregate.source} - {aggregate.asked}
            found += [(aggregate.head, name, "aggregated", span) for name in sorted(others)]
        else:
            found += [(aggregate.head, name, "aggregated", span) for name in (aggregate.source, aggregate.needs) if name]
    return found


def guard_edges(guard: Guard) -> list[Edge]:
    """A predicate goes with that of its dominated rows, and one of rows with their rounds with the one whose rows these are."""
    tied = (*guard.subsumed.items(), *guard.deltas.items())
    return [(one, other, "", NOWHERE) for pair in tied for one, other in (pair, pair[::-1])]
