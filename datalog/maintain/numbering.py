"""The stratum of a numbering: the bindings of a rule in the order of their values, symbols by their texts, with consecutive numbers.

The numbers begin where those of the numberings before end. So they depend on what the relations hold, and never on how they came to
hold it. When bindings come or go, here or before, all are numbered anew: O(n log n) for n bindings. Only rows whose number is another
one are a change for the strata after this one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from datalog.ir.core import CoreNumbering, Type
from datalog.store.rows import consolidate
from datalog.store.storage import Delta, Storage
from datalog.store.tally import A_BUILD, A_CALL
from datalog.store.values import Values

Words = NDArray[np.int64]


class NumberingStratum:
    """One numbering, whose bindings have values of `types`. Methods run within a transaction."""

    def __init__(self, storage: Storage, values: Values, numbering: CoreNumbering, types: Sequence[Type]) -> None:
        self._storage, self._values, self._core, self._types = storage, values, numbering, tuple(types)

    def evaluate(self) -> None:
        """Fill the empty head."""
        rows = self._numbered()
        self._storage.replace(self._core.head, rows, np.ones(len(rows), np.int64))

    def maintain(self) -> Delta:
        """What changes in the head."""
        storage, head = self._storage, self._core.head
        storage.tally.cost += A_CALL
        before, after = storage.rows(head), self._numbered()
        rows, signs = consolidate(np.concatenate((before, after)), np.repeat(np.array((-1, 1)), (len(before), len(after))))
        return storage.change(head, rows, signs)

    def _numbered(self) -> Words:
        """The bindings with their numbers."""
        storage = self._storage
        rows = storage.rows(self._core.source)
        storage.tally.cost += A_BUILD * len(rows)
        rows = self._values.sort_by_value(rows, self._types) if self._types else rows[:, :0]
        first = sum(each * storage.size(source) for source, each in self._core.before)
        return np.column_stack((rows, first + self._core.each * np.arange(len(rows))))
