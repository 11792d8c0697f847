"""Sensitivity records: they cover all that a rule's join depends on, after any stream of changes.

Coverage is checked directly, by loops over contexts and keys: wherever all iterators agree on a key, each of them holds a record that
contains it; wherever one does not have the key, one that does not have it holds such a record. For negated atoms it is the other way round.
Records are kept when they are hit, and what is run again is the one key that was hit (`datalog/maintain/records.py`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datalog import Database
from datalog.ir.core import CoreFilter, CoreProgram, CoreRule, Predicate, Stratum, Type
from datalog.kernels import encoding as code
from datalog.maintain.check import check_engine
from datalog.maintain.counted import CountedRule
from datalog.maintain.engine import Coalesce, Engine, Options
from datalog.plan.rule import AtomPlan, DepthPlan
from datalog.store.storage import Delta
from datalog.store.values import Values
from tests.kernels.blocks import GREATEST, LEAST, Block, Row, block, examples, tuples
from tests.kernels.random_rules import HARMLESS, PREDICATES, relations, rules
from tests.kernels.triejoin_twin import COMPARE, Prefix, bindings, value_of

COALESCE: list[Coalesce] = ["exact", "run", "hull"]
Stored = dict[str, set[Row]]
Intervals = dict[tuple[int, Row, Row], list[tuple[int, int]]]
KEYS = [*range(-2, 9), LEAST, GREATEST]


def engine_for(rule: CoreRule, stored: Stored, coalesce: Coalesce) -> Engine:
    """An engine that maintains one rule by records."""

    def predicate(name: str, width: int, derived: bool) -> Predicate:
        return Predicate(name, tuple(f"c{place}" for place in range(width)), (Type.NUMBER,) * width, derived)

    predicates = {name: predicate(name, width, False) for name, width in PREDICATES.items()}
    predicates["h"] = predicate("h", len(rule.head_columns), True)
    program = CoreProgram(predicates, (rule,), (Stratum(("h",), (0,), False),), {}, ())
    facts = {name: block(sorted(rows), PREDICATES[name]) for name, rows in stored.items()}
    return Engine(program, Values(), facts, Options(maintain="recorded", coalesce=coalesce, rows_per_page=4))


def change(engine: Engine, stored: Stored, random: Random) -> dict[str, Delta]:
    """A transaction that turns a few rows over; `stored` follows."""
    changes: dict[str, tuple[Block, Block]] = {}
    for name in random.sample(sorted(PREDICATES), random.randint(1, 3)):
        width = PREDICATES[name]
        rows = {tuple(random.randrange(6) for _ in range(width)) for _ in range(random.randint(1, 3))}
        rows |= set(random.sample(sorted(stored[name]), min(len(stored[name]), random.randint(0, 2))))
        listed = sorted(rows)
        signs = np.array([-1 if row in stored[name] else 1 for row in listed], np.int64)
        changes[name] = block(listed, width), signs
        stored[name] ^= rows
    return engine.apply(changes)


def intervals(engine: Engine, rule: CountedRule) -> Intervals:
    """The records' intervals by the number of their watch, α and γ."""
    assert rule.index is not None
    found: Intervals = defaultdict(list)
    for number, index in enumerate(rule.index.watches):
        root, level = int(engine.storage.committed[index.number]), index.watch.level
        for key, end in zip(*map(np.ndarray.tolist, index.tree.export_with_payload(root)), strict=True):
            found[number, tuple(key[:level]), tuple(key[level + 1 :])].append((key[level], end))
    return found


class Coverage:
    """Finds the contexts and keys that no record covers."""

    def __init__(self, engine: Engine, stored: Stored) -> None:
        (self.rule,) = engine.strata[0].rules
        self.plan, self.stored = self.rule.join.encoded.plan, stored
        self.records = intervals(engine, self.rule)
        self.watches = self.plan.watches()

    def has(self, atom: AtomPlan, values: Row, level: int) -> bool:
        bound = [(column, values[depth]) for column, depth in zip(atom.columns[: level + 1], atom.depths, strict=False)]
        return any(all(row[column] == value for column, value in bound) for row in self.stored[atom.predicate])

    def covers(self, atom: AtomPlan, values: Row, level: int) -> bool:
        number = next(n for n, watch in enumerate(self.watches) if watch.atom is atom and watch.level == level)
        watch = self.watches[number]
        context = tuple(values[d] for d in watch.above), tuple(values[d] for d in watch.others)
        return any(low <= values[-1] <= high for low, high in self.records.get((number, *context), ()))

    def asked(self, depth: DepthPlan, values: Row, key: int) -> bool:
        """Is the key within what the depth's own computations leave open?"""
        binding = dict(zip(self.plan.order, (*values, key), strict=False))
        if depth.binding is not None and value_of(depth.binding.expression, binding) != key:
            return False
        limits = ((bound.operator, value_of(bound.expression, binding)) for bound in depth.bounds)
        return all(limit is not None and COMPARE[operator](key, limit) for operator, limit in limits)

    def passes(self, checks: tuple[CoreFilter, ...], values: Row) -> bool:
        binding = dict(zip(self.plan.order, values, strict=False))
        sides = [(check.operator, value_of(check.left, binding), value_of(check.right, binding)) for check in checks]
        return all(left is not None and right is not None and COMPARE[operator](left, right) for operator, left, right in sides)

    def missing(self, values: Row = ()) -> Iterator[tuple[int, Row]]:
        if len(values) == len(self.plan.order):
            return
        depth = self.plan.depths[len(values)]
        keys = KEYS
        if depth.binding is not None:
            value = value_of(depth.binding.expression, dict(zip(self.plan.order, values, strict=False)))
            keys = [] if value is None else [value]
        for key in keys:
            if not self.asked(depth, values, key):
                continue
            here = (*values, key)
            absent = [(atom, level) for atom, level in depth.iterators if not self.has(atom, here, level)]
            if absent:
                if not any(self.covers(atom, here, level) for atom, level in absent):
                    yield len(values), here
                continue
            if not depth.iterators and depth.binding is None:
                continue
            if not all(self.covers(atom, here, level) for atom, level in depth.iterators):
                yield len(values), here
            if not self.passes(depth.filters, here):
                continue
            levels = [(atom, len(atom.depths) - 1) for atom in depth.negations]
            present = [(atom, level) for atom, level in levels if self.has(atom, here, level)]
            if present:
                if not any(self.covers(atom, here, level) for atom, level in present):
                    yield len(values), here
                continue
            if not all(self.covers(atom, here, level) for atom, level in levels):
                yield len(values), here
            if self.passes(depth.fallible, here):
                yield from self.missing(here)


def assert_covered(engine: Engine, stored: Stored) -> None:
    assert list(Coverage(engine, stored).missing()) == []


@pytest.mark.parametrize("coalesce", COALESCE)
def test_records_cover_a_random_join_after_every_transaction_of_a_stream(coalesce: Coalesce) -> None:
    @settings(max_examples=examples(60))
    @given(rule=rules(operations=HARMLESS), start=relations(most=12, extremes=False), seed=st.integers(0, 10**6))
    def follow(rule: CoreRule, start: dict[str, dict[Row, int]], seed: int) -> None:
        random, stored = Random(seed), {name: set(rows) for name, rows in start.items()}
        engine = engine_for(rule, stored, coalesce)
        assert_covered(engine, stored)
        for _ in range(6):
            change(engine, stored, random)
            assert_covered(engine, stored)
            assert head(engine) == expected(rule, stored)
        check_engine(engine)

    follow()


def head(engine: Engine) -> set[Row]:
    return set(tuples(engine.storage.rows("h")))


def expected(rule: CoreRule, stored: Stored) -> set[Row]:
    order = range(len(rule.variables))
    found = bindings(rule, {name: dict.fromkeys(rows, 1) for name, rows in stored.items()}, Prefix(()), order)
    return {tuple(row[v] for v in rule.head_columns) for row in found}


@settings(max_examples=examples(25))
@given(rule=rules(operations=HARMLESS), start=relations(most=12, extremes=False), seed=st.integers(0, 10**6))
def test_a_stream_and_its_undoing_keep_records_that_cover_and_do_not_pile_up(
    rule: CoreRule, start: dict[str, dict[Row, int]], seed: int
) -> None:
    random, stored = Random(seed), {name: set(rows) for name, rows in start.items()}
    engine = engine_for(rule, stored, "hull")
    (counted,) = engine.strata[0].rules
    first = expected(rule, stored)
    for _ in range(4):
        deltas = change(engine, stored, random)
        back = {}
        for name, delta in deltas.items():
            if name == "h":
                continue
            turned = sorted([*((row, -1) for row in tuples(delta.inserted)), *((row, 1) for row in tuples(delta.deleted))])
            back[name] = block([row for row, _ in turned], PREDICATES[name]), np.array([sign for _, sign in turned], np.int64)
        sizes = []
        for _ in range(3):
            engine.apply({name: (rows, -signs) for name, (rows, signs) in back.items()})
            engine.apply(back)
            assert counted.index is not None
            sizes.append(counted.index.size())
        assert sizes[0] == sizes[2], "the same change again plants nothing new"
        for name, (rows, signs) in back.items():
            for row, sign in zip(tuples(rows), signs.tolist(), strict=True):
                (stored[name].add if sign > 0 else stored[name].discard)(row)
        assert head(engine) == first
        assert_covered(engine, stored)


def test_an_index_that_has_outgrown_itself_is_rebuilt() -> None:
    db = Database(
        ".decl e(x: number, y: number)\n.decl f(x: number, y: number)\n.decl h(x: number, z: number)\nh(x, z) :- e(x, y), f(y, z).\n",
        maintain="recorded",
    )
    with db.transaction() as tx:
        tx.insert("f", [(y, z) for y in range(40) for z in range(3)])
    *_, counted = db._engine.strata[0].rules
    sizes = []
    for start in range(0, 8000, 20):
        with db.transaction() as tx:
            tx.insert("e", [(x, x % 40) for x in range(start, start + 20)])
            tx.delete("e", [(x, x % 40) for x in range(start - 20, start)])
        assert counted.index is not None
        sizes.append(counted.index.size())
    assert max(sizes) < 3000, "records of 8000 contexts that are gone pile up"
    assert sizes[-1] < max(sizes)
    db.check()


def test_records_of_all_kinds_of_coalescing_shrink_from_exact_to_hull() -> None:
    sizes = {}
    for coalesce in COALESCE:
        db = Database(".decl e(x: number, y: number)\nh(x, y, z) :- e(x, y), e(y, z), e(x, z).\n", maintain="recorded", coalesce=coalesce)
        with db.transaction() as tx:
            tx.insert("e", [(x, (x * k + k) % 50) for x in range(50) for k in range(1, 9)])
        *_, counted = db._engine.strata[0].rules
        assert counted.index is not None
        sizes[coalesce] = counted.index.size()
    assert sizes["hull"] < sizes["run"] <= sizes["exact"]
    assert code.RECORD_EXACT < code.RECORD_RUNS < code.RECORD_HULLS
