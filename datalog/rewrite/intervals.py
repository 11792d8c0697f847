"""The interval of a key over which an aggregation goes: `sum v : { sales(day, v), day >= a, day <= b }`, a and b from outside.

It is one if all that the body says of the groups which it does not bind is how one of its own variables, the key, compares with
them. Then one body serves all intervals.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from datalog.analysis.safety import bound_by, unbound_uses
from datalog.ir.core import Type
from datalog.ir.formulas import Comparison, Literal, Operation, Term, Variable
from datalog.ir.occurrences import names_in, term_names
from datalog.ir.renaming import fresh_name
from datalog.ir.text import format_term

_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True, slots=True)
class Interval:
    """`key` low `low` and `key` high `high`, as in `CoreAggregate`; at least one of them is there.

    `body` is the aggregation's body without these comparisons; `beside` is to be said beside the aggregation: what the ends are."""

    key: Variable
    low: tuple[str, Variable] | None
    high: tuple[str, Variable] | None
    body: list[Literal]
    beside: list[Literal]

    @property
    def ends(self) -> tuple[Variable, ...]:
        return tuple(bound[1] for bound in (self.low, self.high) if bound)


def interval_of(body: Sequence[Literal], arguments: Sequence[Term], groups: frozenset[str], taken: set[str]) -> Interval | None:
    """The interval that the body is restricted to; None if it is to none, or to more than that. `taken` are the names of the rule."""
    unbound = groups - bound_by(body, frozenset())
    sides = [(literal, *side) for literal in body for side in _sides(literal, groups)] if unbound else []
    keys = {key.name: key for _, key, _, _ in sides}
    if len(keys) != 1:
        return None
    (key,) = keys.values()
    rest = [literal for literal in body if not any(literal is side[0] for side in sides)]
    within = names_in(rest, arguments)
    bound = bound_by(rest, frozenset())
    lows = [(operator, end) for _, _, operator, end in sides if operator in (">", ">=")]
    highs = [(operator, end) for _, _, operator, end in sides if operator in ("<", "<=")]
    if len(lows) > 1 or len(highs) > 1 or unbound & within or not {key.name, *(groups & within)} <= bound:
        return None
    if any(unbound_uses(rest, frozenset())):
        return None
    beside: list[Literal] = []
    ends = [_end(bounds, beside, taken) for bounds in (lows, highs)]
    return Interval(key, ends[0], ends[1], rest, beside)


def _sides(literal: Literal, groups: frozenset[str]) -> Iterator[tuple[Variable, str, Term]]:
    """`key operator end` as which the literal can be read, the end being one of values from outside alone."""
    if not isinstance(literal, Comparison) or literal.operator not in _FLIPPED:
        return
    for side, operator, other in (
        (literal.left, literal.operator, literal.right),
        (literal.right, _FLIPPED[literal.operator], literal.left),
    ):
        if not isinstance(side, Variable) or side.name in groups or side.type is Type.SYMBOL:
            continue
        if term_names(other) and term_names(other) <= groups and _may_be_end(other):
            yield side, operator, other


def _may_be_end(term: Term) -> bool:
    """Whether a term, computed beside the aggregation, has a value: only sums and products beyond 64 bits have none."""
    if not isinstance(term, Operation):
        return True
    names = ("+", "*") if term.type is Type.UNSIGNED else ("+", "-", "*", "neg")  # 3u - 4u is no rare slip
    return term.name in names and all(map(_may_be_end, term.arguments))


def _end(bounds: list[tuple[str, Term]], beside: list[Literal], taken: set[str]) -> tuple[str, Variable] | None:
    if not bounds:
        return None
    operator, term = bounds[0]
    if isinstance(term, Variable):
        return operator, term
    variable = Variable(fresh_name(f"={format_term(term)}", taken), term.type, term.span)
    beside.append(Comparison("=", variable, term, term.span))
    return operator, variable
