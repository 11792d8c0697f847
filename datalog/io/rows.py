"""Rows that Python code hands over or takes: tuples, scalars, arrays, and whatever speaks Arrow (DataFrames, tables)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

import numpy as np

from datalog.errors import DataError, Diagnostic
from datalog.ir.core import Predicate, Row
from datalog.store.interner import Codes
from datalog.store.values import BadValue, Values, shown


def rows_from(source: Any, predicate: Predicate, values: Values) -> Codes:
    """int64[n, k] of the rows in `source`, columns by position; DataError names the row (from 1), column and predicate.

    `source` is a pandas or polars DataFrame, an Arrow table or anything else with `__arrow_c_stream__`, a numpy array of
    two dimensions, or an iterable of tuples or lists; for a predicate of one column also of the values alone.
    """
    if hasattr(source, "__arrow_c_stream__") or hasattr(source, "iloc"):
        return from_columns(arrow_columns(source, predicate), predicate, values)
    if isinstance(source, np.ndarray) and source.ndim == 2:
        return from_columns(list(source.T), predicate, values)
    if isinstance(source, (str, bytes, dict)) or not isinstance(source, Iterable):
        refuse(predicate, f"{shown(source)} is no collection of rows", "give a list of tuples, a DataFrame or an Arrow table")
    rows = source if isinstance(source, list) else list(source)
    width = len(predicate.attributes)
    if width == 1 and not set(map(type, rows)) & {tuple, list}:
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
    if len(predicate.attributes) == 1:
        return (row,)
    refuse(predicate, f"row {number}: {shown(row)} is no tuple")


def from_columns(columns: list[Any], predicate: Predicate, values: Values) -> Codes:
    if len(columns) != len(predicate.attributes):
        refuse(predicate, f"{counted(len(columns), 'column')} for {predicate.name}, which has {columns_of(predicate)}")
    codes = np.zeros((len(columns[0]) if columns else 0, len(columns) or 1), np.int64)
    for number, (column, type, name) in enumerate(zip(columns, predicate.types, predicate.attributes, strict=False)):
        try:
            codes[:, number] = values.encode_column(column, type)
        except BadValue as error:
            refuse(predicate, f"row {error.row + 1}: {error} (column {name} of {predicate.name})")
    return codes


def arrow_columns(source: Any, predicate: Predicate) -> list[Any]:
    """The columns of a table; a series or a chunked array is one column."""
    import pyarrow as pa

    try:
        if hasattr(source, "iloc"):
            return [pa.Array.from_pandas(source)] if source.ndim == 1 else list(pa.Table.from_pandas(source, preserve_index=False).columns)
        if isinstance(source, pa.ChunkedArray):
            return [source]
        if hasattr(source, "dtype"):
            return [pa.chunked_array(source)]
        return list(pa.table(source).columns)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        refuse(predicate, f"a column holds values of several types: {error}")


def columns_of(predicate: Predicate) -> str:
    names = f" ({', '.join(predicate.attributes)})" if predicate.attributes else ""
    return counted(len(predicate.attributes), "column") + names


def counted(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"


def refuse(predicate: Predicate, message: str, hint: str = "") -> NoReturn:
    raise DataError([Diagnostic(message, f"<rows of {predicate.name}>", 0, 0, hint=hint)])
