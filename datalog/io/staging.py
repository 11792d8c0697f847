"""One transaction as it is gathered from a stream: the last word on each fact and on each key."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from datalog.errors import Diagnostic, StreamError
from datalog.io.literals import closest
from datalog.io.rows import columns_of, counted
from datalog.ir.core import Predicate, PyValue, Row

LONGEST_SHOWN = 200
SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class StagedTransaction:
    """Rows to insert and to delete by predicate, disjoint and without duplicates, read from lines `first_line` to
    `last_line`. A derived predicate's rows are meant for its given facts.

    Before these come the rows to upsert and the keys to delete, of functional predicates: a key stands in one of them only,
    and then the rows with it that are inserted or deleted are those that were mentioned after it."""

    first_line: int
    last_line: int
    insert: dict[str, list[Row]]
    delete: dict[str, list[Row]]
    upsert: dict[str, list[Row]] = field(default_factory=dict)
    delete_keys: dict[str, list[Row]] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """How many changes they are."""
        return sum(len(rows) for side in (self.insert, self.delete, self.upsert, self.delete_keys) for rows in side.values())


class Staging:
    """What has been read of the pending transaction."""

    __slots__ = ("_keyed", "_values", "_words", "first_line")

    def __init__(self) -> None:
        self._words: dict[str, dict[Row, bool]] = {}
        self._values: dict[str, dict[Row, PyValue | None]] = {}
        self._keyed: dict[str, dict[Row, list[Row]]] = {}  # the rows in `_words` of a predicate in `_values`, by key
        self.first_line = 0  # 0: nothing has been read of it

    def say(self, predicate: str, row: Row, inserted: bool, line: int) -> None:
        if not self.first_line:
            self.first_line = line
        words = self._words.get(predicate)
        if words is None:
            words = self._words[predicate] = {}
        words[row] = inserted
        if predicate in self._keyed:
            self._keyed[predicate].setdefault(row[:-1], []).append(row)

    def say_value(self, predicate: str, key: Row, value: PyValue | None, line: int) -> None:
        """Give a key its value (None: no value), whatever has been said of its rows before."""
        if not self.first_line:
            self.first_line = line
        if predicate not in self._keyed:
            self._keyed[predicate] = {}
            for row in self._words.get(predicate, ()):
                self._keyed[predicate].setdefault(row[:-1], []).append(row)
        for row in self._keyed[predicate].pop(key, ()):
            self._words[predicate].pop(row, None)
        self._values.setdefault(predicate, {})[key] = value

    def commit(self, last_line: int) -> StagedTransaction:
        """The transaction, and an empty staging area for the next."""
        insert = {name: [row for row, inserted in words.items() if inserted] for name, words in self._words.items()}
        delete = {name: [row for row, inserted in words.items() if not inserted] for name, words in self._words.items()}
        upsert = {name: [(*key, value) for key, value in given.items() if value is not None] for name, given in self._values.items()}
        keys = {name: [key for key, value in given.items() if value is None] for name, given in self._values.items()}
        sides = [{name: rows for name, rows in side.items() if rows} for side in (insert, delete, upsert, keys)]
        staged = StagedTransaction(self.first_line or last_line, last_line, *sides)
        self.abort()
        return staged

    def abort(self) -> None:
        self._words, self._values, self._keyed = {}, {}, {}
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


def check_functional(predicate: Predicate, start: int, end: int) -> None:
    """BadFact if the predicate has no keys."""
    if not predicate.functional:
        raise BadFact(f"{predicate.name} is no functional predicate", start, end, f"its facts are written `{predicate.name}(…)`")
