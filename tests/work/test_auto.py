"""`auto`: whichever way it goes, the results are the same; and no way is kept when another one has become the cheaper one."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datalog import Database
from datalog.evaluate.join import OverBudget
from datalog.maintain import choice
from datalog.maintain.engine import Engine
from tests.kernels.blocks import COMPILED, examples
from tests.properties.recursive_programs import SHAPES, Change, Relations, Shape, fixpoint, stream
from tests.work.graphs import LEFT, LONG, chain, change, on_edges, ring

COUNTED = Shape(
    (
        "two(x, z) :- e(x, y), f(y, z), !shut(y).\ntwo(x, x) :- e(x, x).",
        "lone(x) :- e(x, _), !two(x, x).",
        "near(x, z) :- two(x, y), e(y, z), x < z.\nnear(x, y) :- lone(x), f(x, y).",
    ),
    {"e": 2, "f": 2, "shut": 1},
)
LARGE = 10**9


class Ways:
    """Counts how often a stratum was evaluated anew, and how often because a budget was spent."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.anew = self.over = 0
        evaluate, recursive, counted = Engine._anew, Engine._recursive, Engine._counted

        def anew(*arguments: object) -> None:
            self.anew += 1
            evaluate(*arguments)  # type: ignore[arg-type]

        def noting(way: object) -> object:
            def attempt(*arguments: object) -> object:
                try:
                    return way(*arguments)  # type: ignore[operator]
                except OverBudget:
                    self.over += 1
                    raise

            return attempt

        monkeypatch.setattr(Engine, "_anew", anew)
        monkeypatch.setattr(Engine, "_recursive", noting(recursive))
        monkeypatch.setattr(Engine, "_counted", noting(counted))


def apply(db: Database, changes: list[Change]) -> None:
    with db.transaction() as tx:
        for sign, name, row in changes:
            (tx.insert if sign > 0 else tx.delete)(name, [row])


@pytest.mark.parametrize(("share", "floor"), [(0.0, 0), (0.0, 3), (0.0, 500), (0.05, 30)])
@pytest.mark.parametrize("name", [*SHAPES, "counted"])
def test_a_stratum_that_goes_over_its_budget_anywhere_is_evaluated_anew_with_the_same_result(
    monkeypatch: pytest.MonkeyPatch, name: str, share: float, floor: int
) -> None:
    shape = COUNTED if name == "counted" else SHAPES[name]
    monkeypatch.setattr(choice, "SHARE", share)
    monkeypatch.setattr(choice, "FLOOR", floor)
    monkeypatch.setattr(choice.Choice, "anew", _always_try(choice.Choice.anew))
    ways = Ways(monkeypatch)
    for seed in range(2 if COMPILED else 1):
        random = Random(seed)
        facts: Relations = shape.facts(random)
        db = Database(shape.text, maintain="auto", rows_per_page=4)
        apply(db, [(1, one, row) for one, rows in facts.items() for row in rows])
        for changes in stream(shape, random, facts, 5):
            apply(db, changes)
            for one, rows in fixpoint(shape, facts).items():
                assert set(db[one]) == rows, one
        db.check()
    assert ways.anew == ways.over > 0 or floor > 100


def _always_try(original: object) -> object:
    """`anew` without its memory: an attempt is made each time, so that budgets are spent half-way and not avoided."""

    def anew(self: choice.Choice, changed: int, lost: float) -> bool:
        original(self, changed, lost)  # type: ignore[operator]
        return False

    return anew


@settings(max_examples=examples(15))
@given(seed=st.integers(0, 10**6), name=st.sampled_from([*SHAPES, "counted"]))
def test_budgets_that_change_all_the_time_change_no_result(seed: int, name: str) -> None:
    shape = COUNTED if name == "counted" else SHAPES[name]
    random = Random(seed)
    facts: Relations = shape.facts(random)
    with pytest.MonkeyPatch.context() as patch:
        db = Database(shape.text, maintain="auto")
        apply(db, [(1, one, row) for one, rows in facts.items() for row in rows])
        for changes in stream(shape, random, facts, 6):
            patch.setattr(choice, "SHARE", random.choice([0.0, 0.3]))
            patch.setattr(choice, "FLOOR", random.choice([0, 20, 300, 2_000, LARGE]))
            apply(db, changes)
            for one, rows in fixpoint(shape, facts).items():
                assert set(db[one]) == rows, one
            db.check()


def test_records_that_are_tried_and_given_up_change_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "PATIENCE", 0.0)
    monkeypatch.setattr(choice, "FAIR", 0)
    monkeypatch.setattr(choice, "TRIAL", 3)
    for better, share in ((0.0, 0.3), (10.0**9, 0.3), (0.0, 0.0)):
        monkeypatch.setattr(choice, "BETTER", better)
        monkeypatch.setattr(choice, "SHARE", share)
        for seed in range(4 if COMPILED else 1):
            random = Random(seed)
            facts: Relations = COUNTED.facts(random)
            db = Database(COUNTED.text, maintain="auto", rows_per_page=4)
            apply(db, [(1, one, row) for one, rows in facts.items() for row in rows])
            recorded = 0
            for changes in stream(COUNTED, random, facts, 10):
                apply(db, changes)
                recorded += sum(rule.index is not None for stratum in db._engine.strata for rule in stratum.rules)
                for one, rows in fixpoint(COUNTED, facts).items():
                    assert set(db[one]) == rows, one
            db.check()
            if share:
                assert recorded > 0, "no rule has tried records"


def test_after_a_costly_change_cheap_ones_are_cheap_again() -> None:
    """Cutting the chain is dearer than evaluation; edges apart from it are not."""
    db = on_edges(LEFT, chain(LONG), "auto")
    cheap = change(db, insert=[(1_000, 1_001)]).steps + change(db, delete=[(1_000, 1_001)]).steps
    costly = change(db, delete=[(LONG // 2, LONG // 2 + 1)]).steps
    assert costly > 50 * cheap
    costs = [change(db, insert=[(1_000, 1_001)]).steps + change(db, delete=[(1_000, 1_001)]).steps for _ in range(12)]
    assert max(costs[-4:]) <= cheap, costs
    assert sum(costs) <= 4 * costly, "a stratum must not be evaluated anew for ever"


def test_after_a_costly_change_cheap_ones_of_several_rows_are_cheap_again() -> None:
    db = on_edges(LEFT, chain(LONG), "auto")
    apart = [(1_000, 1_001), (2_000, 2_001), (3_000, 3_001), (4_000, 4_001)]
    cheap = change(db, insert=apart).steps + change(db, delete=apart).steps
    for _ in range(3):
        change(db, delete=[(LONG - 1, LONG)])
        change(db, insert=[(LONG - 1, LONG)])
        change(db, delete=[(LONG // 2, LONG // 2 + 1)])
        change(db, insert=[(LONG // 2, LONG // 2 + 1)])
    costs = [change(db, insert=apart).steps + change(db, delete=apart).steps for _ in range(20)]
    assert max(costs[-4:]) <= 2 * cheap, costs


@pytest.mark.parametrize("edges", [chain(120), ring(150)] if COMPILED else [chain(30), ring(30)], ids=["chain", "ring"])
@pytest.mark.parametrize("share", [0.01, 0.1, 0.5, 1.0])
def test_no_batch_costs_much_more_than_the_evaluation_before_or_after_it(
    monkeypatch: pytest.MonkeyPatch, edges: list[tuple[int, int]], share: float
) -> None:
    """Cost here is what `auto` itself counts: steps, calls, and rows that trees take in or give up."""
    batch = Random(3).sample(edges, max(1, int(share * len(edges))))
    rest = [edge for edge in edges if edge not in batch]
    for deleting in (True, False):
        db = on_edges(LEFT, edges if deleting else rest, "auto")
        tally = db._engine.storage.tally
        change(db, insert=[(1_000, 1_001)])
        with monkeypatch.context() as patch:
            patch.setattr(choice.Choice, "anew", lambda self, changed, lost: True)
            start = tally.cost
            change(db, insert=[(2_000, 2_001)])
            before = tally.cost - start
        start = tally.cost
        change(db, delete=batch if deleting else (), insert=() if deleting else batch)
        done = tally.cost - start
        with monkeypatch.context() as patch:
            patch.setattr(choice.Choice, "anew", lambda self, changed, lost: True)
            start = tally.cost
            change(db, insert=[(3_000, 3_001)])
            after = tally.cost - start
        assert done <= 1.5 * max(before, after) + 3 * choice.FLOOR


def test_a_body_that_delta_plans_serve_badly_comes_to_be_maintained_by_records() -> None:
    """A change of t meets all b of the hub c, and none of them is in r: the evaluation never comes to t at all."""
    hub = 5_000
    db = Database("head(a, d) :- r(a, b), s(b, c), t(c, d).", maintain="auto")
    with db.transaction() as tx:
        tx.insert("r", [(a, -a) for a in range(1, 50)])
        tx.insert("s", [(b, 0) for b in range(1, hub)])
        tx.insert("t", [(0, 0)])
    costs = []
    for number in range(1, 40):
        before = db.steps
        with db.transaction() as tx:
            tx.insert("t", [(0, number)])
        costs.append(db.steps - before)
    db.check()
    assert max(costs[-5:]) <= 10, costs
    assert sum(costs) <= 20 * hub, costs
