"""What a fixpoint from scratch has found of one predicate: distinct rows in the order in which they were found."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from datalog.kernels.gather import BITS, COLUMN_WORDS, COLUMNS, COUNT, FORM, ROWS, WIDTH, WORDS, gather

Words = NDArray[np.int64]

SMALLEST_ROOM = 1 << 10  # rows
WORD_BITS = 62  # what is hashed is a word and 1
BITS_A_WORD = 64
LEAST, GREATEST = -(2**63), 2**63 - 1


class Gathered:
    """A growing set of rows of `width` columns; `rows[:count]` are those found so far. `table` and `state` are those of the kernel.

    To add a row takes O(1). When there is no more room, or a row lies outside of the ranges that the columns had so far, the set is made
    anew: for twice as many rows, or for ranges twice as large. Bits are kept where only rows need room. With `packed=False`, for tests,
    rows are never taken for words.
    """

    def __init__(self, width: int, packed: bool = True) -> None:
        self.rows = np.empty((0, width), np.int64)
        self.table = np.zeros(1, np.int64)
        self._packed = packed
        self.state = np.zeros(COLUMNS + width * COLUMN_WORDS, np.int64)
        self._columns = self.state[COLUMNS:].reshape(width, COLUMN_WORDS)

    @property
    def count(self) -> int:
        return int(self.state[COUNT])

    @property
    def form(self) -> int:
        """How it is known which rows are there: BITS, WORDS or ROWS of `kernels/gather.py`."""
        return int(self.state[FORM])

    def add(self, heads: Words) -> None:
        """Add the rows that are not there."""
        while (taken := gather(heads, self.rows, self.table, self.state)) < len(heads):
            heads = heads[taken:]
            self._make_room(heads)

    def _make_room(self, heads: Words) -> None:
        found = self.rows[: self.count]
        room = len(self.rows) if len(self.rows) > 2 * len(found) else max(SMALLEST_ROOM, 1 << (2 * len(found) - 1).bit_length())
        rows = np.empty((room, found.shape[1]), np.int64)
        before = self._columns.copy()
        if self.form != ROWS:
            self._fit(heads)
        if self.form == BITS and self.count and np.array_equal(before, self._columns):  # the bits stay what they are
            rows[: self.count] = found
            self.rows = rows
            return
        bits = int(self._columns[:, WIDTH].sum())
        slots = 2 * room
        if not self._packed or bits > WORD_BITS:
            self.state[FORM] = ROWS
        elif 1 << bits <= 4 * slots * BITS_A_WORD:
            self.state[FORM], slots = BITS, max(1, (1 << bits) // BITS_A_WORD)
        else:
            self.state[FORM] = WORDS
        self.rows, self.table = rows, np.zeros(slots, np.int64)
        self.state[COUNT] = 0
        gather(found, self.rows, self.table, self.state)

    def _fit(self, heads: Words) -> None:
        """Let the columns' ranges cover the heads, and what they covered before, with room on the side to which they grow."""
        for column, (known_low, known_high, _) in enumerate(self._columns.tolist()):
            low, high = int(heads[:, column].min()), int(heads[:, column].max())
            if self.count:
                low, high = min(low, known_low), max(high, known_high)
            width = (high - low).bit_length()
            if self.count and low < known_low:
                low = max(high - (1 << width) + 1, LEAST)
            self._columns[column] = low, min(low + (1 << width) - 1, GREATEST), width
