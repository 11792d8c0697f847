"""Dates and datetimes computed on whole columns of their codes, which are days and microseconds since 1970 in UTC."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from datalog.ir.core import Type

Words = NDArray[np.int64]

MICROSECONDS = 86_400_000_000  # of a day
FIRST_DAY, LAST_DAY = -719_162, 2_932_896  # 0001-01-01 and 9999-12-31
BOUNDS = {
    Type.DATE: (FIRST_DAY, LAST_DAY, "a date goes from day -719162 (0001-01-01) to 2932896 (9999-12-31)"),
    Type.DATETIME: (
        FIRST_DAY * MICROSECONDS,
        (LAST_DAY + 1) * MICROSECONDS - 1,
        "a datetime lies within the years 1 to 9999, microseconds -62135596800000000 to 253402300799999999",
    ),
}


def convert(column: Words, type: Type, result: Type) -> tuple[Words, dict[int, str]]:
    """`to_date` and `to_datetime` of numbers and of each other: codes, and why a row has none."""
    if type is Type.DATETIME:
        return column // MICROSECONDS, {}
    if type is Type.DATE:
        return column * MICROSECONDS, {}
    low, high, bounds = BOUNDS[result]
    outside = np.flatnonzero((column < low) | (column > high)).tolist()
    return column.copy(), {row: f"{column[row]} is out of range: {bounds}" for row in outside}


def calendar_part(name: str, column: Words, type: Type) -> Words:
    """The `year`, `month` or `day` of each date or datetime, months and days from 1."""
    days = (column if type is Type.DATE else column // MICROSECONDS).view("datetime64[D]")
    months = days.astype("datetime64[M]")
    if name == "year":
        return months.astype("datetime64[Y]").astype(np.int64) + 1970
    if name == "month":
        return months.astype(np.int64) % 12 + 1
    first: Words = months.astype("datetime64[D]").astype(np.int64)
    return days.astype(np.int64) - first + 1
