"""`function`: Python functions for rules to call, with the types that the language needs to know of them.

    @datalog.function("number", returns="symbol")
    def parity(x):
        return "odd" if x % 2 else "even"

    Database("p(1). q(x, parity(x)) :- p(x).", functions=[parity])

A function must be pure: it is called once for arguments that many rows have, and its results are kept.
"""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime
from decimal import Decimal
from difflib import get_close_matches
from functools import update_wrapper
from types import NoneType, UnionType
from typing import Any, Generic, ParamSpec, TypeVar, overload

from datalog.errors import FunctionError
from datalog.evaluate.primitives import UserFunction
from datalog.ir.core import Type
from datalog.ir.primitives import AGGREGATES, PRIMITIVES, Primitive, Slot

P = ParamSpec("P")
R = TypeVar("R")

NAME = re.compile(r"[A-Za-z_?][A-Za-z0-9_?]*", re.ASCII)
NAMED = {type_.value: type_ for type_ in Type.ALL}
OF_ANNOTATION = {int: Type.NUMBER, float: Type.FLOAT, str: Type.SYMBOL, bool: Type.BOOL, date: Type.DATE, datetime: Type.DATETIME}
TAKEN = {"true", "false", "_"}


class Function(Generic[P, R]):
    """A Python function that rules can call by `definition.name`. It is called from Python as it was before."""

    __name__: str

    def __init__(self, call: Callable[P, R], definition: UserFunction) -> None:
        update_wrapper(self, call)
        self._call, self.definition = call, definition

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._call(*args, **kwargs)

    def __repr__(self) -> str:
        own = self.definition
        return f"<function {own.name}({', '.join(type.value for type in own.arguments)}) = {own.result.value}>"


@overload
def function(call: Callable[P, R], /) -> Function[P, R]: ...
@overload
def function(
    *arguments: str, returns: str | None = None, columns: bool = False, name: str | None = None
) -> Callable[[Callable[P, R]], Function[P, R]]: ...
def function(*arguments: Any, returns: str | None = None, columns: bool = False, name: str | None = None) -> Any:
    """A decorator that makes a Python function one for rules: `arguments` and `returns` are names of the language's types.

    Types that are not given are taken from annotations: int is number, str symbol; float, bool, date and datetime as they are.
    A function of `columns` gets NumPy arrays, as many as it has arguments, and returns an array or a sequence of as many
    results: int64, uint64, float64, bool, datetime64[D] for dates, datetime64[us], and arrays of objects for symbols (str)
    and decimals (Decimal). `name` is what rules call it by, if not by its own name.

    Raises FunctionError for a name or a type that the language does not have, or types that do not fit the function.
    """
    if len(arguments) == 1 and callable(arguments[0]):
        return Function(arguments[0], _define(arguments[0], (), returns, columns, name))

    def decorate(call: Callable[P, R]) -> Function[P, R]:
        return Function(call, _define(call, arguments, returns, columns, name))

    return decorate


def name_of(function: Function[..., Any] | Callable[..., Any]) -> str:
    """What rules call a function by."""
    return function.definition.name if isinstance(function, Function) else str(getattr(function, "__name__", repr(function)))


def define(functions: Iterable[Function[..., Any] | Callable[..., Any]], known: Mapping[str, UserFunction]) -> dict[str, UserFunction]:
    """The functions that are known and more, by name; a plain function has its types from annotations.

    Raises FunctionError for a second function of one name.
    """
    found = dict(known)
    for one in functions:
        definition = one.definition if isinstance(one, Function) else _define(one, (), None, False, None)
        if definition.name in found:
            raise FunctionError(f"there is a function {definition.name} already; give the other one another name")
        found[definition.name] = definition
    return found


def signatures(functions: Mapping[str, UserFunction]) -> dict[str, tuple[Primitive, ...]]:
    """The primitives of a program with these functions."""
    own = {
        one.name: (Primitive(one.name, tuple(Slot(frozenset({type})) for type in one.arguments), Slot(frozenset({one.result}))),)
        for one in functions.values()
    }
    return {**PRIMITIVES, **own}


def _define(call: Callable[..., Any], arguments: tuple[str, ...], returns: str | None, columns: bool, name: str | None) -> UserFunction:
    if not callable(call):
        raise FunctionError(f"{call!r} is no function")
    name = getattr(call, "__name__", repr(call)) if name is None else name
    if not NAME.fullmatch(name) or name in TAKEN:
        raise FunctionError(f"{name} is no name that a rule could call a function by; give one with name=")
    if name in PRIMITIVES or name in AGGREGATES:
        raise FunctionError(f"{name} is built in; give the function another name with name=")
    if inspect.iscoroutinefunction(call) or inspect.isgeneratorfunction(call):
        raise FunctionError(f"{name} does not return a value when it is called; a function of rules has to")
    hints = {} if arguments and returns else _annotations(call, name)
    types = tuple(_named(text, name) for text in arguments) or _argument_types(call, name, hints, columns)
    if not types:
        raise FunctionError(f"{name} has no arguments; what is the same for all rows is a constant")
    check_call(call, name, len(types))
    result = _annotated(hints, "return", name, columns) if returns is None else _named(returns, name)
    return UserFunction(name, types, result, call, columns)


def _named(text: str, name: str) -> Type:
    found = NAMED.get(text) if isinstance(text, str) else None
    if found is None:
        close = get_close_matches(str(text), NAMED, 1)
        raise FunctionError(f"{name}: there is no type {text}; " + (f"did you mean {close[0]}?" if close else f"there are {_TYPES}"))
    return found


def _annotations(call: Callable[..., Any], name: str) -> dict[str, Any]:
    try:
        return typing.get_type_hints(call)
    except NameError as error:
        raise FunctionError(f"{name} has an annotation that cannot be looked up: {error}; give its types as names") from error
    except TypeError:
        return {}


def _argument_types(call: Callable[..., Any], name: str, hints: Mapping[str, Any], columns: bool) -> tuple[Type, ...]:
    try:
        parameters = inspect.signature(call).parameters.values()
    except ValueError:
        raise FunctionError(f"{name} does not tell its arguments; give their types as names") from None
    required = [one for one in parameters if one.default is one.empty and one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    return tuple(_annotated(hints, one.name, name, columns) for one in required)


def _annotated(hints: Mapping[str, Any], what: str, name: str, columns: bool) -> Type:
    meant = "its result" if what == "return" else f"its argument {what}"
    if columns:
        raise FunctionError(f"{name} is a function of columns: give the type of {meant} as a name, its annotation is that of an array")
    if what not in hints:
        raise FunctionError(f"{name}: {meant} has no type; annotate it, or give the types as names: {_TYPES}")
    hint = hints[what]
    if what == "return" and typing.get_origin(hint) in (typing.Union, UnionType):
        hint, *others = (one for one in typing.get_args(hint) if one is not NoneType)  # None: no value
        if others:
            hint = hints[what]
    found = OF_ANNOTATION.get(hint)
    if found is None:
        told = "the language has decimals by their digits: give decimal(2) as a name" if hint is Decimal else f"give a name: {_TYPES}"
        raise FunctionError(f"{name}: {meant} is annotated as {getattr(hint, '__name__', hint)}, which is no type of the language; {told}")
    return found


def check_call(call: Callable[..., Any], name: str, count: int) -> None:
    """Raises FunctionError for a function that cannot be called with so many arguments, as far as it tells."""
    try:
        signature = inspect.signature(call)
    except ValueError:
        return  # a function that is not written in Python
    try:
        signature.bind(*range(count))
    except TypeError as error:
        raise FunctionError(
            f"{name} cannot be called with {count} argument{'' if count == 1 else 's'}, for which there are types: {error}"
        ) from None


_TYPES = "number, unsigned, float, symbol, bool, date, datetime, decimal(0) to decimal(18)"
