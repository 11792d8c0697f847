"""One aggregate: which trees it keeps of its source, and how the results of its functions for groups and intervals are read from trees.

| function | read from | a result costs |
| --- | --- | --- |
| count | the source's scan of its counts | O(log n) |
| sum | integers, groups: the sum before, and the change; else limbs (`totals.py`) | O(1); O(log n) |
| mean | limbs | O(log n) |
| bitand, bitor, bitxor, product of integers | a tree with a scan (`scanned.py`) | O(log n) |
| min, max | groups: the source's order; intervals: a tree with a scan, but of symbols the rows | O(log n); O(rows) |
| median, quantile, argmin, argmax | groups: the source's order; intervals: the rows | O(log n); O(rows) |
| collect, join, product of floats, `@@f` | the rows | O(rows) |

Where the source is ordered by a word that does not tell all symbols apart, the rows with one word are read, too; likewise the rows
with the best value where the witness is a symbol. Everything is asked for in blocks of ranges: pairs of prefixes (group…) or
(group…, key) of source rows, inclusive. The first evaluation has all rows at hand as one block, and takes the groups from it one
after the other, in O(1) a row.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from datalog.errors import Diagnostic, EvaluationError
from datalog.evaluate.folds import Calls, Fold
from datalog.evaluate.join import written_as
from datalog.evaluate.readings import Reading
from datalog.evaluate.scanned import Scanned
from datalog.evaluate.sources import Runs, Source
from datalog.evaluate.totals import Limbs, Totals, kind_of, zeros
from datalog.ir.core import CoreAggregate, CoreFunction, Predicate, Type
from datalog.ir.primitives import aggregate_named, is_fold
from datalog.kernels.limbs import add_integers
from datalog.store.ranges import Found as Rows
from datalog.store.rows import sort_distinct
from datalog.store.state import StateTree
from datalog.store.storage import Delta, Storage
from datalog.store.values import Values, shown

Words = NDArray[np.int64]
Flags = NDArray[np.bool_]

Found = tuple[Words, int]  # the codes of results, and the first that has none, or -1

LEAST, GREATEST = -(2**63), 2**63 - 1
ENDS = np.array([[1, -1]])  # the ranks of the first row and of the last
NO_RANKS = ENDS[:, :0]
ROWS_A_STEP = 8  # so many rows are read in the time of a step (`datalog.store.tally`)
RANKS = {"min": 1, "argmin": 1, "max": -1, "argmax": -1, "median": 0, "quantile": 0}  # of what is picked; 0: by the counts

LEAVES = "leaves the 64-bit range"

Way = Literal["counts", "added", "totals", "scan", "order", "rows"]


@dataclass(slots=True)
class Asked:
    """Ranges with source rows whose results are asked for; how many rows they have, and if need be the first and the last of them and
    the sums of integers."""

    lows: Words
    highs: Words
    counts: Words
    ends: Words
    sums: Words


@dataclass(slots=True)
class Block(Asked):
    """All groups, and all rows."""

    runs: Runs


class Aggregate:
    """An aggregate over one storage."""

    def __init__(self, storage: Storage, values: Values, aggregate: CoreAggregate, source: Predicate, calls: Calls) -> None:
        self.aggregate = aggregate
        self._storage, self._values, self._predicate = storage, values, source
        self._source = Source(storage, aggregate, source.width)
        self.keyed = bool(aggregate.needs)
        self._states: dict[str, Totals | Scanned] = {}  # by what is kept
        self.functions = tuple(
            Function(self._source, values, aggregate, function, self._state(function), calls) for function in aggregate.functions
        )
        self._added = next((place for place, function in enumerate(self.functions) if function.way == "added"), None)
        self._ends = ENDS if any(function.way == "order" for function in self.functions) else NO_RANKS

    @property
    def trees(self) -> tuple[StateTree, ...]:
        """The trees that it keeps."""
        return tuple(tree for state in self._states.values() for tree in state.trees)

    def evaluate(self) -> Words:
        """Build the trees anew from the source; all head rows. O(n)."""
        runs = self._source.everything()
        self._storage.tally.cost += len(runs.rows) // ROWS_A_STEP
        limbs = {name: state.build(runs) for name, state in self._states.items()}
        if self.keyed:
            return self.results(sort_distinct(self._storage.rows(self.aggregate.needs)))
        groups, starts, ends = runs.keys, runs.bounds[:-1], runs.bounds[1:]
        counts = np.add.reduceat(runs.each, starts) if len(runs.each) else ends - starts
        both = np.stack((runs.rows[starts], runs.rows[ends - 1]), axis=1)
        block = Block(groups, groups, counts, both, self._sums(groups, runs), runs)
        return self._heads(groups, [function.of_groups(block, limbs.get(_kept(function.core))) for function in self.functions])

    def changed(self, delta: Delta) -> Runs:
        """What has changed of the source; brings the trees up to date with it."""
        runs = self._source.changed(delta)
        for state in self._states.values():
            state.change(runs)
        return runs

    def results(self, asked: Words, changed: Runs | None = None, heads: Rows | None = None) -> Words:
        """The head rows of groups, or of rows of `needs`: those with source rows. EvaluationError if a result leaves 64 bits and must not.

        Groups are asked for since they have `changed`; `heads` are the head rows before that.
        """
        sums = self._sums(asked, changed, heads)
        lows, highs = self.ranges(asked)
        counts, ends = self._source.picked(lows, highs, self._ends)
        if not counts.all():
            there = counts > 0
            asked, lows, highs, counts, ends, sums = (block[there] for block in (asked, lows, highs, counts, ends, sums))
        if not len(asked):
            return np.empty((0, asked.shape[1] + len(self.functions)), np.int64)
        ranges = Asked(lows, highs, counts, ends, sums)
        return self._heads(asked, [function.of_ranges(ranges) for function in self.functions])

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

    def _state(self, function: CoreFunction) -> Totals | Scanned | None:
        """What a function keeps, shared with others."""
        kept = _kept(function)
        if kept not in self._states:
            match way_of(self.aggregate, function):
                case "totals":
                    self._states[kept] = Totals(self._storage, self.aggregate.groups, self.keyed, function.types[0])
                case "scan":
                    self._states[kept] = Scanned(self._storage, self._predicate.width, function.name, function.types[0])
        return self._states.get(kept)

    def _sums(self, asked: Words, runs: Runs | None, heads: Rows | None = None) -> Words:
        """The sums of integers of groups, each with a run to be added to what the head had."""
        if self._added is None or runs is None:
            return np.empty(len(asked), np.int64)
        function = self.aggregate.functions[self._added]
        sums = zeros(function.types[0], len(asked))
        if heads is not None:
            sums[heads.which] = heads.rows[:, self.aggregate.keys + self._added]
        failed = add_integers(runs.rows, runs.columns, runs.each, runs.bounds, kind_of(function.types[0]), sums)
        if failed >= 0 and not function.wraps:
            raise self._failure(function, asked[failed])
        return sums

    def _heads(self, asked: Words, found: list[Found]) -> Words:
        """Head rows: what is asked for, and the results."""
        before = asked.shape[1]
        heads = np.empty((len(asked), before + len(found)), np.int64)
        heads[:, :before] = asked
        for place, (codes, failed) in enumerate(found):
            heads[:, before + place] = codes
            if failed >= 0 and not self.aggregate.functions[place].wraps:
                # Always an error: without a row the group would pass for an empty one, whose sum is 0.
                failure = self.functions[place].take_failure()
                raise self._failure(self.aggregate.functions[place], asked[failed], failure[0]) from failure[1]
        return heads

    def _failure(self, function: CoreFunction, asked: Words, problem: str = LEAVES) -> EvaluationError:
        aggregate, predicate = self.aggregate, self._predicate
        group = zip(predicate.attributes, predicate.types, asked[: aggregate.groups].tolist(), strict=False)
        bound = ", ".join(f"{name} = {shown(self._values.decode(code, type))}" for name, type, code in group)
        message = f"`{function.name}` {problem}" + (f" where {bound}" if bound else "")
        span = function.span
        hint = "values are 64-bit; use float, or smaller groups" if problem == LEAVES else ""
        message = f"{message}, in the {written_as(aggregate.head, aggregate.text)}"
        return EvaluationError([Diagnostic(message, span.file, span.line, span.column, hint=hint)])


class Function:
    """One function of an aggregate: what it makes of ranges of source rows."""

    def __init__(
        self,
        source: Source,
        values: Values,
        aggregate: CoreAggregate,
        core: CoreFunction,
        state: Totals | Scanned | None,
        calls: Calls,
    ) -> None:
        self.core, self.way = core, way_of(aggregate, core)
        self.state = state if self.way in ("totals", "scan") else None
        self._source = source
        self._argument = aggregate.groups + bool(aggregate.needs)  # the first column of the arguments
        parameter = 0.5 if core.name == "median" else core.parameter
        self._fraction = Fraction(str(parameter)) if core.name in ("median", "quantile") else Fraction(0)
        self._reading: Reading | Fold = (
            Fold(values, calls, core) if is_fold(core.name) else Reading(values, core.name, core.types, parameter, core.wraps)
        )

    def take_failure(self) -> tuple[str, Exception | None]:
        """Why there is no result."""
        return self._reading.take_failure() if isinstance(self._reading, Fold) else (LEAVES, None)

    def of_groups(self, block: Block, limbs: Limbs | None) -> Found:
        """The results of all groups; `limbs` are those of the sums."""
        if limbs is not None and isinstance(self.state, Totals):
            return self._of_limbs(self.state, limbs, block.counts)
        if self.way == "rows":
            runs = block.runs
            each = runs.each if len(runs.each) else np.ones(len(runs.rows), np.int64)
            return _first_failed(*self._reading.of(self._arguments(runs.rows), each, runs.bounds, self._ranks(block.counts)))
        return self.of_ranges(block)

    def of_ranges(self, asked: Asked) -> Found:
        """The results of ranges."""
        lows, highs, counts = asked.lows, asked.highs, asked.counts
        if isinstance(self.state, Totals):
            return self._of_limbs(self.state, self.state.limbs(lows, highs), counts)
        if isinstance(self.state, Scanned):
            codes, marked = self.state.fold(lows, highs)
            failed = np.zeros(len(lows), np.bool_)
            if marked.any():
                codes[marked], failed[marked] = self._read(lows[marked], highs[marked], counts[marked])
            return _first_failed(codes, failed)
        match self.way:
            case "counts":
                return counts, -1
            case "added":
                return asked.sums, -1
            case "order":
                return self._by_order(asked), -1
            case _:
                return _first_failed(*self._read(lows, highs, self._ranks(counts)))

    def _of_limbs(self, state: Totals, limbs: Limbs, counts: Words) -> Found:
        return state.sums(limbs, len(counts)) if self.core.name == "sum" else (state.means(limbs, counts), -1)

    def _by_order(self, asked: Asked) -> Words:
        """Results that stand at a rank of the source's order."""
        core, at, lows = self.core, self._argument, asked.lows
        fixed = RANKS[core.name]
        if not fixed:
            ranks = self._ranks(asked.counts)
            rows = self._source.picked(lows, asked.highs, ranks.reshape(-1, 1))[1][:, 0]
        else:
            ranks, rows = asked.counts, asked.ends[:, 0 if fixed > 0 else 1]
        if not core.ordered and len(core.types) == 1:
            return rows[:, at]
        ties = rows[:, : at + 1]
        if not core.ordered and core.types[1] is not Type.SYMBOL:
            return rows[:, at + 1] if fixed > 0 else self._source.picked(ties, ties, ENDS)[1][:, 0, at + 1]
        if not fixed:
            before = np.column_stack((lows, np.full(len(lows), LEAST))), np.column_stack((lows, ties[:, at] - 1))
            before[0][ties[:, at] == LEAST, -1] = GREATEST  # nothing is before the least word
            ranks = ranks - self._source.picked(*before, NO_RANKS)[0]
        return self._read(ties, ties, ranks)[0]

    def _ranks(self, counts: Words) -> Words:
        """The rank of the value that a quantile of so many rows asks for: at least 1, and the fraction of all, rounded up."""
        above, below = self._fraction.as_integer_ratio()
        if not above:
            return np.ones_like(counts)
        if len(counts) and above * int(counts.max()) < 2**63:
            return np.maximum(1, -(-above * counts // below))
        return np.array([max(1, -(-above * count // below)) for count in counts.tolist()], np.int64)

    def _read(self, lows: Words, highs: Words, ranks: Words) -> tuple[Words, Flags]:
        """Results by reading the rows of the ranges."""
        found = self._source.rows(lows, highs)
        return self._reading.of(self._arguments(found.rows), found.payloads, np.searchsorted(found.which, np.arange(len(lows) + 1)), ranks)

    def _arguments(self, rows: Words) -> Words:
        return rows[:, self._argument + self.core.ordered : self._source.width]


def way_of(aggregate: CoreAggregate, function: CoreFunction) -> Way:
    """What a function's results are read from: the table above."""
    name, keyed = function.name, bool(aggregate.needs)
    if name == "count":
        return "counts"
    first = function.types[0]
    if name in ("sum", "mean"):
        return "totals" if keyed or name == "mean" or first is Type.FLOAT else "added"
    exact = name in ("bitand", "bitor", "bitxor") or (name == "product" and first is not Type.FLOAT)
    if exact or (keyed and name in ("min", "max") and first is not Type.SYMBOL):
        return "scan"
    in_order = aggregate_named(name).picks and (function.ordered or first is not Type.SYMBOL)
    return "order" if in_order and not keyed else "rows"


def _first_failed(codes: Words, failed: Flags) -> Found:
    return codes, int(np.argmax(failed)) if failed.any() else -1


def _kept(function: CoreFunction) -> str:
    """A name for what a function may keep: sums and means keep the same."""
    return "sum" if function.name == "mean" else function.name
