"""Tables of SQLite databases, as Soufflé lays them out, and any others for reading.

A predicate p is written to a table `_p` whose columns are called 0, 1, …; texts are numbers there, which `__SymbolTable` has with
their texts. A view p shows the rows with the predicate's own names and with texts. Both take the place of what there was by these
names, in one transaction, and nothing else in the database changes. Read is the table or view p, so that other programs' tables do.

SQLite's integers are signed: an unsigned number of 2⁶³ or more is the negative one with the same bits, as Soufflé has it.
Floats are REAL (Soufflé writes their bits as integers), records, branches, dates and decimals are texts, NaN is the text nan.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from datalog.io.literals import closest, parse
from datalog.io.named import BadNames, places_of
from datalog.io.parts import cells_with_parts
from datalog.ir.core import Predicate, PyValue, Type
from datalog.ir.spelling import spell_value
from datalog.ir.structures import Structure
from datalog.store.interner import Codes
from datalog.store.values import BadValue, Values, noun, shown

SYMBOLS = "__SymbolTable"
URI = ("file:", ":memory:")  # how the names of databases begin that are no paths
STORED = {Type.NUMBER: "INTEGER", Type.UNSIGNED: "INTEGER", Type.BOOL: "INTEGER", Type.FLOAT: "REAL"}
UNSIGNED_VALUES, FIRST_NEGATIVE = 1 << 64, 1 << 63


class BadTable(Exception):
    """What is wrong with a database, or with what it holds."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message, self.hint = message, hint


def read_sqlite(database: Path | str, table: str, columns: Sequence[str], predicate: Predicate, values: Values) -> Codes:
    """int64[n, k]: the rows of a table or view; `columns` as in `Layout`. BadTable, sqlite3.Error.

    `database` is a path, or a URI `file:…`. NULL is the empty text in a column of symbols and an error elsewhere.
    """
    with closing(sqlite3.connect(database if isinstance(database, str) else f"{database.resolve().as_uri()}?mode=ro", uri=True)) as source:
        known = [name for (name,) in source.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")]
        if table not in known:
            listed = ", ".join(name for name in known if not name.startswith("_"))
            raise BadTable(f"there is no table or view {table}", closest(table, known) or (f"there are {listed}" if listed else ""))
        cursor = source.execute(f"SELECT * FROM {quoted(table)}")
        names = [name for name, *_ in cursor.description]
        if predicate.nullary:
            return values.encode_rows(cursor.fetchmany(1) and [()], ())
        places = _places(names, columns, predicate, table)
        rows = cursor.fetchall()
    typed = list(zip(places, predicate.types, strict=True))
    encoded: list[tuple[PyValue, ...]] = []
    for number, row in enumerate(rows, 1):
        try:
            encoded.append(tuple([_value(row[place], type) for place, type in typed]))
        except BadValue:
            raise _bad_cell(number, row, typed, predicate, table) from None
    return values.encode_rows(encoded, predicate.types)


def _places(names: Sequence[str], columns: Sequence[str], predicate: Predicate, table: str) -> list[int]:
    """Which of a table's columns holds which of the predicate's."""
    if columns:
        if len(columns) != len(predicate.types):
            raise BadTable(f"columns= names {len(columns)}, where {predicate.name} has {len(predicate.types)}")
        for column in columns:
            if column not in names and not (column.isdecimal() and int(column) < len(names)):
                raise BadTable(f"the table {table} has no column {column}", closest(column, names) or f"it has {', '.join(names)}")
        return [names.index(column) if column in names else int(column) for column in columns]
    if len(names) == len(predicate.types):
        try:
            places = places_of(names, predicate)
        except BadNames as error:
            raise BadTable(error.message, 'columns="…" says which of the table\'s columns are meant, by name or by place from 0') from None
        return places or list(range(len(names)))
    hint = f'say which are meant, such as columns="{":".join(names[: len(predicate.types)])}"' if len(names) > len(predicate.types) else ""
    raise BadTable(f"the table {table} has {len(names)} columns, where {predicate.name} has {len(predicate.types)}", hint)


def _value(cell: Any, type: Type) -> PyValue:
    """The value that a cell holds. BadValue if it holds none of `type`."""
    if isinstance(cell, bytes):
        try:
            cell = cell.decode()
        except UnicodeDecodeError:
            raise BadValue("bytes are no text") from None
    if type is Type.SYMBOL:
        return "" if cell is None else cell if isinstance(cell, str) else spell_value(cell)
    if isinstance(cell, int):
        if type is Type.NUMBER:
            return cell
        if type is Type.UNSIGNED:
            return cell % UNSIGNED_VALUES
        if type is Type.BOOL and cell in (0, 1):
            return bool(cell)
    if cell is None:
        raise BadValue("NULL is no value")
    if type is Type.FLOAT and isinstance(cell, (int, float)):
        return float(cell)
    return parse(cell if isinstance(cell, str) else spell_value(cell), type)


def _bad_cell(number: int, row: Sequence[Any], typed: Sequence[tuple[int, Type]], predicate: Predicate, table: str) -> BadTable:
    for (place, type), name in zip(typed, predicate.attributes, strict=True):
        try:
            _value(row[place], type)
        except BadValue as error:
            what = "NULL" if row[place] is None else shown(row[place]) if isinstance(row[place], str) else ""
            message = f"{what} is no {noun(type)}" if what else str(error)
            return BadTable(f"{message} (column {name} of {predicate.name}, row {number} of the table {table})")
    raise AssertionError("a cell that was bad is good now")


def write_sqlite(database: Path | str, name: str, predicate: Predicate, rows: Codes, values: Values) -> None:
    """Make the table `_name` and the view `name` of int64[n, k], all or nothing. sqlite3.Error."""
    if isinstance(database, Path):
        database.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(str(database), isolation_level=None, uri=isinstance(database, str))) as target:
        target.execute("BEGIN IMMEDIATE")
        try:
            _replace(target, name, predicate, rows, values)
        except BaseException:
            target.execute("ROLLBACK")
            raise
        target.execute("COMMIT")


def _replace(target: sqlite3.Connection, name: str, predicate: Predicate, rows: Codes, values: Values) -> None:
    types = predicate.types or (Type.NUMBER,)  # a nullary predicate has a row, 0, if it holds
    table = quoted(f"_{name}")
    target.execute(f"CREATE TABLE IF NOT EXISTS {quoted(SYMBOLS)} (id INTEGER PRIMARY KEY, symbol TEXT UNIQUE)")
    target.execute(f"DROP VIEW IF EXISTS {quoted(name)}")
    target.execute(f"DROP TABLE IF EXISTS {table}")
    declared = (f'"{place}" {"INTEGER" if _by_symbol(type) else STORED.get(type, "TEXT")}' for place, type in enumerate(types))
    target.execute(f"CREATE TABLE {table} ({', '.join(declared)})")
    target.execute(_view(name, predicate, types))
    columns = [_cells(values.decode_column(rows[:, place], type), type) for place, type in enumerate(types)]
    texts = {text for column, type in zip(columns, types, strict=True) if _by_symbol(type) for text in column}
    if texts:
        target.executemany(f"INSERT OR IGNORE INTO {quoted(SYMBOLS)} VALUES (NULL, ?)", ((text,) for text in sorted(texts)))
        numbers = {text: number for number, text in target.execute(f"SELECT id, symbol FROM {quoted(SYMBOLS)}") if text in texts}
        columns = [[numbers[text] for text in column] if _by_symbol(type) else column for column, type in zip(columns, types, strict=True)]
    target.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(types))})", zip(*columns, strict=True))


def _view(name: str, predicate: Predicate, types: Sequence[Type]) -> str:
    """The definition of the view that shows the rows of `_name`."""
    shown, sources, joined = [], [quoted(f"_{name}") + " AS r"], []
    for place, (type, attribute) in enumerate(zip(types, predicate.attributes or ("0",), strict=True)):
        if _by_symbol(type):
            sources.append(f"{quoted(SYMBOLS)} AS s{place}")
            joined.append(f'r."{place}" = s{place}.id')
        column = f"s{place}.symbol" if _by_symbol(type) else f'r."{place}"'
        shown.append(f"{column} AS {quoted(attribute)}")
    condition = f" WHERE {' AND '.join(joined)}" if joined else ""
    return f"CREATE VIEW {quoted(name)} AS SELECT {', '.join(shown)} FROM {', '.join(sources)}{condition}"


def _by_symbol(type: Type) -> bool:
    """Whether a column holds numbers of texts."""
    return type is Type.SYMBOL or isinstance(type, Structure)


def _cells(column: list[Any], type: Type) -> list[Any]:
    """What stands for the values of a column, texts still as texts."""
    if isinstance(type, Structure):
        return cells_with_parts(column, _leaf, quoted=False)
    if type is Type.UNSIGNED:
        return [value if value < FIRST_NEGATIVE else value - UNSIGNED_VALUES for value in column]
    if type is Type.FLOAT:
        return ["nan" if value != value else value for value in column]
    return column if type in (Type.NUMBER, Type.SYMBOL) else [value if type is Type.BOOL else spell_value(value) for value in column]


def _leaf(value: Any) -> str:
    return f"{value:.17g}" if isinstance(value, float) else spell_value(value)


def quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'
