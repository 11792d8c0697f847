"""A limit to the memory of a database: what is refused, and that nothing is lost by it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from datalog import Database, DatalogError, MemoryLimit, SettingError
from datalog.settings import bytes_of, read_settings

PROGRAM = """
    .decl edge(x: number, y: number)
    path(x, y) :- edge(x, y).
    path(x, z) :- path(x, y), edge(y, z).
"""
TRIANGLES = """
    .decl edge(x: number, y: number)
    triangle(x, y, z) :- edge(x, y), edge(y, z), edge(x, z).
"""


def chain(first: int, end: int) -> list[tuple[int, int]]:
    return [(x, x + 1) for x in range(first, end)]


def insert(db: Database, rows: Any) -> None:
    with db.transaction() as transaction:
        transaction.insert("edge", rows)


def limited(program: str, spare: int, **options: Any) -> Database:
    """A database that may take `spare` bytes more than it takes when it is empty."""
    return Database(program, memory_limit=Database(program).stats().bytes + spare, **options)


def test_a_transaction_beyond_the_limit_changes_nothing_and_a_smaller_one_works_afterwards() -> None:
    db = limited(PROGRAM, 1_000_000)
    insert(db, chain(0, 20))
    before, version = set(db["path"]), db.version
    used = db.stats().of("arrangement")
    with pytest.raises(MemoryLimit, match=r"more than the \d+ bytes of memory_limit would be needed; taken are .* by "):
        insert(db, chain(20, 400))  # 80,000 pairs
    assert (set(db["path"]), db.version, len(db["edge"])) == (before, version, 20)
    assert db.stats().of("arrangement") == used
    db.check()
    insert(db, chain(20, 30))
    assert len(db["path"]) == 30 * 31 // 2
    db.check()
    assert db.stats().bytes <= db._options.memory_limit  # type: ignore[operator]


def test_the_limit_may_be_hit_by_the_given_rows_themselves(tmp_path: Any) -> None:
    file = tmp_path / "edge.csv"
    file.write_text("".join(f"{x},{x + 1}\n" for x in range(100_000)))
    db = limited(".decl edge(x: number, y: number)\n.input edge", 500_000)
    with pytest.raises(MemoryLimit):
        db.load("edge", file)
    assert len(db["edge"]) == 0
    insert(db, chain(0, 100))
    assert len(db["edge"]) == 100


def test_a_first_evaluation_beyond_the_limit_says_what_took_the_memory() -> None:
    facts = "".join(f"edge({x}, {x + 1}). " for x in range(500))
    spare = Database(PROGRAM).stats().bytes + 500_000
    with pytest.raises(DatalogError, match="memory_limit") as raised:
        Database(PROGRAM + facts, memory_limit=spare)
    assert isinstance(raised.value, MemoryLimit)
    assert raised.value.limit == spare
    assert "by all else" in raised.value.used


def recorded(limit: int) -> Database:
    db = Database(TRIANGLES, memory_limit=limit)
    insert(db, np.random.default_rng(1).integers(0, 300, (3000, 2)).tolist())
    for stratum in db._engine.strata:
        for rule in stratum.rules:
            rule.settle()  # as `auto` does where delta plans have proved to be dear
    return db


def test_records_are_given_up_before_a_transaction_is_refused() -> None:
    room = recorded(10**9).stats().bytes + 30_000
    db = recorded(room)
    assert db.stats().of("records") > 50_000
    insert(db, np.random.default_rng(2).integers(300, 600, (600, 2)).tolist())
    assert db.stats().of("records") == 0
    assert db.stats().bytes <= room
    db.check()
    insert(db, [(1, 2), (2, 3), (1, 3)])
    assert (1, 2, 3) in db["triangle"]
    db.check()


def test_records_that_were_asked_for_are_not_given_up() -> None:
    db = limited(TRIANGLES, 100_000, maintain="recorded")
    insert(db, chain(0, 20))
    records = db.stats().of("records")
    assert records > 0
    with pytest.raises(MemoryLimit):
        insert(db, np.random.default_rng(1).integers(0, 300, (5000, 2)).tolist())
    assert db.stats().of("records") == records
    db.check()


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (1, 1),
        (np.int64(5), 5),
        ("500MB", 500_000_000),
        ("1.5 GiB", 3 << 29),
        ("2g", None),
        ("64 kb", 64_000),
        ("1000", 1000),
        (" 1TB ", 10**12),
    ],
)
def test_a_limit_is_a_number_of_bytes_or_one_with_a_unit(given: Any, found: int | None) -> None:
    if found is None:
        with pytest.raises(SettingError, match=r"such as 500MB or 1\.5GiB, not 2g"):
            bytes_of(given)
    else:
        assert bytes_of(given) == found


@pytest.mark.parametrize("wrong", [0, -1, True, 1.5, None, "", "MB", "-1MB", "0kB", "1e3", "5 apples", 10**18])
def test_what_is_no_size_is_refused(wrong: Any) -> None:
    with pytest.raises(SettingError, match=r"memory_limit is a number of bytes, or one with a unit, such as 500MB or 1\.5GiB"):
        bytes_of(wrong)


def test_the_limit_is_an_option_and_a_setting() -> None:
    assert read_settings(["memory_limit=3MB"]) == {"memory_limit": "3MB"}
    with pytest.raises(SettingError, match="memory_limit"):
        read_settings(["memory_limit=lots"])
    with pytest.raises(SettingError, match="memory_limit"):
        Database("p(1).", memory_limit="lots")
    assert str(Database("p(1).", memory_limit="3MB").stats()).splitlines()[0].endswith(" of 3.0 MB")
