"""Python's forms of records and of values of algebraic types, to ids and back, and the order of such values.

`nil` comes first, then the values by how deep they are nested, by the name of their branch, and by their fields from left to right.
No id takes part in that, so outputs do not depend on what was there before.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from datalog.ir.branch import spell_parts, spell_quoted
from datalog.ir.core import Type
from datalog.ir.structures import Shape, Structure
from datalog.store.canonical import folded
from datalog.store.interner import Codes, order_of

if TYPE_CHECKING:
    from datalog.store.values import Values


def encode(value: object, type: Structure, values: Values) -> int:
    """The id of one value. BadValue if it is none of `type`, or one of its parts is none of its field's."""

    code: int = folded(value, type, values.encode, 0, values.structures.intern)
    return code


def decode(ids: Codes, type: Structure, values: Values) -> list[Any]:
    """The values of a column of ids; equal ones are one object. O(n log n) in the number of all values that they hold."""
    rows: list[tuple[int, Structure, Shape, tuple[Any, ...]]] = []
    reached = values.structures.reached(ids, type)
    for of, some in reached.items():
        for shape, own, columns in values.structures.shaped(some, of):
            decoded = [
                column.tolist() if isinstance(field, Structure) else values.decode_column(column, field)
                for column, field in zip(columns, shape.types, strict=True)
            ]
            rows += zip(own.tolist(), repeat(of), repeat(shape), zip(*decoded, strict=True) if decoded else repeat(()), strict=False)
    rows.sort(key=itemgetter(0))  # a value is made after its parts
    built: dict[Structure, dict[int, Any]] = {of: {} for of in reached}
    for one, of, shape, parts in rows:
        built[of][one] = shape.value(
            built[field].get(part) if isinstance(field, Structure) else part for part, field in zip(parts, shape.types, strict=True)
        )
    return [built[type].get(one) for one in ids.tolist()]


def ranks(ids: Codes, type: Structure, values: Values) -> Codes:
    """A number for each id that is ordered as the values are."""
    reached = values.structures.reached(ids, type)
    found = {of: np.zeros(len(some), np.int64) for of, some in reached.items()}
    for of, places, keys in _levels(reached, values):
        columns = [
            found[field][np.searchsorted(reached[field], column)] if isinstance(field, Structure) else column for field, column in keys
        ]
        order = np.lexsort(columns[::-1]) if columns else np.arange(len(places))
        found[of][places[order]] = int(found[of].max(initial=0)) + 1 + np.arange(len(places))
    return found[type][np.searchsorted(reached[type], ids)]


Level = tuple[Structure, Codes, list[tuple[Type, Codes]]]


def _levels(reached: dict[Structure, Codes], values: Values) -> Iterator[Level]:
    """The values of each type and shape, those first that hold others; their places among the reached ones, and their fields."""
    groups: list[tuple[Structure, Codes, list[tuple[Type, Codes]]]] = []
    parts: list[tuple[int, Structure, list[tuple[Structure, int]]]] = []
    for of, some in reached.items():
        for shape, own, columns in values.structures.shaped(some, of):
            keys: list[tuple[Type, Codes]] = []
            for field, column in zip(shape.types, columns, strict=True):
                if field is Type.SYMBOL:
                    distinct, back = np.unique(column, return_inverse=True)
                    column = order_of(values.symbols.texts(distinct.tolist()))[back]
                keys.append((field, column))
            groups.append((of, own, keys))
            inner = [(field, column.tolist()) for field, column in keys if isinstance(field, Structure)]
            for row, one in enumerate(own.tolist()):
                parts.append((one, of, [(field, column[row]) for field, column in inner]))
    parts.sort(key=itemgetter(0))
    depths: dict[Structure, dict[int, int]] = {of: {} for of in reached}
    for one, of, held in parts:
        depths[of][one] = 1 + max((depths[field].get(part, 0) for field, part in held), default=0)
    leveled: list[tuple[int, int, Codes]] = []
    for number, (of, own, _) in enumerate(groups):
        depth = np.fromiter(map(depths[of].__getitem__, own.tolist()), np.int64, len(own))
        order = np.argsort(depth, kind="stable")
        for chosen in np.split(order, np.flatnonzero(np.diff(depth[order])) + 1) if len(own) else ():
            leveled.append((int(depth[chosen[0]]), number, chosen))
    for _, number, chosen in sorted(leveled, key=lambda one: one[:2]):
        of, own, keys = groups[number]
        yield of, np.searchsorted(reached[of], own[chosen]), [(field, column[chosen]) for field, column in keys]


def to_arrow(ids: Codes, type: Structure, values: Values) -> Any:
    """An Arrow array: structs for records that hold neither themselves nor a branch at any depth, with null for `nil`, else texts."""
    import pyarrow as pa

    distinct, places = np.unique(ids, return_inverse=True)
    if not is_flat(type):
        return pa.array([spell_parts(value, spell_quoted) for value in decode(distinct, type, values)], pa.string()).take(pa.array(places))
    shape, own, columns = next(values.structures.shaped(distinct, type))
    fields = [values.column_to_arrow(column, field) for column, field in zip(columns, shape.types, strict=True)]
    structs = pa.StructArray.from_arrays(fields, names=list(shape.fields)) if fields else pa.array([{}] * len(own), pa.struct([]))
    return structs.take(pa.array(np.searchsorted(own, ids), mask=~np.isin(ids, own)))


def is_flat(type: Structure, above: tuple[Structure, ...] = ()) -> bool:
    """Whether the type is of records that hold no values of their own type, nor any of an algebraic one, at any depth."""
    if not type.record or type in above:
        return False
    return all(is_flat(field, (*above, type)) for shape in type.shapes for field in shape.types if isinstance(field, Structure))
