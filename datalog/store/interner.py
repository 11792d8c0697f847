"""Symbols: each text has a dense id, given in the order of first appearance and never taken back.

Ids say nothing about order. Who has to compare symbols inside a kernel asks for `labels()`: one int64 a symbol, ordered
as the texts are (by code points, as Python orders strings). Labels are made when first asked for and then follow the
symbols that came since: a new symbol gets the middle of the gap between its neighbours, and when a gap has no middle,
all labels are dealt out anew. An array of labels that was handed out is never written again at the ids it covers, so
a reader may keep it for as long as it compares only those ids, and must not mix it with a later one.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
from sortedcontainers import SortedList

Codes = npt.NDArray[np.int64]

SPREAD = 2**61  # labels dealt out anew lie within ±SPREAD: the outer three quarters of int64 are for symbols at the ends
END = 2**63 - 1
A_NUMBER, A_PLACE = 32, 10  # bytes of a Python number, and of a place in a sorted list


class Interner:
    """The symbols of one database. One writer at a time; ids and texts that a reader holds stay valid."""

    __slots__ = ("_ids", "_labelled", "_labels", "_order", "_stride", "_texts", "_weighed", "_weight")

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._ids: dict[str, int] = {}
        self._order: Any = None  # SortedList of the labelled texts; None until labels are wanted
        self._labels: Codes = np.empty(0, np.int64)  # a growable buffer, valid below `_labelled`
        self._labelled = 0
        self._stride = 0
        self._weighed = self._weight = 0  # how many texts have been measured, and their bytes

    @property
    def bytes(self) -> int:
        """Memory of the texts, their numbers and labels. O(1) for each symbol that is new since it was last asked for."""
        texts = self._texts
        self._weight += sum((sys.getsizeof(text) + 15) & ~15 for text in islice(texts, self._weighed, None)) + A_NUMBER * (
            len(texts) - self._weighed
        )
        self._weighed = len(texts)
        kept = sys.getsizeof(texts) + sys.getsizeof(self._ids) + self._labels.nbytes
        return self._weight + kept + (0 if self._order is None else A_PLACE * len(self._order))

    def __len__(self) -> int:
        return len(self._texts)

    def intern(self, text: str) -> int:
        """The id of `text`, a new one if need be. O(1). ValueError for a text that UTF-8 cannot write."""
        found = self._ids.get(text)
        if found is not None:
            return found
        if not text.isascii():
            check_encodable(text)
        found = self._ids[text] = len(self._texts)
        self._texts.append(text)
        return found

    def find(self, text: str) -> int | None:
        """The id of `text`, or None if it is no symbol yet. Interns nothing."""
        return self._ids.get(text)

    def intern_all(self, texts: Iterable[str]) -> Codes:
        """The ids of `texts`, in their order, without a Python step for each. ValueError as for `intern`, and then none is new."""
        texts = texts if isinstance(texts, list) else list(texts)
        found = list(map(self._ids.get, texts))
        if None in found:
            fresh = list(dict.fromkeys(text for text, symbol in zip(texts, found, strict=True) if symbol is None))
            for text in fresh if not all(map(str.isascii, fresh)) else ():
                check_encodable(text)
            first = len(self._texts)
            self._texts += fresh
            self._ids.update(zip(fresh, range(first, first + len(fresh)), strict=True))
            found = list(map(self._ids.get, texts))
        return np.array(found, np.int64)

    def text(self, symbol: int) -> str:
        return self._texts[symbol]

    def texts(self, symbols: Iterable[int]) -> list[str]:
        return list(map(self._texts.__getitem__, symbols))

    def labels(self) -> Codes:
        """For each id a label, ordered as the texts are. O(n log n) at first, then O(log n) for each new symbol, amortised."""
        fresh = self._texts[self._labelled :]
        if self._order is None or len(fresh) > 64 + self._labelled // 4:
            self._order = SortedList(self._texts)
            self._deal_out()
        else:
            for symbol, text in enumerate(fresh, self._labelled):
                self._place(symbol, text)
        handed_out = self._labels[: self._labelled].view()
        handed_out.flags.writeable = False
        return handed_out

    def _place(self, symbol: int, text: str) -> None:
        place = self._order.bisect_left(text)
        before = self._label_at(place - 1) if place else None
        after = self._label_at(place) if place < len(self._order) else None
        self._order.add(text)
        label = self._between(before, after)
        if label is None:
            self._deal_out()
            return
        if symbol >= len(self._labels):
            grown = np.empty(2 * symbol + 64, np.int64)
            grown[:symbol] = self._labels[:symbol]
            self._labels = grown
        self._labels[symbol] = label
        self._labelled = symbol + 1

    def _label_at(self, place: int) -> int:
        return int(self._labels[self._ids[self._order[place]]])

    def _between(self, before: int | None, after: int | None) -> int | None:
        """A label strictly between two neighbours (None: no neighbour on that side), or None where there is none.

        At the ends labels advance by the stride that they were dealt out with: keys that arrive in ascending order are
        common, and halving what is left would use up 64 bits after some forty of them.
        """
        if before is None and after is None:
            return 0
        if before is None:
            assert after is not None
            return after - self._stride if after - self._stride > -END else None
        if after is None:
            return before + self._stride if before + self._stride < END else None
        middle = (before + after) // 2
        return middle if before < middle else None

    def _deal_out(self) -> None:
        """New labels, evenly spread, for the texts in `_order`, into a new buffer (see the module's promise)."""
        count = len(self._order)
        self._stride = 2 * SPREAD // (count + 1)
        places = np.fromiter(map(self._ids.__getitem__, self._order), np.int64, count)
        labels = np.empty(count + count // 8 + 64, np.int64)
        labels[places] = np.arange(1, count + 1, dtype=np.int64) * self._stride - SPREAD
        self._labels, self._labelled = labels, count


def check_encodable(text: str) -> None:
    """ValueError if `text` has half a surrogate pair: no file could ever take it."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{text!a} has half a surrogate pair at character {error.start + 1}, which is no text") from None


def order_of(texts: Sequence[str]) -> Codes:
    """For each of distinct `texts` its rank among them."""
    ranks = np.empty(len(texts), np.int64)
    ranks[sorted(range(len(texts)), key=texts.__getitem__)] = np.arange(len(texts))
    return ranks
