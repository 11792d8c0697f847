"""Variable orders: which variable of a rule is bound at which depth.

Greedy: a variable that an expression computes comes as soon as its operands are bound; else, among the variables that
share an atom with a bound one, the variable with the fewest estimated values. A column of an atom with n rows and c
columns is taken to have n^(1/c) values under a bound prefix.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from datalog.errors import InternalError
from datalog.ir.core import Apply, CoreRule, Expression, Reference

Rows = Callable[[str], int]  # how many rows a predicate has, or is thought to have


def variables_of(expression: Expression) -> frozenset[int]:
    """The variables that an expression reads."""
    match expression:
        case Reference(variable=variable):
            return frozenset((variable,))
        case Apply(arguments=arguments):
            return frozenset().union(*(variables_of(argument) for argument in arguments))
        case _:
            return frozenset()


def variable_order(rule: CoreRule, rows: Rows, first: Sequence[int] = (), without: int = -1) -> tuple[int, ...]:
    """An order of all variables of `rule` that begins with `first`.

    `without` is the number of an atom whose rows are given as prefixes, so that it binds its variables by itself.
    Raises InternalError where no order exists, which range restriction has excluded.
    """
    order = list(dict.fromkeys(first))
    bound = set(order)
    atoms = [
        (frozenset(v for v in atom.columns if v is not None), rows(atom.predicate))
        for number, atom in enumerate(rule.atoms)
        if not atom.negated and number != without
    ]
    computed = [(binding.variable, variables_of(binding.expression)) for binding in rule.bindings]
    while len(order) < len(rule.variables):
        ready = next((v for v, operands in computed if v not in bound and operands <= bound), None)
        chosen = ready if ready is not None else _fewest_values(atoms, bound)
        order.append(chosen)
        bound.add(chosen)
    return tuple(order)


def _fewest_values(atoms: Iterable[tuple[frozenset[int], int]], bound: set[int]) -> int:
    scores: dict[int, tuple[bool, float, int, int]] = {}
    for variables, rows in atoms:
        values = max(rows, 1) ** (1 / max(len(variables), 1))
        connected = bool(variables & bound)
        for variable in sorted(variables - bound):
            unconnected, fewest, occurrences, place = scores.get(variable, (True, float("inf"), 0, len(scores)))
            scores[variable] = (unconnected and not connected, min(fewest, values), occurrences - 1, place)
    if not scores:
        raise InternalError("a rule has a variable that nothing binds")
    return min(scores, key=lambda variable: scores[variable])
