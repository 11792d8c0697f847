"""Types whose values have parts: record types, which also have the value `nil`, and algebraic types.

Terms take such values apart and put them together by functions of the engine's own: `[]` makes a record, `$Name` a value of that
branch, `.field` and `.Branch.field` give a field, and `$?` the number of the branch. All are total: a field of what has no such
field is the value whose code is 0, which the test beside it never lets pass.
"""

from __future__ import annotations

import re
from collections import namedtuple
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

from datalog.errors import InternalError
from datalog.ir.branch import Branch
from datalog.ir.core import Type

RECORD = "[]"
BRANCH = "$"
FIELD = "."
WHICH = "$?"


@dataclass(frozen=True)
class Shape:
    """A branch of an algebraic type, or, with an empty name, what the records of a record type look like.

    `type_names` are those of the fields as declared, `owner` is the name of the type."""

    name: str
    fields: tuple[str, ...]
    types: tuple[Type, ...] = field(compare=False)
    type_names: tuple[str, ...] = ()
    owner: str = field(default="Record", compare=False)

    @property
    def constructor(self) -> str:
        """The function that makes a value of this shape."""
        return f"{BRANCH}{self.name}" if self.name else RECORD

    def projection(self, place: int) -> str:
        """The function that gives the field at a place."""
        return f"{FIELD}{self.name}{FIELD}{self.fields[place]}" if self.name else f"{FIELD}{self.fields[place]}"

    def value(self, parts: Iterable[Any]) -> tuple[Any, ...] | Branch:
        """What stands for a value of this shape in Python: a `Branch`, or a named tuple for a record."""
        return Branch(self.name, *parts) if self.name else self._record(parts)

    @cached_property
    def _record(self) -> Callable[[Iterable[Any]], tuple[Any, ...]]:
        """A field whose name Python does not take is called by its place, `_0`."""
        names = [*self.fields]
        made: Any = namedtuple(re.sub(r"\W", "_", self.owner), names, rename=True)  # type: ignore[misc]
        return cast("Callable[[Iterable[Any]], tuple[Any, ...]]", made._make)


class Structure(Type):
    """A record type or an algebraic type. Its shapes stand in the order of their names, which is that of the branches' numbers.

    `define` is called once, when all types are known that it may mention."""

    __slots__ = ("record", "shapes", "text")

    def __init__(self, value: str, record: bool) -> None:
        super().__init__(value)
        self.record = record
        self.shapes: tuple[Shape, ...] = ()
        self.text = ""

    def define(self, shapes: tuple[Shape, ...]) -> None:
        self.shapes = tuple(sorted(shapes, key=lambda shape: shape.name))
        self.text = " | ".join(
            f"{shape.name}({', '.join(f'{name}: {type.value}' for name, type in zip(shape.fields, shape.types, strict=True))})"
            for shape in self.shapes
        )

    def __eq__(self, other: object) -> bool:
        """Types of one name and one declaration are one type, also in two analyses of one program."""
        return self is other or (isinstance(other, Structure) and (self.value, self.text) == (other.value, other.text))

    def __hash__(self) -> int:
        return hash(self.value)

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("types with parts are not pickled")

    def number(self, branch: str) -> int:
        """The number of a branch; -1 if there is none of that name."""
        return next((number for number, shape in enumerate(self.shapes) if shape.name == branch), -1)

    def place(self, projection: str) -> tuple[int, int]:
        """Which shape, and which of its fields, a projection gives."""
        for number, shape in enumerate(self.shapes):
            for place in range(len(shape.fields)):
                if shape.projection(place) == projection:
                    return number, place
        raise InternalError(f"{self.value} has no field {projection}")


def is_structural(name: str) -> bool:
    """Whether a function is one of those that make values with parts or take them apart."""
    return name == RECORD or name.startswith((BRANCH, FIELD))


def shape_made(name: str, type: Type) -> Shape | None:
    """The shape that a function makes, if it is a constructor."""
    if not isinstance(type, Structure) or name == WHICH or not (name == RECORD or name.startswith(BRANCH)):
        return None
    return next((shape for shape in type.shapes if shape.constructor == name), None)
