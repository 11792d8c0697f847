"""How values are written: reads the spelling of a literal, and gives every value its one canonical spelling.

Numbers are 64-bit: `number` is signed, `unsigned` is not. Escapes in strings are those of C: `\\xHH` takes exactly two hex digits
and an octal escape one to three octal digits; both name a character by its code point.
"""

from __future__ import annotations

import math
import re

from datalog.syntax.tree import Constant, Span

SMALLEST, LARGEST = -(2**63), 2**63 - 1
LARGEST_UNSIGNED = 2**64 - 1
MOST_DIGITS = 400  # more than any number in range needs, fewer than Python refuses to read

NUMBERS = "numbers are 12, 0xff, 0b101, 12u, 1.5 and 1e-3"  # a hint

BOOLS = {"true": True, "false": False}

SHORT_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", '"': '"', "\\": "\\", "'": "'", "?": "?"}
ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|([0-7]{1,3})|(.))", re.DOTALL)
WRITTEN = {
    **{code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0))},
    **{ord(SHORT_ESCAPES[letter]): f"\\{letter}" for letter in 'ntrabfv"\\'},
}


class BadLiteral(Exception):
    """A literal that names no value; `start` and `end` mark the culprit inside the spelling."""

    def __init__(self, message: str, start: int, end: int, hint: str = "") -> None:
        super().__init__(message)
        self.message, self.start, self.end, self.hint = message, start, end, hint


def read_constant(written: str, span: Span) -> Constant:
    """The constant that a literal stands for: a quoted string, `true` or `false`, or a number with an optional minus directly before it."""
    if len(written) < 19 and written.isdigit() and (written[0] != "0" or len(written) == 1):
        return Constant(int(written), "number", "", span)  # most numbers are such
    if written[0] == '"':
        body = written[1:-1]
        if body.isascii() and body.isprintable() and "\\" not in body:
            return Constant(body, "symbol", "", span)
        constant = Constant(_unescape(body), "symbol", "", span)
    elif written in BOOLS:
        return Constant(BOOLS[written], "bool", "", span)
    else:
        constant = _read_number(written, span)
    if spell(constant) == written:
        return constant
    return Constant(constant.value, constant.type, written, span)


def placeholder(written: str, span: Span) -> Constant:
    """Stands for a bad literal in the tree of a program that is refused anyway."""
    return Constant("", "symbol", "", span) if written[0] == '"' else Constant(0, "number", "", span)


def spell(constant: Constant) -> str:
    """The canonical spelling of a constant's value, which reads back as the same value and type."""
    match constant.value, constant.type:
        case str() as text, _:
            return f'"{text.translate(WRITTEN)}"'
        case value, "bool":
            return "true" if value else "false"
        case value, "unsigned":
            return f"{value}u"
        case value, "float":
            assert math.isfinite(value), "infinity and NaN have no spelling"
            return repr(float(value))
        case value, _:
            return str(value)


def _read_number(written: str, span: Span) -> Constant:
    digits = written.removeprefix("-").lower()
    end = len(written)
    if digits.count(".") == 3:
        return Constant(_read_address(written, digits), "number", "", span)
    if digits.endswith("u"):
        if written.startswith("-"):
            raise BadLiteral(f"{_short(written)} is negative, and `unsigned` has no negative numbers", 0, end)
        value = _read_integer(digits[:-1])
        if value is None or value > LARGEST_UNSIGNED:
            raise BadLiteral(f"{_short(written)} does not fit in 64 bits", 0, end, f"`unsigned` goes up to {LARGEST_UNSIGNED}")
        return Constant(value, "unsigned", "", span)
    if not digits.startswith("0x") and ("." in digits or "e" in digits):
        real = float(written)
        if math.isinf(real):
            raise BadLiteral(f"{_short(written)} is too large for a float", 0, end, "floats have 64 bits and go up to about 1.8e308")
        return Constant(real, "float", "", span)
    value = _read_integer(digits)
    signed = None if value is None else -value if written.startswith("-") else value
    if signed is None or not SMALLEST <= signed <= LARGEST_UNSIGNED:
        hint = f"`number` goes from {SMALLEST} to {LARGEST}"
        raise BadLiteral(f"{_short(written)} does not fit in 64 bits", 0, end, hint)
    # Beyond LARGEST it can only be an unsigned: the types decide, as for Soufflé.
    return Constant(signed, "number", "", span)


def _read_address(written: str, digits: str) -> int:
    """The number of an address such as 10.0.0.1, its four bytes taken for a signed integer, as Soufflé does."""
    parts = [int(part[:MOST_DIGITS]) for part in digits.split(".")]
    if max(parts) > 255:
        raise BadLiteral(f"{_short(written)} is no address", 0, len(written), "its four parts go from 0 to 255")
    value = int.from_bytes(bytes(parts), "big", signed=True)
    return -value if written.startswith("-") else value


def _read_integer(digits: str) -> int | None:
    """None if there are so many digits that no 64-bit number can be meant."""
    base = {"0x": 16, "0b": 2}.get(digits[:2], 10)
    significant = (digits if base == 10 else digits[2:]).lstrip("0")
    return None if len(significant) > MOST_DIGITS else int(significant or "0", base)


def _unescape(body: str) -> str:
    def replace(match: re.Match[str]) -> str:
        hexadecimal, octal, letter = match.groups()
        if hexadecimal:
            return chr(int(hexadecimal, 16))
        start, end = match.start() + 1, match.end() + 1  # counts the opening quote
        if octal:
            if int(octal, 8) > 0xFF:
                raise BadLiteral(f"`\\{octal}` is beyond the last octal escape `\\377`", start, end)
            return chr(int(octal, 8))
        if letter not in SHORT_ESCAPES:
            hint = "`\\x` takes two hexadecimal digits" if letter == "x" else "a backslash itself is written `\\\\`"
            raise BadLiteral(f"`\\{letter}` is no escape sequence", start, end, hint)
        return SHORT_ESCAPES[letter]

    return ESCAPE.sub(replace, body)


def _short(written: str) -> str:
    return written if len(written) <= 40 else f"{written[:37]}…"
