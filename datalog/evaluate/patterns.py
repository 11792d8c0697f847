"""Regular expressions of `match`: ECMAScript's, as C++ reads them and Soufflé with it, translated for Python's `re`.

What is no such expression is refused, also where Python would read one: named groups, flags, look-behind, `{x}`. Where the two languages
write differently, Python's form is put: `^` and `$` stand for the ends of the text alone, `.` for all but line ends, `\\B` holds in the
empty text, `[]` fits nothing and `[^]` everything, repetitions may be repeated, and classes have names: `[[:digit:]]`.
Letters, digits and blanks of classes are those of ASCII. Unlike there, a character is one of Unicode and not a byte.
"""

from __future__ import annotations

import re
import string

ANYTHING, NOTHING = r"[\s\S]", r"(?!)"
CONTROL = {"0": "\0", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
MOST_COPIES = 99_990  # of what is repeated: C++ makes a state for each, and has 100,000
CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": r" \t",
    "cntrl": r"\x00-\x1f\x7f",
    "d": "0-9",
    "digit": "0-9",
    "graph": r"\x21-\x7e",
    "lower": "a-z",
    "print": r"\x20-\x7e",
    "punct": r"\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e",
    "s": r" \t\n\r\f\v",
    "space": r" \t\n\r\f\v",
    "upper": "A-Z",
    "w": "a-zA-Z0-9_",
    "xdigit": "0-9a-fA-F",
}


class BadPattern(Exception):
    """Why a text is no regular expression."""


def compiled(pattern: str) -> re.Pattern[str]:
    """What `fullmatch` of is what the pattern says. Raises BadPattern."""
    try:
        return re.compile(_Reader(pattern).whole(), re.ASCII)
    except (re.error, OverflowError, RecursionError) as error:
        raise BadPattern(str(error)) from None


class _Reader:
    """A pattern as it is read, from left to right."""

    def __init__(self, pattern: str) -> None:
        self._text, self._at = pattern, 0
        self._groups = 0
        self._open: list[int] = []

    def whole(self) -> str:
        translated = self._alternatives()
        if self._at < len(self._text):
            raise BadPattern(f"nothing begins with {self._text[self._at]}, at character {self._at + 1}")
        return translated

    def _next(self) -> str:
        """The next character, or an empty string."""
        return self._text[self._at : self._at + 1]

    def _taken(self, word: str) -> bool:
        """Whether the word comes next, which then is passed over."""
        there = self._text.startswith(word, self._at)
        self._at += len(word) if there else 0
        return there

    def _character(self, what: str) -> str:
        character = self._next()
        if not character:
            raise BadPattern(f"{what} does not end")
        self._at += 1
        return character

    def _alternatives(self) -> str:
        found = [self._sequence()]
        while self._taken("|"):
            found.append(self._sequence())
        return "|".join(found)

    def _sequence(self) -> str:
        found = ""
        while True:
            if (assertion := self._assertion()) is not None:
                found += assertion
            elif (atom := self._atom()) is not None:
                while (repeated := self._repeated(atom)) is not None:
                    atom = repeated
                found += atom
            else:
                return found

    def _assertion(self) -> str | None:
        """What takes no character, and cannot be repeated."""
        for word, form in (("^", r"\A"), ("$", r"\Z"), ("\\b", r"\b"), ("\\B", r"(?!\b)")):
            if self._taken(word):
                return form
        for word in ("(?=", "(?!"):
            if self._taken(word):
                return f"{word}{self._within()})"
        return None

    def _within(self) -> str:
        """What stands in parentheses, which are closed."""
        inner = self._alternatives()
        if not self._taken(")"):
            raise BadPattern("a parenthesis is not closed")
        return inner

    def _atom(self) -> str | None:
        character = self._next()
        if not character or character in ")|*+?{":
            return None
        self._at += 1
        match character:
            case ".":
                return r"[^\n\r]"
            case "[":
                return self._set()
            case "(" if self._taken("?:"):
                return f"(?:{self._within()})"
            case "(" if self._next() == "?":
                raise BadPattern("behind (? stands one of : = !")
            case "(":
                self._groups += 1
                self._open.append(self._groups)
                inner = self._within()
                self._open.pop()
                return f"({inner})"
            case "\\":
                return self._escape()
            case _:
                return re.escape(character)

    def _escape(self) -> str:
        kind = self._next()
        if kind and kind in "dDsSwW":
            self._at += 1
            return f"\\{kind}"
        if kind != "0" and kind in string.digits and kind:
            number = self._digits()
            if number > self._groups or number in self._open:
                raise BadPattern(f"\\{number} is of no group that ends before it")
            return f"(?:\\{number})"
        return re.escape(self._escaped())

    def _escaped(self) -> str:
        """The character that stands behind a backslash."""
        kind = self._character("a backslash")
        match kind:
            case "c":
                return self._character("\\c")
            case "x" | "u":
                length = 2 if kind == "x" else 4
                digits = self._text[self._at : self._at + length]
                if len(digits) < length or not set(digits) <= set(string.hexdigits):
                    raise BadPattern(f"\\{kind} takes {length} hexadecimal digits")
                self._at += length
                return chr(int(digits, 16))
            case _:
                return CONTROL.get(kind, kind)

    def _digits(self) -> int:
        start = self._at
        while (digit := self._next()) and digit in string.digits:
            self._at += 1
        if not start < self._at <= start + 9:
            raise BadPattern("a number is missing, or too long")
        return int(self._text[start : self._at])

    def _repeated(self, atom: str) -> str | None:
        """The atom with the repetition that comes next; None if none does."""
        sign = self._next()
        if not sign or sign not in "*+?{":
            return None
        self._at += 1
        if sign == "{":
            sign = self._counted()
        lazy = "?" if self._taken("?") else ""
        return f"(?:(?:{atom}){sign}{lazy})"

    def _counted(self) -> str:
        """What stands behind {: `n}`, `n,}` or `n,m}`."""
        least = most = self._digits()
        form = f"{{{least}}}"
        if self._taken(","):
            form = f"{{{least},}}"
            if self._next() != "}":
                most = self._digits()
                form = f"{{{least},{most}}}"
        if not self._taken("}"):
            raise BadPattern("a brace is not closed")
        if most < least or most > MOST_COPIES:
            raise BadPattern(f"{least} to {most} repetitions are none, or too many")
        return form

    # --- sets -----------------------------------------------------------------------------------------------------------------

    def _set(self) -> str:
        """What stands behind [."""
        negated = self._taken("^")
        members: list[str] = []
        last: str | None = None  # a character that may begin a range; an empty text: a class, which must not
        while not self._taken("]"):
            if self._taken("-"):
                if self._next() == "]":
                    members.append(r"\-")
                elif last is None:
                    last = "-"
                    members.append(r"\-")
                elif not last:
                    raise BadPattern("a class begins no range")
                else:
                    end = "-" if self._taken("-") else self._member()
                    if not isinstance(end, str) or end < last:
                        raise BadPattern(f"no range begins with {last}- and ends so")
                    members[-1] = f"{re.escape(last)}-{re.escape(end)}"
                    last = None
                continue
            member = self._member()
            if isinstance(member, str):
                last = member
                members.append(re.escape(member))
            else:
                last = ""
                members.append(member[0])
        inner = "".join(members)
        if not inner:
            return ANYTHING if negated else NOTHING
        return f"[{'^' if negated else ''}{inner}]"

    def _member(self) -> str | tuple[str]:
        """A character, or a class in Python's form."""
        character = self._character("a set in brackets")
        if character == "[" and self._next() in (":", ".", "=") and self._next():
            return self._named(self._character("a set in brackets"))
        if character == "]":
            raise BadPattern("a range has no end")
        if character != "\\":
            return character
        kind = self._next()
        if kind and kind in "dDsSwW":
            self._at += 1
            return (f"\\{kind}",)
        if kind == "B" or (kind and kind in "123456789"):
            raise BadPattern(f"\\{kind} stands in no set")
        return self._escaped()

    def _named(self, mark: str) -> str | tuple[str]:
        """`[:digit:]`, `[=a=]` or `[.a.]`, behind its mark."""
        end = self._text.find(f"{mark}]", self._at)
        name = self._text[self._at : end]
        if end < 0 or mark in name:
            raise BadPattern(f"[{mark} has no end")
        self._at = end + 2
        if mark == ":" and name.lower() in CLASSES:
            return (CLASSES[name.lower()],)
        if mark != ":" and len(name) == 1 and name in string.ascii_letters:
            return name if mark == "." else (f"{name.lower()}{name.upper()}",)
        raise BadPattern(f"nothing is called [{mark}{name}{mark}]")
