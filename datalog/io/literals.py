"""How values are spelled in fact files and transaction streams, and read back from there."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from datetime import date
from difflib import get_close_matches

from datalog.io.parts import read_parts
from datalog.ir.branch import spell_parts
from datalog.ir.core import PyValue, Type
from datalog.ir.spelling import FLOAT, INTEGER, read_date, read_datetime, read_decimal, read_float, read_integer, spell_value
from datalog.ir.structures import Structure
from datalog.store.values import BadValue, canonical, noun, shown
from datalog.syntax.constants import WRITTEN, read_constant
from datalog.syntax.tree import NOWHERE

TRUTHS = {"true": True, "false": False}
FORMS = {Type.DATE: "YYYY-MM-DD", Type.DATETIME: "YYYY-MM-DDTHH:MM:SSZ"}
WORDS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
NUMBER = re.compile(r"-?(?:0x[0-9a-fA-F]+u?|0b[01]+u?|[0-9]+(?:u|(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?))", re.ASCII)
PLAIN_DIGITS = re.compile(r"-?[0-9]+(?:\.[0-9]+)?", re.ASCII)


def parse(text: str, type: Type) -> PyValue:
    """The value that a cell spells; blanks around all but a symbol are let pass. BadValue if it spells none of `type`."""
    if type is Type.SYMBOL:
        return text
    if isinstance(type, Structure):
        return read_parts(text, type, parse, quoted=False)
    stripped = text.strip(" \t")
    if type is Type.FLOAT:
        if FLOAT.fullmatch(stripped):
            return rounded(stripped)
    elif type is Type.BOOL:
        if stripped.lower() in TRUTHS:
            return TRUTHS[stripped.lower()]
    elif type not in (Type.NUMBER, Type.UNSIGNED):
        return from_text(stripped, type)
    elif stripped.isdigit() and len(stripped) < 19 and stripped.isascii():
        return int(stripped)
    elif (integer := read_integer(stripped)) is not None:
        return canonical(integer, type)
    raise BadValue(f"{shown(text)} is no {noun(type)}")


def from_text(text: str, type: Type) -> PyValue:
    """The date, datetime or decimal that a text is, as `datalog.ir.spelling` reads it. BadValue if it is none of `type`."""
    try:
        if type is Type.DATE:
            found: PyValue | None = read_date(text)
        else:
            found = read_datetime(text) if type is Type.DATETIME else read_decimal(text, type.scale)
    except ValueError as error:
        raise BadValue(str(error)) from None
    if found is None:
        form = FORMS.get(type)
        raise BadValue(f"{shown(text)} is no {noun(type)}" + (f", which is written {form}" if form else ""))
    return found


def rounded(text: str) -> float:
    """The float nearest to what a text of form FLOAT spells. BadValue if it is finite and beyond all floats."""
    try:
        value = read_float(text)
    except OverflowError:
        raise BadValue(f"{shown(text)[1:-1]} is out of range: a float reaches 1.7976931348623157e+308") from None
    assert value is not None
    return math.nan if value != value else value + 0.0


def read_literal(written: str, type: Type) -> PyValue:
    """The value of a literal of the language, as a value of `type`.

    Other than in a program, where a literal has its type from its spelling, the column decides: an unsigned number needs
    no `u`, an integer is taken for a float that it is exactly, inf, -inf and nan are floats, digits are a decimal, and a string
    is a date or a datetime. BadValue if it does not fit the type, BadLiteral if it names no value.
    """
    if isinstance(type, Structure):
        return read_parts(written, type, read_literal, quoted=True)
    if type is Type.FLOAT and written in WORDS:
        return WORDS[written]
    if type is Type.BOOL and written in TRUTHS:
        return TRUTHS[written]
    string = written.startswith('"')
    if type.scale >= 0 and PLAIN_DIGITS.fullmatch(written):
        return from_text(written, type)
    if not string and not NUMBER.fullmatch(written):
        raise BadValue(f"{written} is no {noun(type)}")
    unsigned = type is Type.UNSIGNED and INTEGER.fullmatch(written) and not written.startswith("-")
    constant = read_constant(f"{written}u" if unsigned else written, NOWHERE)
    if type in FORMS and isinstance(constant.value, str):
        return from_text(constant.value, type)
    if constant.type == type.value or (constant.type == "number" and type in (Type.FLOAT, Type.UNSIGNED)):
        return canonical(constant.value, type)
    form = f', which is written "{FORMS[type]}"' if type in FORMS else ""
    raise BadValue(f"{shown(constant.value) if string else written} is no {noun(type)}{form}")


def spell(value: PyValue, type: Type) -> str:
    """A literal that `read_literal` reads as exactly `value`."""
    if isinstance(type, Structure):
        return spell_parts(value, spell_leaf)
    if isinstance(value, str):
        return f'"{value.translate(WRITTEN)}"'
    if type is Type.FLOAT:
        assert isinstance(value, (int, float))
        return repr(float(value))
    return f'"{spell_value(value)}"' if isinstance(value, date) else spell_value(value)


def spell_leaf(value: PyValue) -> str:
    """A literal for what has no parts and stands within something that has."""
    return spell(value, Type.FLOAT if isinstance(value, float) else Type.SYMBOL)


def closest(name: str, known: Iterable[str]) -> str:
    """A hint "did you mean …?" if one of the names that are known resembles `name`, else the empty string."""
    found = get_close_matches(name, list(known), 1, 0.6)
    return f"did you mean `{found[0]}`?" if found else ""
