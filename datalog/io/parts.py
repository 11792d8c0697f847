"""Records and values of algebraic types as text: `[1, [2, nil]]`, `$Add(1, $Zero)`.

In a file a text within them stands as it is, up to the next comma or closing bracket, or in double quotes, with `\\` before what is
not to be taken for the end. In a program's notation it stands in quotes always.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from datalog.ir.branch import spell_parts
from datalog.ir.core import PyValue, Type
from datalog.ir.structures import Shape, Structure
from datalog.store.canonical import BadValue, noun, shown

Read = Callable[[str, Type], PyValue]  # what a text without parts spells

BLANKS = re.compile(r"\s*")
NIL = re.compile(r"nil\b")
NAME = re.compile(r"[\w.?]+")
QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
ESCAPED = re.compile(r"\\(.)", re.DOTALL)
UNTIL = {"]": re.compile(r"[^,\]]*"), ")": re.compile(r"[^,)]*")}
OPENING = re.compile(r"\s*(?:\[|\$[\w.?]+\s*\()")
BRACKETS = re.compile(rf"(?:(?<=[,\[(])|(?<=[,\[(] )){QUOTED.pattern}|[\[\]()]", re.DOTALL)
AS_WRITTEN = re.compile(r"(?![\s\"])[^,\])\n\r\t]*(?<!\s)|")  # a text that stands as it is reads back


@dataclass(slots=True)
class _Frame:
    type: Structure
    shape: Shape
    parts: list[PyValue] = field(default_factory=list)

    @property
    def closing(self) -> str:
        return "]" if self.type.record else ")"


def read_parts(text: str, type: Structure, read: Read, quoted: bool) -> PyValue:
    """The value that `text` spells; `read` reads what has no parts, `quoted`: also symbols, which then stand in quotes.

    BadValue if it spells none of `type`."""
    reader = _Reader(text, type, read, quoted)
    frames: list[_Frame] = []
    wanted: Type = type
    while True:
        value: PyValue
        if isinstance(wanted, Structure):
            opened = reader.opened(wanted)
            if isinstance(opened, _Frame):
                frames.append(opened)
                wanted = opened.shape.types[0]
                continue
            value = opened
        else:
            value = reader.leaf(wanted, frames[-1].closing)
        while frames:
            frame = frames[-1]
            frame.parts.append(value)
            if len(frame.parts) < len(frame.shape.types):
                reader.mark(",")
                wanted = frame.shape.types[len(frame.parts)]
                break
            reader.mark(frame.closing)
            value = frame.shape.value(frame.parts)
            frames.pop()
        else:
            reader.end()
            return value


class _Reader:
    def __init__(self, text: str, type: Structure, read: Read, quoted: bool) -> None:
        self._text, self._type, self._read, self._quoted = text, type, read, quoted
        self._at = 0

    def opened(self, type: Structure) -> _Frame | PyValue:
        """A value without parts, or what is begun of one that has some."""
        self._skip()
        if type.record:
            if found := NIL.match(self._text, self._at):
                self._at = found.end()
                return None
            self.mark("[", "`[` or nil")
            (shape,) = type.shapes
        else:
            self.mark("$")
            found = NAME.match(self._text, self._at)
            number = type.number(found[0]) if found else -1
            if found is None or number < 0:
                raise self._bad(f"one of {', '.join(f'${shape.name}' for shape in type.shapes)}")
            self._at = found.end()
            shape = type.shapes[number]
            if shape.fields:
                self.mark("(")
        if shape.fields:
            return _Frame(type, shape)
        if type.record:
            self.mark("]")
        elif self._text.startswith("()", self._at):
            self._at += 2
        return shape.value(())

    def leaf(self, type: Type, closing: str) -> PyValue:
        """A value that has no parts."""
        self._skip()
        found = QUOTED.match(self._text, self._at) or UNTIL[closing].match(self._text, self._at)
        assert found is not None
        self._at = found.end()
        if type is not Type.SYMBOL or self._quoted:
            return self._read(found[0].strip(), type)
        return ESCAPED.sub(r"\1", found[0][1:-1]) if found[0].startswith('"') and found.re is QUOTED else found[0]

    def mark(self, mark: str, wanted: str = "") -> None:
        self._skip()
        if not self._text.startswith(mark, self._at):
            raise self._bad(wanted or f"`{mark}`")
        self._at += 1

    def end(self) -> None:
        self._skip()
        if self._at < len(self._text):
            raise self._bad("its end")

    def _skip(self) -> None:
        found = BLANKS.match(self._text, self._at)
        assert found is not None
        self._at = found.end()

    def _bad(self, wanted: str) -> BadValue:
        return BadValue(f"{shown(self._text)} is no {noun(self._type)}: {wanted} is missing at character {self._at + 1}")


def cells_with_parts(column: Sequence[PyValue], leaf: Callable[[PyValue], str], quoted: bool) -> list[str]:
    """How a file has values; `leaf` spells what is neither a text nor has parts, texts are `quoted` always or where they must."""

    def spelled(value: PyValue) -> str:
        if not isinstance(value, str):
            return leaf(value)
        if not quoted and AS_WRITTEN.fullmatch(value):
            return value
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'

    return [spell_parts(value, spelled) for value in column]


def cut(line: str, delimiter: str) -> Iterator[str]:
    """The fields of a line, cut at each `delimiter` that does not stand within the brackets of a record or a branch."""
    start = 0
    while True:
        at = line.find(delimiter, _end_of_brackets(line, start))
        if at < 0:
            yield line[start:]
            return
        yield line[start:at]
        start = at + len(delimiter)


def _end_of_brackets(line: str, start: int) -> int:
    """Where the value ends that begins at `start` and has brackets; `start` if it has none, or they are not closed."""
    opened = OPENING.match(line, start)
    depth = 0
    for found in BRACKETS.finditer(line, opened.end() - 1) if opened else ():
        depth += (found[0] in "[(") - (found[0] in "])")
        if depth == 0:
            return found.end()
    return start
