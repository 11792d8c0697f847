"""What `Database.stats` gives: the parts of the database's memory, as a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from datalog.maintain.memory import Kind, Part, spell_bytes
from datalog.render import plain_table

__all__ = ["Part", "Stats"]


@dataclass(frozen=True, slots=True)
class Stats:
    """What `Database.stats()` tells; prints as a table, the greatest parts first. `limit` is the memory limit, if there is one."""

    parts: tuple[Part, ...]
    limit: int | None = None

    @property
    def bytes(self) -> int:
        """All parts together."""
        return sum(part.bytes for part in self.parts)

    def of(self, kind: Kind) -> int:
        """The bytes of all parts of a kind."""
        return sum(part.bytes for part in self.parts if part.kind == kind)

    def __iter__(self) -> Iterator[Part]:
        return iter(sorted(self.parts, key=lambda part: (-part.bytes, part.kind, part.name)))

    def __str__(self) -> str:
        caption = spell_bytes(self.bytes) + ("" if self.limit is None else f" of {spell_bytes(self.limit)}")
        rows = [(part.kind, part.name, part.count, spell_bytes(part.bytes)) for part in self]
        return "\n".join(plain_table(caption, ("kind", "name", "entries", "memory"), (False, False, True, True), rows))

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(str(self))}</pre>"
