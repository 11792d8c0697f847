"""One tree beside the relations, such as an aggregate keeps: its place in the storage's versions, and the work that it takes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from datalog.store.btree import EMPTY, NO_SCAN, BTree
from datalog.store.ranges import Ranges
from datalog.store.storage import Storage
from datalog.store.tally import A_BUILD

Words = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class StateTree:
    """A tree and its number in a version. Methods work on the running version, and those that write within a transaction."""

    storage: Storage
    tree: BTree
    number: int

    @classmethod
    def made(cls, storage: Storage, width: int, payload: bool = False, scan: int = NO_SCAN) -> StateTree:
        """A new, empty tree."""
        tree = BTree(storage.pool, width, payload, scan)
        return cls(storage, tree, storage.add_tree(tree))

    @property
    def root(self) -> int:
        return int(self.storage.roots[self.number])

    def build(self, rows: Words, payloads: Words | None = None) -> None:
        """Hold exactly these rows, ascending and distinct. O(n)."""
        self.storage.tally.cost += A_BUILD * len(rows)
        self.tree.drop(self.root)
        self.storage.roots[self.number] = EMPTY
        self.storage.roots[self.number] = self.tree.build(rows, payloads)

    def apply(self, rows: Words, weights: Words, action: int) -> Words:
        """Apply a batch as `BTree.apply` does; for each row 1 if it came, -1 if it went, 0 if neither."""
        root = self.root
        self.storage.tally.cost += self.storage.price(self.tree, root, len(rows)) * len(rows)
        self.storage.roots[self.number], moved = self.tree.apply(root, rows, weights, action)
        return moved

    def ranges(self) -> Ranges:
        """Its ranges."""
        return Ranges(self.tree, self.root, self.storage.tally)
