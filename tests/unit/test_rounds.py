"""Small rounds that one kernel call does by the thousand: the same rows, stamps, errors and counts as of rounds done one by one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

import datalog
from datalog import Database, DatalogError
from datalog.evaluate import fixpoint, rounds
from datalog.kernels.rounds import MOST_NEW
from tests.kernels.blocks import COMPILED
from tests.properties.recursive_programs import SHAPES
from tests.properties.test_recursion import follow

NEVER = 1 << 40  # rounds

COUNT = ".decl a(x: number)\n.decl b(x: number)\nb(0).\na(x) :- b(x).\nb(x + 1) :- a(x), x < {most}.\n"
PROGRAMS = {
    "two predicates in turn": COUNT.format(most=300),
    "trees that are read": """.decl at(i: number, x: number, y: number)
        at(0, 0, 0).
        at(1, x, 20) :- at(0, x, _).
        at(2, x, y) :- at(1, x, _), at(1, _, y), x < y.
        at(1, x + 1, y) :- at(2, x, y).
        at(3, x, y) :- at(1, x, y), at(0, _, z), x > z + 17.""",
    "a sum of two rows": """.decl fib(i: number, x: number)
        fib(0, 0). fib(1, 1).
        fib(i + 1, x + y) :- fib(i, x), fib(i - 1, y), i < 80.""",
    "values that leave the ranges": ".decl p(x: number)\np(1).\np(-3 * x) :- p(x), x < 1000000000, x > -1000000000.",
    "calls": '.decl s(x: symbol)\ns("a").\ns(cat(x, "b")) :- s(x), strlen(x) < 40, x < "z".',
    "symbols in order": """.decl next(x: symbol, y: symbol)
        next(cat("n", to_string(x)), cat("n", to_string(x + 1))) :- x = range(0, 200).
        .decl p(x: symbol)
        p("n0").
        p(y) :- p(x), next(x, y), y < "n99".""",
    "records": """.type list = [head: number, tail: list]
        .decl l(x: list, n: number)
        l(nil, 0).
        l([n, x], n + 1) :- l(x, n), n < 30.""",
    "rounds that are large": """.decl n(x: number)
        n(1).
        n(2 * x) :- n(x), x < 3000.
        n(2 * x + 1) :- n(x), x < 3000.
        n(x + 100000) :- n(x), x > 9000, x < 2000000.""",
    "more heads than there is room for": """.decl p(x: number)
        p(0).
        p(y) :- p(x), x % 3000 = 0, x < 9000, y = range(x, x + 3001).""",
    "a negation below": """.decl shut(x: number)
        shut(7 * x) :- x = range(0, 9).
        .decl p(x: number)
        p(1).
        p(x + 1) :- p(x), !shut(x + 1), x < 100.
        p(x + 2) :- p(x), shut(x + 1), x < 100.""",
    "heads that a body gives again and again": """.decl c(x: number)
        c(range(0, 30)).
        .decl p(x: number)
        p(0).
        p(x + 1) :- p(x), c(_), c(y), y > x - 100, x < 100.""",
    "no columns": ".decl done()\n.decl p(x: number)\np(0).\np(x + 1) :- p(x), x < 50, !stop(x).\n.decl stop(x: number)\nstop(200).\n"
    "done() :- p(40).\np(x + 100) :- done(), p(x), x < 120.",
}


@dataclass
class Calls:
    """How often the kernel was called, and the rounds that it did."""

    count: int = 0
    rounds: int = 0


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    counted = Calls()
    kernel: Callable[..., int] = rounds.run

    def run(*arguments: Any) -> int:
        status = kernel(*arguments)
        counted.count += 1
        counted.rounds += int(arguments[-1][rounds.code.ROUNDS])
        return status

    monkeypatch.setattr(rounds, "run", run)
    monkeypatch.setattr(fixpoint, "AT_FIRST", 0)
    return counted


def contents(text: str, **options: Any) -> dict[str, tuple[list[Any], list[int]]]:
    """All rows of a program's predicates, and their stamps."""
    db = Database(text, **options)
    storage = db._engine.storage
    found = {}
    for name in db._engine.program.predicates:
        if storage.payloads[name] == "stamps":
            rows = storage.rows(name)
            found[name] = (rows.tolist(), storage.stamps(name, rows).tolist())
    assert found
    return found


@pytest.mark.parametrize("rows_per_page", [None, 4])
@pytest.mark.parametrize("name", PROGRAMS)
def test_rows_and_stamps_are_those_of_rounds_done_one_by_one(
    name: str, rows_per_page: int | None, calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    together = contents(PROGRAMS[name], rows_per_page=rows_per_page)
    done = calls.count
    assert done > 0
    monkeypatch.setattr(fixpoint, "AT_FIRST", NEVER)
    assert together == contents(PROGRAMS[name], rows_per_page=rows_per_page)
    assert calls.count == done


@pytest.mark.parametrize("rows_per_page", [None, 4])
@pytest.mark.parametrize("name", SHAPES)
def test_recursive_programs_under_random_changes_hold_what_a_naive_fixpoint_does(
    name: str, rows_per_page: int | None, calls: Calls
) -> None:
    for seed in range(4 if COMPILED else 1):
        follow(SHAPES[name], seed, "recompute", rows_per_page, 3)
    assert calls.rounds > 0


@pytest.mark.parametrize("limit", [{"max_rounds": 100}, {"max_rows": 77}])
def test_a_limit_stops_at_the_round_that_passes_it(limit: dict[str, Any], calls: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    messages = []
    for first in (0, NEVER):
        monkeypatch.setattr(fixpoint, "AT_FIRST", first)
        with pytest.raises(DatalogError) as error:
            Database(COUNT.format(most=1000), **limit)
        messages.append(str(error.value))
    assert messages[0] == messages[1]
    assert calls.rounds > 50


def test_a_computation_without_a_value_is_reported_from_the_round_that_needs_it(calls: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    text = ".decl p(x: number)\np(100).\np(x - 1) :- p(x), 100 / x > 0."
    messages = []
    for first in (0, NEVER):
        monkeypatch.setattr(fixpoint, "AT_FIRST", first)
        with pytest.raises(DatalogError, match="divides by zero where x = 0") as error:
            Database(text)
        messages.append(str(error.value))
    assert messages[0] == messages[1]
    assert calls.rounds > 90


def test_skipped_failures_are_counted_once(calls: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    text = ".decl p(x: number)\np(100).\np(x - 1) :- p(x), x > -20.\np(1000 / x) :- p(x)."
    found = []
    for first in (0, NEVER):
        monkeypatch.setattr(fixpoint, "AT_FIRST", first)
        db = Database(text, failing="skip")
        found.append((list(db["p"]), db._engine.failures))
    assert found[0] == found[1]
    assert found[0][1] == 1
    assert calls.rounds > 0


def test_an_error_in_a_recursion_leaves_the_database_as_it_was(calls: Calls) -> None:
    db = datalog.Database(
        ".decl s(x: number)\n.decl p(x: number)\np(x) :- s(x).\np(x - 1) :- p(x), 1000 / x > 0, x < 1000.", maintain="recompute"
    )
    with pytest.raises(DatalogError, match="divides by zero"), db.transaction() as tx:
        tx.insert("s", [(200,)])
    assert not list(db["p"])
    with db.transaction() as tx:
        tx.insert("s", [(2000,)])
    assert list(db["p"]) == [(2000,)]
    assert calls.count > 0


def test_a_round_of_many_rows_is_left_to_threads(calls: Calls) -> None:
    many = 4 * MOST_NEW
    text = f".decl p(x: number)\np(x) :- x = range(0, {many}).\np(x + {many}) :- p(x), x < {20 * many}."
    assert len(Database(text)["p"]) == 21 * many
    assert calls.count == 0
