"""The check of a live engine: everything again from scratch, in trees of its own, and every invariant of every tree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from datalog.errors import InternalError
from datalog.maintain.aggregates import AggregateStratum
from datalog.maintain.engine import Engine
from datalog.maintain.recursive import RecursiveStratum
from datalog.plan.rule import suspects_of
from datalog.store.rows import sort_distinct
from datalog.store.state import StateTree
from datalog.store.storage import COUNTING


def check_engine(engine: Engine) -> None:
    """Raise InternalError if a maintained relation, a support count or a tree is not what it must be. O(evaluation)."""
    storage, committed = engine.storage, engine.storage.committed
    given = {name: storage.rows(name, committed) for name, predicate in engine.program.predicates.items() if not predicate.derived}
    fresh = Engine(engine.program, engine.values, given, engine.options)
    for name, predicate in engine.program.predicates.items():
        first, *others = storage.arrangements[name]
        for arrangement in (first, *others):
            arrangement.tree.check(int(committed[arrangement.number]))
        rows = sort_distinct(storage.rows(name, committed))
        for arrangement in others:
            turned = sort_distinct(arrangement.declared(arrangement.tree.export(int(committed[arrangement.number]))))
            _compare(engine, name, f"its arrangement by columns {arrangement.columns} and its first one", rows, turned)
        if predicate.derived:
            _compare(engine, name, "maintained and recomputed", rows, sort_distinct(fresh.storage.rows(name)))
        if storage.payloads[name] in COUNTING:
            _compare(engine, name, "the maintained and recomputed support counts", _counted(engine, name), _counted(fresh, name))
    for stratum, again in zip(engine.strata, fresh.strata, strict=True):
        if isinstance(stratum.keeper, AggregateStratum) and isinstance(again.keeper, AggregateStratum):
            for place, (ours, theirs) in enumerate(zip(stratum.keeper.trees, again.keeper.trees, strict=True)):
                ours.tree.check(ours.root)
                if not np.array_equal(_held(ours), _held(theirs)):
                    raise InternalError(f"{stratum.predicates[0]}: tree {place} of the aggregate, maintained and recomputed, differ")
        for name in stratum.predicates if isinstance(stratum.keeper, RecursiveStratum) else ():
            if storage.size(suspects_of(name), committed):
                raise InternalError(f"{name}: rows are under suspicion between transactions")
        for rule in stratum.rules:
            for watch in rule.index.watches if rule.index is not None else ():
                watch.tree.check(int(committed[watch.number]))


def _counted(engine: Engine, name: str) -> NDArray[np.int64]:
    """The rows of a counted predicate in declared order with their support counts as a last column, sorted."""
    first = engine.storage.arrangements[name][0]
    rows, counts = first.tree.export_with_payload(int(engine.storage.committed[first.number]))
    return sort_distinct(np.column_stack((first.declared(rows), counts)))


def _held(state: StateTree) -> NDArray[np.int64]:
    """The rows of a tree, with payloads if it has them."""
    return np.column_stack(state.tree.export_with_payload(state.root)) if state.tree.payload else state.tree.export(state.root)


def _compare(engine: Engine, name: str, what: str, left: NDArray[np.int64], right: NDArray[np.int64]) -> None:
    if np.array_equal(left, right):
        return
    ours, theirs = set(map(tuple, left.tolist())), set(map(tuple, right.tolist()))
    example = sorted(ours ^ theirs)[0]
    types = engine.program.predicates[name].types
    shown = tuple(engine.values.decode(code, type) for code, type in zip(example, types, strict=False))
    only = "first" if example in ours else "second"
    raise InternalError(f"{name}: {what} differ in {len(ours ^ theirs)} rows; only in the {only}: {shown}")
