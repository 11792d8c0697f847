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


Fields = list[tuple[Type, Codes]]


def _levels(reached: dict[Structure, Codes], values: Values) -> Iterator[tuple[Structure, Codes, Fields]]:
    """The values of each type and shape, those first that others hold; their places among the reached ones, and their fields."""
    groups: list[tuple[Structure, Codes, Fields]] = []
    for of, some in reached.items():
        for shape, own, columns in values.structures.shaped(some, of):
            if not len(own):
                continue
            keys: Fields = []
            for field, column in zip(shape.types, columns, strict=True):
                if field is Type.SYMBOL:
                    texts, places = values.distinct_texts(column)
                    column = order_of(texts)[places]
                keys.append((field, column))
            groups.append((of, np.searchsorted(some, own), keys))
    depths = _depths(reached, groups)
    leveled: list[tuple[int, int, Codes]] = []
    for number, (of, places, _) in enumerate(groups):
        depth = depths[of][places]
        order = np.argsort(depth, kind="stable")
        for chosen in np.split(order, np.flatnonzero(np.diff(depth[order])) + 1):
            leveled.append((int(depth[chosen[0]]), number, chosen))
    for _, number, chosen in sorted(leveled, key=lambda one: one[:2]):
        of, places, keys = groups[number]
        yield of, places[chosen], [(field, column[chosen]) for field, column in keys]


def _depths(reached: dict[Structure, Codes], groups: list[tuple[Structure, Codes, Fields]]) -> dict[Structure, Codes]:
    """How deep the reached values of each type are nested; 0 for `nil`."""
    depths = {of: np.zeros(len(some), np.int64) for of, some in reached.items()}
    held = {of: {field for one, _, keys in groups for field, _ in keys if one == of and isinstance(field, Structure)} for of in reached}
    done: set[Type] = set()
    while ready := [of for of in reached if of not in done and held[of] <= done]:  # whole types, each after those of its fields
        for of in ready:
            for one, places, keys in groups:
                if one == of:
                    inner = [
                        depths[field][np.searchsorted(reached[field], column)] for field, column in keys if isinstance(field, Structure)
                    ]
                    depths[of][places] = 1 + np.max(inner, axis=0) if inner else 1
        done.update(ready)
    # Types that hold themselves: one value after another, each after its parts.
    rows: list[tuple[int, Structure, int, list[tuple[Structure, int]]]] = []
    for of, places, keys in groups:
        if of not in done:
            parts = [(field, np.searchsorted(reached[field], column).tolist()) for field, column in keys if isinstance(field, Structure)]
            ids = reached[of][places].tolist()
            for row, (one, place) in enumerate(zip(ids, places.tolist(), strict=True)):
                rows.append((one, of, place, [(field, at[row]) for field, at in parts]))
    rows.sort(key=itemgetter(0))
    found = {of: array.tolist() for of, array in depths.items()}
    for _, of, place, parts in rows:
        found[of][place] = 1 + max((found[field][at] for field, at in parts), default=0)
    return {of: np.array(one, np.int64) for of, one in found.items()}


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
