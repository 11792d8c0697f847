"""A transaction as Python sees it: changes are staged, and applied all at once or not at all."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from datalog.errors import DatalogError, NotEvaluated
from datalog.ir.core import BASE, Predicate
from datalog.last_words import DELETE, DELETE_KEY, INSERT, UPSERT

if TYPE_CHECKING:
    from datalog.database import Database
    from datalog.ir.core import Row
    from datalog.store.storage import Delta
    from datalog.store.values import Values

Words = NDArray[np.int64]


class Change:
    """How one predicate changed. Rows are sorted by value, and decoded when they are first asked for.

    Two changes are equal if the same rows came and went."""

    def __init__(self, predicate: Predicate, delta: Delta | None, values: Values) -> None:
        self._predicate, self._delta, self._values = predicate, delta, values

    @cached_property
    def inserted(self) -> list[Row]:
        """The rows that came, as Python tuples."""
        return self._rows(self._delta.inserted) if self._delta is not None and len(self._delta.inserted) else []

    @cached_property
    def deleted(self) -> list[Row]:
        """The rows that went, as Python tuples."""
        return self._rows(self._delta.deleted) if self._delta is not None and len(self._delta.deleted) else []

    def to_arrow(self) -> tuple[Any, Any]:
        """The rows that came and those that went, as two `pyarrow.Table`s; much quicker than tuples where there are many."""
        none = np.empty((0, self._predicate.width), np.int64)
        come, gone = (none, none) if self._delta is None else (self._delta.inserted, self._delta.deleted)
        return self._table(come), self._table(gone)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Change) and (self.inserted, self.deleted) == (other.inserted, other.deleted)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<change of {self._predicate.name}: {counts(self._delta)}>"

    def _rows(self, codes: Words) -> list[Row]:
        from datalog.io.rows import rows_of

        predicate, values = self._predicate, self._values
        return rows_of(values.sort_by_value(codes, predicate.types), predicate, values)

    def _table(self, codes: Words) -> Any:
        names, types = self._predicate.attributes, self._predicate.types
        return self._values.to_arrow(self._values.sort_by_value(codes, types), names, types)


class Changes(Mapping[str, Change]):
    """What one transaction changed, by predicate; predicates that did not change have empty lists. Decoded when read.

    Of a predicate on demand it is not known: NotEvaluated.

    `version` is the number of the transaction. Iteration gives the names of the predicates that changed, sorted.
    """

    def __init__(
        self,
        version: int,
        deltas: Mapping[str, Delta],
        predicates: Mapping[str, Predicate],
        values: Values,
        on_demand: Collection[str] = (),
    ) -> None:
        self.version = version
        self._deltas, self._predicates, self._values, self._on_demand = deltas, predicates, values, on_demand

    def __getitem__(self, name: str) -> Change:
        predicate = self._predicates.get(name)
        if predicate is None or predicate.hidden:
            raise KeyError(name)
        if name in self._on_demand:
            raise NotEvaluated(name, predicate.attributes)
        return Change(predicate, self._deltas.get(name), self._values)

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(name for name in self._deltas if not self._predicates[name].hidden))

    def __len__(self) -> int:
        return sum(not self._predicates[name].hidden for name in self._deltas)

    def __contains__(self, name: object) -> bool:
        return name in self._deltas and not self._predicates[str(name)].hidden

    def __repr__(self) -> str:
        listed = ", ".join(f"{name} {counts(self._deltas[name])}" for name in self)
        return f"<changes of transaction {self.version}: {listed or 'none'}>"


class Transaction:
    """Staged changes. As a context manager it commits at the end and aborts on an exception; the last word on a row or key wins."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._staged: dict[str, list[tuple[Words, int]]] = {}
        self._changes: Changes | None = None
        self._over = False

    def insert(self, predicate: str, rows: Any) -> None:
        """Stage rows to insert: tuples, a DataFrame, an Arrow table, any iterable. Raises DataError for rows that do not fit.

        Columns of a table go by their names if these are the predicate's, in any order, and by position if none of them is; dictionaries
        among the rows go by name.

        A row of a functional predicate is its key and then the value; `{key: value}` will do, too. If a key that has a value
        gets another one by `insert`, the commit fails.
        """
        self._say(INSERT, predicate, rows)

    def delete(self, predicate: str, rows: Any) -> None:
        """Stage rows to delete."""
        self._say(DELETE, predicate, rows)

    def upsert(self, predicate: str, rows: Any) -> None:
        """Stage rows of a functional predicate, each to replace what its key has, whether stored or staged before."""
        self._say(UPSERT, predicate, rows)

    def delete_keys(self, predicate: str, keys: Any) -> None:
        """Stage keys of a functional predicate to be left without a value; keys come as rows of their own."""
        self._say(DELETE_KEY, predicate, keys)

    @property
    def changes(self) -> Changes:
        """What the transaction changed; known once it has been committed."""
        if self._changes is None:
            raise DatalogError("the transaction has not been committed; its changes are known afterwards")
        return self._changes

    def commit(self) -> Changes:
        """Apply everything that was staged. Raises what evaluation raises, and then nothing has changed."""
        self._end()
        self._database.commit(self, self._staged)
        return self.changes

    def committed(self, changes: Changes) -> None:
        """Take note of what the transaction changed. For the database."""
        self._changes = changes

    def abort(self) -> None:
        """Forget everything that was staged."""
        self._end()
        self._staged.clear()

    def __enter__(self) -> Transaction:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._over:
            return
        if kind is None:
            self.commit()
        else:
            self.abort()

    def stage(self, predicate: str, codes: Words, word: int = INSERT) -> None:
        """Stage rows in codes, and what is said of them (`datalog.last_words`)."""
        if self._over:
            raise DatalogError("the transaction is over; begin another one with db.transaction()")
        self._staged.setdefault(predicate.removesuffix(BASE), []).append((codes, word))

    def _say(self, word: int, predicate: str, rows: Any) -> None:
        self.stage(predicate, self._database.encode(predicate, rows, word), word)

    def _end(self) -> None:
        if self._over:
            raise DatalogError("the transaction is over already")
        self._over = True


def counts(delta: Delta | None) -> str:
    """How many rows came and went."""
    return "+0 -0" if delta is None else f"+{len(delta.inserted)} -{len(delta.deleted)}"
