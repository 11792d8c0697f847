"""Values with parts: what stands for records and for values of algebraic types in Python.

A record is a tuple, or None for `nil`; a value of an algebraic type is a `Branch`. Both may be nested as deep as memory lets them:
what walks them here needs no stack of Python's own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import date
from typing import Any

Leaf = Callable[[Any], str]


class Branch:
    """A value of an algebraic type: `Branch("Add", 1, Branch("Zero"))` is `$Add(1, $Zero)`. It is immutable, equal by its parts and
    hashable; `fields` are those of the branch in their order, and iteration and `len` go over them.

    >>> match Branch("Add", 1, Branch("Zero")):
    ...     case Branch("Add", (left, right)):
    ...         print(left, right)
    1 $Zero
    """

    __slots__ = ("branch", "fields")
    __match_args__ = ("branch", "fields")
    branch: str
    fields: tuple[Any, ...]

    def __init__(self, branch: str, *fields: Any) -> None:
        object.__setattr__(self, "branch", branch)
        object.__setattr__(self, "fields", fields)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Branch is immutable, and its {name} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Branch is immutable, and its {name} cannot be deleted")

    def __reduce__(self) -> tuple[Any, ...]:
        return Branch, (self.branch, *self.fields)

    def __eq__(self, other: object) -> bool:
        return self.branch == other.branch and self.fields == other.fields if isinstance(other, Branch) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.branch, self.fields))

    def __len__(self) -> int:
        return len(self.fields)

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[Any]:
        return iter(self.fields)

    def __getitem__(self, place: int) -> Any:
        return self.fields[place]

    def __repr__(self) -> str:
        return spell_parts(self, spell_quoted)


def spell_quoted(value: object) -> str:
    """What has no parts, with texts and dates in quotes, as programs have them."""
    if isinstance(value, (str, date)):
        return json.dumps(value if isinstance(value, str) else value.isoformat(), ensure_ascii=False)
    return str(value).lower() if isinstance(value, bool) else str(value)


def spell_parts(value: object, leaf: Leaf) -> str:
    """`[1, [2, nil]]` or `$Add(1, $Zero)`; `leaf` spells what has no parts."""
    text: list[str] = []
    waiting: list[tuple[bool, Any]] = [(False, value)]  # the last one comes next; True: what is text already
    while waiting:
        spelled, one = waiting.pop()
        if spelled:
            text.append(one)
        elif one is None:
            text.append("nil")
        elif isinstance(one, Branch) and not one.fields:
            text.append(f"${one.branch}")
        elif isinstance(one, (tuple, Branch)):
            parts = one.fields if isinstance(one, Branch) else one
            text.append(f"${one.branch}(" if isinstance(one, Branch) else "[")
            waiting.append((True, ")" if isinstance(one, Branch) else "]"))
            for place in range(len(parts) - 1, -1, -1):
                waiting.append((False, parts[place]))
                if place:
                    waiting.append((True, ", "))
        else:
            text.append(leaf(one))
    return "".join(text)


def order_key(value: Any) -> tuple[Any, ...]:
    """What orders values of one type: `nil` first, then by how deep they are nested, by their branch, and by their fields.

    It is flat, so to compare two keys takes no stack of Python's own; NaN is behind all other floats."""
    depths: dict[int, int] = {}
    waiting: list[tuple[Any, bool]] = [(value, False)]
    while waiting:
        one, seen = waiting.pop()
        if not isinstance(one, (tuple, Branch)) or id(one) in depths:
            continue
        parts = one.fields if isinstance(one, Branch) else one
        if seen:
            depths[id(one)] = 1 + max((depths.get(id(part), 0) for part in parts), default=0)
        else:
            waiting.append((one, True))
            waiting.extend((part, False) for part in parts)
    key: list[Any] = []
    left: list[Any] = [value]
    while left:
        one = left.pop()
        if one is None:
            key.append(0)
        elif isinstance(one, (tuple, Branch)):
            key.append(depths[id(one)])
            if isinstance(one, Branch):
                key.append(one.branch)
            left.extend(reversed(one.fields if isinstance(one, Branch) else one))
        else:
            key += (one != one, 0.0) if one != one else (False, one)
    return tuple(key)
