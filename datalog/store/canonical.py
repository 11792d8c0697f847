"""One value in Python's form of its type, or an error that says why the type does not admit it.

Nothing is converted silently. A bool is no number, an int no bool, and a float no decimal. An int is a float or a decimal where
it is one exactly, a Decimal has no more digits behind the point than its type, and a date is no datetime, nor the other way.
A datetime without a zone is taken as UTC, one with a zone is converted. A record is None for `nil`, else a tuple (what comes out is a
named one), a list, or a dictionary by the names of its fields; a value of an algebraic type is a `Branch`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import numpy as np

from datalog.ir.branch import Branch, spell_parts
from datalog.ir.core import PyValue, Type
from datalog.ir.spelling import decimal_of, spell_value, unscaled
from datalog.ir.structures import Structure

LEAST, GREATEST = -(2**63), 2**63 - 1
GREATEST_UNSIGNED = 2**64 - 1
SHOWN = 60  # a longer value is shortened in messages


class BadValue(ValueError):
    """A value that its type does not admit; `row` is its place in the column that was encoded (0 for a single value)."""

    def __init__(self, message: str, row: int = 0) -> None:
        super().__init__(message)
        self.row = row


def shown(value: object) -> str:
    """A value as messages quote it: strings and dates in double quotes, as programs have them, long ones shortened."""
    if isinstance(value, str):
        text = value if len(value) <= SHOWN else value[: SHOWN - 1] + "…"
        escaped = text.translate({0x22: '\\"', 0x5C: "\\\\", 0x0A: "\\n", 0x0D: "\\r", 0x09: "\\t"})
        return f'"{escaped}"' if escaped.isprintable() else f'"{ascii(escaped)[1:-1]}"'
    if value is None or (isinstance(value, date) and value != value):  # pandas' NaT calls itself a datetime
        return "a missing value"
    if isinstance(value, date):
        return f'"{spell_value(value)}"' if not isinstance(value, datetime) or value.tzinfo is UTC else f'"{value.isoformat()}"'
    if isinstance(value, (np.datetime64, np.timedelta64)):
        text = str(value)
    elif isinstance(value, (tuple, Branch)):
        text = spell_parts(value, shown)
    elif isinstance(value, Decimal):
        text = spell_value(value) if abs(value.adjusted()) < SHOWN else str(value)
    else:
        value = value.item() if isinstance(value, np.generic) else value
        if isinstance(value, int) and value.bit_length() > 8 * SHOWN:
            return "an integer of more than 64 bits"  # Python refuses to print the longest ones
        text = repr(value)
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


def noun(type: Type) -> str:
    """What messages call a value of `type`."""
    return "unsigned number" if type is Type.UNSIGNED else type.value


def folded(
    value: object,
    type: Structure,
    leaf: Callable[[Any, Type], Any],
    nil: Any,
    make: Callable[[Structure, int, list[Any]], Any],
    form: Callable[[Any, Structure], object] | None = None,
) -> Any:
    """What a value with parts comes to: `leaf` says it for what has none, `make` for the number of a shape and what the parts came to.

    `form` gives Python's form of a value that has another one, its parts left as they are. BadValue if it is none
    of `type`. A value may be nested as deep as it likes."""
    frames: list[tuple[Structure, int, Sequence[object], list[Any]]] = []  # what is begun, and what its first parts came to
    wanted: Type = type
    while True:
        if not isinstance(wanted, Structure):
            found = leaf(value, wanted)
        elif value is None and wanted.record:
            found = nil
        else:
            number, parts = taken_apart(value if form is None else form(value, wanted), wanted)
            if parts:
                frames.append((wanted, number, parts, []))
                value, wanted = parts[0], wanted.shapes[number].types[0]
                continue
            found = make(wanted, number, [])
        while frames:
            of, number, parts, done = frames[-1]
            done.append(found)
            if len(done) < len(parts):
                value, wanted = parts[len(done)], of.shapes[number].types[len(done)]
                break
            frames.pop()
            found = make(of, number, done)
        else:
            return found


def taken_apart(value: object, type: Structure) -> tuple[int, Sequence[object]]:
    """The number of a value's shape and its parts."""
    if type.record:
        (shape,) = type.shapes
        if isinstance(value, Mapping) and value.keys() == set(shape.fields):
            return 0, [value[name] for name in shape.fields]
        if isinstance(value, (tuple, list)) and len(value) == len(shape.fields):
            return 0, value
        raise BadValue(f"{shown(value)} is no {noun(type)}, which is [{', '.join(shape.fields)}]")
    if not isinstance(value, Branch):
        raise BadValue(f'{shown(value)} is no {noun(type)}; it takes a Branch, in JSON {{"{type.shapes[0].name}": […]}}')
    number = type.number(value.branch)
    if number < 0:
        raise BadValue(f"{shown(value)} is no {noun(type)}, which has {' and '.join(f'${shape.name}' for shape in type.shapes)}")
    fields = len(type.shapes[number].fields)
    if len(value.fields) != fields:
        raise BadValue(f"{shown(value)} is no {noun(type)}: ${value.branch} has {fields} field{'' if fields == 1 else 's'}")
    return number, value.fields


def canonical(value: object, type: Type) -> PyValue:
    """`value` in Python's form of `type`, with one NaN and one zero. BadValue if the type does not admit it.

    A `numpy.datetime64` has a type of its own, which is neither a date nor a datetime: `columns.codes_of_ticks` reads it.
    """
    if isinstance(type, Structure):
        known: PyValue = folded(value, type, canonical, None, lambda of, number, parts: of.shapes[number].value(parts))
        return known
    if isinstance(value, np.generic) and not isinstance(value, (np.datetime64, np.timedelta64)):
        value = value.item()
    if type is Type.SYMBOL:
        if isinstance(value, str):
            return value if value.__class__ is str else str(value)
    elif isinstance(value, bool):
        if type is Type.BOOL:
            return value
    elif type is Type.FLOAT:
        if isinstance(value, float):
            return math.nan if value != value else value + 0.0
        if isinstance(value, int):
            return exact_float(value)
    elif type is Type.DATE:
        if isinstance(value, date) and not isinstance(value, datetime):
            return value if value.__class__ is date else date(value.year, value.month, value.day)
    elif type is Type.DATETIME:
        if isinstance(value, datetime) and value == value:
            return in_utc(value)
    elif type.scale >= 0:
        if isinstance(value, (int, Decimal)):
            return exact_decimal(value, type)
        if isinstance(value, float):
            raise BadValue(f"{shown(value)} is a float, and no float is taken for a decimal; give a decimal.Decimal")
    elif type is not Type.BOOL and isinstance(value, int):
        low, high = (LEAST, GREATEST) if type is Type.NUMBER else (0, GREATEST_UNSIGNED)
        if not low <= value <= high:
            raise BadValue(out_of_range(value, type))
        return value if value.__class__ is int else int(value)
    raise BadValue(f"{shown(value)} is no {noun(type)}")


def exact_float(value: int) -> float:
    try:
        converted = float(value)
    except OverflowError:
        converted = math.inf
    if converted != value:
        raise BadValue(f"{shown(value)} has no exact float; write it with a decimal point to have it rounded")
    return converted


def exact_decimal(value: int | Decimal, type: Type) -> Decimal:
    """`value` with the scale of `type`; BadValue if it does not hold it."""
    if isinstance(value, int) and value.bit_length() > 64:
        low, high = (spell_value(decimal_of(bound, type.scale)) for bound in (LEAST, GREATEST))
        raise BadValue(f"{shown(value)} is out of range: a {noun(type)} goes from {low} to {high}")
    try:
        return decimal_of(unscaled(Decimal(value), type.scale), type.scale)
    except ValueError as error:
        raise BadValue(str(error)) from None


def in_utc(value: datetime) -> datetime:
    """A datetime in UTC, which it is taken to be in if it has no zone."""
    if getattr(value, "nanosecond", 0):  # pandas' Timestamp is a datetime that has more digits
        raise BadValue(f"{shown(value)} is finer than a microsecond; a datetime has 6 digits behind the point")
    clock = (value.hour, value.minute, value.second, value.microsecond)
    plain = datetime(value.year, value.month, value.day, *clock, value.tzinfo or UTC, fold=value.fold)
    try:
        return plain.astimezone(UTC).replace(fold=0)
    except OverflowError:
        raise BadValue(f"{shown(value)} is out of range: a datetime lies within the years 1 to 9999 in UTC") from None


def out_of_range(value: int, type: Type) -> str:
    """The message for an integer that the 64 bits of `type` do not hold."""
    bounds = f"{LEAST} to {GREATEST}" if type is Type.NUMBER else f"0 to {GREATEST_UNSIGNED}"
    return f"{shown(value)} is out of range: {'a' if type is Type.NUMBER else 'an'} {noun(type)} goes from {bounds}"
