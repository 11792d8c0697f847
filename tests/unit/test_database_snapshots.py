"""Snapshots: a version stays readable while others are written, in this thread and in another one, and then gives its pages back."""

from __future__ import annotations

import gc
from threading import Event, Thread
from typing import Any

import pytest

import datalog
from datalog import Database
from datalog.store.pool import PagePool

PROGRAM = """.decl edge(x: number, y: number)
.decl name(x: number, t: symbol)
.decl path(x: number, y: number)
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), edge(y, z).
known(x, t) :- name(x, t), path(_, x).
"""


@pytest.fixture
def db() -> Database:
    db = Database(PROGRAM, rows_per_page=4)
    with db.transaction() as tx:
        tx.insert("edge", [(n, n + 1) for n in range(12)])
        tx.insert("name", [(n, f"node {n}") for n in range(12)])
    return db


def turn(db: Database, number: int) -> None:
    """A transaction that takes one edge out of the chain and puts the last one back in."""
    with db.transaction() as tx:
        tx.insert("edge", [((number - 1) % 12, (number - 1) % 12 + 1)])
        tx.delete("edge", [(number % 12, number % 12 + 1)])
        tx.insert("name", [(number % 12, f"new {number % 24}")])


def contents(source: Any) -> dict[str, list[Any]]:
    return {name: list(source[name]) for name in ("edge", "name", "path", "known")}


def test_snapshots_of_many_versions_stay_what_they_were(db: Database) -> None:
    snapshots, expected = [], []
    for number in range(25):
        snapshots.append(db.snapshot())
        expected.append(contents(db))
        turn(db, number)
    for snapshot, rows in zip(snapshots, expected, strict=True):
        assert contents(snapshot) == rows
        assert len(snapshot["path"]) == len(rows["path"])
        assert all(row in snapshot["path"] for row in rows["path"])
    for snapshot in snapshots[::2]:
        snapshot.close()
    for number in range(25, 40):
        turn(db, number)
    for snapshot, rows in zip(snapshots[1::2], expected[1::2], strict=True):
        assert contents(snapshot) == rows


def test_a_closed_snapshot_gives_its_pages_back_and_can_not_be_read(db: Database) -> None:
    for number in range(48):
        turn(db, number)
    pool = db._engine.storage.pool
    used = pool.used_pages
    snapshot = db.snapshot()
    for number in range(48, 72):
        turn(db, number)
    assert pool.used_pages > used + 50
    snapshot.close()
    snapshot.close()
    for number in range(72, 96):
        turn(db, number)
    assert pool.used_pages <= used + 10
    with pytest.raises(datalog.DatalogError, match="closed"):
        snapshot["path"]
    with db.snapshot() as again:
        assert contents(again) == contents(db)


def test_a_snapshot_that_is_forgotten_gives_its_pages_back(db: Database) -> None:
    snapshot = db.snapshot()
    pool = db._engine.storage.pool
    for number in range(24):
        turn(db, number)
    used = pool.used_pages
    del snapshot
    gc.collect()
    turn(db, 24)
    assert pool.used_pages < used


def test_a_snapshot_that_the_collector_closes_during_a_commit_does_not_hang(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    class Cycle:
        def __init__(self) -> None:
            self.snapshot, self.me = db.snapshot(), self

    original = PagePool._free

    def free(pool: PagePool, pages: Any) -> None:
        gc.collect()  # as it may happen at any allocation
        original(pool, pages)

    gc.disable()
    try:
        Cycle()
        monkeypatch.setattr(PagePool, "_free", free)
        writer = Thread(target=turn, args=(db, 0), daemon=True)
        writer.start()
        writer.join(20)
        assert not writer.is_alive(), "the commit waits for a lock that its own thread holds"
    finally:
        gc.enable()
    turn(db, 1)
    db.check()


def test_a_snapshot_knows_the_predicates_of_its_time(db: Database) -> None:
    with db.snapshot() as snapshot:
        before = contents(db)
        db.add_rules("loop(x) :- path(x, x).")
        turn(db, 0)
        assert contents(snapshot) == before
        with pytest.raises(datalog.DatalogError, match="loop"):
            snapshot["loop"]
        assert list(db["loop"]) == []


def test_a_reader_thread_sees_whole_versions_while_the_main_thread_commits(db: Database) -> None:
    """Every version holds a chain with one edge missing, whose closure the reader works out by itself."""
    turn(db, 0)
    stop, seen, wrong = Event(), set(), []

    def closure(edges: list[Any]) -> list[tuple[int, int]]:
        after = dict(edges)
        pairs = []
        for first in after:
            last = first
            while last in after:
                last = after[last]
                pairs.append((first, last))
        return sorted(pairs)

    def read() -> None:
        while not stop.is_set():
            with db.snapshot() as snapshot:
                first = contents(snapshot)
                if first["path"] != closure(first["edge"]) or contents(snapshot) != first:
                    wrong.append(snapshot.version)
                if ("unknown",) in snapshot["known"] or (1, "never") in snapshot["name"]:
                    wrong.append(snapshot.version)
                seen.add(snapshot.version)

    readers = [Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    try:
        for number in range(1, 150):
            turn(db, number)
    finally:
        stop.set()
        for reader in readers:
            reader.join(30)
    assert wrong == []
    assert len(seen) > 3
    db.check()
    assert len({text for _, text in db["name"]}) == len(db["name"]), "no two texts share an id"
