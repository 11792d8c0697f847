"""What `datalog plan` says of guards: beside the rules, what decides which rows stand, stratum by stratum."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from datalog.ir.core import CoreProgram, Guard, Predicate
from datalog.plan_aggregates import ANEW


def guard_lines(core: CoreProgram) -> Iterator[str]:
    """`p, q: choice domain of p for (x), subsumption of q; at each change of what it reads its stratum is evaluated anew, by rounds`"""
    for stratum in core.strata:
        if stratum.guard is not None:
            names = ", ".join(name for name in stratum.predicates if not core.predicates[name].hidden)
            asked = (f"{aggregate.head} is asked for {aggregate.asked}" for aggregate in stratum.asked)
            parts = ", ".join((*_parts(stratum.guard, core.predicates), *asked))
            yield f"{names or stratum.predicates[0]}: {parts}; {ANEW} at each change of what it reads, by rounds"


def _parts(guard: Guard, predicates: Mapping[str, Predicate]) -> Iterator[str]:
    for name, keys in guard.choices.items():
        shown = ("(" + ", ".join(predicates[name].attributes[column] for column in key) + ")" for key in keys)
        yield f"choice domain of {name} for {' and '.join(shown)}"
    yield from (f"subsumption of {name}" for name in guard.subsumed)
    yield from (f"until {name} has {limit} rows" for name, limit in guard.limits.items())
    yield from (f"{name} has the rounds of {whose}" for name, whose in guard.deltas.items())
    if guard.counted:
        yield "rules that read the number of the round"
