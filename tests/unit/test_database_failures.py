"""Interrupts and errors at any point of a transaction: everything is as it was, no page is lost, and the database is usable."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from datalog import Database
from datalog.errors import EvaluationError
from datalog.evaluate import join as join_module
from datalog.maintain import choice
from datalog.maintain.engine import Maintain
from datalog.store.btree import BTree

MAINTAIN: list[Maintain] = ["auto", "derived", "recorded", "recompute"]
PROGRAM = """.decl e(x: number, y: number)
.decl f(x: number, y: number)
.decl shut(x: number)
.decl p(x: number, y: number)
two(x, z) :- e(x, y), f(y, z), !shut(y).
p(x, y) :- e(x, y), !shut(x).
p(x, z) :- p(x, y), e(y, z), f(z, x).
p(x, z) :- p(y, x), two(x, z).
lone(x) :- two(x, _), !p(x, x).
"""


def start(maintain: Maintain) -> Database:
    db = Database(PROGRAM, maintain=maintain, rows_per_page=4)
    with db.transaction() as tx:
        tx.insert("e", [(x, (3 * x + k) % 11) for x in range(11) for k in range(2)])
        tx.insert("f", [(x, (5 * x + k) % 11) for x in range(11) for k in range(3)])
    return db


def contents(db: Database) -> dict[str, list[Any]]:
    return {name: list(db[name]) for name in db}


def lost_pages(db: Database) -> int:
    """Used pages that no tree of the committed version reaches."""
    storage = db._engine.storage
    trees = [(one.tree, one.number) for listed in storage.arrangements.values() for one in listed]
    rules = [rule for stratum in db._engine.strata for rule in stratum.rules if rule.index is not None]
    trees += [(watch.tree, watch.number) for rule in rules if rule.index is not None for watch in rule.index.watches]
    return storage.pool.used_pages - sum(tree.pages_of(int(storage.committed[number])) for tree, number in trees)


@contextmanager
def interrupting(monkeypatch: pytest.MonkeyPatch, owner: object, name: str, number: int, error: type[BaseException]) -> Iterator[list[int]]:
    """Raise `error` at the call of `owner.name` with this number; yields the list of calls seen."""
    original: Callable[..., Any] = getattr(owner, name)
    seen: list[int] = []

    def call(*arguments: Any, **options: Any) -> Any:
        seen.append(len(seen))
        if len(seen) == number:
            raise error
        return original(*arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, call)
        yield seen


def modify(db: Database) -> None:
    with db.transaction() as tx:
        tx.delete("e", [(0, 0), (1, 3), (4, 1), (2, 6)])
        tx.insert("e", [(9, 2), (10, 3)])
        tx.insert("shut", [(2,), (7,)])
        tx.delete("f", [(3, 4), (5, 3)])


PLACES = [(join_module, "complete"), (BTree, "apply"), (BTree, "build"), (BTree, "drop"), (BTree, "diff"), (BTree, "export")]


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize("maintain", MAINTAIN)
@pytest.mark.parametrize(("owner", "name"), PLACES, ids=[name for _, name in PLACES])
def test_an_interrupt_anywhere_in_a_transaction_leaves_everything_as_it_was(
    monkeypatch: pytest.MonkeyPatch, owner: object, name: str, maintain: Maintain, error: type[BaseException]
) -> None:
    wanted = start(maintain)
    modify(wanted)
    db = start(maintain)
    before, version = contents(db), db.version
    number, done = 1, False
    while not done:
        with interrupting(monkeypatch, owner, name, number, error) as seen:
            try:
                modify(db)
                done = True
            except error:
                assert len(seen) == number
        if not done:
            assert (contents(db), db.version) == (before, version), number
            assert not db._engine.storage.pool.in_transaction
            assert lost_pages(db) == 0
            if number % 7 == 1:
                db.check()
        number += 1 if number < 12 else 5
    assert contents(db) == contents(wanted)
    assert lost_pages(db) == 0
    db.check()


@pytest.mark.parametrize("maintain", MAINTAIN)
def test_an_interrupt_while_the_first_change_is_prepared_leaves_no_half_made_arrangement(
    monkeypatch: pytest.MonkeyPatch, maintain: Maintain
) -> None:
    text = "p(x, z) :- e(x, y), f(y, z), g(z, x).\ne(1, 2). f(2, 3). g(3, 1).\n.decl e(x: number, y: number)\n"
    text += ".decl f(x: number, y: number)\n.decl g(x: number, y: number)\n"
    number, done = 1, False
    while not done:
        db = Database(text, maintain=maintain)
        with interrupting(monkeypatch, BTree, "build", number, KeyboardInterrupt):
            try:
                with db.transaction() as tx:
                    tx.insert("e", [(5, 6)])
                done = True
            except KeyboardInterrupt:
                number += 1
        db.check()
        with db.transaction() as tx:
            tx.insert("f", [(6, 7)])
            tx.insert("g", [(7, 5)])
            tx.insert("e", [(5, 6)])
        assert list(db["p"]) == [(1, 3), (5, 7)]
        db.check()
    if maintain in ("auto", "derived"):
        assert number > 1, "nothing was interrupted"


def test_an_interrupt_while_a_rule_changes_to_records_leaves_everything_as_it_was_or_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """Either the transaction is committed, counted and told, or nothing of it is there."""
    wanted = start("auto")
    before = contents(wanted)
    modify(wanted)
    recorded = 0
    for owner, name in ((join_module, "complete"), (BTree, "build")):
        number, interrupted = 0, True
        while interrupted:
            number += 1
            db = start("auto")
            heard: list[int] = []
            version, interrupted = db.version, False
            db.subscribe("e", lambda changes, heard=heard: heard.append(changes.version))  # type: ignore[misc]
            with monkeypatch.context() as patch, interrupting(patch, owner, name, number, KeyboardInterrupt):
                for constant in ("PATIENCE", "FAIR", "FLOOR"):
                    patch.setattr(choice, constant, 0)
                patch.setattr(choice, "SHARE", 1000)
                try:
                    modify(db)
                except KeyboardInterrupt:
                    interrupted = True
            done = contents(db) != before
            assert not done or contents(db) == contents(wanted)
            assert (db.version, len(heard)) == (version + done, int(done)), (name, number)
            db.check()
            recorded += any(rule.index is not None for stratum in db._engine.strata for rule in stratum.rules)
    assert recorded > 0, "no rule has changed to records"


@pytest.mark.parametrize("maintain", MAINTAIN)
def test_an_interrupted_query_leaves_everything_as_it_was(monkeypatch: pytest.MonkeyPatch, maintain: Maintain) -> None:
    db = start(maintain)
    body = "e(x, y), f(z, y), p(y, z), !(two(x, w), shut(w))"
    expected, before = db.query(body), contents(db)
    for owner, name in ((join_module, "complete"), (BTree, "build")):
        for number in range(1, 9):
            with interrupting(monkeypatch, owner, name, number, KeyboardInterrupt) as seen:
                try:
                    assert db.query(body) == expected
                except KeyboardInterrupt:
                    assert len(seen) == number
            assert contents(db) == before and lost_pages(db) == 0
    assert db.query(body) == expected
    modify(db)
    db.check()


@pytest.mark.parametrize("maintain", MAINTAIN)
def test_an_evaluation_error_undoes_what_was_done_before_it(maintain: Maintain) -> None:
    text = ".decl e(x: number, y: number)\np(x, y) :- e(x, y).\np(x, z) :- p(x, y), e(y, z).\nq(x, z) :- p(x, y), z = 100 / y.\n"
    db = Database(text, maintain=maintain, rows_per_page=4)
    with db.transaction() as tx:
        tx.insert("e", [(1, 2), (2, 3), (3, 4)])
    before = contents(db)
    for _ in range(3):
        with pytest.raises(EvaluationError, match="divides by zero"), db.transaction() as tx:
            tx.insert("e", [(4, 0), (8, 9)])
            tx.delete("e", [(1, 2)])
        assert contents(db) == before and lost_pages(db) == 0
    with db.transaction() as tx:
        tx.insert("e", [(4, 50)])
        tx.delete("e", [(2, 3)])
    assert list(db["q"]) == [(1, 50), (3, 2), (3, 25), (4, 2)]
    db.check()


@pytest.mark.parametrize("maintain", MAINTAIN)
def test_no_page_is_lost_in_a_long_stream(maintain: Maintain) -> None:
    db = start(maintain)
    used = []
    for round_ in range(30):
        modify(db)
        with db.transaction() as tx:
            tx.insert("e", [(0, 0), (1, 3), (4, 1), (2, 6)])
            tx.delete("e", [(9, 2), (10, 3)])
            tx.delete("shut", [(2,), (7,)])
            tx.insert("f", [(3, 4), (5, 3)])
        assert lost_pages(db) == 0, round_
        used.append(db._engine.storage.pool.used_pages)
    assert max(used[15:]) <= 1.5 * max(used[:5])
    db.check()
