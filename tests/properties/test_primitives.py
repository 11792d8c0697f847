"""Every primitive on edge values of every type that it takes: the engine's value is the oracle's, and it fails where the oracle does.

One program for each: with failing="skip", what is derived tells both; with single rows, errors are errors.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import product
from typing import Any

import pytest

from datalog import Database, EvaluationError
from datalog.errors import OddArgument
from tests.oracle.naive import evaluate
from tests.oracle.rules import Atom, Compare, Const, Not, Op, Program, Row, Rule, Term, Test, Value, Var
from tests.oracle.text import Style, to_text
from tests.oracle.values import INVERTIBLE

EDGES: dict[str, tuple[Value, ...]] = {
    "number": (0, 1, -1, 2, 3, -7, 63, 64, 65, 2**31, -(2**31), 2**62, 2**63 - 1, -(2**63), 4294967296, 719163, -719163),
    "unsigned": (0, 1, 2, 7, 63, 64, 2**32, 2**63, 2**63 - 1, 2**64 - 1),
    "float": (0.0, 1.0, -1.0, 0.5, -2.5, 1e16, 2.0**53, 2.0**63, -(2.0**63), 2.0**64, 0.1, 3.0, 1e-300, math.inf, -math.inf),
    "symbol": (
        "",
        "a",
        "ab",
        "é€",
        "12",
        "-3",
        " 7 ",
        "0x1F",
        "0b11",
        "1.5",
        "1e3",
        "true",
        "false",
        "2024-02-29",
        "2023-02-29",
        "a+",
        "(",
        "\u00a0Straße İ\t",
    ),
    "bool": (False, True),
    "date": (date(1970, 1, 1), date(1, 1, 1), date(9999, 12, 31), date(2024, 2, 29), date(1969, 12, 31)),
    "datetime": (
        datetime(1970, 1, 1, tzinfo=UTC),
        datetime(1, 1, 1, tzinfo=UTC),
        datetime(9999, 12, 31, 23, 59, 59, 999999, UTC),
        datetime(2024, 2, 29, 12, 30, tzinfo=UTC),
        datetime(1969, 12, 31, 23, 59, 59, 999999, UTC),
    ),
    "decimal(0)": tuple(map(Decimal, ("0", "1", "-1", "7", "9223372036854775807", "-9223372036854775808"))),
    "decimal(2)": tuple(
        map(Decimal, ("0.00", "0.01", "-0.01", "1.00", "0.05", "-2.50", "10.00", "92233720368547758.07", "-92233720368547758.08"))
    ),
    "decimal(18)": tuple(map(Decimal, ("0.000000000000000000", "0.000000000000000001", "-1.500000000000000000", "9.223372036854775807"))),
}
WHOLE = ("number", "unsigned")
DECIMALS = ("decimal(0)", "decimal(2)", "decimal(18)")
NUMERIC = (*WHOLE, "float", *DECIMALS)
WORDS = ("band", "bor", "bxor", "bshl", "bshr", "bshru")
CONVERSIONS = {
    "to_number": ("number", (*NUMERIC, "symbol", "bool", "date", "datetime")),
    "to_unsigned": ("unsigned", (*NUMERIC, "symbol", "bool")),
    "to_float": ("float", (*NUMERIC, "symbol", "bool")),
    "to_string": ("symbol", tuple(EDGES)),
    "to_bool": ("bool", (*WHOLE, "symbol")),
    "to_date": ("date", ("number", "symbol", "datetime")),
    "to_datetime": ("datetime", ("number", "symbol", "date")),
}

Case = tuple[str, tuple[str, ...], str]  # a name, the types of arguments, the type of the result


def cases() -> Iterator[Case]:
    for type in NUMERIC:
        yield from (
            (name, (type, type), type) for name in "+-*/%^" if not ((name == "^" and type in DECIMALS) or (name == "%" and type == "float"))
        )
        yield from ((name, (type,), type) for name in ("-", "abs"))
    yield "+", ("symbol", "symbol"), "symbol"
    for type in EDGES:
        yield from ((name, (type, type), type) for name in ("min", "max"))
    for type in WHOLE:
        yield from ((name, (type, type), type) for name in WORDS)
        yield "bnot", (type,), type
    for type in (*WHOLE, "bool"):
        yield from ((name, (type, type), type) for name in ("land", "lor", "lxor"))
        yield "lnot", (type,), type
    for name, (result, types) in CONVERSIONS.items():
        yield from ((name, (type,), result) for type in types)
    for scale in DECIMALS:
        yield from (("to_decimal", (type,), scale) for type in (*NUMERIC, "symbol"))
    yield from ((name, (type,), "number") for name in ("year", "month", "day") for type in ("date", "datetime"))
    yield "cat", ("symbol", "symbol"), "symbol"
    yield from ((name, ("symbol",), "symbol") for name in ("lower", "upper", "trim"))
    yield "replace", ("symbol", "symbol", "symbol"), "symbol"
    yield "add_days", ("date", "number"), "date"
    yield "add_seconds", ("datetime", "number"), "datetime"
    yield "days_between", ("date", "date"), "number"
    yield "seconds_between", ("datetime", "datetime"), "number"
    yield "strlen", ("symbol",), "number"
    yield "contains", ("symbol", "symbol"), "bool"
    yield "match", ("symbol", "symbol"), "bool"


def named(case: Case) -> str:
    return f"{case[0]}({', '.join(case[1])})"


def program_of(case: Case) -> Program:
    """h(i, f(x, y)) :- e(i, x, y)."""
    name, types, result = case
    arguments: tuple[Term, ...] = tuple(Var(letter) for letter, _ in zip("xyz", types, strict=False))
    rule = Rule((Atom("h", (Var("i"), Op(name, arguments, result))),), (Atom("e", (Var("i"), *arguments)),))
    return Program({"e": ("number", *types), "h": ("number", result)}, (rule,))


def rows_of(types: tuple[str, ...]) -> list[Row]:
    return [(number, *values) for number, values in enumerate(product(*(EDGES[type] for type in types)))]


def shown(rows: Any) -> dict[Value, str]:
    """Results by number, as text, which tells types, scales and the sign of a zero; there is one NaN."""
    return {number: repr(value) for number, value in rows}


def database(program: Program, rows: list[Row], **options: Any) -> Any:
    db: Any = Database(to_text(program, None, Style(scales=False)), **options)
    with db.transaction() as tx:
        tx.insert("e", rows)
    return db


@pytest.mark.parametrize("case", list(cases()), ids=named)
def test_a_primitive_gives_what_the_oracle_gives_and_nothing_where_that_fails(case: Case) -> None:
    rows = rows_of(case[1])
    program = program_of(case)
    expected = shown(evaluate(program, {"e": set(rows)}, "skip")["h"])
    assert shown(database(program, rows, failing="skip")["h"]) == expected
    failing = [row for row in rows if row[0] not in expected] if case[0] != "match" else []
    if failing:
        db: Any = Database(to_text(program))  # with scales that are written
        for row in failing[:2]:
            with pytest.raises(EvaluationError), db.transaction() as tx:
                tx.insert("e", [row])
        assert not list(db["h"])


@pytest.mark.parametrize("case", [case for case in cases() if {*case[1], case[2]} <= {*WHOLE, "float"}], ids=named)
def test_arithmetic_of_the_machine_gives_what_the_oracle_gives(case: Case) -> None:
    rows = rows_of(case[1])
    program = program_of(case)
    expected = shown(evaluate(program, {"e": set(rows)}, "skip", "wrap")["h"])
    assert shown(database(program, rows, failing="skip", overflow="wrap")["h"]) == expected


def test_parts_of_texts_are_taken_by_places_that_they_have_and_are_empty_elsewhere() -> None:
    program = program_of(("substr", ("symbol", "number", "number"), "symbol"))
    rows: list[Row] = [
        (place, *values) for place, values in enumerate(product(("", "é€", "abc"), (0, 1, 3, 4, -1, 2**63 - 1), (0, 1, 99, -1, 2**63 - 1)))
    ]
    expected = evaluate(program, {"e": set(rows)})["h"]
    assert len(expected) == len(rows)
    with pytest.warns(OddArgument) as warned:
        assert set(database(program, rows)["h"]) == expected
    assert len(warned) == 11 and "are not told of" in str(warned[-1].message)


def test_a_text_that_is_no_pattern_neither_matches_nor_does_not(capsys: pytest.CaptureFixture[str]) -> None:
    rows: list[Row] = [(number, *values) for number, values in enumerate(product(("(", "a+", "{x}"), ("a", "b")))]
    matches = Op("match", (Var("x"), Var("y")), "bool")
    bodies = (Test(matches), Not((Test(matches),)))
    rules = tuple(
        Rule((Atom("h", (Const(sign, "number"), Var("i"))),), (Atom("e", (Var("i"), Var("x"), Var("y"))), body))
        for sign, body in enumerate(bodies)
    )
    program = Program({"e": ("number", "symbol", "symbol"), "h": ("number", "number")}, rules)
    with pytest.warns(OddArgument) as warned:
        assert set(database(program, rows)["h"]) == {(0, 2), (1, 3)}
    assert len(warned) == 2


@pytest.mark.parametrize("type", [type for type in EDGES if type in NUMERIC and type != "float"])
@pytest.mark.parametrize("name", sorted(INVERTIBLE))
@pytest.mark.parametrize("left", [True, False])
def test_an_equation_is_solved_as_the_oracle_solves_it_and_never_fails(name: str, type: str, left: bool) -> None:
    """h(i, z) :- e(i, x, y), x = z + y."""
    term = Op(name, (Var("z"), Var("y")) if left else (Var("y"), Var("z")), type)
    rule = Rule((Atom("h", (Var("i"), Var("z"))),), (Atom("e", (Var("i"), Var("x"), Var("y"))), Compare("=", Var("x"), term)))
    program = Program({"e": ("number", type, type), "h": ("number", type)}, (rule,))
    rows = rows_of((type, type))
    assert shown(database(program, rows)["h"]) == shown(evaluate(program, {"e": set(rows)})["h"])


@pytest.mark.parametrize("type", ["number", "unsigned"])
@pytest.mark.parametrize("stepped", [False, True])
def test_ranges_have_the_values_that_the_oracle_counts(type: str, stepped: bool) -> None:
    near: dict[str, tuple[Value, ...]] = {
        "number": (0, 1, -3, 4, 2**63 - 1, 2**63 - 3, -(2**63)),
        "unsigned": (0, 1, 4, 2**64 - 1, 2**64 - 3),
    }
    steps: tuple[Value, ...] = (1, 2, 0, 2**62) if type == "unsigned" else (1, 2, -2, 0, 2**62)
    rows: list[Row] = [
        (number, *values)
        for number, values in enumerate(product(near[type], near[type], steps))
        if abs(values[1] - values[0]) < 100 or (stepped and abs(values[2]) > 100)  # type: ignore[operator, arg-type]
    ]
    arguments = tuple(map(Var, "xyz" if stepped else "xy"))
    body = (Atom("e", (Var("i"), Var("x"), Var("y"), Var("z"))), Compare("=", Var("w"), Op("range", arguments, type)))
    program = Program({"e": ("number", type, type, type), "h": ("number", type)}, (Rule((Atom("h", (Var("i"), Var("w"))),), body),))
    assert set(database(program, rows, failing="skip")["h"]) == evaluate(program, {"e": set(rows)}, "skip")["h"]


@pytest.mark.parametrize("type", list(EDGES))
@pytest.mark.parametrize("operator", ["<", "<=", "=", "!=", ">", ">="])
def test_comparisons_follow_the_order_of_values(operator: str, type: str) -> None:
    body = (Atom("e", (Var("i"), Var("x"), Var("y"))), Compare(operator, Var("x"), Var("y")))
    program = Program({"e": ("number", type, type), "h": ("number",)}, (Rule((Atom("h", (Var("i"),)),), body),))
    rows = rows_of((type, type))
    expected = sorted(evaluate(program, {"e": set(rows)})["h"])
    assert list(database(program, rows)["h"]) == expected
    constants = Program(
        {"h": ("number",)},
        tuple(
            Rule((Atom("h", (Const(number, "number"),)),), (Compare(operator, Const(x, type), Const(y, type)),))
            for number, x, y in rows
            if type not in ("date", "datetime", "float") and type not in DECIMALS  # whose constants have their types from a context
        ),
    )
    if constants.rules:
        assert list(Database(to_text(constants))["h"]) == expected
