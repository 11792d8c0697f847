"""Variable orders: which variable of a rule is bound at which depth.

Greedy: a variable that an expression computes comes as soon as its operands are bound; else, among the variables that
share an atom with a bound one, the variable with the fewest estimated values. A column of an atom with n rows and c
columns is taken to have n^(1/c) values under a bound prefix. Ties go to the variable in more atoms, then by where the
variable stands (predicates, columns, head), never by the order in which the body was written: permuting a body changes
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from datalog.errors import InternalError
from datalog.ir.core import Apply, CoreRule, Expression, Reference, Type

Rows = Callable[[str], int]  # how many rows a predicate has, or is thought to have
Standing = tuple[tuple[str, int, bool], ...]


def variables_of(expression: Expression) -> frozenset[int]:
    """The variables that an expression reads."""
    match expression:
        case Reference(variable=variable):
            return frozenset((variable,))
        case Apply(arguments=arguments):
            return frozenset().union(*(variables_of(argument) for argument in arguments))
        case _:
            return frozenset()


def is_fallible(expression: Expression) -> bool:
    """May the expression have no value? Sums of floats have one, sums of integers may leave the 64 bits."""
    match expression:
        case Apply(name=name, arguments=arguments, type=type):
            return type is not Type.FLOAT or name == "/" or any(map(is_fallible, arguments))
        case _:
            return False


def variable_order(
    rule: CoreRule, rows: Rows, first: Sequence[int] = (), without: int = -1, postponed: Collection[int] = ()
) -> tuple[int, ...]:
    """An order of all variables of `rule` that begins with `first`.

    `without` is the number of an atom whose rows are given as prefixes, so that it binds its variables by itself.
    The bindings numbered in `postponed` are used only for variables that nothing else binds, and those come last.
    Raises InternalError where no order exists, which range restriction has excluded.
    """
    order = list(dict.fromkeys(first))
    bound = set(order)
    atoms = [
        (frozenset(v for v in atom.columns if v is not None), rows(atom.predicate))
        for number, atom in enumerate(rule.atoms)
        if not atom.negated and number != without
    ]
    operands = [variables_of(binding.expression) for binding in rule.bindings]
    standing = [_standing(rule, variable) for variable in range(len(rule.variables))]
    while len(order) < len(rule.variables):
        ready = [number for number, binding in enumerate(rule.bindings) if binding.variable not in bound and operands[number] <= bound]
        early = [number for number in ready if number not in postponed]
        if early or (ready and all(variables <= bound for variables, _ in atoms)):
            chosen = min((rule.bindings[number].variable for number in early or ready), key=lambda v: standing[v])
        else:
            chosen = _fewest_values(atoms, bound, standing)
        order.append(chosen)
        bound.add(chosen)
    return tuple(order)


def _standing(rule: CoreRule, variable: int) -> Standing:
    """Where a variable stands, said without the order of the body."""
    places = [
        (atom.predicate, column, atom.negated) for atom in rule.atoms for column, stands in enumerate(atom.columns) if stands == variable
    ]
    head = [("", column, False) for column, stands in enumerate(rule.head_columns) if stands == variable]
    return tuple(head + sorted(places))


def _fewest_values(atoms: Sequence[tuple[frozenset[int], int]], bound: set[int], standing: Sequence[Standing]) -> int:
    scores: dict[int, tuple[bool, float, int, Standing]] = {}
    for variables, rows in atoms:
        values = max(rows, 1) ** (1 / max(len(variables), 1))
        connected = bool(variables & bound)
        for variable in variables - bound:
            unconnected, fewest, occurrences, place = scores.get(variable, (True, float("inf"), 0, standing[variable]))
            scores[variable] = (unconnected and not connected, min(fewest, values), occurrences - 1, place)
    if not scores:
        raise InternalError("a rule has a variable that nothing binds")
    return min(scores, key=lambda variable: (*scores[variable], variable))
