"""`autoinc()`: what it numbers and in which order, where it may not stand, proofs and plans."""

from __future__ import annotations

from pathlib import Path

import pytest

from datalog import Database, ProgramError

NAMES = '.decl name(x: symbol)\nname("pear"). name("fig"). name("apple").\n'


def refused(program: str) -> list[str]:
    with pytest.raises(ProgramError) as caught:
        Database(program)
    return [f"{one.line}: {one.message}" for one in caught.value.diagnostics]


def test_bindings_are_numbered_from_0_in_the_order_of_their_values() -> None:
    db = Database(NAMES + "id(autoinc(), x) :- name(x).")
    assert list(db["id"]) == [(0, "apple"), (1, "fig"), (2, "pear")]


def test_a_name_that_comes_between_moves_those_behind_it_and_no_others() -> None:
    db = Database(NAMES + "id(autoinc(), x) :- name(x).")
    with db.transaction() as tx:
        tx.insert("name", [("kiwi",)])
    assert tx.changes["id"].inserted == [(2, "kiwi"), (3, "pear")]
    assert tx.changes["id"].deleted == [(2, "pear")]
    with db.transaction() as tx:
        tx.delete("name", [("kiwi",)])
    assert list(db["id"]) == [(0, "apple"), (1, "fig"), (2, "pear")]


def test_numbers_run_on_from_rule_to_rule_in_the_order_of_the_text() -> None:
    db = Database(NAMES + '.decl n(k: number)\nn(autoinc()) :- name("fig").\nn(autoinc()) :- name("fig").\nid(x, $) :- name(x).')
    assert list(db["n"]) == [(0,), (1,)]
    assert list(db["id"]) == [("apple", 2), ("fig", 3), ("pear", 4)]


def test_rules_on_whose_numbers_others_depend_number_first() -> None:
    db = Database(NAMES + "late(k, autoinc()) :- early(k, _).\nearly(autoinc(), x) :- name(x).")
    assert list(db["early"]) == [(0, "apple"), (1, "fig"), (2, "pear")]
    assert list(db["late"]) == [(0, 3), (1, 4), (2, 5)]


def test_each_autoinc_of_a_rule_takes_a_number_of_each_binding() -> None:
    db = Database(NAMES + "two(autoinc(), x, autoinc()) :- name(x).\none(x, autoinc()) :- name(x).")
    assert list(db["two"]) == [(0, "apple", 1), (2, "fig", 3), (4, "pear", 5)]
    assert next(iter(db["one"])) == ("apple", 6)


def test_all_variables_make_a_binding_and_wildcards_only_in_a_body_of_one_atom() -> None:
    facts = ".decl e(x: number, y: number)\ne(1, 1). e(1, 2). e(5, 1).\n.decl n(x: number)\nn(1). n(5).\n"
    assert len(Database(facts + "p(autoinc()) :- e(x, y).")["p"]) == 3
    assert len(Database(facts + "p(autoinc()) :- e(x, _).")["p"]) == 3
    assert len(Database(facts + "p(autoinc()) :- e(x, _), n(x).")["p"]) == 2
    assert list(Database(facts + "p(autoinc()) :- e(1, 2).")["p"]) == [(0,)]


def test_a_number_may_be_tested_computed_with_and_looked_up() -> None:
    db = Database(NAMES + "big(x) :- name(x), autoinc() > 0.\nnext(x, n) :- name(x), n = 10 * (autoinc() + 1).")
    assert list(db["big"]) == [("fig",), ("pear",)]
    assert list(db["next"]) == [("apple", 40), ("fig", 50), ("pear", 60)]


def test_each_head_and_each_alternative_is_numbered_on_its_own() -> None:
    db = Database(NAMES + 'a(x, autoinc()), b(x, autoinc()) :- name(x).\nc(x, autoinc()) :- name(x), (x = "fig"; x = "pear").')
    assert [n for _, n in db["a"]] == [0, 1, 2]
    assert [n for _, n in db["b"]] == [3, 4, 5]
    assert [n for _, n in db["c"]] == [6, 7]


def test_a_number_is_of_any_subtype_of_number() -> None:
    db = Database(NAMES + ".type id <: number\n.decl of(x: symbol, i: id)\nof(x, autoinc()) :- name(x).")
    assert [n for _, n in db["of"]] == [0, 1, 2]


def test_autoinc_is_refused_where_there_is_nothing_to_number() -> None:
    decl = ".decl a(n: number)\n.decl b(n: number)\n"
    assert refused(decl + "a(autoinc()).") == ["3: `autoinc()` in a fact"]
    assert refused(decl + "a(1).\na(autoinc()) :- a(1).\na(autoinc()) :- b(_).") == ["4: `autoinc()` in a recursive rule"]
    assert refused(decl + "a(autoinc()) :- b(_).\nb(n) :- a(n).") == ["3: `autoinc()` in a recursive rule"]
    assert refused(decl + "a(n) :- n = count : { b(m), m = autoinc() }.") == ["3: `autoinc()` within an aggregate"]
    assert refused(decl + "a(n) :- b(n), !(b(m), m > autoinc()).") == ["3: `autoinc()` within a negated group"]


def test_autoinc_is_refused_with_inline_predicates() -> None:
    decl = ".decl a(n: number)\n.decl b(n: number)\n.decl i(n: number) inline\n"
    message = "`autoinc()` with the inline predicate `i`"
    assert refused(decl + "i(autoinc()) :- b(_).\na(n) :- i(n).") == [f"4: {message}"]
    assert refused(decl + "i(n) :- b(n).\na(n) :- b(n), i(autoinc()).") == [f"5: {message}"]


def test_autoinc_is_refused_in_a_query() -> None:
    with pytest.raises(ProgramError, match="`autoinc\\(\\)` in a query"):
        Database(NAMES).query("name(x), n = autoinc()")


def test_rules_that_are_added_later_number_behind_those_there_are() -> None:
    db = Database(NAMES + "id(autoinc(), x) :- name(x).")
    db.add_rules("more(autoinc(), x) :- name(x).")
    assert [n for n, _ in db["more"]] == [3, 4, 5]
    assert [n for n, _ in db["id"]] == [0, 1, 2]


def test_a_proof_shows_the_body_and_why_not_the_number() -> None:
    db = Database(NAMES + "id(autoinc(), x) :- name(x).")
    assert str(db.explain('id(1, "fig")')).splitlines() == [
        'id(1, "fig")  by id(autoinc(), x) :- name(x).  (<program>:3)',
        '└─ name("fig")  given',
    ]
    assert str(db.why_not('id(2, "fig")')).splitlines()[-1] == "└─ ✗ 2 = autoinc()  no such binding has this number"


def test_the_plan_says_that_numbers_are_made_anew(tmp_path: Path) -> None:
    from datalog.plan_report import report_file

    program = tmp_path / "program.dl"
    program.write_text(NAMES + "id(autoinc(), x) :- name(x).\nmore(autoinc(), x, autoinc()) :- name(x).\n")
    report = report_file(program, None, "auto")
    assert "id@numbers1: numbers of id@bindings1\n" in report
    assert "more@numbers1  numbers more@bindings1 by value, 2 for each row, from where those of id@bindings1 end\n" in report
    assert "maintenance  all are numbered anew; only rows whose numbers are others change\n" in report
