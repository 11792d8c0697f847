"""Says what is wrong where the parser stopped, and finds the place from which reading may go on.

A clause that is broken is left at its full stop; a broken directive, which has none, at the end of its line; and where a full
stop was forgotten, the word that stands first on its line begins the next clause.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from datalog.errors import Diagnostic
from datalog.syntax.source import Source

DIRECTIVES = (".decl", ".type", ".input", ".output", ".printsize", ".symbol_type", ".number_type")

# Tokens as far as skipping needs them: whole strings, comments, directives, names and numbers (with the dots in them); any
# other character stands for itself, also the first one of a string or comment that does not end.
SKIPPED = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
      | "(?:[^"\\\n]|\\[^\n])*"
      | (?P<directive>\.(?:decl|type|input|output|printsize|symbol_type|number_type)\b)
      | [A-Za-z_?][A-Za-z0-9_?]*(?:\.[A-Za-z_?][A-Za-z0-9_?]*)*
      | [0-9][A-Za-z0-9_]*(?:\.[0-9][A-Za-z0-9_]*(?:(?<=[eE])[+-][0-9]+)?)?
      | :- | <- | [<>!]= | \S""",
    re.VERBOSE | re.DOTALL,
)

# What people write who come from another language; the first that matches the text at the error gives the hint.
CONFUSIONS = (
    (r"==", "equality is written `=`"),
    (r"=<|=>", "these comparisons are written `<=` and `>=`"),
    (r"<>|/=|\\=", "inequality is written `!=`"),
    (r"&&?|/\\|and\b", "`and` is written as a comma"),
    (r"\|\|?|\\/|or\b", "`or` is written as a semicolon"),
    (r"\\\+|~|¬|not\b", "negation is written `!`"),
    (r"'", "strings stand in double quotes"),
    (r"#|--", "a comment begins with `//`, or stands between `/*` and `*/`"),
    (r"\?-", "a program holds no queries: ask them in the REPL or with `query`"),
)

SPELLINGS = {
    "RPAR": "`)`", "COMMA": "`,`", "DOT": "`.`", "SEMICOLON": "`;`", "COLON": "`:`", "EQUAL": "`=`", "ARROW": "`:-`",
    "SUBTYPE": "`<:`", "LPAR": "`(`", "$END": "the end", "NAME": "a name", "STRING": "a string", "NUMBER": "a number",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mistake:
    """A finding, and the offset from which to read on (None: there is nothing left)."""

    diagnostic: Diagnostic
    resume: int | None


def explain(source: Source, clause: int, stopped: int, expected: frozenset[str]) -> Mistake:
    """The mistake in the clause that begins behind `clause`, at the token on which the parser stopped (or at the text's end)."""
    text = source.text
    if unfinished := _unfinished(source, stopped):
        return unfinished
    before = [m for m in _tokens(text, clause) if m.start() < stopped and not m.group("comment")]
    found = next((m for m in _tokens(text, stopped) if not m.group("comment")), None)
    begins_line = found is not None and (not before or "\n" in text[before[-1].end() : found.start()])
    begins_clause = found is None or bool(found.group("directive")) or (begins_line and bool(re.match(r"[A-Za-z_?]", found.group())))
    if before and "DOT" in expected and "FACT" not in expected and begins_clause:
        end = before[-1].end()
        hint = "a clause ends with a full stop: `.`"
        return Mistake(source.diagnostic("the full stop is missing", end, end + 1, hint), found.start() if found else None)
    wanted = _wanted(expected)
    if found is None:
        end = before[-1].end() if before else len(text)
        return Mistake(source.diagnostic(f"the text ends where {wanted} should follow", end, end + 1), None)
    message = f"expected {wanted}, found {_quoted(found.group())}"
    previous = before[-1].group() if before else ""
    hint = _hint(text, stopped, found.group(), previous, expected)
    if not before and found.group() == "." and (word := re.match(r"\.[A-Za-z_]\w*", text[stopped:])):
        message, hint = _unknown_directive(word.group())
        found = word
    elif re.match(r"[0-9]", found.group()):
        message = f"{_quoted(found.group())} is no number"
        hint = hint or "numbers are 12, 0xff, 0b101, 12u, 1.5 and 1e-3; names begin with a letter"
    diagnostic = source.diagnostic(message, stopped, stopped + len(found.group()), hint)
    return Mistake(diagnostic, _resume(text, before[0].start() if before else stopped, stopped))


def _unfinished(source: Source, stopped: int) -> Mistake | None:
    """A comment or string that does not end swallows what follows, so it is said first."""
    text = source.text
    if text.startswith("/*", stopped):
        hint = "a comment that begins with `/*` ends with `*/`"
        return Mistake(source.diagnostic("this comment does not end", stopped, stopped + 2, hint), None)
    token = SKIPPED.match(text, stopped)
    if token is None or token.group() != '"':
        return None
    end = text.find("\n", stopped)
    line = text[stopped : None if end < 0 else end].rstrip()
    hint = 'a string ends with `"` on the line on which it begins; a line break in it is written `\\n`'
    diagnostic = source.diagnostic("this string does not end", stopped, stopped + len(line), hint)
    if end < 0:
        return Mistake(diagnostic, None)
    return Mistake(diagnostic, end if line.endswith(".") else _resume(text, end, end))


def _tokens(text: str, start: int) -> Iterator[re.Match[str]]:
    return SKIPPED.finditer(text, start)


def _resume(text: str, clause: int, stopped: int) -> int | None:
    """Where the clause after the broken one begins; `clause` is where the broken one does."""
    depth = 0
    directive = False
    last = clause
    for token in _tokens(text, clause):
        if directive and depth <= 0 and last >= stopped and "\n" in text[last : token.start()]:
            return token.start()
        if token.start() > stopped and token.group("directive"):
            return token.start()
        if token.start() == clause and token.group().startswith("."):
            directive = True
        elif token.start() >= stopped and token.group() == ".":
            return token.end()
        depth += {"(": 1, ")": -1}.get(token.group(), 0)
        last = token.end()
    return None


def _wanted(expected: frozenset[str]) -> str:
    if expected >= {"BANG", "TRUTH"}:
        return "a literal"
    if expected >= {"WILDCARD", "STRING"}:
        return "a term" if "RPAR" not in expected else "a term or `)`"
    if "COMPARE" in expected and not expected & {"DOT", "RPAR"}:
        return "a comparison such as `<` or `=`"
    if "FACT" in expected:
        choices = [SPELLINGS[name] for name in ("LPAR", "COMMA") if name in expected]
        return _listed([*choices, "the next clause"]) if choices else "a clause"
    choices = [SPELLINGS[name] for name in SPELLINGS if name in expected and name != "$END"]
    return _listed(choices) or "the end"


def _listed(choices: list[str]) -> str:
    return " or ".join(filter(None, [", ".join(choices[:-1]), *choices[-1:]]))


def _hint(text: str, stopped: int, found: str, previous: str, expected: frozenset[str]) -> str:
    if "ARROW" in expected and found in (":", "=", "-", ":=", "<=", "if"):
        return "did you mean `:-`?"
    around = text[max(0, stopped - 1) : stopped + 2]
    for pattern, hint in CONFUSIONS:
        if re.match(pattern, text[stopped : stopped + 4]) or (previous and previous in "<=" and re.match(pattern, around)):
            return hint
    if previous == "not":
        return "negation is written `!`"
    if found in (":-", "<-"):
        return "is the full stop missing before this clause?"
    if previous in (":-", "<-") and found == ".":
        return "a fact has no arrow: write `p(1).`"
    if "COMPARE" in expected and not expected & {"DOT", "RPAR"}:
        return "a literal is an atom such as p(x), a negated one, or a comparison such as x < y"
    return ""


def _unknown_directive(word: str) -> tuple[str, str]:
    close = get_close_matches(word, DIRECTIVES, 1)
    hint = f"did you mean `{close[0]}`?" if close else f"known are {_listed(list(DIRECTIVES[:5]))}"
    return f"`{word}` is no directive", hint


def _quoted(found: str) -> str:
    shown = found if len(found) <= 40 else f"{found[:37]}…"
    return f"`{shown}`" if shown.isprintable() else f"the character {ord(shown[0]):#06x}"
