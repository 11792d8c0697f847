"""Values as text: how numbers, dates, datetimes and decimals are read, and the one spelling that each value has.

`read_…` gives None for a text of another form, and raises ValueError, with a message for users, where the form is right but
there is no such value: February 30, or more digits than the type holds. Nothing is rounded. `spell_value` is what `to_string`
gives, and reading it back gives the value again.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import ROUND_HALF_EVEN, Context, Decimal, Inexact

from datalog.ir.branch import Branch, spell_parts
from datalog.ir.core import PyValue

DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})", re.ASCII)
DATETIME = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]+))?)?(Z|([+-])([0-9]{2}):?([0-9]{2}))?", re.ASCII
)
INTEGER = re.compile(r"([+-]?)(?:0[xX]0*([0-9a-fA-F]+)|0[bB]0*([01]+)|0*([0-9]+))", re.ASCII)
BASES = {2: 16, 3: 2, 4: 10}  # by the group of INTEGER that has the digits
FLOAT = re.compile(r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|(inf(?:inity)?|nan))", re.ASCII | re.IGNORECASE)
DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)", re.ASCII)
GREATEST_SCALE = 18
_LONGEST = 60  # a longer number is shortened in messages
_MOST_DIGITS = 640  # without leading zeros: more are out of range in any base, and int() refuses to look at the longest
_ROUNDING = Context(prec=10_000, rounding=ROUND_HALF_EVEN)
_EXACT = Context(prec=60, traps=[Inexact])


def read_integer(text: str) -> int | None:
    """The integer of a sign if need be, and of digits, hexadecimal behind 0x or binary behind 0b. Of very many digits some are left
    out: the integer is out of every range then, as well."""
    form = INTEGER.fullmatch(text)
    return int(form[1] + form[form.lastindex][:_MOST_DIGITS], BASES[form.lastindex]) if form and form.lastindex else None


def read_float(text: str) -> float | None:
    """The nearest float, or an infinity or NaN that the text names. OverflowError where it is finite and beyond all floats."""
    form = FLOAT.fullmatch(text)
    if form is None:
        return None
    value = float(text)
    if math.isinf(value) and not form[1]:
        raise OverflowError
    return value


def is_one(read: Callable[[str], object], text: str) -> bool:
    """Whether `read`, one of those here, makes something of the text."""
    try:
        return read(text) is not None
    except ValueError:
        return False


def read_date(text: str) -> date | None:
    """The day that `YYYY-MM-DD` spells. ValueError if the calendar has no such day."""
    form = DATE.fullmatch(text)
    if form is None:
        return None
    try:
        return date(*map(int, form.groups()))
    except ValueError:
        raise ValueError(f"the calendar has no day {text}") from None


def read_datetime(text: str) -> datetime | None:
    """The time that `YYYY-MM-DDTHH:MM[:SS[.ffffff]][Z|±HH:MM]` spells, in UTC; a blank may stand for the T, and no zone is UTC.

    ValueError if there is no such time, if it is finer than a microsecond, or not within the years 1 to 9999 in UTC.
    """
    form = DATETIME.fullmatch(text)
    if form is None:
        return None
    day, hour, minute, second, fraction, zone, sign, hours, minutes = form.groups()
    known = read_date(day)
    assert known is not None
    digits = (fraction or "").rstrip("0")
    if len(digits) > 6:
        raise ValueError(f"{text} is finer than a microsecond; a datetime has 6 digits behind the point")
    offset = UTC
    try:
        if zone is not None and zone != "Z":
            if int(minutes) > 59:
                raise ValueError
            offset = timezone((-1 if sign == "-" else 1) * timedelta(hours=int(hours), minutes=int(minutes)))
        clock = (int(hour), int(minute), int(second or 0), int(digits.ljust(6, "0")))
        local = datetime(known.year, known.month, known.day, *clock, offset)
    except ValueError:
        raise ValueError(f"there is no time {text}: a day has hours 00 to 23, minutes and seconds 00 to 59") from None
    try:
        return local.astimezone(UTC)
    except OverflowError:
        raise ValueError(f"{text} is out of range: a datetime lies within the years 1 to 9999 in UTC") from None


def read_decimal(text: str, scale: int) -> Decimal | None:
    """The value that digits with an optional sign and fraction spell, with exactly `scale` digits behind the point.

    ValueError if decimal(`scale`) does not hold it; zeros at the end of a fraction do not count.
    """
    return decimal_of(unscaled(Decimal(text), scale), scale) if DECIMAL.fullmatch(text) else None


def decimal_of(number: int, scale: int) -> Decimal:
    """number / 10^scale, with exactly `scale` digits behind the point."""
    return Decimal(f"{number}E-{scale}")


def unscaled(value: Decimal, scale: int) -> int:
    """value · 10^scale, where that is an integer of 64 bits. Else ValueError, which says what decimal(`scale`) holds."""
    if not value.is_finite():
        raise ValueError(f"{value} is no decimal")
    if not value:
        return 0
    fits = value.adjusted() + scale <= GREATEST_SCALE
    if fits and value.adjusted() > -_LONGEST:  # nearly all: four times as fast as to look at the digits
        try:
            shifted = value.scaleb(scale, _EXACT)
            if shifted == (found := int(shifted)) and -(2**63) <= found < 2**63:
                return found
        except Inexact:
            pass
    sign, numerals, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    if fits:
        digits = "".join(map(str, numerals)).rstrip("0")
        zeros = exponent + len(numerals) - len(digits) + scale
        if zeros < 0:
            raise ValueError(_too_fine(value, -zeros + scale, scale))
        number: int = int(digits) * 10**zeros * (-1 if sign else 1)
        if -(2**63) <= number < 2**63:
            return number
    low, high = (spell_value(decimal_of(bound, scale)) for bound in (-(2**63), 2**63 - 1))
    raise ValueError(f"{_short(value)} is out of range: a decimal({scale}) goes from {low} to {high}")


def _too_fine(value: Decimal, digits: int, scale: int) -> str:
    rounded = spell_value(value.quantize(Decimal(f"1E-{scale}"), context=_ROUNDING))
    wider = f", or declare decimal({digits})" if digits <= GREATEST_SCALE else ""
    have = f"{digits} digit{'' if digits == 1 else 's'}"
    return f"{_short(value)} has {have} behind the point, and a decimal({scale}) has {scale}: round it to {rounded}{wider}"


def _short(value: Decimal) -> str:
    if abs(value.adjusted()) > _LONGEST:
        return str(value)[:_LONGEST] + "…" if len(value.as_tuple().digits) > _LONGEST else str(value)
    text = spell_value(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def spell_value(value: PyValue) -> str:
    """A value as `to_string` gives it: bools true and false, dates ISO, datetimes ISO in UTC with a Z, decimals without exponent,
    records `[1, [2, nil]]` and values of algebraic types `$Add(1, $Zero)` with the texts in them as they are."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        if value.tzinfo is not None:
            value = value.astimezone(UTC).replace(tzinfo=None)
        return value.isoformat() + "Z"
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return f"{value:f}"
    return spell_parts(value, spell_value) if isinstance(value, tuple | Branch | None) else repr(value)
