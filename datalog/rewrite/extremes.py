"""Subsumptions that keep the extremes of groups: `p(x, _, c1) <= p(x, _, c2) :- c2 < c1.` keeps the rows with the least c of each x.

The two rows have some columns in common, the groups; one column is compared, and nothing is said of the others. Where the comparison
admits equal values, there must be no others: rows that differ in these alone would drop each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from datalog.ir.formulas import Aggregation, Atom, Comparison, Conjunction, Literal, Rule, Variable, Wildcard
from datalog.ir.structures import Structure

KEEPS = {"<": "max", "<=": "max", ">": "min", ">=": "min"}  # by what the dropped row's value is to the other's
FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True, slots=True)
class Extreme:
    """The rows that stay have the least or the greatest value of a column among the rows that agree with them in others."""

    function: str
    column: int
    groups: frozenset[int]

    def literal(self, name: str, columns: Sequence[Variable]) -> Literal:
        """That the value of the column is the extreme one among the rows of a predicate."""
        value = columns[self.column]
        other = Variable(f"{value.name}'", value.type)
        terms = tuple(
            other if at == self.column else column if at in self.groups else Wildcard(column.type) for at, column in enumerate(columns)
        )
        return Aggregation(value, self.function, (other,), Conjunction((), (Atom(name, terms),)), False)


def extreme_of(rule: Rule) -> Extreme | None:
    """What the rule for dominated rows (`datalog.analysis.subsumption`) keeps, if it is of this kind."""
    less, greater, *rest = rule.body.literals
    assert isinstance(less, Atom) and isinstance(greater, Atom)
    names = [_names(atom) for atom in (less, greater)]
    compared = [_compared(literal) for literal in rest]
    if None in names or None in compared or not compared:
        return None
    dropped, kept = (own for own in names if own is not None)
    differing = [at for at, (one, other) in enumerate(zip(dropped, kept, strict=True)) if one != other]
    if len({*dropped, *kept}) < len(dropped) + len(differing):  # a variable stands in two places
        return None
    operators: set[str] = set()
    columns: set[int] = set()
    for test in compared:
        assert test is not None
        operator, left, right = test
        at = dropped.index(left) if left in dropped else dropped.index(right) if right in dropped else -1
        if at not in differing or {left, right} != {dropped[at], kept[at]}:
            return None
        columns.add(at)
        operators.add(operator if left == dropped[at] else FLIPPED.get(operator, operator))
    ordered = operators - {"!="}
    if len(columns) > 1 or len(ordered) > 1 or not ordered:
        return None
    (operator,), (column,) = ordered, columns
    if isinstance(less.terms[column].type, Structure) or (operator in ("<=", ">=") and len(differing) > 1):
        return None
    return Extreme(KEEPS[operator], column, frozenset(range(len(dropped))) - set(differing))


def _names(atom: Atom) -> list[str] | None:
    """The names of the variables in the columns of an atom that has nothing else, or None."""
    names = [term.name for term in atom.terms if isinstance(term, Variable)]
    return names if len(names) == len(atom.terms) else None


def _compared(literal: Literal) -> tuple[str, str, str] | None:
    """An ordered or unequal pair of variables."""
    match literal:
        case Comparison(operator="<" | "<=" | ">" | ">=" | "!=" as operator, left=Variable(name=left), right=Variable(name=right)):
            return operator, left, right
    return None
