"""A relation as Python sees it: the rows of one predicate at one version, read-only, sorted by value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from datalog.errors import DataError, DatalogError
from datalog.ir.core import Predicate, Type

if TYPE_CHECKING:
    from datalog.ir.core import PyValue, Row
    from datalog.store.storage import Storage
    from datalog.store.values import Values

SHOWN_ROWS = 20


class Relation:
    """The rows of a predicate. `len` is O(page), `in` O(log n); iteration sorts, O(n log n).

    Of a functional predicate, `relation[key]` and `relation.get(key)` are the value of a key, O(log n).
    """

    def __init__(
        self, predicate: Predicate, storage: Callable[[], Storage], values: Values, roots: NDArray[np.int64] | None = None
    ) -> None:
        self._predicate, self._current, self._values, self._roots = predicate, storage, values, roots

    @property
    def name(self) -> str:
        return self._predicate.name

    @property
    def columns(self) -> tuple[str, ...]:
        return self._predicate.attributes

    def __len__(self) -> int:
        return self._storage.size(self.name, self._version)

    def __contains__(self, row: object) -> bool:
        from datalog.io.rows import rows_from

        if self._has_new_symbol(row if isinstance(row, (tuple, list)) else (row,)):
            return False
        try:
            codes = rows_from([row], self._predicate, self._values)
        except DataError:
            return False  # no row of the predicate's types can equal it
        return bool(self._storage.has(self.name, codes, self._version)[0])

    def __getitem__(self, key: object) -> PyValue:
        """The value of a key of a functional predicate; the key is a tuple, or the one value that it has. KeyError if it has no value.

        Raises DatalogError if the predicate is not functional, DataError for what is no key of its types.
        """
        from datalog.io.keyed import keys_from, tuple_of
        from datalog.store.keys import find_values

        if not self._predicate.functional:
            raise DatalogError(f"{self.name} is no functional predicate, so its rows have no keys")
        cells = tuple_of(key)
        if len(cells) != len(self.columns) - 1 or not self._has_new_symbol(cells):
            codes = keys_from([cells], self._predicate, self._values)
            found, values = find_values(self._storage, self.name, codes, self._version)
            if found[0]:
                return self._values.decode(int(values[0]), self._predicate.types[-1])
        raise KeyError(key)

    def get(self, key: object, default: object = None) -> object:
        """The value of a key, or `default` if it has none."""
        try:
            return self[key]
        except KeyError:
            return default

    def __iter__(self) -> Iterator[Row]:
        from datalog.io.rows import rows_of

        return iter(rows_of(self.codes(), self._predicate, self._values))

    def __repr__(self) -> str:
        *keys, value = self.columns or ("",)
        columns = f"({', '.join(keys)}) = {value}" if self._predicate.functional else f"({', '.join(self.columns)})"
        return f"<relation {self.name}{columns}: {len(self)} rows>"

    def first(self, count: int) -> list[Row]:
        """The first `count` rows in order. O(n log n), but only they are decoded."""
        from datalog.io.rows import rows_of

        return rows_of(self.codes()[:count], self._predicate, self._values)

    def codes(self) -> NDArray[np.int64]:
        """int64[n, columns]: the codes of all rows, sorted by value."""
        return self._values.sort_by_value(self._storage.rows(self.name, self._version), self._predicate.types)

    def to_arrow(self) -> Any:
        """A `pyarrow.Table`, rows sorted by value."""
        codes = self.codes()[:, : len(self.columns)]
        return self._values.to_arrow(codes, self.columns, self._predicate.types[: len(self.columns)])

    def to_pandas(self) -> Any:
        """A `pandas.DataFrame`; needs pandas."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """A `polars.DataFrame`; needs polars."""
        import polars

        return polars.from_arrow(self.to_arrow())

    def _repr_html_(self) -> str:
        from html import escape

        names = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        rows = list(self)
        shown = "".join("<tr>" + "".join(f"<td>{escape(str(value))}</td>" for value in row) + "</tr>" for row in rows[:SHOWN_ROWS])
        rest = f"<caption>{escape(self.name)}: {len(rows)} rows" + (f", the first {SHOWN_ROWS}" if len(rows) > SHOWN_ROWS else "")
        return f"<table>{rest}</caption><thead><tr>{names}</tr></thead><tbody>{shown}</tbody></table>"

    def _has_new_symbol(self, cells: Sequence[object]) -> bool:
        """Whether a text stands in a column of symbols that is no symbol yet: asking makes none."""
        columns = zip(cells, self._predicate.types, strict=False)
        return any(type is Type.SYMBOL and isinstance(cell, str) and self._values.symbols.find(cell) is None for cell, type in columns)

    @property
    def _storage(self) -> Storage:
        return self._current()

    @property
    def _version(self) -> NDArray[np.int64]:
        return self._storage.committed if self._roots is None else self._roots
