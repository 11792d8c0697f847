"""Rounds of a fixpoint from scratch that are small, done by the thousand in one kernel call (`kernels/rounds.py`).

The kernel works on what the joins and what is gathered already have, by addresses; so these are written down anew before each call. A
round that it leaves is done as any other round, and the rounds after it are tried again; those that follow upon a call in vain are not,
and ever more of them the more calls have been in vain.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from datalog.evaluate.gathered import Gathered
from datalog.evaluate.join import NO_LABELS
from datalog.kernels import rounds as code
from datalog.kernels.btree import apply_rows
from datalog.kernels.encoding import PREFIX_VALUES, STATE_BUDGET
from datalog.kernels.gather import gather
from datalog.kernels.jit import PLAIN, address_of
from datalog.kernels.triejoin import complete
from datalog.store.storage import Arrangement, Storage
from datalog.store.tally import A_CALL, A_CHANGE

if TYPE_CHECKING:
    from datalog.evaluate.fixpoint import DeltaJoin

Words = NDArray[np.int64]

KERNELS: tuple[Callable[..., int], ...] = complete, gather, apply_rows  # that the rounds call
STEPS_A_CALL = 1_000_000
ROUNDS_A_CALL = 1 << 14
HEADS_A_ROUND = 1 << 10  # of a predicate
LONGEST_PAUSE = 1 << 10  # rounds
# As plain Python the kernel works on NumPy's numbers, which warn where a result is checked afterwards.
run = code.follow if hasattr(code.follow, "py_func") else np.errstate(all="ignore")(code.follow)
A_ROUND = 10  # what a round costs, in steps, beside its own


@dataclass(slots=True)
class Followed:
    """What a call has done: `rounds` rounds that added `rows`, per predicate and round as many as `sizes` says.

    Then there are new rows that nothing has followed upon, or heads that are to be added, or neither.
    """

    rounds: int
    rows: int
    sizes: dict[str, Words]
    new: dict[str, Words] = field(default_factory=dict)
    heads: dict[str, list[Words]] = field(default_factory=dict)


class Rounds:
    """The kernel's view of one stratum: what is gathered of its predicates, its delta joins, and the trees that these read."""

    def __init__(
        self,
        storage: Storage,
        gathered: Mapping[str, Gathered],
        read: Mapping[str, Sequence[Arrangement]],
        deltas: Sequence[tuple[str, DeltaJoin]],
    ) -> None:
        self._storage, self._gathered, self._deltas = storage, gathered, deltas
        self._joins = [delta.join for _, delta in deltas]
        self._names = list(gathered)
        self._heads = [np.empty((HEADS_A_ROUND, rows.rows.shape[1]), np.int64) for rows in gathered.values()]
        self._columns = [np.array(delta.columns, np.int64) for _, delta in deltas]
        self._roots = np.empty(max(len(join.slots) for join in self._joins), np.int64)
        self._read = [(place, kept, np.array(kept.columns, np.int64)) for place, name in enumerate(gathered) for kept in read[name]]
        width = PREFIX_VALUES + max(join.variables for join in self._joins)
        self._scratch = np.empty(code.MOST_NEW * width + max(join.missed_width for join in self._joins), np.int64)
        self._plans, self._trees = self._plan_words(), self._tree_words()
        self._sizes = np.empty((ROUNDS_A_CALL, len(self._names)), np.int64)
        self._state = np.zeros(code.LOOP_WORDS, np.int64)
        self._pause = self._waits = 0  # rounds

    def suit(self, new: Mapping[str, Words]) -> bool:
        """Whether to try: are the new rows few, and was it not in vain of late?"""
        if max(map(len, new.values())) > code.MOST_NEW:
            return False
        self._waits -= 1
        return self._waits < 0 and PLAIN not in map(address_of, KERNELS if self._read else KERNELS[:2])

    def follow(self, new: Mapping[str, Words], stamp: int, rounds: int, rows: int) -> Followed:
        """Do rounds that follow upon new rows: at most so many, or until more than so many rows have been added.

        Rows of the first round get the stamp after `stamp`.
        """
        storage, pool, state, around = self._storage, self._storage.pool, self._state, self._joins[0].around
        predicates = self._gathered_words(new)
        labels = around.labels() if any(join.encoded.compares_symbols for join in self._joins) else NO_LABELS
        state[:] = 0
        state[STATE_BUDGET], state[code.ROUNDS_LIMIT], state[code.ADDED_LIMIT] = STEPS_A_CALL, min(rounds, ROUNDS_A_CALL), rows
        state[code.STAMP], state[code.TRUSTED], state[code.SCRATCH] = stamp + 1, around.failing.skip, self._scratch.ctypes.data
        state[code.JOIN], state[code.GATHER], state[code.INSERT] = map(address_of, KERNELS)
        status = run(
            pool.pages,
            pool.ledger,
            pool.ctl,
            storage.roots,
            labels,
            around.memo.table,
            predicates,
            self._plans,
            self._trees,
            self._sizes,
            state,
        )
        self._count()
        done = int(state[code.ROUNDS])
        if status == code.CANNOT_FOLLOW:
            self._pause = 0 if done else min(2 * self._pause + 1, LONGEST_PAUSE)
            self._waits = self._pause + 1
        sizes = {name: self._sizes[:done, place].copy() for place, name in enumerate(self._names)}
        followed = Followed(done, int(state[code.ADDED]), sizes)
        for place, name in enumerate(self._names):
            if status != code.CANNOT_ADD:
                found = self._gathered[name].rows[predicates[place, code.NEW_FROM] : self._gathered[name].count]
                if len(found):
                    followed.new[name] = found
            elif predicates[place, code.HEADS]:
                followed.heads[name] = [self._heads[place][: predicates[place, code.HEADS]]]
        return followed

    def _plan_words(self) -> Words:
        """The delta joins for the kernel."""
        plans = np.zeros((len(self._deltas), code.PLAN_WORDS), np.int64)
        for (head, delta), columns, row in zip(self._deltas, self._columns, plans, strict=True):
            join = delta.join
            row[code.GIVEN], row[code.HEAD] = self._names.index(delta.predicate), self._names.index(head)
            row[code.COLUMNS_AT], row[code.COLUMNS] = columns.ctypes.data, len(columns)
            row[code.WORDS_AT], row[code.WORDS] = join.encoded.words.ctypes.data, len(join.encoded.words)
            row[code.PLAN_STATE_AT], row[code.PLAN_STATE_WORDS] = join.state.ctypes.data, len(join.state)
            row[code.SLOTS_AT], row[code.SLOTS], row[code.ROOTS_AT] = join.slots.ctypes.data, len(join.slots), self._roots.ctypes.data
            row[code.PREFIX_WIDTH], row[code.MISSED_WIDTH] = PREFIX_VALUES + join.variables, join.missed_width
            row[code.FIRST_ONLY] = join.first_of_head
        return plans

    def _gathered_words(self, new: Mapping[str, Words]) -> Words:
        """What is gathered, for the kernel."""
        words = np.zeros((len(self._names), code.PREDICATE_WORDS), np.int64)
        for row, heads, (name, known) in zip(words, self._heads, self._gathered.items(), strict=True):
            row[code.ROWS_AT], (row[code.ROOM], row[code.WIDTH]) = known.rows.ctypes.data, known.rows.shape
            row[code.TABLE_AT], row[code.TABLE_WORDS] = known.table.ctypes.data, len(known.table)
            row[code.STATE_AT], row[code.STATE_LENGTH] = known.state.ctypes.data, len(known.state)
            row[code.HEADS_AT], row[code.HEADS_ROOM] = heads.ctypes.data, len(heads)
            row[code.NEW_FROM] = known.count - len(new.get(name, ()))
        return words

    def _tree_words(self) -> Words:
        """The trees, for the kernel."""
        words = np.empty((len(self._read), code.TREE_WORDS), np.int64)
        for row, (place, kept, columns) in zip(words, self._read, strict=True):
            row[:] = place, kept.number, kept.tree.shape.ctypes.data, columns.ctypes.data
        return words

    def _count(self) -> None:
        """Tell the joins and the tally what was done."""
        plans, tally = self._plans, self._storage.tally
        for join, row in zip(self._joins, plans[:, [code.STEPS_DONE, code.ROWS_DONE, code.PREFIXES_DONE]].tolist(), strict=True):
            join.made(*row)
        plans[:, code.PREFIXES_DONE :] = 0
        tally.cost += A_CALL + A_ROUND * int(self._state[code.ROUNDS]) + A_CHANGE * len(self._read) * int(self._state[code.ADDED])
        self._joins[0].around.failing.skipped += int(self._state[code.FAILURES])
