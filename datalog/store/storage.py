"""All materialised relations of one database, and their versions.

A relation is its arrangements: one B-tree per column order, all in one page pool. A version is the roots of all trees,
`int64[trees]`, indexed by the trees' numbers. One transaction runs at a time: it works on `roots`, a copy of the
committed version's, and `commit` makes that copy the new version; `abort` forgets it. Invariant: between transactions
all arrangements of a predicate hold the same rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, overload

import numpy as np
from numpy.typing import NDArray

from datalog.errors import DatalogError
from datalog.ir.core import BASE
from datalog.store.btree import COUNT_UP, NO_SCAN, SET, TOTAL, BTree, widest
from datalog.store.pool import PagePool
from datalog.store.rows import consolidate, sort_distinct
from datalog.store.tally import A_BUILD, A_CHANGE, A_MERGE, Tally

Words = NDArray[np.int64]
# counts: in the first arrangement only; totals: counts with a scan that adds them up; stamps: in all arrangements
Payload = Literal["nothing", "counts", "totals", "stamps"]
COUNTING = ("counts", "totals")
Columns = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Arrangement:
    """A predicate's rows sorted by `columns`; `number` is the place of its root in a version."""

    number: int
    columns: Columns
    tree: BTree
    in_order: bool  # the columns stand as declared
    _places: Words = field(init=False, repr=False, compare=False)  # `take` is much quicker with an array

    def __post_init__(self) -> None:
        object.__setattr__(self, "_places", np.array(self.columns, np.int64))

    def turned(self, rows: Words) -> Words:
        """Rows given in declared order with their columns in the order of this arrangement, not yet sorted."""
        return rows if self.in_order else rows.take(self._places, axis=1)

    def declared(self, rows: Words) -> Words:
        """Rows of this arrangement with their columns in declared order (and so no longer sorted)."""
        if self.in_order:
            return rows
        out = np.empty_like(rows)
        out[:, self._places] = rows
        return out


@dataclass(slots=True)
class Delta:
    """What a transaction changed in one predicate: distinct rows in declared order, none of them in both.

    Of a predicate that carries totals, `counted` tells by how much the counts changed: rows, those inserted and deleted
    among them, and for each what was added.
    """

    inserted: Words
    deleted: Words
    counted: tuple[Words, Words] | None = None
    _arranged: dict[Columns, Words] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.inserted) + len(self.deleted) if self.counted is None else len(self.counted[0])

    def arranged(self, arrangement: Arrangement) -> Words:
        """All changed rows, sorted in the arrangement's order."""
        if arrangement.columns not in self._arranged:
            self._arranged[arrangement.columns] = sort_distinct(arrangement.turned(np.concatenate((self.inserted, self.deleted))))
        return self._arranged[arrangement.columns]


class Storage:
    """The page pool, every tree in it, and the roots of the committed and of the running version."""

    def __init__(self, pool: PagePool) -> None:
        self.pool = pool
        self.tally = Tally()
        self.committed: Words = np.empty(0, np.int64)
        self.roots: Words = self.committed
        self.trees: list[BTree] = []  # by number
        self.arrangements: dict[str, list[Arrangement]] = {}
        self.payloads: dict[str, Payload] = {}
        self.symmetric: frozenset[str] = frozenset()  # predicates that hold (y, x) where they hold (x, y): one order is the other
        self._added: list[list[Arrangement]] = []  # per arrangement that the running transaction added, where it is listed

    # --- trees ---------------------------------------------------------------------------------------------------------

    def add_tree(self, tree: BTree) -> int:
        """The number of one more tree, which is empty."""
        self.trees.append(tree)
        self.committed = np.append(self.committed, np.int64(-1))
        self.roots = np.append(self.roots, np.int64(-1))
        return len(self.roots) - 1

    def forget_trees(self, count: int) -> None:
        """Take back the trees beyond the first `count`. Between transactions only."""
        self.committed = self.roots = self.committed[:count].copy()
        del self.trees[count:]

    def arrange(self, predicate: str, orders: Iterable[Columns], payload: Payload = "nothing") -> None:
        """Say in which column orders an (empty) predicate is kept, and what its rows carry."""
        self.payloads[predicate] = payload
        self.arrangements[predicate] = []
        for columns in orders:
            self._add_arrangement(predicate, columns)

    def add_arrangement(self, predicate: str, columns: Columns) -> Arrangement:
        """Keep a predicate in one more column order, which begins with `columns`, from its present rows on.

        Within a transaction only. O(n log n).
        """
        rest = sorted(set(self.arrangements[predicate][0].columns) - set(columns))
        arrangement = self._add_arrangement(predicate, (*columns, *rest))
        self._added.append(self.arrangements[predicate])
        first = self.arrangements[predicate][0]
        root = int(self.roots[first.number])
        if self.payloads[predicate] == "stamps":
            rows, stamps = first.tree.export_with_payload(root)
            self.roots[arrangement.number] = self._build(arrangement, first.declared(rows), stamps)
        else:
            self.roots[arrangement.number] = self._build(arrangement, first.declared(first.tree.export(root)), None)
        return arrangement

    def ensure(self, requests: Iterable[tuple[str, Columns]]) -> None:
        """Have an arrangement that serves each request, (predicate, first columns). Within a transaction only.

        The longest requests come first, since what is built for them serves the shorter ones.
        """
        for predicate, columns in sorted(requests, key=lambda request: (-len(request[1]), request)):
            if self.serving(predicate, columns) is None:
                self.add_arrangement(predicate, columns)

    def serving(self, predicate: str, columns: Columns) -> Arrangement | None:
        """The first arrangement whose order begins with `columns`, or None. A symmetric predicate's serve for either column."""
        if predicate in self.symmetric and columns[:1] == (1,):
            columns = (0, 1)[: len(columns)]
        return next((kept for kept in self.arrangements[predicate] if kept.columns[: len(columns)] == columns), None)

    def _add_arrangement(self, predicate: str, columns: Columns) -> Arrangement:
        kept = self.arrangements[predicate]
        carried = self.payloads[predicate]
        payload = carried == "stamps" or (carried in COUNTING and not kept)
        scan = TOTAL if carried == "totals" and not kept else NO_SCAN
        most = widest(self.pool, scan)
        if len(columns) > most:
            name, at, _ = predicate.partition("@")
            whose = f"an intermediate result for {name}" if at and not predicate.endswith(BASE) else name
            raise DatalogError(f"{whose} has {len(columns)} columns, and {most} is the most that there can be")
        tree = BTree(self.pool, len(columns), payload=payload, scan=scan)
        kept.append(Arrangement(self.add_tree(tree), columns, tree, columns == tuple(range(len(columns)))))
        return kept[-1]

    def _build(self, arrangement: Arrangement, rows: Words, payload: Words | None) -> int:
        """A new tree of distinct rows given in declared order."""
        self.tally.cost += A_BUILD * len(rows)
        arranged, payload = _sorted(arrangement.turned(rows), payload, own=not arrangement.in_order)
        return arrangement.tree.build(arranged, payload)

    # --- versions --------------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        self.pool.begin()
        self._added.clear()
        self.roots = self.committed.copy()

    def commit(self) -> None:
        self.committed = self.roots
        self.pool.commit()

    def abort(self) -> None:
        while self._added:
            self._added.pop().pop()
        self.roots = self.committed
        self.pool.abort()

    @contextmanager
    def scratch(self) -> Iterator[None]:
        """A transaction of which nothing stays: no row, no arrangement, no predicate."""
        kept = {name: list(listed) for name, listed in self.arrangements.items()}
        trees = len(self.roots)
        self.begin()
        try:
            yield
        finally:
            self.arrangements = kept
            self.payloads = {name: payload for name, payload in self.payloads.items() if name in kept}
            self.abort()
            self.forget_trees(trees)

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
        return first.tree.contains((self.roots if roots is None else roots)[first.number], first.turned(rows))

    def stamps(self, predicate: str, rows: Words) -> Words:
        """The stamps of rows (declared order) of a stamped predicate; 0 for rows that are not there."""
        first = self.arrangements[predicate][0]
        return first.tree.find(int(self.roots[first.number]), first.turned(rows))[1]

    def replace(self, predicate: str, rows: Words, payload: Words | None = None, but: Collection[Arrangement] = ()) -> None:
        """Give an emptied predicate its rows (declared order, distinct), with what they carry, if anything; `but` those that have them."""
        for place, arrangement in enumerate(self.arrangements[predicate]):
            if arrangement not in but:
                carried = payload if place == 0 or self.payloads[predicate] == "stamps" else None
                self.roots[arrangement.number] = self._build(arrangement, rows, carried)

    def price(self, tree: BTree, root: int, count: int) -> int:
        """What each row of a batch of so many costs, for the tally."""
        return A_MERGE if tree.is_dense(root, count) else A_CHANGE

    def insert(self, arrangement: Arrangement, rows: Words, stamp: int) -> None:
        """Insert new rows (declared order, distinct) into one arrangement of a stamped predicate; the others must follow."""
        tree, root = arrangement.tree, int(self.roots[arrangement.number])
        arranged = sort_distinct(arrangement.turned(rows))
        self.tally.cost += self.price(tree, root, len(rows)) * len(rows)
        self.roots[arrangement.number], _ = tree.apply(root, arranged, np.full(len(rows), stamp, np.int64), SET)

    def clear(self, predicate: str) -> None:
        """Empty a predicate; older versions keep its rows."""
        for arrangement in self.arrangements[predicate]:
            arrangement.tree.drop(int(self.roots[arrangement.number]))
            self.roots[arrangement.number] = -1

    def change(self, predicate: str, rows: Words, weights: Words) -> Delta:
        """Add weights to rows (declared order; weights of equal rows add up) and return the rows that appeared and disappeared.

        Rows that carry counts gain the weight, and are there while their count is positive. Otherwise a row is inserted
        at a positive weight, which becomes its stamp where rows carry stamps, and deleted at a negative one.
        """
        first, *others = self.arrangements[predicate]
        carried, roots = self.payloads[predicate], self.roots
        arranged, weights = _sorted(first.turned(rows), weights)
        old = int(roots[first.number])
        a_row = self.price(first.tree, old, len(rows))
        roots[first.number], moved = first.tree.apply(old, arranged, weights, COUNT_UP if carried in COUNTING else SET)
        rows = first.declared(arranged)
        if len(rows) == 1:  # as most often
            way = int(moved[0])
            inserted, deleted = rows[: way > 0], rows[: way < 0]
        else:
            inserted, deleted = rows[moved > 0], rows[moved < 0]
        if others and (len(inserted) or len(deleted)):
            changed, signs = rows, weights if carried == "stamps" else moved
            if len(inserted) + len(deleted) < len(rows):
                touched = moved != 0
                changed, signs = rows[touched], signs[touched]
            for arrangement in others:
                turned, carries = _sorted(arrangement.turned(changed), signs)
                roots[arrangement.number], _ = arrangement.tree.apply(int(roots[arrangement.number]), turned, carries, SET)
        self.tally.cost += a_row * (len(rows) + len(others) * (len(inserted) + len(deleted)))
        return Delta(inserted, deleted, (rows, weights) if carried == "totals" else None)

    def node_changes(self, predicate: str, delta: Delta, columns: Columns, old: Words, new: Words) -> tuple[Words, Words]:
        """Which values of `columns` (any order) some row has now and had not, and the other way round; distinct.

        Needs an arrangement that begins with these columns in some order, unless they are all columns.
        """
        if len(columns) == delta.inserted.shape[1]:
            in_order = columns == tuple(range(len(columns)))
            return (delta.inserted, delta.deleted) if in_order else (delta.inserted[:, columns], delta.deleted[:, columns])
        if predicate in self.symmetric:
            columns = (0,)
        kept = next(kept for kept in self.arrangements[predicate] if set(kept.columns[: len(columns)]) == set(columns))
        places = [columns.index(column) for column in kept.columns[: len(columns)]]

        def without(roots: Words, rows: Words) -> Words:
            """The values of `columns` in the rows that no row of a version has."""
            if not len(rows):
                return rows[:, : len(columns)]
            nodes = sort_distinct(rows.take(columns, axis=1))
            absent: Words = nodes[kept.tree.count_prefixes(int(roots[kept.number]), nodes.take(places, axis=1)) == 0]
            return absent

        return without(old, delta.inserted), without(new, delta.deleted)

    def difference(self, predicate: str, old: Words, new: Words) -> Delta:
        """What changed in a predicate between two versions. Where it carries totals, O(n)."""
        first = self.arrangements[predicate][0]
        roots = int(old[first.number]), int(new[first.number])
        deleted, inserted, _ = first.tree.diff(*roots)
        counted = None
        if self.payloads[predicate] == "totals":
            (before, less), (after, more) = (first.tree.export_with_payload(root) for root in roots)
            rows, weights = consolidate(np.concatenate((before, after)), np.concatenate((-less, more)))
            counted = first.declared(rows), weights
        return Delta(first.declared(inserted), first.declared(deleted), counted)


@overload
def _sorted(rows: Words, carried: Words, own: bool = ...) -> tuple[Words, Words]: ...
@overload
def _sorted(rows: Words, carried: None, own: bool = ...) -> tuple[Words, None]: ...
@overload
def _sorted(rows: Words, carried: Words | None, own: bool = ...) -> tuple[Words, Words | None]: ...
def _sorted(rows: Words, carried: Words | None, own: bool = False) -> tuple[Words, Words | None]:
    """Distinct rows in lexicographic order, and what they carry (no zeros) with them; with `own` the rows may be overwritten."""
    if len(rows) < 2:
        return np.ascontiguousarray(rows), carried
    return (sort_distinct(rows, own), None) if carried is None else consolidate(rows, carried, own)
