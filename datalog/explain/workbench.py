"""Where searches run: joins over the committed version, and a transaction that is aborted for the arrangements that they miss."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import AbstractContextManager
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from datalog.evaluate.join import Budget, Join
from datalog.ir.core import CoreProgram, CoreRule
from datalog.maintain.engine import Engine
from datalog.plan.rule import plan_support
from datalog.plan.statistics import Uniform
from datalog.store.storage import Storage
from datalog.store.values import Values

Words = NDArray[np.int64]


class Workbench:
    """What a search reads: the core program, its rules by head, the storage and the values."""

    def __init__(self, engine: Engine) -> None:
        self.program: CoreProgram = engine.program
        self.storage: Storage = engine.storage
        self.values: Values = engine.values
        self._joins = engine.joins
        self.rules: dict[str, list[CoreRule]] = {}
        for rule in engine.program.rules:
            self.rules.setdefault(rule.head, []).append(rule)
        self.aggregates = {one.head: one for stratum in engine.program.strata for one in stratum.aggregates}
        self.numberings = {one.numbering.head: one.numbering for one in engine.program.strata if one.numbering is not None}
        self.closures = {closure.head: closure for stratum in engine.program.strata for closure in stratum.closures}
        self.guards = {name: stratum.guard for stratum in engine.program.strata if stratum.guard for name in stratum.predicates}
        self.recursion: dict[str, frozenset[str]] = {
            name: frozenset(stratum.stamped) - self.aggregates.keys() for stratum in engine.program.strata for name in stratum.stamped
        }

    def open(self) -> AbstractContextManager[None]:
        """For the time of a search; nothing that it builds stays."""
        return self.storage.scratch()

    def join(self, rule: CoreRule, stamped: Collection[str]) -> Join:
        """The join that finds bindings of all variables of `rule`, in their order, for given head rows.

        Rows of the predicates `stamped` must be older than the stamp of the head row's prefix.
        """
        plan = plan_support(rule, Uniform(self.storage.size), stamped)
        self.storage.ensure(plan.requests)
        everything = replace(plan.rule, head_columns=tuple(range(len(plan.rule.variables))))
        return self._joins.join(replace(plan, rule=everything))

    def complete(self, join: Join, rows: Words, stamps: Words | int = 0, first_only: bool = True, budget: Budget | None = None) -> Words:
        """Bindings for head rows: the first of each, or all."""
        prefixes = join.prefixes(rows, stamps)
        found, _ = join.complete(self.storage.pool.pages, join.at(self.storage.roots), prefixes, first_only=first_only, budget=budget)
        return found
