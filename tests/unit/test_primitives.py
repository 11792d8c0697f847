"""Functions on columns of distinct arguments, against plain Python, and the calls of the user's own."""

from __future__ import annotations

import math
import re
import threading
import warnings
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datalog.errors import InternalError, OddArgument
from datalog.evaluate.patterns import compiled
from datalog.evaluate.primitives import ColumnFunctions, UserFunction
from datalog.ir.core import Type
from datalog.ir.primitives import ORDER
from datalog.store.values import Values

NUMBER, UNSIGNED, FLOAT, SYMBOL, BOOL = Type.NUMBER, Type.UNSIGNED, Type.FLOAT, Type.SYMBOL, Type.BOOL
DATE, DATETIME, CENTS = Type.DATE, Type.DATETIME, Type.DECIMALS[2]
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
numbers = st.integers(-(2**63), 2**63 - 1)
days = st.dates()
times = st.datetimes(timezones=st.just(UTC))
cents = st.integers(-(2**63), 2**63 - 1).map(lambda number: Decimal(f"{number}E-2"))
floats = st.floats().map(lambda value: value + 0.0)

OF_TYPE: dict[Type, st.SearchStrategy[Any]] = {
    NUMBER: numbers,
    UNSIGNED: st.integers(0, 2**64 - 1),
    FLOAT: floats,
    SYMBOL: texts,
    BOOL: st.booleans(),
    DATE: days,
    DATETIME: times,
    CENTS: cents,
}


class Failed:
    """What stands for the result of a row without one."""

    def __init__(self, message: str) -> None:
        self.message = message

    def __repr__(self) -> str:
        return f"Failed({self.message!r})"


def compute(
    name: str, types: tuple[Type, ...], result: Type, rows: list[tuple[Any, ...]], functions: dict[str, UserFunction] | None = None
) -> list[Any]:
    """The results of a function for rows of Python values; `Failed` where it has none."""
    values = Values()
    return computed(ColumnFunctions(values, functions), values, name, types, result, rows)


def computed(
    functions: ColumnFunctions, values: Values, name: str, types: tuple[Type, ...], result: Type, rows: list[tuple[Any, ...]]
) -> list[Any]:
    columns = list(values.encode_rows(rows, types).T)
    before = [column.copy() for column in columns]
    codes, failures = functions.compute(name, types, result, columns)
    assert codes.dtype == np.int64 and len(codes) == len(rows)
    assert all(map(np.array_equal, columns, before))
    assert set(failures) <= set(range(len(rows)))
    return [Failed(failures[row]) if row in failures else values.decode(int(code), result) for row, code in enumerate(codes)]


def one(name: str, types: tuple[Type, ...], result: Type, *arguments: Any) -> Any:
    (value,) = compute(name, types, result, [arguments])
    return value


def message(name: str, types: tuple[Type, ...], result: Type, *arguments: Any) -> str:
    found = one(name, types, result, *arguments)
    assert isinstance(found, Failed), f"{name}{arguments} = {found!r}"
    return found.message


# --- texts -----------------------------------------------------------------------------------------------------------------


@given(st.lists(st.tuples(texts, texts, texts), max_size=5))
def test_cat_joins_any_number_of_texts(rows: list[tuple[str, str, str]]) -> None:
    assert compute("cat", (SYMBOL,) * 3, SYMBOL, rows) == [f"{a}{b}{c}" for a, b, c in rows]
    assert compute("cat", (SYMBOL,) * 2, SYMBOL, [row[:2] for row in rows]) == [f"{a}{b}" for a, b, _ in rows]


@given(st.lists(st.tuples(texts), max_size=5))
def test_strlen_counts_code_points(rows: list[tuple[str]]) -> None:
    assert compute("strlen", (SYMBOL,), NUMBER, rows) == [sum(1 for _ in text) for (text,) in rows]


@given(texts, st.integers(-3, 15), st.integers(-3, 15) | numbers)
def test_substr_takes_code_points_and_stops_at_the_end(text: str, start: int, length: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = one("substr", (SYMBOL, NUMBER, NUMBER), SYMBOL, text, start, length)
    end = len(text) if length < 0 else start + length
    assert found == "".join(character for place, character in enumerate(text) if 0 <= start <= place < end)


@pytest.mark.parametrize("start", [4, -1])
def test_substr_warns_of_what_is_outside(start: int) -> None:
    with pytest.warns(OddArgument, match=f'"abc" has no place {start}, and its part from there is empty'):
        assert one("substr", (SYMBOL, NUMBER, NUMBER), SYMBOL, "abc", start, 1) == ""


def test_substr_may_begin_at_the_end_and_takes_all_for_a_negative_length(recwarn: pytest.WarningsRecorder) -> None:
    types = (SYMBOL, NUMBER, NUMBER)
    assert one("substr", types, SYMBOL, "abc", 3, 1) == ""
    assert one("substr", types, SYMBOL, "abc", 1, -2) == "bc"
    assert not recwarn


@given(st.lists(st.tuples(st.text("ab", max_size=3), st.text("ab", max_size=6)), max_size=8))
def test_contains_finds_a_part_anywhere(rows: list[tuple[str, str]]) -> None:
    expected = [any(text[place : place + len(part)] == part for place in range(len(text) + 1)) for part, text in rows]
    assert compute("contains", (SYMBOL, SYMBOL), BOOL, rows) == expected


@given(st.lists(st.tuples(st.sampled_from(["a*", "[ab]+c?", "", "a|ab", "a.", "(a)(b)"]), st.text("abc\n", max_size=4)), max_size=10))
def test_match_is_of_the_whole_text(rows: list[tuple[str, str]]) -> None:
    expected = [re.match(rf"(?:{pattern})\Z", text) is not None for pattern, text in rows]
    assert compute("match", (SYMBOL, SYMBOL), BOOL, rows) == expected


def test_match_fails_only_for_rows_with_a_pattern_that_is_none() -> None:
    with pytest.warns(OddArgument) as warned:
        found = compute("match", (SYMBOL, SYMBOL), BOOL, [("a+", "aa"), ("(", "a"), ("a+", "b"), ("(", "b")])
    assert found[0] is True and found[2] is False
    assert [one.message for one in found[1::2]] == ["", ""], "no value, and no failure"
    told = '"(" is no regular expression: a parenthesis is not closed; neither `match` nor `!match` holds'
    assert [str(warning.message) for warning in warned] == [told]


def test_match_compiles_each_pattern_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def counting(pattern: str) -> re.Pattern[str]:
        seen.append(pattern)
        return compiled(pattern)

    monkeypatch.setattr("datalog.evaluate.primitives.compiled", counting)
    compute("match", (SYMBOL, SYMBOL), BOOL, [(pattern, text) for text in "abcd" for pattern in ("a", "b*")])
    assert sorted(seen) == ["a", "b*"]


@given(st.lists(st.tuples(texts, texts, texts), max_size=5))
def test_min_and_max_of_symbols_go_by_text(rows: list[tuple[str, str, str]]) -> None:
    assert compute("min", (SYMBOL,) * 3, SYMBOL, rows) == [sorted(row)[0] for row in rows]
    assert compute("max", (SYMBOL,) * 3, SYMBOL, rows) == [sorted(row)[-1] for row in rows]


@given(st.lists(st.tuples(st.text(st.sampled_from("aAßİǅé \t\u00a0"), max_size=6)), max_size=6))
def test_case_and_blanks_around_a_text(rows: list[tuple[str]]) -> None:
    assert compute("lower", (SYMBOL,), SYMBOL, rows) == ["".join(character.lower() for character in text) for (text,) in rows]
    assert compute("upper", (SYMBOL,), SYMBOL, rows) == ["".join(character.upper() for character in text) for (text,) in rows]
    for (text,), found in zip(rows, compute("trim", (SYMBOL,), SYMBOL, rows), strict=True):
        assert found in text and not (found[:1].isspace() or found[-1:].isspace())
        assert not (text.replace(found, "", 1) if found else text).strip()


@given(st.lists(st.tuples(*[st.text("ab", max_size=size) for size in (8, 2, 3)]), max_size=8))
def test_replace_takes_every_occurrence_from_the_left(rows: list[tuple[str, str, str]]) -> None:
    def replaced(text: str, old: str, new: str) -> str:
        if not old or old not in text:
            return text
        head, _, tail = text.partition(old)
        return head + new + replaced(tail, old, new)

    assert compute("replace", (SYMBOL,) * 3, SYMBOL, rows) == [replaced(*row) for row in rows]


def test_ord_is_the_code_that_the_symbol_has_here() -> None:
    values = Values()
    code = values.encode("seen first", SYMBOL)
    found = computed(ColumnFunctions(values), values, "ord", (SYMBOL,), NUMBER, [("new",), ("seen first",)])
    assert found == [values.symbols.find("new"), code]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("\0\x01a\U0010ffff"), max_size=10), max_size=8))
def test_order_words_never_turn_the_order_of_texts_round(column: list[str]) -> None:
    words = compute(ORDER, (SYMBOL,), NUMBER, [(text,) for text in column])
    for text, word in zip(column, words, strict=True):
        for other, other_word in zip(column, words, strict=True):
            if text.encode()[:8].ljust(8, b"\0") < other.encode()[:8].ljust(8, b"\0"):
                assert word < other_word
            assert not (text < other and word > other_word)


# --- conversions -----------------------------------------------------------------------------------------------------------


@given(numbers, st.sampled_from(["{}", " {} ", "{:+}", "\t{}\n"]))
def test_to_number_reads_what_python_writes(value: int, form: str) -> None:
    assert one("to_number", (SYMBOL,), NUMBER, form.format(value)) == value


@given(st.integers(0, 2**64 - 1), st.sampled_from(["{}", "{:#x}", "{:#b}", "{:#X}", "0x{:X}", "+{}", "000{}"]))
def test_to_unsigned_reads_all_bases(value: int, form: str) -> None:
    assert one("to_unsigned", (SYMBOL,), UNSIGNED, form.format(value)) == value


@pytest.mark.parametrize("text", ["", " ", "-", "1.0", "1e3", "1_000", "0x", "0b2", "١", "12a", "1 2", "--1", "5u", "inf"])
def test_a_text_that_is_no_integer_has_no_number(text: str) -> None:
    shown = text.encode("unicode_escape").decode() if not text.isprintable() else text
    assert message("to_number", (SYMBOL,), NUMBER, text) == f'"{shown}" is no number'
    assert message("to_unsigned", (SYMBOL,), UNSIGNED, text) == f'"{shown}" is no unsigned number'


@pytest.mark.parametrize("text", [str(2**63), str(-(2**63) - 1), "9" * 10_000, "-0x" + "f" * 700, "0b" + "1" * 65])
def test_an_integer_beyond_64_bits_is_out_of_range(text: str) -> None:
    assert "is out of range: a number goes from -9223372036854775808" in message("to_number", (SYMBOL,), NUMBER, text)


def test_leading_zeros_do_not_count() -> None:
    assert one("to_number", (SYMBOL,), NUMBER, "-" + "0" * 10_000 + "7") == -7
    assert one("to_number", (SYMBOL,), NUMBER, "0b" + "0" * 1000 + "11") == 3
    assert one("to_number", (SYMBOL,), NUMBER, "000") == 0


def test_a_negative_text_has_no_unsigned_number() -> None:
    assert "-1 is out of range" in message("to_unsigned", (SYMBOL,), UNSIGNED, "-1")


@given(floats)
def test_to_float_reads_what_python_writes(value: float) -> None:
    found = one("to_float", (SYMBOL,), FLOAT, repr(value))
    assert found == value or (math.isnan(found) and math.isnan(value))


@pytest.mark.parametrize(
    "text, value", [("1", 1.0), (" .5", 0.5), ("5.", 5.0), ("-1E3", -1000.0), ("+Inf", math.inf), ("-infinity", -math.inf), ("1e-400", 0.0)]
)
def test_a_float_has_many_spellings(text: str, value: float) -> None:
    assert one("to_float", (SYMBOL,), FLOAT, text) == value


@pytest.mark.parametrize("text", ["", ".", "1e", "0x1", "1_0", "nano", "1,5", "e5", "١.٥"])
def test_a_text_that_is_no_float_has_none(text: str) -> None:
    assert message("to_float", (SYMBOL,), FLOAT, text) == f'"{text}" is no float'


def test_a_text_that_another_conversion_reads_says_so() -> None:
    assert message("to_number", (SYMBOL,), NUMBER, " 2024-03-01") == '" 2024-03-01" is no number; to_date reads it'
    assert message("to_float", (SYMBOL,), FLOAT, "2024-03-01T10:00") == '"2024-03-01T10:00" is no float; to_datetime reads it'
    assert message("to_datetime", (SYMBOL,), DATETIME, "2024-03-01") == '"2024-03-01" is no datetime; to_date reads it'
    assert message("to_date", (SYMBOL,), DATE, "2024-03-01T10:00") == '"2024-03-01T10:00" is no date; to_datetime reads it'
    assert message("to_number", (SYMBOL,), NUMBER, "2024-02-30") == '"2024-02-30" is no number'


def test_a_float_text_beyond_all_floats_is_out_of_range() -> None:
    assert message("to_float", (SYMBOL,), FLOAT, "-1e400") == '"-1e400" is out of range: a float reaches 1.7976931348623157e+308'


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**15), max_value=10**15), st.integers(0, 3))
def test_to_decimal_rounds_half_to_even(value: Decimal, scale: int) -> None:
    found = one("to_decimal", (SYMBOL,), Type.DECIMALS[scale], f" {value:f}")
    assert found == Decimal(round(Fraction(value) * 10**scale)) / 10**scale
    assert found.as_tuple().exponent == -scale


def test_to_decimal_is_exact_where_a_text_is_long() -> None:
    assert one("to_decimal", (SYMBOL,), CENTS, "0.125" + "0" * 5000 + "1") == Decimal("0.13")
    assert one("to_decimal", (SYMBOL,), CENTS, "0.125" + "0" * 5000) == Decimal("0.12")


@pytest.mark.parametrize("text", ["", "1e3", "nan", "1,50", "."])
def test_a_text_that_is_no_decimal_has_none(text: str) -> None:
    assert message("to_decimal", (SYMBOL,), CENTS, text) == f'"{text}" is no decimal(2)'


def test_a_decimal_of_too_many_digits_is_out_of_range() -> None:
    assert "out of range" in message("to_decimal", (SYMBOL,), CENTS, "92233720368547758.08")
    assert "out of range" in message("to_decimal", (SYMBOL,), CENTS, "9" * 6000)
    assert one("to_decimal", (SYMBOL,), CENTS, "92233720368547758.07") == Decimal("92233720368547758.07")


def test_to_bool_reads_true_and_false_and_nothing_else() -> None:
    found = compute("to_bool", (SYMBOL,), BOOL, [("true",), (" false ",), ("True",), ("1",)])
    assert found[:2] == [True, False]
    assert [row.message for row in found[2:]] == ['"True" is neither true nor false', '"1" is neither true nor false']


@given(st.one_of([st.tuples(st.just(type_), strategy) for type_, strategy in OF_TYPE.items()]))
def test_to_string_and_back_gives_the_value(pair: tuple[Type, Any]) -> None:
    type_, value = pair
    text = one("to_string", (type_,), SYMBOL, value)
    assert isinstance(text, str)
    back = {NUMBER: "to_number", UNSIGNED: "to_unsigned", FLOAT: "to_float", BOOL: "to_bool", DATE: "to_date", DATETIME: "to_datetime"}
    found = text if type_ is SYMBOL else one(back.get(type_, "to_decimal"), (SYMBOL,), type_, text)
    if type_ is FLOAT and math.isfinite(value):  # six digits behind the point
        assert math.isclose(found, value, abs_tol=5e-7)
    else:
        assert found == value or (found != found and value != value)


@pytest.mark.parametrize(
    "type_, value, text",
    [
        (NUMBER, -3, "-3"),
        (FLOAT, 0.1, "0.100000"),
        (FLOAT, -1e20, "-100000000000000000000.000000"),
        (FLOAT, 1e-9, "0.000000"),
        (FLOAT, math.inf, "inf"),
        (FLOAT, math.nan, "nan"),
        (BOOL, True, "true"),
        (DATE, date(2024, 5, 1), "2024-05-01"),
        (DATETIME, datetime(2024, 5, 1, 12, tzinfo=UTC), "2024-05-01T12:00:00Z"),
        (DATETIME, datetime(2024, 5, 1, 12, 0, 0, 1, tzinfo=UTC), "2024-05-01T12:00:00.000001Z"),
        (CENTS, Decimal("-0.5"), "-0.50"),
    ],
)
def test_to_string_has_one_form_for_each_value(type_: Type, value: Any, text: str) -> None:
    assert one("to_string", (type_,), SYMBOL, value) == text


# --- dates -----------------------------------------------------------------------------------------------------------------


@given(st.lists(st.tuples(times), max_size=5))
def test_parts_of_times_and_their_days(rows: list[tuple[datetime]]) -> None:
    for name in ("year", "month", "day"):
        assert compute(name, (DATETIME,), NUMBER, rows) == [getattr(time, name) for (time,) in rows]
    assert compute("to_date", (DATETIME,), DATE, rows) == [time.date() for (time,) in rows]


@given(days, st.integers(-4_000_000, 4_000_000) | numbers)
def test_a_day_that_many_days_later(day: date, count: int) -> None:
    found = one("add_days", (DATE, NUMBER), DATE, day, count)
    ordinal = day.toordinal() + count
    if 1 <= ordinal <= date.max.toordinal():
        assert found == date.fromordinal(ordinal)
        assert one("days_between", (DATE, DATE), NUMBER, day, found) == count
    else:
        assert found.message == f"{count} days later is out of range: a date goes from day -719162 (0001-01-01) to 2932896 (9999-12-31)"


@given(times, st.integers(-(10**12), 10**12) | numbers)
def test_a_time_that_many_seconds_later(time: datetime, count: int) -> None:
    found = one("add_seconds", (DATETIME, NUMBER), DATETIME, time, count)
    microseconds = (time - datetime.min.replace(tzinfo=UTC)) // timedelta(microseconds=1) + count * 10**6
    if 0 <= microseconds <= (datetime.max - datetime.min) // timedelta(microseconds=1):
        assert found == datetime.min.replace(tzinfo=UTC) + timedelta(microseconds=microseconds)
        assert one("seconds_between", (DATETIME, DATETIME), NUMBER, time, found) == count
    else:
        assert found.message.startswith(f"{count} seconds later is out of range: a datetime lies within the years 1 to 9999")


@given(st.lists(st.tuples(times, times), max_size=5))
def test_seconds_between_times_are_whole_ones_towards_zero(rows: list[tuple[datetime, datetime]]) -> None:
    found = compute("seconds_between", (DATETIME, DATETIME), NUMBER, rows)
    assert found == [math.trunc(Fraction((end - start) // timedelta(microseconds=1), 10**6)) for start, end in rows]


@given(st.lists(st.tuples(days), max_size=5))
def test_parts_of_days_and_their_midnights(rows: list[tuple[date]]) -> None:
    for name in ("year", "month", "day"):
        assert compute(name, (DATE,), NUMBER, rows) == [getattr(day, name) for (day,) in rows]
    assert compute("to_datetime", (DATE,), DATETIME, rows) == [datetime(day.year, day.month, day.day, tzinfo=UTC) for (day,) in rows]


@given(numbers | st.integers(-800_000, 3_000_000))
def test_a_number_is_a_date_by_its_days(number: int) -> None:
    found = one("to_date", (NUMBER,), DATE, number)
    try:
        expected = EPOCH.date() + timedelta(days=number)
    except OverflowError:
        assert isinstance(found, Failed) and found.message.startswith(f"{number} is out of range")
    else:
        assert found == expected


@given(numbers | st.integers(-(10**17), 3 * 10**17))
def test_a_number_is_a_datetime_by_its_microseconds(number: int) -> None:
    found = one("to_datetime", (NUMBER,), DATETIME, number)
    try:
        expected = EPOCH + timedelta(microseconds=number)
    except OverflowError:
        assert isinstance(found, Failed) and found.message.startswith(f"{number} is out of range")
    else:
        assert found == expected


def test_the_first_and_the_last_time_are_times_and_those_beside_them_are_not() -> None:
    first, last = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    ends = [(time - EPOCH) // timedelta(microseconds=1) for time in (first, last)]
    found = compute("to_datetime", (NUMBER,), DATETIME, [(ends[0] - 1,), (ends[0],), (ends[1],), (ends[1] + 1,)])
    assert found[1:3] == [first, last]
    assert isinstance(found[0], Failed) and isinstance(found[3], Failed)
    found = compute("to_date", (NUMBER,), DATE, [(-719_163,), (-719_162,), (2_932_896,), (2_932_897,)])
    assert found[1:3] == [date.min, date.max]
    assert isinstance(found[0], Failed) and isinstance(found[3], Failed)


def test_dates_and_times_of_texts() -> None:
    assert one("to_date", (SYMBOL,), DATE, " 2024-02-29 ") == date(2024, 2, 29)
    assert one("to_datetime", (SYMBOL,), DATETIME, "2024-02-29T01:30:00+02:00") == datetime(2024, 2, 28, 23, 30, tzinfo=UTC)
    assert message("to_date", (SYMBOL,), DATE, "2023-02-29") == "the calendar has no day 2023-02-29"
    assert message("to_date", (SYMBOL,), DATE, "29.2.2024") == '"29.2.2024" is no date'
    assert message("to_datetime", (SYMBOL,), DATETIME, "noon") == '"noon" is no datetime'


# --- in general ------------------------------------------------------------------------------------------------------------


def test_a_result_that_no_file_could_hold_is_no_value() -> None:
    half = UserFunction("half", (NUMBER,), SYMBOL, lambda number: chr(0xD800 + number) if number < 3 else "whole")
    found = compute("half", (NUMBER,), SYMBOL, [(1,), (3,)], {"half": half})
    assert isinstance(found[0], Failed) and "half a surrogate pair" in found[0].message
    assert found[1] == "whole"


def test_no_rows_give_no_results() -> None:
    for name, types, result in (("cat", (SYMBOL, SYMBOL), SYMBOL), ("year", (DATE,), NUMBER), ("to_string", (CENTS,), SYMBOL)):
        codes, failures = ColumnFunctions(Values()).compute(name, types, result, [np.empty(0, np.int64)] * len(types))
        assert codes.tolist() == [] and failures == {}


def test_a_function_that_the_kernel_computes_is_none_of_columns() -> None:
    for name, types in (("+", (NUMBER, NUMBER)), ("max", (NUMBER, NUMBER)), ("to_number", (FLOAT,))):
        with pytest.raises(InternalError, match="is no function of columns"):
            compute(name, types, NUMBER, [(0,) * len(types)])


# --- the user's functions --------------------------------------------------------------------------------------------------


def user(function: Callable[..., Any], types: tuple[Type, ...], result: Type, columns: bool = False) -> dict[str, UserFunction]:
    return {"f": UserFunction("f", types, result, function, columns)}


@given(st.lists(st.tuples(numbers, texts), max_size=5))
def test_a_function_of_values_is_called_for_each_row(rows: list[tuple[int, str]]) -> None:
    calls: list[tuple[int, str]] = []

    def f(number: int, text: str) -> str:
        calls.append((number, text))
        return text * (number % 3)

    found = compute("f", (NUMBER, SYMBOL), SYMBOL, rows, user(f, (NUMBER, SYMBOL), SYMBOL))
    assert found == [text * (number % 3) for number, text in rows]
    assert calls == rows


@given(st.one_of([st.tuples(st.just(type_), st.lists(strategy, max_size=4)) for type_, strategy in OF_TYPE.items()]), st.booleans())
def test_values_of_every_type_go_in_and_come_out(pair: tuple[Type, list[Any]], columns: bool) -> None:
    type_, column = pair
    found = compute("f", (type_,), type_, [(value,) for value in column], user(lambda argument: argument, (type_,), type_, columns))
    assert all(value == expected or (value != value and expected != expected) for value, expected in zip(found, column, strict=True))


def test_columns_are_numpy_arrays_that_nobody_can_write_to() -> None:
    kinds = {NUMBER: "i8", UNSIGNED: "u8", FLOAT: "f8", BOOL: "?", DATE: "M8[D]", DATETIME: "M8[us]", SYMBOL: "O", CENTS: "O"}
    examples = {NUMBER: -1, UNSIGNED: 2**64 - 1, FLOAT: -0.5, BOOL: True, DATE: date.max, DATETIME: EPOCH, SYMBOL: "é", CENTS: Decimal(1)}
    seen: list[np.ndarray[Any, Any]] = []

    def f(*arrays: np.ndarray[Any, Any]) -> list[int]:
        seen.extend(arrays)
        return [0]

    types = tuple(kinds)
    assert compute("f", types, NUMBER, [tuple(examples.values())], user(f, types, NUMBER, True)) == [0]
    for type_, array in zip(types, seen, strict=True):
        assert array.dtype == np.dtype(kinds[type_]) and array.shape == (1,)
        assert not array.flags.writeable
    assert [array.tolist()[0] for array in seen[:5]] == [-1, 2**64 - 1, -0.5, True, date.max]
    assert seen[-2][0] == "é" and seen[-1][0] == Decimal("1.00")


def test_what_a_function_raises_is_told_for_its_row() -> None:
    def f(number: int) -> int:
        if number == 2:
            raise ValueError("bad\n  thing")
        if number == 3:
            raise KeyError
        return 10 // number

    values = Values()
    functions = ColumnFunctions(values, user(f, (NUMBER,), NUMBER))
    found = computed(functions, values, "f", (NUMBER,), NUMBER, [(0,), (1,), (2,), (3,), (5,)])
    assert found[1] == 10 and found[4] == 2
    messages = [found[row].message for row in (0, 2, 3)]
    assert messages == ["ZeroDivisionError: integer division or modulo by zero", "ValueError: bad thing", "KeyError"]
    assert isinstance(functions.exceptions["ValueError: bad thing"], ValueError)
    assert isinstance(functions.exceptions["KeyError"], KeyError)


def test_an_exception_that_cannot_say_what_it_is_still_has_a_message() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no words")

    def f(number: int) -> int:
        raise Mute if number else Exception("x" * 1000)

    found = compute("f", (NUMBER,), NUMBER, [(1,), (0,)], user(f, (NUMBER,), NUMBER))
    assert found[0].message == "Mute"
    assert found[1].message.startswith("Exception: xxx") and len(found[1].message) == 300


def test_only_the_last_exceptions_are_kept() -> None:
    def f(number: int) -> int:
        raise ValueError(f"no {number % 20}")

    values = Values()
    functions = ColumnFunctions(values, user(f, (NUMBER,), NUMBER))
    found = computed(functions, values, "f", (NUMBER,), NUMBER, [(number,) for number in range(1000)])
    assert len(functions.exceptions) == 16
    assert found[-1].message in functions.exceptions


@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize(
    "result, type_, told",
    [
        (None, NUMBER, "returned None"),
        (True, NUMBER, "the result True is no number"),
        (1.0, NUMBER, "the result 1.0 is no number"),
        ("1", NUMBER, 'the result "1" is no number'),
        (2**63, NUMBER, "the result 9223372036854775808 is out of range: a number goes from -9223372036854775808 to 9223372036854775807"),
        (-1, UNSIGNED, "the result -1 is out of range: an unsigned number goes from 0 to 18446744073709551615"),
        (2**53 + 1, FLOAT, "the result 9007199254740993 has no exact float; write it with a decimal point to have it rounded"),
        (1, SYMBOL, "the result 1 is no symbol"),
        (b"a", SYMBOL, "the result b'a' is no symbol"),
        (1, BOOL, "the result 1 is no bool"),
    ],
)
def test_results_are_held_to_their_type(result: object, type_: Type, told: str, columns: bool) -> None:
    f = (lambda array: [result] * len(array)) if columns else (lambda number: result)
    found = compute("f", (NUMBER,), type_, [(1,), (2,)], user(f, (NUMBER,), type_, columns))
    assert [row.message for row in found] == [told, told]


def test_a_bad_result_of_a_column_spoils_no_other_row() -> None:
    found = compute("f", (NUMBER,), SYMBOL, [(1,), (2,), (3,)], user(lambda array: ["a", None, "c"], (NUMBER,), SYMBOL, True))
    assert (found[0], found[1].message, found[2]) == ("a", "returned None", "c")


def test_a_column_may_come_back_as_anything_that_numpy_or_arrow_has() -> None:
    import pyarrow as pa

    cases: list[tuple[Type, Callable[[np.ndarray[Any, Any]], Any], list[Any]]] = [
        (NUMBER, lambda array: (array * 2).astype(np.int8), [2, 4]),
        (NUMBER, lambda array: pa.array(array), [1, 2]),
        (FLOAT, lambda array: array / 2, [0.5, 1.0]),
        (BOOL, lambda array: array > 1, [False, True]),
        (SYMBOL, lambda array: array.astype(str), ["1", "2"]),
        (SYMBOL, lambda array: tuple(map(str, array.tolist())), ["1", "2"]),
        (SYMBOL, lambda array: pa.array(["x", "y"]), ["x", "y"]),
        (DATE, lambda array: array.astype("datetime64[D]"), [date(1970, 1, 2), date(1970, 1, 3)]),
        (DATETIME, lambda array: array.astype("datetime64[s]"), [EPOCH + timedelta(seconds=1), EPOCH + timedelta(seconds=2)]),
        (CENTS, lambda array: [Decimal(number).scaleb(-2) for number in array.tolist()], [Decimal("0.01"), Decimal("0.02")]),
    ]
    for type_, f, expected in cases:
        assert compute("f", (NUMBER,), type_, [(1,), (2,)], user(f, (NUMBER,), type_, True)) == expected


@pytest.mark.parametrize(
    "result, told",
    [
        ([1, 2], "TypeError: returned 2 results for 1 row"),
        (7, "TypeError: returned 7 and no array"),
        ("ab", 'TypeError: returned "ab" and no array'),
        (None, "TypeError: returned a missing value and no array"),
        (np.zeros((1, 1)), "TypeError: returned an array of 2 dimensions instead of 1"),
    ],
)
def test_a_function_of_columns_returns_one_result_a_row(result: object, told: str) -> None:
    (found,) = compute("f", (NUMBER,), NUMBER, [(1,)], user(lambda array: result, (NUMBER,), NUMBER, True))
    assert found.message == told


@given(st.lists(st.integers(-3, 20), max_size=40, unique=True), st.sets(st.integers(-3, 20), max_size=4))
def test_a_function_of_columns_fails_only_for_the_rows_that_it_fails_on(numbers: list[int], bad: set[int]) -> None:
    calls: list[int] = []

    def f(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        calls.append(len(array))
        for number in array.tolist():
            if number in bad:
                raise ValueError(f"{number} is bad")
        return array * 10

    found = compute("f", (NUMBER,), NUMBER, [(number,) for number in numbers], user(f, (NUMBER,), NUMBER, True))
    for number, result in zip(numbers, found, strict=True):
        if number in bad:
            assert result.message == f"ValueError: {number} is bad"
        else:
            assert result == number * 10
    failing = len(bad & set(numbers))
    assert len(calls) <= (1 + 2 * failing * math.ceil(math.log2(len(numbers) + 1)) if numbers else 0)


def test_a_function_of_columns_that_writes_to_its_argument_is_told_so() -> None:
    def f(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        array += 1
        return array

    for type_ in (NUMBER, UNSIGNED, FLOAT):
        (found,) = compute("f", (type_,), type_, [(1,)], user(f, (type_,), type_, True))
        assert "read-only" in found.message


@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, MemoryError])
def test_an_interrupt_passes_through_at_once(error: type[BaseException], columns: bool) -> None:
    calls = 0

    def f(_: object) -> int:
        nonlocal calls
        calls += 1
        raise error

    values = Values()
    functions = ColumnFunctions(values, user(f, (NUMBER,), NUMBER, columns))
    with pytest.raises(error):
        computed(functions, values, "f", (NUMBER,), NUMBER, [(1,), (2,), (3,)])
    assert calls == 1 and not functions.calling and not functions.exceptions


def test_calling_is_true_within_a_call_and_in_its_thread_only() -> None:
    values = Values()
    seen: list[bool] = []

    def f(number: int) -> int:
        other = threading.Thread(target=lambda: seen.append(functions.calling))
        other.start()
        other.join()
        seen.append(functions.calling)
        return number

    functions = ColumnFunctions(values, user(f, (NUMBER,), NUMBER))
    computed(functions, values, "f", (NUMBER,), NUMBER, [(1,)])
    assert seen == [False, True]
    assert not functions.calling


def test_a_function_that_comes_later_is_known() -> None:
    values = Values()
    functions = ColumnFunctions(values)
    functions.known.update(user(lambda number: -number, (NUMBER,), NUMBER))
    assert computed(functions, values, "f", (NUMBER,), NUMBER, [(3,)]) == [-3]
