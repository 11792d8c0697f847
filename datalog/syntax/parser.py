"""Text to tree. One run reports all syntax errors of a text: the parser stops at the first, and starts again behind that clause.

The grammar is `grammar/datalog.lark` in a checkout and `datalog/syntax/datalog.lark` in an installed wheel. It is read at the first
parse, not at import, and Lark keeps its tables in the cache folder for the next process. The parser and its builder are shared, so one
text at a time is parsed; the lock sees to that.
"""

from __future__ import annotations

import os
import sys
import threading
import zlib
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, cast

from datalog.cache_folder import cache_folder
from datalog.errors import Diagnostic, ProgramError
from datalog.syntax.source import Source
from datalog.syntax.tree import Atom, Conjunction, Program

if TYPE_CHECKING:
    from lark import Lark

    from datalog.syntax.builder import Builder

_lock = threading.Lock()


def parse(text: str, file: str = "<program>") -> Program:
    """The tree of a program. Raises ProgramError with every syntax error of the text."""
    program = _parse(text, file, "program", 0)
    assert isinstance(program, Program)
    return program


def parse_literals(text: str, file: str = "<query>") -> Conjunction:
    """The tree of a query such as `path(1, x), !blocked(x)`; a leading `?-` and a final full stop may be there. Raises ProgramError."""
    blank = len(text) - len(text.lstrip())
    query = _parse(text, file, "query", blank + 2 if text.startswith("?-", blank) else 0)
    assert isinstance(query, Conjunction)
    return query


def parse_atom(text: str, file: str = "<atom>") -> Atom:
    """The tree of one atom such as `path(1, 3)`; a final full stop may be there. Raises ProgramError."""
    literals = parse_literals(text, file).literals
    match literals:
        case (Atom() as atom,):
            return atom
    first, last = literals[0].span, literals[-1].span
    raise ProgramError([Source(text, file).diagnostic("expected one atom", first.start, last.end, "an atom is a name with terms: p(1, x)")])


def _parse(text: str, file: str, start: str, base: int) -> Program | Conjunction:
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

    source = Source(text, file)
    diagnostics: list[Diagnostic] = []
    with _lock:
        lark, builder = _parser()
        resume: int | None = base
        while (begin := resume) is not None:
            builder.reset(source, begin)
            try:
                tree = lark.parse(source.code[begin:], start="rest" if start == "program" and diagnostics else start)
                resume = None
            except (UnexpectedToken, UnexpectedCharacters) as error:
                from datalog.syntax.mistakes import explain  # most texts have none

                at_end = isinstance(error, UnexpectedToken) and error.token.type == "$END"
                stopped = len(text) if at_end else begin + (error.pos_in_stream or 0)
                expected = error.interactive_parser.accepts()  # type: ignore[no-untyped-call]  # Lark leaves it without annotations
                mistake = explain(source, builder.finished, stopped, frozenset(expected))
                diagnostics += (mistake.diagnostic, *mistake.also)
                resume = mistake.resume if start == "program" else None
            diagnostics.extend(builder.findings.values())
        builder.reset(Source("", ""))
    if diagnostics:
        raise ProgramError(sorted(diagnostics, key=lambda diagnostic: (diagnostic.line, diagnostic.column)))
    return cast("Program | Conjunction", tree)  # the builder made it; Lark's annotation knows only its own trees


@cache
def _parser() -> tuple[Lark, Builder]:
    from datalog.syntax.builder import Builder

    grammar, builder = _grammar(), Builder()
    kept = _kept(grammar)
    if kept.exists():  # Lark ignores tables that are broken or not of this grammar, and writes them anew
        return _lark(grammar, builder, kept), builder
    # No other process must see half a file.
    new = kept.with_name(f"{kept.name}-{os.getpid()}")
    lark = _lark(grammar, builder, new)
    with suppress(OSError):
        new.replace(kept)
    return lark, builder


def _lark(grammar: str, builder: Builder, tables: Path) -> Lark:
    from lark import Lark

    from datalog.syntax.words import told_apart

    return Lark(
        grammar,
        parser="lalr",
        lexer="contextual",
        start=["program", "rest", "query"],
        maybe_placeholders=False,
        transformer=builder,
        lexer_callbacks={
            "COMMENT": builder.comment,
            "AGGREGATE": builder.aggregate_word,
            "DECL": told_apart,
            "QUALIFIER": told_apart,
            "BRANCH": told_apart,
        },
        cache=str(tables),
    )


def _kept(grammar: str) -> Path:
    """Where the tables of a grammar are kept; those of each version of Lark and of Python have a place of their own."""
    from lark import __version__

    return cache_folder() / f"grammar-{zlib.crc32(grammar.encode()):08x}-{__version__}-{sys.implementation.cache_tag}"


def _grammar() -> str:
    packaged = Path(__file__).with_name("datalog.lark")
    grammar = packaged if packaged.is_file() else Path(__file__).parents[2] / "grammar" / "datalog.lark"
    return grammar.read_text(encoding="utf-8")
