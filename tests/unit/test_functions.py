"""Python functions for rules: their names and types, what is refused, and what a database makes of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from typing import Any, Optional

import pytest

import datalog
from datalog import Function, FunctionError
from datalog.functions import define, signatures
from datalog.ir.core import Type
from datalog.ir.primitives import PRIMITIVES

NUMBER, FLOAT, SYMBOL = Type.NUMBER, Type.FLOAT, Type.SYMBOL


def types_of(function: Function[..., Any]) -> tuple[tuple[Type, ...], Type]:
    return function.definition.arguments, function.definition.result


# --- the decorator ---------------------------------------------------------------------------------------------------------


def test_a_function_is_called_from_python_as_before() -> None:
    @datalog.function("number", "symbol", returns="symbol")
    def repeat(times: int, text: str = "ab") -> str:
        """Repeats a text."""
        return times * text

    assert repeat(2, text="x") == "xx" and repeat(1) == "ab"
    assert (repeat.__name__, repeat.__doc__) == ("repeat", "Repeats a text.")
    assert repr(repeat) == "<function repeat(number, symbol) = symbol>"
    assert repeat.definition.name == "repeat" and not repeat.definition.columns


def test_types_may_come_from_annotations() -> None:
    @datalog.function
    def everything(a: int, b: float, c: str, d: bool, e: date, f: datetime) -> bool:
        return d

    expected = (NUMBER, FLOAT, SYMBOL, Type.BOOL, Type.DATE, Type.DATETIME)
    assert types_of(everything) == (expected, Type.BOOL)


def test_names_of_types_go_before_annotations() -> None:
    @datalog.function("unsigned")
    def half(a: int) -> float:
        return a / 2

    @datalog.function(returns="decimal(2)")
    def price(a: int) -> Decimal:
        return Decimal(a)

    assert types_of(half) == ((Type.UNSIGNED,), FLOAT)
    assert types_of(price) == ((NUMBER,), Type.DECIMALS[2])


def test_a_result_may_be_annotated_as_missing_at_times() -> None:
    @datalog.function
    def new(a: int) -> str | None:
        return None

    def old(a: int) -> Optional[int]:  # noqa: UP045
        return None

    def either(a: int) -> int | str:
        return a

    assert types_of(new)[1] is SYMBOL
    assert types_of(datalog.function(old))[1] is NUMBER
    with pytest.raises(FunctionError, match=r"either: its result is annotated as int \| str, which is no type"):
        datalog.function(either)


def test_arguments_with_a_default_need_no_type() -> None:
    @datalog.function
    def scaled(a: int, by: int = 10) -> int:
        return a * by

    assert types_of(scaled)[0] == (NUMBER,)
    assert types_of(datalog.function("number", "number", returns="number")(scaled))[0] == (NUMBER, NUMBER)


def test_a_function_that_is_not_written_in_python_needs_its_types_as_names() -> None:
    assert types_of(datalog.function("float", "float", returns="float")(math.hypot)) == ((FLOAT, FLOAT), FLOAT)
    assert types_of(datalog.function("number", returns="symbol", name="text")(str)) == ((NUMBER,), SYMBOL)
    with pytest.raises(FunctionError, match="hypot"):
        datalog.function(math.hypot)


def test_a_function_without_a_name_gets_one() -> None:
    twice = datalog.function("number", returns="number", name="twice")(lambda number: 2 * number)
    assert twice(4) == 8 and twice.definition.name == "twice"
    root = datalog.function("float", returns="float", name="root")(partial(pow, exp=0.5))
    assert root.definition.name == "root"
    with pytest.raises(FunctionError, match="<lambda> is no name that a rule could call a function by; give one with name="):
        datalog.function("number", returns="number")(lambda number: number)


def decimal_argument(a: Decimal) -> int:
    return 0


def no_annotation(a) -> int:  # type: ignore[no-untyped-def]
    return 0


def no_result(a: int):  # type: ignore[no-untyped-def]
    return 0


def generator(a: int) -> Iterator[int]:
    yield a


async def coroutine(a: int) -> int:
    return a


def nothing() -> int:
    return 0


def unknown(a: "Missing") -> int:  # type: ignore[name-defined]  # noqa: F821, UP037
    return 0


def two(a: int, b: int) -> int:
    return a


def größe(a: int) -> int:
    return a


def strlen(a: str) -> int:
    return len(a)


def count(a: str) -> int:
    return len(a)


@pytest.mark.parametrize(
    "make, told",
    [
        (lambda: datalog.function("integer", returns="number")(two), "two: there is no type integer; there are number, unsigned, float"),
        (lambda: datalog.function("decimal", "number", returns="number")(two), r"there is no type decimal; did you mean decimal\(\d+\)\?"),
        (
            lambda: datalog.function("number", returns="number")(two),
            "two cannot be called with 1 argument, for which there are types: missing",
        ),
        (lambda: datalog.function("number", "number", "number", returns="number")(two), "two cannot be called with 3 arguments"),
        (lambda: datalog.function(decimal_argument), r"its argument a is annotated as Decimal.*: give decimal\(2\) as a name"),
        (lambda: datalog.function(no_annotation), "no_annotation: its argument a has no type; annotate it, or give the types as names"),
        (lambda: datalog.function(no_result), "no_result: its result has no type"),
        (lambda: datalog.function(generator), "generator does not return a value when it is called"),
        (lambda: datalog.function("number", returns="number")(coroutine), "coroutine does not return a value when it is called"),
        (lambda: datalog.function(nothing), "nothing has no arguments; what is the same for all rows is a constant"),
        (lambda: datalog.function(unknown), "unknown has an annotation that cannot be looked up: name 'Missing' is not defined"),
        (lambda: datalog.function(größe), "größe is no name that a rule could call a function by"),
        (lambda: datalog.function(strlen), "strlen is built in; give the function another name with name="),
        (lambda: datalog.function(count), "count is built in"),
        (lambda: datalog.function(columns=True)(two), "two is a function of columns: give the type of its argument a as a name"),
        (lambda: datalog.function("number", "number", columns=True)(two), "give the type of its result as a name"),
        (lambda: datalog.function("number", returns="number", name="true")(abs), "true is no name that a rule could call a function by"),
        (lambda: datalog.function("number", returns="number")(5), "5 is no function"),  # type: ignore[arg-type]
    ],
)
def test_what_cannot_be_a_function_is_refused(make: Callable[[], object], told: str) -> None:
    with pytest.raises(FunctionError, match=told):
        make()


def test_a_second_function_of_one_name_is_refused() -> None:
    with pytest.raises(FunctionError, match="there is a function two already; give the other one another name"):
        define([two, datalog.function(two)], {})
    known = define([two], {})
    with pytest.raises(FunctionError, match="there is a function two already"):
        define([two], known)
    assert list(define([datalog.function("number", returns="number", name="third")(abs)], known)) == ["two", "third"]


def test_functions_are_primitives_beside_the_others() -> None:
    found = signatures(define([two, datalog.function("symbol", returns="decimal(1)", name="price")(Decimal)], {}))
    assert {name: found[name] for name in PRIMITIVES} == PRIMITIVES
    assert set(found) - set(PRIMITIVES) == {"two", "price"}
    (price,) = found["price"]
    assert [slot.types for slot in price.arguments] == [{SYMBOL}] and price.result.types == {Type.DECIMALS[1]}
    (two_numbers,) = found["two"]
    assert len(two_numbers.arguments) == 2 and not (two_numbers.total or two_numbers.variadic or two_numbers.generates)
