"""Rows that Python code hands over or takes: tuples, scalars, arrays, and whatever speaks Arrow (DataFrames, tables)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

import numpy as np

from datalog.errors import DataError, Diagnostic
from datalog.io.literals import read_literal
from datalog.io.named import BadNames, cells_of, places_of
from datalog.ir.core import Predicate, Row, Type
from datalog.ir.structures import Structure
from datalog.store.interner import Codes
from datalog.store.values import BadValue, Values, noun, shown

GIVE = {Type.DATE: "datetime.date", Type.DATETIME: "datetime.datetime", **dict.fromkeys(Type.DECIMALS, "decimal.Decimal")}


def rows_from(source: Any, predicate: Predicate, values: Values) -> Codes:
    """int64[n, k] of the rows in `source`; DataError names the row (from 1), column and predicate.

    `source` is a pandas or polars DataFrame, an Arrow table or anything else with `__arrow_c_stream__`, whose names `datalog.io.named`
    heeds; or, with columns by position, a numpy array of two dimensions or an iterable of tuples or lists, for a predicate of one
    column also of the values alone. Among these rows may be dictionaries from names to values.
    """
    if source.__class__ is list and source and predicate.types:
        codes = values.encode_tuples(source, predicate.types)
        if codes is not None:
            return codes
    if hasattr(source, "__arrow_c_stream__") or hasattr(source, "iloc"):
        return from_columns(arrow_columns(source, predicate), predicate, values)
    if isinstance(source, np.ndarray) and source.ndim == 2:
        return from_columns(list(source.T), predicate, values)
    if isinstance(source, (str, bytes, dict)) or not isinstance(source, Iterable):
        refuse(predicate, f"{shown(source)} is no collection of rows", "give a list of tuples, a DataFrame or an Arrow table")
    rows = source if isinstance(source, list) else list(source)
    width = len(predicate.attributes)
    if width == 1 and not set(map(type, rows)) & {tuple, list, dict}:
        return from_columns([rows], predicate, values)
    if not set(map(type, rows)) <= {tuple, list}:
        rows = [tuple_of(row, number, predicate) for number, row in enumerate(rows, 1)]
    if not set(map(len, rows)) <= {width}:
        number, row = next((number, row) for number, row in enumerate(rows, 1) if len(row) != width)
        refuse(predicate, f"row {number} has {counted(len(row), 'value')} where {predicate.name} has {columns_of(predicate)}")
    if predicate.nullary:
        return np.zeros((len(rows), 1), np.int64)
    return from_columns(list(zip(*rows, strict=True)) if rows else [()] * width, predicate, values)


def rows_of(codes: Codes, predicate: Predicate, values: Values) -> list[Row]:
    """The Python tuples of int64[n, k], in the same order; those of a nullary predicate are empty."""
    return [()] * len(codes) if predicate.nullary else values.decode_rows(codes, predicate.types)


def tuple_of(row: Any, number: int, predicate: Predicate) -> Any:
    if isinstance(row, (tuple, list)):
        return row
    if isinstance(row, np.ndarray) and row.ndim == 1:
        return row.tolist()
    if isinstance(row, Mapping):
        try:
            return cells_of(row, predicate)
        except BadNames as error:
            refuse(predicate, f"row {number}: {error.message}", error.hint)
    if len(predicate.attributes) == 1:
        return (row,)
    refuse(predicate, f"row {number}: {shown(row)} is no tuple")


def from_columns(columns: list[Any], predicate: Predicate, values: Values) -> Codes:
    if len(columns) != len(predicate.attributes):
        refuse(predicate, f"{counted(len(columns), 'column')} for {predicate.name}, which has {columns_of(predicate)}")
    codes = np.zeros((len(columns[0]) if columns else 0, len(columns) or 1), np.int64)
    for number, (column, type, name) in enumerate(zip(columns, predicate.types, predicate.attributes, strict=False)):
        try:
            codes[:, number] = values.encode_column(with_parts(column, type), type)
        except BadValue as error:
            where = f"(column {name} of {predicate.name})"
            if type in (Type.NUMBER, Type.UNSIGNED) and (gap := gap_in(column)) is not None:
                message = f"row {gap + 1}: a missing value is no {noun(type)} {where}"
                refuse(predicate, message, "the column has missing values: fill or drop them")
            refuse(predicate, f"row {error.row + 1}: {error} {where}", hint_for(column[error.row], type))
    return codes


def with_parts(column: Any, type: Type) -> Any:
    """The column; where records and branches come as Arrow's texts, which is how they go, their values."""
    if not isinstance(type, Structure) or not hasattr(column, "dictionary_encode"):
        return column
    return [read_literal(cell, type) if isinstance(cell, str) else cell for cell in column.to_pylist()]


def gap_in(column: Any) -> int | None:
    """The first place where a value is missing, of a column of floats that else holds whole numbers only."""
    if hasattr(column, "null_count"):
        column = column.to_numpy(zero_copy_only=False) if hasattr(column, "buffers") else column.to_numpy()
    if not isinstance(column, np.ndarray) or column.dtype.kind != "f":
        return None
    missing = np.isnan(column)
    present = column[~missing]
    return int(np.argmax(missing)) if missing.any() and np.array_equal(present, np.trunc(present)) else None


def hint_for(value: Any, type: Type) -> str:
    """What to give instead of a text, where Python has a type for what it says."""
    value = value.as_py() if hasattr(value, "as_py") else value
    return f"texts are not read here; give a {GIVE[type]}" if isinstance(value, str) and type in GIVE else ""


def arrow_columns(source: Any, predicate: Predicate) -> list[Any]:
    """The columns of a table in the predicate's order; a series or a chunked array is one column."""
    import pyarrow as pa

    try:
        if hasattr(source, "iloc"):
            if source.ndim == 1:
                return [pa.Array.from_pandas(source)]
            table = pa.Table.from_pandas(source, preserve_index=False)
        elif isinstance(source, pa.ChunkedArray):
            return [source]
        elif hasattr(source, "dtype"):
            return [pa.chunked_array(source)]
        else:
            table = pa.table(source)
        places = places_of(table.column_names, predicate)
        return list(table.columns) if places is None else [table.column(place) for place in places]
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        refuse(predicate, f"a column holds values of several types: {error}")
    except BadNames as error:
        refuse(predicate, error.message, error.hint)


def columns_of(predicate: Predicate) -> str:
    names = f" ({', '.join(predicate.attributes)})" if predicate.attributes else ""
    return counted(len(predicate.attributes), "column") + names


def counted(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"


def refuse(predicate: Predicate, message: str, hint: str = "") -> NoReturn:
    raise DataError([Diagnostic(message, f"<rows of {predicate.name}>", 0, 0, hint=hint)])
