"""What the oracle computes, on values worked out by hand."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from tests.oracle.aggregates import aggregate
from tests.oracle.values import OracleArithmeticError, compute, inverse, range_of, spelled

MONEY = "decimal(2)"


def cents(text: str) -> Decimal:
    return Decimal(text)


@pytest.mark.parametrize(
    ("name", "values", "type", "expected"),
    [
        ("^", [2, 10], "number", 1024),
        ("^", [2, -1], "number", 0),
        ("^", [-1, -3], "number", -1),
        ("^", [-2, 63], "number", -(2**63)),
        ("^", [2.0, 0.5], "float", math.sqrt(2)),
        ("band", [12, 10], "number", 8),
        ("bor", [12, 10], "unsigned", 14),
        ("bxor", [-1, 5], "number", -6),
        ("bnot", [0], "unsigned", 2**64 - 1),
        ("bnot", [0], "number", -1),
        ("bshl", [1, 63], "number", -(2**63)),
        ("bshl", [1, 64], "number", 1),
        ("bshr", [-8, 1], "number", -4),
        ("bshru", [-8, 1], "number", 2**63 - 4),
        ("bshr", [2**64 - 1, 60], "unsigned", 15),
        ("land", [2, 3], "number", 1),
        ("lxor", [2, 3], "number", 0),
        ("lor", [False, True], "bool", True),
        ("lnot", [7], "number", 0),
        ("min", ["b", "a", "B"], "symbol", "B"),
        ("max", [date(2024, 2, 29), date(2024, 3, 1)], "date", date(2024, 3, 1)),
        ("abs", [-3], "number", 3),
        ("cat", ["a", "", "b"], "symbol", "ab"),
        ("strlen", ["né€"], "number", 3),
        ("substr", ["héllo", 1, 2], "symbol", "él"),
        ("substr", ["abc", 1, 99], "symbol", "bc"),
        ("substr", ["abc", 3, 1], "symbol", ""),
        ("substr", ["abc", 4, 1], "symbol", ""),
        ("substr", ["abc", -1, 2], "symbol", ""),
        ("substr", ["abc", 1, -1], "symbol", "bc"),
        ("+", ["ab", "c"], "symbol", "abc"),
        ("to_string", [0.25], "symbol", "0.250000"),
        ("contains", ["b", "abc"], "bool", True),
        ("match", ["a.*", "ab"], "bool", True),
        ("match", ["a", "ab"], "bool", False),
        ("to_number", [" -0x1F "], "number", -31),
        ("to_number", ["0b101"], "number", 5),
        ("to_number", [-2.9], "number", -2),
        ("to_number", [cents("-2.99")], "number", -2),
        ("to_number", [date(1969, 12, 31)], "number", -1),
        ("to_number", [datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)], "number", 10**6),
        ("to_decimal", [0.125], MONEY, cents("0.12")),
        ("to_float", [cents("0.10")], "float", 0.1),
        ("to_date", ["2024-02-29"], "date", date(2024, 2, 29)),
        ("to_datetime", [date(2024, 2, 29)], "datetime", datetime(2024, 2, 29, tzinfo=UTC)),
        ("year", [date(2024, 2, 29)], "number", 2024),
        ("+", [cents("0.10"), cents("0.20")], MONEY, cents("0.30")),
        ("*", [cents("0.50"), cents("0.25")], MONEY, cents("0.12")),
        ("*", [cents("0.50"), cents("0.27")], MONEY, cents("0.14")),
        ("/", [cents("-1.00"), cents("3.00")], MONEY, cents("-0.33")),
        ("%", [cents("-7.50"), cents("2.00")], MONEY, cents("-1.50")),
    ],
)
def test_a_primitive_has_the_value_worked_out_by_hand(name: str, values: list[Any], type: str, expected: Any) -> None:
    assert repr(compute(name, values, type)) == repr(expected)


@pytest.mark.parametrize(
    ("name", "values", "type"),
    [
        ("^", [0, -1], "number"),
        ("^", [2, 63], "number"),
        ("/", [1.0, 0.0], "float"),
        ("/", [cents("1.00"), cents("0.00")], MONEY),
        ("*", [cents("90000000000000000.00"), cents("2.00")], MONEY),
        ("abs", [-(2**63)], "number"),
        ("match", ["(", "a"], "bool"),
        ("to_number", ["1.5"], "number"),
        ("to_number", [""], "number"),
        ("to_number", [math.nan], "number"),
        ("to_number", [1e19], "number"),
        ("to_unsigned", [-1], "unsigned"),
        ("to_date", ["2023-02-29"], "date"),
        ("to_bool", ["yes"], "bool"),
    ],
)
def test_a_primitive_without_a_value_is_an_error(name: str, values: list[Any], type: str) -> None:
    with pytest.raises(OracleArithmeticError):
        compute(name, values, type)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (1.5, "1.5"),
        (cents("1.50"), "1.50"),
        (date(987, 6, 5), "0987-06-05"),
        (datetime(2024, 5, 1, 12, tzinfo=UTC), "2024-05-01T12:00:00Z"),
        (datetime(2024, 5, 1, 12, 0, 0, 10, UTC), "2024-05-01T12:00:00.000010Z"),
    ],
)
def test_values_are_spelled_as_texts(value: Any, text: str) -> None:
    assert spelled(value) == text


def test_ranges_end_before_their_end_and_run_down_if_it_is_less() -> None:
    assert list(range_of([1, 4], "number")) == [1, 2, 3]
    assert list(range_of([3, 0], "number")) == [3, 2, 1]
    assert list(range_of([1, 6, 2], "number")) == [1, 3, 5]
    assert list(range_of([1, 6, -1], "number")) == []
    assert list(range_of([2, 2], "number")) == []
    assert list(range_of([1, 2, 0], "number")) == [1]
    assert list(range_of([2, 1, 0], "number")) == [2]
    assert list(range_of([2, 2, 0], "number")) == []


def test_an_inverse_is_the_only_value_that_can_give_the_result() -> None:
    assert inverse("+", [None, 1], 0, 5, "number") == 4
    assert inverse("-", [10, None], 1, 3, "number") == 7
    assert inverse("-", [None], 0, 3, "number") == -3
    assert inverse("+", [None, 3], 0, 2, "unsigned") == 2**64 - 1
    assert inverse("-", [None, 1], 0, 2**63 - 1, "number") is None


@pytest.mark.parametrize(
    ("function", "values", "type", "expected"),
    [
        ("count", [1, 1], "number", 2),
        ("sum", [2**62, 2**62, -(2**62)], "number", 2**62),
        ("sum", [0.1] * 10, "float", 1.0),
        ("sum", [1e308, 1e308, -1e308], "float", 1e308),
        ("sum", [1e300, 1e-300, -1e300], "float", 1e-300),
        ("sum", [math.inf, 1.0], "float", math.inf),
        ("sum", [cents("0.10"), cents("0.20")], MONEY, cents("0.30")),
        ("mean", [1, 2], "float", 1.5),
        ("mean", [2**63 - 1, 2**63 - 1], "float", 2.0**63),
        ("mean", [cents("0.10"), cents("0.20"), cents("0.30")], "float", 0.2),
        ("min", ["b", "a"], "symbol", "a"),
        ("max", [False, True], "bool", True),
        ("median", [1, 2, 3, 4], "number", 2),
        ("product", [2, 3, 7], "number", 42),
        ("bitand", [12, 10], "number", 8),
        ("bitor", [12, 10], "number", 14),
        ("bitxor", [5, 5, 3], "number", 3),
        ("collect", [3, 1, 3], "symbol", "[1, 3]"),
        ("collect", ["b", 'a"'], "symbol", '["a\\"", "b"]'),
    ],
)
def test_an_aggregate_has_the_value_worked_out_by_hand(function: str, values: list[Any], type: str, expected: Any) -> None:
    assert repr(aggregate(function, [(value,) for value in values], type)) == repr(expected)


@pytest.mark.parametrize(("fraction", "expected"), [(0.0, 1), (0.1, 1), (0.25, 3), (0.5, 5), (0.9, 9), (1.0, 10)])
def test_a_quantile_is_the_value_at_its_rank(fraction: float, expected: int) -> None:
    assert aggregate("quantile", [(value,) for value in range(10, 0, -1)], "number", fraction) == expected


def test_a_witness_is_the_least_of_those_with_the_extreme_key() -> None:
    rows = [(1, "c"), (3, "b"), (3, "a"), (1, "d")]
    assert aggregate("argmax", rows, "symbol") == "a"
    assert aggregate("argmin", rows, "symbol") == "c"


def test_a_join_has_every_value_with_its_multiplicity_in_order() -> None:
    assert aggregate("join", [(2,), (1,), (2,)], "symbol", "-") == "1-2-2"


def test_sums_and_products_beyond_64_bits_are_errors() -> None:
    for function in ("sum", "product"):
        with pytest.raises(OracleArithmeticError):
            aggregate(function, [(2**62,), (2**62,)], "number")


def test_empty_groups_have_a_count_and_a_sum_and_nothing_else() -> None:
    assert aggregate("count", [], "number") == 0
    assert repr(aggregate("sum", [], MONEY)) == "Decimal('0.00')"
    assert repr(aggregate("sum", [], "float")) == "0.0"
    assert aggregate("min", [], "number") is None
    assert aggregate("collect", [], "symbol") is None
