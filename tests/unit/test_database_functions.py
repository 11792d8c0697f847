"""Python functions in the rules of a database: called for what is new, maintained, and nothing lasts of a call that fails."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

import datalog
from datalog import Database, EvaluationError, FunctionError, ProgramError

PROGRAM = """.decl word(w: symbol)
.decl score(w: symbol, s: number)
.decl long(w: symbol)
score(w, value(w)) :- word(w).
long(w) :- word(w), value(w) > 3.
"""


@datalog.function
def value(word: str) -> int:
    if word == "bad":
        raise LookupError("no such word")
    return len(word)


def insert(db: Database, predicate: str, *rows: Any) -> datalog.Changes:
    with db.transaction() as tx:
        tx.insert(predicate, list(rows))
    return tx.changes


def contents(db: Database) -> dict[str, list[Any]]:
    return {name: list(db[name]) for name in db}


@pytest.fixture(name="db")
def _db() -> Database:
    return Database(PROGRAM + 'word("a"). word("four").\n', functions=[value])


def test_a_function_stands_in_heads_and_bodies_and_is_maintained(db: Database) -> None:
    assert list(db["score"]) == [("a", 1), ("four", 4)] and list(db["long"]) == [("four",)]
    changes = insert(db, "word", "seven77", "")
    assert changes["score"].inserted == [("", 0), ("seven77", 7)] and changes["long"].inserted == [("seven77",)]
    with db.transaction() as tx:
        tx.delete("word", ["four"])
    assert tx.changes["score"].deleted == [("four", 4)] and tx.changes["long"].deleted == [("four",)]
    db.check()


def test_plain_functions_do_with_annotations() -> None:
    def shout(word: str) -> str:
        return word.upper()

    db = Database('p("a"). q(shout(x)) :- p(x).', functions=[shout])
    assert list(db["q"]) == [("A",)]


def test_a_function_is_called_once_for_arguments_that_many_rows_have() -> None:
    calls: list[int] = []

    @datalog.function
    def f(number: int) -> int:
        calls.append(number)
        return number % 2

    db = Database(".decl p(x: number, y: number)\nq(x, f(y)) :- p(x, y).\nr(y) :- p(_, y), f(y) = 1.", functions=[f])
    insert(db, "p", *((x, y) for x in range(10) for y in range(3)))
    assert sorted(calls) == [0, 1, 2]
    insert(db, "p", (10, 0), (10, 3))
    assert sorted(calls) == [0, 1, 2, 3]
    assert list(db["r"]) == [(1,), (3,)]


def test_a_function_of_columns_is_called_with_many_rows() -> None:
    sizes: list[int] = []

    @datalog.function("number", "number", returns="number", columns=True)
    def plus(left: Any, right: Any) -> Any:
        sizes.append(len(left))
        return left + right

    db = Database(".decl p(x: number, y: number)\nq(plus(x, y)) :- p(x, y).", functions=[plus])
    insert(db, "p", *((x, 10 * y) for x in range(10) for y in range(10)))
    assert list(db["q"]) == [(number,) for number in range(100)]
    assert sum(sizes) == 100 and len(sizes) < 20


def test_values_of_every_type_reach_a_function_and_come_back() -> None:
    @datalog.function("date", "bool", "decimal(2)", "unsigned", "float", returns="symbol")
    def told(*values: object) -> str:
        return " ".join(f"{type(value).__name__}:{value}" for value in values)

    @datalog.function("decimal(2)", returns="decimal(1)")
    def rounded(price: Decimal) -> Decimal:
        return round(price, 1)

    db = Database(
        ".decl p(a: date, b: bool, c: decimal(2), d: unsigned, e: float)\nq(told(a, b, c, d, e), rounded(c)) :- p(a, b, c, d, e).",
        functions=[told, rounded],
    )
    insert(db, "p", (date(2024, 5, 1), True, Decimal("1.26"), 7, 0.5))
    assert list(db["q"]) == [("date:2024-05-01 bool:True Decimal:1.26 int:7 float:0.5", Decimal("1.3"))]


# --- failures --------------------------------------------------------------------------------------------------------------


def test_an_exception_tells_rule_and_binding_and_aborts_the_transaction(db: Database) -> None:
    before = contents(db)
    with pytest.raises(EvaluationError) as caught, db.transaction() as tx:
        tx.insert("word", ["good", "bad"])
    assert "LookupError: no such word" in str(caught.value) and '"bad"' in str(caught.value)
    assert caught.value.line in (4, 5) and "value(w)" in caught.value.text
    assert isinstance(caught.value.__cause__, LookupError)
    assert contents(db) == before
    insert(db, "word", "good")
    assert ("good", 4) in db["score"]
    db.check()


def test_a_failing_function_is_a_literal_that_does_not_hold_where_that_is_asked_for() -> None:
    db = Database(PROGRAM, functions=[value], failing="skip")
    changes = insert(db, "word", "bad", "good")
    assert changes["score"].inserted == [("good", 4)]
    assert list(db["word"]) == [("bad",), ("good",)]
    db.check()


def test_a_failure_that_the_rule_does_not_need_is_none() -> None:
    db = Database('.decl word(w: symbol)\np(w) :- word(w), w != "bad", value(w) > 0.', functions=[value])
    insert(db, "word", "bad", "good")
    assert list(db["p"]) == [("good",)]


def test_a_result_of_another_type_is_an_error() -> None:
    db = Database(".decl p(x: number)\nq(f(x)) :- p(x).", functions=[datalog.function("number", returns="symbol", name="f")(lambda x: x)])
    with pytest.raises(EvaluationError, match="the result 5 is no symbol"):
        insert(db, "p", 5)
    assert not len(db["p"])


def test_an_interrupt_within_a_function_leaves_everything_as_it_was() -> None:
    interrupting = True

    @datalog.function
    def f(number: int) -> int:
        if interrupting:
            raise KeyboardInterrupt
        return number

    db = Database(".decl p(x: number)\nq(f(x)) :- p(x).", functions=[f])
    with pytest.raises(KeyboardInterrupt):
        insert(db, "p", 1)
    assert contents(db) == {"p": [], "q": []}
    interrupting = False
    insert(db, "p", 1)
    assert contents(db) == {"p": [(1,)], "q": [(1,)]}


# --- functions and their database ------------------------------------------------------------------------------------------


def test_a_database_takes_functions_later(db: Database) -> None:
    @db.function("symbol", "number", returns="symbol")
    def cut(word: str, length: int) -> str:
        return word[:length]

    db.add_rules("short(cut(w, 2)) :- word(w).")
    insert(db, "word", "xyz")
    assert list(db["short"]) == [("a",), ("fo",), ("xy",)]
    assert cut("abc", 1) == "a"
    assert db.query("word(w), cut(w, 1) = x") == [("a", "a"), ("four", "f"), ("xyz", "x")]


def test_a_second_function_of_one_name_replaces_none(db: Database) -> None:
    with pytest.raises(FunctionError, match="there is a function value already"):

        @db.function("symbol", returns="number", name="value")
        def other(word: str) -> int:
            return 0

    with pytest.raises(FunctionError, match="there is a function value already"):
        Database(PROGRAM, functions=[value, value])
    assert list(db["score"]) == [("a", 1), ("four", 4)]


def test_databases_do_not_share_functions() -> None:
    db = Database(".decl p(x: number)\n")

    @db.function
    def one_more(number: int) -> int:
        return number + 1

    with pytest.raises(ProgramError, match="one_more"):
        Database("p(1). q(one_more(x)) :- p(x).")
    db.add_rules("q(one_more(x)) :- p(x).")


def test_a_program_with_a_wrong_call_leaves_the_database_as_it_was(db: Database) -> None:
    for call in ("value(1)", 'value("a", "b")', 'cat("a", value(w))'):
        with pytest.raises(ProgramError, match="value"):
            db.add_rules(f"wrong(w, {call}) :- word(w).")
    assert "wrong" not in db
    assert list(db["score"]) == [("a", 1), ("four", 4)]


def test_a_predicate_goes_before_a_function_of_its_name_as_a_literal() -> None:
    @datalog.function
    def even(number: int) -> bool:
        return number % 2 == 0

    functional = Database(".decl p(x: number)\nq(x) :- p(x), even(x).", functions=[even])
    insert(functional, "p", 1, 2)
    assert list(functional["q"]) == [(2,)]
    relational = Database(".decl p(x: number)\neven(1).\nq(x, even(x)) :- p(x), even(x).", functions=[even])
    insert(relational, "p", 1, 2)
    assert list(relational["q"]) == [(1, False)]


@pytest.mark.parametrize(
    "reads",
    [
        lambda db: db.query("p(x)"),
        lambda db: list(db["p"]),
        lambda db: len(db["p"]),
        lambda db: insert(db, "p", 2),
        lambda db: db.add_rules("r(1)."),
        lambda db: db.explain("p(0)"),
        lambda db: db.snapshot(),
        lambda db: db.check(),
        lambda db: db.function("number", returns="number", name="g")(abs),
    ],
)
def test_a_function_can_not_use_its_database(reads: Callable[[Database], object]) -> None:
    @datalog.function
    def f(number: int) -> int:
        if number:
            reads(db)
        return number

    db = Database(".decl p(x: number)\np(0).\nq(f(x)) :- p(x).", functions=[f])
    before = contents(db)
    with pytest.raises(EvaluationError, match="FunctionError: a function that rules call can neither read nor change") as caught:
        insert(db, "p", 1)
    assert isinstance(caught.value.__cause__, FunctionError)
    assert contents(db) == before and "r" not in db
    db.check()


def test_a_function_can_use_another_database_and_a_snapshot() -> None:
    other = Database("price(1, 10).")
    with Database("price(1, 5).").snapshot() as prices:

        @datalog.function
        def dearer(number: int) -> bool:
            return other.query(f"price({number}, p)") > list(prices["price"])

        db = Database("p(1). q(x) :- p(x), dearer(x).", functions=[dearer])
    assert list(db["q"]) == [(1,)]


def test_another_thread_waits_for_a_function_and_then_reads() -> None:
    within = threading.Event()
    read: list[Any] = []

    @datalog.function
    def f(number: int) -> int:
        if number:
            within.set()
            thread.join(0.2)
        return number

    db = Database(".decl p(x: number)\np(0).\nq(f(x)) :- p(x).", functions=[f])

    def reader() -> None:
        within.wait()
        read.extend(db.query("q(x)"))

    thread = threading.Thread(target=reader)
    thread.start()
    insert(db, "p", 1)
    thread.join()
    assert read == [(0,), (1,)]
