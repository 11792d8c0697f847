"""What a transaction changed, in the formats that transaction streams are read in."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from datalog.io.literals import spell
from datalog.io.stream import Format
from datalog.ir.core import Predicate, Row, Type

Changes = Mapping[str, tuple[Sequence[Row], Sequence[Row]]]  # inserted and deleted rows by predicate


def format_changes(txn: int, changes: Changes, format: Format, signature: Mapping[str, Predicate]) -> str:
    """The lines for one transaction, with a line end at the end; sorted, so that two runs never differ.

    `read_transactions` reads it back as the same rows. Predicates with no change are left out.
    """
    names = sorted(name for name, (inserted, deleted) in changes.items() if inserted or deleted)
    if format == "text":
        lines = [f"-{fact}" for name in names for fact in facts(changes[name][1], signature[name])]
        lines += [f"+{fact}" for name in names for fact in facts(changes[name][0], signature[name])]
        return "".join(f"{line}\n" for line in (*lines, "commit."))
    sides = {
        side: {name: json_rows(changes[name][at], signature[name]) for name in names if changes[name][at]}
        for at, side in enumerate(("insert", "delete"))
    }
    return json.dumps({"txn": txn, **sides}, ensure_ascii=False, allow_nan=False) + "\n"


def facts(rows: Iterable[Row], predicate: Predicate) -> Iterable[str]:
    for row in sorted_rows(rows, predicate):
        yield f"{predicate.name}({','.join(spell(value, type) for value, type in zip(row, predicate.types, strict=False))})."


def json_rows(rows: Iterable[Row], predicate: Predicate) -> list[list[Any]]:
    if Type.FLOAT not in predicate.types:
        return list(map(list, sorted_rows(rows, predicate)))
    return [
        [repr(value) if isinstance(value, float) and not math.isfinite(value) else value for value in row]
        for row in sorted_rows(rows, predicate)
    ]


def sorted_rows(rows: Iterable[Row], predicate: Predicate) -> list[Row]:
    """Rows in the order of their values, with NaN behind all other floats."""
    if Type.FLOAT not in predicate.types:
        return sorted(rows)
    places = [place for place, type in enumerate(predicate.types) if type is Type.FLOAT]
    with_nan = [row for row in rows if any(row[place] != row[place] for place in places)]
    if not with_nan:
        return sorted(rows)
    keyed = [(tuple((value != value, 0.0 if value != value else value) for value in row), row) for row in rows]
    return [row for _, row in sorted(keyed, key=itemgetter(0))]
