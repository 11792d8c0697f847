"""Semigroups that a scan keeps: a tree keyed (group…, value) or (group…, key, value), whose scan is the ⊕ of the values below.

A changed row changes the scans on its path; a range's ⊕ is that of O(log n) words. Integer products have one exception: those that
leave 63 bits are only marked, and `marked` tells which, so that they are decided by reading the rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from datalog.evaluate.sources import Runs
from datalog.ir.core import Type
from datalog.kernels.scans import MARK
from datalog.store.btree import ALL_BITS, ANY_BITS, COUNT_UP, GREATEST_KEY, LEAST_KEY, ODD_BITS, PRODUCT
from datalog.store.columns import SIGN_BIT
from datalog.store.rows import consolidate
from datalog.store.state import StateTree
from datalog.store.storage import Storage

Words = NDArray[np.int64]
Flags = NDArray[np.bool_]

KINDS = {"min": LEAST_KEY, "max": GREATEST_KEY, "bitand": ALL_BITS, "bitor": ANY_BITS, "bitxor": ODD_BITS, "product": PRODUCT}


class Scanned:
    """The values of all groups of one aggregate. Methods that write run within a transaction."""

    def __init__(self, storage: Storage, width: int, function: str, type: Type) -> None:
        self._product = function == "product"
        # Codes of unsigned numbers are shifted, which their order does not mind, but their bits do.
        self._biased = type is Type.UNSIGNED and function not in ("min", "max")
        self._kept = StateTree.made(storage, width, payload=True, scan=KINDS[function])

    @property
    def trees(self) -> tuple[StateTree, ...]:
        return (self._kept,)

    def build(self, runs: Runs) -> None:
        """Hold exactly the rows (group…, [key,] value, …)."""
        width, rows, each = self._kept.tree.width, runs.rows, runs.each
        if not len(each):  # without what stands behind the value, rows repeat
            rows, each = consolidate(rows[:, :width], np.ones(len(rows), np.int64))
        self._kept.build(*self._turned(rows, each))

    def change(self, runs: Runs) -> None:
        """Add to the counts of rows (group…, [key,] value)."""
        self._kept.apply(*self._turned(runs.rows, runs.each), COUNT_UP)

    def fold(self, lows: Words, highs: Words) -> tuple[Words, Flags]:
        """The code of each range's ⊕, and where it is only marked. O(log n) a range."""
        words, _ = self._kept.ranges().fold(lows, highs)
        marked = words == MARK if self._product else np.zeros(len(words), np.bool_)
        return words ^ SIGN_BIT if self._biased else words, marked

    def _turned(self, rows: Words, weights: Words) -> tuple[Words, Words]:
        if not self._biased:
            return np.ascontiguousarray(rows), weights
        rows = rows.copy()
        rows[:, -1] ^= SIGN_BIT
        return consolidate(rows, weights)
