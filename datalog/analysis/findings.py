"""The errors of one file, collected while the analysis goes on, and the source lines that they show."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

from datalog.errors import Diagnostic, ProgramError
from datalog.syntax.tree import Span

_STRING_OR_GAP = re.compile(r'("(?:\\.|[^"\\])*")|(?:\s|//[^\n]*|/\*.*?\*/)+', re.DOTALL)


class Findings:
    """Collects diagnostics against one source text; the first word about a place and message wins."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._found: dict[tuple[str, int, int, str], Diagnostic] = {}

    def add(self, span: Span, message: str, hint: str = "") -> None:
        """Report `message` at `span`."""
        line = self._line(span.start).removesuffix("\r") if span.line else ""
        end = span.end_column if span.end_line == span.line else len(line) + 1
        diagnostic = Diagnostic(message, span.file, span.line, span.column, line, max(1, end - span.column), hint)
        self._found.setdefault((span.file, span.line, span.column, message), diagnostic)

    def _line(self, offset: int) -> str:
        """The line of the text around an offset; by its number it might not be found, for files may be included in the text."""
        end = self._text.find("\n", offset)
        return self._text[self._text.rfind("\n", 0, offset) + 1 : end if end >= 0 else None]

    def raise_if_any(self) -> None:
        """Raise one ProgramError that carries everything found, in the order of the text."""
        if self._found:
            raise ProgramError(sorted(self._found.values(), key=lambda found: (found.line, found.column)))

    def one_line(self, span: Span) -> str:
        """What stands at `span`, without its comments and on one line; empty if there is no text."""

        return _STRING_OR_GAP.sub(lambda found: found[1] or " ", self._text[span.start : span.end]).strip()


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint that names the known name nearest to `name`, or nothing."""
    near = difflib.get_close_matches(name, list(known), 1, 0.6)
    return f"did you mean `{near[0]}`?" if near else ""


def place(span: Span) -> str:
    """How another place is named in a message."""
    return f"line {span.line}" if span.line else "generated code"
