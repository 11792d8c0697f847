"""The engine: evaluates a core program once and then keeps every derived predicate true, transaction by transaction.

A transaction ripples through the strata in one pass. For each rule of a recursion-free stratum the change oracle names
regions; the rule is completed on them with the old versions and with the new ones, and the difference of the two is
added to the support counts of the head (`leapfrog-triejoin-maintenance`, sections 2 and 4). Rows whose count leaves or
reaches 0 are the stratum's delta for the strata after it. A recursive stratum is evaluated anew when a change reaches
it, and its delta is the difference of its two versions.

All rows here are codes, `int64[n, columns]` in declared column order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from datalog.errors import InternalError
from datalog.evaluate.fixpoint import DeltaJoin, RecursiveRule, evaluate_fixpoint
from datalog.evaluate.join import Join
from datalog.ir.core import CoreProgram, Stratum
from datalog.kernels import encoding as code
from datalog.maintain.records import RecordIndex
from datalog.plan.arrangements import serving
from datalog.plan.encode import encode_plan
from datalog.plan.program import ProgramPlan, plan_program
from datalog.plan.rule import RulePlan
from datalog.store.pool import PagePool
from datalog.store.rows import consolidate
from datalog.store.storage import Delta, Storage
from datalog.store.values import Values

Words = NDArray[np.int64]
Coalesce = Literal["exact", "run", "hull"]
Maintain = Literal["auto", "recorded", "recompute"]
Progress = Callable[[int, int], None]  # strata done, strata in all

RECORDING = {"exact": code.RECORD_EXACT, "run": code.RECORD_RUNS, "hull": code.RECORD_HULLS}


@dataclass(frozen=True, slots=True)
class Options:
    """`coalesce`: how the records of one context are joined; `rows_per_page`: a limit for tests."""

    maintain: Maintain = "auto"
    coalesce: Coalesce = "hull"
    rows_per_page: int | None = None


@dataclass(frozen=True, slots=True)
class LiveRule:
    """A rule ready to run: its join, what it reads, and how a change finds its regions (`index`) or goes round (`recursive`)."""

    reads: frozenset[str]
    join: Join
    index: RecordIndex | None
    recursive: RecursiveRule | None


class Engine:
    """One evaluated program. Between transactions all derived predicates are exactly true of the given ones."""

    def __init__(
        self, program: CoreProgram, values: Values, facts: Mapping[str, Words], options: Options, progress: Progress | None = None
    ) -> None:
        self.program, self.values, self.options = program, values, options
        self._guess = max((len(rows) for rows in facts.values()), default=0)
        self.plan: ProgramPlan = plan_program(program, lambda name: len(facts.get(name, ())) or self._guess)
        self.storage = Storage(PagePool(rows_per_page=options.rows_per_page))
        recursive = {name for stratum in program.strata if stratum.recursive for name in stratum.predicates}
        for name, predicate in program.predicates.items():
            self.storage.arrange(name, self.plan.orders[name], predicate.derived and name not in recursive)
        self.rules = [self._live(number) for number in range(len(program.rules))]
        self.reads = [
            frozenset().union(*(self.rules[number].reads for number in stratum.rules)) if stratum.rules else frozenset()
            for stratum in program.strata
        ]
        self._first_evaluation(facts, progress)

    @property
    def steps(self) -> int:
        """Iterator operations of all joins so far."""
        return sum(
            rule.join.steps + sum(delta.join.steps for delta in (rule.recursive.deltas if rule.recursive else ())) for rule in self.rules
        )

    def apply(self, changes: Mapping[str, tuple[Words, Words]]) -> dict[str, Delta]:
        """Apply one transaction: per given predicate distinct sorted rows and their signs (1 insert, -1 delete).

        Returns what changed, given and derived. After an exception everything is as it was before.
        """
        storage = self.storage
        storage.begin()
        try:
            old = storage.committed
            deltas: dict[str, Delta] = {}
            for name, (rows, signs) in changes.items():
                if self.program.predicates[name].derived:
                    raise InternalError(f"the derived predicate {name} was changed from outside")
                _note(deltas, name, storage.change(name, rows, signs))
            if deltas:
                for stratum, reads in zip(self.program.strata, self.reads, strict=True):
                    if not reads.isdisjoint(deltas):
                        self._maintain(stratum, deltas, old)
            storage.commit()
        except BaseException:
            storage.abort()
            raise
        return deltas

    # --- preparation ------------------------------------------------------------------------------------------------------

    def _live(self, number: int) -> LiveRule:
        plan = self.plan.rules[number]
        rule = plan.rule
        deltas = self.plan.deltas[number]
        stratum = next(s for s in self.program.strata if number in s.rules)
        join = self.join(plan)
        recursive = None
        if stratum.recursive:
            recursive = RecursiveRule(
                rule.head,
                join,
                [
                    DeltaJoin(
                        rule.atoms[delta.given].predicate,
                        tuple(place for place, variable in enumerate(rule.atoms[delta.given].columns) if variable is not None),
                        self.join(delta),
                    )
                    for delta in deltas
                ],
            )
        recorded = recursive is None and self.options.maintain != "recompute"
        reads = frozenset(atom.predicate for atom in rule.atoms)
        return LiveRule(reads, join, RecordIndex(self.storage, plan) if recorded else None, recursive)

    def join(self, plan: RulePlan) -> Join:
        """The join of a plan over this engine's trees."""
        return Join(encode_plan(plan, self.values.encode, self._shape), self.values.symbols.labels, self.values.decode)

    def _shape(self, predicate: str, columns: tuple[int, ...]) -> tuple[int, int, int, int]:
        kept = self.storage.arrangements[predicate]
        order = serving((arrangement.columns for arrangement in kept), columns)
        arrangement = next(arrangement for arrangement in kept if arrangement.columns == order)
        return arrangement.number, arrangement.tree.width, arrangement.tree.leaf_rows, arrangement.tree.inner_rows

    # --- evaluation -------------------------------------------------------------------------------------------------------

    def _first_evaluation(self, facts: Mapping[str, Words], progress: Progress | None) -> None:
        self.storage.begin()
        try:
            for name, rows in facts.items():
                self.storage.replace(name, rows)
            for done, stratum in enumerate(self.program.strata):
                if progress is not None:
                    progress(done, len(self.program.strata))
                self._evaluate(stratum)
            self.storage.commit()
        except BaseException:
            self.storage.abort()
            raise

    def _evaluate(self, stratum: Stratum) -> None:
        """Evaluate a stratum, whose predicates are empty, from scratch."""
        if stratum.recursive:
            evaluate_fixpoint(
                self.storage, stratum.predicates, [rule for number in stratum.rules if (rule := self.rules[number].recursive) is not None]
            )
            return
        (name,) = stratum.predicates
        found = [np.empty((0, len(self.program.predicates[name].types)), np.int64)]
        for number in stratum.rules:
            found.append(self._evaluate_rule(self.rules[number]))
        rows = np.concatenate(found)
        self.storage.replace(name, *consolidate(rows, np.ones(len(rows), np.int64)))

    def _evaluate_rule(self, rule: LiveRule) -> Words:
        recording = RECORDING[self.options.coalesce] if rule.index is not None else code.RECORD_NOTHING
        rows, records = rule.join.complete(self.storage.pool.pages, self.storage.roots, rule.join.everything(), recording)
        if rule.index is not None:
            rule.index.rebuild(records)
        return rows

    # --- maintenance ------------------------------------------------------------------------------------------------------

    def _maintain(self, stratum: Stratum, deltas: dict[str, Delta], old: Words) -> None:
        """Bring a stratum up to date with the deltas of what it reads, and add its own."""
        if stratum.recursive or self.options.maintain == "recompute":
            for name in stratum.predicates:
                self.storage.clear(name)
            self._evaluate(stratum)
            for name in stratum.predicates:
                _note(deltas, name, self.storage.difference(name, old, self.storage.roots))
            return
        (name,) = stratum.predicates
        rows, weights = [], []
        for number in stratum.rules:
            rule = self.rules[number]
            if not rule.reads.isdisjoint(deltas):
                gone, come = self._maintain_rule(rule, deltas, old)
                rows += [gone, come]
                weights += [np.full(len(gone), -1, np.int64), np.ones(len(come), np.int64)]
        changed, sums = consolidate(np.concatenate(rows), np.concatenate(weights))
        if len(changed):
            _note(deltas, name, self.storage.change(name, changed, sums))

    def _maintain_rule(self, rule: LiveRule, deltas: Mapping[str, Delta], old: Words) -> tuple[Words, Words]:
        """δhead ← (Body[old] … Body[new]), ChangeOracle: the head rows of bindings before and after, region by region."""
        storage, join, index = self.storage, rule.join, rule.index
        assert index is not None
        regions = index.regions(deltas, old, storage.roots)
        if not len(regions):
            nothing = np.empty((0, join.width), np.int64)
            return nothing, nothing
        gone, _ = join.complete(storage.pool.pages, old, regions)
        come, records = join.complete(storage.pool.pages, storage.roots, regions, RECORDING[self.options.coalesce])
        if len(records):
            index.plant(records)
            if index.outgrown:
                _, records = join.complete(
                    storage.pool.pages, storage.roots, join.everything(), RECORDING[self.options.coalesce]
                )
                index.rebuild(records)
        return gone, come


def _note(deltas: dict[str, Delta], name: str, delta: Delta) -> None:
    if delta:
        deltas[name] = delta
