"""What a program says of a type whose values are joined: the functors that join and meet two of them, and the least one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from datalog.syntax.tree import Term


@dataclass(frozen=True, slots=True)
class Lattice:
    """Functors as terms call them; `glb` is empty and `bottom` None where the program says nothing."""

    lub: str
    glb: str = ""
    bottom: Term | None = None

    @property
    def is_met(self) -> bool:
        """Whether bodies read columns by what is below their values."""
        return bool(self.glb) and self.bottom is not None


Lattices = Mapping[str, Mapping[int, Lattice]]  # of predicates: their columns of lattices, by number
