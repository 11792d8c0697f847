"""Interval arithmetic over the columns of a program being drawn: which expressions cannot fail, and which recursion ends."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from tests.oracle.rules import Value
from tests.oracle.values import RANGES, OracleArithmeticError, compute, scale_of

Bound = Any  # an int, of a decimal type a Decimal


@dataclass(frozen=True, slots=True)
class Column:
    """What a column or a variable may hold: values of `type`, for integers and decimals between `low` and `high`."""

    type: str
    low: Bound = 0
    high: Bound = 0

    @property
    def is_integer(self) -> bool:
        return self.type in RANGES

    @property
    def is_exact(self) -> bool:
        return self.is_integer or scale_of(self.type) is not None

    def holds(self, other: Column) -> bool:
        return self.type == other.type and self.low <= other.low and other.high <= self.high

    def hull(self, other: Column) -> Column:
        return Column(self.type, min(self.low, other.low), max(self.high, other.high))


def column_of(values: tuple[Value, ...], type: str) -> Column:
    column = Column(type)
    if not column.is_exact:
        return column
    bounds: list[Any] = list(values)
    return Column(type, min(bounds), max(bounds))


def full(type: str) -> Column:
    scale = scale_of(type)
    if scale is not None:
        return Column(type, Decimal(-(2**63)).scaleb(-scale), Decimal(2**63 - 1).scaleb(-scale))
    return Column(type, *RANGES.get(type, (0, 0)))


def result(name: str, arguments: list[Column]) -> Column | None:
    """The column of an operation's results, or None if it might fail or might divide a float."""
    type = arguments[0].type
    if type == "float":
        return Column(type) if name in "+-*" else None
    if len(arguments) == 1 and type == "unsigned":
        return None  # a constant with a minus is none
    if len(arguments) == 1:
        arguments = [Column(type), *arguments]
    left, right = arguments
    if name in "/%" and right.low <= 0 <= right.high:
        return None
    if name == "%":
        bound = max(abs(right.low), abs(right.high)) - 1
        return None if right.low < 0 else Column(type, -bound if left.low < 0 else 0, bound)
    if type == "unsigned" and name in "+-*" and not 0 <= left.low - right.high <= left.high * right.high + left.high + right.high < 2**64:
        return full(type)  # it may wrap around
    try:
        corners: list[Any] = [compute(name, [a, b], type) for a in (left.low, left.high) for b in (right.low, right.high)]
    except OracleArithmeticError:
        return None
    if name == "/" and left.low < 0 < left.high:
        corners.append(0)
    return Column(type, min(corners), max(corners))
