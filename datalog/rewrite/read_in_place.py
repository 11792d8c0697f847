"""An aggregate whose source would only copy columns of one predicate reads them there: no rows are kept for the source.

    o@body1(g, v) ← s(_1, g, v)        o@agg1(g, sum) = sum over o@body1(g, v)        reads s(g, v, _1), in this order

What the predicate keeps for that is an arrangement of its own, of whole rows. Where most columns are of no use to the aggregate, the
source is made: it is smaller.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from datalog.ir.core import CoreAggregate, CoreRule


def read_in_place(aggregates: Sequence[CoreAggregate], rules: Iterable[CoreRule]) -> tuple[CoreAggregate, ...]:
    """The aggregates with their origins; the rules for their sources are among `rules`."""
    sources = {aggregate.source for aggregate in aggregates}
    bodies: dict[str, list[CoreRule]] = {}
    for rule in rules:
        if rule.head in sources:
            bodies.setdefault(rule.head, []).append(rule)
    return tuple(_in_place(aggregate, bodies.get(aggregate.source, ())) for aggregate in aggregates)


def _in_place(aggregate: CoreAggregate, rules: Sequence[CoreRule]) -> CoreAggregate:
    columns = rules[0].projection if len(rules) == 1 else None
    if columns is None or len(set(columns)) < len(columns) or 2 * len(columns) < len(rules[0].atoms[0].columns):
        return aggregate
    return replace(aggregate, origin=rules[0].atoms[0].predicate, columns=columns)
