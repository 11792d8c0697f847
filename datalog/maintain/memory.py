"""What the memory of an engine goes to.

Everything that grows with the data is counted: the pages of every tree, pages that are free or belong to older versions, symbols, records
and values of algebraic types, the memo of functions, and the buffers of joins. What a running evaluation holds for a while is not, nor is
the Python code.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from datalog.maintain.engine import Engine

Kind = Literal["arrangement", "records", "aggregates", "pages", "symbols", "structures", "memo", "buffers"]
SHOWN = 4  # parts that a summary names
UNITS = ("B", "kB", "MB", "GB", "TB")


@dataclass(frozen=True, slots=True)
class Part:
    """One thing that takes memory: what it is, its name, how many entries it has (rows, records, texts, calls), and its bytes."""

    kind: Kind
    name: str
    count: int
    bytes: int


def summary(parts: Iterable[Part]) -> str:
    """The greatest parts, as one line."""
    ordered = sorted(parts, key=lambda part: -part.bytes)
    rest = sum(part.bytes for part in ordered[SHOWN:])
    return ", ".join([*(f"{spell_bytes(part.bytes)} by {part.name}" for part in ordered[:SHOWN]), f"{spell_bytes(rest)} by all else"])


def spell_bytes(count: int) -> str:
    """A number of bytes for people, in powers of 1000.

    >>> spell_bytes(1_234_567)
    '1.2 MB'
    """
    size, unit = float(count), 0
    while size >= 999.95 and unit < len(UNITS) - 1:
        size, unit = size / 1000, unit + 1
    return f"{size:.{1 if unit else 0}f} {UNITS[unit]}"


def parts_of(engine: Engine, roots: NDArray[np.int64] | None = None, without: Collection[int] = ()) -> tuple[Part, ...]:
    """What a database takes at present. `roots` is a version, else the committed one; trees with the roots `without` cannot be read."""
    storage = engine.storage
    pool = storage.pool
    version = storage.committed if roots is None else roots
    used = 0
    listed: set[int] = set()

    def part(kind: Kind, name: str, numbers: list[int]) -> Part:
        nonlocal used
        listed.update(numbers)
        trees = [(storage.trees[number], int(version[number])) for number in numbers if version[number] not in without]
        pages = sum(tree.pages_of(root) for tree, root in trees)
        used += pages
        return Part(kind, name, sum(tree.size(root) for tree, root in trees), pages * pool.page_bytes)

    parts = []
    for name, kept in storage.arrangements.items():
        columns = engine.program.predicates[name].attributes if name in engine.program.predicates else None
        for arrangement in kept:
            told = (
                arrangement.columns if columns is None else arrangement.columns[: len(columns)]
            )  # one without columns is kept as one of one
            order = ", ".join(str(column + 1) if columns is None else columns[column] for column in told)
            parts.append(part("arrangement", f"{name}({order})", [arrangement.number]))
    for stratum in engine.strata:
        for number, rule in zip(stratum.numbers, stratum.rules, strict=False):
            if rule.index is not None:
                parts.append(
                    part("records", f"records of rule {number}, of {stratum.predicates[0]}", [watch.number for watch in rule.index.watches])
                )
    parts.append(part("aggregates", "states of aggregates", [number for number in range(len(storage.trees)) if number not in listed]))
    taken = pool.used_pages
    parts.append(Part("pages", "older versions and what is unfinished", taken - used, (taken - used) * pool.page_bytes))
    free = pool.bytes // pool.page_bytes - taken
    parts.append(Part("pages", "free pages", free, free * pool.page_bytes))
    symbols, memo, joins = engine.values.symbols, engine.joins.memo, engine.joins.every()
    parts.append(Part("symbols", "symbols", len(symbols), symbols.bytes))
    structures = engine.values.structures
    if len(structures) > 1:
        parts.append(Part("structures", "records and values of algebraic types", len(structures) - 1, structures.bytes))
    parts.append(Part("memo", "calls of functions", len(memo), memo.bytes))
    parts.append(Part("buffers", "buffers of joins", len(joins), sum(join.bytes for join in joins)))
    return tuple(part for part in parts if part.bytes)
