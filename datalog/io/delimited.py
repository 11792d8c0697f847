"""Delimited text to codes, twice.

`parse_fast` gives the bytes to Arrow's parser, column by column, and answers None wherever the two
could differ from what `parse_carefully` says, which goes through rows one by one and knows the place of each field. What
Arrow would let pass and we do not: a field that goes on after its closing quote, a lone carriage return as a line
end, an empty line as a row of empty fields, hexadecimal beyond 63 bits as a negative number, 1e400 as infinity.

What has the form of a row but no meaning, a cell that its column's type does not admit, a row with too few cells or a null without a
default, is a bad row: an error with its place, or a rejection.

The names in a header say which column is which (`datalog.io.named`). The columns are then read in the file's order. A layout may
pick some of the file's columns instead; of the others nothing is looked at but where they end.

The two readings stand in one module, since they must agree about every byte.

Rows of a predicate with one symbol column may be empty lines (the empty text). Elsewhere an empty line is an error, but
for those at the end of the file, which hold nothing. A line may end with CR LF; a byte order mark is skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from datalog.errors import DataError, Diagnostic
from datalog.io.cells import codes_of_cells
from datalog.io.layout import Layout
from datalog.io.literals import closest, parse
from datalog.io.named import BadNames, places_of
from datalog.io.nulls import NO_NULLS, Nulls, Rejection
from datalog.io.parts import cut
from datalog.ir.core import Predicate, PyValue, Type
from datalog.ir.spelling import spell_value
from datalog.ir.structures import Structure
from datalog.store.interner import Codes
from datalog.store.values import BadValue, Values, shown

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# Bytes that Arrow reads at a time. One thread is as quick as several, which share out small blocks, and none is left at exit.
BLOCK = 64 << 20
EMPTY_LINES = b"\n\n", b"\n\r\n", b"\r\r\n", b"\r"  # how data ends that has some at its end; to strip one line end takes a copy
STAND_IN = b"\x1f"  # for a delimiter of several characters, which Arrow does not take
REPORTED = 10
LONGEST_SHOWN = 200
ESCAPED_BYTE = re.compile("[\udc80-\udcff]")
WITHOUT_DEFAULT = 'give it one, default_{0}="…" (in Python defaults={{"{0}": …}}), or name a file for such rows, rejects="…"'
NAMES = {"\t": "tabs", ",": "commas", ";": "semicolons", "|": "bars", " ": "spaces"}


class Field(NamedTuple):
    """`text` with its quotes undone; it begins at offset `start` of the whole text and was written in `length` characters."""

    text: str
    start: int
    length: int

    @property
    def quoted(self) -> bool:
        return self.length != len(self.text)


class Record(NamedTuple):
    """One row, which begins at offset `start` of the whole text, on line `line`; or `problem`, found at offset `place`."""

    line: int
    start: int
    end: int
    fields: tuple[Field, ...]
    problem: str = ""
    place: int = 0


def parse_delimited(
    data: bytes, layout: Layout, predicate: Predicate, values: Values, file: str, nulls: Nulls = NO_NULLS
) -> tuple[Codes, list[Rejection]]:
    """int64[n, k] of the rows in `data`, for k ≥ 1 columns, and the bad rows if `nulls` has a file for them; if not, DataError names up
    to ten of them, each with its place. DataError, too, for a header that names some of the predicate's columns, and others."""
    data = data.removeprefix(BYTE_ORDER_MARK)
    if (predicate.types != (Type.SYMBOL,) or layout.columns) and (data.endswith(EMPTY_LINES) or data in (b"\n", b"\r\n")):
        data = data.rstrip(b"\r\n")
    if layout.columns:
        return parse_rows(data, layout, predicate, values, file, nulls, picked_columns(data, layout, file))
    places = places_in_header(data, layout, predicate, file) if layout.headers else None
    if places is None or places == sorted(places):
        return parse_rows(data, layout, predicate, values, file, nulls)
    order = sorted(range(len(places)), key=places.__getitem__)  # the predicate's columns as they stand in the file
    attributes, types = tuple(predicate.attributes[at] for at in order), tuple(predicate.types[at] for at in order)
    defaults = tuple(nulls.defaults[at] for at in order) if nulls.defaults else ()
    as_in_file = replace(predicate, attributes=attributes, types=types)
    codes, rejected = parse_rows(data, layout, as_in_file, values, file, replace(nulls, defaults=defaults))
    return np.ascontiguousarray(codes[:, places]), rejected


def header_of(data: bytes, layout: Layout) -> tuple[Record | None, str]:
    """The first row, if it has the form of one, and the text of which it is the beginning."""
    end = data.find(b"\n")
    while layout.rfc4180 and end >= 0 and data.count(b'"', 0, end) % 2:  # a line end within quotes
        end = data.find(b"\n", end + 1)
    text = data[: end if end >= 0 else len(data)].decode("utf-8", "surrogateescape")
    records = quoted_records if layout.rfc4180 else plain_records
    header = next(records(text, replace(layout, headers=False)), None)
    return (None if header is None or header.problem else header), text


def places_in_header(data: bytes, layout: Layout, predicate: Predicate, file: str) -> list[int] | None:
    """Which field of the header names which column of the predicate; None if they go by position. DataError for a mixture."""
    header, text = header_of(data, layout)
    if header is None:
        return None
    try:
        return places_of([field.text.strip() for field in header.fields], predicate)
    except BadNames as error:
        field = header.fields[error.place]
        raise DataError([BadField(error.message, field.start, field.length, error.hint).placed(header, text, file)]) from None


def picked_columns(data: bytes, layout: Layout, file: str) -> list[int]:
    """The places of the columns that the layout names. DataError for a name that the header does not have."""
    if all(column.isdecimal() for column in layout.columns):
        return [int(column) for column in layout.columns]
    header, text = header_of(data, layout)
    names = [field.text.strip() for field in header.fields] if header else []
    for column in layout.columns:
        if not column.isdecimal() and column not in names:
            message = f"the header has no column {column}"
            if header is None:
                raise DataError([Diagnostic(message, file, 1, 1)])
            hint = closest(column, names) or f"it has {', '.join(names)}"
            raise DataError([BadField(message, header.start, header.end - header.start, hint).placed(header, text, file)])
    return [int(column) if column.isdecimal() else names.index(column) for column in layout.columns]


def parse_rows(
    data: bytes, layout: Layout, predicate: Predicate, values: Values, file: str, nulls: Nulls, picked: Sequence[int] = ()
) -> tuple[Codes, list[Rejection]]:
    """The rows below the header, with the columns in the file's order, or those at the places that are picked, in that order."""
    fast = parse_fast(data, layout, predicate, values, nulls, picked)
    return parse_carefully(data, layout, predicate, values, file, nulls, picked) if fast is None else (fast, [])


def parse_fast(
    data: bytes, layout: Layout, predicate: Predicate, values: Values, nulls: Nulls = NO_NULLS, picked: Sequence[int] = ()
) -> Codes | None:
    """The rows by way of Arrow, or None where the careful way has to look."""
    import pyarrow as pa
    import pyarrow.csv as csv

    delimiter = layout.delimiter.encode()
    if holds_commas(layout, predicate) or len(set(picked)) < len(picked):
        return None
    if b"\r" in data:
        if layout.rfc4180:
            if data.count(b"\r") != data.count(b"\r\n"):
                return None
        else:
            data = data.replace(b"\r\n", b"\n")
            if b"\r" in data:
                return None
    start = (data.find(b"\n") + 1 or len(data)) if layout.headers else 0
    if start == len(data):
        return np.empty((0, len(predicate.types)), np.int64)
    if layout.headers and layout.rfc4180 and b'"' in data[:start]:
        return None
    arrow_types = {Type.NUMBER: pa.int64(), Type.UNSIGNED: pa.uint64(), Type.FLOAT: pa.float64()}
    # Where some column takes no empty cells, Arrow refuses the row of them for which it takes an empty line.
    passes = bool(picked) or (len(predicate.types) > 1 and ("" in nulls.tokens or arrow_types.keys().isdisjoint(predicate.types)))
    if passes and (data.startswith((b"\n", b"\r\n"), start) or b"\n\n" in data or b"\n\r\n" in data):
        return None
    if len(delimiter) > 1:
        if layout.rfc4180 or STAND_IN in data:
            return None
        data = data[start:].replace(delimiter, STAND_IN)
        delimiter, start = STAND_IN, 0
    if layout.rfc4180 and b'"' in data and not well_quoted(data, start, delimiter):
        return None
    if data.endswith(delimiter):
        data += b"\n"  # without a line end, Arrow takes an empty cell behind a quoted one for quoted, too
    names = [f"f{number}" for number in picked or range(len(predicate.types))]  # the names that Arrow makes of places
    try:
        table = csv.read_csv(
            pa.BufferReader(pa.py_buffer(data).slice(start)),
            read_options=csv.ReadOptions(
                column_names=None if picked else names, autogenerate_column_names=bool(picked), use_threads=False, block_size=BLOCK
            ),
            parse_options=csv.ParseOptions(
                delimiter=delimiter.decode(),
                quote_char='"' if layout.rfc4180 else False,
                newlines_in_values=layout.rfc4180,
                ignore_empty_lines=False,
            ),
            convert_options=csv.ConvertOptions(
                column_types={name: arrow_types.get(type, pa.string()) for name, type in zip(names, predicate.types, strict=True)},
                include_columns=names,
                null_values=sorted(nulls.tokens),
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )
    except (pa.ArrowInvalid, KeyError):  # KeyError: there are too few columns
        return None
    codes = np.empty((table.num_rows, len(names)), np.int64)
    for number, (column, type) in enumerate(zip(table.columns, predicate.types, strict=True)):
        if type is Type.FLOAT and np.isinf(column.to_numpy()).any():
            return None
        if column.null_count:
            default = nulls.defaults[number]
            if default is None:
                return None
            column = column.fill_null(pa.scalar(default if type in arrow_types else spell_value(default), column.type))
        plain = type in arrow_types or type is Type.SYMBOL
        found = values.encode_column(column, type) if plain else codes_of_cells(column, type, values)
        if found is None:
            return None
        codes[:, number] = found
        if type is Type.NUMBER and len(found) and found.min() < 0 and (b"0x" in data or b"0X" in data):
            return None
    return codes


def holds_commas(layout: Layout, predicate: Predicate) -> bool:
    """Whether delimiters may stand within cells that are not quoted."""
    return not layout.rfc4180 and "," in layout.delimiter and any(isinstance(type, Structure) for type in predicate.types)


def well_quoted(data: bytes, start: int, delimiter: bytes) -> bool:
    """Whether each field that begins with a quote ends with one."""
    part = re.escape(delimiter)
    field = rb'(?:"(?:[^"]|"")*+"|(?!")[^' + part + rb"\r\n]*+)"
    whole = re.compile(rb"(?:" + field + rb"(?:" + part + rb"|\r?\n))*+" + field)
    found = whole.match(data, start)
    return found is not None and found.end() == len(data)


def parse_carefully(
    data: bytes,
    layout: Layout,
    predicate: Predicate,
    values: Values,
    file: str,
    nulls: Nulls = NO_NULLS,
    picked: Sequence[int] = (),
) -> tuple[Codes, list[Rejection]]:
    """The rows one by one. DataError with the first bad rows, or all that are rejected."""
    text = data.decode("utf-8", "surrogateescape")
    valid = ESCAPED_BYTE.search(text) is None
    rows: list[tuple[PyValue, ...]] = []
    found: list[Diagnostic] = []
    rejected: list[Rejection] = []
    grouped = holds_commas(layout, predicate)
    for record in quoted_records(text, layout) if layout.rfc4180 else plain_records(text, layout, grouped):
        try:
            if picked and not record.problem:
                record = pick(record, picked, text)
            rows.append(values_of(record, predicate, layout, text, valid or bool(picked), nulls))
        except BadField as error:
            if nulls.rejects is not None:
                place = error.placed(record, text, file)
                row = ESCAPED_BYTE.sub("\ufffd", text[record.start : record.end])
                rejected.append(Rejection(place.line, place.column, place.message, row))
                continue
            if len(found) == REPORTED - 1:
                error.hint = error.hint or f"reading stopped here, after {REPORTED} bad rows"
            found.append(error.placed(record, text, file))
            if len(found) == REPORTED:
                break
    if found:
        raise DataError(found)
    return values.encode_rows(rows, predicate.types), rejected


class BadField(Exception):
    """What is wrong with a record, at offset `start` of the whole text."""

    def __init__(self, message: str, start: int, length: int = 1, hint: str = "") -> None:
        self.message, self.start, self.length, self.hint = message, start, max(1, length), hint

    def placed(self, record: Record, text: str, file: str) -> Diagnostic:
        line = record.line + text.count("\n", record.start, self.start)
        begin = text.rfind("\n", 0, self.start) + 1
        end = text.find("\n", self.start)
        shown = text[begin : end if end >= 0 else len(text)].removesuffix("\r")
        shown = ESCAPED_BYTE.sub("\ufffd", shown) if len(shown) <= LONGEST_SHOWN else ""
        return Diagnostic(self.message, file, line, self.start - begin + 1, shown, self.length, self.hint)


def check_bytes(text: str, start: int, end: int) -> None:
    """BadField if a stretch of the text is no valid UTF-8."""
    if escaped := ESCAPED_BYTE.search(text, start, end):
        raise BadField(f"the byte 0x{ord(escaped[0]) - 0xDC00:02x} is no valid UTF-8", escaped.start())


def pick(record: Record, picked: Sequence[int], text: str) -> Record:
    """The fields at some places. BadField if there are too few, or one of them is no valid UTF-8."""
    fields = record.fields
    if max(picked) >= len(fields):
        count = "an empty line" if record.start == record.end else "1 field" if len(fields) == 1 else f"{len(fields)} fields"
        raise BadField(f"{count} where columns= names column {max(picked)}, the first being 0", record.end)
    for place in picked:
        check_bytes(text, fields[place].start, fields[place].start + fields[place].length)
    return record._replace(fields=tuple(fields[place] for place in picked))


def values_of(record: Record, predicate: Predicate, layout: Layout, text: str, valid: bool, nulls: Nulls) -> tuple[PyValue, ...]:
    """A record's values. BadField says what is wrong with it; `valid` if the whole text is known to be valid UTF-8."""
    if not valid:
        check_bytes(text, record.start, record.end)
    if record.problem:
        raise BadField(record.problem, record.place)
    fields, types = record.fields, predicate.types
    if len(fields) != len(types):
        count = "an empty line" if record.start == record.end else "1 field" if len(fields) == 1 else f"{len(fields)} fields"
        columns = f"{len(types)} column{'s' if len(types) > 1 else ''} ({', '.join(predicate.attributes)})"
        place = fields[len(types)].start if len(fields) > len(types) else record.end
        hint = other_delimiter(text[record.start : record.end], layout, len(types))
        raise BadField(f"{count} where {predicate.name} has {columns}", place, hint=hint)
    row: list[PyValue] = []
    for field, type, name in zip(fields, types, predicate.attributes, strict=True):
        if field.text in nulls.tokens and not field.quoted:
            default = nulls.defaults[len(row)]
            if default is None:
                what = shown(field.text) if field.text else "an empty cell"
                message = f"{what} is a null, and column {name} of {predicate.name} has no default"
                raise BadField(message, field.start, field.length, WITHOUT_DEFAULT.format(name))
            row.append(default)
            continue
        try:
            row.append(parse(field.text, type))
        except BadValue as error:
            names = sorted(name.casefold() for name in predicate.attributes)
            header = record.line == 1 and sorted(field.text.strip().casefold() for field in fields) == names
            hint = "this line looks like a header: say headers=true" if header else ""
            raise BadField(f"{error} (column {name} of {predicate.name})", field.start, field.length, hint) from None
    return tuple(row)


def other_delimiter(line: str, layout: Layout, columns: int) -> str:
    """A hint if another delimiter would cut `line` into the right number of fields."""
    for delimiter, name in NAMES.items():
        if delimiter != layout.delimiter and line.count(delimiter) == columns - 1 > 0:
            written = "\\t" if delimiter == "\t" else delimiter
            return f'the line has {name} in it: say delimiter="{written}" if they part its fields'
    return ""


def plain_records(text: str, layout: Layout, grouped: bool = False) -> Iterator[Record]:
    """Lines cut at each delimiter; with `grouped`, not at those within a record or a branch."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    begin = 0
    for number, line in enumerate(lines, 1):
        start = begin
        begin += len(line) + 1
        if number == 1 and layout.headers:
            continue
        line = line.removesuffix("\r")
        end = start + len(line)
        fields = []
        place = start
        for part in cut(line, layout.delimiter) if grouped else line.split(layout.delimiter):
            fields.append(Field(part, place, len(part)))
            place += len(part) + len(layout.delimiter)
        yield Record(number, start, end, tuple(fields))


def quoted_records(text: str, layout: Layout) -> Iterator[Record]:
    delimiter = re.escape(layout.delimiter)
    quoted = re.compile(r'"((?:[^"]|"")*+)"')
    plain = re.compile(rf"(?:(?!{delimiter}|\r?\n|\r\Z).)*+", re.DOTALL)
    ending = re.compile(r"\r?\n|\r?\Z")
    position, line, header = 0, 1, layout.headers
    while position < len(text):
        start = position
        fields: list[Field] = []
        problem = ""
        while True:
            if found := quoted.match(text, position):
                fields.append(Field(found[1].replace('""', '"'), position, found.end() - position))
            elif text.startswith('"', position):
                problem = "a quote is not closed"
                break
            else:
                found = plain.match(text, position)
                assert found
                fields.append(Field(found[0], position, len(found[0])))
            position = found.end()
            if not text.startswith(layout.delimiter, position):
                break
            position += len(layout.delimiter)
        end = position
        if found := None if problem else ending.match(text, position):
            position = found.end()
        else:
            problem = problem or "text follows a closing quote"
            position = text.find("\n", position) + 1 or len(text)  # the next line may be a row again
        if header:
            header = False
        else:
            yield Record(line, start, end, tuple(fields), problem, end)
        line += text.count("\n", start, position)
