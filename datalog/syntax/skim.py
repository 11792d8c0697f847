"""Tokens as far as looking ahead and skipping need them."""

from __future__ import annotations

import re
from collections.abc import Iterator

DIRECTIVES = (
    "decl", "type", "input", "output", "printsize", "limitsize", "plan", "functor", "pragma", "comp", "init", "override", "include",
    "once", "lattice", "symbol_type", "number_type",
)  # fmt: skip

# Whole strings, comments, directives, names and numbers (with the dots in them); any other character stands for itself, also
# the first one of a string or comment that does not end.
TOKEN = re.compile(
    rf"""(?P<comment>//[^\n]*|/\*.*?\*/)
      | "(?:[^"\\\n]|\\[^\n])*"
      | (?P<directive>\.(?:{"|".join(DIRECTIVES)})\b)
      | \?- | [A-Za-z_?][A-Za-z0-9_?]*(?:\.[A-Za-z_?][A-Za-z0-9_?]*)*
      | [0-9]+(?:\.[0-9]+){{3}} | [0-9][A-Za-z0-9_]*(?:\.[0-9][A-Za-z0-9_]*(?:(?<=[eE])[+-][0-9]+)?)?
      | :[-=] | <- | -> | [<>!=]= | =[<>] | <> | << | >> | && | \|\| | \S""",
    re.VERBOSE | re.DOTALL,
)


def tokens(text: str, start: int) -> Iterator[re.Match[str]]:
    """The tokens from an offset on, without the comments."""
    return (token for token in TOKEN.finditer(text, start) if not token.group("comment"))
