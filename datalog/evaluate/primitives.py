"""Functions that are computed on columns of distinct arguments, outside the kernel: those of symbols, text forms, dates, and the user's.

Everything comes and goes as codes. A row for which a function has no value is told by a message; its code is meaningless. Where the
message is empty, that is no failure: the literal simply does not hold.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from threading import get_ident
from typing import Any

import numpy as np
from numpy.typing import NDArray

from datalog.errors import InternalError, OddArgument
from datalog.evaluate.calls import Computed, UserFunction, call_columns, call_rows, encode_results, message_of, results_by_row
from datalog.evaluate.conversions import FROM_TEXT
from datalog.evaluate.dates import between, calendar_part, convert, later
from datalog.evaluate.patterns import BadPattern, compiled
from datalog.ir.core import PyValue, Type
from datalog.ir.primitives import CALL, CAST, ORDER
from datalog.ir.spelling import spell_value
from datalog.ir.structures import WHICH, Structure, is_structural, shape_made
from datalog.store.values import Values, shown

__all__ = ["ColumnFunctions", "UserFunction"]

Words = NDArray[np.int64]

KEPT_EXCEPTIONS = 16
MOST_WARNINGS = 10  # of calls of one function
ORDER_BYTES = 8


class ColumnFunctions:
    """The functions of one database. `known` are the user's, by name; more may come later.

    `exceptions` has, by its message, what the user's functions raised lately, for who raises an error of it.
    """

    def __init__(self, values: Values, functions: Mapping[str, UserFunction] | None = None) -> None:
        self._values = values
        self.known = dict(functions or {})
        self.functors: dict[str, UserFunction] = {}  # by how terms call them
        self.exceptions: dict[str, Exception] = {}
        self._caller: int | None = None
        self._texts = _Texts()

    @property
    def calling(self) -> bool:
        """Whether this thread is within a call of a user's function."""
        return self._caller == get_ident()

    def compute(self, name: str, arguments: tuple[Type, ...], result: Type, columns: Sequence[Words]) -> Computed:
        """Result codes of n distinct rows of arguments, one int64[n] of codes an argument, and why a row has no value."""
        function = self.known.get(name) or self.functors.get(name) or self.known.get(name.removeprefix(CALL))
        if function is not None:
            return self._call(function, columns)
        if is_structural(name):
            return self._structural(name, arguments[0], result, columns), {}
        first = columns[0]
        match name:
            case "ord":
                return first.copy(), {}
            case _ if name == CAST:
                return self._cast(first, arguments[0], result), {}
            case "year" | "month" | "day":
                return calendar_part(name, first, arguments[0]), {}
            case "add_days" | "add_seconds":
                return later(first, columns[1], result)
            case "days_between" | "seconds_between":
                return between(first, columns[1], arguments[0]), {}
            case "to_date" | "to_datetime" if arguments[0] is not Type.SYMBOL:
                return convert(first, arguments[0], result)
        compute = self._function_of_values(name, arguments, result)
        results, failures = results_by_row(compute, arguments, columns, self._values, ValueError, str)
        return encode_results(results, failures, result, self._values), failures

    def _function_of_values(self, name: str, arguments: tuple[Type, ...], result: Type) -> Callable[..., PyValue]:
        """A function of Python values, which raises ValueError where it has none."""
        if name in ("match", "substr"):
            return self._texts.match if name == "match" else self._texts.substr
        if name in FROM_TEXT and arguments == (Type.SYMBOL,):
            convert_text = FROM_TEXT[name]
            return lambda text: convert_text(text, result)
        if name == "to_string" or (name in OF_TEXTS and arguments[0] is Type.SYMBOL):
            return OF_TEXTS[name]
        raise InternalError(f"{name}({', '.join(type.value for type in arguments)}) is no function of columns")

    def _cast(self, codes: Words, source: Type, result: Type) -> Words:
        if isinstance(source, Structure) and isinstance(result, Structure):
            return self._values.structures.cast(codes, source, result)
        return codes.copy()

    def _structural(self, name: str, argument: Type, result: Type, columns: Sequence[Words]) -> Words:
        """Values with parts put together or taken apart."""
        structures = self._values.structures
        shape = shape_made(name, result)
        if shape is not None:
            assert isinstance(result, Structure)
            return structures.intern_columns(result, result.number(shape.name), columns)
        assert isinstance(argument, Structure)
        return structures.branches(columns[0], argument) if name == WHICH else structures.field(columns[0], argument, *argument.place(name))

    def _call(self, function: UserFunction, columns: Sequence[Words]) -> Computed:
        call = call_columns if function.columns and columns else call_rows
        self._caller = get_ident()
        try:
            if function.codes:
                computed: Computed = function.function(columns, len(columns[0]) if columns else 1, self._failed)
                return computed
            return call(function, columns, self._values, self._failed)
        finally:
            self._caller = None

    def _failed(self, error: Exception) -> str:
        message = message_of(error)
        self.exceptions.pop(message, None)
        if len(self.exceptions) >= KEPT_EXCEPTIONS:
            del self.exceptions[next(iter(self.exceptions))]
        self.exceptions[message] = error
        return message


class _Texts:
    """Functions of texts that warn of some arguments, and go on as Soufflé does."""

    def __init__(self) -> None:
        self._patterns: dict[str, re.Pattern[str] | None] = {}  # each is compiled once, and None is no regular expression
        self._warnings = 0

    def match(self, pattern: str, text: str) -> bool:
        """Whether the whole text fits. ValueError without a message for a pattern that is none."""
        if pattern not in self._patterns:
            try:
                self._patterns[pattern] = compiled(pattern)
            except BadPattern as error:
                self._patterns[pattern] = None
                _warn(f"{shown(pattern)} is no regular expression: {error}; neither `match` nor `!match` holds")
        known = self._patterns[pattern]
        if known is None:
            raise ValueError
        return known.fullmatch(text) is not None

    def substr(self, text: str, start: int, length: int) -> str:
        """A part of the text: all that is left, if the length is negative or too great; nothing, if it begins nowhere in the text."""
        if 0 <= start <= len(text):
            return text[start : start + length] if length >= 0 else text[start:]
        self._warnings += 1
        if self._warnings <= MOST_WARNINGS:
            _warn(f"{shown(text)} has no place {start}, and its part from there is empty")
        elif self._warnings == MOST_WARNINGS + 1:
            _warn("more such parts of texts are empty, and are not told of")
        return ""


def _warn(message: str) -> None:
    warnings.warn_explicit(OddArgument(message), None, "<program>", 0)


def _cat(*texts: str) -> str:
    return "".join(texts)


def _contains(part: str, text: str) -> bool:
    return part in text


def _replace(text: str, old: str, new: str) -> str:
    return text.replace(old, new) if old else text  # nothing stands nowhere, and not between all characters


def _order(text: str) -> int:
    """Texts are ordered as their UTF-8 bytes are. Padding with zeros makes some texts equal, and never turns an order round."""
    head = text[:ORDER_BYTES].encode()[:ORDER_BYTES]
    return int.from_bytes(head.ljust(ORDER_BYTES, b"\0"), "big") - 2**63


def _to_string(value: PyValue) -> str:
    """As Soufflé has it, a float has six digits behind the point."""
    return f"{value:.6f}" if isinstance(value, float) else spell_value(value)


OF_TEXTS: dict[str, Callable[..., Any]] = {
    "to_string": _to_string,
    "cat": _cat,
    "strlen": len,
    "contains": _contains,
    "lower": str.lower,
    "upper": str.upper,
    "trim": str.strip,
    "replace": _replace,
    "min": min,
    "max": max,
    ORDER: _order,
}
