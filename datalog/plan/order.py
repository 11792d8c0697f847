"""Variable orders: which variable of a rule is bound at which depth.

Greedy: a variable that an expression computes comes as soon as its operands are bound; else, among the variables that
share an atom with a bound one, the variable that has the fewest values under what is bound: the least, over its atoms,
of distinct(bound columns and its own) / distinct(bound columns). Ties go to the variable in more atoms with a bound
variable, in more atoms, then by where the variable stands (predicates, columns, head, neighbours), never by the order in
which the body was written: permuting a body changes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Protocol, TypeGuard

from datalog.errors import InternalError
from datalog.ir.core import Apply, CoreAtom, CoreRule, Expression, Reference, Type
from datalog.ir.primitives import GENERATORS, always_has_value

Columns = frozenset[int]


class Statistics(Protocol):
    """What is known or thought of predicates (`statistics.py`)."""

    def rows(self, name: str) -> float:
        """How many rows; at least 1."""
        ...

    def size(self, name: str) -> int | None:
        """How many rows, where that is known and not estimated."""
        ...

    def distinct(self, name: str, columns: Columns, width: int) -> float:
        """How many distinct values these columns, of `width`, have together; at least 1."""
        ...


def variables_of(expression: Expression) -> frozenset[int]:
    """The variables that an expression reads."""
    match expression:
        case Reference(variable=variable):
            return frozenset((variable,))
        case Apply(arguments=arguments):
            return frozenset().union(*(variables_of(argument) for argument in arguments))
        case _:
            return frozenset()


def generates(expression: Expression) -> TypeGuard[Apply]:
    """Does it stand for any number of values?"""
    return isinstance(expression, Apply) and expression.name in GENERATORS


def computes(rule: CoreRule, number: int, joined: Collection[int]) -> bool:
    """Does the binding give its variable a value, or else only test it? Values of a range are tested where atoms give them."""
    binding = rule.bindings[number]
    return not (generates(binding.expression) and binding.variable in joined)


def is_fallible(expression: Expression) -> bool:
    """May the expression have no value? Sums of floats have one, sums of integers may leave the 64 bits."""
    match expression:
        case Apply(arguments=arguments):
            return not _is_total(expression) or any(map(is_fallible, arguments))
        case _:
            return False


def _is_total(expression: Apply) -> bool:
    """Has it a value for all arguments of its types?"""
    types = [argument.type for argument in expression.arguments]
    if not generates(expression):
        return always_has_value(expression.name, types, expression.type)
    return types[0] is not Type.FLOAT  # a range has values or none, but for NaN


def fan_out(
    rule: CoreRule, statistics: Statistics, variable: int, bound: Collection[int], without: int = -1
) -> Iterator[tuple[bool, float]]:
    """Per positive atom with the variable: whether it has a bound one, too, and how many values it leaves the variable."""
    for number, atom in enumerate(rule.atoms):
        columns = atom.columns
        if variable in columns and not atom.negated and number != without:
            fixed = [column for column, stands in enumerate(columns) if stands in bound]
            own = statistics.distinct(atom.predicate, frozenset((*fixed, columns.index(variable))), len(columns))
            yield bool(fixed), own / statistics.distinct(atom.predicate, frozenset(fixed), len(columns)) if fixed else own


def variable_order(
    rule: CoreRule, statistics: Statistics, first: Sequence[int] = (), without: int = -1, postponed: Collection[int] = ()
) -> tuple[int, ...]:
    """An order of all variables of `rule` that begins with `first`.

    `without` is the number of an atom whose rows are given as prefixes, so that it binds its variables by itself.
    The bindings numbered in `postponed` are used only for variables that nothing else binds, and those come last.
    Raises InternalError where no order exists, which range restriction has excluded.
    """
    order = list(dict.fromkeys(first))
    bound = set(order)
    joined = joined_variables(rule, without)
    operands = [variables_of(binding.expression) for binding in rule.bindings]
    standing: list[int] = []  # found only where it decides

    def stands(variable: int) -> int:
        if not standing:
            standing.extend(standings(rule))
        return standing[variable]

    while len(order) < len(rule.variables):
        ready = [
            number
            for number, binding in enumerate(rule.bindings)
            if binding.variable not in bound and operands[number] <= bound and computes(rule, number, joined)
        ]
        early = [number for number in ready if number not in postponed]
        if early or (ready and joined <= bound):
            chosen = min((rule.bindings[number].variable for number in early or ready), key=stands)
        elif joined <= bound:
            raise InternalError("a rule has a variable that nothing binds")
        else:
            scores = {variable: _score(rule, statistics, variable, bound, without) for variable in joined - bound}
            least = min(scores.values())
            best = sorted(variable for variable, score in scores.items() if score == least)
            chosen = best[0] if len(best) == 1 else min(best, key=stands)
        order.append(chosen)
        bound.add(chosen)
    return tuple(order)


def joined_variables(rule: CoreRule, without: int = -1) -> frozenset[int]:
    """The variables that stand in a positive atom other than number `without`."""
    atoms = (atom for number, atom in enumerate(rule.atoms) if not atom.negated and number != without)
    return frozenset(variable for atom in atoms for variable in atom.columns if variable is not None)


def _score(rule: CoreRule, statistics: Statistics, variable: int, bound: set[int], without: int) -> tuple[bool, float, int, int]:
    """The less, the sooner; what is equal is decided by where the variables stand."""
    fans = list(fan_out(rule, statistics, variable, bound, without))
    connected = sum(beside for beside, _ in fans)
    fewest = min(fan for beside, fan in fans if beside or not connected)
    return not connected, round(fewest, 6), -connected, -len(fans)


def standings(rule: CoreRule) -> list[int]:
    """A number for each variable that says where it stands, and not in which order the body was written.

    Variables begin with the places that they have, and then take in, round by round, what stands beside them.
    """
    colours = _ranked([_places(rule, variable) for variable in range(len(rule.variables))])
    for _ in rule.variables:
        beside = [
            (colours[variable], sorted(_beside(atom, variable, colours) for atom in rule.atoms if variable in atom.columns))
            for variable in range(len(rule.variables))
        ]
        refined = _ranked(beside)
        if refined == colours:
            break
        colours = refined
    return colours


def _places(rule: CoreRule, variable: int) -> tuple[list[int], list[tuple[str, int, bool]]]:
    places = [(atom.predicate, atom.columns.index(variable), atom.negated) for atom in rule.atoms if variable in atom.columns]
    return [column for column, stands in enumerate(rule.head_columns) if stands == variable], sorted(places)


def _beside(atom: CoreAtom, variable: int, colours: Sequence[int]) -> tuple[str, int, bool, tuple[int, ...]]:
    others = tuple(-1 if stands is None else colours[stands] for stands in atom.columns)
    return atom.predicate, atom.columns.index(variable), atom.negated, others


def _ranked(values: Sequence[object]) -> list[int]:
    ranks = {repr(value): rank for rank, value in enumerate(sorted(values, key=repr))}
    return [ranks[repr(value)] for value in values]
