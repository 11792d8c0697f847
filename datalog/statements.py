"""What is typed into the REPL, cut into statements.

A statement ends with a full stop: a point that no word follows, as in `p(1.5).`, or that follows a closing parenthesis. A
declaration or a directive, which has none, and a command end with their line.

Where a full stop was forgotten, a statement ends before the next one, so that only the one without is lost. That is a line which
begins, no further to the right, with what cannot go on: `?-`, a directive, or behind a whole literal a name with arguments.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from datalog.syntax.operators import LEVELS, PREFIX_WORDS

Kind = Literal["command", "query", "change", "commit", "abort", "clauses"]

TOKEN = re.compile(
    r"""(?P<blank>\s+|//[^\n]*|/\*.*?\*/)|(?P<open>/\*)|"(?:[^"\\\n]|\\[^\n])*"?|(?P<stop>(?<=\))\.|\.(?!\w))|\w+|.""",
    re.DOTALL,
)
DIRECTIVE = re.compile(r"\.[A-Za-z_]\w*")
BEGUN = re.compile(r"\?-|\.(?:decl|type|input|output|printsize)\b")
BEGUN_BEHIND_LITERAL = re.compile(
    r"(?P<sign>[+^-])?(?P<name>[A-Za-z_?][\w?]*(?:\.[A-Za-z_?][\w?]*)*)\s*[(\[]|(?:commit|abort)\s*\.|:[a-z]+(?![\w(\[])"
)
OPERATORS = {*PREFIX_WORDS, *(name for level in LEVELS.values() for name in level)}


@dataclass(frozen=True, slots=True)
class Statement:
    """A stretch of the input; `clauses` holds one or more clauses that are added together. One that is not `complete` lacks its end."""

    kind: Kind
    start: int
    end: int
    complete: bool = True


def split_statements(text: str) -> tuple[list[Statement], int]:
    """The statements of a text, and where its unfinished rest begins (the text's end, if nothing is unfinished)."""
    found: list[Statement] = []
    position = blank_end(text, 0)
    while position < len(text):
        end, complete = statement_end(text, position)
        if end is None:
            return found, position
        kind = kind_of(text[position:end])
        if kind == "clauses" and complete and found and found[-1].kind == "clauses" and found[-1].complete:
            found[-1] = Statement(kind, found[-1].start, end)
        else:
            found.append(Statement(kind, position, end, complete))
        position = blank_end(text, end)
    return found, len(text)


def kind_of(statement: str) -> Kind:
    if statement.startswith(":") and not statement.startswith(":-"):
        return "command"
    if statement.startswith("?-"):
        return "query"
    if statement[0] in "+-^":
        return "change"
    if re.fullmatch(r"commit\s*\.?", statement):
        return "commit"
    return "abort" if re.fullmatch(r"abort\s*\.?", statement) else "clauses"


def statement_end(text: str, position: int) -> tuple[int | None, bool]:
    """Where the statement ends that begins at `position`, and whether it is complete; None if the text ends before it does."""
    if text.startswith(":", position) and not text.startswith(":-", position):
        line_end = text.find("\n", position)
        return line_end if line_end >= 0 else len(text), True
    directive, line = DIRECTIVE.match(text, position), Line(text, position)
    position = directive.end() if directive else position
    while position < len(text):
        token = TOKEN.match(text, position)
        assert token
        if token["open"]:
            return None, False
        if directive and line.depth <= 0 and "\n" in (token["blank"] or ""):
            return position, True
        if token["stop"] and not directive:
            return token.end(), True
        if not directive and line.ends_before(token):
            return line.end, False
        line.pass_over(token)
        position = token.end()
    return (position, True) if directive and line.depth <= 0 else (None, False)


class Line:
    """What has been read of a statement, as far as it tells whether a line can go on with it."""

    def __init__(self, text: str, start: int) -> None:
        self._text, self._column = text, column_of(text, start)
        self._change = text[start] in "+-^"
        self._compares = False  # the literal that is being read is a comparison, whose term a sign may continue
        self._last = ""
        self.depth, self.end = 0, start

    def ends_before(self, token: re.Match[str]) -> bool:
        """Whether a token, a line's first, begins another statement."""
        start, text = token.start(), self._text
        if token["blank"] or not self._last or "\n" not in text[self.end : start] or column_of(text, start) > self._column:
            return False
        if BEGUN.match(text, start):
            return True
        begun = BEGUN_BEHIND_LITERAL.match(text, start)
        whole = self._last[-1] in ')]}"' or (re.match(r"\w", self._last) and self._last not in OPERATORS)
        if self.depth > 0 or not whole or begun is None or begun["name"] in OPERATORS:
            return False
        return not begun["sign"] or self._change or not self._compares

    def pass_over(self, token: re.Match[str]) -> None:
        if token["blank"]:
            return
        self._last, self.end = token[0], token.end()
        self.depth += (token[0] in "([{") - (token[0] in ")]}")
        if self.depth == 0:
            self._compares = token[0] in "=<>" or (self._compares and token[0] not in ",;")


def column_of(text: str, position: int) -> int:
    return position - text.rfind("\n", 0, position)


def blank_end(text: str, position: int) -> int:
    """Where blanks and comments that begin at `position` end."""
    while (token := TOKEN.match(text, position)) and token["blank"]:
        position = token.end()
    return position
