"""The memo: what functions that the kernel does not compute gave for the arguments that they were called with.

The join kernel looks calls up in `table` (`MEMO_*` of `datalog.kernels.encoding`), an open hash table, and notes those that
are missing. `fill` computes these, a column of distinct arguments at a time. A result stays for good, since a function
gives the same for the same; a failure stays until `forget_failures`, or a user's function could not be tried again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from datalog.ir.core import Type
from datalog.kernels import encoding as code
from datalog.store.rows import sort_distinct

Words = NDArray[np.int64]
SMALLEST_TABLE = 64
A_CALL = 250  # bytes of one in a dictionary
NO_FAILURE = -1
Function = tuple[str, tuple[Type, ...], Type]


class Functions(Protocol):
    """What computes the columns (`datalog.evaluate.primitives`)."""

    exceptions: dict[str, Exception]

    def compute(
        self, name: str, arguments: tuple[Type, ...], result: Type, columns: Sequence[Words]
    ) -> tuple[Words, Mapping[int, str]]: ...


class Memo:
    """One for a database: all joins share it. A look-up costs O(1), to fill it O(n log n) for n calls."""

    def __init__(self, functions: Functions) -> None:
        self.functions = functions
        self.table = np.zeros((SMALLEST_TABLE, code.MEMO_BESIDES), np.int64)
        self._numbers: dict[Function, int] = {}
        self._known: list[Function] = []
        self._held = 0  # rows of the table that are not free
        self._failures: list[str] = []
        self._called: dict[Function, dict[tuple[int, ...], int]] = {}  # by `call`

    def __len__(self) -> int:
        """How many calls it knows."""
        return self._held + sum(map(len, self._called.values()))

    @property
    def bytes(self) -> int:
        """Memory that it takes."""
        return self.table.nbytes + A_CALL * (len(self) - self._held)

    def number(self, name: str, arguments: tuple[Type, ...], result: Type) -> int:
        """The number by which plans call a function."""
        function = (name, arguments, result)
        if function not in self._numbers:
            self._numbers[function] = len(self._known)
            self._known.append(function)
            if len(arguments) + code.MEMO_BESIDES > self.table.shape[1]:
                self._rebuild(self._rows(), len(self.table), len(arguments) + code.MEMO_BESIDES)
        return self._numbers[function]

    def fill(self, wanted: Words) -> None:
        """Compute calls: int64[n, 1 + most arguments], the function's number and the arguments; what is behind these is ignored."""
        for number in np.unique(wanted[:, 0]).tolist():
            name, types, result = self._known[number]
            asked = wanted[wanted[:, 0] == number, : 1 + len(types)]
            calls = np.zeros((len(asked), self.table.shape[1]), np.int64)
            calls[:, : 1 + len(types)] = asked
            calls[:, code.MEMO_KEY] += 1
            calls = sort_distinct(calls)
            calls = calls[self.table[self._places(calls), code.MEMO_KEY] == 0]  # another join may have asked for some meanwhile
            if not len(calls):
                continue
            columns = [np.ascontiguousarray(calls[:, code.MEMO_ARGUMENTS + place]) for place in range(len(types))]
            results, failures = self.functions.compute(name, types, result, columns)
            calls[:, -1] = results
            for row, message in failures.items():
                calls[row, code.MEMO_KEY] *= -1
                calls[row, -1] = len(self._failures) if message else NO_FAILURE
                self._failures += [message] if message else []
            self._add(calls)

    def call(
        self, name: str, arguments: tuple[Type, ...], result: Type, columns: Sequence[Words]
    ) -> tuple[Words, dict[int, tuple[str, Exception | None]]]:
        """What a function gives for rows of arguments, and why it has no value for some.

        For calls of few rows, one after the other: in them a dictionary is quicker than the table."""
        known = self._called.setdefault((name, arguments, result), {})
        rows = list(zip(*(column.tolist() for column in columns), strict=True))
        missing = [row for row in dict.fromkeys(rows) if row not in known]
        failed: dict[tuple[int, ...], tuple[str, Exception | None]] = {}
        if missing:
            codes, failures = self.functions.compute(name, arguments, result, list(np.array(missing, np.int64).T.copy()))
            known.update(zip(missing, codes.tolist(), strict=True))
            for at, message in failures.items():
                failed[missing[at]] = _worded(message, self.functions.exceptions.get(message))
                del known[missing[at]]
        return np.array([known.get(row, 0) for row in rows], np.int64), {at: failed[row] for at, row in enumerate(rows) if row in failed}

    def why(self, failure: int) -> tuple[str, Exception | None]:
        """What a failed call is to be reported with, and the exception that it raised, if it is still at hand."""
        message = self._failures[failure]
        return _worded(message, self.functions.exceptions.get(message))

    def forget_failures(self) -> None:
        """Try calls that failed again, when they are asked for."""
        if self._failures:
            self._failures = []
            self._rebuild(self._rows(failed=False), len(self.table), self.table.shape[1])

    def forget(self, name: str) -> None:
        """Forget what a function gave: the user has another one of that name now."""
        self._called = {function: known for function, known in self._called.items() if function[0] != name}
        gone = [number for number, function in enumerate(self._known) if function[0] == name]
        self._rebuild(self._rows(without=gone), len(self.table), self.table.shape[1])

    def _rows(self, failed: bool = True, without: Sequence[int] = ()) -> list[Words]:
        """The rows that are not free, by number of arguments."""
        functions = np.abs(self.table[:, code.MEMO_KEY]) - 1
        kept = (functions >= 0) & ~np.isin(functions, without)
        if not failed:
            kept &= self.table[:, code.MEMO_KEY] > 0
        rows, functions = self.table[kept], functions[kept]
        counts = np.array([len(types) for _, types, _ in self._known], np.int64)[functions]
        return [rows[counts == count] for count in np.unique(counts)]

    def _rebuild(self, blocks: Iterable[Words], capacity: int, width: int) -> None:
        """A new table of these rows, which may have fewer columns for arguments."""
        kept = list(blocks)
        self.table = np.zeros((capacity, width), np.int64)
        self._held = 0
        for rows in kept:
            wider = np.zeros((len(rows), width), np.int64)
            wider[:, : rows.shape[1] - 1] = rows[:, :-1]
            wider[:, -1] = rows[:, -1]
            self._put(wider)

    def _add(self, calls: Words) -> None:
        capacity = len(self.table)
        while 2 * (self._held + len(calls)) > capacity:  # at most half full, or probes become long
            capacity *= 4
        if capacity > len(self.table):
            self._rebuild(self._rows(), capacity, self.table.shape[1])
        self._put(calls)

    def _put(self, calls: Words) -> None:
        """Add calls of one number of arguments, which are not there and for which there is room."""
        self._held += len(calls)
        while len(calls):
            places = self._places(calls)
            _, first = np.unique(places, return_index=True)  # of those that want one place
            self.table[places[first]] = calls[first]
            calls = np.delete(calls, first, axis=0)

    def _places(self, calls: Words) -> Words:
        """Where the calls stand in the table, or else the free row where each would be looked for at last."""
        count = len(self._known[int(abs(calls[0, code.MEMO_KEY])) - 1][1]) if len(calls) else 0
        keys = np.abs(calls[:, code.MEMO_KEY])
        arguments = calls[:, code.MEMO_ARGUMENTS : code.MEMO_ARGUMENTS + count]
        mixed = keys.astype(np.uint64)
        for column in range(count):
            mixed = (mixed ^ arguments[:, column].view(np.uint64)) * np.uint64(code.MEMO_FACTOR)
            mixed ^= mixed >> np.uint64(32)
        places = (mixed & np.uint64(len(self.table) - 1)).astype(np.int64)
        moving = np.arange(len(calls))
        while len(moving):
            there = self.table[places[moving]]
            same = np.abs(there[:, code.MEMO_KEY]) == keys[moving]
            same &= np.all(there[:, code.MEMO_ARGUMENTS : code.MEMO_ARGUMENTS + count] == arguments[moving], axis=1)
            moving = moving[(there[:, code.MEMO_KEY] != 0) & ~same]
            places[moving] = (places[moving] + 1) & (len(self.table) - 1)
        return places


def _worded(message: str, cause: Exception | None) -> tuple[str, Exception | None]:
    return f"has no value: {message}" if cause is None else f"raised {message}", cause
