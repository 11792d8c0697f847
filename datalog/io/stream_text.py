"""Transactions written as facts: `+edge(1,2). -edge(2,3). commit.`

A fact of a functional predicate may be written `+sales["north",3] = 70.` as well; `^sales["north",3] = 70.` replaces the value
of the key, and `-sales["north",3].` deletes it, whatever it is.

A fact whose values are spelled plainly is read by one regular expression made for its predicate. Everything else — escapes,
hexadecimal, facts that go on in the next line, and every error — goes through `Scanner`, token by token. Lines are
taken one at a time, so a transaction is handed on as soon as its `commit.` has been read.

After an error the rest of the transaction is passed over, up to a `commit.` or `abort.` outside strings and comments.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from typing import NamedTuple

from datalog.errors import StreamError
from datalog.io.keyed import key_of
from datalog.io.literals import read_literal
from datalog.io.staging import BadFact, StagedTransaction, Staging, check_arity, check_functional, find_damage, predicate_named
from datalog.ir.core import Predicate, PyValue, Row, Type
from datalog.ir.structures import Structure
from datalog.store.values import BadValue, canonical
from datalog.syntax.constants import BadLiteral, read_constant
from datalog.syntax.tree import NOWHERE

GAP = r"(?:\s+|//[^\n]*|%[^\n]*)*+"
GAPS = re.compile(GAP)
WORD = r"[A-Za-z_?][A-Za-z0-9_?]*+"
NAME = rf"{WORD}(?:\.{WORD})*+"
HEAD = re.compile(rf"{GAP}(?:([+^-])\s*({NAME})\s*([(\[])|(commit|abort){GAP}\.)")
TOKEN = re.compile(
    rf"""{GAP}(?:(?P<string>"(?:[^"\\\n]|\\[^\n])*+")|(?P<open>")|(?P<literal>-?[0-9]\w*+(?:\.(?!commit\b|abort\b)\w++)*+(?:(?<=[eE])[+-][0-9]+)?|-inf\b)"""
    rf"""|(?P<name>{NAME})|(?P<mark>\S))"""
)
RESYNC = re.compile(r'"(?:[^"\\\n]|\\[^\n])*+(?:"|\n)|(?://|%)[^\n]*|(?<![\w?])(commit|abort)\s*\.')


def plain_text(body: str) -> str:
    return str(read_constant(f'"{body}"', NOWHERE).value) if "\\" in body else body


def plain_float(digits: str) -> float:
    return float(digits) + 0.0


def plain_decimal(type: Type, digits: str) -> PyValue:
    return canonical(Decimal(digits), type)


PLAIN: dict[Type, tuple[str, Callable[[str], PyValue]]] = {
    Type.NUMBER: (r"(-?[0-9]{1,18})", int),
    Type.UNSIGNED: (r"([0-9]{1,18})u?", int),
    Type.FLOAT: (r"(-?[0-9]{1,15}(?:\.[0-9]{1,30})?(?:[eE][+-]?[0-9]{1,2})?)", plain_float),
    Type.SYMBOL: (r'"((?:[^"\\\n]|\\[^\n])*+)"', plain_text),
    Type.BOOL: (r"(true|false)\b", "true".__eq__),
    Type.DATE: (r'"([0-9]{4}-[0-9]{2}-[0-9]{2})"', date.fromisoformat),
    Type.DATETIME: (r'"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{6})?Z)"', datetime.fromisoformat),
    **{type: (r"(-?[0-9]{1,18}(?:\.[0-9]{1,18})?)", partial(plain_decimal, type)) for type in Type.DECIMALS},
}
FALLIBLE = {Type.SYMBOL, Type.DATE, Type.DATETIME, *Type.DECIMALS}  # what is spelled plainly may still be no value

Arguments = Callable[[str, int], tuple[Row, int] | None]


class Incomplete(Exception):
    """The text ends before the fact does."""


class Token(NamedTuple):
    kind: str  # string, open (a quote that is not closed), literal, name or mark
    text: str
    start: int
    end: int


def read_text(lines: Iterable[str], signature: Mapping[str, Predicate], file: str) -> Iterator[StagedTransaction | StreamError]:
    """The transactions of a text stream, each as soon as it is complete, and in its place the first error of a bad one."""
    known = [predicate for predicate in signature.values() if not predicate.hidden]
    plain = {
        "(": {predicate.name: plain_arguments(predicate) for predicate in known},
        "[": {predicate.name: plain_arguments(predicate, "[") for predicate in known if predicate.functional},
    }
    staging = Staging()
    rest, first_line, number, skipping = "", 1, 0, False  # `rest` is the unread text before the current line, from `first_line` on
    line = ""
    for number, line in enumerate(lines, 1):
        text = rest + line.rstrip("\n") + "\n"
        first_line = number - rest.count("\n")
        rest, position = "", 0
        damage = find_damage(text)
        while position < len(text):
            start = position
            error = None
            if skipping:
                position, skipping = end_of_transaction(text, start)
                continue
            head = HEAD.match(text, start)
            name = head[2] if head else None
            read = plain[head[3]].get(name) if head and name and head[1] != "^" else None
            if head and name and read and (fact := read(text, head.end())):
                row, position = fact
                staging.say(name, row, head[1] == "+", first_line)
            elif head and head[4]:
                position = head.end()
            else:
                try:
                    position = Scanner(text, start).item(signature, staging, first_line)
                except Incomplete:
                    position = len(text)
                    rest = text[gap_end(text, start) :]
                except BadFact as found:
                    error = found
            if damage and start <= damage.start < position:
                error = damage
            if error:
                yield error.placed(text, first_line, file)
                staging.abort()
                skipping, position, rest = True, start, ""
            elif head and head[4]:
                if head[4] == "commit":
                    yield staging.commit(number)
                staging.abort()
    if rest or staging.first_line:
        hint = f"it began in line {staging.first_line or first_line}; close it with commit."
        yield BadFact("the stream ends inside a transaction", 0, 1, hint).placed(line, number, file)


def gap_end(text: str, position: int) -> int:
    found = GAPS.match(text, position)
    assert found
    return found.end()


def end_of_transaction(text: str, position: int) -> tuple[int, bool]:
    """Where the transaction ends that is being passed over, or the text's end and True if it goes on."""
    for found in RESYNC.finditer(text, position):
        if found[1]:
            return found.end(), False
    return len(text), True


def plain_arguments(predicate: Predicate, bracket: str = "(") -> Arguments:
    """A function that reads plainly spelled values from behind a bracket, as far as the fact's full stop: the row and its end, or None.

    What has parts is left to the scanner."""
    types = () if predicate.nullary else predicate.types
    if any(isinstance(type, Structure) for type in types):
        return lambda text, position: None
    parts, makers = [PLAIN[type][0] for type in types], [PLAIN[type][1] for type in types]
    if bracket == "[":
        # A point that a digit follows is not yet the full stop.
        pattern = r"\s*,\s*".join(parts[:-1]) + r"\s*\]\s*=\s*" + parts[-1] + r"\s*\.(?!\w)"
    else:
        pattern = r"\s*,\s*".join(parts) + r"\s*\)\s*\."
    match = re.compile(r"\s*" + pattern, re.ASCII).match
    only = makers[0] if len(set(makers)) == 1 else None

    def read(text: str, position: int) -> tuple[Row, int] | None:
        found = match(text, position)
        if found is None:
            return None
        if only:
            return tuple(map(only, found.groups())), found.end()
        return tuple([make(group) for make, group in zip(makers, found.groups(), strict=True)]), found.end()

    def read_fallible(text: str, position: int) -> tuple[Row, int] | None:
        try:
            return read(text, position)
        except (BadLiteral, ValueError):
            return None  # the scanner will say what is wrong, and where

    return read if FALLIBLE.isdisjoint(types) else read_fallible


class Scanner:
    """Reads one item of a text from a position, token by token."""

    __slots__ = ("_position", "_text")

    def __init__(self, text: str, position: int) -> None:
        self._text, self._position = text, position

    def item(self, signature: Mapping[str, Predicate], staging: Staging, line: int) -> int:
        """Stage one fact and return where it ends. BadFact if it is none, Incomplete if the text ends before it does."""
        sign = self._next()
        if sign.text in ("commit", "abort"):
            self._expect(".", f"behind {sign.text}")
            raise AssertionError("a complete keyword is read before this")
        if sign.text not in ("+", "-", "^"):
            hint = "a fact is inserted by `+` and deleted by `-` before it" if sign.kind == "name" else ""
            if sign.text == "{":
                hint = "JSON lines are read with --format jsonl"
            raise unexpected(sign, "`+`, `-`, `^`, `commit.` or `abort.`", hint)
        name = self._next()
        if name.kind != "name":
            raise unexpected(name, f"a predicate's name behind `{sign.text}`")
        bracket = self._next()
        if bracket.text not in ("(", "["):
            raise unexpected(bracket, f"`(` behind {name.text}")
        keyed = bracket.text == "["
        literals, whole = self._literals("]" if keyed else ")"), True
        if keyed:
            mark = self._next()
            whole = mark.text == "="
            if whole:
                literals.append(self._value(self._next()))
            elif sign.text != "-" or mark.text != ".":
                raise unexpected(mark, "`=` and a value behind the key")
        if whole:
            self._expect(".", "behind the fact")
        predicate = predicate_named(name.text, signature, name.start, name.end)
        if keyed or sign.text == "^":
            check_functional(predicate, sign.start, self._position)
        check_arity(predicate if whole else key_of(predicate), len(literals), name.start, self._position)
        row = tuple(
            value_of(token, type, f"column {attribute} of {predicate.name}")
            for token, type, attribute in zip(literals, predicate.types, predicate.attributes, strict=False)
        )
        if not whole:
            staging.say_value(predicate.name, row, None, line)
        elif sign.text == "^":
            staging.say_value(predicate.name, row[:-1], row[-1], line)
        else:
            staging.say(predicate.name, row, sign.text == "+", line)
        return self._position

    def _literals(self, closing: str) -> list[Token]:
        literals: list[Token] = []
        token = self._next()
        if token.text == closing:
            return literals
        while True:
            literals.append(self._value(token))
            token = self._next()
            if token.text == closing:
                return literals
            if token.text != ",":
                raise unexpected(token, f"`,` or `{closing}`")
            token = self._next()

    def _value(self, token: Token) -> Token:
        if token.text in ("[", "$"):
            return self._with_parts(token)
        if token.kind == "open":
            end = self._text.find("\n", token.start)
            raise BadFact("a string does not end on its line", token.start, end, "a line end is written \\n")
        if token.kind == "mark":
            raise unexpected(token, "a value")
        return token

    def _with_parts(self, first: Token) -> Token:
        """A record or a branch as one token."""
        depth = int(first.text == "[")
        last = self._next() if not depth else first
        while depth or self._text.startswith("(", self._position):
            last = self._next()
            depth += (last.text in ("[", "(")) - (last.text in ("]", ")"))
            if not depth:
                break
        return Token("literal", self._text[first.start : last.end], first.start, last.end)

    def _next(self) -> Token:
        found = TOKEN.match(self._text, self._position)
        if found is None:
            raise Incomplete
        assert found.lastgroup
        self._position = found.end()
        return Token(found.lastgroup, found[found.lastgroup], found.start(found.lastgroup), found.end())

    def _expect(self, mark: str, where: str) -> None:
        token = self._next()
        if token.text != mark:
            raise unexpected(token, f"`{mark}` {where}")


def unexpected(token: Token, wanted: str, hint: str = "") -> BadFact:
    return BadFact(f"expected {wanted}, found `{token.text}`", token.start, token.end, hint)


def value_of(token: Token, type: Type, column: str) -> PyValue:
    """A literal's value. BadFact at the literal, or at the bad escape inside of it."""
    try:
        return read_literal(token.text, type)
    except BadValue as error:
        hint = f'symbols are written in quotes: "{token.text}"' if type is Type.SYMBOL else ""
        raise BadFact(f"{error} ({column})", token.start, token.end, hint) from None
    except BadLiteral as error:
        raise BadFact(f"{error} ({column})", token.start + error.start, token.start + error.end, error.hint) from None
