"""Programs with columns of lattices, naively: each round derives from the joined rows what rules give, and joins what there is.

Bodies are given in words that the oracle knows: `said` is what stands in the program, `meant` what it stands for.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass

from tests.oracle.functors import FUNCTORS, Lattice
from tests.oracle.naive import _derive, alternatives
from tests.oracle.rules import Atom, Literal, Program, Row, Rule
from tests.oracle.tables import Tables
from tests.oracle.text import to_text


@dataclass(frozen=True, slots=True)
class Said:
    """A rule as it is written, and the literals that it stands for."""

    rule: Rule
    meant: tuple[Literal, ...]

    @property
    def head(self) -> Atom:
        return self.rule.heads[0]


@dataclass(frozen=True, slots=True)
class Joined:
    """A program whose predicates in `columns` have so many columns of a lattice, their last ones; `strata` are evaluated in turn."""

    types: Mapping[str, tuple[str, ...]]
    lattice: Lattice
    columns: Mapping[str, int]
    strata: tuple[tuple[Said, ...], ...]

    def text(self) -> str:
        """With T for the type of the lattice."""
        rules = tuple(said.rule for stratum in self.strata for said in stratum)
        lines = [f".type T = {self.lattice.type}\n"]
        for name in dict.fromkeys((self.lattice.lub, self.lattice.glb, self.lattice.up)):
            arguments = ", ".join(f"{argument}: T" for argument in "xy"[: len(FUNCTORS[name].arguments)])
            lines.append(f".functor {name}({arguments}): T\n")
        bottom = f'"{self.lattice.bottom}"' if self.lattice.type == "symbol" else str(self.lattice.bottom)
        lines.append(f".lattice T<> {{ Bottom -> {bottom}, Lub -> @{self.lattice.lub}(_, _), Glb -> @{self.lattice.glb}(_, _) }}\n")
        for line in to_text(Program(dict(self.types), rules)).splitlines(keepends=True):
            name = line.removeprefix(".decl ").partition("(")[0]
            if line.startswith(".decl ") and self.columns.get(name):
                parts = line.partition("(")[2].partition(")")[0].split(", ")
                first = len(parts) - self.columns[name]
                parts[first:] = [f"{part.partition(':')[0]}: T<>" for part in parts[first:]]
                line = f".decl {name}({', '.join(parts)})\n"
            lines.append(line)
        return "".join(lines)


def evaluate(program: Joined, facts: Mapping[str, Set[Row]]) -> dict[str, set[Row]]:
    """All relations on the facts."""
    tables = Tables({name: _joined(program, name, set(facts.get(name, ()))) for name in program.types}, False)
    for stratum in program.strata:
        changed = True
        while changed:
            changed = False
            for said in stratum:
                name = said.head.predicate
                found = {row for body in alternatives(said.meant) for row in _derive(said.head, body, tables)}
                new = _joined(program, name, found | tables.rows[name])
                if new != tables.rows[name]:
                    changed = True
                    tables = Tables({**tables.rows, name: new}, False)
    return tables.rows


def _joined(program: Joined, name: str, rows: set[Row]) -> set[Row]:
    """One row of those that agree before the columns of the lattice."""
    columns = program.columns.get(name, 0)
    if not columns:
        return rows
    lub = FUNCTORS[program.lattice.lub].call
    found: dict[Row, Row] = {}
    for row in sorted(rows):
        key, values = row[:-columns], row[-columns:]
        found[key] = tuple(map(lub, found[key], values)) if key in found else values
    return {(*key, *values) for key, values in found.items()}
