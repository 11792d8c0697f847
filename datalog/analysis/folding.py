"""Arithmetic on constants, as facts need it: `p(1 + 2).` What else a fact computes makes it a rule.

It computes as rules do (`datalog.kernels.expressions`): unsigned wrap around, and with `wraps` numbers do, which else are exact or have
no value; `/` truncates towards zero and `%` takes the sign of its left side, as in C and in Soufflé; floats are IEEE doubles, but without
`wraps` a division by zero has no value.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from datalog.analysis.findings import Findings
from datalog.analysis.walk import operands
from datalog.ir.core import Type
from datalog.ir.formulas import Atom, Constant, Operation, Term
from datalog.ir.primitives import AUTOINC
from datalog.ir.structures import is_structural, shape_made
from datalog.syntax import tree

_FOLDED = {("+", 2), ("-", 2), ("*", 2), ("/", 2), ("%", 2), ("^", 2), ("-", 1)}


def can_fold(term: tree.Term) -> bool:
    """Whether a term of a fact needs no rule to be computed."""
    if isinstance(term, tree.Operation):
        return (term.name, len(term.arguments)) in _FOLDED and all(map(can_fold, term.arguments))
    if isinstance(term, tree.Record | tree.Branch):
        return all(map(can_fold, operands(term)))
    return not isinstance(term, tree.Application | tree.Aggregate | tree.Cast)


def is_folded(fact: Atom) -> bool:
    """Whether `fold_fact` can compute the fact's expressions: not those of decimals."""
    return all(map(_is_folded, fact.terms))


def _is_folded(term: Term) -> bool:
    if not isinstance(term, Operation):
        return True
    if is_structural(term.name):
        return all(map(_is_folded, term.arguments))
    return term.type in (Type.NUMBER, Type.UNSIGNED, Type.FLOAT) and term.name != AUTOINC


_WORDS = 2**64
_BOUNDS = {Type.NUMBER: (-(2**63), 2**63 - 1), Type.UNSIGNED: (0, 2**64 - 1)}


def fold_fact(fact: Atom, findings: Findings, wraps: bool = False) -> Atom:
    """The fact with its expressions computed; what cannot be computed is reported and left."""
    if not any(isinstance(term, Operation) for term in fact.terms):
        return fact
    return Atom(fact.predicate, tuple(_fold(term, findings, wraps) for term in fact.terms), fact.span)


def _fold(term: Term, findings: Findings, wraps: bool) -> Term:
    if not isinstance(term, Operation):
        return term
    arguments = [_fold(argument, findings, wraps) for argument in term.arguments]
    if is_structural(term.name):
        return make(term.name, arguments, term.type, term.span)
    values = [argument.value for argument in arguments if isinstance(argument, Constant) and isinstance(argument.value, (int, float))]
    if len(values) != len(arguments):
        return term  # a part of it has been reported
    try:
        if term.type is Type.FLOAT:
            return Constant(_float(term.name, [float(value) for value in values], wraps), term.type, term.span)
        wrapping = wraps or term.type is Type.UNSIGNED
        value = _integer(term.name, [int(value) for value in values], wrapping)
    except ArithmeticError as error:
        findings.add(term.span, f"this expression has no value: {error}", "a fact must be a constant row")
        return term
    low, high = _BOUNDS[term.type]
    if wrapping:
        value = (value - low) % _WORDS + low
    if not low <= value <= high:
        findings.add(
            term.span,
            f"the value of this expression does not fit the type {term.type.value}",
            '.pragma "overflow" "wrap" lets numbers wrap around',
        )
        return term
    return Constant(value, term.type, term.span)


def make(name: str, arguments: Sequence[Term], type: Type, span: tree.Span) -> Term:
    """A record or branch of these parts; a constant if they are."""
    values = [argument.value for argument in arguments if isinstance(argument, Constant)]
    shape = shape_made(name, type)
    if len(values) < len(arguments) or shape is None:
        return Operation(name, tuple(arguments), type, span)
    return Constant(shape.value(values), type, span)


def _integer(name: str, values: list[int], wrapping: bool) -> int:
    if name == "neg":
        return -values[0]
    left, right = values
    match name:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "^":
            if right < 0:
                return _quotient(1, left**-right) if abs(left) < 2 else 0
            if wrapping:
                return pow(left, right, _WORDS)
            if abs(left) > 1 and right > 64:
                raise ArithmeticError("integer overflow")
            return int(left**right)
    quotient = _quotient(left, right)
    return quotient if name == "/" else left - quotient * right


def _quotient(left: int, right: int) -> int:
    if right == 0:
        raise ArithmeticError("division by zero")
    return abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)


def _float(name: str, values: list[float], wraps: bool) -> float:
    if name == "neg":
        return -values[0]
    left, right = values
    match name:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/":
            return _divide(left, right, wraps)
        case _:
            return _power(left, right)


def _divide(left: float, right: float, wraps: bool) -> float:
    if right == 0 and wraps:
        return math.nan if left == 0 or left != left else math.copysign(math.inf, left)
    if right == 0:
        raise ArithmeticError("division by zero")
    return left / right


def _power(left: float, right: float) -> float:
    try:
        return math.pow(left, right)
    except OverflowError:
        odd = right % 2 == 1
        return -math.inf if left < 0 and odd else math.inf
    except ValueError:  # 0 to a negative power, or a negative base to a fraction
        if left != 0:
            return math.nan
        return math.copysign(math.inf, left) if right % 2 == 1 else math.inf
