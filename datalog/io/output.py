"""Relations to files, tables of SQLite and the terminal, as Soufflé lays them out.

Rows are sorted by value. Floats are written with 17 significant digits, which read back exactly, bools, dates, datetimes and
decimals as `to_string` gives them. Without rfc4180 a symbol stands as it is, with a warning if it would not read back as the same row
(it holds the delimiter or a line end); any other such value is an error and not a broken file. With rfc4180 every symbol stands in
quotes, and so does everything where the delimiter is a character of numbers or dates. A file is written beside its place and then
moved there, so nobody ever sees half of it and a failed run leaves the old one.
"""

from __future__ import annotations

import contextlib
import gzip
import os
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NoReturn

import numpy as np

from datalog.errors import DataError, Diagnostic, UnreadableText
from datalog.io.layout import TO_STANDARD_OUTPUT, Layout, Place, at, place_of
from datalog.io.parts import cells_with_parts
from datalog.ir.core import Predicate, Type
from datalog.ir.spelling import spell_value
from datalog.ir.structures import Structure
from datalog.store.columns import arrow_of, floats_of
from datalog.store.interner import Codes
from datalog.store.values import Values, shown
from datalog.syntax.tree import Directive

CHUNK = 10_000  # rows that are turned to text at once
LARGE = 50_000  # rows for which Arrow, which makes text of columns in a third of the time, is worth importing
BLOCK = 65_536  # rows that it turns to text at once
SPELLED = frozenset("0123456789+-.:TZaefilnrstu")  # the characters of everything but symbols


def write_output(
    directive: Directive | None, predicate: Predicate, codes: Codes, values: Values, out_dir: Path, stdout: IO[str]
) -> Path | None:
    """Write int64[n, k] where an `.output` directive says (None: `NAME.csv`); the file's path, or None for standard output.

    DataError if the file cannot be written or a value cannot stand in it, ProgramError for parameters that make no sense.
    """
    place = place_of(directive)
    name = place.name or predicate.name
    if place.io == "stdoutprintsize":
        stdout.write(print_size(name, len(codes)))
        return None
    rows = values.sort_by_value(codes, predicate.types)
    file = place.file(predicate.name, "output")
    path = out_dir / file
    try:
        if place.io == "sqlite":
            return write_table(directive, file, path, name, predicate, rows, values)
        parts = parts_of(place, name, predicate, rows, values)
        if place.io in TO_STANDARD_OUTPUT:
            text = "".join(parts)
        else:
            write_file(path, parts, place.compress)
    except OSError as error:
        refuse(directive, path, f"cannot write {predicate.name} to {path}: {error.strerror or error}")
    except Unwritable as error:
        refuse(directive, path, str(error), "with rfc4180=true such values are quoted")
    if place.io in TO_STANDARD_OUTPUT:
        stdout.write(text)
        return None
    return path


def write_table(
    directive: Directive | None, file: str, path: Path, name: str, predicate: Predicate, rows: Codes, values: Values
) -> Path | None:
    """Make a table of a SQLite database; the database's path, or None if it has a URI. DataError as SQLite says, OSError."""
    import sqlite3

    from datalog.io.sqlite import URI, write_sqlite

    database: Path | str = file if file.startswith(URI) else path
    try:
        write_sqlite(database, name, predicate, rows, values)
    except sqlite3.Error as error:
        refuse(directive, path, f"cannot write {predicate.name} to {database}: {error}")
    return database if isinstance(database, Path) else None


def parts_of(place: Place, name: str, predicate: Predicate, rows: Codes, values: Values) -> Iterator[str]:
    """The text of sorted rows, piece by piece."""
    if place.io in ("json", "jsonfile"):
        from datalog.io.rows_json import json_lines

        return json_lines(predicate, rows, values, place.objects)
    if place.io == "stdout":
        return framed(name, predicate, rows, values, place.layout)
    return lines(predicate, rows, values, place.layout)


def refuse(directive: Directive | None, path: Path, message: str, hint: str = "") -> NoReturn:
    found = at(directive.span, message, hint) if directive else Diagnostic(message, str(path), 0, 0, hint=hint)
    raise DataError([found]) from None


def framed(name: str, predicate: Predicate, rows: Codes, values: Values, layout: Layout) -> Iterator[str]:
    """What IO=stdout prints: the name (and the header) between two rules, the rows, a rule."""
    yield f"---------------\n{name}\n"
    body = lines(predicate, rows, values, layout)
    if layout.headers:
        yield next(body)
    yield "===============\n"
    yield from body
    yield "===============\n"


def print_size(name: str, size: int) -> str:
    """What `.printsize` prints."""
    return f"{name}\t{size}\n"


def lines(predicate: Predicate, rows: Codes, values: Values, layout: Layout) -> Iterator[str]:
    """The text of sorted rows: the header, if there is to be one, then some thousand rows at a time."""
    if layout.headers:
        yield (layout.header or layout.delimiter.join(predicate.attributes)) + "\n"
    if predicate.nullary:
        yield "()\n" * len(rows)
        return
    risky = not SPELLED.isdisjoint(layout.delimiter)
    quoted = layout.rfc4180 and any(isinstance(type, Structure) for type in predicate.types)
    columns = None if risky or quoted or len(rows) <= LARGE else columns_of_cells(predicate, rows, values, layout)
    yield from lines_of_values(predicate, rows, values, layout, risky) if columns is None else lines_of_cells(columns, layout)


def lines_of_values(predicate: Predicate, rows: Codes, values: Values, layout: Layout, risky: bool) -> Iterator[str]:
    """Rows from Python values; Unwritable for a value that would not read back, if it is no symbol.

    One format string for a whole chunk takes half the time of joining cells and rows.
    """
    width = len(predicate.types)
    texts = [type is Type.SYMBOL or isinstance(type, Structure) for type in predicate.types]
    forms = ['"%s"' if layout.rfc4180 and (text or risky) else "%s" for text in texts]
    row = layout.delimiter.replace("%", "%%").join(forms) + "\n"
    for start in range(0, len(rows), CHUNK):
        chunk = rows[start : start + CHUNK]
        cells: list[object] = [None] * chunk.size
        for number, (type, name) in enumerate(zip(predicate.types, predicate.attributes, strict=True)):
            column = cells_of(values.decode_column(chunk[:, number], type), type, layout)
            if texts[number] and layout.rfc4180:
                column = [text.replace('"', '""') for text in column]
            elif not layout.rfc4180 and not isinstance(type, Structure) and (type is Type.SYMBOL or risky):
                check_cells(list(map(str, column)), name, predicate, layout, lasting=type is Type.SYMBOL)
            cells[number::width] = column
        yield row * len(chunk) % tuple(cells)


def columns_of_cells(predicate: Predicate, rows: Codes, values: Values, layout: Layout) -> list[tuple[Any, Any]]:
    """Each column as Arrow's cells and the places of the rows' cells among them (None: one for each row, in their order).

    Each distinct symbol is looked at once.
    """
    import pyarrow as pa

    columns: list[tuple[Any, Any]] = []
    for number, (type, name) in enumerate(zip(predicate.types, predicate.attributes, strict=True)):
        column = np.ascontiguousarray(rows[:, number])
        if type is Type.SYMBOL:
            texts, places = values.distinct_texts(column)
            if layout.rfc4180:
                texts = ['"' + text.replace('"', '""') + '"' for text in texts]
            else:
                check_cells(sorted(texts), name, predicate, layout, lasting=True)
            columns.append((pa.array(texts, pa.string()), places))
        elif type in (Type.NUMBER, Type.UNSIGNED):
            columns.append((arrow_of(column, type), None))
        elif type is Type.FLOAT:
            columns.append((pa.array(("%.17g\n" * len(column) % tuple(floats_of(column).tolist())).split("\n")[:-1]), None))
        else:
            columns.append((pa.array(cells_of(values.decode_column(column, type), type, layout)), None))
    return columns


def lines_of_cells(columns: Sequence[tuple[Any, Any]], layout: Layout) -> Iterator[str]:
    """Rows from Arrow's columns: of an array of joined cells, each with its line end, the bytes are the text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    count = max(len(cells) if places is None else len(places) for cells, places in columns)
    for start in range(0, count, BLOCK):
        end = min(start + BLOCK, count)
        parts = [
            cells[start:end].cast(pa.string()) if places is None else cells.take(pa.array(places[start:end])) for cells, places in columns
        ]
        ended = pc.binary_join_element_wise(parts[-1], "", "\n")
        joined = pc.binary_join_element_wise(*parts[:-1], ended, layout.delimiter) if len(parts) > 1 else ended
        _, offsets, text = joined.buffers()
        length = int(np.frombuffer(offsets, np.int32, len(joined) + 1)[-1])
        yield text.slice(0, length).to_pybytes().decode()


def cells_of(column: list[Any], type: Type, layout: Layout) -> list[Any]:
    """What stands for a column's values, as `%s` writes it."""
    if isinstance(type, Structure):
        return cells_with_parts(column, leaf_of, quoted=layout.rfc4180)
    if type is Type.FLOAT:
        return [f"{value:.17g}" for value in column]
    return column if type in (Type.NUMBER, Type.UNSIGNED, Type.SYMBOL) else list(map(spell_value, column))


def leaf_of(value: Any) -> str:
    """What stands for a value in something that has parts."""
    return f"{value:.17g}" if isinstance(value, float) else spell_value(value)


class Unwritable(Exception):
    """A value that would not read back."""


def check_cells(cells: Sequence[str], name: str, predicate: Predicate, layout: Layout, lasting: bool) -> None:
    """Unwritable if a cell would end its field or its line early, or lose a character at an end of the file or line.

    If that is to have a `lasting` place in the file nevertheless, a warning names the first such cell."""
    delimiter = layout.delimiter
    first, last = name == predicate.attributes[0], name == predicate.attributes[-1]
    together = "\0".join(cells)
    if not (any(character in together for character in "\n\r\ufeff") or delimiter[0] in together):
        return
    for text in cells:
        if "\n" in text:
            what = "a line end in it"
        elif (text + delimiter).find(delimiter) != len(text):  # also where the end of the text completes the delimiter
            what = "the delimiter in it"
        elif last and text.endswith("\r"):
            what = "a carriage return at its end"
        elif first and text.startswith("\ufeff"):
            what = "a byte order mark before it"
        else:
            continue
        message = f"{shown(text)} (column {name} of {predicate.name}) has {what} and would not read back"
        if not lasting:
            raise Unwritable(message)
        warnings.warn_explicit(UnreadableText(f"{message}; with rfc4180=true it is quoted"), None, predicate.name, 0)
        return


def write_file(path: Path, parts: Iterator[str], compress: bool = False) -> None:
    """Write text, or what gzip makes of it, to a temporary file beside `path` and move it there. OSError as the system says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file, squeezed(file) if compress else contextlib.nullcontext(file) as target:
            target.writelines(part.encode() for part in parts)
        mask = os.umask(0)
        os.umask(mask)
        Path(name).chmod(0o666 & ~mask)
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def squeezed(file: IO[bytes]) -> gzip.GzipFile:
    """What is written to it goes to `file` compressed, without a name or a time, so that equal rows make equal files."""
    return gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=6, mtime=0)
