"""A version of a database that stays readable while others are written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from datalog.errors import DatalogError, NotEvaluated, UnknownPredicate
from datalog.relation import Relation

if TYPE_CHECKING:
    from datalog.maintain.engine import Engine


class Snapshot:
    """One version of a database: `snapshot[name]` is the relation as it was. Its pages are kept until `close`."""

    def __init__(self, engine: Engine, version: int) -> None:
        self._engine, self.version = engine, version
        self._roots = self._engine.storage.committed
        self._pin: int | None = self._engine.storage.pool.pin()

    def __getitem__(self, name: str) -> Relation:
        if self._pin is None:
            raise DatalogError("the snapshot has been closed")
        predicate = self._engine.program.predicates.get(name)
        if predicate is None or predicate.hidden:
            raise UnknownPredicate(f"there is no predicate {name} in this snapshot")
        if name in self._engine.program.demanded:
            raise NotEvaluated(name, predicate.attributes)
        return Relation(predicate, lambda: self._engine.storage, self._engine.values, self._roots)

    def close(self) -> None:
        """Give the version's pages back. Closing twice is no error."""
        if self._pin is not None:
            self._engine.storage.pool.unpin(self._pin)
            self._pin = None

    def __enter__(self) -> Snapshot:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        pin = getattr(self, "_pin", None)
        if pin is not None:
            self._engine.storage.pool.release(pin)
