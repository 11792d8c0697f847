"""What the parameters of `.input` and `.output` say: which file, table or stream, and how rows are laid out there.

Soufflé's parameters with Soufflé's meaning, and of our own `null`, `default_COLUMN`, `rejects` and names in `columns`. A parameter
that we do not know is passed over, as by Soufflé, with a warning (`unknown_parameters`): it may be misspelled.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

from datalog.errors import Diagnostic, ProgramError
from datalog.io.literals import closest
from datalog.store.values import shown
from datalog.syntax.constants import SHORT_ESCAPES
from datalog.syntax.tree import Directive, Span

KNOWN = ("IO", "filename", "file", "name", "delimiter", "headers", "rfc4180", "format", "dbname")
PASSED_OVER = ("intermediate", "operation")  # of older versions of Soufflé
OF_INPUT = ("columns", "null", "rejects")
OF_OUTPUT = ("attributeNames", "compress")
TRUTHS = {"true": True, "1": True, "false": False, "0": False}
DEFAULT_OF = "default_"
READ = ("file", "stdin", "sqlite", "json", "jsonfile")
WRITTEN = ("file", "stdout", "stdoutprintsize", "sqlite", "json", "jsonfile")
TO_STANDARD_OUTPUT = ("stdout", "json", "stdoutprintsize")
FROM_STANDARD_INPUT = ("stdin", "json")
TEXTUAL = ("file", "stdin", "stdout")  # rows are lines, and cells are parted by a delimiter
FORMATS = ("list", "object")


@dataclass(frozen=True, slots=True)
class Layout:
    """Rows are lines, fields are parted by `delimiter`. With `rfc4180` a field may stand in double quotes (doubled
    inside) and then hold delimiters and line ends; without, every character stands for itself.

    `columns` says for each column of the predicate which one of the file it is, by place (from 0) or by its name in the header; of
    none of them, all are read. `header` is the line that is written for `headers`, if it is not made of the columns' names."""

    delimiter: str = "\t"
    headers: bool = False
    rfc4180: bool = False
    columns: tuple[str, ...] = ()
    header: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a directive sends or takes rows: `io` is one of Soufflé's words for it; `filename` is empty where the default is meant.

    `null` is what stands for no value (None: nothing does), `defaults` are columns and what they then hold, as they were
    written, and `rejects` is a file for bad rows, or empty. `name` is what the predicate is called there, or empty. With `objects` the
    rows of a JSON file are written as objects."""

    io: str
    filename: str
    layout: Layout
    null: str | None = None
    defaults: tuple[tuple[str, str], ...] = ()
    rejects: str = ""
    name: str = ""
    compress: bool = False
    objects: bool = False

    def file(self, predicate: str, kind: str) -> str:
        """The file that a directive of this kind reads or writes for a predicate, as seen from the directory of facts or outputs."""
        if self.io == "sqlite":
            extension = ".sqlite"
        elif self.io == "jsonfile":
            extension = ".json"
        else:
            extension = ".facts" if kind == "input" else ".csv.gz" if self.compress else ".csv"
        return self.filename or f"{self.name or predicate}{extension}"


DEFAULT = Place("file", "", Layout())


def place_of(directive: Directive | None) -> Place:
    """The place that a directive's parameters describe. ProgramError at the directive with all that make no sense."""
    return DEFAULT if directive is None else _Parameters(directive).place()


class _Parameters:
    """Those of one directive, and what is found wrong with them."""

    def __init__(self, directive: Directive) -> None:
        self._directive = directive
        self._found: list[Diagnostic] = []
        self._given: dict[str, str] = {}
        self._defaults: list[tuple[str, str]] = []

    def place(self) -> Place:
        self._sort_out()
        given = self._given
        io = given.get("IO", "file")
        known = READ if self._directive.kind == "input" else WRITTEN
        if io not in known:
            self._complain(f"IO={io} is nothing that .{self._directive.kind} knows", closest(io, known) or f"there are {', '.join(known)}")
        headers, rfc4180, compress = (self._truth(name) for name in ("headers", "rfc4180", "compress"))
        delimiter = unescaped(given.get("delimiter", "," if rfc4180 else "\t"))
        if problem := problem_of(delimiter, rfc4180):
            self._complain(problem)
        columns = self._columns(io, headers)
        self._check_nulls(io)
        if (format := given.get("format", "list")) not in FORMATS:
            self._complain(f"format={shown(format)} is nothing that JSON's rows are written as", "there are list and object")
        if self._found:
            raise ProgramError(self._found)
        return Place(
            io,
            given.get("filename", given.get("file", given.get("dbname", ""))),
            Layout(delimiter, headers, rfc4180, columns, given.get("attributeNames", "")),
            given.get("null"),
            tuple(self._defaults),
            given.get("rejects", ""),
            given.get("name", ""),
            compress,
            format == "object",
        )

    def _sort_out(self) -> None:
        kind = self._directive.kind
        known = known_parameters(kind)
        for name, value in self._directive.parameters:
            if kind == "input" and name.startswith(DEFAULT_OF):
                self._defaults.append((name.removeprefix(DEFAULT_OF), str(value)))
            elif name in known:
                self._given[name] = str(value)
        if "name" in self._given and len(self._directive.predicates) > 1:
            self._complain(f"{' and '.join(self._directive.predicates)} cannot have one name", f"give each its own .{kind}")

    def _truth(self, name: str) -> bool:
        value = self._given.get(name, "false")
        if value.lower() not in TRUTHS:
            self._complain(f"{name}={shown(value)} is neither true nor false")
        return TRUTHS.get(value.lower(), False)

    def _columns(self, io: str, headers: bool) -> tuple[str, ...]:
        written = self._given.get("columns", "")
        columns = tuple(column.strip() for column in written.split(":")) if written else ()
        if "" in columns:
            self._complain(f"columns={shown(written)} has an empty name in it", 'columns are parted by colons: columns="2:0"')
        if columns and io in ("json", "jsonfile"):
            self._complain("columns= says something about files of delimited text and about tables, and this is JSON")
        names = [column for column in columns if not column.isdecimal()]
        if names and io in TEXTUAL and not headers:
            self._complain(f"columns={shown(written)} has the name {names[0]} in it, and there is no header", "say headers=true")
        return columns

    def _check_nulls(self, io: str) -> None:
        if self._defaults and "null" not in self._given:
            name = self._defaults[0][0]
            self._complain(f"{DEFAULT_OF}{name} stands for a null, and nothing says what a null is", 'say it, such as null="NA"')
        if "rejects" in self._given and len(self._directive.predicates) > 1:
            names = " and ".join(self._directive.predicates)
            self._complain(f"the rejected rows of {names} cannot have one file", "give each its own .input")
        for name in ("null", "rejects") if io not in TEXTUAL else ():
            if name in self._given:
                self._complain(f"{name}= says something about files of delimited text, and this is IO={io}")

    def _complain(self, message: str, hint: str = "") -> None:
        self._found.append(at(self._directive.span, message, hint))


def known_parameters(kind: str) -> tuple[str, ...]:
    """The parameters that directives of a kind may have."""
    return KNOWN + (OF_INPUT if kind == "input" else OF_OUTPUT)


def unknown_parameters(directive: Directive) -> Iterator[str]:
    """What is to be said of parameters that say nothing here."""
    kind = directive.kind
    known = known_parameters(kind)
    for name, _ in directive.parameters:
        if name not in (*known, *PASSED_OVER) and not (kind == "input" and name.startswith(DEFAULT_OF)):
            listed = f"there are {', '.join(known)}" + (f" and {DEFAULT_OF}COLUMN" if kind == "input" else "")
            yield f"{name} is no parameter of .{kind}, and says nothing; {closest(name, known) or listed}"


def problem_of(delimiter: str, rfc4180: bool) -> str:
    """Why a delimiter cannot be used, or the empty string."""
    if not delimiter:
        return "the delimiter is empty"
    if "\n" in delimiter or "\r" in delimiter:
        return "the delimiter has a line end in it"
    if rfc4180 and '"' in delimiter:
        return 'the delimiter has a " in it, which rfc4180 quotes fields with'
    return ""


def unescaped(delimiter: str) -> str:
    r"""A delimiter that was written as the two characters \t is a tab."""
    return re.sub(r"\\(.)", lambda match: SHORT_ESCAPES.get(match[1], match[0]), delimiter)


def refuse(directive: Directive, message: str, hint: str = "") -> NoReturn:
    raise ProgramError([at(directive.span, message, hint)])


def at(span: Span, message: str, hint: str = "") -> Diagnostic:
    return Diagnostic(message, span.file, span.line, span.column, hint=hint)
