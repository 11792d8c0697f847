"""Inverses: `y = x + 1` says what x is where y is known.

Only exact operations are turned round: sums and differences of integers and decimals, products with a constant that is not 0,
signs and bits. What comes out is a candidate, the only one: it must still be put to the test (20 = 3 * x has none), and where it
cannot be computed there is none. Where numbers wrap around, sums and differences are solved by wrapping around, too, and of a product
only the factor that divides it is found, not those that would wrap around to it.
"""

from __future__ import annotations

from datalog.ir.core import Type
from datalog.ir.formulas import Constant, Operation, Term, Variable
from datalog.ir.occurrences import term_variables
from datalog.ir.primitives import DECIMALS, WHOLE

_EXACT = WHOLE | DECIMALS


def solve(term: Term, value: Term, bound: frozenset[str]) -> tuple[Variable, Term] | None:
    """The one variable of `term` that is not `bound`, and what it is where `term = value`; None where that cannot be said."""
    unbound = [variable for variable in term_variables(term) if variable.name not in bound]
    if len(unbound) != 1 or any(variable.name == unbound[0].name for variable in term_variables(value)):
        return None
    while isinstance(term, Operation):
        at = next(at for at, argument in enumerate(term.arguments) if unbound[0] in term_variables(argument))
        turned = _turned(term, value, at)
        if turned is None:
            return None
        term, value = term.arguments[at], turned
    assert isinstance(term, Variable)
    return term, value


def _turned(term: Operation, value: Term, at: int) -> Term | None:
    """What argument number `at` of `term` is where `term = value`."""

    def apply(name: str, *arguments: Term) -> Term:
        return Operation(name, arguments, term.type, term.span)

    if term.type not in _EXACT:
        return None
    if len(term.arguments) == 1:
        exact = (term.name == "neg" and term.type is not Type.UNSIGNED) or term.name == "bnot"
        return apply(term.name, value) if exact else None
    if len(term.arguments) != 2:
        return None
    other = term.arguments[1 - at]
    match term.name:
        case "+":
            return apply("-", value, other)
        case "-":
            return apply("+", value, other) if at == 0 else apply("-", other, value)
        case "*" if term.type not in DECIMALS and isinstance(other, Constant) and other.value != 0:
            return apply("/", value, other)
        case "bxor":
            return apply("bxor", value, other)
        case _:
            return None
