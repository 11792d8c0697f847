"""What the parameters of `.input` and `.output` say about a file: its name, its delimiter, its header, its quotes, its nulls.

Soufflé's parameters with Soufflé's meaning, and of our own `null`, `default_COLUMN` and `rejects`. A parameter that we do not
know is refused, because ignoring it would read or write something else than the program says.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NoReturn

from datalog.errors import Diagnostic, ProgramError
from datalog.io.literals import closest
from datalog.store.values import shown
from datalog.syntax.constants import SHORT_ESCAPES
from datalog.syntax.tree import Directive, Span

KNOWN = ("IO", "filename", "file", "delimiter", "headers", "rfc4180")
OF_INPUT = ("null", "rejects")
DEFAULT_OF = "default_"
LATER = ("columns", "compress", "dbname", "fact-dir", "output-dir", "name", "operation", "params", "types")


@dataclass(frozen=True, slots=True)
class Layout:
    """Rows are lines, fields are parted by `delimiter`. With `rfc4180` a field may stand in double quotes (doubled
    inside) and then hold delimiters and line ends; without, every character stands for itself."""

    delimiter: str = "\t"
    headers: bool = False
    rfc4180: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """Where a directive sends or takes rows: `io` is file or stdout; `filename` is empty where the default is meant.

    `null` is what stands for no value (None: nothing does), `defaults` are columns and what they then hold, as they were
    written, and `rejects` is a file for bad rows, or empty."""

    io: str
    filename: str
    layout: Layout
    null: str | None = None
    defaults: tuple[tuple[str, str], ...] = ()
    rejects: str = ""


DEFAULT = Place("file", "", Layout())


def place_of(directive: Directive | None) -> Place:
    """The place that a directive's parameters describe. ProgramError at the directive with all that make no sense."""
    if directive is None:
        return DEFAULT
    found: list[Diagnostic] = []

    def complain(message: str, hint: str = "") -> None:
        found.append(at(directive.span, message, hint))

    given: dict[str, str] = {}
    defaults: list[tuple[str, str]] = []
    known = KNOWN + OF_INPUT if directive.kind == "input" else KNOWN
    for name, value in directive.parameters:
        if name in LATER:
            complain(f"{name}= is not supported yet")
        elif directive.kind == "input" and name.startswith(DEFAULT_OF):
            defaults.append((name.removeprefix(DEFAULT_OF), str(value)))
        elif name not in known:
            listed = f"there are {', '.join(known)}" + (f" and {DEFAULT_OF}COLUMN" if known is not KNOWN else "")
            complain(f"{name} is no parameter of .{directive.kind}", closest(name, known) or listed)
        else:
            given[name] = str(value)
    if defaults and "null" not in given:
        complain(f"{DEFAULT_OF}{defaults[0][0]} stands for a null, and nothing says what a null is", 'say it, such as null="NA"')
    if "rejects" in given and len(directive.predicates) > 1:
        complain(f"the rejected rows of {' and '.join(directive.predicates)} cannot have one file", "give each its own .input")
    io = given.get("IO", "file")
    if io not in (("file",) if directive.kind == "input" else ("file", "stdout")):
        complain(f"IO={io} is not supported yet", "IO=file reads and writes files" if io != "file" else "")
    truths = {name: given.get(name, "false").lower() for name in ("headers", "rfc4180")}
    for name, value in truths.items():
        if value not in ("true", "false", "1", "0"):
            complain(f"{name}={shown(given[name])} is neither true nor false")
    headers, rfc4180 = (value in ("true", "1") for value in truths.values())
    delimiter = unescaped(given.get("delimiter", "," if rfc4180 else "\t"))
    if problem := problem_of(delimiter, rfc4180):
        complain(problem)
    if found:
        raise ProgramError(found)
    filename = given.get("filename", given.get("file", ""))
    layout = Layout(delimiter, headers, rfc4180)
    return Place(io, filename, layout, given.get("null"), tuple(defaults), given.get("rejects", ""))


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
