"""The page pool: where all B-trees live, and which of its pages may be written or reused.

One transaction at a time writes. It takes free pages (`TAKEN`) and notes which pages of older versions its trees no longer reach
(`RETIRED`). Commit makes the new pages part of a version that is never written again; abort frees them. A reader pins the version
that it reads; pages retired by transaction T are freed once no version before T is pinned.

A small pool that grows gets new arrays. A larger one lies in a range of addresses (`memory.py`), of which its arrays are the part that
may be used; it grows without being copied, and gives memory back where many pages at its end become free. Readers in other threads are
safe: arrays that were replaced keep their contents, and pages of a pinned version are not written.

Roots are kept by the pool's users. The pool does not know which trees exist.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

import numpy as np

from datalog.errors import InternalError, MemoryLimit
from datalog.kernels.jit import Words
from datalog.kernels.layout import CTL_WORDS, FREE, LEDGER_STACKS, RECYCLED, RETIRED, TAKEN, TOP, TRANSACTION
from datalog.store.memory import Range, give_back_heap, new_range, physical_words

FIRST_PAGES = 64
SMALL = 4096  # pages: up to so many are copied when the pool grows
MANY = 8192  # pages: a transaction that took so many has left memory behind; if so many become free, a third of all, some are given back


@dataclass(frozen=True, slots=True)
class Limit:
    """How many bytes there may be in all, and how many there are besides those of the pool."""

    bytes: int
    besides: Callable[[], int]


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
        self.limit: Limit | None = None
        self._pins: Counter[int] = Counter()
        self._retired: deque[tuple[int, Words]] = deque()  # by transaction, until no reader can reach them
        self._released: deque[int] = deque()  # pins to be taken back
        self._lock = Lock()
        self._ranges: tuple[Range, Range] | None = None  # that `pages` and `ledger` are the beginning of
        self._room = 0  # pages for which there is a range

    @property
    def used_pages(self) -> int:
        """Pages that are not free: those of the trees, and those that wait for a reader or for the end of the transaction."""
        return int(self.ctl[TOP] - self.ctl[FREE] - self.ctl[RECYCLED])

    @property
    def page_bytes(self) -> int:
        """Memory that a page takes, with what the ledger holds of it."""
        return 8 * (self.words + LEDGER_STACKS)

    @property
    def bytes(self) -> int:
        """Memory of all pages that have been used, whether they are free now or not."""
        return int(self.ctl[TOP]) * self.page_bytes

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
            large = self.ctl[TAKEN] > MANY
            if self.ctl[RETIRED]:
                self._retired.append((number, self.ledger[RETIRED, : self.ctl[RETIRED]].copy()))
            self._free(self.ledger[RECYCLED, : self.ctl[RECYCLED]])
            self.ctl[TAKEN] = self.ctl[RETIRED] = self.ctl[RECYCLED] = 0
            self.committed = number
            self._reclaim()
        if large:
            give_back_heap()
        return number

    def abort(self) -> None:
        """End the transaction and forget what it wrote. O(pages taken)."""
        with self._lock:
            self._end()
            large = self.ctl[TAKEN] > MANY
            self._free(self.ledger[TAKEN, : self.ctl[TAKEN]])
            self.ctl[TAKEN] = self.ctl[RETIRED] = self.ctl[RECYCLED] = 0
            self._reclaim()
        if large:
            give_back_heap()

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
        """Make at least `count` pages available. Replaces `pages` and `ledger` by greater ones if need be.

        Raises MemoryLimit if they would take more than there may be; then nothing has changed.
        """
        missing = count - int(self.ctl[FREE] + self.ctl[RECYCLED] + len(self.pages) - self.ctl[TOP])
        if missing > 0:
            size = len(self.pages) + max(missing, len(self.pages) // 2)
            if self.limit is not None:
                most = (self.limit.bytes - self.limit.besides()) // self.page_bytes
                if len(self.pages) + missing > most:
                    raise MemoryLimit(self.limit.bytes)
                size = min(size, most)
            self._grow(size)

    def unreachable(self) -> Words:
        """The pages that no current tree may reach: free, recycled, or retired by this or an earlier transaction."""
        stacks = [self.ledger[stack, : self.ctl[stack]] for stack in (FREE, RECYCLED, RETIRED)]
        return np.concatenate(stacks + [retired for _, retired in self._retired])

    def _end(self) -> int:
        if not self.in_transaction:
            raise InternalError("no transaction is running")
        self.in_transaction = False
        return int(self.ctl[TRANSACTION])

    def _grow(self, size: int) -> None:
        if size <= self._room and self._ranges is not None:
            self.pages = self._ranges[0].words[: size * self.words].reshape(size, self.words)
            return
        used = int(self.ctl[TOP])
        self._room = size if size <= SMALL else max(physical_words() // self.words, 2 * size)
        self._ranges = None
        if size > SMALL and (found := new_range(self._room * self.words, huge=True)) is not None:
            ledgers = new_range(self._room * LEDGER_STACKS, huge=False)
            self._ranges = None if ledgers is None else (found, ledgers)
        if self._ranges is None:
            pages, ledger = np.empty((size, self.words), np.int64), np.empty((LEDGER_STACKS, size), np.int64)
        else:
            pages = self._ranges[0].words[: size * self.words].reshape(size, self.words)
            ledger = self._ranges[1].words.reshape(LEDGER_STACKS, self._room)
        pages[:used] = self.pages[:used]
        ledger[:, :used] = self.ledger[:, :used]
        self.pages, self.ledger = pages, ledger  # readers may look at them now

    def _free(self, pages: Words) -> None:
        free = int(self.ctl[FREE])
        self.ledger[FREE, free : free + len(pages)] = pages
        self.ctl[FREE] = free + len(pages)
        if self._ranges is not None and len(pages) >= max(MANY, self.ctl[TOP] // 3):
            self._give_back(self._ranges[0])

    def _give_back(self, lies: Range) -> None:
        """Give back the memory of the free pages at the end of the pool; of the others, the first are taken first."""
        count, top = int(self.ctl[FREE]), int(self.ctl[TOP])
        free = np.sort(self.ledger[FREE, :count])
        inside = count - int(np.argmin(np.append(free[::-1] == np.arange(top - 1, top - 1 - count, -1), False)))
        self.ledger[FREE, :inside] = free[:inside][::-1]
        self.ctl[FREE] = inside
        self.ctl[TOP] = top - (count - inside)
        lies.give_back(int(self.ctl[TOP]) * self.words, top * self.words)

    def _reclaim(self) -> None:
        while self._released:
            number = self._released.popleft()
            self._pins[number] -= 1
            if not self._pins[number]:
                del self._pins[number]
        oldest = min(self._pins, default=self.committed)
        while self._retired and self._retired[0][0] <= oldest:
            self._free(self._retired.popleft()[1])
