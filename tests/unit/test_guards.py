"""Choice domains, subsumption and rounds: what comes in, what leaves, what is maintained in small steps, and what is said of it."""

from __future__ import annotations

from itertools import permutations

import pytest

from datalog import Database
from datalog.errors import DatalogError, EvaluationError, ProgramError
from datalog.maintain.engine import Maintain

MAINTAIN: list[Maintain] = ["derived", "auto", "recorded", "recompute"]


def rows(program: str, name: str) -> list[tuple[object, ...]]:
    return list(Database(program)[name])


def guarded(db: Database) -> list[tuple[str, ...]]:
    return [stratum.predicates for stratum in db.core.strata if stratum.guard is not None]


# --- choice domains -------------------------------------------------------------------------------------------------------


def test_of_the_rows_of_a_key_the_least_by_value_is_chosen_whatever_came_first() -> None:
    texts = ["zebra", "ant", "Éva", "Bee"]
    for order in permutations(texts):
        db = Database(".decl e(x: number, y: symbol)\n.decl p(x: number, y: symbol) choice-domain x\np(x, y) :- e(x, y).")
        for text in order:
            with db.transaction() as tx:
                tx.insert("e", [(1, text)])
        assert list(db["p"]) == [(1, "Bee")]


def test_one_key_outside_of_recursion_is_maintained_in_small_steps() -> None:
    db = Database(".decl e(x: number, y: number)\n.decl p(x: number, y: number) choice-domain x\np(x, y) :- e(x, y).")
    assert guarded(db) == []
    with db.transaction() as tx:
        tx.insert("e", [(x, y) for x in range(2000) for y in range(3)])
    before = db._engine.steps
    with db.transaction() as tx:
        tx.delete("e", [(7, 0)])
    assert tx.changes["p"].inserted == [(7, 1)]
    assert db._engine.steps - before < 100


def test_several_keys_are_each_taken_once() -> None:
    program = ".decl p(x: number, y: number) choice-domain x, y\np(1, 1). p(1, 2). p(2, 1). p(2, 2). p(3, 2). p(3, 3)."
    assert rows(program, "p") == [(1, 1), (2, 2), (3, 3)]


def test_a_key_within_another_key_and_a_key_of_all_columns_say_nothing_more() -> None:
    program = ".decl p(x: number, y: number, z: number) choice-domain (x, x), (x, y), (y, x, z)\np(1, 1, 5). p(1, 2, 3). p(2, 2, 2)."
    assert rows(program, "p") == [(1, 1, 5), (2, 2, 2)]
    assert guarded(Database(program)) == []


def test_an_earlier_round_goes_before_a_smaller_row() -> None:
    program = """.decl p(x: number, y: number) choice-domain x
    p(0, 9).
    p(1, 5) :- p(0, 9).
    p(1, 0) :- p(1, _).
    p(1, 1) :- p(0, 9)."""
    assert rows(program, "p") == [(0, 9), (1, 1)]


def test_a_refused_row_makes_no_others() -> None:
    program = """.decl p(x: number, y: number) choice-domain x
    .decl seen(y: number)
    p(1, 1). p(1, 2).
    p(y, y + 10) :- p(_, y), y < 10.
    seen(y) :- p(_, y)."""
    assert rows(program, "seen") == [(1,)]


def test_records_are_chosen_by_value_too() -> None:
    program = """.type R = [a: number, b: symbol]
    .decl p(x: number, r: R) choice-domain x
    p(1, [2, "a"]). p(1, [1, "z"]). p(1, [1, "b"]). p(2, nil). p(2, [0, ""])."""
    assert [row[0] for row in rows(program, "p")] == [1, 2]
    assert rows(program, "p")[0] == (1, (1, "b"))


@pytest.mark.parametrize("maintain", MAINTAIN)
def test_a_given_row_of_a_predicate_with_a_choice_domain_competes_with_what_rules_derive(maintain: Maintain) -> None:
    db = Database(".decl e(x: number, y: number)\n.decl p(x: number, y: number) choice-domain x\np(x, y) :- e(x, y).", maintain=maintain)
    with db.transaction() as tx:
        tx.insert("e", [(1, 5)])
        tx.insert("p", [(1, 7), (2, 2)])
    assert list(db["p"]) == [(1, 5), (2, 2)]
    with db.transaction() as tx:
        tx.delete("e", [(1, 5)])
    assert list(db["p"]) == [(1, 7), (2, 2)]
    db.check()


# --- subsumption ------------------------------------------------------------------------------------------------------------


def test_rows_that_dominate_each_other_both_leave() -> None:
    assert rows(".decl p(x: number, y: number)\np(1, 5). p(2, 5). p(3, 4).\np(_, y) <= p(_, y) :- true.", "p") == [(3, 4)]


def test_a_row_is_dropped_by_one_that_is_dropped_itself() -> None:
    assert rows(".decl p(x: number)\np(1). p(2). p(3).\np(x) <= p(y) :- y = x + 1.", "p") == [(3,)]


def test_a_subsumption_that_mentions_its_predicate_means_all_its_rows() -> None:
    program = ".decl p(x: number)\np(1). p(2). p(3).\np(x) <= p(y) :- x < y, p(1)."
    assert rows(program, "p") == [(3,)]
    assert guarded(Database(program)) == []


def test_constants_patterns_and_computed_terms_may_stand_in_a_subsumption() -> None:
    program = """.type R = [low: number, high: number]
    .decl p(x: number, r: R)
    p(1, [3, 4]). p(1, [1, 9]). p(2, [3, 4]). p(2, [9, 9]). p(7, nil).
    p(x, [a, b]) <= p(x, [c, d]) :- c <= a, b <= d.
    .decl q(x: number)
    q(1). q(2). q(3). q(10).
    q(x) <= q(x + 1) :- true.
    q(10) <= q(_) :- true."""
    assert rows(program, "p") == [(1, (1, 9)), (2, (3, 4)), (2, (9, 9)), (7, None)]
    assert rows(program, "q") == [(3,)]


def test_outside_of_recursion_a_subsumption_is_maintained_in_small_steps() -> None:
    db = Database(".decl e(x: number, y: number)\n.decl p(x: number, y: number)\np(x, y) :- e(x, y).\np(x, y) <= p(x, z) :- z < y.")
    assert guarded(db) == []
    with db.transaction() as tx:
        tx.insert("e", [(x, y) for x in range(1000) for y in range(4)])
    before = db._engine.steps
    with db.transaction() as tx:
        tx.delete("e", [(7, 0)])
    assert tx.changes["p"].inserted == [(7, 1)]
    assert db._engine.steps - before < 200


def test_a_recursion_in_which_rows_come_and_go_for_ever_is_stopped() -> None:
    program = """.decl p(x: symbol)
    .decl start(x: symbol)
    p(x) :- start(x).
    p("paper") :- p("stone").
    p("scissors") :- p("paper").
    p("stone") :- p("scissors").
    .decl beats(x: symbol, y: symbol)
    beats("paper", "stone"). beats("scissors", "paper"). beats("stone", "scissors").
    p(x) <= p(y) :- beats(y, x)."""
    db = Database(program, max_rounds=100)
    with pytest.raises(EvaluationError, match="more than 100 rounds"), db.transaction() as tx:
        tx.insert("start", [("stone",)])
    assert (list(db["p"]), list(db["start"])) == ([], [])


def test_a_change_that_a_guarded_stratum_does_not_read_leaves_it_alone() -> None:
    program = """.decl e(x: number, y: number)
    .decl other(x: number)
    .decl p(x: number, y: number)
    p(x, y) :- e(x, y).
    p(x, z) :- p(x, y), e(y, z).
    p(x, y) <= p(x, z) :- y < z."""
    db = Database(program)
    with db.transaction() as tx:
        tx.insert("e", [(1, 2), (2, 3)])
    before = db._engine.steps
    with db.transaction() as tx:
        tx.insert("other", [(1,)])
    assert db._engine.steps == before


def test_a_subsumption_that_is_added_drops_rows() -> None:
    db = Database(".decl p(x: number)\np(1). p(2).")
    db.add_rules("p(x) <= p(y) :- y < x.")
    assert list(db["p"]) == [(1,)]


# --- rounds -----------------------------------------------------------------------------------------------------------------


def test_a_recursion_ends_with_the_round_in_which_its_limit_is_reached() -> None:
    program = ".decl p(x: number)\np(1).\np(x + y) :- p(x), p(y).\n.limitsize p(n=5)"
    assert rows(program, "p") == [(number,) for number in range(1, 9)]


def test_a_limit_says_nothing_outside_of_recursion() -> None:
    assert rows(".decl p(x: number)\np(1). p(2). p(3).\n.limitsize p(n=2)", "p") == [(1,), (2,), (3,)]


@pytest.mark.parametrize("limit", ["", '(n="many")', "(n=-1)", "(m=3)"])
def test_a_limit_is_one_number(limit: str) -> None:
    with pytest.raises(ProgramError) as caught:
        Database(f".decl p(x: number)\np(1).\np(x + 1) :- p(x), x < 9.\n.limitsize p{limit}")
    assert "`.limitsize` takes one number of rows, n" in str(caught.value)
    assert caught.value.diagnostics[0].line == 4


def test_debug_delta_tells_the_round_of_each_row_also_of_those_that_have_left() -> None:
    program = """.decl p(x: number)
    .decl rounds = debug_delta(p)
    p(0).
    p(x + 1) :- p(x), x < 3.
    p(x) <= p(y) :- x < y."""
    assert rows(program, "p") == [(3,)]
    assert rows(program, "rounds") == [(0, 0), (1, 1), (2, 2), (3, 3)]


def test_a_predicate_of_debug_delta_takes_no_facts() -> None:
    db = Database(
        ".decl p(x: number)\np(1).\np(x + 1) :- p(x), x < 3.\n.decl d = debug_delta(p)\n.decl q(x: number)\n.decl e = debug_delta(q)"
    )
    for name in ("d", "e"):
        with pytest.raises(DatalogError, match=f"{name} is derived by rules and has no facts of its own"), db.transaction() as tx:
            tx.insert(name, [(1, 2)])
        assert str(db.why_not(f"{name}(8, 8)")).startswith(f"{name}(8, 8) does not hold")


def test_the_number_of_the_round_is_0_in_rules_that_are_not_recursive() -> None:
    program = """.decl q(x: number)
    q(7).
    .decl p(x: number, n: unsigned)
    p(x, recursive_iteration_cnt()) :- q(x).
    p(x + 1, recursive_iteration_cnt()) :- p(x, _), x < 9."""
    assert rows(program, "p") == [(7, 0), (8, 1), (9, 2)]


def test_a_query_has_no_rounds() -> None:
    db = Database(".decl p(x: number)\np(1).\np(x + 1) :- p(x), recursive_iteration_cnt() < 3.")
    assert db.query("p(x), x > 2") == [(3,)]
    with pytest.raises(ProgramError, match="a query has no rounds"):
        db.query("p(x), n = recursive_iteration_cnt()")


# --- what is said -----------------------------------------------------------------------------------------------------------

SAID = """.decl e(x: number, y: number)
.decl p(x: number, y: number)
p(x, y) :- e(x, y).
p(x, y) <= p(x, z) :- z < y.
.decl c(x: number, y: number) choice-domain x
c(x, y) :- e(x, y).
.decl r(x: number, y: number) choice-domain x, y
r(x, y) :- e(x, y).
.decl s(x: number)
s(x) :- e(x, _).
s(x + 1) :- s(x), x < 5.
s(x) <= s(y) :- x < y.
"""


@pytest.fixture
def said() -> Database:
    db = Database(SAID)
    with db.transaction() as tx:
        tx.insert("e", [(1, 2), (1, 3), (2, 2)])
        tx.insert("c", [(1, 9)])
    return db


def test_a_proof_speaks_of_the_rule_and_not_of_hidden_predicates(said: Database) -> None:
    assert str(said.explain("p(1, 2)")) == "p(1, 2)  by p(x, y) :- e(x, y).  (<program>:3)\n└─ e(1, 2)  given"
    assert str(said.explain("c(1, 2)")).startswith("c(1, 2)  by c(x, y) :- e(x, y).")


def test_a_row_from_rows_that_have_left_says_so(said: Database) -> None:
    proof = said.explain("s(5)")
    assert (proof.kind, proof.rule, proof.note) == ("derived", None, "found in round 3 from rows that have left since")


@pytest.mark.parametrize(
    ("fact", "reason"),
    [
        ("p(1, 3)", "p(1, 2) subsumes it, by p(x, y) <= p(x, z) :- z < y."),
        ("c(1, 3)", "c(1, 2) has its key (x)"),
        ("c(1, 9)", "it is given, but c(1, 2) has its key (x)"),
        ("r(2, 2)", "r(1, 2) has its key (y)"),
        ("s(1)", "s(5) subsumes it, by s(x) <= s(y) :- x < y."),
    ],
)
def test_an_absence_names_the_row_that_keeps_the_other_out(said: Database, fact: str, reason: str) -> None:
    assert reason in str(said.why_not(fact))
