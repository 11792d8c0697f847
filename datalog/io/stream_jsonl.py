"""Transactions as JSON lines: `{"insert": {"edge": [[1,2]]}, "delete": {"edge": [[2,3]]}}`, one a line.

Deletions apply before insertions, as changes come out, so a row on both sides of one line ends up inserted. Rows of functional
predicates are keys and then the value; between the two `"upsert": {"sales": [["north", 3, 70]]}` applies, and before it
`"delete_keys": {"sales": [["north", 3]]}`. A key `txn`, which changes carry, says nothing to a reader.

JSON has no infinities: "inf", "-inf" and "nan" stand for them in float columns. Dates and datetimes are strings, as in CSV
files, and decimals are numbers, of which every digit counts, or strings, as who fears for their digits writes them. Records are
arrays, or objects by the names of their fields, `nil` is null, and a branch is an object with its name: `{"Add": [1, 2]}`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from datalog.errors import StreamError
from datalog.io.keyed import key_of
from datalog.io.literals import WORDS, closest, parse, rounded
from datalog.io.rows import columns_of, counted
from datalog.io.staging import BadFact, StagedTransaction, Staging, find_damage, predicate_named
from datalog.ir.branch import Branch
from datalog.ir.core import Predicate, PyValue, Type
from datalog.ir.structures import Structure
from datalog.store.canonical import folded
from datalog.store.interner import check_encodable
from datalog.store.values import BadValue, canonical, noun

SIDES = ("delete", "delete_keys", "upsert", "insert")  # in the order in which they apply
KEYS = (*SIDES, "txn")
BLANK = " \t\r\n"
TEXT = re.compile(r"\s*(?:[+^-]\s*[A-Za-z_?]|commit\s*\.|abort\s*\.|//|%)")
Path = tuple[str | int, ...]


class Misshapen(Exception):
    """What is wrong with the value at `path` of a line's object (with its key, if `key`)."""

    def __init__(self, message: str, path: Path, hint: str = "", *, key: bool = False) -> None:
        self.message, self.path, self.hint, self.key = message, path, hint, key


def read_jsonl(lines: Iterable[str], signature: Mapping[str, Predicate], file: str) -> Iterator[StagedTransaction | StreamError]:
    """The transactions of a stream of JSON lines, and in place of a bad one its first error. Empty lines are passed over."""
    for number, line in enumerate(lines, 1):
        if line.isspace() or not line:
            continue
        try:
            yield read_line(line, number, signature)
        except BadFact as error:
            yield error.placed(line, number, file)


def read_line(line: str, number: int, signature: Mapping[str, Predicate]) -> StagedTransaction:
    """The transaction that a line holds. BadFact at what is wrong with it."""
    if damaged := find_damage(line):
        raise damaged
    try:
        message = json.loads(line, object_pairs_hook=Pairs, parse_float=Digits)
    except json.JSONDecodeError as error:
        end = len(line.rstrip())
        hint = "each line holds one whole transaction" if error.pos >= end else ""
        if TEXT.match(line):
            hint = "a stream of facts such as +p(1). is read with --format text, as it is without --format"
        place = min(error.pos, end)
        raise BadFact(f"this is no JSON: {error.msg[:1].lower()}{error.msg[1:]}", place, place + 1, hint) from None
    except (RecursionError, ValueError) as error:  # nested too deep, or an integer longer than Python reads
        raise BadFact(f"this is no JSON that can be read: {error}", 0, 1) from None
    staging = Staging()
    try:
        if not isinstance(message, Pairs):
            raise Misshapen("a transaction is an object", (), 'write {"insert": {…}, "delete": {…}}')
        sides = distinct(message, ())
        for key in sides:
            if key not in KEYS:
                raise Misshapen(f'"{key}" is no part of a transaction', (key,), closest(key, KEYS), key=True)
        for side in SIDES:
            stage_side(side, sides.get(side, Pairs()), signature, staging, number)
    except Misshapen as error:
        start, end = locate(line, error.path, error.key)
        raise BadFact(error.message, start, end, error.hint) from None
    return staging.commit(number)


class Digits(str):
    """A number with a point or an exponent, as it is written: its column says what it is."""


class Pairs(list[tuple[str, Any]]):
    """An object as it was written, with keys that may come twice."""


def distinct(pairs: Pairs, path: Path) -> dict[str, Any]:
    known: dict[str, Any] = {}
    for key, value in pairs:
        if key in known:
            raise Misshapen(f'"{key}" comes twice', (*path, key), key=True)
        known[key] = value
    return known


def stage_side(side: str, given: object, signature: Mapping[str, Predicate], staging: Staging, line: int) -> None:
    if not isinstance(given, Pairs):
        raise Misshapen(f'"{side}" takes an object of predicates and their rows', (side,))
    for name, rows in distinct(given, (side,)).items():
        try:
            predicate = predicate_named(name, signature, 0, 1)
        except BadFact as error:
            raise Misshapen(error.message, (side, name), error.hint, key=True) from None
        if not isinstance(rows, list) or isinstance(rows, Pairs):
            raise Misshapen(f"{name} takes a list of rows", (side, name), "a row is a list of values: [[1, 2], [2, 3]]")
        if side in ("upsert", "delete_keys") and not predicate.functional:
            raise Misshapen(f"{name} is no functional predicate, so its rows have no keys", (side, name), key=True)
        if side == "delete_keys":
            predicate = key_of(predicate)
        width = len(predicate.attributes)
        for place, row in enumerate(rows):
            if not isinstance(row, list) or isinstance(row, Pairs):
                raise Misshapen(f"a row of {name} is a list of {counted(width, 'value')}", (side, name, place))
            if len(row) != width:
                raise Misshapen(f"{counted(len(row), 'value')} where {name} has {columns_of(predicate)}", (side, name, place))
            values = row_of(row, predicate, (side, name, place))
            match side:
                case "delete_keys":
                    staging.say_value(name, values, None, line)
                case "upsert":
                    staging.say_value(name, values[:-1], values[-1], line)
                case _:
                    staging.say(name, values, side == "insert", line)


def row_of(row: list[Any], predicate: Predicate, path: Path) -> tuple[PyValue, ...]:
    values: list[PyValue] = []
    for place, (value, type) in enumerate(zip(row, predicate.types, strict=False)):
        try:
            values.append(value_of(value, type))
        except ValueError as error:
            odd = "an object" if isinstance(value, Pairs) else json.dumps(value) if value is None or isinstance(value, bool) else ""
            message = f"{odd} is no {noun(type)}" if odd else str(error)
            raise Misshapen(f"{message} (column {predicate.attributes[place]} of {predicate.name})", (*path, place)) from None
    return tuple(values)


def value_of(value: object, type: Type) -> PyValue:
    """A value of `type`. ValueError if what JSON has is none."""
    if isinstance(type, Structure):
        known: PyValue = folded(value, type, value_of, None, lambda of, number, parts: of.shapes[number].value(parts), form_of)
        return known
    if isinstance(value, Digits):
        return canonical(Decimal(value) if type.scale >= 0 else rounded(value), type)
    if isinstance(value, str):
        if type is Type.FLOAT and value in WORDS:
            return WORDS[value]
        if type in (Type.DATE, Type.DATETIME) or type.scale >= 0:
            return parse(value, type)
        if not value.isascii():
            check_encodable(value)
    return canonical(value, type)


def form_of(value: object, type: Structure) -> object:
    """Of a record `[1, null]` or `{"x": 1, "next": null}`, and of a branch `{"Add": [1, 2]}` or `{"Add": {"left": 1, "right": 2}}`."""
    if not isinstance(value, Pairs):
        return value
    if type.record:
        return dict(value)
    if len(value) != 1 or not isinstance(value[0][1], list):
        raise BadValue(f'an object is no {type.value}, which is written {{"{type.shapes[0].name}": […]}}')
    ((name, parts),) = value
    number = type.number(name)
    if isinstance(parts, Pairs) and number >= 0:
        named = dict(parts)
        if named.keys() == set(type.shapes[number].fields):
            parts = [named[field] for field in type.shapes[number].fields]
    return Branch(name, *parts)


def locate(text: str, path: Path, key: bool) -> tuple[int, int]:
    """Where the value at `path` of valid JSON stands, or the last key of `path`; of keys that come twice the last one."""
    decoder = json.JSONDecoder()

    def skip(position: int, marks: str = "") -> int:
        while text[position] in BLANK or text[position] in marks:
            position += 1
        return position

    start = skip(0)
    end = decoder.raw_decode(text, start)[1]
    for depth, step in enumerate(path):
        position, index = skip(start + 1), 0
        opened = text[start]
        while position < end - 1:
            name: str | int = index
            key_start = key_end = position
            if opened == "{":
                name, key_end = decoder.raw_decode(text, position)
                position = skip(key_end, ":")
            value_end = decoder.raw_decode(text, position)[1]
            if name == step:
                start, found_end = position, value_end
                if key and depth == len(path) - 1:
                    start, found_end = key_start, key_end
            index += 1
            position = skip(value_end, ",")
        end = found_end
    return start, end
