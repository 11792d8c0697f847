"""The page pool: where all B-trees live, and which of its pages may be written or reused.

One transaction at a time writes. It takes free pages (`TAKEN`) and notes which pages of older versions its trees no longer reach
(`RETIRED`). Commit makes the new pages part of a version that is never written again; abort frees them. A reader pins the version
that it reads; pages retired by transaction T are freed once no version before T is pinned. Readers in other threads are safe: a
pool that grows gets new arrays, and the old ones keep their contents.

Roots are kept by the pool's users. The pool does not know which trees exist.
"""

from __future__ import annotations

from collections import Counter, deque
from threading import Lock

import numpy as np

from datalog.errors import InternalError
from datalog.kernels.jit import Words
from datalog.kernels.layout import CTL_WORDS, FREE, LEDGER_STACKS, RECYCLED, RETIRED, TAKEN, TOP, TRANSACTION

FIRST_PAGES = 64


class PagePool:
    """A growable array of pages of `words` int64 words. `rows_per_page` limits all pages, for tests (at least 3)."""

    def __init__(self, words: int = 256, rows_per_page: int | None = None) -> None:
        if rows_per_page is not None and rows_per_page < 3:
            raise ValueError(f"a page needs room for 3 rows, not {rows_per_page}")
        self.words = words
        self.rows_per_page = rows_per_page
        self.pages: Words = np.zeros((FIRST_PAGES, words), np.int64)
        self.ledger: Words = np.zeros((LEDGER_STACKS, FIRST_PAGES), np.int64)
        self.ctl: Words = np.zeros(CTL_WORDS, np.int64)
        self.committed = 0
        self.in_transaction = False
        self._pins: Counter[int] = Counter()
        self._retired: deque[tuple[int, Words]] = deque()  # by transaction, until no reader can reach them
        self._released: deque[int] = deque()  # pins to be taken back
        self._lock = Lock()

    @property
    def used_pages(self) -> int:
        """Pages that are not free: those of the trees, and those that wait for a reader or for the end of the transaction."""
        return int(self.ctl[TOP] - self.ctl[FREE] - self.ctl[RECYCLED])

    @property
    def bytes(self) -> int:
        """Memory of all pages, used or not."""
        return self.pages.nbytes + self.ledger.nbytes

    def begin(self) -> int:
        """Start a transaction; its number."""
        with self._lock:  # an `unpin` that is freeing pages finishes first
            if self.in_transaction:
                raise InternalError("a transaction is running already")
            self.in_transaction = True
            self.ctl[TRANSACTION] += 1
            return int(self.ctl[TRANSACTION])

    def commit(self) -> int:
        """End the transaction and make what it wrote the current version; its number. O(pages retired)."""
        with self._lock:
            number = self._end()
            if self.ctl[RETIRED]:
                self._retired.append((number, self.ledger[RETIRED, : self.ctl[RETIRED]].copy()))
            self._free(self.ledger[RECYCLED, : self.ctl[RECYCLED]])
            self.ctl[TAKEN] = self.ctl[RETIRED] = self.ctl[RECYCLED] = 0
            self.committed = number
            self._reclaim()
        return number

    def abort(self) -> None:
        """End the transaction and forget what it wrote. O(pages taken)."""
        with self._lock:
            self._end()
            self._free(self.ledger[TAKEN, : self.ctl[TAKEN]])
            self.ctl[TAKEN] = self.ctl[RETIRED] = self.ctl[RECYCLED] = 0
            self._reclaim()

    def pin(self) -> int:
        """Keep the current committed version readable until `unpin` of the number returned."""
        with self._lock:
            self._pins[self.committed] += 1
            return self.committed

    def release(self, number: int) -> None:
        """Unpin a version when the pool is next used. Takes no lock, so that a finaliser may call it at any moment."""
        self._released.append(number)

    def unpin(self, number: int) -> None:
        with self._lock:
            if not self._pins[number]:
                raise InternalError(f"version {number} is not pinned")
            self._released.append(number)
            # The running transaction owns the ledger until it ends.
            if not self.in_transaction:
                self._reclaim()

    def reserve(self, count: int) -> None:
        """Make at least `count` pages available. Replaces `pages` and `ledger` by greater ones, at least doubled, if need be."""
        missing = count - int(self.ctl[FREE] + self.ctl[RECYCLED] + len(self.pages) - self.ctl[TOP])
        if missing > 0:
            size = max(2 * len(self.pages), len(self.pages) + missing)
            used = int(self.ctl[TOP])
            pages = np.empty((size, self.words), np.int64)
            pages[:used] = self.pages[:used]
            ledger = np.empty((LEDGER_STACKS, size), np.int64)
            ledger[:, : len(self.pages)] = self.ledger
            self.pages, self.ledger = pages, ledger

    def unreachable(self) -> Words:
        """The pages that no current tree may reach: free, recycled, or retired by this or an earlier transaction."""
        stacks = [self.ledger[stack, : self.ctl[stack]] for stack in (FREE, RECYCLED, RETIRED)]
        return np.concatenate(stacks + [retired for _, retired in self._retired])

    def _end(self) -> int:
        if not self.in_transaction:
            raise InternalError("no transaction is running")
        self.in_transaction = False
        return int(self.ctl[TRANSACTION])

    def _free(self, pages: Words) -> None:
        free = int(self.ctl[FREE])
        self.ledger[FREE, free : free + len(pages)] = pages
        self.ctl[FREE] = free + len(pages)

    def _reclaim(self) -> None:
        while self._released:
            number = self._released.popleft()
            self._pins[number] -= 1
            if not self._pins[number]:
                del self._pins[number]
        oldest = min(self._pins, default=self.committed)
        while self._retired and self._retired[0][0] <= oldest:
            self._free(self._retired.popleft()[1])
