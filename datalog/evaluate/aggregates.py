"""One aggregate: which trees it keeps of its source, and how the results of groups and intervals are read from trees.

| function | read from | a result costs |
| --- | --- | --- |
| count | the source's scan of its counts | O(log n) |
| sum, mean | limbs (`totals.py`) | O(log n) |
| bitand, bitor, bitxor, product of integers | a tree with a scan (`scanned.py`) | O(log n) |
| min, max | groups: the source's order; intervals: a tree with a scan, but of symbols the rows | O(log n); O(rows) |
| median, quantile, argmin, argmax | groups: the source's order; intervals: the rows | O(log n); O(rows) |
| collect, join, product of floats | the rows | O(rows) |

Where the source is ordered by a word that does not tell all symbols apart, the rows with one word are read, too; likewise the rows
with the best value where the witness is a symbol. The source's first arrangement stands in declared order and carries totals.
Everything is asked for in blocks of ranges: pairs of prefixes (group…) or (group…, key) of source rows, inclusive.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from datalog.errors import Diagnostic, EvaluationError, InternalError
from datalog.evaluate.join import written_as
from datalog.evaluate.readings import Reading
from datalog.evaluate.scanned import Scanned
from datalog.evaluate.totals import Totals
from datalog.ir.core import CoreAggregate, Predicate, Type
from datalog.ir.primitives import AGGREGATES
from datalog.store.ranges import Ranges
from datalog.store.rows import sort_distinct
from datalog.store.state import StateTree
from datalog.store.storage import Storage
from datalog.store.values import Values, shown

Words = NDArray[np.int64]
Flags = NDArray[np.bool_]

LEAST, GREATEST = -(2**63), 2**63 - 1
RANKS = {"min": 1, "argmin": 1, "max": -1, "argmax": -1, "median": 0, "quantile": 0}  # of what is picked; 0: by the counts

Way = Literal["counts", "totals", "scan", "order", "rows"]


class Aggregate:
    """An aggregate over one storage."""

    def __init__(self, storage: Storage, values: Values, aggregate: CoreAggregate, source: Predicate) -> None:
        self.aggregate = aggregate
        self._storage, self._values, self._predicate = storage, values, source
        self._source = storage.arrangements[source.name][0]
        if not self._source.in_order or storage.payloads[source.name] != "totals":
            raise InternalError(f"{source.name} is not arranged as the source of an aggregate")
        self.keyed = bool(aggregate.needs)
        self._argument = aggregate.groups + self.keyed  # the first column of the arguments
        parameter = 0.5 if aggregate.function == "median" else aggregate.parameter
        self._fraction = Fraction(str(parameter)) if aggregate.function in ("median", "quantile") else Fraction(0)
        self._reading = Reading(values, aggregate.function, aggregate.types, parameter)
        self._way = way_of(aggregate)
        self._state = self._make_state()

    @property
    def trees(self) -> tuple[StateTree, ...]:
        """The trees that it keeps."""
        return () if self._state is None else self._state.trees

    def evaluate(self) -> Words:
        """Build the trees anew from the source; all head rows. O(n)."""
        source, storage = self._source, self._storage
        rows, counts = source.tree.export_with_payload(int(storage.roots[source.number]))
        if self._state is not None:
            self._state.build(rows, counts)
        asked = sort_distinct(storage.rows(self.aggregate.needs)) if self.keyed else first_of_each(rows[:, : self.aggregate.groups])
        return self.results(asked)

    def change(self, rows: Words, weights: Words) -> None:
        """Bring the trees up to date with changed counts of source rows, sorted."""
        if self._state is not None:
            self._state.change(rows, weights)

    def results(self, asked: Words) -> Words:
        """The head rows of groups, or of rows of `needs`: those with source rows. EvaluationError if a result leaves 64 bits."""
        lows, highs = self.ranges(asked)
        counts, rows = self._ranges().fold(lows, highs)
        there = rows > 0
        if not there.all():
            asked, lows, highs, counts = (block[there] for block in (asked, lows, highs, counts))
        if not len(asked):
            return np.empty((0, asked.shape[1] + 1), np.int64)
        codes, failed = self._compute(lows, highs, counts)
        found = np.column_stack((asked, codes))
        if failed.any():  # always an error: without a row the group would pass for an empty one, whose sum is 0
            raise self._failure(asked[int(np.argmax(failed))])
        return found

    def ranges(self, asked: Words) -> tuple[Words, Words]:
        """The ends of the ranges that head rows (group…, [low,] [high]) are about; an empty interval's are the wrong way round."""
        if not self.keyed:
            return asked, asked
        groups = asked[:, : self.aggregate.groups]
        low, high = np.full(len(asked), LEAST), np.full(len(asked), GREATEST)
        if self.aggregate.low:
            low = asked[:, self.aggregate.groups].copy()
        if self.aggregate.high:
            high = asked[:, -1].copy()
        empty = np.zeros(len(asked), np.bool_)
        if self.aggregate.low == ">":
            empty |= low == GREATEST
            low[~empty] += 1
        if self.aggregate.high == "<":
            empty |= high == LEAST
            high[high > LEAST] -= 1
        low[empty], high[empty] = GREATEST, LEAST
        return np.column_stack((groups, low)), np.column_stack((groups, high))

    def _make_state(self) -> Totals | Scanned | None:
        match self._way:
            case "totals":
                return Totals(self._storage, self.aggregate.groups, self.keyed, self.aggregate.types[0])
            case "scan":
                return Scanned(self._storage, self._predicate.width, self.aggregate.function, self.aggregate.types[0])
            case _:
                return None

    def _compute(self, lows: Words, highs: Words, counts: Words) -> tuple[Words, Flags]:
        """The codes of the results of ranges with source rows, and which of them have none."""
        fine = np.zeros(len(lows), np.bool_)
        if isinstance(self._state, Totals):
            return self._state.sums(lows, highs) if self.aggregate.function == "sum" else (self._state.means(lows, highs, counts), fine)
        if isinstance(self._state, Scanned):
            codes, marked = self._state.fold(lows, highs)
            if marked.any():
                codes[marked], fine[marked] = self._read(lows[marked], highs[marked], counts[marked])
            return codes, fine
        match self._way:
            case "counts":
                return counts, fine
            case "order":
                return self._by_order(lows, highs, counts)
            case _:
                return self._read(lows, highs, self._ranks(counts))

    def _by_order(self, lows: Words, highs: Words, counts: Words) -> tuple[Words, Flags]:
        """Results that stand at a rank of the source's order."""
        aggregate, ranges, at = self.aggregate, self._ranges(), self._argument
        fine = np.zeros(len(lows), np.bool_)
        fixed = RANKS[aggregate.function]
        ranks = self._ranks(counts)
        _, rows = ranges.select(lows, highs, fixed or ranks, weighted=not fixed)
        witnesses = len(aggregate.types) > 1
        if not aggregate.ordered and not witnesses:
            return rows[:, at].copy(), fine
        ties = rows[:, : at + 1]
        if not aggregate.ordered and aggregate.types[1] is not Type.SYMBOL:
            return ranges.select(ties, ties, 1)[1][:, at + 1].copy(), fine
        before = np.column_stack((lows, np.full(len(lows), LEAST))), np.column_stack((lows, ties[:, at] - 1))
        before[0][ties[:, at] == LEAST, -1] = GREATEST  # nothing is before the least word
        return self._read(ties, ties, ranks if fixed else ranks - ranges.fold(*before)[0])

    def _ranks(self, counts: Words) -> Words:
        """The rank of the value that a quantile of so many rows asks for: at least 1, and the fraction of all, rounded up."""
        above, below = self._fraction.as_integer_ratio()
        if len(counts) and above * int(counts.max()) < 2**63:
            return np.maximum(1, -(-above * counts // below))
        return np.array([max(1, -(-above * count // below)) for count in counts.tolist()], np.int64)

    def _read(self, lows: Words, highs: Words, ranks: Words) -> tuple[Words, Flags]:
        """Results by reading the rows of the ranges."""
        found = self._ranges().rows(lows, highs)
        arguments = found.rows[:, self._argument + self.aggregate.ordered :]
        return self._reading.of(arguments, found.payloads, np.searchsorted(found.which, np.arange(len(lows) + 1)), ranks)

    def _ranges(self) -> Ranges:
        return Ranges(self._source.tree, int(self._storage.roots[self._source.number]), self._storage.tally)

    def _failure(self, asked: Words) -> EvaluationError:
        aggregate, predicate = self.aggregate, self._predicate
        group = zip(predicate.attributes, predicate.types, asked[: aggregate.groups].tolist(), strict=False)
        bound = ", ".join(f"{name} = {shown(self._values.decode(code, type))}" for name, type, code in group)
        message = f"`{aggregate.function}` leaves the 64-bit range" + (f" where {bound}" if bound else "")
        span = aggregate.span
        hint = "values are 64-bit; use float, or smaller groups"
        message = f"{message}, in the {written_as(aggregate.head, aggregate.text)}"
        return EvaluationError([Diagnostic(message, span.file, span.line, span.column, hint=hint)])


def way_of(aggregate: CoreAggregate) -> Way:
    """What an aggregate's results are read from: the table above."""
    function, keyed = aggregate.function, bool(aggregate.needs)
    if function == "count":
        return "counts"
    if function in ("sum", "mean"):
        return "totals"
    first = aggregate.types[0]
    exact = function in ("bitand", "bitor", "bitxor") or (function == "product" and first is not Type.FLOAT)
    if exact or (keyed and function in ("min", "max") and first is not Type.SYMBOL):
        return "scan"
    in_order = AGGREGATES[function].picks and (aggregate.ordered or first is not Type.SYMBOL)
    return "order" if in_order and not keyed else "rows"


def first_of_each(rows: Words) -> Words:
    """The distinct rows of ascending ones, C-contiguous. O(n)."""
    if len(rows) < 2:
        return np.ascontiguousarray(rows)
    starts = np.ones(len(rows), np.bool_)
    starts[1:] = np.any(rows[1:] != rows[:-1], axis=1)
    return np.ascontiguousarray(rows[starts])
