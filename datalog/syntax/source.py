"""A source text with its lines: makes spans from character offsets and diagnostics from either.

A text may have been put together from several files. Lines such as `# 7 "file"` then say where the lines that follow come from
(a 1 behind the name: that file begins here; a 2: it is gone on with), and spans and diagnostics name that place; offsets stay
those of the whole text.

Annotations such as `@[key = value]` and `@![…]` mean nothing to a program, whatever stands in their brackets. Who reads the
program reads `code`, in which blanks stand for them, and for the lines of a preprocessor.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

from datalog.errors import Diagnostic
from datalog.syntax.tree import Span

MARKER = re.compile(
    r'^[ \t]*#[ \t]*(?:line[ \t]+)?(?P<line>[0-9]{1,9})(?:[ \t]+"(?P<file>[^"\n]*)"[ \t]*(?P<flag>[0-9]?)[0-9 \t]*)?[ \t\r]*$', re.MULTILINE
)
ENTERED, LEFT = "1", "2"
_NOT_A_LINE_END = re.compile(r"[^\n]")
ANNOTATED = re.compile(r"@!?\s*\[")
DEEPEST = 8  # brackets in the brackets of an annotation


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the lines from `first` on come from; `includes` are the places of the directives that led there, the innermost first."""

    first: int
    file: str
    line: int
    includes: tuple[str, ...] = ()


@cache
def _annotation() -> re.Pattern[str]:
    """Strings and comments, and as a group an annotation. Compiled where there is one: this takes a while."""
    plain = r"""[^()\[\]{}"/]++|//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\[^\n])*"|/(?![*/])"""
    nested = plain
    for _ in range(DEEPEST):
        nested = rf"{plain}|[(\[{{](?:{nested})*+[)\]}}]"
    return re.compile(rf'"(?:[^"\\\n]|\\[^\n])*"|//[^\n]*|/\*.*?\*/|(@!?\s*\[(?:{nested})*+\])', re.DOTALL)


def _annotations(text: str) -> Iterator[tuple[int, int]]:
    """Where annotations stand."""
    return (match.span() for match in _annotation().finditer(text) if match[1])


class Source:
    """Lines end at a newline character only. Span and diagnostic cost O(log lines)."""

    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self.file = file
        self._lines = text.split("\n")
        self._starts = list(accumulate((len(line) + 1 for line in self._lines), initial=0))[:-1]
        self._origins = self._find_origins() if "#" in text else []
        self.annotations = list(_annotations(text)) if "@" in text and ANNOTATED.search(text) else []
        self.code = self._code() if self._origins or self.annotations else text

    def _code(self) -> str:
        pieces: list[str] = []
        done = 0
        markers = [match.span() for match in MARKER.finditer(self.text)] if self._origins else []
        for start, end in sorted([*markers, *self.annotations]):
            if start >= done:
                pieces += (self.text[done:start], _NOT_A_LINE_END.sub(" ", self.text[start:end]))
                done = end
        return "".join((*pieces, self.text[done:]))

    def _find_origins(self) -> list[Origin]:
        found: list[Origin] = []
        last = Origin(1, self.file, 1)
        for match in MARKER.finditer(self.text):
            first = bisect_right(self._starts, match.start()) + 1
            includes, file = last.includes, match["file"] or last.file
            if match["flag"] == ENTERED:
                includes = (f"{last.file}:{last.line + first - last.first - 1}", *includes)
            elif match["flag"] == LEFT:
                includes = includes[1:]
            last = Origin(first, file, int(match["line"]), includes)
            found.append(last)
        return found

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of a character in this text, both from 1; the offset behind the last character has a place, too."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def origin(self, line: int) -> tuple[str, int]:
        """The file and the line in it from which a line of this text comes."""
        number = bisect_right(self._origins, line, key=lambda origin: origin.first)
        if not number:
            return self.file, line
        origin = self._origins[number - 1]
        return origin.file, origin.line + line - origin.first

    def included_from(self, offset: int) -> str:
        """The places of the directives that included the file of `offset`, as Soufflé's `__INCL__` lists them."""
        number = bisect_right(self._origins, self.place(offset)[0], key=lambda origin: origin.first)
        return ";".join(self._origins[number - 1].includes) if number else ""

    def quoted(self, file: str, line: int) -> str:
        """The line of this text that comes from that line of that file; empty if none does."""
        if not self._origins:
            return self._line(line) if file == self.file else ""
        ends = [*(origin.first - 2 for origin in self._origins), len(self._lines)]  # a marker has a line of its own
        for origin, end in zip([Origin(1, self.file, 1), *self._origins], ends, strict=True):
            there = origin.first + line - origin.line
            if origin.file == file and origin.first <= there <= end:
                return self._line(there)
        return ""

    def line_start(self, offset: int) -> int:
        """The offset at which the line of `offset` begins."""
        return self._starts[bisect_right(self._starts, offset) - 1]

    def line_end(self, offset: int) -> int:
        """The offset of the newline that ends the line of `offset`, or of the text's end."""
        line = bisect_right(self._starts, offset) - 1
        return self._starts[line] + len(self._lines[line])

    def span(self, start: int, end: int) -> Span:
        line, column = self.place(start)
        if end - start < len(self._lines[line - 1]) - column + 2:  # on one line, as nearly all are
            file, there = self.origin(line) if self._origins else (self.file, line)
            return Span(file, start, end, there, column, there, column + end - start)
        end_line, end_column = self.place(end)
        if not self._origins:
            return Span(self.file, start, end, line, column, end_line, end_column)
        file, there = self.origin(line)
        return Span(file, start, end, there, column, self.origin(end_line)[1], end_column)

    def diagnostic(self, message: str, start: int, end: int, hint: str = "") -> Diagnostic:
        """A finding about the characters from `start` up to `end`; the caret stays on the first line of them."""
        line, column = self.place(start)
        file, there = self.origin(line)
        return Diagnostic(message, file, there, column, self._line(line), max(1, end - start), hint)

    def _line(self, line: int) -> str:
        return self._lines[line - 1].rstrip("\r") if 0 < line <= len(self._lines) else ""
