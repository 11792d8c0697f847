"""From the files of a program to its text: what is included stands where it is included, and a preprocessor has done its work.

Lines of the form `# 7 "file" 1` say in that text where the lines that follow come from; `datalog.syntax.source` reads them. A
text that includes nothing and has no line for a preprocessor is the program as it is, and no process is started for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from datalog.errors import Diagnostic, ProgramError
from datalog.reading import Reading
from datalog.syntax.skim import tokens
from datalog.syntax.source import Source

DEEPEST = 100  # files that include one another

_FOR_PREPROCESSOR = re.compile(
    r"^[ \t]*#[ \t]*(?:define|undef|include|if|ifdef|ifndef|elif|else|endif|error|warning|pragma)\b", re.MULTILINE
)
_STRING_OR_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)


def complete_text(text: str, file: str, reading: Reading) -> str:
    """The text with all that it includes. Raises ProgramError for a file that cannot be read, with the place of its directive."""
    return _Reader(reading).complete(text, file, 0)


def needs_preprocessor(text: str) -> bool:
    """Whether a line is for a preprocessor."""
    return bool(_FOR_PREPROCESSOR.search(text)) and bool(_FOR_PREPROCESSOR.search(_STRING_OR_COMMENT.sub("", text)))


@dataclass(slots=True)
class _Reader:
    reading: Reading
    passed: set[tuple[str, int]] = field(default_factory=set)  # the places of each `.once` that has been read

    def complete(self, text: str, file: str, depth: int) -> str:
        if self.reading.preprocess and "#" in text and needs_preprocessor(text):
            from datalog.preprocessor import preprocess

            text = preprocess(text, file, self.reading)
        if ".include" not in text and ".once" not in text:
            return text
        return "".join(self._pieces(text, file, depth))

    def _pieces(self, text: str, file: str, depth: int) -> Iterator[str]:
        source = Source(text, file)
        done = 0
        found = tokens(text, 0)
        for token in found:
            if token.group() == ".once":
                origin, line = source.origin(source.place(token.start())[0])
                place = (str(Path(origin).resolve()), line)
                if place in self.passed:
                    yield text[done : token.start()]
                    return
                self.passed.add(place)
            if token.group() != ".include":
                continue
            name = next(found, None)
            if name is None or not name.group().startswith('"') or len(name.group()) < 2:
                continue  # the parser says what is wrong
            origin, line = source.origin(source.place(name.start())[0])
            path = self._find(name.group()[1:-1], origin)
            if path is None:
                searched = ", ".join(str(folder) for folder in dict.fromkeys((Path(origin).parent, *self.reading.folders)))
                raise ProgramError(
                    [source.diagnostic(f"there is no file {name.group()}", name.start(), name.end(), f"looked for in {searched}")]
                )
            if depth == DEEPEST:
                hint = "`.once` in a file keeps what follows it from being read again"
                raise ProgramError([source.diagnostic(f"{name.group()} includes itself", name.start(), name.end(), hint)])
            try:
                included = path.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
                raise ProgramError([source.diagnostic(f"cannot read {path}: {reason}", name.start(), name.end())]) from error
            column = source.place(name.end())[1] - 1
            yield text[done : token.start()]
            if text[source.line_start(token.start()) : token.start()].strip():
                yield f'\n# {line} "{origin}"\n'  # the mark of what is included stands on the line of its directive
            yield f'# 1 "{path}" 1\n'
            yield self.complete(included, str(path), depth + 1)
            yield f'\n# {line} "{origin}" 2\n{" " * column}'
            done = name.end()
        yield text[done:]

    def _find(self, name: str, origin: str) -> Path | None:
        candidates = (folder / name for folder in (Path(origin).parent, *self.reading.folders))
        return next((path for path in candidates if path.is_file()), None)


def quoted(text: str, file: str, found: Diagnostic) -> Diagnostic:
    """A finding with the line of its place, if it has none yet and the line is one of this text."""
    if found.text or found.line < 1:
        return found
    return replace(found, text=Source(text, file).quoted(found.file, found.line))
