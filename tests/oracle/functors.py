"""Functors that random programs declare: pure Python functions, which the engine is given and the oracle calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import gcd, lcm
from typing import Any

from tests.oracle.rules import Value


@dataclass(frozen=True, slots=True)
class Functor:
    name: str
    arguments: tuple[str, ...]
    result: str
    call: Callable[..., Any]

    def declaration(self) -> str:
        arguments = ", ".join(f"{name}: {type}" for name, type in zip("xyz", self.arguments, strict=False))
        return f".functor {self.name}({arguments}): {self.result}"


@dataclass(frozen=True, slots=True)
class Lattice:
    """A lattice of numbers or symbols; `up` is monotone, and all values that it leads to from a few are few."""

    type: str
    bottom: Value
    some: tuple[Value, ...]
    lub: str
    glb: str
    up: str


def _letters(*texts: str) -> str:
    return "".join(sorted(set().union(*texts)))


FUNCTORS = {
    one.name: one
    for one in (
        Functor("mix", ("number", "number"), "number", lambda x, y: (3 * x + y) % 7),
        Functor("tag", ("number", "symbol"), "symbol", lambda x, text: (text + "ab"[x % 2])[-2:]),
        Functor("size", ("symbol",), "number", len),
        Functor("two", (), "number", lambda: 2),
        Functor("over", ("number", "number"), "number", lambda so_far, x: (so_far * 5 + x) % 101),  # the order of values counts
        Functor("behind", ("symbol", "symbol"), "symbol", lambda so_far, text: (so_far + "," + text)[-7:]),
        Functor("longer", ("symbol", "number"), "symbol", lambda so_far, x: (so_far + str(x))[-6:]),
        Functor("greater", ("number", "number"), "number", max),
        Functor("smaller", ("number", "number"), "number", min),
        Functor("next", ("number",), "number", lambda x: min(x + 1, 5)),
        Functor("union", ("symbol", "symbol"), "symbol", _letters),
        Functor("common", ("symbol", "symbol"), "symbol", lambda x, y: "".join(sorted(set(x) & set(y)))),
        Functor("more", ("symbol",), "symbol", lambda x: _letters(x, "b")),
        Functor("multiple", ("number", "number"), "number", lcm),
        Functor("divisor", ("number", "number"), "number", gcd),
        Functor("even", ("number",), "number", lambda x: lcm(x, 2)),
    )
}

LATTICES = (
    Lattice("number", 0, (0, 1, 2, 3, 4), "greater", "smaller", "next"),
    Lattice("symbol", "", ("", "a", "b", "c", "ab", "bc"), "union", "common", "more"),
    Lattice("number", 1, (1, 2, 3, 5, 6, 10), "multiple", "divisor", "even"),
)


def declarations(names: Iterable[str]) -> str:
    """The text that declares functors."""
    return "".join(f"{FUNCTORS[name].declaration()}\n" for name in names)


def functions() -> dict[str, Callable[..., Any]]:
    """What the engine is given."""
    return {name: one.call for name, one in FUNCTORS.items()}
