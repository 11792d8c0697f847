"""Interval arithmetic over the columns of a program being drawn: which expressions cannot fail, and which recursion ends."""

from __future__ import annotations

from dataclasses import dataclass

from tests.oracle.naive import RANGES, OracleArithmeticError, compute
from tests.oracle.rules import Value


@dataclass(frozen=True, slots=True)
class Column:
    """What a column or a variable may hold: values of `type`, for integers between `low` and `high`."""

    type: str
    low: int = 0
    high: int = 0

    @property
    def is_integer(self) -> bool:
        return self.type in RANGES

    def holds(self, other: Column) -> bool:
        return self.type == other.type and self.low <= other.low and other.high <= self.high

    def hull(self, other: Column) -> Column:
        return Column(self.type, min(self.low, other.low), max(self.high, other.high))


def column_of(values: tuple[Value, ...], type: str) -> Column:
    if type not in RANGES:
        return Column(type)
    return Column(type, min(int(value) for value in values), max(int(value) for value in values))


def full(type: str) -> Column:
    return Column(type, *RANGES.get(type, (0, 0)))


def result(name: str, arguments: list[Column]) -> Column | None:
    """The column of an operation's results, or None if it might fail or might divide a float."""
    type = arguments[0].type
    if type == "float":
        return Column(type) if name in "+-*" else None
    if len(arguments) == 1:
        arguments = [Column(type), *arguments]
    left, right = arguments
    if name in "/%" and right.low <= 0 <= right.high:
        return None
    if name == "%":
        bound = max(abs(right.low), abs(right.high)) - 1
        return None if right.low < 0 else Column(type, -bound if left.low < 0 else 0, bound)
    try:
        corners = [int(compute(name, [a, b], type)) for a in (left.low, left.high) for b in (right.low, right.high)]
    except OracleArithmeticError:
        return None
    if name == "/" and left.low < 0 < left.high:
        corners.append(0)
    return Column(type, min(corners), max(corners))
