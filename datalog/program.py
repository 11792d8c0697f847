"""A program before it runs: its text, its rules in both forms, and the facts that it starts with."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from datalog.errors import Diagnostic, PlacedError, ProgramError
from datalog.ir.demand import Demand
from datalog.syntax.tree import Directive

if TYPE_CHECKING:
    from datalog.analysis.desugar import Primitives
    from datalog.ir.core import CoreProgram
    from datalog.ir.formulas import Program
    from datalog.reading import Reading
    from datalog.store.values import Values

Words = NDArray[np.int64]

NOTHING = Demand()

STREAM = re.compile(  # what begins a stream of transactions, and no program
    r"""(?:\s|//[^\n]*|%[^\n]*)*(?:[+^-]\s*[A-Za-z_?][\w?.]*\s*[(\[]|(?P<json>\{\s*"(?:insert|delete|upsert|delete_keys|txn)"))"""
)


def read_program(program: str | Path, reading: Reading | None = None) -> tuple[str, str]:
    """The text of a program, with what it includes, and the name of its file; a string is a path if it ends in `.dl` and has one line."""
    text, file = _own_text(program)
    return with_included(text, file, reading), file


def with_included(text: str, file: str, reading: Reading | None = None) -> str:
    """The text with what it includes, and with what a preprocessor makes of it."""
    if "#" not in text and ".include" not in text:
        return text
    from datalog.reading import Reading
    from datalog.sources import complete_text

    return complete_text(text, file, reading or Reading())


def _own_text(program: str | Path) -> tuple[str, str]:
    if isinstance(program, str) and not (program.endswith(".dl") and "\n" not in program):
        return program, "<program>"
    path = Path(program)
    try:
        return path.read_text(encoding="utf-8"), str(path)
    except OSError as error:
        raise ProgramError([Diagnostic(f"cannot read {path}: {error.strerror}", str(path), 0, 0)]) from error
    except UnicodeDecodeError as error:
        raise ProgramError([Diagnostic(f"{path} is not UTF-8: {error.reason} at byte {error.start}", str(path), 0, 0)]) from error


def compile_program(
    text: str, file: str, primitives: Primitives | None = None, settings: Mapping[str, str] | None = None, demand: Demand = NOTHING
) -> tuple[Program, CoreProgram]:
    """A program as quantified rules and as core rules; `primitives` are all that its terms may call (None: those of the language),
    `settings` win over the pragmas of their names (`datalog.analysis.pragmas`),
    `demand` what is wanted on demand beside what the program says.

    Raises ProgramError with everything that is wrong without its facts.
    """
    from datalog.analysis import analyse
    from datalog.directives import find_mistakes
    from datalog.ir.primitives import PRIMITIVES
    from datalog.rewrite import lower
    from datalog.syntax import parse

    try:
        written = parse(text, file)
    except ProgramError as error:
        if stream := STREAM.match(text):
            usage = "--stream FILE --format jsonl" if stream["json"] else "--stream FILE"
            hint = f"this is a stream of transactions, no program: datalog run PROGRAM.dl {usage}"
            raise ProgramError([replace(error.diagnostics[0], hint=hint)]) from None
        raise
    with quoting(text, file):
        try:
            program = analyse(written, PRIMITIVES if primitives is None else primitives, settings or {})
            core = lower(program, demand)
        except ProgramError as error:
            directives = [clause for clause in written.clauses if isinstance(clause, Directive)]
            found = [*error.diagnostics, *find_mistakes(directives)]
            raise ProgramError(sorted(found, key=lambda one: (one.line, one.column))) from error.__cause__
        if mistakes := find_mistakes(program.directives, core.predicates):
            raise ProgramError(mistakes)
    return program, core


def check_program(
    program: str | Path, reading: Reading, demand: Demand = NOTHING, settings: Mapping[str, str] | None = None
) -> tuple[Program, CoreProgram]:
    """A program that is not to run, in both forms. Its functors need no functions, unless it is said where these are.

    Raises ProgramError with everything that is wrong without its facts.
    """
    from datalog.functions import signatures
    from datalog.functors import Functors
    from datalog.ir.functors import called_in
    from datalog.store.values import Values

    functors = Functors(files=reading.functors)
    text, file = read_program(program, reading)
    checked, core = compile_program(text, file, signatures(functors.known), settings, demand)
    if functors.asked_for:
        with quoting(checked.text, file):
            functors.bind(checked.functors, called_in(core.rules, core.strata), Values())
    return checked, core


def given_facts(core: CoreProgram, directory: Path | None, values: Values, missing: str = "error") -> dict[str, Words]:
    """The facts of the text and, given a directory, those of the files of `.input`, by the predicates that store them.

    Rows come in any order, and may come twice. With `missing` = "empty" a file that is not there has none.
    """
    from datalog.errors import MissingFile
    from datalog.io.facts import read_facts

    found: dict[str, list[Words]] = {}
    for name, rows in core.facts.items():
        found.setdefault(name, []).append(values.encode_rows(rows, core.predicates[name].types))
    for directive in core.directives if directory is not None else ():
        for name in directive.predicates if directive.kind == "input" else ():
            assert directory is not None
            predicate = core.predicates[name]
            try:
                codes = read_facts(directive, predicate, directory, values)
            except MissingFile:
                if missing == "error":
                    raise
                continue
            found.setdefault(predicate.base or name, []).append(codes)
    return {name: blocks[0] if len(blocks) == 1 else np.concatenate(blocks) for name, blocks in found.items()}


@contextmanager
def quoting(text: str, file: str) -> Iterator[None]:
    """Quote the line of a program or query in errors that name a place in it and do not know its text."""
    try:
        yield
    except PlacedError as error:
        from datalog.sources import quoted

        raise type(error)([quoted(text, file, one) for one in error.diagnostics]) from error.__cause__
