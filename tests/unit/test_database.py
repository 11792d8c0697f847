"""`Database` from Python: transactions, changes, relations, queries, subscriptions, added rules, and the check."""

from __future__ import annotations

import math
from collections.abc import Iterator
from random import Random

import numpy as np
import pytest

import datalog
from datalog import Database
from datalog.errors import DataError, DatalogError, EvaluationError, InternalError, ProgramError
from datalog.store.storage import Storage
from datalog.transaction import Changes

PATHS = """.decl edge(x: number, y: number)
.decl blocked(x: number)
.decl path(x: number, y: number)
.decl free(x: number, y: number)
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), edge(y, z).
free(x, y) :- path(x, y), !blocked(y).
"""


@pytest.fixture
def db() -> Database:
    db = Database(PATHS)
    with db.transaction() as tx:
        tx.insert("edge", [(1, 2), (2, 3), (3, 4)])
    return db


def contents(db: Database) -> dict[str, list[object]]:
    return {name: list(db[name]) for name in db}


# --- transactions ----------------------------------------------------------------------------------------------------------


def test_changes_are_sorted_and_say_what_came_and_what_went(db: Database) -> None:
    with db.transaction() as tx:
        tx.insert("edge", [(4, 5), (0, 1), (1, 3)])
        tx.delete("edge", [(2, 3)])
    assert tx.changes["edge"].inserted == [(0, 1), (1, 3), (4, 5)]
    assert tx.changes["edge"].deleted == [(2, 3)]
    assert tx.changes["path"].inserted == [(0, 1), (0, 2), (0, 3), (0, 4), (0, 5), (1, 5), (3, 5), (4, 5)]
    assert tx.changes["path"].deleted == [(2, 3), (2, 4)]
    assert list(tx.changes) == ["edge", "free", "path"]
    assert "blocked" not in tx.changes and tx.changes["blocked"].inserted == []
    with pytest.raises(KeyError):
        tx.changes["nothing"]


def test_symbols_and_floats_are_sorted_by_value_and_not_by_code() -> None:
    db = Database(".decl s(t: symbol, f: float)\n")
    rows = [("b", 1.0), ("a", -1.0), ("a", math.inf), ("ab", 0.0), ("", -0.5), ("a", -math.inf)]
    with db.transaction() as tx:
        tx.insert("s", rows)
    assert tx.changes["s"].inserted == sorted(rows) == list(db["s"])


def test_the_last_word_on_a_row_wins_within_and_across_calls(db: Database) -> None:
    with db.transaction() as tx:
        tx.insert("edge", [(7, 8)])
        tx.delete("edge", [(7, 8), (1, 2)])
        tx.insert("edge", [(1, 2), (9, 9), (9, 9)])
        tx.delete("edge", [(9, 9)])
        tx.insert("edge", [(9, 9)])
    assert (tx.changes["edge"].inserted, tx.changes["edge"].deleted) == ([(9, 9)], [])


def test_changes_come_as_arrow_tables_too(db: Database) -> None:
    with db.transaction() as tx:
        tx.insert("edge", [(4, 5), (0, 1)])
        tx.delete("edge", [(2, 3)])
    come, gone = tx.changes["path"].to_arrow()
    assert come.column_names == list(db["path"].columns)
    assert [tuple(row.values()) for row in come.to_pylist()] == tx.changes["path"].inserted
    assert [tuple(row.values()) for row in gone.to_pylist()] == tx.changes["path"].deleted
    assert [table.num_rows for table in tx.changes["blocked"].to_arrow()] == [0, 0]


def test_inserting_what_is_there_and_deleting_what_is_not_changes_nothing(db: Database) -> None:
    version, before = db.version, contents(db)
    with db.transaction() as tx:
        tx.insert("edge", [(1, 2)])
        tx.delete("edge", [(5, 5)])
    assert len(tx.changes) == 0 and contents(db) == before
    assert db.version == version + 1, "it is a transaction all the same"


def test_an_exception_aborts_and_is_raised(db: Database) -> None:
    before, version = contents(db), db.version
    with pytest.raises(ZeroDivisionError), db.transaction() as tx:
        tx.insert("edge", [(4, 5)])
        raise ZeroDivisionError
    assert (contents(db), db.version) == (before, version)
    with pytest.raises(datalog.DatalogError, match="not been committed"):
        tx.changes  # noqa: B018


def test_a_transaction_ends_once(db: Database) -> None:
    tx = db.transaction()
    tx.insert("edge", [(4, 5)])
    tx.commit()
    for again in (tx.commit, tx.abort, lambda: tx.insert("edge", [(5, 6)])):
        with pytest.raises(datalog.DatalogError, match="over"):
            again()
    aborted = db.transaction()
    aborted.insert("edge", [(5, 6)])
    aborted.abort()
    assert (5, 6) not in db["edge"]
    with db.transaction() as committed_inside:
        committed_inside.insert("edge", [(6, 7)])
        committed_inside.commit()
    assert (6, 7) in db["edge"]


def test_two_transactions_staged_at_once_apply_in_the_order_of_their_commits(db: Database) -> None:
    first, second = db.transaction(), db.transaction()
    first.insert("edge", [(4, 5)])
    second.delete("edge", [(4, 5)])
    second.commit()
    assert (4, 5) not in db["edge"]
    first.commit()
    assert (4, 5) in db["edge"] and (1, 5) in db["path"]
    db.check()


def test_rows_that_do_not_fit_stage_nothing_of_their_call(db: Database) -> None:
    with db.transaction() as tx:
        tx.insert("edge", [(8, 9)])
        for wrong in ([(10, 11), (1, "x")], [(1,)], [(1, 2, 3)], [(1, 2**63)], [(1, 2.5)], [5]):
            with pytest.raises(DataError):
                tx.insert("edge", wrong)
    assert tx.changes["edge"].inserted == [(8, 9)]


def test_derived_and_unknown_predicates_are_no_place_for_rows(db: Database) -> None:
    with db.transaction() as tx:
        with pytest.raises(KeyError, match="did you mean edge"):
            tx.insert("edgy", [(1, 2)])
        with pytest.raises(KeyError):
            tx.insert("free@base", [(1, 2)])
    assert len(tx.changes) == 0


def test_rows_of_as_many_columns_as_a_page_has_room_for_come_and_go() -> None:
    columns = [f"c{at}" for at in range(78)]  # three children a page
    typed = ", ".join(f"{column}: number" for column in columns)
    db = Database(f".decl wide({typed})\n.input wide\nends(c0, c77) :- wide({', '.join(columns)}).")
    random = Random(1)
    present: set[tuple[int, ...]] = set()
    for _ in range(30):
        coming = {(random.randrange(20), *(random.randrange(3) for _ in columns[1:])) for _ in range(80)}
        going = {row for row in present if random.random() < 0.6}
        with db.transaction() as tx:
            tx.insert("wide", coming)
            tx.delete("wide", going)
        present = (present | coming) - going
        assert set(db["ends"]) == {(row[0], row[-1]) for row in present}
    db.check()


@pytest.mark.parametrize("rule", ["", "p(c1) :- wide({columns}).", "wide({columns}) :- wide({columns}), c0 = c1."])
def test_more_columns_than_there_can_be_are_refused_by_name(rule: str) -> None:
    columns = [f"c{at}" for at in range(83)]
    typed = ", ".join(f"{column}: number" for column in columns)
    with pytest.raises(DatalogError, match=r"^wide has 83 columns, and 82 is the most that there can be$"):
        Database(f".decl wide({typed})\n.input wide\n{rule.format(columns=', '.join(columns))}")


def test_an_intermediate_result_of_too_many_columns_is_told_from_a_predicate() -> None:
    left, right = ([f"{side}{at}" for at in range(42)] for side in "ab")
    body = f"left({', '.join(left)}), right({', '.join(right)}), n = count : {{ third(z), z != {' + '.join(left + right)} }}"
    with pytest.raises(DatalogError, match=r"^an intermediate result for far has 84 columns, and 82 is the most that there can be$"):
        Database(f"far(n) :- {body}.")


def test_generators_and_any_iterables_of_rows_are_taken(db: Database) -> None:
    def rows() -> Iterator[tuple[int, int]]:
        yield from zip(range(10, 13), range(11, 14), strict=True)

    with db.transaction() as tx:
        tx.insert("edge", rows())
        tx.insert("edge", {(20, 21)})
        tx.insert("edge", np.array([[30, 31]]))
        tx.insert("blocked", [])
    assert tx.changes["edge"].inserted == [(10, 11), (11, 12), (12, 13), (20, 21), (30, 31)]


# --- relations ---------------------------------------------------------------------------------------------------------------


def test_a_relation_has_a_length_membership_and_sorted_rows_and_follows_transactions(db: Database) -> None:
    path = db["path"]
    assert (len(path), next(iter(path)), (1, 4) in path, (4, 1) in path) == (6, (1, 2), True, False)
    with db.transaction() as tx:
        tx.delete("edge", [(1, 2)])
    assert (len(path), (1, 4) in path) == (3, False)
    assert path.columns == ("x", "y") and path.name == "path"


@pytest.mark.parametrize("row", [(1,), (1, 2, 3), ("1", 2), (1.5, 2), 7, None, (2**70, 1), [1, 2], "ab"])
def test_what_is_no_row_of_the_types_is_in_no_relation(db: Database, row: object) -> None:
    assert (row in db["edge"]) is (row == [1, 2])


def test_asking_for_a_row_makes_no_symbol() -> None:
    db = Database('.decl s(t: symbol)\ns("a").')
    with db.snapshot() as snapshot:
        known = len(db.values.symbols)
        assert ("never seen",) not in snapshot["s"]
        assert ("a",) in snapshot["s"]
        assert len(db.values.symbols) == known, "readers in other threads must not write"


def test_a_relation_taken_before_rules_were_added_follows_on(db: Database) -> None:
    path = db["path"]
    db.add_rules("path(x, x) :- blocked(x).")
    with db.transaction() as tx:
        tx.insert("blocked", [(9,)])
    assert (9, 9) in db["path"]
    assert (9, 9) in path


# --- queries -----------------------------------------------------------------------------------------------------------------

QUERIES = [
    "edge(x, y), edge(y, z)",
    "path(x, y), !blocked(x), x < y",
    "edge(y, x)",
    "path(x, 4), !(edge(x, y), blocked(y))",
    "blocked(x) ; edge(x, _)",
    "path(z, y), path(x, z), free(y, x)",
    "edge(x, y), z = x + y, !path(z, x)",
    "!edge(7, 7)",
]


def everything(storage: Storage) -> object:
    kept = {name: [arrangement.columns for arrangement in listed] for name, listed in storage.arrangements.items()}
    return kept, storage.committed.tolist(), storage.roots.tolist(), dict(storage.payloads), storage.pool.used_pages


@pytest.mark.parametrize("body", QUERIES)
def test_a_query_leaves_nothing_behind(db: Database, body: str) -> None:
    before = everything(db._engine.storage)
    first = db.query(body)
    assert everything(db._engine.storage) == before
    assert db.query(body) == first
    assert everything(db._engine.storage) == before
    db.check()


def test_a_query_that_fails_leaves_nothing_behind(db: Database) -> None:
    before = everything(db._engine.storage)
    with pytest.raises(EvaluationError):
        db.query("edge(y, x), z = x / (y - y)")
    with pytest.raises(ProgramError):
        db.query("edge(x, y), z < 3")
    assert everything(db._engine.storage) == before
    assert db.query("edge(1, x)") == [(2,)]


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ("n(x), y = 10 / (x - 1)", "n(x), y = 10 / (x - 1)"),
        ("n(x), y = sum z : { n(z),\n z / (x - 1) > 0 }", "n(x), y = sum z : { n(z), z / (x - 1) > 0 }"),
        ("y = product x * 4000000000000000000 : { n(x) }", "y = product x * 4000000000000000000 : { n(x) }"),
        ("n(x), !(n(y), y = 1 / (x - 1))", "n(x), !(n(y), y = 1 / (x - 1))"),
        (" ?- n(x), // of them\n 1 = 1 / (x - 1).", "n(x), 1 = 1 / (x - 1)"),
    ],
)
def test_an_error_within_a_query_shows_the_query_as_it_was_written(body: str, shown: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        Database("n(1). n(2).").query(body)
    (found,) = caught.value.diagnostics
    assert f"in the query `{shown}`" in found.message
    assert "?query" not in str(caught.value)


def test_a_query_sees_the_committed_version_and_not_what_is_staged(db: Database) -> None:
    with db.transaction() as tx:
        tx.insert("edge", [(4, 5)])
        assert db.query("edge(4, x)") == []
    assert db.query("edge(4, x)") == [(5,)]


# --- subscriptions -----------------------------------------------------------------------------------------------------------


def test_a_subscriber_hears_of_each_commit_that_changed_its_predicate(db: Database) -> None:
    heard: list[Changes] = []
    end = db.subscribe("path", heard.append)
    with db.transaction() as tx:
        tx.insert("blocked", [(4,)])
    assert heard == []
    with db.transaction() as tx:
        tx.insert("edge", [(4, 5)])
    assert [changes["path"].inserted for changes in heard] == [[(1, 5), (2, 5), (3, 5), (4, 5)]]
    assert heard[0] is tx.changes and heard[0].version == db.version
    end()
    with db.transaction() as tx:
        tx.delete("edge", [(4, 5)])
    assert len(heard) == 1


def test_a_subscriber_may_read_and_commit_further_changes(db: Database) -> None:
    def block(changes: Changes) -> None:
        ends = [(row[1],) for row in changes["path"].inserted]
        if ends:
            with db.transaction() as tx:
                tx.insert("blocked", ends)

    db.subscribe("path", block)
    with db.transaction() as tx:
        tx.insert("edge", [(4, 5)])
    assert list(db["blocked"]) == [(5,)]
    assert (4, 5) in db["path"] and (4, 5) not in db["free"]
    db.check()


def test_a_subscriber_may_end_its_subscription_while_it_is_called(db: Database) -> None:
    heard = []

    def once(changes: Changes) -> None:
        heard.append(changes.version)
        end()

    end = db.subscribe("edge", once)
    db.subscribe("edge", lambda changes: heard.append(-changes.version))
    for node in (5, 6):
        with db.transaction() as tx:
            tx.insert("edge", [(4, node)])
    assert heard == [2, -2, -3]


def test_a_failing_subscriber_does_not_take_back_the_commit(db: Database) -> None:
    db.subscribe("edge", lambda changes: [][0])
    with pytest.raises(IndexError), db.transaction() as tx:
        tx.insert("edge", [(4, 5)])
    assert (1, 5) in db["path"]
    db.check()


# --- added rules -------------------------------------------------------------------------------------------------------------


def test_added_rules_and_facts_join_the_program_and_given_rows_stay(db: Database) -> None:
    with db.transaction() as tx:
        tx.delete("edge", [(3, 4)])
    db.add_rules("both(x) :- edge(x, _), edge(_, x).\nblocked(3).\nfree(x, x) :- blocked(x).")
    assert list(db["both"]) == [(2,)]
    assert list(db["edge"]) == [(1, 2), (2, 3)]
    assert list(db["free"]) == [(1, 2), (3, 3)]
    with db.transaction() as tx:
        tx.insert("edge", [(3, 1)])
    assert tx.changes["both"].inserted == [(1,), (3,)]
    db.check()


@pytest.mark.parametrize(
    ("text", "error"),
    [("broken(", ProgramError), ("p(x) :- !edge(x, _).", ProgramError), ("p(z) :- edge(x, y), z = x / (y - y).", EvaluationError)],
)
def test_rules_that_are_refused_change_nothing(db: Database, text: str, error: type[Exception]) -> None:
    before, program = contents(db), db.text
    with pytest.raises(error):
        db.add_rules(text)
    assert (contents(db), db.text) == (before, program)
    with db.transaction() as tx:
        tx.insert("edge", [(4, 5)])
    assert (1, 5) in db["path"]
    db.check()


def test_a_transaction_staged_before_rules_derive_its_predicate_still_gives_that_predicate_its_rows(db: Database) -> None:
    tx = db.transaction()
    tx.insert("blocked", [(1,)])
    db.add_rules("blocked(x) :- edge(x, x).")
    tx.commit()
    with db.transaction() as later:
        later.insert("edge", [(5, 5)])
    assert list(db["blocked"]) == [(1,), (5,)]
    db.check()


# --- the check ---------------------------------------------------------------------------------------------------------------


def tamper(db: Database, name: str, row: tuple[int, ...], weight: int) -> None:
    storage = db._engine.storage
    storage.begin()
    storage.change(name, np.array([row], np.int64), np.array([weight], np.int64))
    storage.commit()


@pytest.mark.parametrize(
    ("name", "row", "weight"),
    [("path", (4, 4), 1), ("path", (1, 2), -1), ("free", (8, 8), 1), ("free", (1, 2), -1), ("free", (1, 2), 1), ("edge", (1, 2), -1)],
)
def test_the_check_finds_a_row_or_a_count_that_is_wrong(db: Database, name: str, row: tuple[int, ...], weight: int) -> None:
    db.check()
    tamper(db, name, row, weight)
    with pytest.raises(InternalError, match=r"path|free"):
        db.check()


def test_the_check_finds_an_arrangement_that_differs_from_the_first(db: Database) -> None:
    with db.transaction() as tx:
        tx.insert("edge", [(5, 6)])
    storage = db._engine.storage
    name, listed = next((name, listed) for name, listed in storage.arrangements.items() if len(listed) > 1 and len(db[name]))
    storage.begin()
    number = listed[1].number
    rows = listed[1].tree.export(int(storage.roots[number]))
    storage.roots[number], _ = listed[1].tree.apply(int(storage.roots[number]), rows[:1], -np.ones(1, np.int64), 0)
    storage.commit()
    with pytest.raises(InternalError, match=name):
        db.check()


def test_the_check_finds_a_page_that_was_written_over(db: Database) -> None:
    storage = db._engine.storage
    first = storage.arrangements["edge"][0]
    page = int(storage.committed[first.number])
    storage.pool.pages[page, 4], storage.pool.pages[page, 5] = 9, 1
    with pytest.raises(InternalError):
        db.check()


def test_a_subscriber_that_raises_keeps_no_other_from_being_told_and_the_commit_stands(db: Database) -> None:
    heard: list[str] = []

    def broken(changes: datalog.Changes) -> None:
        heard.append("broken")
        raise RuntimeError("no")

    db.subscribe("edge", broken)
    db.subscribe("edge", lambda changes: heard.append("other"))
    tx = db.transaction()
    tx.insert("edge", [(70, 71)])
    with pytest.raises(RuntimeError, match="no"):
        tx.commit()
    assert heard == ["broken", "other"]
    assert tx.changes["edge"].inserted == [(70, 71)]
    assert (70, 71) in db["edge"]
