"""One transaction as it is gathered from a stream: the last word on each fact."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from datalog.errors import Diagnostic, StreamError
from datalog.io.literals import closest
from datalog.io.rows import columns_of, counted
from datalog.ir.core import Predicate, Row

LONGEST_SHOWN = 200
SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class StagedTransaction:
    """Rows to insert and to delete by predicate, disjoint and without duplicates, read from lines `first_line` to
    `last_line`. A derived predicate's rows are meant for its given facts."""

    first_line: int
    last_line: int
    insert: dict[str, list[Row]]
    delete: dict[str, list[Row]]


class Staging:
    """What has been read of the pending transaction."""

    __slots__ = ("_words", "first_line")

    def __init__(self) -> None:
        self._words: dict[str, dict[Row, bool]] = {}
        self.first_line = 0  # 0: nothing has been read of it

    def say(self, predicate: str, row: Row, inserted: bool, line: int) -> None:
        if not self.first_line:
            self.first_line = line
        words = self._words.get(predicate)
        if words is None:
            words = self._words[predicate] = {}
        words[row] = inserted

    def commit(self, last_line: int) -> StagedTransaction:
        """The transaction, and an empty staging area for the next."""
        sides: list[dict[str, list[Row]]] = []
        for side in (True, False):
            chosen = {name: [row for row, inserted in words.items() if inserted is side] for name, words in self._words.items()}
            sides.append({name: rows for name, rows in chosen.items() if rows})
        staged = StagedTransaction(self.first_line or last_line, last_line, *sides)
        self.abort()
        return staged

    def abort(self) -> None:
        self._words = {}
        self.first_line = 0


class BadFact(Exception):
    """What is wrong with a stream from offset `start` to `end` of the text being read."""

    def __init__(self, message: str, start: int, end: int, hint: str = "") -> None:
        self.message, self.start, self.end, self.hint = message, start, max(end, start + 1), hint

    def placed(self, text: str, first_line: int, file: str) -> StreamError:
        """The error with its place, where `text` begins with line `first_line`."""
        begin = text.rfind("\n", 0, self.start) + 1
        end = text.find("\n", self.start)
        shown = text[begin : end if end >= 0 else len(text)].rstrip("\r")
        line = first_line + text.count("\n", 0, self.start)
        shown = SURROGATE.sub("\ufffd", shown) if len(shown) <= LONGEST_SHOWN else ""
        return StreamError([Diagnostic(self.message, file, line, self.start - begin + 1, shown, self.end - self.start, self.hint)])


def find_damage(text: str) -> BadFact | None:
    """The first byte that was no UTF-8, of a text that was decoded with `surrogateescape`."""
    found = None if text.isascii() else SURROGATE.search(text)
    return BadFact("this is no valid UTF-8", found.start(), found.end()) if found else None


def predicate_named(name: str, signature: Mapping[str, Predicate], start: int, end: int) -> Predicate:
    """The predicate that users know by `name`. BadFact at the name if there is none."""
    predicate = signature.get(name)
    if predicate is None or predicate.hidden:
        known = [known.name for known in signature.values() if not known.hidden]
        raise BadFact(f"there is no predicate {name}", start, end, closest(name, known))
    return predicate


def check_arity(predicate: Predicate, given: int, start: int, end: int) -> None:
    if given != len(predicate.attributes):
        raise BadFact(f"{counted(given, 'value')} where {predicate.name} has {columns_of(predicate)}", start, end)
