"""What becomes of numbers that leave 64 bits: unsigned wrap around, numbers do where the program or its user says so."""

from __future__ import annotations

from typing import Any

import pytest

from datalog import Database, EvaluationError, ProgramError
from tests.command_line import datalog

TOP = 2**63 - 1
NEXT = ".decl p(x: number)\n.input p\n.decl n(x: number, y: number)\nn(x, x + 1) :- p(x).\n"
SUMS = """.decl e(g: number, x: {type})
.input e
.decl s(g: number, x: {type})
s(g, t) :- e(g, _), t = sum x : {{ e(g, x) }}.
.decl m(g: number, x: {type})
m(g, t) :- e(g, _), t = product x : {{ e(g, x) }}.
"""


def database(text: str, rows: dict[str, list[Any]], **options: Any) -> Database:
    made = Database(text, **options)
    with made.transaction() as transaction:
        for name, given in rows.items():
            transaction.insert(name, given)
    return made


def test_a_number_that_leaves_64_bits_is_an_error_with_place_and_binding() -> None:
    with pytest.raises(EvaluationError, match=r"4:6: error: `\+` leaves the 64-bit range where x = 9223372036854775807"):
        database(NEXT, {"p": [(TOP,)]})


@pytest.mark.parametrize(("pragma", "options"), [('.pragma "overflow" "wrap"\n', {}), ("", {"overflow": "wrap"})])
def test_it_wraps_around_where_the_program_or_an_option_says_so(pragma: str, options: dict[str, Any]) -> None:
    made = database(pragma + NEXT, {"p": [(TOP,), (1,)]}, **options)
    assert list(made["n"]) == [(1, 2), (TOP, -TOP - 1)]
    assert made.query("p(x), y = x * 2") == [(1, 2), (TOP, -2)]
    made.check()


def test_the_option_wins_over_the_pragma() -> None:
    with pytest.raises(EvaluationError):
        database('.pragma "overflow" "wrap"\n' + NEXT, {"p": [(TOP,)]}, overflow="error")


def test_the_command_line_says_it_as_a_setting(tmp_path: Any) -> None:
    program = tmp_path / "p.dl"
    program.write_text(".decl p(x: number)\n.output p\np(9223372036854775807 + 1).\n")
    assert "does not fit the type number" in datalog("run", program).err
    assert datalog("run", program, "--set", "overflow=wrap", "-D-").out.splitlines()[-2] == str(-TOP - 1)
    assert datalog("plan", program, "--set", "overflow=wrap").status == 0
    assert datalog("explain", program, f"p({-TOP - 1})", "--set", "overflow=wrap").status == 0


@pytest.mark.parametrize(
    ("expression", "type", "value"),
    [
        ("0u - 1u", "unsigned", 2**64 - 1),
        ("18446744073709551615u * 2u", "unsigned", 2**64 - 2),
        ("3u ^ 41u", "unsigned", 3**41 % 2**64),
    ],
)
def test_unsigned_facts_wrap_around(expression: str, type: str, value: int) -> None:
    assert list(Database(f".decl p(x: {type})\np({expression}).\n")["p"]) == [(value,)]


@pytest.mark.parametrize(
    ("expression", "type", "value"),
    [
        ("9223372036854775807 + 1", "number", -TOP - 1),
        ("-9223372036854775808 / -1", "number", -TOP - 1),
        ("0 - -9223372036854775808", "number", -TOP - 1),
        ("3 ^ 41", "number", (3**41 + 2**63) % 2**64 - 2**63),
        ("1.0 / 0.0", "float", float("inf")),
        ("-1.0 / 0.0", "float", float("-inf")),
    ],
)
def test_facts_are_computed_as_rules_compute(expression: str, type: str, value: float) -> None:
    folded = Database(f".decl p(x: {type})\np({expression}).\n", overflow="wrap")
    derived = Database(f".decl p(x: {type})\n.decl q(x: number)\nq(0).\np({expression}) :- q(_).\n", overflow="wrap")
    assert list(folded["p"]) == list(derived["p"]) == [(value,)]
    with pytest.raises(ProgramError):
        Database(f".decl p(x: {type})\np({expression}).\n")


def test_division_by_zero_is_an_error_of_whole_numbers_whatever_wraps() -> None:
    with pytest.raises(EvaluationError, match="divides by zero"):
        database(".decl p(x: number)\n.input p\nq(7 / x) :- p(x).\n", {"p": [(0,)]}, overflow="wrap")


def test_conversions_keep_the_bits_where_numbers_wrap_around() -> None:
    text = ".decl p(x: number)\n.input p\n.decl q(x: number, u: unsigned, y: number)\nq(x, u, to_number(u)) :- p(x), u = to_unsigned(x).\n"
    assert list(database(text, {"p": [(-1,), (3,)]}, overflow="wrap")["q"]) == [(-1, 2**64 - 1, -1), (3, 3, 3)]
    with pytest.raises(EvaluationError, match="the argument is negative"):
        database(text, {"p": [(-1,)]})


@pytest.mark.parametrize("maintain", ["auto", "recorded", "derived", "recompute"])
def test_sums_and_products_wrap_around_and_come_back(maintain: Any) -> None:
    unsigned = SUMS.format(type="unsigned")
    made = database(unsigned, {"e": [(1, 2**64 - 1), (1, 2), (2, 5)]}, maintain=maintain)
    assert list(made["s"]) == [(1, 1), (2, 5)]
    assert list(made["m"]) == [(1, 2**64 - 2), (2, 5)]
    with made.transaction() as transaction:
        transaction.delete("e", [(1, 2)])
        transaction.insert("e", [(2, 2**63), (2, 2**63 + 1)])
    assert list(made["s"]) == [(1, 2**64 - 1), (2, 6)]
    assert list(made["m"]) == [(1, 2**64 - 1), (2, 5 * 2**63 * (2**63 + 1) % 2**64)]
    made.check()


def test_sums_of_numbers_wrap_around_only_where_that_is_said() -> None:
    numbers = SUMS.format(type="number").replace("m(g, t)", "m(g, t + 0)")
    rows = {"e": [(1, TOP), (1, 2)]}
    with pytest.raises(EvaluationError, match="leaves the 64-bit range"):
        database(numbers, rows)
    made = database(numbers, rows, overflow="wrap")
    assert list(made["s"]) == [(1, -TOP)]
    assert list(made["m"]) == [(1, -2)]
    with made.transaction() as transaction:
        transaction.delete("e", [(1, TOP)])
    assert list(made["s"]) == list(made["m"]) == [(1, 2)]
    made.check()


def test_an_equation_is_solved_by_wrapping_around() -> None:
    text = ".decl p(x: number)\n.input p\n.decl q(x: number, y: number)\nq(x, y) :- p(x), x = y + 9223372036854775807.\n"
    assert list(database(text, {"p": [(0,), (-5,)]}, overflow="wrap")["q"]) == [(-5, TOP - 3), (0, -TOP)]
