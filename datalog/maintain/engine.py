"""The engine: evaluates a core program once and then keeps every derived predicate true, transaction by transaction.

A transaction ripples through the strata in one pass. In a recursion-free stratum every rule that reads a changed
predicate gives its signed head rows (`counted.py`), which are added to the head's support counts; rows whose count
leaves or reaches 0 are the stratum's delta for the strata after it. A recursive stratum is kept by stamps
(`recursive.py`), an aggregate by the counts of its source (`aggregates.py`), an equivalence by its classes (`equivalence.py`),
and a numbering is made anew and compared (`numbering.py`). With `auto`, the cheaper of these and of evaluating the stratum
anew is taken (`choice.py`). A stratum with a guard is always evaluated anew (`evaluate/guarded.py`).

All rows here are codes, `int64[n, columns]` in declared column order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from datalog.errors import InternalError, MemoryLimit
from datalog.evaluate.asked import AskedAggregate
from datalog.evaluate.fixpoint import Limits, RecursiveRule
from datalog.evaluate.guarded import GuardedStratum
from datalog.evaluate.join import OverBudget
from datalog.evaluate.memo import Memo
from datalog.ir.core import CoreProgram
from datalog.kernels import encoding as code
from datalog.maintain.aggregates import AggregateStratum
from datalog.maintain.choice import Choice, RecordsChoice
from datalog.maintain.counted import CountedRule, Signed
from datalog.maintain.equivalence import EquivalenceStratum
from datalog.maintain.functional import Functions
from datalog.maintain.joins import Joins
from datalog.maintain.memory import parts_of, summary
from datalog.maintain.numbering import NumberingStratum
from datalog.maintain.recursive import RecursiveStratum
from datalog.plan.statistics import Counted, estimate
from datalog.store.pool import Limit, PagePool
from datalog.store.rows import consolidate
from datalog.store.storage import Delta, Storage
from datalog.store.values import Values

Words = NDArray[np.int64]
Coalesce = Literal["exact", "run", "hull"]
Failing = Literal["error", "skip"]
Maintain = Literal["auto", "recorded", "derived", "recompute"]
Keeper = RecursiveStratum | AggregateStratum | EquivalenceStratum | NumberingStratum | GuardedStratum
Progress = Callable[[int, int], None]  # strata done, strata in all

LARGE_CHANGE = 32  # rows; what share of a relation is lost by less is not looked at

RECORDING = {"exact": code.RECORD_EXACT, "run": code.RECORD_RUNS, "hull": code.RECORD_HULLS}


@dataclass(frozen=True, slots=True)
class Options:
    """`coalesce`: how the records of one context are joined; `rows_per_page`: a limit for tests.

    `failing`: what becomes of a computation without a value where everything else of its rule holds: an error, or a literal that
    does not hold. `memo`: what the engine shares with others that have the same functions; None: one of its own."""

    maintain: Maintain = "auto"
    coalesce: Coalesce = "hull"
    rows_per_page: int | None = None
    limits: Limits = field(default_factory=Limits)
    failing: Failing = "error"
    memo: Memo | None = None
    memory_limit: int | None = None  # bytes
    threads: int | None = None  # for large joins; None: one a core


@dataclass(frozen=True, slots=True)
class LiveStratum:
    """A stratum ready to run: its predicates, its rules' numbers, what it reads, and its rules as counted ones, or what keeps it
    instead.

    Those of an aggregate, an equivalence and a numbering have no rules. One with a guard is only evaluated as a whole."""

    predicates: tuple[str, ...]
    numbers: tuple[int, ...]
    reads: frozenset[str]
    rules: tuple[CountedRule, ...]
    choice: Choice
    keeper: Keeper | None = None


class Engine:
    """One evaluated program. Between transactions all derived predicates are exactly true of the given ones."""

    def __init__(
        self, program: CoreProgram, values: Values, facts: Mapping[str, Words], options: Options, progress: Progress | None = None
    ) -> None:
        self.program, self.values, self.options = program, values, options
        self.storage = Storage(PagePool(rows_per_page=options.rows_per_page))
        if options.memory_limit is not None:
            self.storage.pool.limit = Limit(options.memory_limit, self._besides)
        self._cramped = False  # memory has not sufficed for records
        self._facts: Mapping[str, Words] | None = facts  # until the storage holds them
        statistics = Counted(self._size, self._relation)
        estimate(program, statistics)
        self.joins = Joins(program, self.storage, values, statistics, options.memo, options.failing == "skip", options.threads)
        self.functions = Functions(program, self.storage, values, self.joins)
        self.strata = [self._live(number) for number in range(len(program.strata))]
        self._visited = [*self.strata]  # by the last transaction
        self._reached: dict[str, frozenset[int]] = {}  # which strata a change of a given predicate can reach, by place
        self._first_evaluation(facts, progress)
        self._facts = None

    @property
    def failures(self) -> int:
        """How many computations without a value have been skipped, where `Options.failing` says so."""
        return self.joins.failing.skipped

    @property
    def steps(self) -> int:
        """Iterator operations of all joins so far."""
        return self.storage.tally.steps

    def apply(self, changes: Mapping[str, tuple[Words, Words]]) -> dict[str, Delta]:
        """Apply one transaction: per given predicate distinct sorted rows and their signs (1 insert, -1 delete).

        Returns what changed, given and derived. After an exception everything is as it was before. Where memory does not suffice,
        `auto` gives up its records and tries once more.
        """
        try:
            return self._apply(changes)
        except MemoryLimit:
            if not self._give_up_records():
                raise
        return self._apply(changes)

    def _apply(self, changes: Mapping[str, tuple[Words, Words]]) -> dict[str, Delta]:
        for name in changes:
            if name not in self._reached:
                self._prepare(name)
        storage = self.storage
        storage.begin()
        self._visited.clear()
        try:
            old = storage.committed
            deltas: dict[str, Delta] = {}
            for name, (rows, signs) in changes.items():
                _note(deltas, name, storage.change(name, rows, signs))
            self.functions.check(changes, deltas)
            for place in sorted(frozenset().union(*(self._reached[name] for name in deltas))):
                stratum = self.strata[place]
                if not stratum.reads.isdisjoint(deltas):
                    self._visited.append(stratum)
                    self._maintain(stratum, deltas, old)
                    self.functions.check(stratum.predicates, deltas)
            storage.commit()
        except BaseException as error:
            self._tell(error)
            storage.abort()
            for stratum in self._visited:
                for rule in stratum.rules:
                    rule.unsettled = False
            raise
        return deltas

    def settle(self) -> None:
        """After a transaction: let rules change to or from records where that has proved to be the cheaper way."""
        for stratum in self._visited:
            for rule in stratum.rules:
                if rule.unsettled and self._cramped and rule.index is None:
                    rule.unsettled = False
                elif rule.unsettled:
                    try:
                        rule.settle()
                    except MemoryLimit:
                        self._cramped = True
                    stratum.choice.forget()

    # --- memory -----------------------------------------------------------------------------------------------------------

    def _besides(self) -> int:
        """Bytes that are used, but not by pages."""
        values, joins = self.values, self.joins
        return values.symbols.bytes + values.structures.bytes + joins.memo.bytes + sum(join.bytes for join in joins.every())

    def _tell(self, error: BaseException) -> None:
        """Say in an error that memory does not suffice what it is taken up by."""
        if isinstance(error, MemoryLimit):
            error.used = summary(parts_of(self, self.storage.roots, error.unreadable))

    def _give_up_records(self) -> bool:
        """Have no records any more, if `auto` has built some; whether it had."""
        recorded = [(stratum, rule) for stratum in self.strata for rule in stratum.rules if rule.index is not None]
        if self.options.maintain != "auto" or not recorded:
            return False
        self._cramped = True
        for stratum, rule in recorded:
            rule.settle()
            stratum.choice.forget()
        return True

    # --- preparation ------------------------------------------------------------------------------------------------------

    def _live(self, place: int) -> LiveStratum:
        stratum = self.program.strata[place]
        reads = frozenset(atom.predicate for number in stratum.rules for atom in self.program.rules[number].atoms)
        choice = Choice(self.storage.tally, self.options.maintain == "auto", stratum.recursive)
        if stratum.aggregate is not None:
            reads = frozenset((stratum.aggregate.read, stratum.aggregate.needs)) - {""}
            aggregate = AggregateStratum(self.program, self.storage, self.values, stratum.aggregate, self.joins.memo)
            return LiveStratum(stratum.predicates, (), reads, (), choice, aggregate)
        if stratum.numbering is not None:
            types = self.program.predicates[stratum.numbering.source].types
            numbering = NumberingStratum(self.storage, self.values, stratum.numbering, types)
            choice = Choice(self.storage.tally, False)  # there is one way
            return LiveStratum(stratum.predicates, (), frozenset(stratum.numbering.reads), (), choice, numbering)
        if stratum.closures and not stratum.recursive:
            (closure,) = stratum.closures
            equivalence = EquivalenceStratum(self.storage, closure, self.options.maintain == "auto")
            choice = Choice(self.storage.tally, False)  # it makes its own
            return LiveStratum(stratum.predicates, (), frozenset((closure.pairs,)), (), choice, equivalence)
        if stratum.stamped:
            rules = [
                RecursiveRule(
                    self.program.rules[number].head, self.joins.full[number], self.joins.deltas[number], self.joins.dependents[number]
                )
                for number in stratum.rules
            ]
        if stratum.guard is not None:
            asked = [AskedAggregate(self.program, self.storage, self.values, one, rules, self.joins.memo) for one in stratum.asked]
            guarded = GuardedStratum(
                self.program, self.storage, self.values, rules, stratum.guard, self.options.limits, stratum.closures, asked
            )
            return LiveStratum(stratum.predicates, stratum.rules, reads - set(stratum.predicates), (), choice, guarded)
        if stratum.recursive:
            recursive = RecursiveStratum(self.storage, stratum.predicates, rules, self.options.limits, stratum.closures)
            return LiveStratum(stratum.predicates, stratum.rules, reads - set(stratum.predicates), (), choice, recursive)
        recording, auto = RECORDING[self.options.coalesce], self.options.maintain == "auto"
        counted = tuple(CountedRule(self.storage, self.joins.full[number], recording, RecordsChoice(auto)) for number in stratum.rules)
        if self.options.maintain == "recorded":
            for rule in counted:
                rule.record()
        return LiveStratum(stratum.predicates, stratum.rules, reads, counted, choice)

    def _prepare(self, name: str) -> None:
        """Plan what a change of a given predicate can reach, once."""
        if self.program.predicates[name].derived:
            raise InternalError(f"the derived predicate {name} was changed from outside")
        reached = {name}
        places: list[int] = []
        wanted: dict[int, tuple[int, ...]] = {}
        supported: list[int] = []
        for place, stratum in enumerate(self.strata):
            if stratum.reads.isdisjoint(reached):
                continue
            places.append(place)
            reached.update(stratum.predicates)
            if self.options.maintain == "recompute" or isinstance(stratum.keeper, GuardedStratum):
                continue
            recursive = isinstance(stratum.keeper, RecursiveStratum)
            if recursive:
                supported += stratum.numbers
            for number in stratum.numbers:
                if self.options.maintain == "recorded" and not recursive and not self.joins.plan.rules[number].late:
                    continue  # its records will do
                atoms = enumerate(self.program.rules[number].atoms)
                wanted[number] = tuple(place for place, atom in atoms if atom.predicate in reached and atom.predicate in stratum.reads)
        self.joins.prepare(wanted, tuple(supported))
        self._reached[name] = frozenset(places)

    def _size(self, name: str) -> int | None:
        """How many rows a predicate has; None for a derived one that is not evaluated yet."""
        if self._facts is None:
            return self.storage.size(name)
        return None if self.program.predicates[name].derived else len(self._facts.get(name, ()))

    def _relation(self, name: str) -> Words:
        return self.storage.rows(name) if self._facts is None else self._facts[name]

    # --- evaluation -------------------------------------------------------------------------------------------------------

    def _first_evaluation(self, facts: Mapping[str, Words], progress: Progress | None) -> None:
        self.storage.begin()
        try:
            self.functions.arrange()
            for name, rows in facts.items():
                self.storage.replace(name, rows)
            self.functions.check(facts)
            for done, stratum in enumerate(self.strata):
                if progress is not None:
                    progress(done, len(self.strata))
                self._evaluate(stratum)
                self.functions.check(stratum.predicates)
            self.storage.commit()
        except BaseException as error:
            self._tell(error)
            self.storage.abort()
            raise
        self.settle()

    def _evaluate(self, stratum: LiveStratum) -> None:
        """Evaluate a stratum, whose predicates are empty, from scratch."""
        before = self.storage.tally.cost
        if stratum.keeper is not None:
            stratum.keeper.evaluate()
        else:
            (name,) = stratum.predicates
            found = [np.empty((0, self.program.predicates[name].width), np.int64), *(rule.evaluate() for rule in stratum.rules)]
            rows = np.concatenate(found)
            self.storage.replace(name, *consolidate(rows, np.ones(len(rows), np.int64)))
        stratum.choice.evaluated(self.storage.tally.cost - before)

    # --- maintenance ------------------------------------------------------------------------------------------------------

    def _maintain(self, stratum: LiveStratum, deltas: dict[str, Delta], old: Words) -> None:
        """Bring a stratum up to date with the deltas of what it reads, and add its own to them."""
        if self.options.maintain == "recompute" or isinstance(stratum.keeper, GuardedStratum):
            self._anew(stratum, deltas, old)
            return
        choice, tally = stratum.choice, self.storage.tally
        changed = sum([len(deltas[name]) for name in stratum.reads if name in deltas])
        if choice.wants_size:
            choice.resize(sum(self.storage.size(name) for name in (*stratum.reads, *stratum.predicates)))
        if choice.anew(changed, self._lost(stratum, deltas, old) if changed >= LARGE_CHANGE else 0.0):
            for rule in stratum.rules:
                if not rule.reads.isdisjoint(deltas):
                    rule.given_up(deltas)
            self._anew(stratum, deltas, old)
            return
        before = tally.cost
        try:
            own = self._in_small_steps(stratum, deltas, old)
        except OverBudget:
            choice.maintained(changed, tally.cost - before)
            self._anew(stratum, deltas, old)
            return
        choice.maintained(changed, tally.cost - before)
        for name, delta in own.items():
            _note(deltas, name, delta)

    def _lost(self, stratum: LiveStratum, deltas: Mapping[str, Delta], old: Words) -> float:
        """The greatest share that a relation which the stratum reads loses."""
        lost = [len(deltas[name].deleted) / max(1, self.storage.size(name, old)) for name in stratum.reads if name in deltas]
        return max(lost, default=0.0)

    def _anew(self, stratum: LiveStratum, deltas: dict[str, Delta], old: Words) -> None:
        """Evaluate a stratum from scratch, whatever it holds now; its deltas are the differences of the two versions."""
        if isinstance(stratum.keeper, RecursiveStratum):
            stratum.keeper.empty()
        else:
            for name in stratum.predicates:
                self.storage.clear(name)
        self._evaluate(stratum)
        for name in stratum.predicates:
            _note(deltas, name, self.storage.difference(name, old, self.storage.roots))

    def _in_small_steps(self, stratum: LiveStratum, deltas: Mapping[str, Delta], old: Words) -> dict[str, Delta]:
        match stratum.keeper:
            case RecursiveStratum() as recursive:
                return self._recursive(recursive, stratum, deltas, old)
            case AggregateStratum() as aggregate:
                return {stratum.predicates[0]: aggregate.maintain(deltas, stratum.choice.budget)}
            case EquivalenceStratum() as equivalence:
                return {stratum.predicates[0]: equivalence.maintain(deltas)}
            case NumberingStratum() as numbering:
                return {stratum.predicates[0]: numbering.maintain()}
            case _:
                return self._counted(stratum, deltas, old)

    def _recursive(self, recursive: RecursiveStratum, stratum: LiveStratum, deltas: Mapping[str, Delta], old: Words) -> dict[str, Delta]:
        joins, numbers = self.joins, stratum.numbers
        changes = [change for number in numbers for change in joins.changes[number] if change.delta.predicate in deltas]
        supports = [joins.support(number) for number in numbers]
        return recursive.maintain(changes, supports, deltas, old, stratum.choice.budget)

    def _counted(self, stratum: LiveStratum, deltas: Mapping[str, Delta], old: Words) -> dict[str, Delta]:
        (name,) = stratum.predicates
        signed: Signed = []
        for number, rule in zip(stratum.numbers, stratum.rules, strict=True):
            if rule.reads.isdisjoint(deltas):
                continue
            if rule.index is not None:
                signed += rule.recorded(deltas, old, stratum.choice.budget)
            else:
                signed += rule.derived(self.joins.changes[number], deltas, old, stratum.choice.budget)
        if not signed:
            return {}
        if len(signed) == 1:
            ((rows, sign),) = signed
            weights = np.full(len(rows), sign, np.int64)
        else:
            rows = np.concatenate([rows for rows, _ in signed])
            weights = np.repeat([sign for _, sign in signed], [len(rows) for rows, _ in signed])
        return {name: self.storage.change(name, rows, weights)}


def _note(deltas: dict[str, Delta], name: str, delta: Delta) -> None:
    if delta:
        deltas[name] = delta
