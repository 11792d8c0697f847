"""Says what is wrong where the parser stopped, and finds the place from which reading may go on.

A clause that is broken is left at its full stop; a broken directive, which has none, at the end of its line; and where a full
stop was forgotten, the word that stands first on its line begins the next clause.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import pairwise, takewhile

from datalog.errors import Diagnostic
from datalog.syntax.aggregates import AGGREGATES, OTHER_NAMES
from datalog.syntax.constants import NUMBERS
from datalog.syntax.skim import DIRECTIVES, TOKEN, tokens
from datalog.syntax.source import Source

WORD = re.compile(r"[A-Za-z_?]")
OPERAND = re.compile(r'[A-Za-z0-9_?"]')
BAD_NUMBER = re.compile(r"[0-9]+[A-Za-z_]")
UNKNOWN_DIRECTIVE = re.compile(r"\.[A-Za-z_]\w*")

QUALITY = re.compile(r"[A-Za-z_?][\w?-]*")
QUALITIES = ("brie", "btree", "btree_delete", "choice-domain", "eqrel", "inline", "magic", "no_inline", "no_magic", "overridable")
BEHIND_COLUMNS = re.compile(rf"(?:\)|\b(?:{'|'.join(QUALITIES)}))\s+$")

PREPROCESSOR_HINT = "this line is for a C preprocessor, which was not run"
COMMENT_HINT = "a comment begins with `//`, or stands between `/*` and `*/`"

# What people write who come from another language; the first that matches the text at the error gives the hint.
CONFUSIONS = (
    (r"==", "equality is written `=`"),
    (r"=<|=>", "these comparisons are written `<=` and `>=`"),
    (r"<>|/=|\\=", "inequality is written `!=`"),
    (r"&&?|/\\|and\b", "`and` is written as a comma"),
    (r"\|\|?|\\/|or\b", "`or` is written as a semicolon"),
    (r"\\\+|~|¬|not\b", "negation is written `!`"),
    (r"'", "strings stand in double quotes"),
    (r"#[ \t]*(?:define|undef|include|if|else|elif|endif|error|pragma)\b", PREPROCESSOR_HINT),
    (r"#|--", COMMENT_HINT),
    (r"\?-", "a program holds no queries: ask them in the REPL or with `query`"),
)

SPELLINGS = {
    "RPAR": "`)`", "COMMA": "`,`", "DOT": "`.`", "SEMICOLON": "`;`", "COLON": "`:`", "EQUAL": "`=`", "ARROW": "`:-`",
    "SUBTYPE": "`<:`", "LPAR": "`(`", "NAME": "a name", "STRING": "a string", "NUMBER": "a number", "QUALIFIER": "a qualifier",
    "RSQB": "`]`", "LBRACE": "`{`", "RBRACE": "`}`", "LANGLE": "`<`", "RANGLE": "`>`", "VBAR": "`|`", "TOTALS_END": "`>>`",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mistake:
    """A finding, and the offset from which to read on (None: there is nothing left)."""

    diagnostic: Diagnostic
    resume: int | None
    also: tuple[Diagnostic, ...] = ()  # of the same mistake, at another place


def explain(source: Source, clause: int, stopped: int, expected: frozenset[str]) -> Mistake:
    """What is wrong at `stopped`, the token on which the parser stopped or the text's end.

    The broken clause begins behind `clause`; `expected` names the terminals that could have stood instead. Takes time in
    proportion to the text from `clause` to where reading goes on.
    """
    text = source.code
    if unfinished := _unfinished(source, stopped):
        return unfinished
    if stopped == len(text) and {"FACT", "RBRACE"} <= expected and (opening := _open_component(text)) is not None:
        hint = "its clauses stand between braces, and the closing one is missing"
        end = source.diagnostic("the text ends within a component", last := len(text.rstrip()), last + 1, "write `}`")
        return Mistake(source.diagnostic("this component does not end", opening, opening + len(".comp"), hint), None, (end,))
    before = list(takewhile(lambda token: token.start() < stopped, tokens(text, clause)))
    found = next(tokens(text, stopped), None)
    begins_line = found is not None and (not before or "\n" in text[before[-1].end() : found.start()])
    if before and "FACT" in expected and (begins_line or before[-1].group() in (".", "{", "}")):
        before = []  # that clause is complete: the parser only had to see one token more to know it
    if misspelt := _misspelt_quality(source, before, found, expected):
        return misspelt
    if found is None or (before and "$END" not in expected and _begins_clause(source, before[0], found, begins_line)):
        return _cut_short(source, before, found, expected)
    return _misplaced(source, before, found, expected)


def _misspelt_quality(source: Source, before: list[re.Match[str]], found: re.Match[str] | None, expected: frozenset[str]) -> Mistake | None:
    """A word behind the columns of a declaration: the declaration could have ended there, and the word been the predicate of a fact."""
    if len(before) != 1 or expected - {"LSQB"} != {"LPAR"}:
        return None
    start = before[0].start()
    if not BEHIND_COLUMNS.search(source.code[source.line_start(start) : start]):
        return None
    written = QUALITY.match(source.code, start)
    word = written.group() if written else before[0].group()
    close = get_close_matches(word, QUALITIES, 1)
    hint = f"did you mean `{close[0]}`?" if close else f"known are {', '.join(QUALITIES)}"
    resume = found.start() if found is not None and found.group("directive") else source.line_end(start)
    return Mistake(source.diagnostic(f"`{word}` is no qualifier of a predicate", start, start + len(word), hint), resume)


def _cut_short(source: Source, before: list[re.Match[str]], found: re.Match[str] | None, expected: frozenset[str]) -> Mistake:
    """The clause stops before it is complete, because the text ends or the next clause begins."""
    end = before[-1].end() if before else len(source.code)
    if "DOT" in expected and "$END" not in expected:
        message, hint = "the full stop is missing", "a clause ends with a full stop: `.`"
    else:
        message = f"expected {_wanted(expected)} before the {'next clause' if found else 'end of the text'}"
        hint = _hint_of_part([token.group() for token in before], expected)
    return Mistake(source.diagnostic(message, end, end + 1, hint), found.start() if found else None)


def _misplaced(source: Source, before: list[re.Match[str]], found: re.Match[str], expected: frozenset[str]) -> Mistake:
    """A token that cannot stand where it does."""
    start, token = found.start(), found.group()
    if not before and (word := UNKNOWN_DIRECTIVE.match(source.code, start)):
        found = word
        message, hint = _unknown_directive(word.group())
    elif BAD_NUMBER.match(token):
        message, hint = f"{_quoted(token)} is no number", NUMBERS
    else:
        wanted = "a clause" if not before and "FACT" in expected else _wanted(expected)
        message, hint = f"expected {wanted}, found {_quoted(token)}", _hint(source.code, start, before, expected)
    if not before and hint in (COMMENT_HINT, PREPROCESSOR_HINT):
        resume: int | None = source.line_end(start)
    elif not before and token == ")":
        resume = found.end()
    else:
        resume = _resume(source.code, before[0].start() if before else start, start)
    return Mistake(source.diagnostic(message, start, found.end(), hint), resume)


def _begins_clause(source: Source, first: re.Match[str], found: re.Match[str], begins_line: bool) -> bool:
    """A directive does, and a word that stands first on its line and is not indented against the clause before."""
    if found.group("directive"):
        return True
    return begins_line and bool(WORD.match(found.group())) and source.place(found.start())[1] <= source.place(first.start())[1]


def _unfinished(source: Source, stopped: int) -> Mistake | None:
    """A comment or string that does not end swallows what follows, so it is said first."""
    text = source.code
    if text.startswith("/*", stopped):
        hint = "a comment that begins with `/*` ends with `*/`"
        return Mistake(source.diagnostic("this comment does not end", stopped, stopped + 2, hint), None)
    token = TOKEN.match(text, stopped)
    if token is None or token.group() != '"':
        return None
    end = source.line_end(stopped)
    line = text[stopped:end].rstrip()
    hint = 'a string ends with `"` on the line on which it begins; a line break in it is written `\\n`'
    diagnostic = source.diagnostic("this string does not end", stopped, stopped + len(line), hint)
    return Mistake(diagnostic, end if line.endswith(".") else _resume(text, end, end))


def _open_component(text: str) -> int | None:
    """Where the innermost component begins that is open at the end of the text."""
    open_braces: list[int | None] = []
    begun: int | None = None
    for token in tokens(text, 0):
        match token.group():
            case ".comp":
                begun = token.start()
            case "{":
                open_braces.append(begun)
                begun = None
            case "}" if open_braces:
                open_braces.pop()
    return next((start for start in reversed(open_braces) if start is not None), None)


def _resume(text: str, clause: int, stopped: int) -> int | None:
    """Where the clause after the broken one begins; `clause` is where the broken one does."""
    depth = 0
    directive = False
    last = clause
    for token in tokens(text, clause):
        if directive and depth <= 0 and last >= stopped and "\n" in text[last : token.start()]:
            return token.start()
        if token.start() > max(clause, stopped - 1) and token.group("directive"):
            return token.start()
        if token.start() == clause and token.group().startswith("."):
            directive = True
        elif token.start() >= stopped and token.group() == ".":
            return token.end()
        depth += {"(": 1, ")": -1}.get(token.group(), 0)
        last = token.end()
    return None


def _wanted(expected: frozenset[str]) -> str:
    if "BANG" in expected:
        return "a literal"
    if expected >= {"LBRACE", "NAME"}:
        return "`{` or an atom"
    if expected >= {"WILDCARD", "STRING"}:
        closing = [SPELLINGS[name] for name in ("RPAR", "RSQB") if name in expected]
        return _listed(["a term", *closing])
    if _is_half_literal(expected):
        return "a comparison such as `<` or `=`"
    if "FACT" in expected:
        # A directive is complete, but might go on.
        choices = [SPELLINGS[name] for name in ("LPAR", "COMMA", "EQUAL", "SUBTYPE", "LANGLE", "VBAR", "QUALIFIER") if name in expected]
        return _listed([*choices, "the next clause"])
    hidden = {"EQUAL"} if "COMPARE" in expected or expected >= {"LPAR", "COMMA"} else set()
    return _listed([SPELLINGS[name] for name in SPELLINGS if name in expected - hidden]) or "the end"


def _listed(choices: list[str]) -> str:
    return " or ".join(filter(None, [", ".join(choices[:-1]), *choices[-1:]]))


def _is_half_literal(expected: frozenset[str]) -> bool:
    """Whether a term stands where a literal should, so that only a comparison can go on."""
    return "COMPARE" in expected and not expected & {"DOT", "RPAR", "RBRACE", "COLON", "COMMA"}


def _hint(text: str, stopped: int, before: list[re.Match[str]], expected: frozenset[str]) -> str:
    rest = [token.group() for token in takewhile(lambda token: token.group() != ".", tokens(text, stopped))]
    words = [token.group() for token in before]
    found, previous = rest[0] if rest else ".", words[-1] if words else ""
    if "ARROW" in expected and found in (":", "=", "-", ":=", "<=", "=>", "->", "if"):
        return "did you mean `:-`?"
    if words[:1] == [".decl"] and found in ("->", "["):
        return "a functional predicate is declared so: .decl F(x: number) = y: number"
    if hint := _hint_of_aggregate(words, rest, expected):
        return hint
    if words[-3:-1] == ["as", "("] and found == ")":
        return "a value is taken for one of another type with as(x, number)"
    for pattern, hint in CONFUSIONS if words[:1] != [".type"] else ():
        if re.match(pattern, text[stopped : stopped + 12]):
            return hint
    if hint := _hint_of_part(words, expected):
        return hint
    if previous == "not":
        return "negation is written `!`"
    if found in (":-", "<-") and words.count("(") > words.count(")"):
        return "is a `)` missing before the arrow?"
    if found in (":-", "<-"):
        return "is the full stop missing before this clause?"
    if previous in (":-", "<-") and found == ".":
        return "a fact has no arrow: write `p(1).`"
    if found == "%" and expected & {"FACT", "BANG"}:
        return COMMENT_HINT
    if _is_half_literal(expected):
        return "a literal is an atom such as p(x), a negated one, or a comparison such as x < y"
    return ""


def _hint_of_part(words: list[str], expected: frozenset[str]) -> str:
    """What belongs behind the words of a clause so far."""
    previous = words[-1] if words else ""
    if expected - {"LSQB"} == {"LPAR"}:
        if words[-2:-1] == ["@"]:
            return f"a functor of your own is called with parentheses: @{previous}(x)"
        return "an atom has parentheses, also one without terms: p()"
    if words[:1] == [".comp"] and "LBRACE" in expected:
        return "a component has its clauses in braces: .comp C { … }"
    if words[:1] == [".decl"]:
        if previous == "=":
            return "the value of a functional predicate has a name and a type: y: number"
        return "an attribute has a type: x: number" if expected == {"COLON"} else ""
    if previous == "]" and (expected == {"EQUAL"} or _is_half_literal(expected)):
        return "a functional predicate has a value: F[x] = y"
    return ""


def _hint_of_aggregate(words: list[str], rest: list[str], expected: frozenset[str]) -> str:
    """About aggregates and totals that are not quite there; `rest` begins with the token that cannot stand where it does."""
    previous = words[-1] if words else ""
    has_body = any(pair == (":", "{") for pair in pairwise(rest))
    if ("agg", "<") in pairwise(words):
        return "totals stand between double signs: agg<<t = sum(x)>>"
    if "TOTALS_END" in expected:
        return "totals end with `>>`"
    if "<<" in words and expected == {"EQUAL"}:
        return "a total has a name: agg<<t = sum(x)>>"
    if words[-2:-1] == [":"] and expected - {"LSQB"} == {"LPAR"}:
        return "what is more than an atom stands in braces: count : { p(x), x > 1 }"
    if expected >= {"LBRACE", "NAME"} or (
        "COLON" in expected and words[:1] not in ([".decl"], [".plan"], [".comp"], [".type"], [".functor"])
    ):
        return "an aggregate has a body: sum x : { p(x) }"
    if "count" in (previous, *words[-2:-1], _called(words)) and (rest[0] == "*" or (has_body and rest[0] == ":")):
        return "a count has no arguments: count : { p(x) }"
    if has_body and rest[0] == ":":
        if AGGREGATES.get(previous):
            return f"`{previous}` takes {AGGREGATES[previous]} argument{'s' * (AGGREGATES[previous] > 1)} before its colon"
        return f"aggregates are {', '.join(sorted(AGGREGATES))}; one among the arguments of another stands in parentheses"
    if has_body and WORD.match(previous) and OPERAND.match(rest[0]):
        if previous in OTHER_NAMES:
            return f"the aggregate is called `{OTHER_NAMES[previous]}`"
        return f"`{previous}` is no aggregate: these are {', '.join(sorted(AGGREGATES))}"
    return ""


def _called(words: list[str]) -> str:
    """The word before the parentheses with which `words` end, if they do."""
    depth = 0
    for at in range(len(words) - 1, 0, -1):
        depth += {")": 1, "(": -1}.get(words[at], 0)
        if depth <= 0:
            return words[at - 1] if words[at] == "(" else ""
    return ""


def _unknown_directive(word: str) -> tuple[str, str]:
    close = get_close_matches(word[1:], DIRECTIVES, 1)
    hint = f"did you mean `.{close[0]}`?" if close else f"known are {_listed([f'.{known}' for known in DIRECTIVES[:-2]])}"
    return f"`{word}` is no directive", hint


def _quoted(found: str) -> str:
    shown = found if len(found) <= 40 else f"{found[:37]}…"
    return f"`{shown}`" if shown.isprintable() else f"the character {ord(shown[0]):#06x}"
