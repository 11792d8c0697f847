"""What primitives compute, by Python's own integers, fractions, dates and regular expressions.

Unsigned are taken modulo 2⁶⁴, and numbers where they wrap around; `/` truncates, decimals are fractions rounded half to even at their
scale. Float operations follow IEEE 754, with -0.0 = 0.0, except that nothing is divided by zero unless numbers wrap around.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

from tests.oracle.functors import FUNCTORS
from tests.oracle.rules import Value

RANGES = {"number": (-(2**63), 2**63 - 1), "unsigned": (0, 2**64 - 1)}
BITS = 2**64
INVERTIBLE = frozenset({"+", "-"})
_ARITHMETIC = frozenset({"+", "-", "*", "/", "%", "^"})
_INTEGER = re.compile(r"([+-]?)(0[xX][0-9a-fA-F]+|0[bB][01]+|[0-9]+)")
_DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)")
_FLOAT = re.compile(rf"({_DECIMAL.pattern})([eE][+-]?[0-9]+)?")
_SPECIAL = re.compile(r"[+-]?(inf|infinity|nan)", re.IGNORECASE)
_DATETIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6})?)?(Z|[+-][0-9]{2}:?[0-9]{2})?")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class OracleArithmeticError(ArithmeticError):
    """A satisfying assignment needs a value that does not exist."""


class NoValue(OracleArithmeticError):
    """There is no value, and so the literal does not hold; that is no error."""


wraps: ContextVar[bool] = ContextVar("wraps", default=False)  # whether arithmetic is that of the machine


def plain(value: float) -> float:
    """The value itself, except that there is one zero and one NaN, which is one object and so equal to itself in a row."""
    return math.nan if value != value else value + 0.0


def ordered(value: Any) -> tuple[bool, Any]:
    """What values are compared by: NaN is the greatest float."""
    return (True, 0.0) if value != value else (False, value)


def scale_of(type: str) -> int | None:
    """The scale of `decimal(…)`; None for another type."""
    return int(type[8:-1]) if type.startswith("decimal(") else None


def compute(name: str, values: list[Any], type: str) -> Value:
    """One operation with a result of `type`. Raises OracleArithmeticError if the result does not exist or its type does not hold it."""
    if name.startswith("@"):
        called: Value = FUNCTORS[name[1:]].call(*values)
        return called
    if name in ("-", "neg") and len(values) == 1:
        return wrapped(-Fraction(values[0]), type, f"-{values[0]}") if type != "float" else plain(-float(values[0]))
    if name in _ARITHMETIC:
        left, right = values
        if type == "symbol":
            return str(left + right)
        return _arithmetic(name, left, right, type)
    if name in _NAMED:
        return _NAMED[name](*values)
    if name == "abs":
        return wrapped(abs(Fraction(values[0])), type, f"abs({values[0]})") if type != "float" else abs(float(values[0]))
    if name in ("min", "max"):
        least: Value = (min if name == "min" else max)(values, key=ordered)
        return least
    if name in _LOGICAL:
        truth = _LOGICAL[name](*map(bool, values))
        return truth if type == "bool" else int(truth)
    if name in _BITWISE:
        return _pattern(_BITWISE[name](*(value % BITS for value in values)), type)
    if name in ("bshl", "bshr", "bshru"):
        value, places = values[0], values[1] % 64
        if name == "bshl":
            return _pattern(value << places, type)
        return _pattern((value if name == "bshr" else value % BITS) >> places, type)
    return _converted(name, values[0], type)


def range_of(arguments: list[Any], type: str) -> Iterator[Value]:
    """from, from + step, … before the end; the step is 1, or -1 where the end is less. With a step of 0: from, if that is not the end."""
    first, end = Fraction(arguments[0]), Fraction(arguments[1])
    step = Fraction(arguments[2]) if len(arguments) == 3 else Fraction(1 if first <= end else -1)
    if step == 0:
        step = end - first or Fraction(1)
    while first < end if step > 0 else first > end:
        yield float(first) if type == "float" else fitting(first, type, "range")
        first += step


def inverse(name: str, arguments: list[Any], place: int, result: Any, type: str) -> Value | None:
    """The only value of the argument at `place` for which the operation may give `result`; None if there is none."""
    if type == "float" or name not in INVERTIBLE:
        raise ValueError(f"{name} on {type} has no inverse")
    result = Fraction(result)
    if len(arguments) == 1:
        exact = -result
    elif name == "+":
        exact = result - Fraction(arguments[1 - place])
    else:
        exact = result + Fraction(arguments[1]) if place == 0 else Fraction(arguments[0]) - result
    try:
        return wrapped(exact, type, name)
    except OracleArithmeticError:
        return None


def wrapped(exact: Fraction, type: str, shown: str) -> Value:
    """The value of arithmetic: of unsigned, and of numbers where they wrap around, the last 64 bits."""
    if type == "unsigned" or (type == "number" and wraps.get()):
        low, _ = RANGES[type]
        return (int(exact) - low) % BITS + low
    return fitting(exact, type, shown)


def fitting(exact: Fraction, type: str, shown: str) -> Value:
    """An exact value in the form of an integer or decimal type, rounded half to even. Raises OracleArithmeticError beyond 64 bits."""
    scale = scale_of(type)
    if scale is None:
        low, high = RANGES[type]
        if exact.denominator == 1 and low <= exact <= high:
            return int(exact)
        raise OracleArithmeticError(f"{shown} overflows {type}")
    number = round(exact * 10**scale)
    if not -(2**63) <= number < 2**63:
        raise OracleArithmeticError(f"{shown} overflows {type}")
    return Decimal(number).scaleb(-scale)


def spelled(value: Any) -> str:
    """What to_string gives."""
    match value:
        case bool():
            return "true" if value else "false"
        case datetime():
            return f"{value.replace(tzinfo=None).isoformat()}Z"
        case date():
            return value.isoformat()
        case Decimal():
            return f"{value:f}"
        case float():
            return repr(value)
    return str(value)


def _arithmetic(name: str, left: Any, right: Any, type: str) -> Value:
    shown = f"{left} {name} {right}"
    if name in "/%" and right == 0:
        if type != "float" or not wraps.get():
            raise OracleArithmeticError(shown)
        return math.nan if left == 0 or left != left else math.copysign(math.inf, left)
    if type == "float":
        return _float(name, float(left), float(right))
    a, b = Fraction(left), Fraction(right)
    match name:
        case "+":
            return wrapped(a + b, type, shown)
        case "-":
            return wrapped(a - b, type, shown)
        case "*":
            return wrapped(a * b, type, shown)
        case "^":
            if right >= 0 and (type == "unsigned" or wraps.get()):
                return wrapped(Fraction(pow(left, right, BITS)), type, shown)
            return fitting(_power(int(left), int(right), shown), type, shown)
        case "/":
            return wrapped(Fraction(math.trunc(a / b)) if scale_of(type) is None else a / b, type, shown)
    return fitting(a - b * math.trunc(a / b), type, shown)


def _power(base: int, exponent: int, shown: str) -> Fraction:
    if base in (0, 1, -1):
        if base == 0 and exponent < 0:
            raise OracleArithmeticError(shown)
        return Fraction(base ** (abs(exponent) % 2 if base == -1 else int(exponent != 0)))
    if exponent > 64:
        raise OracleArithmeticError(f"{shown} overflows")
    return Fraction(base**exponent) if exponent >= 0 else Fraction(0)


def _float(name: str, left: float, right: float) -> float:
    if name == "^":
        try:
            return plain(math.pow(left, right))
        except OverflowError:
            return -math.inf if left < 0 and right % 2 == 1 else math.inf
        except ValueError:
            return math.inf if left == 0.0 else math.nan
    functions = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "%": math.fmod}
    return plain(float(functions[name](left, right)))


def _pattern(value: int, type: str) -> int:
    """The 64 bits of `value` as a value of `type`."""
    bits = value % BITS
    return bits - BITS if type == "number" and bits >= BITS // 2 else bits


def _substr(text: str, first: int, length: int) -> str:
    last = len(text) if length < 0 else first + length
    return "".join(character for place, character in enumerate(text) if 0 <= first <= place < last)


def _match(pattern: str, text: str) -> bool:
    """Of patterns that Python reads as C++ does, or that both refuse."""
    try:
        return re.fullmatch(pattern, text) is not None
    except re.error:
        raise NoValue(pattern) from None


def _later(start: Any, **count: int) -> Value:
    try:
        later: Value = start + timedelta(**count)
    except OverflowError:
        raise OracleArithmeticError(f"{start} and {count}") from None
    return later


_NAMED: dict[str, Callable[..., Value]] = {
    "to_string": lambda value: f"{value:.6f}" if isinstance(value, float) else spelled(value),
    "cat": lambda *texts: "".join(texts),
    "strlen": len,
    "substr": _substr,
    "contains": lambda part, text: part in text,
    "match": _match,
    "lower": lambda text: text.lower(),
    "upper": lambda text: text.upper(),
    "trim": lambda text: text.strip(),
    "replace": lambda text, old, new: new.join(text.split(old)) if old else text,
    "add_days": lambda day, count: _later(day, days=count),
    "days_between": lambda start, end: end.toordinal() - start.toordinal(),
    "add_seconds": lambda time, count: _later(time, seconds=count),
    "seconds_between": lambda start, end: math.trunc(Fraction((end - start) // timedelta(microseconds=1), 10**6)),
    "year": lambda day: int(day.year),
    "month": lambda day: int(day.month),
    "day": lambda day: int(day.day),
}
_LOGICAL: dict[str, Callable[..., bool]] = {
    "land": lambda left, right: left and right,
    "lor": lambda left, right: left or right,
    "lxor": operator.ne,
    "lnot": operator.not_,
}
_BITWISE: dict[str, Callable[..., int]] = {"band": operator.and_, "bor": operator.or_, "bxor": operator.xor, "bnot": operator.invert}


def _converted(name: str, value: Any, type: str) -> Value:
    """`to_…` of one value."""
    shown = f"{name}({value!r})"
    try:
        match name:
            case "to_number" | "to_unsigned":
                if wraps.get() and isinstance(value, int) and not isinstance(value, bool):
                    return wrapped(Fraction(value), type, shown)
                return fitting(Fraction(_whole(value)), type, shown)
            case "to_float":
                return plain(float(Fraction(value))) if not isinstance(value, str | float) else _float_of(value)
            case "to_decimal":
                return fitting(Fraction(_formed(value, _DECIMAL) if isinstance(value, str) else value), type, shown)
            case "to_bool":
                return {"true": True, "false": False}[value] if isinstance(value, str) else bool(value)
            case "to_date":
                if isinstance(value, datetime):
                    return value.date()
                return date.fromisoformat(value) if isinstance(value, str) else _EPOCH.date() + timedelta(days=value)
            case "to_datetime":
                if isinstance(value, str):
                    found = datetime.fromisoformat(_formed(value, _DATETIME))
                    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
                if isinstance(value, date):
                    return datetime(value.year, value.month, value.day, tzinfo=UTC)
                return _EPOCH + timedelta(microseconds=value)
    except (ValueError, KeyError, OverflowError, ZeroDivisionError):
        raise OracleArithmeticError(shown) from None
    raise ValueError(f"no primitive: {name}")


def _formed(text: str, form: re.Pattern[str]) -> str:
    """The text without blanks around it, if it has the form."""
    if form.fullmatch(text.strip()) is None:
        raise ValueError
    return text.strip()


def _float_of(value: str | float) -> float:
    """The nearest float to a number's text; one that is greater than all floats is none."""
    if isinstance(value, float) or _SPECIAL.fullmatch(value.strip()):
        return plain(float(value))
    nearest = float(_formed(value, _FLOAT))
    if math.isinf(nearest):
        raise OverflowError
    return plain(nearest)


def _whole(value: Any) -> int:
    """The integer of a conversion. Raises ValueError or OverflowError if there is none."""
    match value:
        case str():
            form = _INTEGER.fullmatch(value.strip())
            if form is None:
                raise ValueError
            digits = form[2].lower()
            base = 16 if digits.startswith("0x") else 2 if digits.startswith("0b") else 10
            return int(form[1] + digits[2 if base != 10 else 0 :], base)
        case datetime():
            return (value - _EPOCH) // timedelta(microseconds=1)
        case date():
            return (value - _EPOCH.date()).days
    whole: int = math.trunc(value)
    return whole
