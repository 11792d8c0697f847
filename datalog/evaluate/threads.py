"""Joins on several threads: prefixes are split into parts, and each part is completed by a join of its own.

The parts follow each other in the order of prefixes and variables, and so do their outputs: how many threads there are changes nothing
but the time. What one binding depends on others for is not split: records, budgets, and expressions that may have no value.

Kernels run beside each other, since they let go of the interpreter's lock. Parts are many more than threads, for they differ in work.
An interrupt takes away the budget of the parts that run; it is passed on when they have stopped, because what they read
must not be given up before.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from queue import SimpleQueue
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from datalog.kernels import encoding as code
from datalog.kernels.layout import COUNT, HEADER, LEVEL

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

Words = NDArray[np.int64]
Worker = TypeVar("Worker")
Result = TypeVar("Result")

PARTS_A_THREAD = 8


@dataclass(slots=True)
class Sizes:
    """What is worth splitting; tests lower it."""

    prefixes: int = 4096  # in all
    leaves: int = 64  # of a tree whose keys are split


sizes = Sizes()


def all_cores() -> int:
    """How many threads this process may run at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class Crew(Generic[Worker]):
    """Workers, each of which does one part at a time. `dismiss` makes one stop soon; it is called from another thread."""

    make: Callable[[], Worker]
    dismiss: Callable[[Worker], None]
    workers: list[Worker] = field(default_factory=list)

    def each(self, threads: int, parts: Sequence[Words], do: Callable[[Worker, Words], Result]) -> list[Result]:
        """The results of all parts, in their order."""
        from concurrent.futures import wait

        while len(self.workers) < threads:
            self.workers.append(self.make())
        idle: SimpleQueue[Worker] = SimpleQueue()
        for worker in self.workers[:threads]:
            idle.put(worker)

        def work(part: Words) -> Result:
            worker = idle.get()
            try:
                return do(worker, part)
            finally:
                idle.put(worker)

        futures: list[Future[Result]] = [_pool(threads).submit(work, part) for part in parts]
        try:
            return [future.result() for future in futures]
        except BaseException:
            for future in futures:
                future.cancel()
            for worker in self.workers:
                self.dismiss(worker)
            wait(futures)
            self.workers.clear()
            raise


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(threads, "join")


def split_prefixes(prefixes: Words, threads: int) -> list[Words]:
    """Parts of many prefixes; one part where there are few."""
    if len(prefixes) < sizes.prefixes:
        return [prefixes]
    return np.array_split(prefixes, min(PARTS_A_THREAD * threads, len(prefixes)))


def split_keys(pages: Words, root: int, columns: int, inner_rows: int, prefix: Words, threads: int) -> list[Words]:
    """Parts of one prefix without values: intervals of the first column of a tree, with about as many rows each."""
    level = [root]
    while pages[level[0], LEVEL] > 1:
        level = [child for page in level for child in _entries(pages, page, HEADER + columns * inner_rows)]
    if pages[level[0], LEVEL] == 0:
        return [prefix]
    leaves = np.array([key for page in level for key in _entries(pages, page, HEADER)], np.int64)
    if len(leaves) < sizes.leaves:
        return [prefix]
    count = PARTS_A_THREAD * threads
    cuts = np.unique(leaves[np.arange(1, count) * len(leaves) // count])
    cuts = cuts[(cuts > max(leaves[0], prefix[0, code.PREFIX_LOW])) & (cuts <= prefix[0, code.PREFIX_HIGH])]
    parts = prefix.repeat(len(cuts) + 1, axis=0)
    parts[1:, code.PREFIX_LOW] = cuts
    parts[:-1, code.PREFIX_HIGH] = cuts - 1
    return [*parts[:, np.newaxis]]


def _entries(pages: Words, page: int, at: int) -> list[int]:
    entries: list[int] = pages[page, at : at + pages[page, COUNT]].tolist()
    return entries
