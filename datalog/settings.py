"""`--set NAME=VALUE`: the settings of a database by name, read into options of `Database`."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from datalog.errors import SettingError

WORDS = {"coalesce": ("hull", "run", "exact"), "failing": ("error", "skip")}
LEAST = {"rows_per_page": 3, "max_rounds": 1, "max_rows": 1}  # whole numbers, and the smallest that each takes
ORDER = "order."
KNOWN = "coalesce, failing, rows_per_page, max_rounds, max_rows, max_seconds and order.RULE"


def read_settings(texts: Iterable[str]) -> dict[str, Any]:
    """Options of `Database`; a later setting replaces an earlier one of its name. Raises SettingError."""
    found: dict[str, Any] = {}
    for text in texts:
        name, given, value = text.partition("=")
        if not given:
            raise SettingError(f"{text} is no NAME=VALUE")
        if name.startswith(ORDER):
            found.setdefault("orders", {})[name.removeprefix(ORDER)] = _names(name, value)
        else:
            found[name] = _value(name, value)
    return found


def _names(name: str, value: str) -> list[str]:
    names = [variable.strip() for variable in value.split(",")]
    if not all(names):
        raise SettingError(f"{name} lists variables with commas between them: x,y,z")
    return names


def _value(name: str, value: str) -> str | int | float:
    if name in WORDS:
        if value not in WORDS[name]:
            raise SettingError(f"{name} is one of {', '.join(WORDS[name])}, not {value}")
        return value
    if name in LEAST:
        if not (value.isascii() and value.isdecimal()) or len(value) > 18 or int(value) < LEAST[name]:
            raise SettingError(f"{name} is a number from {LEAST[name]} on, not {value}")
        return int(value)
    if name == "max_seconds":
        try:
            seconds = float(value)
        except ValueError:
            seconds = math.nan
        if not 0 < seconds < math.inf:
            raise SettingError(f"max_seconds is a number above 0, not {value}")
        return seconds
    raise SettingError(f"there is no setting {name}; there are {KNOWN}")
