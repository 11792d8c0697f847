"""What the words of a transaction come to: distinct rows to insert and to delete, by the last word on each.

An upsert, or the deletion of a key, takes back all that was said before of rows with its key, and deletes the row that the
stored version has for it. What is said after it counts as ever, so that a plain insertion of another value is one too many.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from datalog.store.rows import sort_distinct

Words = NDArray[np.int64]
Flags = NDArray[np.bool_]
Stored = Callable[[Words], tuple[Flags, Words]]  # which keys have a stored value, and its code

INSERT, DELETE, UPSERT, DELETE_KEY = 1, -1, 2, -2


def last_words(blocks: Sequence[tuple[Words, int]], stored: Stored) -> tuple[Words, Words]:
    """Distinct sorted rows, each with 1 to insert it or -1 to delete it, of blocks of rows with what is said of them.

    The last column of a row whose key is deleted says nothing. O(n log n), and what `stored` costs for upserts.
    """
    if len(blocks) == 1 and blocks[0][1] in (INSERT, DELETE):
        ((rows, word),) = blocks
        rows = sort_distinct(rows)
        return rows, np.full(len(rows), word, np.int64)
    rows = np.concatenate([block for block, _ in blocks])
    words = np.repeat(np.array([word for _, word in blocks], np.int64), [len(block) for block, _ in blocks])
    if UPSERT in words or DELETE_KEY in words:
        rows, words = _without_keys(rows, words, stored)
    order = np.lexsort(rows.T[::-1])  # stable: equal rows stay in the order in which they were staged
    rows, words = rows[order], words[order]
    last = np.ones(len(rows), bool)
    last[:-1] = np.any(rows[:-1] != rows[1:], axis=1)
    return np.ascontiguousarray(rows[last]), np.ascontiguousarray(words[last])


def _without_keys(rows: Words, words: Words, stored: Stored) -> tuple[Words, Words]:
    """The same in insertions and deletions of rows."""
    groups = _groups(rows[:, :-1])
    decisive = np.flatnonzero((words == UPSERT) | (words == DELETE_KEY))
    since = np.full(len(rows), -1)  # per group, the place of the last word on its key
    since[groups[decisive]] = decisive
    kept = (np.arange(len(rows)) >= since[groups]) & (words != DELETE_KEY)
    decisive = since[since >= 0]
    replaced = rows[decisive]
    found, values = stored(np.ascontiguousarray(replaced[:, :-1]))
    found &= (values != replaced[:, -1]) | (words[decisive] == DELETE_KEY)
    replaced[:, -1] = values
    replaced = replaced[found]
    return np.concatenate((replaced, rows[kept])), np.concatenate((np.full(len(replaced), DELETE), np.sign(words[kept])))


def _groups(keys: Words) -> Words:
    """A number for each row, the same for equal rows."""
    groups = np.zeros(len(keys), np.int64)
    if keys.shape[1]:
        order = np.lexsort(keys.T[::-1])
        keys = keys[order]
        groups[order[1:]] = np.cumsum(np.any(keys[:-1] != keys[1:], axis=1))
    return groups
