"""Functional relations: rows that are a key and, in the last column, its value.

What is looked up needs an arrangement of the relation that begins with the key's columns, in any order. Whether a key has
one value only is not promised here (`datalog.maintain.functional` sees to it).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from datalog.errors import InternalError
from datalog.kernels.seek import seek_rows
from datalog.store.btree import EMPTY, BTree
from datalog.store.storage import Arrangement, Storage

Words = NDArray[np.int64]
Flags = NDArray[np.bool_]
GREATEST = 2**63 - 1


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
    kept = _needed(storage, predicate)
    return _first_values(kept.tree, int(version[kept.number]), _turned(kept, keys))


def all_values(storage: Storage, predicate: str, key: Words, version: Words) -> Words:
    """The codes of all values of one key, `int64[columns - 1]`. O(log n) a value."""
    kept = _needed(storage, predicate)
    bound = _turned(kept, key.reshape(1, -1))
    root = int(version[kept.number])
    values: list[int] = []
    found, value = _first_values(kept.tree, root, bound)
    while found[0]:
        values.append(int(value[0]))
        if values[-1] == GREATEST:
            break
        found, value = _first_values(kept.tree, root, np.column_stack((bound, np.array([values[-1] + 1]))))
    return np.array(values, np.int64)


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


def _first_values(tree: BTree, root: int, bounds: Words) -> tuple[Flags, Words]:
    """The first row whose key is that of the bound and whose value, where the bound has one, is not less."""
    found, rows = np.zeros(len(bounds), np.bool_), np.zeros((len(bounds), tree.width), np.int64)
    if root != EMPTY and len(bounds):
        seek_rows(tree.pool.pages, tree.shape, root, bounds, rows, found)
        keys = tree.width - 1
        found &= np.all(rows[:, :keys] == bounds[:, :keys], axis=1)
    return found, np.where(found, rows[:, -1], 0)
