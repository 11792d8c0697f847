"""Which predicates a program wants evaluated on demand: by the pragmas `magic-transform` and `magic-transform-exclude`, each "*" or a
list of names with commas between them, and by the qualifiers `magic` and `no_magic`."""

from __future__ import annotations

from datalog.ir.demand import Demand, names_of
from datalog.syntax.tree import Declaration, Pragma, Program

ASKED, EXCLUDED = "magic-transform", "magic-transform-exclude"


def wanted_on_demand(program: Program) -> Demand:
    """What the program says itself. A name that is none of its predicates says nothing."""
    asked: set[str] = set()
    excluded: set[str] = set()
    for clause in program.clauses:
        match clause:
            case Pragma(key, value) if key in (ASKED, EXCLUDED):
                (asked if key == ASKED else excluded).update(names_of(value))
            case Declaration(predicates=predicates, qualifiers=qualifiers):
                asked.update(predicates if "magic" in qualifiers else ())
                excluded.update(predicates if "no_magic" in qualifiers else ())
    return Demand(frozenset(asked), frozenset(excluded))
