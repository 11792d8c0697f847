"""Facts: where they lie, in files, tables of SQLite, JSON or standard input, what those are called, and their rows as codes.

Soufflé's conventions: `.input edge` reads `edge.facts` in the facts directory, fields parted by tabs and taken verbatim.
A file that is compressed with gzip is read as what it holds, and NAME.gz is looked for where NAME is missing. Fields behind the last
column are passed over, with a warning.
"""

from __future__ import annotations

import gzip
import sys
import warnings
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

import numpy as np

from datalog.errors import DataError, Diagnostic, IgnoredFields, MissingFile
from datalog.io.delimited import parse_delimited
from datalog.io.layout import DEFAULT_OF, FROM_STANDARD_INPUT, Layout, Place, at, place_of, problem_of, refuse
from datalog.io.literals import closest
from datalog.io.literals import parse as parse_cell
from datalog.io.nulls import NO_NULLS, Nulls, defaults_of, give_account, tokens_of
from datalog.ir.core import Predicate
from datalog.store.interner import Codes
from datalog.store.memory import give_back_heap
from datalog.store.values import BadValue, Values, shown
from datalog.syntax.tree import Directive

GZIP = b"\x1f\x8b"
LAYOUTS = {".csv": Layout(",", rfc4180=True), ".tsv": Layout(), ".facts": Layout(), ".txt": Layout()}
LARGE = 1 << 23  # bytes of a file whose reading leaves much memory behind
STANDARD_INPUT = Path("<stdin>")
LATER = (".parquet", ".arrow", ".feather", ".jsonl", ".json", ".db", ".sqlite")


def read_facts(directive: Directive | None, predicate: Predicate, facts_dir: Path, values: Values) -> Codes:
    """int64[n, k]: the rows of what an `.input` directive names (None: the default file).

    Rows come as they stand in the file, duplicates too; a nullary predicate has k = 1 and at most one row. DataError for
    a missing file or a bad row, ProgramError for parameters that make no sense. A file of rejected rows lies in `facts_dir`, too.
    """
    place = place_of(directive)
    nulls = nulls_of(directive, place, predicate, facts_dir) if directive else NO_NULLS
    if directive and (problem := problem_of_columns(place, predicate)):
        refuse(directive, problem)
    if directive and place.io == "sqlite":
        return rows_of_table(directive, place, predicate, facts_dir, values)
    path = (
        STANDARD_INPUT if place.io in FROM_STANDARD_INPUT else found(directive, facts_dir / place.file(predicate.name, "input"), predicate)
    )
    data = standard_input() if path is STANDARD_INPUT else contents(path)
    if place.io in ("json", "jsonfile"):
        from datalog.io.rows_json import read_json

        return read_json(data, predicate, values, str(path))
    try:
        return parse(data, place.layout, predicate, values, path, nulls)
    except DataError as error:
        if (codes := first_fields(data, place, predicate, values, path, nulls)) is None:
            raise
        one = error.diagnostics[0]
        warnings.warn_explicit(IgnoredFields(f"{one.message}: what is beyond is ignored"), None, str(path), one.line)
        return codes


def first_fields(data: bytes, place: Place, predicate: Predicate, values: Values, path: Path, nulls: Nulls) -> Codes | None:
    """The rows, whatever stands behind the predicate's columns; None if they are bad nonetheless."""
    if place.layout.columns or predicate.nullary:
        return None
    picked = tuple(str(number) for number in range(len(predicate.types)))
    try:
        return parse(data, replace(place.layout, columns=picked), predicate, values, path, nulls)
    except DataError:
        return None


def found(directive: Directive | None, wanted: Path, predicate: Predicate) -> Path:
    """The file, or the one that is called so and compressed. MissingFile if there is neither."""
    path = next((path for path in (wanted, wanted.with_name(wanted.name + ".gz")) if path.is_file()), None)
    if path is None:
        message = f"there is no fact file {wanted} for {predicate.name}"
        hint = neighbours(wanted)
        raise MissingFile([at(directive.span, message, hint) if directive else Diagnostic(message, str(wanted), 0, 0, hint=hint)])
    return path


def rows_of_table(directive: Directive, place: Place, predicate: Predicate, facts_dir: Path, values: Values) -> Codes:
    """The rows of a table or view of a SQLite database, which may also be named by a URI, as Soufflé has it."""
    import sqlite3

    from datalog.io.sqlite import URI, BadTable, read_sqlite

    name = place.file(predicate.name, "input")
    database: str | Path = name
    if not name.startswith(URI):
        database = facts_dir / name
        if not database.is_file():
            message = f"there is no database {database} for {predicate.name}"
            raise DataError([at(directive.span, message, neighbours(database))])
    try:
        return read_sqlite(database, place.name or predicate.name, place.layout.columns, predicate, values)
    except BadTable as error:
        raise DataError([at(directive.span, f"{error.message}, in {database}", error.hint)]) from None
    except sqlite3.Error as error:
        raise DataError([at(directive.span, f"cannot read {predicate.name} from {database}: {error}")]) from error


def problem_of_columns(place: Place, predicate: Predicate) -> str:
    """Why the columns that are picked cannot be the predicate's, or the empty string."""
    picked, wanted = len(place.layout.columns), len(predicate.types)
    if not picked or picked == wanted or predicate.nullary:
        return ""
    return f"columns={shown(':'.join(place.layout.columns))} picks {picked}, and {predicate.name} has {wanted}"


def standard_input() -> bytes:
    """All that stands in standard input."""
    buffer = getattr(sys.stdin, "buffer", None)
    return sys.stdin.read().encode("utf-8", "surrogateescape") if buffer is None else bytes(buffer.read())


def nulls_of(directive: Directive, place: Place, predicate: Predicate, facts_dir: Path) -> Nulls:
    """What an `.input` directive says of nulls and bad rows. ProgramError at the directive for what makes no sense."""
    types = dict(zip(predicate.attributes, predicate.types, strict=False))
    tokens = tokens_of(place.null)
    try:
        given = {name: parse_cell(text, types[name]) if name in types else text for name, text in place.defaults}
        defaults = defaults_of(given, predicate, tokens)
    except BadValue as error:
        refuse(directive, f"a default of {predicate.name}: {error}")
    except ValueError as error:
        refuse(directive, str(error))
    return Nulls(tokens, defaults, facts_dir / place.rejects if place.rejects else None)


def read_table(
    path: Path,
    predicate: Predicate,
    values: Values,
    *,
    delimiter: str | None = None,
    headers: bool = False,
    rfc4180: bool | None = None,
    null: str | Iterable[str] | None = None,
    defaults: Mapping[str, object] | None = None,
    rejects: str | Path | None = None,
) -> Codes:
    """int64[n, k]: the rows of a file whose extension says how it is laid out: .csv with commas and quotes, .tsv, .facts
    and .txt with tabs, each also as .gz. Options overrule the extension; a first line of names is skipped only if `headers`.

    A cell that is, without quotes, one of the texts in `null` ("NA|NULL", or a collection) holds the value that `defaults` has for its
    column. Bad rows, and those with a null and no default, are a DataError, or are written to the CSV file `rejects`.
    """
    extensions = [extension.lower() for extension in path.suffixes if extension.lower() != ".gz"]
    layout = LAYOUTS.get(extensions[-1] if extensions else "")
    if layout is None and delimiter is None:
        later = " are not supported yet" if extensions and extensions[-1] in LATER else " say nothing of the layout"
        hint = f"there are {', '.join(LAYOUTS)}, each also with .gz; or say the delimiter"
        raise DataError([Diagnostic(f"files called {extensions[-1] if extensions else path.name}{later}", str(path), 0, 0, hint=hint)])
    layout = layout or Layout()
    quotes = layout.rfc4180 if rfc4180 is None else rfc4180
    layout = Layout(layout.delimiter if delimiter is None else delimiter, headers, quotes)
    if problem := problem_of(layout.delimiter, layout.rfc4180):
        raise DataError([Diagnostic(problem, str(path), 0, 0)])
    tokens = tokens_of(null)
    try:
        nulls = Nulls(tokens, defaults_of(defaults or {}, predicate, tokens), None if rejects is None else Path(rejects))
    except ValueError as error:
        raise DataError([Diagnostic(str(error), str(path), 0, 0)]) from None
    if not path.is_file():
        raise DataError([Diagnostic(f"there is no file {path} for {predicate.name}", str(path), 0, 0, hint=neighbours(path))])
    return parse(contents(path), layout, predicate, values, path, nulls)


def unknown_option(name: str) -> str:
    """What is said of a keyword that `Database.load` does not have."""
    known = ("delimiter", "headers", "rfc4180", "null", "defaults", "rejects")
    if name.startswith(DEFAULT_OF):
        return f'there is no option {name}; the defaults of columns come as one: defaults={{"{name.removeprefix(DEFAULT_OF)}": …}}'
    hint = closest(name, known)
    return f"there is no option {name}; " + (hint or f"there are {', '.join(known)}")


def parse(data: bytes, layout: Layout, predicate: Predicate, values: Values, path: Path, nulls: Nulls) -> Codes:
    if nulls.rejects is not None and nulls.rejects.resolve() == path.resolve():
        raise DataError([Diagnostic(f"the rejected rows of {predicate.name} would be written over its facts", str(path), 0, 0)])
    if predicate.nullary:
        return parse_nullary(data, layout, predicate, path)
    codes, rejected = parse_delimited(data, layout, predicate, values, str(path), nulls)
    if len(data) > LARGE:
        give_back_heap()
    give_account(rejected, nulls, path, predicate)
    return codes


def parse_nullary(data: bytes, layout: Layout, predicate: Predicate, path: Path) -> Codes:
    """A line, `()` or empty, says that the predicate holds, no line that it does not."""
    lines = data.decode("utf-8", "replace").split("\n")
    if not lines[-1]:
        lines.pop()
    first = 1 if layout.headers else 0
    for number, line in enumerate(lines[first:], first + 1):
        if line.strip() not in ("()", ""):
            message = f"the only row that {predicate.name}, which has no columns, can have is ()"
            raise DataError([Diagnostic(message, str(path), number, 1, line.strip(), len(line.strip()))])
    return np.zeros((1 if len(lines) > first else 0, 1), np.int64)


def contents(path: Path) -> bytes:
    """A file's bytes, decompressed if they are gzip's."""
    try:
        data = path.read_bytes()
        return gzip.decompress(data) if data.startswith(GZIP) else data
    except (OSError, EOFError, zlib.error) as error:
        what = error.strerror if isinstance(error, OSError) and error.strerror else f"the compressed data is damaged ({error})"
        raise DataError([Diagnostic(f"cannot read {path}: {what}", str(path), 0, 0)]) from error


def neighbours(path: Path) -> str:
    """A hint: a file of a similar name, or that the directory is not there."""
    if not path.parent.is_dir():
        return f"there is no directory {path.parent}"
    files = sorted(entry.name for entry in path.parent.iterdir() if entry.is_file())
    stems = {file.partition(".")[0]: file for file in reversed(files)}  # nearly all names end alike
    near = get_close_matches(path.name.partition(".")[0], stems, 1, 0.6)
    if near:
        return f"did you mean `{stems[near[0]]}`?"
    return f"in {path.parent} there are {', '.join(files[:5])}{', …' if len(files) > 5 else ''}" if files else f"{path.parent} is empty"
