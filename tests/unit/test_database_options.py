"""Options of `Database` and of its methods: what they may be, and what is said of others."""

from __future__ import annotations

import inspect
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import datalog
from datalog import Database
from datalog.io.facts import read_table

PROGRAM = "p(1).\nq(x) :- p(x).\n"


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("maintain", "fast", "maintain is one of auto, recorded, derived, recompute, not fast"),
        ("coalesce", "x", "coalesce is one of hull, run, exact, not x"),
        ("failing", "maybe", "failing is one of error, skip, not maybe"),
        ("failing", ["skip"], "failing is one of error, skip, not ['skip']"),
        ("max_rows", "a", "max_rows is a number from 1 on, not a"),
        ("max_rows", -1, "max_rows is a number from 1 on, not -1"),
        ("max_rounds", 2.0, "max_rounds is a number from 1 on, not 2.0"),
        ("max_rounds", True, "max_rounds is a number from 1 on, not True"),
        ("rows_per_page", 1, "rows_per_page is a number from 3 on, not 1"),
        ("max_seconds", 0, "max_seconds is a number above 0, not 0"),
        ("max_seconds", math.nan, "max_seconds is a number above 0, not nan"),
        ("max_seconds", "1", "max_seconds is a number above 0, not 1"),
    ],
)
def test_an_option_that_has_no_such_value_says_which_it_has(name: str, value: Any, message: str) -> None:
    with pytest.raises(datalog.SettingError) as caught:
        Database(PROGRAM, **{name: value})
    assert str(caught.value) == message
    assert isinstance(caught.value, ValueError)


def test_options_may_be_numpys_numbers() -> None:
    options: dict[str, Any] = {"max_rows": np.int64(5), "max_seconds": np.float32(9), "rows_per_page": np.int32(4)}
    assert list(Database(PROGRAM, **options)["q"]) == [(1,)]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("default_age", 'there is no option default_age; the defaults of columns come as one: defaults={"age": …}'),
        ("header", "there is no option header; did you mean `headers`?"),
        ("x", "there is no option x; there are delimiter, headers, rfc4180, null, defaults, rejects"),
    ],
)
def test_a_keyword_that_load_does_not_know_is_told_with_those_that_it_knows(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "p.csv").write_text("2\n")
    db = Database(PROGRAM)
    with pytest.raises(datalog.UnknownOption) as caught:
        db.load("p", tmp_path / "p.csv", **{name: "0"})  # type: ignore[arg-type]  # that is what is tested
    assert str(caught.value) == message
    assert isinstance(caught.value, TypeError)
    assert list(db["p"]) == [(1,)]


def test_load_has_and_documents_every_option_of_tables() -> None:
    def options(call: Any) -> dict[str, object]:
        return {name: one.default for name, one in inspect.signature(call).parameters.items() if one.kind is one.KEYWORD_ONLY}

    assert options(Database.load) == options(read_table)
    assert all(f"`{name}`" in (Database.load.__doc__ or "") for name in options(read_table))


def test_a_database_shows_its_program_its_predicates_and_its_version(tmp_path: Path) -> None:
    db = Database(PROGRAM)
    assert repr(db) == "<database program: p, q; version 0>"
    with db.transaction() as tx:
        tx.insert("p", [(2,)])
    assert repr(db) == "<database program: p, q; version 1>"
    (tmp_path / "empty.dl").write_text("")
    assert repr(Database(tmp_path / "empty.dl")) == f"<database {tmp_path / 'empty.dl'}: no predicates; version 0>"


def test_a_subscription_may_be_ended_twice_and_ends_no_other() -> None:
    db, heard = Database(PROGRAM), list[int]()

    def hear(changes: datalog.Changes) -> None:
        heard.append(changes.version)

    end, _ = db.subscribe("p", hear), db.subscribe("p", hear)
    end()
    end()
    with db.transaction() as tx:
        tx.insert("p", [(2,)])
    assert heard == [1]
