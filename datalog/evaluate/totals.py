"""Exact sums of groups, and of intervals within groups: trees of limbs (`kernels/limbs.py`), and how they are read.

The tree is keyed (group…, limb) or (group…, limb, key) and has the limb's words as payloads, which ADD keeps up to date: a row of
a group adds a few words, one that goes takes the same words away, and words that come to 0 vanish. With keys, a scan adds up the
words of an interval, limb by limb; of floats, which may have many limbs, a second tree keyed (group…, limb) counts the rows of
each limb, so that only limbs that are there are looked up.
A sum is put together from its limbs as an exact integer and rounded once, if at all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from datalog.evaluate.sources import Runs
from datalog.ir.core import Type
from datalog.kernels.limbs import (
    BIASED,
    FLOATS,
    INFINITE,
    LOWER,
    MINUS_INFINITE,
    NOT_A_NUMBER,
    WHOLE,
    join_integers,
    limbs_of_runs,
    round_floats,
)
from datalog.store.btree import ADD, NO_SCAN, TOTAL
from datalog.store.columns import SIGN_BIT, float_codes
from datalog.store.rows import consolidate
from datalog.store.state import StateTree
from datalog.store.storage import Storage
from datalog.store.tally import A_BUILD

Words = NDArray[np.int64]
Flags = NDArray[np.bool_]

FLOAT_UNIT = 1074  # a float's limbs are in units of 2^-1074
SMALL = 2**53  # integers up to this are floats exactly


@dataclass(slots=True)
class Limbs:
    """Limbs of several sums: for each limb which sum it is of, its number and its word."""

    which: Words
    numbers: Words
    words: Words

    def only(self, sums: Flags) -> Limbs:
        """Those of some of the sums."""
        wanted = sums[self.which]
        return Limbs(self.which[wanted], self.numbers[wanted], self.words[wanted])


class Totals:
    """The limbs of all groups of one aggregate. Methods that write run within a transaction."""

    def __init__(self, storage: Storage, groups: int, keyed: bool, type: Type) -> None:
        self._groups, self._keyed, self.type = groups, keyed, type
        self._kind = kind_of(type)
        self._words = StateTree.made(storage, groups + 1 + keyed, payload=True, scan=TOTAL if keyed else NO_SCAN)
        self._present = StateTree.made(storage, groups + 1, payload=True) if keyed and type is Type.FLOAT else None

    @property
    def trees(self) -> tuple[StateTree, ...]:
        """All trees."""
        return (self._words,) if self._present is None else (self._words, self._present)

    def build(self, runs: Runs) -> Limbs:
        """Hold exactly the sums of rows (group…, [key,] value, …); the limbs of each run."""
        limbs, words, which = self._limbs_of(runs)
        self._words.storage.tally.cost += A_BUILD * len(runs.rows)
        kept = consolidate(limbs, words) if self._keyed else (limbs, words)
        self._words.build(*kept)
        if self._present is not None:
            self._present.build(*consolidate(kept[0][:, :-1], np.ones(len(kept[0]), np.int64)))
        return Limbs(which, limbs[:, self._groups], words)

    def change(self, runs: Runs) -> None:
        """Add what has changed of rows (group…, [key,] value)."""
        limbs, words, _ = self._limbs_of(runs)
        if self._keyed:
            limbs, words = consolidate(limbs, words)
        moved = self._words.apply(limbs, words, ADD)
        if self._present is not None:
            self._present.apply(*consolidate(limbs[:, :-1], moved), ADD)

    def limbs(self, lows: Words, highs: Words) -> Limbs:
        """The limbs of sums: of groups, `lows` = `highs` = (group…), or of the keys from low to high, (group…, key) each."""
        ranges, groups = self._words.ranges(), self._groups
        if not self._keyed:
            found = ranges.rows(lows, highs, None if self._kind == FLOATS else 2 * len(lows))
            return Limbs(found.which, found.rows[:, groups], found.payloads)
        if self._present is None:
            which, limbs = np.repeat(np.arange(len(lows)), 2), np.tile(np.arange(2), len(lows))
        else:
            found = self._present.ranges().rows(lows[:, :groups], highs[:, :groups])
            which, limbs = found.which, found.rows[:, groups]
        words, _ = ranges.fold(*(np.column_stack((ends[which, :groups], limbs, ends[which, groups:])) for ends in (lows, highs)))
        return Limbs(which, limbs, np.ascontiguousarray(words))

    def sums(self, limbs: Limbs, count: int) -> tuple[Words, int]:
        """The codes of so many sums, and the first that is out of range, or -1. Those without limbs are 0."""
        codes = zeros(self.type, count)
        numbers = np.ascontiguousarray(limbs.numbers)
        if self._kind != FLOATS:
            return codes, join_integers(limbs.which, numbers, limbs.words, self._kind, codes)
        round_floats(limbs.which, numbers, limbs.words, codes)
        return codes, -1

    def means(self, limbs: Limbs, counts: Words) -> Words:
        """The codes of the floats nearest to the means; `counts` has the numbers of summands, not 0."""
        unit = 1 << FLOAT_UNIT if self.type is Type.FLOAT else 10 ** max(self.type.scale, 0)
        floats = np.zeros(len(counts))
        if self.type is not Type.FLOAT:
            low, high = _low_and_high(limbs, len(counts))
            easy = (abs(high) < 2**20) & (counts < SMALL // unit)  # both sides of the division are floats exactly
            floats[easy] = ((high << 32) | low)[easy] / (counts[easy] * unit)
            limbs = limbs.only(~easy)
        for which, exact, special in _exact(limbs):
            floats[which] = _rounded(exact, unit * int(counts[which])) if special is None else special
        return float_codes(floats)

    def _limbs_of(self, runs: Runs) -> tuple[Words, Words, Words]:
        """The limbs of the sums of runs, by what stands before the numbers; their words, and which sum each is of."""
        room = 3 * len(runs.rows) if self._kind == FLOATS else 2 * (len(runs.bounds) - 1)
        which, limbs, words = np.empty(room, np.int64), np.empty((room, runs.columns + 1), np.int64), np.empty(room, np.int64)
        count = limbs_of_runs(runs.rows, self._groups, runs.columns, runs.each, runs.bounds, self._kind, which, limbs, words)
        return limbs[:count], words[:count], which[:count]


def kind_of(type: Type) -> int:
    """What the codes of numbers of a type are."""
    return FLOATS if type is Type.FLOAT else BIASED if type is Type.UNSIGNED else WHOLE


def zeros(type: Type, count: int) -> Words:
    """The code of 0, so many times."""
    return np.full(count, SIGN_BIT) if type is Type.UNSIGNED else np.zeros(count, np.int64)


def _low_and_high(limbs: Limbs, count: int) -> tuple[Words, Words]:
    """Integer sums as high · 2^32 + low, 0 ≤ low < 2^32."""
    low, high = np.zeros(count, np.int64), np.zeros(count, np.int64)
    for number, words in ((0, low), (1, high)):
        here = limbs.numbers == number
        words[limbs.which[here]] = limbs.words[here]
    return low & LOWER, high + (low >> 32)


def _exact(limbs: Limbs) -> Iterator[tuple[int, int, float | None]]:
    """For each sum that has limbs: its number, its exact value in units, and instead of it the infinity or NaN that it is."""
    order = np.argsort(limbs.which, kind="stable")
    totals: dict[int, int] = {}
    specials: dict[int, float] = {}
    for which, number, word in zip(*(column[order].tolist() for column in (limbs.which, limbs.numbers, limbs.words)), strict=True):
        if number >= 0:
            totals[which] = totals.get(which, 0) + (word << 32 * number)
        elif word:
            value = {INFINITE: math.inf, MINUS_INFINITE: -math.inf, NOT_A_NUMBER: math.nan}[number]
            specials[which] = specials.get(which, 0.0) + value
    for which in totals.keys() | specials.keys():
        yield which, totals.get(which, 0), specials.get(which)


def _rounded(numerator: int, denominator: int) -> float:
    """The float nearest to a fraction; Python's division rounds exactly once."""
    try:
        return numerator / denominator
    except OverflowError:
        return math.inf if numerator > 0 else -math.inf
