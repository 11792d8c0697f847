"""Demand: what is put on demand, what stays whole, and what a database with predicates on demand says and does."""

from __future__ import annotations

from pathlib import Path

import pytest

import datalog
from datalog import Database
from datalog.errors import NotEvaluated
from datalog.ir.text import format_core_rule
from tests.command_line import datalog as run_command

PATHS = """.decl edge(x: number, y: number)
.decl path(x: number, y: number)
edge(1, 2). edge(2, 3). edge(4, 5). path(3, 9).
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), edge(y, z).
"""
OUT = ".decl out(y: number)\n.output out\nout(y) :- path(1, y).\n"
MAGIC = '.pragma "magic-transform" "*"\n'


def rules_of(db: Database, head: str) -> list[str]:
    return [format_core_rule(rule) for rule in db.core.rules if rule.head == head]


def versions(db: Database) -> dict[str, list[str]]:
    return {name: [one.name for one in listed] for name, listed in db.core.demanded.items()}


# --- the rewritten rules --------------------------------------------------------------------------------------------------


def test_a_predicate_is_asked_by_the_constants_of_an_output() -> None:
    db = Database(MAGIC + PATHS + OUT)
    assert versions(db) == {"path": ["path@bf"]}
    assert rules_of(db, "path@bf@demand") == ["path@bf@demand(=1) ← =1 = 1."]
    assert "path@bf(x, z) ← path@bf@demand(x), path@bf(x, y), edge(y, z)." in rules_of(db, "path@bf")
    assert list(db["out"]) == [(2,), (3,)]


def test_bound_literals_come_first_and_pass_their_values_on() -> None:
    db = Database(MAGIC + PATHS + ".decl out(y: number) .output out\nout(y) :- path(x, y), edge(z, x), z = 1.")
    assert rules_of(db, "path@bf@demand") == ["path@bf@demand(x) ← edge(z, x), z = 1."]
    assert list(db["out"]) == [(3,)]


def test_an_equal_head_and_atom_make_no_rule_for_the_demand() -> None:
    db = Database(MAGIC + PATHS + OUT)
    assert all("path@bf@demand(x) ← path@bf@demand(x)" not in rule for rule in rules_of(db, "path@bf@demand"))


def test_what_is_asked_for_whole_stays_itself() -> None:
    db = Database(MAGIC + PATHS + ".decl out(y: number) .output out\nout(y) :- path(_, y).")
    assert not db.on_demand
    assert list(db["path"]) == [(1, 2), (1, 3), (2, 3), (3, 9), (4, 5)]


def test_a_predicate_is_asked_for_all_its_rows_if_there_is_a_reason() -> None:
    text = ".decl go(x: number)\n.decl out(y: number)\n.output out\nout(y) :- go(1), path(_, y).\nout(y) :- path(1, y)."
    db = Database(MAGIC + PATHS + text)
    assert versions(db)["path"] == ["path@ff", "path@bf", "path@fb"]
    assert list(db["out"]) == [(2,), (3,)]
    assert db._engine.storage.size("path@ff") == 0
    with db.transaction() as tx:
        tx.insert("go", [(1,)])
    assert list(db["out"]) == [(2,), (3,), (5,), (9,)]


def test_values_that_only_a_demand_gives_are_not_computed_with() -> None:
    text = """.decl seed(x: number) .decl valid(x: number) .decl gen(x: number) .decl out() .output out
    seed(3). valid(0). valid(1). valid(2).
    gen(x) :- seed(x).
    gen(x) :- gen(x + 1), valid(x).
    out() :- gen(0)."""
    db = Database(MAGIC + text)
    assert len(db["out"]) == 1


def test_values_of_atoms_are_computed_with_where_nothing_can_fail() -> None:
    text = """.decl e(x: number) .decl p(x: number) .decl out(x: number) .output out
    e(5). e(6).
    p(x) :- e(x).
    out(x) :- e(x), p(x bxor 3)."""
    db = Database(MAGIC + text)
    assert versions(db) == {"p": ["p@b"]}
    assert list(db["out"]) == [(5,), (6,)]


def test_a_computation_that_may_fail_is_left_out_of_the_demand() -> None:
    text = """.decl e(x: number, y: number) .decl p(x: number, y: number) .decl out(x: number) .output out
    e(1, 0). e(2, 1). e(0, 0).
    p(x, y) :- e(x, y).
    out(x) :- e(x, y), y != 0, z = x / y - 1, p(z, _)."""
    db = Database(MAGIC + text)
    assert list(db["out"]) == [(2,)]
    assert not db.on_demand


def test_records_are_taken_apart_and_asked_by() -> None:
    text = """.type List = [head: number, tail: List]
    .decl lists(l: List) .decl size(l: List, n: number) .decl out(n: number) .output out
    lists([1, [2, [3, nil]]]). lists([7, nil]).
    lists(t) :- lists([_, t]), t != nil.
    size([h, nil], 1) :- lists([h, nil]).
    size(l, n + 1) :- lists(l), l = [_, t], size(t, n).
    out(n) :- size([2, [3, nil]], n)."""
    db = Database(MAGIC + text)
    assert "size" in db.on_demand
    assert list(db["out"]) == [(2,)]
    db.check()


def test_what_is_asked_of_a_list_is_asked_of_its_rest() -> None:
    text = """.type List = [head: number, tail: List]
    .type Sum = Zero {} | Add { one: Sum, other: number }
    .decl known(l: List) .decl sum(l: List, n: number) .decl value(s: Sum, n: number) .decl out(n: number) .output out
    known([1, [3, [2, nil]]]). known([7, nil]).
    known(t) :- known([_, t]).
    .decl digit(d: number) digit(1). digit(2). digit(3).
    sum(nil, 0).
    sum([h, t], h + n) :- sum(t, n), known([h, t]).
    value($Zero(), 0).
    value($Add(s, n), n + m) :- value(s, m), digit(n), m < 4.
    out(n) :- sum([3, [2, nil]], n).
    out(n) :- value($Add($Add($Zero(), 3), 2), n)."""
    db = Database(MAGIC + text)
    assert {"sum", "value"} <= set(db.on_demand)
    assert list(db["out"]) == [(5,)]
    assert db._engine.storage.size("sum@bf") == 3
    assert db._engine.storage.size("value@bf") == 3
    assert "@" not in str(db.explain("out(5)"))
    db.check()


def test_a_nullary_predicate_is_evaluated_if_something_asks() -> None:
    text = """.decl go() .decl far() .decl out(x: number) .output out
    far() :- path(1, 3).
    go() :- far(), path(4, 5).
    out(x) :- edge(x, 2), go()."""
    db = Database(MAGIC + PATHS + text)
    assert versions(db)["go"] == ["go@if"]
    assert list(db["out"]) == [(1,)]
    with db.transaction() as tx:
        tx.delete("edge", [(2, 3)])
    assert list(db["out"]) == []


def test_a_negated_group_and_an_aggregate_are_complete_for_what_is_asked() -> None:
    text = """.decl out(x: number, n: number) .output out
    out(x, n) :- edge(x, 2), n = count : { path(x, _) }, !(path(x, y), path(y, 9)).
    out(x, n) :- edge(x, 5), n = max y : { path(x, y) }, !path(5, x)."""
    db, whole = Database(MAGIC + PATHS + text), Database(PATHS + text)
    assert "path" in db.on_demand
    for insert, delete in ([(3, 7)], []), ([], [(2, 3)]), ([(5, 4)], [(1, 2)]), ([(1, 2)], []):
        for one in (db, whole):
            with one.transaction() as tx:
                tx.insert("edge", insert)
                tx.delete("edge", delete)
        assert list(db["out"]) == list(whole["out"])
        db.check()


def test_a_demand_that_would_go_through_its_own_negation_leaves_the_predicate_whole() -> None:
    text = """.decl base(x: number) .decl a(x: number) .decl b(x: number) .decl c(x: number) .decl out(x: number) .output out
    base(0). base(1). base(2).
    a(x) :- base(x).
    a(x) :- b(x), base(x).
    b(x) :- a(x), x != 0.
    c(x) :- base(x), !b(x).
    out(x) :- c(x), a(x)."""
    db = Database(MAGIC + text)
    assert "b" not in db.on_demand
    assert list(db["out"]) == [(0,)]


def test_functional_predicates_and_outputs_stay_whole() -> None:
    text = "F[x] = y :- edge(x, y).\n.decl out(y: number) .output out\nout(y) :- F[1] = y.\n"
    text += ".decl size(x: number) .printsize size\nsize(x) :- path(x, 3)."
    db = Database(MAGIC + PATHS + text)
    assert set(db.on_demand) == {"path"}
    assert db["F"][1] == 2


def test_of_too_many_versions_those_stand_for_others_that_are_asked_by_fewer_columns() -> None:
    text = """.decl r(a: number, b: number, c: number) .decl p(a: number, b: number, c: number) .decl out(x: number) .output out
    r(1, 2, 3). r(1, 2, 4). r(2, 2, 2). r(5, 3, 3).
    p(a, b, c) :- r(a, b, c).
    out(x) :- p(1, x, _).
    out(x) :- p(1, 2, x).
    out(x) :- p(x, 3, _).
    """
    db, other = Database(MAGIC + text), Database(MAGIC + text.replace("    out(x) :- p(x, 3, _).\n", ""))
    assert versions(other) == {"p": ["p@bff", "p@bbf"]}
    assert versions(db) == {"p": ["p@bff", "p@fbf"]}
    assert list(db["out"]) == [(2,), (3,), (4,), (5,)]
    db.check()


# --- what is asked to be on demand -------------------------------------------------------------------------------------------


def test_without_a_word_nothing_is_on_demand() -> None:
    assert not Database(PATHS + OUT).on_demand


@pytest.mark.parametrize(
    "text", ['.pragma "magic-transform" "path,other"\n', '.pragma "magic-transform" "other"\n.pragma "magic-transform" "path"\n', MAGIC]
)
def test_a_pragma_lists_predicates_or_says_all(text: str) -> None:
    assert set(Database(text + PATHS + OUT).on_demand) == {"path"}


def test_qualifiers_say_what_is_on_demand_and_what_is_not() -> None:
    assert set(Database(PATHS.replace("path(x: number, y: number)", "path(x: number, y: number) magic") + OUT).on_demand) == {"path"}
    assert not Database(MAGIC + PATHS.replace("path(x: number, y: number)", "path(x: number, y: number) no_magic") + OUT).on_demand


def test_excluded_predicates_stay_whole() -> None:
    assert not Database(MAGIC + '.pragma "magic-transform-exclude" "path"\n' + PATHS + OUT).on_demand
    assert not Database(PATHS + OUT, on_demand="*", whole="path").on_demand
    assert not Database(PATHS + OUT, on_demand=["path"], whole=["path"]).on_demand


def test_predicates_of_components_are_named_as_outside() -> None:
    text = """.comp C { .decl e(x: number, y: number) .decl p(x: number, y: number)
    e(1, 2). e(2, 3).
    p(x, y) :- e(x, y). p(x, z) :- p(x, y), e(y, z). }
    .init c = C
    .decl out(y: number) .output out
    out(y) :- c.p(2, y)."""
    assert set(Database(text, on_demand="c.p").on_demand) == {"c.p"}
    assert list(Database(text, on_demand="*")["out"]) == [(3,)]


# --- a database ------------------------------------------------------------------------------------------------------------


def test_a_demand_that_changes_is_a_change() -> None:
    db = Database(
        PATHS + ".decl asked(x: number)\n.decl out(x: number, y: number)\n.output out\nout(x, y) :- asked(x), path(x, y).", on_demand="*"
    )
    assert list(db["out"]) == []
    heard: list[list[datalog.ir.core.Row]] = []
    db.subscribe("out", lambda changes: heard.append(changes["out"].inserted))
    with db.transaction() as tx:
        tx.insert("asked", [(1,), (3,)])
    assert heard == [[(1, 2), (1, 3), (1, 9), (3, 9)]] or heard == [[(1, 2), (1, 3), (3, 9)]]
    with db.transaction() as tx:
        tx.delete("asked", [(1,)])
        tx.insert("path", [(3, 10)])
    assert list(db["out"]) == [(3, 9), (3, 10)]
    db.check()


def test_the_relation_of_a_predicate_on_demand_is_refused() -> None:
    db = Database(PATHS + OUT, on_demand="*")
    with pytest.raises(NotEvaluated, match=r"path is on demand.*\n.*db.query\(\"path\(x, y\)\"\)"):
        db["path"]
    with db.snapshot() as snapshot, pytest.raises(NotEvaluated):
        snapshot["path"]
    with pytest.raises(NotEvaluated):
        db.subscribe("path", print)
    with db.transaction() as tx:
        tx.insert("path", [(1, 7)])
    with pytest.raises(NotEvaluated):
        tx.changes["path"]
    assert set(tx.changes) == {"out"}
    assert "path" in db


def test_queries_evaluate_what_they_ask_for() -> None:
    db = Database(PATHS, on_demand="*")
    assert db.query("path(1, y)") == [(2,), (3,)]
    assert db.query("path(x, 3)") == [(1,), (2,)]
    assert db.query("path(x, y)") == [(1, 2), (1, 3), (2, 3), (3, 9), (4, 5)]
    assert db.query("edge(x, _), !path(x, 3)") == [(4,)]
    assert db.query("edge(x, _), n = count : { path(x, _) }") == [(1, 2), (2, 1), (4, 1)]
    assert db.query("path(1, 5)") == []
    db.check()


def test_rules_that_are_added_may_ask() -> None:
    db = Database(PATHS, on_demand="*")
    with db.transaction() as tx:
        tx.insert("path", [(1, 7)])
    db.add_rules(OUT)
    assert list(db["out"]) == [(2,), (3,), (7,)]
    assert db.query("path(3, y)") == [(9,)]


def test_proofs_show_the_predicates_of_the_program() -> None:
    db = Database(PATHS + OUT, on_demand="*")
    proof = str(db.explain("out(3)"))
    assert "path(1, 3)  by path(x, z) :- path(x, y), edge(y, z)." in proof
    assert "@" not in proof
    assert "@" not in str(db.explain("path(4, 5)")), "what no output asks for can be explained, too"
    assert "edge(5, 1)  no such row" in str(db.why_not("path(5, 1)"))
    with pytest.raises(datalog.DatalogError, match="does not hold"):
        db.explain("path(5, 1)")


# --- the command line -------------------------------------------------------------------------------------------------------


def test_the_command_line_puts_on_demand_what_souffles_options_name(tmp_path: Path) -> None:
    program = tmp_path / "p.dl"
    program.write_text(PATHS + OUT)
    for options in (["-m", "*"], ["--magic-transform", "path"], ["--magic-transform=*", "--magic-transform-exclude=path"]):
        assert "\n2\n3\n" in run_command("run", str(program), *options).out
    plan = run_command("plan", str(program), "-m", "*").out
    assert "predicates on demand\n  path  path@bf by x\n" in plan
    assert "predicates on demand" not in run_command("plan", str(program), "-m", "*", "--magic-transform-exclude", "path").out


def test_what_no_output_needs_is_not_read(tmp_path: Path) -> None:
    program = tmp_path / "p.dl"
    program.write_text(".decl gone(x: number)\n.input gone\n.decl dead(x: number)\ndead(x) :- gone(x).\n" + PATHS + OUT)
    assert run_command("run", str(program), "-F", str(tmp_path)).status == 0
    program.write_text(program.read_text() + ".output dead\n")
    ran = run_command("run", str(program), "-F", str(tmp_path))
    assert ran.status == 1
    assert "gone.facts" in ran.err
