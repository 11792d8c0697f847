"""Aggregates of the user's own: the rows of a group folded by a functor of two arguments, in the order of their values.

    result = f(… f(f(initial, value₁), value₂) …, valueₙ)

Groups go side by side: one call of the function for the first values of all groups, one for the second ones, and so on. Calls go
through the memo, so that after a change only those are made that have not been made before. O(m log m) for m rows, and m calls.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from datalog.ir.core import CoreFunction, Type
from datalog.ir.primitives import CALL
from datalog.store.values import Values

Words = NDArray[np.int64]
Flags = NDArray[np.bool_]


class Calls(Protocol):
    """What calls functions (`datalog.evaluate.memo`)."""

    def call(
        self, name: str, arguments: tuple[Type, ...], result: Type, columns: tuple[Words, ...]
    ) -> tuple[Words, dict[int, tuple[str, Exception | None]]]: ...


class Fold:
    """One aggregate `@@f`; its arguments are the initial value and the value."""

    def __init__(self, values: Values, calls: Calls, function: CoreFunction) -> None:
        self._values, self._calls, self._core = values, calls, function
        self._name = function.name.removeprefix(CALL)
        self._failures: list[tuple[str, Exception | None]] = []

    def of(self, arguments: Words, counts: Words, bounds: Words, _ranks: Words) -> tuple[Words, Flags]:
        """The codes of the results, and which of them there are not for a call has failed; as `datalog.evaluate.readings` has it."""
        lengths = np.diff(bounds)
        blocks = np.repeat(np.arange(len(lengths)), lengths)
        order = np.lexsort((self._values.ranks(arguments[:, 1], self._core.types[1]), blocks))
        values = np.repeat(arguments[order, 1], counts[order])
        sizes = np.add.reduceat(counts, bounds[:-1]) if len(lengths) else lengths
        starts = np.cumsum(sizes) - sizes
        found, failed = arguments[bounds[:-1], 0].copy(), np.zeros(len(lengths), np.bool_)
        going = np.arange(len(lengths))
        for number in range(int(sizes.max(initial=0))):
            going = going[(sizes[going] > number) & ~failed[going]]
            if not len(going):
                break
            codes, failures = self._calls.call(
                self._name, self._core.types, self._core.result, (found[going], values[starts[going] + number])
            )
            found[going] = codes
            failed[going[list(failures)]] = True
            self._failures += failures.values()
        return found, failed

    def take_failure(self) -> tuple[str, Exception | None]:
        """What went wrong with a result that has failed; all others are forgotten."""
        failure = self._failures[0]
        self._failures.clear()
        return failure
