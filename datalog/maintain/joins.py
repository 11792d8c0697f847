"""The joins of a program, made when they are first needed, and the arrangements that they read.

Full joins and the delta joins of recursive atoms are there from the start, planned together so that few arrangements
serve them. Joins that only maintenance needs (a change of one atom, support for a head row) are planned when a change can
first reach them; an arrangement that they miss is then built from the committed rows and shared by all rules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from datalog.errors import InternalError
from datalog.evaluate.fixpoint import DeltaJoin
from datalog.evaluate.join import Failures, Join, Surroundings
from datalog.evaluate.memo import Memo
from datalog.evaluate.primitives import ColumnFunctions
from datalog.evaluate.threads import all_cores
from datalog.ir.core import CoreProgram
from datalog.maintain.recursive import ChangeJoin, SupportJoin
from datalog.plan.encode import YOUNGEST, encode_plan
from datalog.plan.order import Statistics
from datalog.plan.program import plan_program
from datalog.plan.rule import RulePlan, plan_delta, plan_support, suspects_of
from datalog.store.storage import Payload, Storage
from datalog.store.values import Values

Words = NDArray[np.int64]


class Joins:
    """All joins of one program over one storage. The constructor arranges the program's predicates."""

    def __init__(
        self,
        program: CoreProgram,
        storage: Storage,
        values: Values,
        statistics: Statistics,
        memo: Memo | None = None,
        skip_failing: bool = False,
        threads: int | None = None,
    ) -> None:
        self.program, self.plan = program, plan_program(program, statistics)
        self.statistics = statistics
        self._storage, self._values = storage, values
        self.memo = Memo(ColumnFunctions(values)) if memo is None else memo
        self.failing = Failures(skip_failing)
        self._surroundings = Surroundings(
            values.symbols.labels, values.decode, self.memo, storage.tally, self.failing, self.join, threads or all_cores()
        )
        self._recursive = {name: stratum.stamped for stratum in program.strata for name in stratum.stamped}
        sources = {aggregate.source for stratum in program.strata for aggregate in stratum.aggregates}
        for name, predicate in program.predicates.items():
            counting: Payload = "totals" if name in sources else "counts"
            payload: Payload = "stamps" if name in self._recursive else counting if predicate.derived else "nothing"
            storage.arrange(name, self.plan.orders[name], payload)
            if name in self._recursive:
                storage.arrange(suspects_of(name), [tuple(range(predicate.width))])
        storage.symmetric = frozenset(closure.head for stratum in program.strata for closure in stratum.closures)
        self.full = [self.join(plan) for plan in self.plan.rules]
        self.deltas = [[self._delta(plan) for plan in plans] for plans in self.plan.deltas]
        self.dependents = [[self._dependents(plan) for plan in plans] for plans in self.plan.deltas]
        self.changes: list[list[ChangeJoin]] = [[] for _ in program.rules]  # by rule, the joins for changes of one atom, as prepared
        self._changed: set[tuple[int, int]] = set()
        self._supports: dict[int, SupportJoin] = {}

    def join(self, plan: RulePlan, output: Sequence[int] | None = None) -> Join:
        """The join of a plan whose arrangements are there; `output` as for `encode_plan`."""
        encoded = encode_plan(plan, self._values.encode, self.memo.number, self._shape, output, self.program.wraps)
        return Join(encoded, self._surroundings)

    def support(self, rule: int) -> SupportJoin:
        return self._supports[rule]

    def every(self) -> list[Join]:
        """All joins that have been made, but those for failures."""
        deltas = [delta.join for listed in (*self.deltas, *self.dependents) for delta in listed]
        changes = [change.delta.join for listed in self.changes for change in listed]
        return [*self.full, *deltas, *changes, *(support.join for support in self._supports.values())]

    def prepare(self, wanted: Mapping[int, tuple[int, ...]], supported: tuple[int, ...]) -> None:
        """Plan the changes of the atoms `wanted` per rule, and the support of the heads of the rules `supported`.

        Between transactions: a missing arrangement is built in one of its own.
        """
        changes = [(rule, atom) for rule, atoms in wanted.items() for atom in atoms if (rule, atom) not in self._changed]
        supports = [rule for rule in supported if rule not in self._supports]
        rules = self.program.rules
        plans = {
            (rule, atom): plan_delta(rules[rule], self.statistics, atom, self._recursive.get(rules[rule].head, ()))
            for rule, atom in changes
        }
        support_plans = {rule: plan_support(rules[rule], self.statistics, self._recursive[rules[rule].head]) for rule in supports}
        self._arrange([*plans.values(), *support_plans.values()])
        for (number, atom), plan in plans.items():
            rule = rules[number]
            delta = self._dependents(plan) if rule.head in self._recursive else self._delta(plan)
            self.changes[number].append(ChangeJoin(rule.head, rule.atoms[atom].negated, delta))
            self._changed.add((number, atom))
        for number, plan in support_plans.items():
            self._supports[number] = self._support(plan)

    def _arrange(self, plans: list[RulePlan]) -> None:
        """Build the arrangements that the plans miss."""
        requests = {request for plan in plans for request in plan.requests}
        if all(self._storage.serving(name, columns) is not None for name, columns in requests):
            return
        self._storage.begin()
        try:
            self._storage.ensure(requests)
            self._storage.commit()
        except BaseException:
            self._storage.abort()
            raise

    def _delta(self, plan: RulePlan, output: Sequence[int] | None = None) -> DeltaJoin:
        return DeltaJoin(plan.rule.atoms[plan.given].predicate, plan.given_columns, self.join(plan, output))

    def _dependents(self, plan: RulePlan) -> DeltaJoin:
        """A delta join that gives each head row with the greatest stamp of the premises that it was derived from."""
        return self._delta(plan, (*plan.rule.head_columns, YOUNGEST))

    def _support(self, plan: RulePlan) -> SupportJoin:
        first: dict[int, int] = {}
        repeats = []
        for column, variable in enumerate(plan.rule.head_columns):
            if variable in first:
                repeats.append((first[variable], column))
            else:
                first[variable] = column
        return SupportJoin(plan.rule.head, tuple(first.values()), tuple(repeats), self.join(plan))

    def _shape(self, predicate: str, columns: tuple[int, ...]) -> tuple[int, int, int, int]:
        kept = self._storage.serving(predicate, columns)
        if kept is None:
            raise InternalError(f"no arrangement of {predicate} begins with the columns {columns}")
        return kept.number, kept.tree.width, kept.tree.leaf_rows, kept.tree.inner_rows
