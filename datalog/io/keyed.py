"""Rows and keys of functional predicates from Python code: what `datalog.io.rows` takes, and dictionaries from keys to values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from datalog.io.rows import rows_from
from datalog.ir.core import Predicate
from datalog.store.interner import Codes
from datalog.store.values import Values


def keyed_rows(source: Any, predicate: Predicate, values: Values) -> Codes:
    """int64[n, k] of rows, or of `{key: value}`, where a key is a tuple or the one value that it has. DataError as for `rows_from`."""
    if predicate.functional and isinstance(source, Mapping):
        source = [(*tuple_of(key), value) for key, value in source.items()]
    return rows_from(source, predicate, values)


def keys_from(source: Any, predicate: Predicate, values: Values) -> Codes:
    """int64[n, k - 1] of keys, which come like rows of a predicate that has only the key's columns."""
    keys = key_of(predicate)
    return rows_from(source, keys, values)[:, : len(keys.types)]


def key_of(predicate: Predicate) -> Predicate:
    """The signature of a functional predicate's keys alone."""
    return replace(predicate, attributes=predicate.attributes[:-1], types=predicate.types[:-1])


def tuple_of(key: Any) -> tuple[Any, ...]:
    return key if isinstance(key, tuple) else (key,)
