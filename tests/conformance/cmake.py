"""Reads the calls that a CMakeLists.txt makes at its top level, on Linux and with everything installed.

Bodies of functions are passed over: their calls are made by others. Conditions are names, `NOT`, and `MATCHES`; another kind is
an error, lest tests go missing silently.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

VARIABLES = {"CMAKE_SYSTEM_NAME": "Linux", "SOUFFLE_USE_ZLIB": "ON", "SOUFFLE_USE_SQLITE": "ON", "SOUFFLE_DOMAIN_64BIT": "ON", "UNIX": "1"}
UNTRUE = ("", "0", "OFF", "NO", "FALSE", "N", "IGNORE", "NOTFOUND")

_TOKEN = re.compile(r'\s+|#[^\n]*|(?P<word>"(?:[^"\\]|\\.)*"|[()]|[^\s()#"]+)', re.DOTALL)
_REFERENCE = re.compile(r"\$\{(\w+)\}")

Call = tuple[str, list[str]]


def calls(path: Path) -> list[Call]:
    """The calls that are made, as names in lower case with their arguments, in order."""
    return list(_made(_written(path.read_text(encoding="utf-8"))))


def _written(text: str) -> Iterator[Call]:
    words = [match["word"] for match in _TOKEN.finditer(text) if match["word"]]
    at = 0
    while at < len(words):
        name, depth, arguments = words[at], 1, []
        at += 2
        while depth:
            depth += (words[at] == "(") - (words[at] == ")")
            if depth:
                arguments.append(words[at].strip('"'))
            at += 1
        yield name.lower(), arguments


def _made(written: Iterator[Call]) -> Iterator[Call]:
    functions = 0
    branches: list[bool] = []
    for name, arguments in written:
        if name in ("function", "endfunction"):
            functions += 1 if name == "function" else -1
        elif functions:
            continue
        elif name == "if":
            branches.append(all(branches) and holds(arguments))
        elif name == "else":
            branches[-1] = all(branches[:-1]) and not branches[-1]
        elif name == "endif":
            branches.pop()
        elif all(branches):
            yield name, arguments


def holds(condition: Sequence[str]) -> bool:
    """Whether a condition of `if` does."""
    if condition and condition[0] == "NOT":
        return not holds(condition[1:])
    if len(condition) == 3 and condition[1] == "MATCHES":
        return re.search(condition[2], _REFERENCE.sub(lambda match: VARIABLES.get(match[1], ""), condition[0])) is not None
    if len(condition) != 1:
        raise ValueError(f"a condition of another kind: {' '.join(condition)}")
    word = condition[0]
    return VARIABLES.get(word, "").upper() not in UNTRUE if word.upper() not in ("TRUE", "ON", "1") else True


def after(arguments: Sequence[str], keyword: str) -> list[str]:
    """The words behind a keyword, up to the next one; keywords are in capitals. Empty where it does not stand."""
    if keyword not in arguments:
        return []
    found = []
    for word in arguments[arguments.index(keyword) + 1 :]:
        if re.fullmatch(r"[A-Z][A-Z_]{3,}", word):
            break
        found.append(word)
    return found
