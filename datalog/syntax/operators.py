"""The operators of terms, and how tightly each binds: Soufflé's order."""

from __future__ import annotations

from enum import IntEnum


class Tightness(IntEnum):
    """How tightly a term's outermost operator binds; a looser term inside a tighter one takes parentheses."""

    LOR = 1
    LXOR = 2
    LAND = 3
    BOR = 4
    BXOR = 5
    BAND = 6
    SHIFT = 7
    SUM = 8
    PRODUCT = 9
    PREFIX = 10
    POWER = 11
    PRIMARY = 12


LEVELS = {
    Tightness.LOR: ("lor",),
    Tightness.LXOR: ("lxor",),
    Tightness.LAND: ("land",),
    Tightness.BOR: ("bor",),
    Tightness.BXOR: ("bxor",),
    Tightness.BAND: ("band",),
    Tightness.SHIFT: ("bshl", "bshr", "bshru"),
    Tightness.SUM: ("+", "-"),
    Tightness.PRODUCT: ("*", "/", "%"),
}

# For each infix operator: its own tightness, and what its left and right operands must have at least. Those of one level apply
# from left to right, but a power takes its right operand as far as it goes.
INFIX = {
    **{name: (level, level, Tightness(level + 1)) for level, names in LEVELS.items() for name in names},
    "^": (Tightness.POWER, Tightness.PRIMARY, Tightness.PREFIX),
}

PREFIX_WORDS = ("bnot", "lnot")
PREFIX = ("-", *PREFIX_WORDS)
