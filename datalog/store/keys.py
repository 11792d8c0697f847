"""Functional relations: rows that are a key and, in the last column, its value.

What is looked up needs an arrangement of the relation that begins with the key's columns, in any order. Whether a key has
one value only is not promised here (`datalog.maintain.functional` sees to it).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from datalog.errors import InternalError
from datalog.store.ranges import Ranges
from datalog.store.storage import Arrangement, Storage
from datalog.store.tally import Tally

Words = NDArray[np.int64]
Flags = NDArray[np.bool_]


def arrange_keys(storage: Storage, predicate: str) -> None:
    """Have an arrangement of a predicate that begins with its key. Within a transaction only; O(n log n) if there is none."""
    if _by_key(storage, predicate) is None:
        width = len(storage.arrangements[predicate][0].columns)
        storage.add_arrangement(predicate, tuple(range(width - 1)))


def crowded_keys(storage: Storage, predicate: str, version: Words, keys: Words | None = None) -> Words:
    """The keys that have several values, of all or of those in `int64[n, columns - 1]`; a key may come more than once.

    O(log n) a key that is given, and O(n) for all.
    """
    kept = _needed(storage, predicate)
    root = int(version[kept.number])
    if keys is not None and 4 * len(keys) < kept.tree.size(root):
        return keys[kept.tree.count_prefixes(root, _turned(kept, keys)) > 1]
    rows = kept.tree.export(root)
    again = np.all(rows[1:, :-1] == rows[:-1, :-1], axis=1)
    return kept.declared(rows[1:][again])[:, :-1]


def find_values(storage: Storage, predicate: str, keys: Words, version: Words) -> tuple[Flags, Words]:
    """Which keys have a value, and the least code of each one's values (0 for the others). O(log n) a key."""
    kept, ranges = _ranges(storage, predicate, version)
    bounds = _turned(kept, keys)
    found, rows = ranges.select(bounds, bounds, 1)
    return found, rows[:, -1].copy()


def all_values(storage: Storage, predicate: str, key: Words, version: Words) -> Words:
    """The codes of all values of one key, `int64[columns - 1]`. O(log n) and O(1) a value."""
    kept, ranges = _ranges(storage, predicate, version)
    bound = _turned(kept, key.reshape(1, -1))
    return ranges.rows(bound, bound).rows[:, -1].copy()


def _ranges(storage: Storage, predicate: str, version: Words) -> tuple[Arrangement, Ranges]:
    kept = _needed(storage, predicate)
    return kept, Ranges(kept.tree, int(version[kept.number]), Tally())  # no work of a rule


def _by_key(storage: Storage, predicate: str) -> Arrangement | None:
    return next((kept for kept in storage.arrangements[predicate] if kept.columns[-1] == len(kept.columns) - 1), None)


def _needed(storage: Storage, predicate: str) -> Arrangement:
    kept = _by_key(storage, predicate)
    if kept is None:
        raise InternalError(f"no arrangement of {predicate} begins with its key")
    return kept


def _turned(kept: Arrangement, keys: Words) -> Words:
    """Keys with their columns in the order of the arrangement."""
    return np.ascontiguousarray(keys[:, kept.columns[:-1]])
