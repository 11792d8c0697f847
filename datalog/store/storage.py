"""All materialised relations of one database, and their versions.

A relation is its arrangements: one B-tree per column order, all in one page pool. A version is the roots of all trees,
`int64[trees]`, indexed by the trees' numbers. One transaction runs at a time: it works on `roots`, a copy of the
committed version's, and `commit` makes that copy the new version; `abort` forgets it. Invariant: between transactions
all arrangements of a predicate hold the same rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from datalog.store.btree import COUNT_UP, SET, BTree
from datalog.store.pool import PagePool
from datalog.store.rows import sort_distinct

Words = NDArray[np.int64]
Columns = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Arrangement:
    """A predicate's rows sorted by `columns`; `number` is the place of its root in a version."""

    number: int
    columns: Columns
    tree: BTree
    in_order: bool  # the columns stand as declared

    def arrange(self, rows: Words) -> Words:
        """Rows given in declared order, in the order of this arrangement; sorted and distinct."""
        return sort_distinct(rows if self.in_order else np.ascontiguousarray(rows[:, self.columns]))

    def declared(self, rows: Words) -> Words:
        """Rows of this arrangement with their columns in declared order (and so no longer sorted)."""
        if self.in_order:
            return rows
        out = np.empty_like(rows)
        out[:, self.columns] = rows
        return out


@dataclass(slots=True)
class Delta:
    """What a transaction changed in one predicate: distinct rows in declared order, none of them in both."""

    inserted: Words
    deleted: Words
    _arranged: dict[Columns, Words] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(len(self.inserted) or len(self.deleted))

    def arranged(self, arrangement: Arrangement) -> Words:
        """All changed rows, sorted in the arrangement's order."""
        if arrangement.columns not in self._arranged:
            self._arranged[arrangement.columns] = arrangement.arrange(np.concatenate((self.inserted, self.deleted)))
        return self._arranged[arrangement.columns]


class Storage:
    """The page pool, every tree in it, and the roots of the committed and of the running version."""

    def __init__(self, pool: PagePool) -> None:
        self.pool = pool
        self.committed: Words = np.empty(0, np.int64)
        self.roots: Words = self.committed
        self.arrangements: dict[str, list[Arrangement]] = {}
        self.counted: set[str] = set()  # predicates whose first arrangement carries support counts

    # --- trees ---------------------------------------------------------------------------------------------------------

    def add_tree(self) -> int:
        """Give a new, empty tree its number."""
        self.committed = np.append(self.committed, np.int64(-1))
        self.roots = np.append(self.roots, np.int64(-1))
        return len(self.roots) - 1

    def forget_trees(self, count: int) -> None:
        """Take back the trees beyond the first `count`. Between transactions only."""
        self.committed = self.roots = self.committed[:count].copy()

    def arrange(self, predicate: str, orders: Iterable[Columns], counted: bool) -> None:
        """Say in which column orders an (empty) predicate is kept; with `counted`, the first one carries support counts."""
        listed = []
        for place, columns in enumerate(orders):
            tree = BTree(self.pool, len(columns), payload=counted and place == 0)
            listed.append(Arrangement(self.add_tree(), columns, tree, columns == tuple(range(len(columns)))))
        self.arrangements[predicate] = listed
        if counted:
            self.counted.add(predicate)

    def add_arrangement(self, predicate: str, columns: Columns) -> Arrangement:
        """Keep a predicate in one more column order, from its present rows on. Within a transaction only."""
        tree = BTree(self.pool, len(columns))
        arrangement = Arrangement(self.add_tree(), columns, tree, columns == tuple(range(len(columns))))
        self.roots[arrangement.number] = tree.build(arrangement.arrange(self.rows(predicate)))
        self.arrangements[predicate].append(arrangement)
        return arrangement

    # --- versions --------------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        self.pool.begin()
        self.roots = self.committed.copy()

    def commit(self) -> None:
        self.committed = self.roots
        self.pool.commit()

    def abort(self) -> None:
        self.roots = self.committed
        self.pool.abort()

    # --- relations ----------------------------------------------------------------------------------------------------------

    def rows(self, predicate: str, roots: Words | None = None) -> Words:
        """The predicate's rows in declared column order, sorted by its first arrangement."""
        first = self.arrangements[predicate][0]
        return first.declared(first.tree.export((self.roots if roots is None else roots)[first.number]))

    def size(self, predicate: str, roots: Words | None = None) -> int:
        first = self.arrangements[predicate][0]
        return first.tree.size((self.roots if roots is None else roots)[first.number])

    def has(self, predicate: str, rows: Words, roots: Words | None = None) -> NDArray[np.bool_]:
        """Which of the rows (declared order) the predicate holds."""
        first = self.arrangements[predicate][0]
        arranged = rows if first.in_order else np.ascontiguousarray(rows[:, first.columns])
        return first.tree.contains((self.roots if roots is None else roots)[first.number], arranged)

    def replace(self, predicate: str, rows: Words, counts: Words | None = None) -> None:
        """Give an emptied predicate its rows (declared order, distinct); `counts` where it is counted."""
        for place, arrangement in enumerate(self.arrangements[predicate]):
            arranged = rows if arrangement.in_order else np.ascontiguousarray(rows[:, arrangement.columns])
            order = np.lexsort(arranged.T[::-1]) if not _is_sorted(arranged) else None
            payload = counts if place == 0 else None
            if order is not None:
                arranged = np.ascontiguousarray(arranged[order])
                payload = payload[order] if payload is not None else None
            self.roots[arrangement.number] = arrangement.tree.build(arranged, payload)

    def clear(self, predicate: str) -> None:
        """Empty a predicate; older versions keep its rows."""
        for arrangement in self.arrangements[predicate]:
            arrangement.tree.drop(int(self.roots[arrangement.number]))
            self.roots[arrangement.number] = -1

    def change(self, predicate: str, rows: Words, weights: Words) -> Delta:
        """Add weights to rows (declared order, distinct) and return the rows that appeared and disappeared.

        A counted predicate adds to support counts and drops a row at 0; another one inserts at a positive weight and
        deletes at a negative one.
        """
        first, *others = self.arrangements[predicate]
        action = COUNT_UP if predicate in self.counted else SET
        arranged = rows
        if not first.in_order:
            arranged = np.ascontiguousarray(rows[:, first.columns])
            order = np.lexsort(arranged.T[::-1])
            arranged, weights = np.ascontiguousarray(arranged[order]), np.ascontiguousarray(weights[order])
        root, moved = first.tree.apply(int(self.roots[first.number]), arranged, weights, action)
        self.roots[first.number] = root
        inserted, deleted = first.declared(arranged[moved > 0]), first.declared(arranged[moved < 0])
        if others and (len(inserted) or len(deleted)):
            changed = np.concatenate((inserted, deleted))
            signs = np.ones(len(changed), np.int64)
            signs[len(inserted) :] = -1
            for arrangement in others:
                turned = changed if arrangement.in_order else np.ascontiguousarray(changed[:, arrangement.columns])
                order = np.lexsort(turned.T[::-1])
                self.roots[arrangement.number], _ = arrangement.tree.apply(
                    int(self.roots[arrangement.number]), np.ascontiguousarray(turned[order]), signs[order], SET
                )
        return Delta(inserted, deleted)

    def difference(self, predicate: str, old: Words, new: Words) -> Delta:
        """What changed in a predicate between two versions."""
        first = self.arrangements[predicate][0]
        deleted, inserted, _ = first.tree.diff(int(old[first.number]), int(new[first.number]))
        return Delta(first.declared(inserted), first.declared(deleted))


def _is_sorted(rows: Words) -> bool:
    """Are the rows lexicographically ascending?"""
    if len(rows) < 2:
        return True
    undecided = np.ones(len(rows) - 1, bool)
    for column in range(rows.shape[1]):
        before, after = rows[:-1, column], rows[1:, column]
        if np.any(undecided & (before > after)):
            return False
        undecided &= before == after
    return True
