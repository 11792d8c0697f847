"""`datalog run`: a program on its facts, and then a stream of transactions.

With a stream, standard output holds nothing but changes, so that it is a stream, too: sizes go to standard error, and
outputs that ask for standard output are seen as changes only. A transaction that cannot be applied changes nothing.
Final contents are written when the stream has ended, not when an error has ended it.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from datalog.errors import DataError, DatalogError, InternalError, ProgramError, StreamError
from datalog.outputs import output_names, print_outputs, write_outputs
from datalog.progress import Waiting

if TYPE_CHECKING:
    from datalog.database import Database
    from datalog.io.stream import Format, StagedTransaction
    from datalog.maintain.engine import Maintain
    from datalog.transaction import Changes, Transaction

STANDARD = "-"  # the name of standard input and output


@dataclass(frozen=True, slots=True)
class Run:
    """What one run is asked to do. `facts` and `output` are what the program's pragmas say where there is nothing, `stream` is "" where
    there is none; `settings` are options of `Database`."""

    program: Path
    facts: Path | None
    output: str = ""
    stream: str = ""
    format: Format = "text"
    maintain: Maintain = "auto"
    settings: Mapping[str, Any] = field(default_factory=dict)
    quiet: bool = False
    changes_only: bool = False
    skip: bool = False
    warn: bool = True  # of what is odd and no error


def run(asked: Run) -> int:
    """Do it; the exit status. Raises what the program or its facts have wrong."""
    with warnings.catch_warnings():
        if not asked.warn:
            warnings.simplefilter("ignore")
        return _run(asked)


def _run(asked: Run) -> int:
    announce_compilation(asked.quiet)
    began = time.perf_counter()
    lines = opened(asked.stream) if asked.stream else None
    database = evaluate(asked.program, asked.facts, asked.quiet, maintain=asked.maintain, outputs_only=True, **asked.settings)
    if asked.warn:
        from datalog.analysis.likely_typos import warn_of_likely_typos

        warn_of_likely_typos(database.program)
    if lines is not None:
        if asked.stream == STANDARD:
            check_standard_input(database)
        with lines:
            if not follow(database, lines, asked):
                return 1
    output = asked.output or database.program.pragmas.get("output-dir", "")
    if output and not (asked.stream and output == STANDARD):
        directory = None if output == STANDARD else Path(output)
        write_outputs(database, directory, sys.stderr if asked.stream else sys.stdout, printing=not asked.stream)
    elif not asked.stream:
        print_outputs(database)
    sys.stdout.flush()
    if database.skipped and asked.warn and not asked.quiet:
        print(f"{database.skipped} computations had no value, and their literals did not hold", file=sys.stderr)
    if sys.stderr.isatty() and not asked.quiet:
        rows = sum(len(database[name]) for name in output_names(database.core))
        print(f"{rows} rows, {time.perf_counter() - began:.2f} s, {database.steps} iterator steps", file=sys.stderr)
    return 0


def check_standard_input(database: Database) -> None:
    """ProgramError if facts, too, come from standard input: the stream has been read as such."""
    from datalog.io.layout import FROM_STANDARD_INPUT, at, place_of
    from datalog.program import quoting

    for directive in database.core.directives:
        if directive.kind == "input" and place_of(directive).io in FROM_STANDARD_INPUT:
            message = f"the facts of {directive.predicates[0]} and the stream would both be all of standard input"
            with quoting(database.text, database.file):
                raise ProgramError([at(directive.span, message, "give the stream, or the facts, a file")])


def opened(stream: str) -> IO[str]:
    from datalog.io.stream import open_stream

    return open_stream(stream)


def announce_compilation(quiet: bool) -> None:
    """Say so before the first wait for kernels that have not been compiled yet."""
    from datalog.kernels import jit

    jit.on_wait = None if quiet else lambda: print("compiling the kernels (once, some seconds) …", file=sys.stderr, flush=True)


def fact_directory(pragmas: Mapping[str, str]) -> Path:
    """Where facts are if the command line does not say it."""
    return Path(pragmas.get("fact-dir", ""))


def evaluate(program: str | Path, facts: Path | None, quiet: bool, **options: Any) -> Database:
    """The database of a program and its facts, with a sign of life if that takes long."""
    from datalog.database import Database

    with Waiting("reading the program and its facts", quiet) as waiting:

        def progress(done: int, strata: int) -> None:
            waiting.update(f"evaluating stratum {done + 1} of {strata}")

        return Database(program, facts=fact_directory if facts is None else facts, progress=progress, **options)


def follow(database: Database, lines: IO[str], asked: Run) -> bool:
    """Apply a stream and print what each transaction changes; False if an error ended it."""
    from datalog.io.changes import format_changes
    from datalog.io.stream import read_transactions

    names, signature = output_names(database.core), database.predicates
    file = "<stdin>" if asked.stream == STANDARD else asked.stream
    rejected = 0

    def tell(number: int, changes: Mapping[str, tuple[Any, Any]]) -> None:
        sys.stdout.write(format_changes(number, changes, asked.format, signature))
        sys.stdout.flush()

    if not asked.changes_only:
        tell(0, {name: (list(database[name]), []) for name in names})
    for item in read_transactions(lines, asked.format, signature, file):
        try:
            if isinstance(item, StreamError):
                raise item
            changes = apply(database, item, file)
        except InternalError:
            raise
        except DatalogError as error:
            sys.stdout.flush()
            print(error, *where(item, file), sep="\n", file=sys.stderr, flush=True)
            if not asked.skip:
                return False
            rejected += 1
            continue
        tell(changes.version, {name: (changes[name].inserted, changes[name].deleted) for name in names if name in changes})
    if rejected:
        print(f"{rejected} transaction{'s were' if rejected > 1 else ' was'} rejected", file=sys.stderr)
    return True


def apply(database: Database, staged: StagedTransaction, file: str) -> Changes:
    """Apply a transaction of a stream. Facts that do not go together are an error of the stream."""
    try:
        with database.transaction() as transaction:
            say(transaction, staged)
    except DataError as error:
        raise StreamError([replace(one, file=file, line=staged.first_line, column=1) for one in error.diagnostics]) from None
    return transaction.changes


def say(transaction: Transaction, staged: StagedTransaction) -> None:
    """Stage what was read."""
    for name, rows in staged.upsert.items():
        transaction.upsert(name, rows)
    for name, keys in staged.delete_keys.items():
        transaction.delete_keys(name, keys)
    for name, rows in staged.delete.items():
        transaction.delete(name, rows)
    for name, rows in staged.insert.items():
        transaction.insert(name, rows)


def where(item: StagedTransaction | StreamError, file: str) -> Iterator[str]:
    """That the transaction was rejected, and its place where the error has another, or none."""
    if isinstance(item, StreamError):
        yield "    the transaction was rejected"
    else:
        lines = f"line {item.first_line}" if item.first_line == item.last_line else f"lines {item.first_line} to {item.last_line}"
        yield f"    the transaction of {lines} of {file} was rejected"
