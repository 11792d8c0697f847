"""Errors that users see. Every one derives from `DatalogError`; those with a place in a text carry it as fields."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class DatalogError(Exception):
    """Base of all errors that the engine raises on purpose."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding at a place: `line` and `column` count from 1 (0: no place), `text` is the offending source line."""

    message: str
    file: str
    line: int
    column: int
    text: str = ""
    length: int = 1
    hint: str = ""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        lines = [f"{place}: error: {self.message}"]
        if self.text:
            shown = self.text.expandtabs(1)
            lines.append(f"    {shown}")
            lines.append("    " + " " * (self.column - 1) + "^" * max(1, min(self.length, len(shown) - self.column + 1)))
        if self.hint:
            lines.append(f"    hint: {self.hint}")
        return "\n".join(lines)


class PlacedError(DatalogError):
    """An error with one or more places; the fields are those of the first."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        assert diagnostics
        self.diagnostics = tuple(diagnostics)
        first = self.diagnostics[0]
        self.message, self.file, self.line, self.column = first.message, first.file, first.line, first.column
        self.text, self.hint = first.text, first.hint
        super().__init__("\n".join(str(diagnostic) for diagnostic in self.diagnostics))


class ProgramError(PlacedError):
    """The program cannot be parsed, or breaks a rule of the language."""


class DataError(PlacedError):
    """A fact file or a fact has something that its predicate's types do not admit, or cannot be read."""


class MissingFile(DataError):
    """A fact file is not there."""


class StreamError(PlacedError):
    """A transaction stream has a malformed transaction; nothing of that transaction was applied."""


class EvaluationError(PlacedError):
    """A computation of a rule has no result: overflow, division by zero. Names the rule and the binding."""


class SettingError(DatalogError, ValueError):
    """A setting has a value that it cannot have, or, as the order of a rule's variables, does not fit the program."""


class UnknownOption(DatalogError, TypeError):
    """A keyword that a function does not know."""


class NotEvaluated(DatalogError):
    """All rows of a predicate on demand were asked for, and only those are there that something needs."""

    def __init__(self, name: str, columns: Sequence[str]) -> None:
        atom = f"{name}({', '.join(columns)})"
        hint = f'db.query("{atom}") evaluates all of it; `.pragma "magic-transform-exclude" "{name}"` keeps it'
        super().__init__(f"{name} is on demand, and of its rows only those that something asks for are there\n    hint: {hint}")


class UnknownPredicate(DatalogError, KeyError):
    """A name that the program does not know."""

    __str__ = DatalogError.__str__


class FunctionError(DatalogError):
    """A Python function cannot be one of a program's: its name or its types, or it reads the database that calls it."""


class MemoryLimit(DatalogError):
    """The memory that a database may take does not suffice for what it was to do; everything is as it was before.

    `limit` is in bytes, `used` says by what it is taken up, and trees with the roots `unreadable` were just being changed."""

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self.limit, self.used = limit, ""
        self.unreadable: set[int] = set()

    def __str__(self) -> str:
        return f"more than the {self.limit} bytes of memory_limit would be needed" + (f"; taken are {self.used}" if self.used else "")


class RejectedRows(UserWarning):
    """Rows of a fact file that were not loaded; they stand in the file of rejected rows that was named for them."""


class UnreadableText(UserWarning):
    """A symbol in an output file that would not read back: it has the delimiter or a line end in it. As in Soufflé it stands as it is."""


class IgnoredFields(UserWarning):
    """Fields of a fact file behind the last column of its predicate; as in Soufflé nothing is read of them."""


class IgnoredParameter(UserWarning):
    """A parameter of `.input` or `.output` that says nothing here; as in Soufflé it is passed over."""


class IgnoredPragma(UserWarning):
    """A pragma that has no effect here."""


class LikelyTypo(UserWarning):
    """A name that says nothing, and is nearly one that would."""


class OddArgument(UserWarning):
    """A call whose arguments make no sense, which goes on as in Soufflé: a place beyond a text's end, a text that is no pattern."""


class InternalError(DatalogError):
    """An invariant of the engine is broken. Always a bug of ours: please report it."""
