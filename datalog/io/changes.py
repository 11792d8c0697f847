"""What a transaction changed, in the formats that transaction streams are read in."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from operator import itemgetter
from typing import Any

from datalog.io.literals import spell
from datalog.io.stream import Format
from datalog.ir.branch import order_key
from datalog.ir.core import Predicate, PyValue, Row, Type
from datalog.ir.spelling import spell_value
from datalog.ir.structures import Structure
from datalog.store.canonical import folded

PLAIN = {Type.NUMBER, Type.UNSIGNED, Type.SYMBOL, Type.BOOL}  # written by JSON's own means
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
    sides = [f'"txn": {txn}']
    for at, side in enumerate(("insert", "delete")):
        listed = [f"{json.dumps(name)}: {json_rows(changes[name][at], signature[name])}" for name in names if changes[name][at]]
        sides.append(f'"{side}": {{{", ".join(listed)}}}')
    return f"{{{', '.join(sides)}}}\n"


def facts(rows: Iterable[Row], predicate: Predicate) -> Iterable[str]:
    name, types = predicate.name, predicate.types
    for row in sorted_rows(rows, predicate):
        values = [spell(value, type) for value, type in zip(row, types, strict=False)]
        yield f"{name}[{','.join(values[:-1])}] = {values[-1]}." if predicate.functional else f"{name}({','.join(values)})."


def json_rows(rows: Iterable[Row], predicate: Predicate) -> str:
    ordered: Sequence[Sequence[PyValue]] = sorted_rows(rows, predicate)
    if not PLAIN.issuperset(predicate.types):
        ordered = [[json_value(value, type) for value, type in zip(row, predicate.types, strict=True)] for row in ordered]
    if all(type.scale < 0 for type in predicate.types):
        return json.dumps(ordered, ensure_ascii=False, allow_nan=False)
    # JSON has no limit to the digits of a number, but Python's writer knows no decimals.
    cells = [[spell_value(cell) if isinstance(cell, Decimal) else json.dumps(cell, ensure_ascii=False) for cell in row] for row in ordered]
    return f"[{', '.join('[' + ', '.join(row) + ']' for row in cells)}]"


def json_value(value: PyValue, type: Type) -> PyValue:
    """The value, or what stands for one that JSON does not have: a string, of a record an array, of a branch `{"Add": [1, 2]}`."""
    if isinstance(type, Structure):
        listed: PyValue = folded(value, type, within_json, None, json_parts)
        return listed
    if isinstance(value, date) or (isinstance(value, float) and not math.isfinite(value)):
        return spell_value(value)
    return value


def within_json(value: Any, type: Type) -> PyValue:
    """What stands for a value within another; decimals are strings there."""
    return spell_value(value) if isinstance(value, Decimal) else json_value(value, type)


def json_parts(type: Structure, number: int, parts: list[Any]) -> Any:
    return parts if type.record else {type.shapes[number].name: parts}


def sorted_rows(rows: Iterable[Row], predicate: Predicate) -> list[Row]:
    """Rows in the order of their values, with NaN behind all other floats."""
    if any(isinstance(type, Structure) for type in predicate.types):
        return sorted(rows, key=lambda row: [order_key(value) for value in row])
    if Type.FLOAT not in predicate.types:
        return sorted(rows)
    places = [place for place, type in enumerate(predicate.types) if type is Type.FLOAT]
    with_nan = [row for row in rows if any(row[place] != row[place] for place in places)]
    if not with_nan:
        return sorted(rows)
    keyed = [(tuple((value != value, 0.0 if value != value else value) for value in row), row) for row in rows]
    return [row for _, row in sorted(keyed, key=itemgetter(0))]
