"""`datalog fmt`: programs in canonical layout, in place.

A file is replaced only when the new text has been written whole beside it, and only by a text that parses to the same
program. A symbolic link keeps being one, and the file's permissions stay.
"""

from __future__ import annotations

import difflib
import os
import shutil
import sys
import tempfile
from pathlib import Path

from datalog.errors import DataError, Diagnostic, InternalError, ProgramError
from datalog.sources import needs_preprocessor
from datalog.syntax import format_program, parse
from datalog.syntax.source import MARKER, Source


def format_file(path: Path, write: bool, diff: bool) -> bool:
    """Format one file, or standard input to standard output if its name is `-`; whether that changes it.

    Without `write` nothing is written and, unless `diff` prints the differences, the name of a file that would change is.
    Raises ProgramError for a program that cannot be parsed, DataError for a file that cannot be read or written.
    """
    standard = str(path) == "-"
    name = "<stdin>" if standard else str(path)
    try:
        raw = sys.stdin.buffer.read() if standard else path.read_bytes()
        text = raw.decode("utf-8")
        formatted = canonical(text.replace("\r\n", "\n"), name)
        changed = raw != formatted.encode("utf-8")
        if diff:
            before, after = text.splitlines(keepends=True), formatted.splitlines(keepends=True)
            sys.stdout.writelines(difflib.unified_diff(before, after, name, f"{name} (formatted)"))
        elif not write and changed:
            print(name)
        elif write and standard:
            sys.stdout.write(formatted)
        elif write and changed:
            replace_text(path.resolve(), formatted)
    except UnicodeDecodeError as error:
        raise DataError([Diagnostic(f"{name} is not UTF-8: {error.reason} at byte {error.start}", name, 0, 0)]) from error
    except OSError as error:
        raise DataError([Diagnostic(f"cannot format {name}: {error.strerror}", name, 0, 0)]) from error
    return changed


def canonical(text: str, file: str) -> str:
    if marker := MARKER.search(text):
        hint = "format the files that its lines come from"
        raise ProgramError([Source(text, file).diagnostic("a preprocessor has made this text", marker.start(), marker.end(), hint)])
    if "#" in text and needs_preprocessor(text):
        message = "fmt lays out no program with lines for a C preprocessor, which decides what its clauses are"
        raise ProgramError(
            [Diagnostic(message, file, 0, 0, hint="files that it includes by .include, without such lines, can be formatted")]
        )
    tree = parse(text, file)
    formatted = format_program(tree)
    again = parse(formatted, file)
    if again.clauses != tree.clauses or sorted(one.text for one in again.comments) != sorted(one.text for one in tree.comments):
        raise InternalError(f"the layout of {file} would change what it says; the file stays as it is")
    return formatted


def replace_text(path: Path, text: str) -> None:
    handle, beside = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        shutil.copymode(path, beside)
        Path(beside).replace(path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise
