"""What texts convert to: `to_number("12")` and its like. Blanks around the text are let pass, and all the rest must be of the form.

Every function gives its value, or raises ValueError with a message that says why the text has none.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from decimal import ROUND_HALF_EVEN, Context, Decimal

from datalog.ir.core import PyValue, Type
from datalog.ir.spelling import DECIMAL, is_one, read_date, read_datetime, read_float, read_integer
from datalog.store.values import canonical, noun, shown

BLANKS = " \t\n\r\f\v"
BOOLS = {"true": True, "false": False}


def text_to_integer(text: str, type: Type) -> int:
    """An integer as the language writes it: with a sign, 0x or 0b if need be."""
    found = read_integer(text.strip(BLANKS))
    if found is None:
        raise _no(text, type)
    value = canonical(found, type)
    assert isinstance(value, int)
    return value


def text_to_float(text: str, type: Type) -> float:
    """The nearest float, or an infinity or NaN that the text names."""
    try:
        value = read_float(text.strip(BLANKS))
    except OverflowError:
        raise ValueError(f"{shown(text)} is out of range: a float reaches 1.7976931348623157e+308") from None
    if value is None:
        raise _no(text, type)
    return value


def text_to_decimal(text: str, type: Type) -> Decimal:
    """Digits with a sign and a point if need be, rounded half to even to the type's scale."""
    digits = text.strip(BLANKS)
    if not DECIMAL.fullmatch(digits):
        raise _no(text, type)
    exact = Context(prec=len(digits) + type.scale + 1, rounding=ROUND_HALF_EVEN)
    return Decimal(digits).quantize(Decimal(f"1E-{type.scale}"), context=exact)


def text_to_bool(text: str, type: Type) -> bool:
    value = BOOLS.get(text.strip(BLANKS))
    if value is None:
        raise ValueError(f"{shown(text)} is neither true nor false")
    return value


def text_to_date(text: str, type: Type) -> date:
    value = read_date(text.strip(BLANKS))
    if value is None:
        raise _no(text, type)
    return value


def text_to_datetime(text: str, type: Type) -> datetime:
    value = read_datetime(text.strip(BLANKS))
    if value is None:
        raise _no(text, type)
    return value


FROM_TEXT: dict[str, Callable[[str, Type], PyValue]] = {
    "to_number": text_to_integer,
    "to_unsigned": text_to_integer,
    "to_float": text_to_float,
    "to_decimal": text_to_decimal,
    "to_bool": text_to_bool,
    "to_date": text_to_date,
    "to_datetime": text_to_datetime,
}


def _no(text: str, type: Type) -> ValueError:
    return ValueError(f"{shown(text)} is no {noun(type)}{_but(text, type)}")


def _but(text: str, type: Type) -> str:
    """Which other conversion the text may be meant for."""
    for other, read in (("date", read_date), ("datetime", read_datetime)):
        if other != type.value and is_one(read, text.strip(BLANKS)):
            return f"; to_{other} reads it"
    return ""
