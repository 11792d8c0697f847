"""Settings of a database, by name: as options of `Database`, and as texts, `--set NAME=VALUE`."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any

from datalog.errors import SettingError
from datalog.ir import dialect

WORDS = {
    "maintain": ("auto", "recorded", "derived", "recompute"),
    "coalesce": ("hull", "run", "exact"),
    "failing": ("error", "skip"),
    **dialect.WORDS,
    "missing": ("error", "empty"),
}
LEAST = {"rows_per_page": 3, "threads": 1, "max_rounds": 1, "max_rows": 1}  # whole numbers, and the smallest that each takes
GREATEST = 10**18
SECONDS, MEMORY = "max_seconds", "memory_limit"
BYTES = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12, "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}
ORDER = "order."
OPTIONS = ("maintain", "threads")  # of the command line: --maintain and -j
KNOWN = "coalesce, dialect, failing, missing, overflow, rows_per_page, max_rounds, max_rows, max_seconds, memory_limit and order.RULE"


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
            check_setting(name, found[name])
    return found


def of_program(given: Mapping[str, Any]) -> dict[str, str]:
    """Those of the settings that a program may say itself."""
    return {name: given[name] for name in dialect.WORDS if name in given}


def check_setting(name: str, value: object) -> None:
    """SettingError if an option of `Database` does not have the value."""
    if name in WORDS:
        if value not in WORDS[name]:
            raise SettingError(f"{name} is one of {', '.join(WORDS[name])}, not {value}")
    elif name == MEMORY:
        bytes_of(value)
    elif name in LEAST:
        if not isinstance(value, Integral) or isinstance(value, bool) or not LEAST[name] <= int(value) < GREATEST:
            raise SettingError(f"{name} is a number from {LEAST[name]} on, not {value}")
    elif not isinstance(value, Real) or isinstance(value, bool) or not 0 < float(value) < math.inf:
        raise SettingError(f"{name} is a number above 0, not {value}")


def bytes_of(value: object) -> int:
    """A memory limit in bytes: a whole number of them, or a text such as "500MB" or "1.5 GiB"."""
    known = re.fullmatch(r"(\d{1,15}(?:\.\d{1,9})?) *([kmgt]?i?b?)", value.strip().lower(), re.ASCII) if isinstance(value, str) else None
    found = 0
    if known is not None and known[2] in BYTES:
        found = int(float(known[1]) * BYTES[known[2]])
    elif isinstance(value, Integral) and not isinstance(value, bool):
        found = int(value)
    if not 0 < found < GREATEST:
        raise SettingError(f"memory_limit is a number of bytes, or one with a unit, such as 500MB or 1.5GiB, not {value}")
    return found


def _names(name: str, value: str) -> list[str]:
    names = [variable.strip() for variable in value.split(",")]
    if not all(names):
        raise SettingError(f"{name} lists variables with commas between them: x,y,z")
    return names


def _value(name: str, text: str) -> str | int | float:
    """What a text says, or the text itself if it says nothing that the setting could be."""
    if name in LEAST and name not in OPTIONS:
        return int(text) if text.isascii() and text.isdecimal() and len(text) <= len(str(GREATEST)) else text
    if name == MEMORY:
        return text
    if name == SECONDS:
        try:
            return float(text)
        except ValueError:
            return text
    if name not in WORDS or name in OPTIONS:
        raise SettingError(f"there is no setting {name}; there are {KNOWN}")
    return text
