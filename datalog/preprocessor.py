"""Runs an installed C preprocessor over a program: mcpp, or that of GCC.

Whoever wrote a line should see it in messages as it was written. A preprocessor drops comments and runs of blanks; a line to
which nothing else has happened is put back.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from itertools import zip_longest
from pathlib import Path

from datalog.errors import Diagnostic, ProgramError
from datalog.reading import Reading
from datalog.syntax.source import Source

COMMANDS = {
    "mcpp": ("mcpp", "-e", "utf8", "-W0", "-N"),
    "gcc": ("gcc", "-x", "c", "-E", "-w", "-undef"),
    "cpp": ("cpp", "-w", "-undef"),
}
MACROS = ("RAM_DOMAIN_SIZE=64",)  # as Soufflé defines it; numbers have 64 bits

_ERROR = re.compile(r"^(?P<file>[^\n:]+):(?P<line>[0-9]+):(?:[0-9]+:)? (?:fatal )?error: (?P<message>[^\n]*)", re.MULTILINE)
_MARK = re.compile(r'^(?P<before>#(?:line)? [0-9]+ )"(?P<name>[^"\n]*)"', re.MULTILINE)
_COMMENT = re.compile(r'("(?:[^"\\\n]|\\.)*")|//[^\n]*|/\*.*?\*/')


def preprocess(text: str, file: str, reading: Reading) -> str:
    """The text as the preprocessor leaves it, with its marks of where lines come from. Raises ProgramError with what it complains of."""
    command = [*_command(file, reading.preprocessor)]
    for folder in reading.folders:
        command += ["-I", str(folder)]
    command += (f"-D{macro}" for macro in (*MACROS, *reading.macros))
    is_file = Path(file).is_file()
    try:
        done = subprocess.run(
            [*command, file if is_file else "-"] if is_file or command[0] != "mcpp" else command,
            input=None if is_file else text.encode(),
            stdin=subprocess.DEVNULL if is_file else None,
            capture_output=True,
        )
    except OSError as error:
        raise ProgramError([Diagnostic(f"cannot run the preprocessor {command[0]}: {error.strerror}", file, 0, 0)]) from error
    complaints = done.stderr.decode(errors="replace")
    if done.returncode or _ERROR.search(complaints):
        raise ProgramError(_diagnostics(complaints, text, file, command[0]))
    made = done.stdout.decode(errors="replace").replace("\r\n", "\n")
    return _with_lines_as_written(_with_name_as_given(made.replace('"<stdin>"', f'"{file}"'), file), text, file)


def _with_name_as_given(made: str, file: str) -> str:
    """The text with the file called by the name by which it was given, where mcpp writes out its whole path."""
    whole = os.path.realpath(file)
    return _MARK.sub(lambda mark: f'{mark["before"]}"{file}"' if mark["name"] == whole else mark.group(), made)


def _command(file: str, asked: str) -> tuple[str, ...]:
    if asked:
        return COMMANDS.get(asked) or tuple(shlex.split(asked))
    for name, command in COMMANDS.items():
        if shutil.which(name):
            return command
    hint = "install mcpp or GCC, or say with --no-preprocessor that such lines are not meant for one"
    raise ProgramError([Diagnostic("this program has lines for a C preprocessor, and none is installed", file, 0, 0, hint=hint)])


def _diagnostics(complaints: str, text: str, file: str, command: str) -> list[Diagnostic]:
    lines = text.split("\n")
    found = []
    for match in _ERROR.finditer(complaints):
        there = file if match["file"] in ("<stdin>", file) else match["file"]
        line = int(match["line"])
        written = lines[line - 1] if there == file and 0 < line <= len(lines) else ""
        start = len(written) - len(written.lstrip()) + 1
        found.append(Diagnostic(match["message"], there, line, start, written, max(1, len(written.strip()))))
    return found or [Diagnostic(f"{command} failed: {complaints.strip()[:200]}", file, 0, 0)]


def _with_lines_as_written(made: str, text: str, file: str) -> str:
    """The preprocessed text with each line of the file itself as it was written, where only blanks and comments are missing in it."""
    source, written = Source(made, file), text.split("\n")
    lines = made.split("\n")
    for number, line in enumerate(lines, 1):
        origin, there = source.origin(number)
        if not line.strip() or line.lstrip().startswith("#") or origin != file or not 0 < there <= len(written):
            continue
        own = written[there - 1]
        bare = _COMMENT.sub(lambda match: match[1] or " ", own)
        if "/*" not in own and all(one == other for one, other in zip_longest(line.split(), bare.split())):
            lines[number - 1] = own
    return "\n".join(lines)
