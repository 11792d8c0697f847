"""Literals and the types that they may have, and sets of types in words.

An integer may be a number, an unsigned, a float or a decimal, a text between quotes a symbol, a date or a datetime.
"""

from __future__ import annotations

from decimal import Decimal

from datalog.ir.core import Type
from datalog.ir.primitives import ANY, DECIMALS, NUMERIC, PLAIN, TIMES, WHOLE, Allowed
from datalog.ir.spelling import is_one, read_date, read_datetime
from datalog.ir.structures import Structure
from datalog.syntax.tree import Constant, Operation, Term

UNSIGNED: Allowed = frozenset({Type.UNSIGNED})
_SYMBOL: Allowed = frozenset({Type.SYMBOL})
_SIGNED: Allowed = frozenset({Type.NUMBER, Type.FLOAT})
_HUGE: Allowed = frozenset({Type.UNSIGNED, Type.FLOAT})
_BOOL: Allowed = frozenset({Type.BOOL})
_LARGEST = 2**63

_NOUNS: dict[Allowed, str] = {
    frozenset({Type.NUMBER}): "a number",
    UNSIGNED: "an unsigned",
    frozenset({Type.FLOAT}): "a float",
    _SYMBOL: "a symbol",
    _BOOL: "a bool",
    frozenset({Type.DATE}): "a date",
    frozenset({Type.DATETIME}): "a datetime",
    DECIMALS: "a decimal",
    NUMERIC: "numeric",
    PLAIN: "a number, an unsigned or a float",
    WHOLE: "an integer",
    WHOLE | DECIMALS: "an integer or a decimal",
    WHOLE | _BOOL: "an integer or a bool",
    _SIGNED: "a number or a float",
    _HUGE: "an unsigned or a float",
    TIMES: "a date or a datetime",
    ANY: "of a type that has an order",
}


def literal(term: Term) -> Constant | None:
    """The constant that `term` is, signs applied; None if it is no constant."""
    if isinstance(term, Constant):
        return term
    if isinstance(term, Operation) and term.name == "-" and len(term.arguments) == 1:
        inner = literal(term.arguments[0])
        if inner is not None and inner.type not in ("symbol", "bool"):
            assert isinstance(inner.value, (int, float))
            spelling = inner.spelling[1:] if inner.spelling.startswith("-") else inner.spelling and f"-{inner.spelling}"
            return Constant(-inner.value, inner.type, spelling, term.span)
    return None


def literal_types(constant: Constant) -> Allowed:
    """The types that a literal may have; empty if it fits none."""
    value = constant.value
    if isinstance(value, bool):
        return _BOOL
    if isinstance(value, str):
        return _text_types(value)
    if constant.type == "float":
        return frozenset({Type.FLOAT}) | _decimals_of(exact_decimal(constant))
    assert isinstance(value, int)
    if constant.type == "unsigned":
        return UNSIGNED if 0 <= value < 2 * _LARGEST else frozenset()
    decimals = _decimals_of(Decimal(value)) if -_LARGEST <= value < 2 * _LARGEST else frozenset()
    if value >= 0:
        return decimals | (PLAIN if value < _LARGEST else _HUGE if value < 2 * _LARGEST else frozenset())
    return decimals | (_SIGNED if value >= -_LARGEST else frozenset())


def exact_decimal(constant: Constant) -> Decimal:
    """The value of a numeric literal, as it is written."""
    return Decimal(constant.spelling if constant.type == "float" and constant.spelling else repr(constant.value))


def _decimals_of(value: Decimal) -> Allowed:
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    return frozenset(type_ for type_ in Type.DECIMALS if type_.scale >= -exponent and -_LARGEST <= value.scaleb(type_.scale) < _LARGEST)


def _text_types(text: str) -> Allowed:
    if not text[:1].isdigit():
        return _SYMBOL
    return _SYMBOL.union(type_ for type_, read in ((Type.DATE, read_date), (Type.DATETIME, read_datetime)) if is_one(read, text))


def noun(allowed: Allowed) -> str:
    """The set of types, in words."""
    if allowed in _NOUNS:
        return _NOUNS[allowed]
    if len(allowed) == 1:
        (only,) = allowed
        return f"a `{only.value}`" if isinstance(only, Structure) else f"a {only.value}"
    if Type.FLOAT in allowed and allowed <= DECIMALS | {Type.FLOAT}:
        least = min(type_.scale for type_ in allowed & DECIMALS)
        return f"a float, or a decimal with {least} digits behind the point or more" if least else "a float or a decimal"
    if allowed <= NUMERIC:
        return "a decimal" if allowed <= DECIMALS else "numeric"
    if len(allowed - NUMERIC) == 1 and allowed >= NUMERIC:
        return f"numeric or {noun(allowed - NUMERIC)}"
    return "of any type" if len(allowed) > 3 else " or ".join(noun(frozenset({type_})) for type_ in Type.ALL if type_ in allowed)
