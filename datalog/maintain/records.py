"""The sensitivity index of one rule: what its join depended on, and which regions a change names.

One B-tree per watch (atom, level), keyed (α, a, γ) with payload b and a max-scan over b (METHOD.md, section 3).

Invariant (coverage): for every context that the rule's join enters and every key t at its depth, either t is emitted or
entered and every iterator of the depth holds a record that contains t, or some iterator without t holds one; likewise
for negated atoms, with the roles of present and absent exchanged.

Deviation from the method: a record that is hit is kept, and the region is the one key that was hit and not the record's
whole interval. Coverage of all other keys still stands, since nothing changed there, and the re-run of the key plants
what the key needs; planting raises the end of the context's record instead of adding one. So a change re-runs single
keys, records need not be consumed, and their number grows only with new contexts. Records of contexts that are gone
cause re-runs that end at the prefix; the index is rebuilt when it has outgrown the one that was built last.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from datalog.kernels import encoding as code
from datalog.kernels.sensitivities import SCRATCH_WORDS, merge_regions, stab
from datalog.plan.rule import RulePlan, Watch
from datalog.store.btree import GREATEST_PAYLOAD, MAX, BTree
from datalog.store.rows import sort_distinct
from datalog.store.storage import Arrangement, Delta, Storage

Words = NDArray[np.int64]

OUTGROWN = 2  # times the records of the last build, and SLACK more
SLACK = 1024
PLANTINGS = 64


@dataclass(frozen=True, slots=True)
class WatchIndex:
    """The records of one watch: the tree and its number, and the arrangement whose changes they watch."""

    watch: Watch
    number: int
    tree: BTree
    arrangement: Arrangement
    words: Words  # the watch as the kernel reads it
    columns: tuple[int, ...]  # of a raw record: α, a, γ, b


class RecordIndex:
    """All watches of one rule. Methods that write run within a transaction."""

    def __init__(self, storage: Storage, plan: RulePlan) -> None:
        self._storage = storage
        self._width = code.PREFIX_VALUES + len(plan.order)
        self._built = 0
        self._planted = 0
        self.watches = [_watch_index(storage, watch) for watch in plan.watches()]
        self._path = np.zeros(SCRATCH_WORDS, np.int64)
        self._regions = np.empty((64, self._width), np.int64)

    def size(self) -> int:
        """How many records there are."""
        return sum(watch.tree.size(int(self._storage.roots[watch.number])) for watch in self.watches)

    @property
    def outgrown(self) -> bool:
        """Are there many more records than were built last? Looked at after every PLANTINGS plantings."""
        return self._planted % PLANTINGS == 0 and self.size() > OUTGROWN * self._built + SLACK

    def clear(self) -> None:
        """Hold no records."""
        self.rebuild(np.empty((0, self._width), np.int64))

    def rebuild(self, records: Words) -> None:
        """Hold exactly these raw records (`int64[n, 3 + variables]`, see RECORD_*)."""
        for number, watch in enumerate(self.watches):
            keys, ends = _keyed(records, number, watch)
            watch.tree.drop(int(self._storage.roots[watch.number]))
            self._storage.roots[watch.number] = watch.tree.build(keys, ends)
        self._built = self.size()

    def plant(self, records: Words) -> None:
        """Add raw records; one with the key (α, a, γ) of another raises that one's end."""
        self._planted += 1
        for number in sorted(set(records[:, code.RECORD_ITERATOR].tolist())):
            watch = self.watches[number]
            keys, ends = _keyed(records, number, watch)
            self._storage.roots[watch.number], _ = watch.tree.apply(int(self._storage.roots[watch.number]), keys, ends, MAX)

    def regions(self, deltas: Mapping[str, Delta], old: Words, new: Words) -> Words:
        """The merged regions that the changes name, as prefixes for `complete`; none of them lies within another."""
        found = []
        for watch in self.watches:
            delta = deltas.get(watch.watch.atom.predicate)
            if delta is not None:
                rows = self._stab(watch, delta.arranged(watch.arrangement), old, new)
                if len(rows):
                    found.append(rows)
        if not found:
            return np.empty((0, self._width), np.int64)
        regions = found[0] if len(found) == 1 else np.concatenate(found)
        merged = np.empty_like(regions)
        count = merge_regions(regions, np.empty((2, len(regions)), np.int64), merged)
        return merged[:count]

    def _stab(self, watch: WatchIndex, rows: Words, old: Words, new: Words) -> Words:
        changed = watch.arrangement.number
        roots = np.array((old[changed], new[changed], new[watch.number]), np.int64)
        while True:
            count = stab(
                self._storage.pool.pages,
                watch.arrangement.tree.shape,
                watch.tree.shape,
                roots,
                rows,
                watch.words,
                self._path,
                self._regions,
            )
            if count <= len(self._regions):
                return self._regions[:count].copy()
            self._regions = np.empty((2 * count, self._width), np.int64)


def _watch_index(storage: Storage, watch: Watch) -> WatchIndex:
    arrangement = storage.serving(watch.atom.predicate, watch.atom.columns)
    assert arrangement is not None, "a rule's join reads what its index watches"
    keyed = (
        *(code.RECORD_VALUES + depth for depth in watch.above),
        code.RECORD_LOW,
        *(code.RECORD_VALUES + depth for depth in watch.others),
        code.RECORD_HIGH,
    )
    words = np.array((watch.level, watch.depth, *watch.above, *watch.others), np.int64)
    tree = BTree(storage.pool, watch.depth + 1, payload=True, scan=GREATEST_PAYLOAD)
    return WatchIndex(watch, storage.add_tree(tree), tree, arrangement, words, keyed)


def _keyed(records: Words, number: int, watch: WatchIndex) -> tuple[Words, Words]:
    """The keys and ends of one watch's raw records: sorted, and of equal keys the one with the greatest end."""
    rows = sort_distinct(records[records[:, code.RECORD_ITERATOR] == number][:, watch.columns])
    last = np.ones(len(rows), bool)
    last[:-1] = np.any(rows[:-1, :-1] != rows[1:, :-1], axis=1)
    rows = rows[last]
    return np.ascontiguousarray(rows[:, :-1]), np.ascontiguousarray(rows[:, -1])
