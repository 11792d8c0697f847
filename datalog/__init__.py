"""Incremental Datalog: write rules, stream inserts and deletes, and every derived relation stays exactly true."""

from datalog.database import Database, Snapshot, UnknownPredicate
from datalog.errors import (
    DataError,
    DatalogError,
    Diagnostic,
    EvaluationError,
    InternalError,
    PlacedError,
    ProgramError,
    StreamError,
)
from datalog.relation import Relation
from datalog.transaction import Change, Changes, Transaction

__all__ = [
    "Change",
    "Changes",
    "DataError",
    "Database",
    "DatalogError",
    "Diagnostic",
    "EvaluationError",
    "InternalError",
    "PlacedError",
    "ProgramError",
    "Relation",
    "Snapshot",
    "StreamError",
    "Transaction",
    "UnknownPredicate",
]
__version__ = "0.1.0"
