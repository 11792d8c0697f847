"""Records and values of algebraic types: each has an id, given in the order of first appearance and never taken back.

An id stands for a sequence: a head, which says the type and the branch, and the codes of the fields. `nil` is the id 0, which no
sequence has. Equal sequences have one id, so the ids of one type are equal iff the values are; they say nothing about order. The
sequences lie one behind the other in `_cells`, where `_starts` says.

What takes values apart here goes by ids and not by calls of itself, so values may be nested as deep as they like. A value is made
after its parts, so its id is greater. An id that a cast made up may be of no value of its type, and counts as `nil` where it is followed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import chain, islice, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from datalog.ir.structures import Shape, Structure
from datalog.store.interner import A_NUMBER, Codes


class Structures:
    """The values with parts of one database. One writer at a time; ids that a reader holds stay valid."""

    __slots__ = ("_cells", "_heads", "_ids", "_parts", "_settled", "_starts", "_weighed", "_weight")

    def __init__(self) -> None:
        self._ids: dict[tuple[int, ...], int] = {}
        self._heads: dict[tuple[Structure, int], int] = {}
        self._parts: list[tuple[int, ...]] = [()]  # by id
        self._settled = 1  # so many of them lie in the arrays
        self._starts = np.zeros(64, np.int64)
        self._cells = np.zeros(64, np.int64)
        self._weighed = 1  # so many have been measured
        self._weight = 0  # their bytes

    @property
    def bytes(self) -> int:
        """Memory of the values and their ids. O(1) for each value that is new since it was last asked for."""
        fresh = len(self._parts) - self._weighed
        if fresh:
            lengths = map(len, islice(self._parts, self._weighed, None))
            # heads are few and shared: a sequence has as many numbers of its own as codes, if its id is counted for its head
            self._weight += fresh * sys.getsizeof(()) + sum(lengths) * (8 + A_NUMBER)
            self._weighed = len(self._parts)
        return self._weight + sys.getsizeof(self._parts) + sys.getsizeof(self._ids) + self._starts.nbytes + self._cells.nbytes

    def __len__(self) -> int:
        return self._settled

    def intern(self, type: Structure, number: int, codes: Sequence[int]) -> int:
        """The id of a value of a type's shape, by its number, a new one if need be, which counts from `settle` on. O(1) for each code."""
        return self._intern((self._heads.setdefault((type, number), len(self._heads)), *codes))

    def _intern(self, sequence: tuple[int, ...]) -> int:
        found = self._ids.get(sequence)
        if found is None:
            found = self._ids[sequence] = len(self._parts)
            self._parts.append(sequence)
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

    def intern_columns(self, type: Structure, number: int, columns: Sequence[Codes]) -> Codes:
        """The ids of values of a type's shape whose fields stand in columns."""
        head = self._heads.setdefault((type, number), len(self._heads))
        rows = zip(repeat(head), *(column.tolist() for column in columns), strict=False)
        ids = np.fromiter(map(self._intern, rows), np.int64, len(columns[0]))
        self.settle()
        return ids

    def cast(self, ids: Codes, source: Structure, type: Structure) -> Codes:
        """Values of one type as those of another; `nil` where that has no branch of the name with as many fields."""
        found = np.zeros(len(ids), np.int64)
        for shape, own, columns in self.shaped(np.unique(ids), source):
            number = type.number(shape.name)
            if number >= 0 and columns and len(type.shapes[number].fields) == len(columns):
                made = self.intern_columns(type, number, columns)
                held = np.isin(ids, own)
                found[held] = made[np.searchsorted(own, ids[held])]
        return found

    def field(self, ids: Codes, type: Structure, number: int, place: int) -> Codes:
        """A field of those values that are of a shape, by its number, and 0 for the others. O(1) each."""
        held = self._is_of(ids, type, number)
        return np.where(held, self._cells[np.where(held, self._starts[np.where(held, ids, 0)] + 1 + place, 0)], 0)

    def branches(self, ids: Codes, type: Structure) -> Codes:
        """The number of the shape of each value, -1 for what is none of the type."""
        found = np.full(len(ids), -1)
        for number in range(len(type.shapes)):
            found[self._is_of(ids, type, number)] = number
        return found

    def shaped(self, ids: Codes, type: Structure) -> Iterator[tuple[Shape, Codes, list[Codes]]]:
        """For each shape of a type the values that have it, and their fields as columns."""
        for number, shape in enumerate(type.shapes):
            own = ids[self._is_of(ids, type, number)]
            starts = self._starts[own]
            yield shape, own, [self._cells[starts + 1 + place] for place in range(len(shape.fields))]

    def _is_of(self, ids: Codes, type: Structure, number: int) -> NDArray[np.bool_]:
        head = self._heads.get((type, number), -1)
        known = (ids > 0) & (ids < len(self))
        heads: Codes = self._cells[self._starts[np.where(known, ids, 0)]]
        held: NDArray[np.bool_] = known & (heads == head)
        return held

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
