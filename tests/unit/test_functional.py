"""Functional predicates: one value a key after each transaction, upserts, values by key, and what errors say."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datalog import Database, DataError, DatalogError, EvaluationError, ProgramError
from datalog.io.stream import StagedTransaction, read_transactions
from datalog.maintain.engine import Maintain
from datalog.runner import apply
from tests.command_line import datalog
from tests.kernels.blocks import examples

PROGRAM = """\
.decl sales(region: symbol, store: number) = total: number
.decl best(store: number) = total: number
.decl day() = number: number
.decl edge(x: number, y: number)
best[s] = sales["north", s].
best[s] = sales["south", s] :- sales["south", s] > 0.
"""


@pytest.fixture
def database() -> Database:
    db = Database(PROGRAM + 'sales["north", 3] = 60.\n', rows_per_page=4)
    return db


def message_of(database: Database, *words: tuple[str, str, object]) -> str:
    """What is said when a transaction with these words is refused, which must leave everything as it was."""
    before = {name: list(database[name]) for name in database}
    transaction = database.transaction()
    for word, name, rows in words:
        getattr(transaction, word)(name, rows)
    with pytest.raises(DatalogError) as refused:
        transaction.commit()
    assert {name: list(database[name]) for name in database} == before
    database.check()
    return str(refused.value)


def test_a_plain_insertion_of_a_second_value_is_refused_with_both_values(database: Database) -> None:
    assert message_of(database, ("insert", "sales", [("north", 3, 70)])) == (
        '<rows of sales>: error: sales["north", 3] has two values, 60 and 70\n'
        '    hint: delete 60 as well, or replace it by `^sales["north", 3] = 70.` (`upsert` in Python)'
    )


def test_the_first_key_with_several_values_is_named_and_the_others_are_counted(database: Database) -> None:
    rows = [("south", store, total) for store in (9, 4) for total in range(20, 15, -1)] + [("a", 1, 1), ("a", 1, 2)]
    assert message_of(database, ("insert", "sales", rows)) == (
        '<rows of sales>: error: sales["a", 1] has two values, 1 and 2, as have 2 keys more'
    )
    assert '"south", 4] has 5 values, 16, 17, 18, …' in message_of(database, ("insert", "sales", rows[:10]))


def test_a_value_may_be_exchanged_by_its_deletion_and_an_insertion_in_any_order(database: Database) -> None:
    with database.transaction() as tx:
        tx.insert("sales", [("north", 3, 70)])
        tx.delete("sales", [("north", 3, 60)])
    assert tx.changes["best"].inserted == [(3, 70)]
    assert tx.changes["best"].deleted == [(3, 60)]


def test_rules_that_give_two_values_are_named_with_what_each_gives(database: Database) -> None:
    assert message_of(database, ("insert", "sales", [("south", 3, 61)])).splitlines() == [
        '<program>:5:1: error: best[3] has two values, 60 and 61; 60 from the rule `best[s] = sales["north", s].`',
        '    best[s] = sales["north", s].',
        "    ^",
        '<program>:6:1: error: 61 from the rule `best[s] = sales["south", s] :- sales["south", s] > 0.`',
        '    best[s] = sales["south", s] :- sales["south", s] > 0.',
        "    ^",
    ]


def test_a_given_value_beside_a_derived_one_is_said_to_be_given(database: Database) -> None:
    said = message_of(database, ("insert", "best", [(3, 61)]))
    assert said.startswith("<program>:5:1: error: best[3] has two values, 60 and 61; 61 is given; 60 from the rule")
    assert message_of(database, ("insert", "best", [(8, 1), (8, 2)])).startswith("<rows of best>: error: best[8] has two values, 1 and 2")


def test_two_rules_may_give_the_same_value(database: Database) -> None:
    with database.transaction() as tx:
        tx.insert("sales", [("south", 3, 60)])
        tx.insert("best", [(3, 60)])
    assert list(database["best"]) == [(3, 60)]
    assert not tx.changes["best"].inserted
    database.check()


def test_a_predicate_without_keys_has_one_value(database: Database) -> None:
    with database.transaction() as tx:
        tx.insert("day", [(4,)])
    assert message_of(database, ("insert", "day", [5])).startswith("<rows of day>: error: day[] has two values, 4 and 5")
    with database.transaction() as tx:
        tx.upsert("day", [5])
    assert tx.changes["day"].inserted == [(5,)]
    assert database["day"][()] == 5
    with database.transaction() as tx:
        tx.delete_keys("day", [()])
    assert database["day"].get(()) is None


def test_an_upsert_replaces_what_is_stored_and_what_was_staged_before(database: Database) -> None:
    with database.transaction() as tx:
        tx.insert("sales", [("north", 3, 1), ("north", 4, 1), ("north", 5, 1)])
        tx.upsert("sales", {("north", 3): 70, ("north", 4): 8})
        tx.upsert("sales", [("north", 4, 9)])
    assert list(database["sales"]) == [("north", 3, 70), ("north", 4, 9), ("north", 5, 1)]
    assert tx.changes["sales"].deleted == [("north", 3, 60)]
    database.check()


def test_what_is_said_after_an_upsert_counts(database: Database) -> None:
    assert "has two values, 60 and 70" in message_of(
        database, ("upsert", "sales", [("north", 3, 70)]), ("insert", "sales", [("north", 3, 60)])
    )
    with database.transaction() as tx:
        tx.upsert("sales", [("north", 3, 70)])
        tx.delete("sales", [("north", 3, 70)])
    assert list(database["sales"]) == []


def test_an_upsert_looks_up_what_is_stored_when_it_commits_and_not_when_it_is_staged(database: Database) -> None:
    waiting = database.transaction()
    waiting.upsert("sales", [("north", 3, 70)])
    with database.transaction() as tx:
        tx.upsert("sales", [("north", 3, 65)])
    waiting.commit()
    assert waiting.changes["sales"].deleted == [("north", 3, 65)]
    assert list(database["sales"]) == [("north", 3, 70)]


def test_an_upsert_of_a_derived_predicate_replaces_its_given_facts() -> None:
    db = Database(".decl f(x: number) = y: number\n.decl e(x: number, y: number)\nf[x] = y :- e(x, y).\nf[1] = 2.\n")
    with db.transaction() as tx:
        tx.upsert("f", [(1, 3)])
        tx.insert("e", [(1, 3)])
    assert list(db["f"]) == [(1, 3)]
    assert "f[1] has two values, 3 and 4; 4 is given; 3 from the rule" in message_of(db, ("upsert", "f", [(1, 4)]))


def test_only_functional_predicates_have_keys(database: Database) -> None:
    for word in ("upsert", "delete_keys"):
        with pytest.raises(DatalogError, match="edge is no functional predicate, so its rows have no keys"):
            getattr(database.transaction(), word)("edge", [(1, 2)])
    with pytest.raises(DatalogError, match="edge is no functional predicate"):
        database["edge"][1]


def test_the_value_of_a_key_is_looked_up(database: Database) -> None:
    sales, best = database["sales"], database["best"]
    assert sales["north", 3] == 60
    assert best[3] == best[(3,)] == 60
    assert best.get(4, "none") == "none"
    assert ("north", 3, 60) in sales
    assert repr(sales) == "<relation sales(region, store) = total: 1 rows>"
    symbols = len(database.values.symbols)
    for key in (("never", 3), ("north", 4)):
        with pytest.raises(KeyError):
            sales[key]
    assert len(database.values.symbols) == symbols
    with pytest.raises(DataError, match="row 1 has 1 value where sales has 2 columns"):
        sales["north"]
    with database.snapshot() as snapshot:
        with database.transaction() as tx:
            tx.upsert("sales", {("north", 3): 70})
        assert (snapshot["sales"]["north", 3], sales["north", 3]) == (60, 70)


def test_two_values_in_the_text_are_shown_where_they_stand() -> None:
    with pytest.raises(ProgramError) as refused:
        Database(PROGRAM + 'sales["n", 1] = 5.\nsales["n", 2] = 6. sales["n", 1] = 4.\n')
    assert [(one.line, one.column, one.message) for one in refused.value.diagnostics] == [
        (8, 20, 'sales["n", 1] has two values, 4 and 5'),
        (7, 1, "the other value is given here"),
    ]


def test_two_values_in_files_are_told_with_their_rows(tmp_path: Path) -> None:
    text = PROGRAM + '.input sales\nsales["n", 7] = 1.\n'
    file = tmp_path / "sales.facts"
    file.write_text("n\t1\t5\nn\t2\t6\nn\t1\t4\n")
    with pytest.raises(DataError) as refused:
        Database(text, facts=tmp_path)
    assert f'sales["n", 1] has two values, 4 ({file}, row 3) and 5 ({file}, row 1)' in str(refused.value)
    file.write_text("n\t7\t2\n")
    with pytest.raises(DataError) as refused:
        Database(text, facts=tmp_path)
    assert f'sales["n", 7] has two values, 1 (<program>, line 8) and 2 ({file}, row 1)' in str(refused.value)


def test_rows_that_others_were_rejected_beside_are_not_numbered_wrongly_and_reported_once(tmp_path: Path) -> None:
    (tmp_path / "sales.facts").write_text("n\t4\ns\tmany\nn\t5\n")
    text = '.decl sales(region: symbol) = total: number\n.input sales(null="NA", rejects="bad.csv")\n'
    with warnings.catch_warnings(record=True) as warned, pytest.raises(DataError) as refused:
        warnings.simplefilter("always")
        Database(text, facts=tmp_path)
    file = tmp_path / "sales.facts"
    assert f'sales["n"] has two values, 4 ({file}) and 5 ({file})' in str(refused.value)
    assert [str(warning.message).partition(",")[0] for warning in warned] == ["1 row of sales not loaded"]


def test_a_second_value_in_added_clauses_is_shown_where_it_stands() -> None:
    db = Database(PROGRAM + 'sales["n", 1] = 5.\n')
    with db.transaction() as tx:
        tx.upsert("sales", {("n", 2): 6})
    before = list(db["sales"])
    with pytest.raises(ProgramError, match=r'sales\["n", 1\] has two values, 4 and 5') as refused:
        db.add_rules('sales["n", 1] = 4.')
    assert [one.line for one in refused.value.diagnostics] == [8, 7]
    with pytest.raises(DataError, match=r'sales\["n", 2\] has two values, 6 \(given before\) and 7 \(<program>, line 8\)'):
        db.add_rules('sales["n", 2] = 7.')
    assert list(db["sales"]) == before
    db.check()


def test_two_values_that_the_first_evaluation_derives_are_refused() -> None:
    with pytest.raises(EvaluationError, match=r"best\[3\] has two values, 1 and 2; 1 from the rule"):
        Database(PROGRAM + 'sales["north", 3] = 1.\nsales["south", 3] = 2.\n')


def test_a_loaded_file_that_gives_a_second_value_is_named(database: Database, tmp_path: Path) -> None:
    file = tmp_path / "more.csv"
    file.write_text("north,3,70\n")
    with pytest.raises(DataError, match=r"more.csv: error: sales\[\"north\", 3\] has two values, 60 and 70"):
        database.load("sales", file)


def test_rules_that_are_added_may_not_give_a_second_value(database: Database) -> None:
    with pytest.raises(EvaluationError, match=r"best\[3\] has two values, 60 and 61"):
        database.add_rules("best[s] = t + 1 :- sales[_, s] = t.")
    assert list(database["best"]) == [(3, 60)]


def test_a_stream_goes_on_behind_a_transaction_that_gives_a_second_value(tmp_path: Path) -> None:
    program, stream = tmp_path / "p.dl", tmp_path / "s.txn"
    program.write_text(PROGRAM + '.output best\nsales["north", 3] = 60.\n')
    stream.write_text(
        '+sales["north",3] = 70.\ncommit.\n^sales["north",3] = 70.\ncommit.\n+sales["south",3]\n = 1. commit.\n-sales["north",3]. commit.\n'
    )
    outcome = datalog("run", program, "--stream", stream, "--on-error", "skip", "--changes-only")
    assert outcome.status == 0
    assert outcome.out == "-best[3] = 60.\n+best[3] = 70.\ncommit.\n-best[3] = 70.\ncommit.\n"
    lines = outcome.err.splitlines()
    assert lines[0] == f'{stream}:1:1: error: sales["north", 3] has two values, 60 and 70'
    assert f"    the transaction of lines 1 to 2 of {stream} was rejected" in lines
    assert f"{program}:5:1: error: best[3] has two values, 70 and 1; 70 from the rule" in outcome.err
    assert lines[-2:] == [f"    the transaction of lines 5 to 6 of {stream} was rejected", "2 transactions were rejected"]


def test_a_conversation_has_functional_facts_and_upserts() -> None:
    typed = [
        ".decl price(item: symbol) = cents: number",
        "double[i] = 2 * price[i].",
        'price["tea"] = 5.',
        '+price["tea"] = 6.',
        "commit.",
        '^price["tea"] = 6. +price["cake"] = 9.',
        "commit.",
        '-price["tea"].',
        "commit.",
        "?- double[i] = d.",
    ]
    outcome = datalog("repl", stdin="\n".join(typed) + "\n")
    assert 'error: price["tea"] has two values, 5 and 6' in outcome.err
    assert '-double["tea"] = 10.\n+double["cake"] = 18.\n+double["tea"] = 12.\n// committed: price +2 -1\n' in outcome.out
    assert '-double["tea"] = 12.\n// committed: price +0 -1\n' in outcome.out
    assert outcome.out.splitlines()[-1].split() == ["cake", "18"]


Word = tuple[str, str, int, int]  # what is said, region, store, total
ORDER = ("delete", "delete_keys", "upsert", "insert")  # of a JSON line
WORDS = st.lists(
    st.tuples(st.sampled_from(ORDER), st.sampled_from(["north", "south", "east"]), st.integers(0, 2), st.integers(0, 3)), max_size=7
)


def expected_of(rows: Iterable[tuple[str, int, int]], words: Iterable[Word]) -> set[tuple[str, int, int]] | None:
    """The rows after a transaction; None if it is to be refused."""
    after = set(rows)
    for word, region, store, total in words:
        if word in ("upsert", "delete_keys"):
            after = {row for row in after if row[:2] != (region, store)}
        if word in ("upsert", "insert"):
            after.add((region, store, total))
        if word == "delete":
            after.discard((region, store, total))
    given = {row[:2] for row in after}
    best = {(store, total) for region, store, total in after if region == "north" or (region == "south" and total > 0)}
    return after if len(given) == len(after) and len({store for store, _ in best}) == len(best) else None


def say(database: Database, face: str, words: list[Word]) -> None:
    if face == "python":
        with database.transaction() as tx:
            for word, region, store, total in words:
                getattr(tx, word)("sales", [(region, store) if word == "delete_keys" else (region, store, total)])
        return
    if face == "text":
        sign = {"delete": "-", "delete_keys": "-", "upsert": "^", "insert": "+"}
        facts = [f'{sign[word]}sales["{r}",{s}]' + ("." if word == "delete_keys" else f" = {t}.") for word, r, s, t in words]
        line = " ".join([*facts, "commit."])
    else:
        sides = {
            side: {"sales": [[r, s] if word == "delete_keys" else [r, s, t] for word, r, s, t in words if word == side]} for side in ORDER
        }
        line = json.dumps(sides)
    [staged] = read_transactions([line], "text" if face == "text" else "jsonl", database.predicates, "s")
    assert isinstance(staged, StagedTransaction)
    apply(database, staged, "s")


@pytest.mark.parametrize("face", ["python", "text", "jsonl"])
@settings(max_examples=examples(40))
@given(stream=st.lists(WORDS, max_size=8), maintain=st.sampled_from(get_args(Maintain)))
def test_a_random_stream_does_to_a_functional_predicate_what_it_does_to_a_dictionary(
    face: str, maintain: Maintain, stream: list[list[Word]]
) -> None:
    database = Database(PROGRAM, rows_per_page=4, maintain=maintain)
    rows: set[tuple[str, int, int]] = set()
    for said in stream:
        words = sorted(said, key=lambda word: ORDER.index(word[0])) if face == "jsonl" else said
        expected = expected_of(rows, words)
        if expected is None:
            with pytest.raises(DatalogError, match=r"has (two|[0-9]+) values"):
                say(database, face, words)
        else:
            say(database, face, words)
            rows = expected
        assert set(database["sales"]) == rows
        assert {key: database["sales"][key] for key in {row[:2] for row in rows}} == {row[:2]: row[2] for row in rows}
        database.check()


def test_rows_and_keys_of_every_type_are_found_without_being_taken_for_others() -> None:
    db = Database(".decl stay(day: date, paid: bool) = sum: decimal(2)\n")
    day, other = date(2024, 2, 29), datetime(2024, 2, 29, tzinfo=UTC)
    with db.transaction() as tx:
        tx.upsert("stay", {(day, True): Decimal("12.5"), (day, False): 3})
    stay = db["stay"]
    assert (stay[day, True], stay[day, False]) == (Decimal("12.50"), Decimal("3.00"))
    assert (day, True, Decimal("12.500")) in stay
    assert not any(row in stay for row in ((day, 1, 12), (other, True, Decimal("12.5")), ("2024-02-29", True, 12), (day, True, 12.5)))
    with pytest.raises(DataError, match="1 is no bool"):
        stay[day, 1]
