"""What is typed into the REPL, cut into statements.

A statement ends with a full stop: a point that no word follows, as in `p(1.5).`, or that follows a closing parenthesis. A
declaration or a directive, which has none, and a command end with their line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["command", "query", "change", "commit", "abort", "clauses"]

TOKEN = re.compile(
    r"""(?P<blank>\s+|//[^\n]*|/\*.*?\*/)|(?P<open>/\*)|"(?:[^"\\\n]|\\[^\n])*"?|(?P<stop>(?<=\))\.|\.(?!\w))|\w+|.""",
    re.DOTALL,
)
DIRECTIVE = re.compile(r"\.[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class Statement:
    """A stretch of the input; `clauses` holds one or more clauses that are added together."""

    kind: Kind
    start: int
    end: int


def split_statements(text: str) -> tuple[list[Statement], int]:
    """The statements of a text, and where its unfinished rest begins (the text's end, if nothing is unfinished)."""
    found: list[Statement] = []
    position = blank_end(text, 0)
    while position < len(text):
        end = statement_end(text, position)
        if end is None:
            return found, position
        kind = kind_of(text[position:end])
        if kind == "clauses" and found and found[-1].kind == "clauses":
            found[-1] = Statement(kind, found[-1].start, end)
        else:
            found.append(Statement(kind, position, end))
        position = blank_end(text, end)
    return found, len(text)


def kind_of(statement: str) -> Kind:
    if statement.startswith(":") and not statement.startswith(":-"):
        return "command"
    if statement.startswith("?-"):
        return "query"
    if statement[0] in "+-^":
        return "change"
    if re.fullmatch(r"commit\s*\.", statement):
        return "commit"
    return "abort" if re.fullmatch(r"abort\s*\.", statement) else "clauses"


def statement_end(text: str, position: int) -> int | None:
    """Where the statement ends that begins at `position`; None if the text ends before it does."""
    if text.startswith(":", position) and not text.startswith(":-", position):
        line_end = text.find("\n", position)
        return line_end if line_end >= 0 else len(text)
    directive, depth = DIRECTIVE.match(text, position), 0
    position = directive.end() if directive else position
    while position < len(text):
        token = TOKEN.match(text, position)
        assert token
        if token["open"]:
            return None
        if directive:
            depth += (token[0] == "(") - (token[0] == ")")
            if depth <= 0 and "\n" in (token["blank"] or ""):
                return position
        elif token["stop"]:
            return token.end()
        position = token.end()
    return position if directive and depth <= 0 else None


def blank_end(text: str, position: int) -> int:
    """Where blanks and comments that begin at `position` end."""
    while (token := TOKEN.match(text, position)) and token["blank"]:
        position = token.end()
    return position
