"""Values as text: in files, in literals of the language, and as `to_string` gives them."""

from __future__ import annotations

import io
import struct
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal, localcontext
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datalog.io.literals import parse, read_literal, spell
from datalog.ir.core import Type
from datalog.ir.spelling import decimal_of, read_date, read_datetime, read_decimal, spell_value, unscaled
from datalog.render import plain_table, print_table, stands_right
from datalog.store.values import BadValue, canonical
from tests.unit.typed import BOOL, DATE, DATETIME, FLOAT, MONEY, NAMES, NUMBER, SYMBOL, TYPED, TYPES, UNSIGNED

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


def same(value: object, other: object) -> bool:
    """Equality of class, and bits of floats."""
    if isinstance(value, float) and isinstance(other, float):
        return struct.pack("d", value) == struct.pack("d", other)
    return value.__class__ is other.__class__ and str(value) == str(other)


@pytest.mark.parametrize("type", TYPES, ids=NAMES)
@given(data=st.data())
def test_what_is_spelled_reads_back(type: Type, data: st.DataObject) -> None:
    value = canonical(data.draw(TYPED[type]), type)
    assert same(read_literal(spell(value, type), type), value)
    assert same(parse(spell_value(value), type), value)
    read: dict[Type, Any] = {DATE: read_date, DATETIME: read_datetime}
    if type in read:
        assert same(read[type](spell_value(value)), value)
    elif type.scale >= 0:
        assert same(read_decimal(spell_value(value), type.scale), value)


@given(text=st.from_regex(r"[+-]?[0-9]{0,3}\.?[0-9]{0,4}", fullmatch=True), scale=st.integers(0, 4))
def test_a_decimal_is_the_number_that_its_digits_spell_or_none(text: str, scale: int) -> None:
    try:
        found = read_decimal(text, scale)
    except ValueError as error:
        assert "behind the point" in str(error)
        assert Decimal(text) * 10**scale % 1 != 0
    else:
        if found is None:
            assert not any(character.isdigit() for character in text)
        else:
            assert found == Decimal(text)
            assert found.as_tuple().exponent == -scale


@given(number=st.integers(-(2**63), 2**63 - 1), scale=st.integers(0, 18), precision=st.integers(1, 30))
def test_the_digits_of_a_decimal_do_not_depend_on_the_context(number: int, scale: int, precision: int) -> None:
    with localcontext(prec=precision):
        value = decimal_of(number, scale)
        assert unscaled(value, scale) == number
        assert spell_value(value) == (
            f"{'-' * (number < 0)}{abs(number) // 10**scale}" + f".{abs(number) % 10**scale:0{scale}}" * (scale > 0)
        )


@given(moment=st.datetimes(datetime(2, 1, 1), datetime(9998, 12, 31)), minutes=st.integers(-1439, 1439))
def test_a_zone_is_taken_off(moment: datetime, minutes: int) -> None:
    aware = moment.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    assert read_datetime(aware.isoformat()) == read_datetime(aware.isoformat(" ")) == aware
    assert read_datetime(moment.isoformat()) == moment.replace(tzinfo=UTC)


@pytest.mark.parametrize("text", ["", "2024-5-1", "24-05-01", "2024-05-01 ", "2024/05/01", "2024-05-01T00:00:00", "٢٠٢٤-05-01"])
def test_other_forms_are_no_dates(text: str) -> None:
    assert read_date(text) is None


@pytest.mark.parametrize(
    "text", ["2024-05-01", "2024-05-01T12", "2024-05-01t12:00:00", "2024-05-01T12:00:00.", "2024-05-01T12:00:00 Z", "noon"]
)
def test_other_forms_are_no_datetimes(text: str) -> None:
    assert read_datetime(text) is None


@pytest.mark.parametrize("text", ["", ".", "-", "1e3", "1_000", "0x10", "1,5", " 1", "inf", "nan", "٣"])
def test_other_forms_are_no_decimals(text: str) -> None:
    assert read_decimal(text, 2) is None


@pytest.mark.parametrize(
    ("type", "text", "message"),
    [
        (DATE, "2023-02-30", "the calendar has no day 2023-02-30"),
        (DATE, "0000-01-01", "the calendar has no day 0000-01-01"),
        (DATE, "1.5.2024", '"1.5.2024" is no date, which is written YYYY-MM-DD'),
        (DATETIME, "2023-02-30T12:00:00", "the calendar has no day 2023-02-30"),
        (DATETIME, "2024-05-01", '"2024-05-01" is no datetime, which is written YYYY-MM-DDTHH:MM:SSZ'),
        (
            DATETIME,
            "2024-05-01T12:00:00.1234567",
            "2024-05-01T12:00:00.1234567 is finer than a microsecond; a datetime has 6 digits behind the point",
        ),
        (DATETIME, "2024-05-01T24:00:00Z", "there is no time 2024-05-01T24:00:00Z: a day has hours 00 to 23, minutes and seconds 00 to 59"),
        (
            DATETIME,
            "2024-05-01T00:00:00+00:60",
            "there is no time 2024-05-01T00:00:00+00:60: a day has hours 00 to 23, minutes and seconds 00 to 59",
        ),
        (
            DATETIME,
            "9999-12-31T23:00:00-01:00",
            "9999-12-31T23:00:00-01:00 is out of range: a datetime lies within the years 1 to 9999 in UTC",
        ),
        (MONEY, "12.345", "12.345 has 3 digits behind the point, and a decimal(2) has 2: round it to 12.34, or declare decimal(3)"),
        (MONEY, "0.0051", "0.0051 has 4 digits behind the point, and a decimal(2) has 2: round it to 0.01, or declare decimal(4)"),
        (MONEY, "1e3", '"1e3" is no decimal(2)'),
        (
            MONEY,
            "92233720368547758.08",
            "92233720368547758.08 is out of range: a decimal(2) goes from -92233720368547758.08 to 92233720368547758.07",
        ),
        (BOOL, "1", '"1" is no bool'),
        (BOOL, "yes", '"yes" is no bool'),
    ],
)
def test_a_bad_cell_is_named(type: Type, text: str, message: str) -> None:
    with pytest.raises(BadValue) as caught:
        parse(text, type)
    assert str(caught.value) == message


@pytest.mark.parametrize("digits", [5000, 20_000])
def test_the_longest_numbers_are_refused_all_the_same(digits: int) -> None:
    with pytest.raises(BadValue, match="is out of range"):
        parse("9" * digits, MONEY)
    with pytest.raises(BadValue, match=f"has {digits} digits behind the point"):
        parse("0." + "9" * digits, MONEY)
    assert parse("1." + "0" * digits, MONEY) == Decimal("1.00")


@pytest.mark.parametrize(
    ("type", "written", "value"),
    [
        (BOOL, "true", True),
        (BOOL, "false", False),
        (DATE, '"2024-05-01"', date(2024, 5, 1)),
        (DATETIME, '"2024-05-01T14:00:00+02:00"', NOON),
        (DATETIME, '"2024-05-01 12:00:00"', NOON),
        (MONEY, "12.5", Decimal("12.50")),
        (MONEY, "-3", Decimal("-3.00")),
        (MONEY, "0.500", Decimal("0.50")),
    ],
)
def test_literals_have_the_type_of_their_column(type: Type, written: str, value: object) -> None:
    assert same(read_literal(written, type), value)


@pytest.mark.parametrize(
    ("type", "written", "message"),
    [
        (BOOL, "1", "1 is no bool"),
        (BOOL, '"true"', '"true" is no bool'),
        (NUMBER, "true", "true is no number"),
        (SYMBOL, "true", "true is no symbol"),
        (DATE, "2024", '2024 is no date, which is written "YYYY-MM-DD"'),
        (DATETIME, '"2024-05-01"', '"2024-05-01" is no datetime, which is written YYYY-MM-DDTHH:MM:SSZ'),
        (MONEY, "1e3", "1e3 is no decimal(2)"),
        (MONEY, "0x10", "0x10 is no decimal(2)"),
        (MONEY, '"1.50"', '"1.50" is no decimal(2)'),
        (MONEY, "1.255", "1.255 has 3 digits behind the point, and a decimal(2) has 2: round it to 1.26, or declare decimal(3)"),
    ],
)
def test_a_literal_of_another_type_is_refused(type: Type, written: str, message: str) -> None:
    with pytest.raises(BadValue) as caught:
        read_literal(written, type)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (date(1, 1, 1), "0001-01-01"),
        (NOON, "2024-05-01T12:00:00Z"),
        (NOON.replace(microsecond=500), "2024-05-01T12:00:00.000500Z"),
        (NOON.astimezone(timezone(timedelta(hours=-3))), "2024-05-01T12:00:00Z"),
        (Decimal("0E-18"), "0.000000000000000000"),
        (Decimal("1E+3"), "1000"),
        (0.1, "0.1"),
        (1e300, "1e+300"),
        ("text", "text"),
        (-7, "-7"),
    ],
)
def test_every_value_has_one_text(value: Any, text: str) -> None:
    assert spell_value(value) == text


def test_tables_align_quantities_to_the_right_and_all_else_to_the_left() -> None:
    types = (BOOL, DATE, DATETIME, MONEY, NUMBER, UNSIGNED, FLOAT, SYMBOL)
    right = [stands_right(type) for type in types]
    assert right == [False, False, False, True, True, True, True, False]
    rows = [(True, date(2024, 5, 1), Decimal("12.50")), (False, date(1, 1, 1), Decimal("-0.05"))]
    assert list(plain_table("p", ("paid", "day", "total"), (False, False, True), rows)) == [
        "p",
        "paid   day         total",
        "-----  ----------  -----",
        "true   2024-05-01  12.50",
        "false  0001-01-01  -0.05",
    ]
    out = io.StringIO()
    print_table("q", ("at",), (False,), [(NOON,)], 1, out)
    assert out.getvalue() == "q\nat\n--------------------\n2024-05-01T12:00:00Z\n"
