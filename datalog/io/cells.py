"""Columns of cells, as Arrow's parser cuts them out of a file, to codes: bools, dates, datetimes, decimals.

Each distinct cell is read as `datalog.io.literals.parse` reads it, once. Where all cells have the form that is usual, Arrow converts
them; what it makes of a text of that form is what `parse` makes of it, and it refuses what `parse` refuses.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from datalog.io.literals import parse
from datalog.ir.core import Type
from datalog.ir.structures import Structure
from datalog.store.interner import Codes
from datalog.store.values import BadValue, Values

DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
DATETIME = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?Z?$"


def codes_of_cells(column: Any, type: Type, values: Values) -> Codes | None:
    """The codes of a chunked Arrow column of strings; None where one of them is bad."""
    try:
        usual = converted(column, type)
        return distinct_cells(column, type, values) if usual is None else values.encode_column(usual, type)
    except BadValue:
        return None


def converted(column: Any, type: Type) -> Any:
    """The cells as Arrow's own type, or None where they have another form or there is no such value."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if type is Type.BOOL or isinstance(type, Structure):
        return None
    decimal = rf"^-?[0-9]{{1,{19 - type.scale}}}(\.[0-9]{{1,{type.scale}}})?$" if type.scale else r"^-?[0-9]{1,19}$"
    form = DATE if type is Type.DATE else DATETIME if type is Type.DATETIME else decimal
    if not pc.all(pc.match_substring_regex(column, form)).as_py():
        return None
    try:
        if type is Type.DATE:
            return column.cast(pa.date32())
        if type is Type.DATETIME:
            return pc.utf8_rtrim(column, characters="Z").cast(pa.timestamp("us"))
        return column.cast(pa.decimal128(19, type.scale))
    except pa.ArrowInvalid:
        return None


def distinct_cells(column: Any, type: Type, values: Values) -> Codes:
    """The codes of all cells. BadValue if one of them is bad."""
    encoded = column.combine_chunks().dictionary_encode()
    known = values.encode_column([parse(text, type) for text in encoded.dictionary.to_pylist()], type)
    return known[encoded.indices.to_numpy()] if len(known) else np.empty(0, np.int64)
