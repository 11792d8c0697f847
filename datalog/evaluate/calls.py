"""Calls of the user's Python functions, on rows or on whole columns, and the check of what they return.

A function is taken to be pure. Where it raises, or returns what its type does not admit, its row has no value: a function
of columns is called again on halves until the rows that it fails on stand alone. KeyboardInterrupt, SystemExit and
MemoryError say nothing about a row and pass through.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from datalog.ir.core import Type
from datalog.store.columns import SIGN_BIT, floats_of
from datalog.store.values import BadValue, Values, shown

Words = NDArray[np.int64]
Computed = tuple[Words, dict[int, str]]  # codes, and for rows without a value why
Results = Sequence[Any] | NDArray[Any]
Failed = Callable[[Exception], str]  # takes note of an exception and gives the message for its row

LONGEST_MESSAGE = 300


@dataclass(frozen=True, slots=True)
class UserFunction:
    """A function that gives one result for each row: a Python function of values, or with `columns` of NumPy arrays.

    With `codes` it is one of columns of codes, of the number of rows, and of what takes note of a failure, and gives what it computed."""

    name: str
    arguments: tuple[Type, ...]
    result: Type
    function: Callable[..., Any]
    columns: bool = False
    codes: bool = False


def call_rows(function: UserFunction, columns: Sequence[Words], values: Values, failed: Failed) -> Computed:
    """One call for each row."""
    results, failures = results_by_row(function.function, function.arguments, columns, values, Exception, failed)
    return encode_results(results, failures, function.result, values, "the result "), failures


def results_by_row(
    call: Callable[..., Any], types: Sequence[Type], columns: Sequence[Words], values: Values, kind: type[Exception], failed: Failed
) -> tuple[list[Any], dict[int, str]]:
    """What each row's call returned, None where it raised; and what `failed` says of exceptions of the kind."""
    results: list[Any] = []
    failures: dict[int, str] = {}
    decoded = [values.decode_column(column, type) for column, type in zip(columns, types, strict=True)]
    rows = zip(*decoded, strict=True) if decoded else [()]  # there is one row of no arguments
    for row, arguments in enumerate(rows):
        try:
            result = call(*arguments)
        except MemoryError:
            raise
        except kind as error:
            failures[row] = failed(error)
            result = None
        results.append(result)
    return results, failures


def call_columns(function: UserFunction, columns: Sequence[Words], values: Values, failed: Failed) -> Computed:
    """One call with all rows if it does not raise, else O(log n) calls for each row that it fails on."""
    arrays = [as_array(column, type, values) for column, type in zip(columns, function.arguments, strict=True)]
    codes = np.zeros(len(columns[0]), np.int64)
    failures: dict[int, str] = {}
    waiting = [(0, len(codes))] if len(codes) else []
    while waiting:
        start, end = waiting.pop()
        try:
            results = _sequence(function.function(*(array[start:end] for array in arrays)), end - start)
        except MemoryError:
            raise
        except Exception as error:
            if end - start > 1:
                middle = (start + end) // 2
                waiting += [(middle, end), (start, middle)]
            else:
                failures[start] = failed(error)
            continue
        refused: dict[int, str] = {}
        codes[start:end] = encode_results(results, refused, function.result, values, "the result ")
        failures.update((start + row, message) for row, message in refused.items())
    return codes, failures


def encode_results(results: Results, failures: dict[int, str], type: Type, values: Values, what: str = "") -> Words:
    """The codes of the results, 0 for rows without one; results that the type does not admit are added to `failures`.

    `what` begins their messages."""
    codes = np.zeros(len(results), np.int64)
    rows = [row for row in range(len(results)) if row not in failures]
    try:
        codes[rows] = values.encode_column([results[row] for row in rows] if failures else results, type)
    except BadValue:
        for row in rows:
            try:
                codes[row] = values.encode(results[row], type)
            except BadValue as error:
                failures[row] = "returned None" if results[row] is None else f"{what}{error}"
    return codes


def as_array(column: Words, type: Type, values: Values) -> NDArray[Any]:
    """A column as NumPy has it, read-only: int64, uint64, float64, bool, datetime64[D], datetime64[us], else objects."""
    array: NDArray[Any]
    if type is Type.NUMBER:
        array = column.view()
    elif type is Type.UNSIGNED:
        array = (column ^ SIGN_BIT).view(np.uint64)
    elif type is Type.FLOAT:
        array = floats_of(column)
    elif type is Type.BOOL:
        array = column != 0
    elif type is Type.DATE:
        array = column.view("datetime64[D]")
    elif type is Type.DATETIME:
        array = column.view("datetime64[us]")
    else:
        array = np.array(values.decode_column(column, type), np.object_)
    array.flags.writeable = False
    return array


def message_of(error: Exception) -> str:
    """The exception on one line, as Python ends a traceback."""
    try:
        text = " ".join(str(error).split())
    except Exception:
        text = ""
    text = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return text if len(text) <= LONGEST_MESSAGE else text[: LONGEST_MESSAGE - 1] + "…"


def _sequence(returned: Any, count: int) -> Results:
    """What a function of columns returned, as `count` results. TypeError if it is nothing of the kind."""
    if hasattr(returned, "to_pylist"):
        returned = returned.to_pylist()
    elif hasattr(returned, "to_numpy"):
        returned = returned.to_numpy()
    if isinstance(returned, np.ndarray):
        if returned.ndim != 1:
            raise TypeError(f"returned an array of {returned.ndim} dimensions instead of 1")
    elif isinstance(returned, (str, bytes)) or not isinstance(returned, Sequence):
        raise TypeError(f"returned {shown(returned)} and no array")
    results: Results = returned
    if len(results) != count:
        given = f"{len(results)} result{'' if len(results) == 1 else 's'}"
        raise TypeError(f"returned {given} for {count} row{'' if count == 1 else 's'}")
    return results
