"""A source text with its lines: makes spans from character offsets and diagnostics from either."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

from datalog.errors import Diagnostic
from datalog.syntax.tree import Span


class Source:
    """Lines end at a newline character only. Span and diagnostic cost O(log lines)."""

    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self.file = file
        self._lines = text.split("\n")
        self._starts = list(accumulate((len(line) + 1 for line in self._lines), initial=0))[:-1]

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of a character, both from 1; the offset behind the last character has a place, too."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

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
            return Span(self.file, start, end, line, column, line, column + end - start)
        end_line, end_column = self.place(end)
        return Span(self.file, start, end, line, column, end_line, end_column)

    def diagnostic(self, message: str, start: int, end: int, hint: str = "") -> Diagnostic:
        """A finding about the characters from `start` up to `end`; the caret stays on the first line of them."""
        line, column = self.place(start)
        return Diagnostic(message, self.file, line, column, self._lines[line - 1].rstrip("\r"), max(1, end - start), hint)
