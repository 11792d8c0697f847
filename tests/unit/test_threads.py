"""Joins on several threads give the same rows in the same order, and can be interrupted."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import datalog
from datalog.errors import SettingError
from datalog.evaluate import join as join_module
from datalog.evaluate import threads
from datalog.evaluate.join import Failures, Join, Surroundings
from datalog.ir.core import CoreAtom, CoreRule, Type
from datalog.plan.rule import RulePlan, plan_delta, plan_rule
from datalog.store.tally import Tally
from datalog.syntax.tree import NOWHERE
from tests.kernels.blocks import COMPILED, Block, examples
from tests.kernels.random_rules import prefixes, relations, rules
from tests.kernels.triejoin_twin import Prefix, Trees, encode, no_memo, prefix_rows, sizes

Stored = dict[str, dict[tuple[int, ...], int]]

PROGRAM = """
.decl e(x: number, y: number)
.decl t(x: number, y: number, z: number)
.decl p(x: number, y: number)
t(x, y, z) :- e(x, y), e(y, z), e(x, z).
p(x, y) :- e(x, y).
p(x, z) :- p(x, y), e(y, z).
"""


@pytest.fixture(autouse=True)
def everything_is_worth_splitting(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(threads, "sizes", threads.Sizes(prefixes=2, leaves=2))
    yield


def surroundings(count: int) -> Surroundings:
    def make(plan: RulePlan) -> Join:
        raise AssertionError("nothing is judged here")

    return Surroundings(lambda: np.zeros(1, np.int64), lambda word, _: word, no_memo(), Tally(), Failures(), make, count)


def completed(plan: RulePlan, stored: Stored, asked: list[Prefix], count: int, first_only: bool) -> tuple[Block, Tally]:
    trees = Trees(stored, 3)
    encoded = encode(plan, trees)
    around = surroundings(count)
    rows, _ = Join(encoded, around).complete(
        trees.pool.pages, trees.roots(encoded), prefix_rows(asked, len(plan.order)), first_only=first_only
    )
    return rows, around.tally


@settings(max_examples=examples(100))
@given(data=st.data(), rule=rules(), stored=relations(), first_only=st.booleans())
def test_any_number_of_threads_gives_the_same_rows_in_the_same_order(
    data: st.DataObject, rule: CoreRule, stored: Stored, first_only: bool
) -> None:
    if data.draw(st.booleans()):
        plan, asked = plan_rule(rule, sizes(stored)), [Prefix(())]
    else:
        atom = data.draw(st.integers(0, len(rule.atoms) - 1))
        plan = plan_delta(rule, sizes(stored), atom)
        asked = data.draw(prefixes(len(plan.order), sum(v is not None for v in rule.atoms[atom].columns)))
    alone, tally = completed(plan, stored, asked, 1, first_only)
    for count in (2, 3):
        rows, together = completed(plan, stored, asked, count, first_only)
        assert rows.tolist() == alone.tolist()
        assert (together.steps > 0) == (tally.steps > 0), "what the threads do is counted"


def test_a_program_has_the_same_relations_in_the_same_order_with_any_number_of_threads() -> None:
    edges = np.random.default_rng(5).integers(0, 60, (400, 2)).tolist()
    facts = "".join(f"e({x}, {y}). " for x, y in edges)
    alone = datalog.Database(PROGRAM + facts, threads=1, rows_per_page=4)
    for count in (2, 3):
        shared = datalog.Database(PROGRAM + facts, threads=count, rows_per_page=4)
        assert list(shared["t"]) == list(alone["t"])
        assert list(shared["p"]) == list(alone["p"])
        with shared.transaction() as tx:
            tx.delete("e", edges[:200])
        shared.check()


def test_joins_are_really_split(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: set[str] = set()
    run = join_module.run

    def noting(*arguments: Any) -> int:
        seen.add(threading.current_thread().name)
        return int(run(*arguments))

    monkeypatch.setattr(join_module, "run", noting)
    facts = "".join(f"e({x}, {x + 1}). " for x in range(200))
    datalog.Database(PROGRAM + facts, threads=2, rows_per_page=4)
    assert any(name.startswith("join") for name in seen)


def test_an_interrupt_is_passed_on_when_all_threads_have_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """h(x) :- a(x), a(y), even(z), odd(z): billions of steps, and not one row."""
    body = tuple(CoreAtom(name, (variable,), False, NOWHERE) for name, variable in (("a", 0), ("a", 1), ("even", 2), ("odd", 2)))
    rule = CoreRule("h", (0,), ("x", "y", "z"), (Type.NUMBER,) * 3, body, (), (), NOWHERE, "")
    numbers = range(2_000)
    stored: Stored = {name: {(2 * n + odd,): 1 for n in numbers} for name, odd in (("a", 0), ("even", 0), ("odd", 1))}
    trees = Trees(stored, None)
    encoded = encode(plan_rule(rule, sizes(stored), (0, 1, 2)), trees)
    running: set[str] = set()
    run = join_module.run

    def noting(*arguments: Any) -> int:
        running.add(threading.current_thread().name)
        try:
            return int(run(*arguments))
        finally:
            running.discard(threading.current_thread().name)

    monkeypatch.setattr(join_module, "STEPS_A_CALL", 50_000 if COMPILED else 500)
    monkeypatch.setattr(join_module, "run", noting)
    join = Join(encoded, surroundings(2))
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        join.complete(trees.pool.pages, trees.roots(encoded), join.everything())
    assert not running
    few: Stored = {**stored, "a": {(1,): 1}}
    trees = Trees(few, None)
    encoded = encode(plan_rule(rule, sizes(few), (0, 1, 2)), trees)
    assert not len(Join(encoded, surroundings(2)).complete(trees.pool.pages, trees.roots(encoded), join.everything())[0])


def test_there_is_one_thread_at_least() -> None:
    with pytest.raises(SettingError, match="threads is a number from 1 on, not 0"):
        datalog.Database(PROGRAM, threads=0)
