"""Dates and datetimes computed on whole columns of their codes, which are days and microseconds since 1970 in UTC."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from datalog.ir.core import Type
from datalog.store.columns import DAY, DAYS

Words = NDArray[np.int64]

SECOND = 1_000_000  # microseconds
TIMES = DAYS[0] * DAY, (DAYS[1] + 1) * DAY - 1
BOUNDS = {
    Type.DATE: (*DAYS, f"a date goes from day {DAYS[0]} (0001-01-01) to {DAYS[1]} (9999-12-31)"),
    Type.DATETIME: (*TIMES, f"a datetime lies within the years 1 to 9999, microseconds {TIMES[0]} to {TIMES[1]}"),
}


def convert(column: Words, type: Type, result: Type) -> tuple[Words, dict[int, str]]:
    """`to_date` and `to_datetime` of numbers and of each other: codes, and why a row has none."""
    if type is Type.DATETIME:
        return column // DAY, {}
    if type is Type.DATE:
        return column * DAY, {}
    low, high, bounds = BOUNDS[result]
    outside = np.flatnonzero((column < low) | (column > high)).tolist()
    return column.copy(), {row: f"{column[row]} is out of range: {bounds}" for row in outside}


def later(column: Words, count: Words, type: Type) -> tuple[Words, dict[int, str]]:
    """`add_days` of dates and `add_seconds` of datetimes: codes, and why a row has none."""
    unit = 1 if type is Type.DATE else SECOND
    low, high, bounds = BOUNDS[type]
    outside = (count > (high - column) // unit) | (count < -((column - low) // unit))
    word = "days" if type is Type.DATE else "seconds"
    failures = {row: f"{count[row]} {word} later is out of range: {bounds}" for row in np.flatnonzero(outside).tolist()}
    return column + np.where(outside, 0, count) * unit, failures


def between(start: Words, end: Words, type: Type) -> Words:
    """`days_between` dates and `seconds_between` datetimes: from `start` to `end`, whole ones, towards zero."""
    passed = end - start
    return passed if type is Type.DATE else np.sign(passed) * (np.abs(passed) // SECOND)


def calendar_part(name: str, column: Words, type: Type) -> Words:
    """The `year`, `month` or `day` of each date or datetime, months and days from 1."""
    days = (column if type is Type.DATE else column // DAY).view("datetime64[D]")
    months = days.astype("datetime64[M]")
    if name == "year":
        return months.astype("datetime64[Y]").astype(np.int64) + 1970
    if name == "month":
        return months.astype(np.int64) % 12 + 1
    first: Words = months.astype("datetime64[D]").astype(np.int64)
    return days.astype(np.int64) - first + 1
