"""Recursion that does not end is stopped by rounds, rows or time, and leaves nothing behind."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from datalog import Database, EvaluationError
from tests.command_line import datalog

RUNAWAY = "p(x + 1) :- p(x).\n"
LIMITS: list[tuple[str, float]] = [("max_rounds", 20), ("max_rows", 50), ("max_seconds", 0.05)]


@pytest.mark.parametrize(("name", "limit"), LIMITS)
def test_each_limit_stops_a_runaway_and_the_error_names_rule_round_and_limit(name: str, limit: float) -> None:
    options: dict[str, Any] = {name: limit}
    with pytest.raises(EvaluationError) as caught:
        Database(f"p(1).\n{RUNAWAY}", **options)
    error = caught.value
    assert (error.line, error.column, error.text) == (2, 1, RUNAWAY.strip())
    assert f"the recursion through p takes more than {limit:g} " in error.message
    assert f"({name}): in round " in error.message
    assert "in the rule `p(x + 1) :- p(x).`" in error.message
    assert error.hint == f"bound the values that the rule computes, or raise the limit {name}"


def test_rounds_and_rows_are_counted() -> None:
    with pytest.raises(EvaluationError, match=r"more than 20 rounds \(max_rounds\): in round 21 it has added 21 rows"):
        Database(f"p(1).\n{RUNAWAY}", max_rounds=20)
    with pytest.raises(EvaluationError, match=r"more than 50 rows \(max_rows\): in round 51 it has added 51 rows"):
        Database(f"p(1).\n{RUNAWAY}", max_rows=50)
    assert len(Database("p(1).\np(x + 1) :- p(x), x < 20.\n", max_rounds=21, max_rows=20)["p"]) == 20


@pytest.mark.parametrize("maintain", ["auto", "derived", "recorded", "recompute"])
@pytest.mark.parametrize(("name", "limit"), LIMITS)
def test_a_transaction_that_passes_a_limit_changes_nothing(name: str, limit: float, maintain: str) -> None:
    options: dict[str, Any] = {name: limit, "maintain": maintain}
    text = f".decl start(x: number)\n.decl other(x: number)\np(x) :- start(x).\n{RUNAWAY}q(x) :- p(x).\nq(x) :- other(x).\n"
    db = Database(text, **options)
    with db.transaction() as tx:
        tx.insert("other", [(7,)])
    with pytest.raises(EvaluationError, match=name), db.transaction() as tx:
        tx.insert("start", [(1,)])
        tx.insert("other", [(8,)])
        tx.delete("other", [(7,)])
    assert {one: list(db[one]) for one in db} == {"start": [], "other": [(7,)], "p": [], "q": [(7,)]}
    assert db.version == 1
    db.check()
    with db.transaction() as tx:
        tx.insert("other", [(9,)])
    assert list(db["q"]) == [(7,), (9,)]


def test_a_long_chain_is_no_runaway() -> None:
    text = "p(0).\np(y) :- p(x), e(x, y).\n.decl e(x: number, y: number)\n"
    db = Database(text, max_rounds=3)
    with db.transaction() as tx:
        tx.insert("e", [(n, n + 1) for n in range(500)])
    assert len(db["p"]) == 501
    with db.transaction() as tx:
        tx.insert("e", [(n, n + 1) for n in range(500, 600)])
    assert len(db["p"]) == 601


def test_rows_and_seconds_limit_every_recursion() -> None:
    text = "p(0).\np(y) :- p(x), e(x, y).\n" + "".join(f"e({n}, {n + 1}). " for n in range(200)) + "\n"
    with pytest.raises(EvaluationError, match="max_rows") as caught:
        Database(text, max_rows=100)
    assert caught.value.hint == "raise the limit max_rows"
    with pytest.raises(EvaluationError, match="max_seconds"):
        Database(text, max_seconds=1e-9)


def test_the_time_is_that_of_one_recursion_and_not_of_the_database() -> None:
    db = Database("p(0).\np(y) :- p(x), e(x, y).\n.decl e(x: number, y: number)\n", max_seconds=5)
    time.sleep(0.01)
    with db.transaction() as tx:
        tx.insert("e", [(0, 1)])
    assert list(db["p"]) == [(0,), (1,)]


@pytest.mark.parametrize("setting", ["max_rounds=20", "max_rows=50", "max_seconds=0.05"])
def test_the_command_line_sets_limits(tmp_path: Path, setting: str) -> None:
    program = tmp_path / "p.dl"
    program.write_text(f"p(1).\n{RUNAWAY}.output p\n")
    for command in ("run", "plan"):
        outcome = datalog(command, program, *(["--run"] if command == "plan" else []), "--set", setting)
        assert (outcome.status, outcome.out) == (1, "")
        assert f"({setting.partition('=')[0]})" in outcome.err
        assert f"{program}:2:1: error: the recursion through p takes more than " in outcome.err
