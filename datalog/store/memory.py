"""Memory for the pool's arrays that grow: a large range of addresses, of which only what has been written takes up memory.

Where the system gives such ranges (not Windows), an array is as long as all memory of the machine from the start and never moves. It
may take its memory in huge pages, since trees are walked all over. What is given back reads as zeros when it is next used.
"""

from __future__ import annotations

import mmap
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

import numpy as np

from datalog.kernels.jit import Words

NO_RESERVE = 0x4000 if sys.platform == "linux" else 0  # MAP_NORESERVE, which the module does not name in older versions
WORD = 8


@dataclass(frozen=True, slots=True)
class Range:
    """Words in a range of addresses of their own."""

    words: Words
    memory: mmap.mmap

    def give_back(self, first: int, end: int) -> None:
        """Let the system have the memory of the words first … end - 1 (of what lies in whole pages of it)."""
        start = -(-first * WORD // mmap.PAGESIZE) * mmap.PAGESIZE
        length = end * WORD // mmap.PAGESIZE * mmap.PAGESIZE - start
        if length > 0 and hasattr(mmap, "MADV_DONTNEED"):
            self.memory.madvise(mmap.MADV_DONTNEED, start, length)


def new_range(count: int, huge: bool) -> Range | None:
    """A range of `count` words, all 0, or None where the system does not give one. `huge` asks for huge pages."""
    if sys.platform == "win32":
        return None
    try:
        memory = mmap.mmap(-1, count * WORD, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NO_RESERVE)
    except (OSError, ValueError, OverflowError):
        return None
    if huge and hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):  # some systems have none
            memory.madvise(mmap.MADV_HUGEPAGE)
    return Range(np.frombuffer(memory, np.int64), memory)


def give_back_heap() -> None:
    """Let the system have what the process has freed, of which Arrow and the C library (glibc) keep large parts. Some milliseconds."""
    arrow = sys.modules.get("pyarrow")
    if arrow is not None:
        arrow.default_memory_pool().release_unused()
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Callable[[int], int] | None:
    if sys.platform != "linux":
        return None
    import ctypes

    with suppress(OSError, AttributeError):
        trim: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
        return trim
    return None


@cache
def physical_words() -> int:
    """How many words the machine's memory has, or what a small one has if it does not say."""
    try:
        return int(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // WORD)
    except (AttributeError, ValueError, OSError):
        return 1 << 29
