"""Incremental Datalog: write rules, stream inserts and deletes, and every derived relation stays exactly true.

The public names are imported when they are first used, so that `datalog --help` does not wait for numpy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datalog.database import Database
    from datalog.errors import (
        DataError,
        DatalogError,
        Diagnostic,
        EvaluationError,
        FunctionError,
        InternalError,
        MemoryLimit,
        PlacedError,
        ProgramError,
        SettingError,
        StreamError,
        UnknownOption,
        UnknownPredicate,
    )
    from datalog.functions import Function, function
    from datalog.ir.branch import Branch
    from datalog.relation import Relation
    from datalog.snapshot import Snapshot
    from datalog.stats import Part, Stats
    from datalog.transaction import Change, Changes, Transaction

__all__ = [
    "Branch",
    "Change",
    "Changes",
    "DataError",
    "Database",
    "DatalogError",
    "Diagnostic",
    "EvaluationError",
    "Function",
    "FunctionError",
    "InternalError",
    "MemoryLimit",
    "Part",
    "PlacedError",
    "ProgramError",
    "Relation",
    "SettingError",
    "Snapshot",
    "Stats",
    "StreamError",
    "Transaction",
    "UnknownOption",
    "UnknownPredicate",
    "function",
]
__version__ = "0.1.0"

_HOMES = {
    "datalog.database": ("Database",),
    "datalog.functions": ("Function", "function"),
    "datalog.ir.branch": ("Branch",),
    "datalog.relation": ("Relation",),
    "datalog.snapshot": ("Snapshot",),
    "datalog.stats": ("Part", "Stats"),
    "datalog.transaction": ("Change", "Changes", "Transaction"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOME.get(name, "datalog.errors")), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
