"""Facts as JSON: an array of rows, each an array of values or an object by the names of the columns.

Values are written as `datalog.io.stream_jsonl` reads them: records as arrays, or as objects in the format of objects, `nil` as null,
a branch as an object with its name, dates as strings; what JSON has no number for are the strings "inf", "-inf" and "nan". The one row
of a nullary predicate is null.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from datalog.errors import DataError, Diagnostic
from datalog.io.changes import within_json
from datalog.io.named import BadNames, cells_of
from datalog.io.rows import columns_of, counted
from datalog.io.stream_jsonl import Digits, Misshapen, Pairs, distinct, locate, row_of
from datalog.ir.core import Predicate, PyValue, Type
from datalog.ir.structures import Structure
from datalog.store.canonical import folded
from datalog.store.interner import Codes
from datalog.store.values import Values

CHUNK = 10_000  # rows that are turned to text at once
LONGEST_SHOWN = 200
ROWS = "the rows are one array: [[1, 2], [2, 3]], or of objects"


def read_json(data: bytes, predicate: Predicate, values: Values, file: str) -> Codes:
    """int64[n, k] of an array of rows. DataError, with the place in the file, for what is none."""
    try:
        text = data.decode("utf-8-sig")
        rows = json.loads(text, object_pairs_hook=Pairs, parse_float=Digits)
    except UnicodeDecodeError as error:
        raise DataError([Diagnostic(f"this is no valid UTF-8, at byte {error.start + 1}", file, 0, 0)]) from None
    except json.JSONDecodeError as error:
        raise DataError([_at(f"this is no JSON: {error.msg[:1].lower()}{error.msg[1:]}", text, error.pos, error.pos + 1, file)]) from None
    except (RecursionError, ValueError) as error:  # nested too deep, or an integer longer than Python reads
        raise DataError([Diagnostic(f"this is no JSON that can be read: {error}", file, 0, 0)]) from None
    try:
        if not isinstance(rows, list) or isinstance(rows, Pairs):
            raise Misshapen(f"the facts of {predicate.name} are no array", (), ROWS)
        found = values.encode_rows([_row(row, predicate, number) for number, row in enumerate(rows)], predicate.types)
        return found[:1] if predicate.nullary else found
    except Misshapen as error:
        raise DataError([_at(error.message, text, *locate(text, error.path, error.key), file, error.hint)]) from None


def _row(row: Any, predicate: Predicate, number: int) -> tuple[PyValue, ...]:
    if predicate.nullary:
        if row not in (None, []):
            raise Misshapen(f"the only row that {predicate.name}, which has no columns, can have is null", (number,))
        return ()
    if isinstance(row, Pairs):
        try:
            row = list(cells_of(distinct(row, (number,)), predicate))
        except BadNames as error:
            raise Misshapen(error.message, (number,), error.hint) from None
        return _values(row, predicate, number, named=True)
    if not isinstance(row, list):
        raise Misshapen(f"a row of {predicate.name} is an array of {counted(len(predicate.types), 'value')}, or an object", (number,))
    if len(row) != len(predicate.types):
        raise Misshapen(f"{counted(len(row), 'value')} where {predicate.name} has {columns_of(predicate)}", (number,))
    return _values(row, predicate, number, named=False)


def _values(row: list[Any], predicate: Predicate, number: int, named: bool) -> tuple[PyValue, ...]:
    try:
        return row_of(row, predicate, (number,))
    except Misshapen as error:
        place = error.path[-1]
        assert isinstance(place, int)
        raise Misshapen(error.message, (number, predicate.attributes[place] if named else place), error.hint) from None


def _at(message: str, text: str, start: int, end: int, file: str, hint: str = "") -> Diagnostic:
    """What is wrong with a text from offset `start` to `end`."""
    begin = text.rfind("\n", 0, start) + 1
    until = text.find("\n", start)
    until = len(text) if until < 0 else until
    line = text[begin:until].rstrip("\r")
    length = max(1, min(end, until) - start)
    return Diagnostic(
        message, file, text.count("\n", 0, start) + 1, start - begin + 1, line if len(line) <= LONGEST_SHOWN else "", length, hint
    )


def json_lines(predicate: Predicate, rows: Codes, values: Values, objects: bool) -> Iterator[str]:
    """The text of an array of rows, one a line, as arrays or as objects."""
    if predicate.nullary:
        yield "[null]\n" if len(rows) else "[]\n"
        return
    yield "["
    names = [f"{_text(name)}: " if objects else "" for name in predicate.attributes]
    opening, closing = "{}" if objects else "[]"
    row = opening + ", ".join(name.replace("%", "%%") + "%s" for name in names) + closing
    for start in range(0, len(rows), CHUNK):
        chunk = rows[start : start + CHUNK]
        columns = [
            [_spelled(value, type, objects) for value in values.decode_column(chunk[:, place], type)]
            for place, type in enumerate(predicate.types)
        ]
        yield (",\n" if start else "") + ",\n".join(row % cells for cells in zip(*columns, strict=True))
    yield "]\n"


def _spelled(value: PyValue, type: Type, objects: bool) -> str:
    """A value in JSON. Nothing here is as deep as the value is."""
    if not isinstance(type, Structure):
        return _leaf(value, type)

    def together(of: Structure, number: int, parts: list[str]) -> str:
        shape = of.shapes[number]
        if objects:
            listed = "{" + ", ".join(f"{_text(name)}: {part}" for name, part in zip(shape.fields, parts, strict=True)) + "}"
        else:
            listed = f"[{', '.join(parts)}]"
        return listed if of.record else f"{{{_text(shape.name)}: {listed}}}"

    written: str = folded(value, type, _leaf, "null", together)
    return written


def _leaf(value: Any, type: Type) -> str:
    if type is Type.FLOAT and value - value == 0:
        return f"{value:.17g}"
    return _text(within_json(value, type))


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
