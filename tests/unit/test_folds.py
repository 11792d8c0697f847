"""Aggregates of the user's own, `@@f x : initial, { … }`: what they fold, from where, in which order, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import datalog
from datalog import Database, ProgramError
from datalog.errors import EvaluationError
from tests.command_line import datalog as command

CALLS: list[tuple[Any, ...]] = []


def behind(so_far: int, x: int) -> int:
    CALLS.append((so_far, x))
    return 10 * so_far + x


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "behind": behind,
    "text": lambda so_far, x: f"{so_far}{x}",
    "hull": lambda so_far, x: (min(so_far.lb, x), max(so_far.ub, x)),
}
START = """.functor behind(so_far: number, x: number): number
.functor text(so_far: symbol, x: symbol): symbol
.decl e(k: symbol, x: number)
.decl g(k: symbol)
e("a", 3). e("a", 1). e("a", 2). e("b", 7).
g("a"). g("b"). g("c").
"""


def database(rules: str) -> Database:
    return Database(START + rules, functions=FUNCTIONS)


def test_rows_are_folded_in_the_order_of_values_and_no_rows_give_the_initial_value() -> None:
    base = database("p(k, r) :- g(k), r = @@behind x : 5, { e(k, x) }. q(@@behind x : 0, { e(_, x) }).")
    assert list(base["p"]) == [("a", 5123), ("b", 57), ("c", 5)]
    assert list(base["q"]) == [(1237,)]
    assert base.query('r = @@behind x : 1, { e("b", x) }') == [(17,)]


def test_symbols_are_folded_in_the_order_of_their_texts() -> None:
    base = Database(START + 's("z"). s("é"). s("B"). s("a"). p(r) :- r = @@text x : "", { s(x) }.', functions=FUNCTIONS)
    assert list(base["p"]) == [("Bazé",)]


def test_a_value_counts_as_often_as_there_are_rows_that_give_it() -> None:
    base = database("w(k, x, y) :- e(k, x), e(k, y). p(k, r) :- g(k), r = @@behind 1 : 0, { e(k, x), x > 1 }.")
    assert list(base["p"]) == [("a", 11), ("b", 1), ("c", 0)]


def test_the_initial_value_may_depend_on_what_stands_outside() -> None:
    rules = 'i("a", 1). i("a", 2). i("c", 9). p(k, n, r) :- i(k, n), r = @@behind x : n + 1, { e(k, x) }.'
    rules += " q(k, r) :- i(k, x), r = @@behind x : x, { e(k, x) }."  # the x of the body is its own
    base = database(rules)
    assert list(base["p"]) == [("a", 1, 2123), ("a", 2, 3123), ("c", 9, 10)]
    assert list(base["q"]) == [("a", 1123), ("a", 2123), ("c", 9)]


def test_after_a_change_only_new_calls_are_made() -> None:
    base = database("p(k, r) :- g(k), r = @@behind x : 0, { e(k, x) }.")
    CALLS.clear()
    with base.transaction() as transaction:
        transaction.insert("e", [("a", 4)])
        transaction.delete("e", [("b", 7)])
    assert CALLS == [(123, 4)]
    assert list(base["p"]) == [("a", 1234), ("b", 0), ("c", 0)]
    base.check()


def test_records_are_folded_with_a_stateful_functor() -> None:
    text = """.type I = [lb: number, ub: number]
.functor hull(i: I, x: number): I stateful
p(k, i) :- g(k), i = @@hull x : [5, 5], { e(k, x) }.
"""
    assert list(database(text)["p"]) == [("a", (1, 5)), ("b", (5, 7)), ("c", (5, 5))]


def test_typed_python_functions_fold_without_a_declaration() -> None:
    @datalog.function
    def longest(so_far: str, text: str) -> str:
        return max(so_far, text, key=len)

    base = Database('s("ab"). s("abc"). s("b"). p(@@longest x : "", { s(x) }).', functions=[longest])
    assert list(base["p"]) == [("abc",)]


def test_an_exception_names_the_group_and_leaves_everything_as_it_was() -> None:
    def behind(so_far: int, x: int) -> int:
        if x == 4:
            raise RuntimeError("no fours")
        return so_far + x

    base = Database(START + "p(k, r) :- g(k), r = @@behind x : 0, { e(k, x) }.", functions={**FUNCTIONS, "behind": behind})
    transaction = base.transaction()
    transaction.insert("e", [("a", 4)])
    with pytest.raises(EvaluationError, match=r"`@@behind` raised RuntimeError: no fours where k = \"a\"") as caught:
        transaction.commit()
    assert (caught.value.line, caught.value.column) == (7, 22) and isinstance(caught.value.__cause__, RuntimeError)
    assert list(base["p"]) == [("a", 6), ("b", 7), ("c", 0)]
    base.check()


def test_they_are_explained_and_planned(tmp_path: Path) -> None:
    rule = "p(k, r) :- g(k), r = @@behind x : 0, { e(k, x) }."
    base = database(rule)
    assert '123 = @@behind x : 0, { e("a", x) }  over 3 rows' in str(base.explain('p("a", 123)'))
    assert "it is 123 here, not 5" in str(base.why_not('p("a", 5)'))
    program = tmp_path / "p.dl"
    program.write_text(START + rule)
    assert "@@behind over p@body1(k" in command("plan", program).out


@pytest.mark.parametrize(
    ("rule", "message", "hint"),
    [
        ("p(@@nothing x : 0, { e(_, x) }).", "functor `@nothing` is not declared", "declare it: .functor nothing(so_far: number"),
        ("p(@@behinds x : 0, { e(_, x) }).", "functor `@behinds` is not declared", "did you mean `@behind`?"),
        ("p(@@behind x, x : 0, { e(_, x) }).", "`@@behind` has 2 arguments here", "it takes one: @@behind x : initial, { … }"),
        ("p(@@behind : 0, { e(_, x) }).", "`@@behind` has no arguments here", "it takes one"),
        ('p(@@behind x : "a", { e(_, x) }).', 'type mismatch: "a" is a symbol, but argument 1 of `@@behind` is a number', ""),
        ("p(@@behind x : 0, { e(x, _) }).", "type mismatch: `x` is a number (`@@behind`, line 7), but column 1 of `e` is a symbol", ""),
        (
            ".functor f(x: number): number p(@@f x : 0, { e(_, x) }).",
            "`@f` takes and gives other values than `@@f` could fold rows with",
            "it takes what the rows before have given",
        ),
        (
            ".functor f(x: symbol, y: number): number p(@@f x : 0, { e(_, x) }).",
            "`@f` takes and gives other values than `@@f` could fold rows with",
            "gives a value of the first one's type",
        ),
        ("p(x, @@behind x : 0, { p(_, x) }) :- e(_, x).", "", ""),
    ],
)
def test_wrong_folds_are_refused_where_they_stand(rule: str, message: str, hint: str) -> None:
    with pytest.raises(ProgramError) as caught:
        Database(START + rule, functions={**FUNCTIONS, "f": max})
    assert caught.value.message.startswith(message) and hint in caught.value.hint and caught.value.line == 7
