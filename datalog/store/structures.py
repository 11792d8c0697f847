"""Records and values of algebraic types: each has an id, given in the order of first appearance and never taken back.

An id stands for a sequence of codes: of a record those of its fields, of a value of an algebraic type the number of its branch and
those of its fields. `nil` is the id 0, which no sequence has. Equal sequences have one id, whatever types they are of, so ids are
equal iff the values are; they say nothing about order. The sequences lie one behind the other in `_cells`, where `_starts` says.

What takes values apart here goes by ids and not by calls of itself, so values may be nested as deep as they like. A value is made
after its parts; an id that a cast made up may be of no value, and counts as `nil` wherever it is followed.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from datalog.ir.structures import Shape, Structure
from datalog.store.interner import Codes


class Structures:
    """The values with parts of one database. One writer at a time; ids that a reader holds stay valid."""

    __slots__ = ("_cells", "_ids", "_parts", "_settled", "_starts")

    def __init__(self) -> None:
        self._ids: dict[tuple[int, ...], int] = {}
        self._parts: list[tuple[int, ...]] = [()]  # by id
        self._settled = 1  # so many of them lie in the arrays
        self._starts = np.zeros(64, np.int64)
        self._cells = np.zeros(64, np.int64)

    def __len__(self) -> int:
        return self._settled

    def intern(self, parts: tuple[int, ...]) -> int:
        """The id of a sequence of codes, a new one if need be, which counts from `settle` on. O(1) for each code."""
        found = self._ids.get(parts)
        if found is None:
            found = self._ids[parts] = len(self._parts)
            self._parts.append(parts)
        return found

    def settle(self) -> None:
        """Lay down what has been interned where readers look."""
        fresh = self._parts[self._settled :]
        if fresh:
            first, count = self._settled, len(self._parts)
            self._starts = _grown(self._starts, count + 1)
            ends = self._starts[first] + np.cumsum([len(one) for one in fresh])
            self._cells = _grown(self._cells, int(ends[-1]) + 1)
            self._cells[self._starts[first] : ends[-1]] = list(chain.from_iterable(fresh))
            self._starts[first + 1 : count + 1] = ends
            self._settled = count

    def intern_columns(self, columns: Sequence[Codes], branch: int = -1) -> Codes:
        """The ids of values whose fields stand in columns; `branch` is the number of their branch, -1 for records."""
        rows = list(zip(*(column.tolist() for column in columns), strict=True))
        ids = np.fromiter(map(self.intern, rows if branch < 0 else ((branch, *row) for row in rows)), np.int64, len(rows))
        self.settle()
        return ids

    def cells(self, ids: Codes, place: int) -> Codes:
        """The code at a place of each sequence, 0 where there is none. O(1) each."""
        ids = np.where((ids > 0) & (ids < len(self)), ids, 0)
        found = self._starts[ids] + place
        inside = found < self._starts[ids + 1]
        return np.where(inside, self._cells[np.where(inside, found, 0)], 0)

    def field(self, ids: Codes, type: Structure, number: int, place: int) -> Codes:
        """A field of those values that have it, and 0 for the others."""
        if type.record:
            return self.cells(ids, place)
        return np.where(self.branches(ids) == number, self.cells(ids, place + 1), 0)

    def branches(self, ids: Codes) -> Codes:
        """The number of the branch of each value of an algebraic type."""
        return np.where((ids > 0) & (ids < len(self)), self.cells(ids, 0), -1)

    def shaped(self, ids: Codes, type: Structure) -> list[tuple[Shape, Codes, list[Codes]]]:
        """For each shape of a type the values that have it, and their fields as columns."""
        found: list[tuple[Shape, Codes, list[Codes]]] = []
        ids = ids[(ids > 0) & (ids < len(self))]
        for number, shape in enumerate(type.shapes):
            own = ids if type.record else ids[self.cells(ids, 0) == number]
            own = own[self._starts[own + 1] - self._starts[own] == len(shape.fields) + (not type.record)]
            found.append((shape, own, [self.field(own, type, number, place) for place in range(len(shape.fields))]))
        return found

    def reached(self, ids: Codes, type: Structure) -> dict[Structure, Codes]:
        """All values of each type that are parts of these values, at any depth, and these; sorted. Linear in what it gives."""
        seen: dict[Structure, set[int]] = {}
        waiting: list[tuple[Structure, Codes]] = [(type, ids)]
        while waiting:
            of, some = waiting.pop()
            known = seen.setdefault(of, set())
            fresh = set(some.tolist()) - known
            known |= fresh
            if fresh:
                for shape, _, columns in self.shaped(np.array(sorted(fresh), np.int64), of):
                    waiting += [(inner, column) for inner, column in zip(shape.types, columns, strict=True) if isinstance(inner, Structure)]
        return {of: np.array(sorted(known), np.int64) for of, known in seen.items()}


def _grown(array: Any, size: int) -> Any:
    if size <= len(array):
        return array
    grown = np.zeros(2 * size, np.int64)
    grown[: len(array)] = array
    return grown
