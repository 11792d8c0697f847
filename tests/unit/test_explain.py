"""Proofs as text and as data, on small programs."""

from __future__ import annotations

import json
import time
from itertools import pairwise

import pytest

import datalog
from tests.kernels.blocks import COMPILED

CLOSURE = """\
.decl edge(x: number, y: number)
.decl path(x: number, y: number)
edge(1, 2). edge(2, 3).
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), edge(y, z).
"""


def test_a_proof_is_drawn_with_the_rule_and_its_place_behind_each_derived_fact() -> None:
    assert str(datalog.Database(CLOSURE).explain("path(1, 3)")) == (
        "path(1, 3)  by path(x, z) :- path(x, y), edge(y, z).  (<program>:5)\n"
        "├─ path(1, 2)  by path(x, y) :- edge(x, y).  (<program>:4)\n"
        "│  └─ edge(1, 2)  given\n"
        "└─ edge(2, 3)  given"
    )


def test_depth_cuts_what_lies_deeper_and_says_so() -> None:
    assert str(datalog.Database(CLOSURE).explain("path(1, 3)", depth=1)) == (
        "path(1, 3)  by path(x, z) :- path(x, y), edge(y, z).  (<program>:5)\n├─ path(1, 2)  …\n└─ edge(2, 3)  given"
    )


def test_a_depth_that_suffices_cuts_nothing() -> None:
    db = datalog.Database(CLOSURE)
    assert str(db.explain("path(1, 3)", depth=2)) == str(db.explain("path(1, 3)"))


def test_a_depth_below_one_is_refused() -> None:
    with pytest.raises(datalog.DatalogError, match="a depth of 1 or more, not of 0"):
        datalog.Database(CLOSURE).explain("path(1, 3)", depth=0)


def test_a_derived_fact_that_is_used_twice_is_drawn_once() -> None:
    db = datalog.Database("e(1). d(x) :- e(x). both(x) :- d(x), d(x), e(x), e(x).")
    assert str(db.explain("both(1)")) == (
        "both(1)  by both(x) :- d(x), d(x), e(x), e(x).  (<program>:1)\n"
        "├─ d(1)  by d(x) :- e(x).  (<program>:1)\n"
        "│  └─ e(1)  given\n"
        "├─ d(1)  see above\n"
        "├─ e(1)  given\n"
        "└─ e(1)  given"
    )


def test_a_fact_below_the_limit_is_drawn_in_full_where_it_stands_higher_up() -> None:
    db = datalog.Database("e(1). a(x) :- e(x). b(x) :- a(x). c(x) :- b(x), a(x).")
    assert str(db.explain("c(1)", depth=2)) == (
        "c(1)  by c(x) :- b(x), a(x).  (<program>:1)\n"
        "├─ b(1)  by b(x) :- a(x).  (<program>:1)\n"
        "│  └─ a(1)  …\n"
        "└─ a(1)  by a(x) :- e(x).  (<program>:1)\n"
        "   └─ e(1)  given"
    )


def test_negations_comparisons_and_computations_are_shown_with_their_values() -> None:
    program = """\
step(1, 5). step(2, 9). blocked(7).
next(x + 1, z) :- step(x, y), y < 6, z = y * 2, !blocked(x).
"""
    assert str(datalog.Database(program).explain("next(2, 10)")) == (
        "next(2, 10)  by next(x + 1, z) :- step(x, y), y < 6, z = y * 2, !blocked(x).  (<program>:2)\n"
        "├─ step(1, 5)  given\n"
        "├─ 5 < 6  y < 6\n"
        "├─ 10 = 5 * 2  z = y * 2\n"
        "├─ !blocked(1)  no such row\n"
        "└─ 2 = 1 + 1  x + 1"
    )


def test_a_computation_in_an_atom_stands_below_the_atom() -> None:
    db = datalog.Database("e(1). f(2). p(x) :- e(x), f(x + 1), !f(x * 5).")
    assert str(db.explain("p(1)")).split("\n")[1:] == [
        "├─ e(1)  given",
        "├─ f(2)  given",
        "├─ 2 = 1 + 1  x + 1",
        "├─ !f(5)  no such row",
        "└─ 5 = 1 * 5  x * 5",
    ]


def test_what_is_written_is_quoted_with_all_its_parentheses() -> None:
    db = datalog.Database('e(1, 2, ")("). p((x + y) * (y + 2)) :- e(x, y, ")("), (x + 3) * 2 > (y - 1) * (y + /* ( */ 1).')
    assert str(db.explain("p(12)")).split("\n")[1:] == [
        '├─ e(1, 2, ")(")  given',
        "├─ (1 + 3) * 2 > (2 - 1) * (2 + 1)  (x + 3) * 2 > (y - 1) * (y + 1)",
        "└─ 12 = (1 + 2) * (2 + 2)  (x + y) * (y + 2)",
    ]


def test_a_negated_group_is_shown_as_it_is_written() -> None:
    db = datalog.Database("e(1, 2). f(9). p(x) :- e(x, _),\n  !(e(x, z), // over\n    f(z), z > x).")
    assert str(db.explain("p(1)")).split("\n")[1:] == [
        "├─ e(1, 2)  given",
        "└─ !(e(x, z), f(z), z > x)  nothing satisfies it where x = 1",
    ]


def test_of_a_disjunction_the_branch_that_holds_is_shown() -> None:
    db = datalog.Database("e(1). f(2). p(x) :- (e(x), x > 5; f(x), x < 5).")
    assert str(db.explain("p(2)")).split("\n")[1:] == ["├─ f(2)  given", "└─ 2 < 5  x < 5"]


def test_the_helper_of_many_disjunctions_does_not_show() -> None:
    branches = " ; ".join(f"x = {number}" for number in range(5))
    db = datalog.Database(f"e(3, 4). p(x, y) :- e(x, y), ({branches}), ({branches.replace('x', 'y')}).")
    assert any("@or" in name for name in db.predicates), "the program is one with such a helper"
    assert "@" not in str(db.explain("p(3, 4)"))
    assert str(db.explain("p(3, 4)")).split("\n")[1:] == ["├─ e(3, 4)  given", "├─ 3 = 3  x = 3", "└─ 4 = 4  y = 4"]


def test_an_atom_of_wildcards_is_shown_by_a_row() -> None:
    db = datalog.Database('e(1). q(7, "a"). p(x) :- e(x), q(_, _), !r(_). r(x) :- e(x), x > 1.')
    assert str(db.explain("p(1)")).split("\n")[1:] == ["├─ e(1)  given", '├─ q(7, "a")  given', "└─ !r(_)  there is no row at all"]


def test_wildcards_are_filled_in_with_a_row_that_is_there() -> None:
    db = datalog.Database('e(1, "b", 2.5). p(x) :- e(x, _, _).')
    assert str(db.explain("p(1)")).split("\n")[1:] == ['└─ e(1, "b", 2.5)  given']


def test_a_given_fact_of_a_derived_predicate_is_given() -> None:
    db = datalog.Database("e(1). p(5). p(x) :- e(x).")
    assert str(db.explain("p(5)")) == "p(5)  given"
    assert db.explain("p(1)").kind == "derived"


def test_a_fact_without_columns_has_a_proof() -> None:
    db = datalog.Database("e(1). ok() :- e(_). fine() :- ok().")
    assert str(db.explain("fine()")) == (
        "fine()  by fine() :- ok().  (<program>:1)\n└─ ok()  by ok() :- e(_).  (<program>:1)\n   └─ e(1)  given"
    )


def test_a_rule_without_atoms_needs_no_premises() -> None:
    assert str(datalog.Database("p(1) :- true.").explain("p(1)")) == "p(1)  by p(1) :- true.  (<program>:1)"


def test_a_cycle_of_facts_is_proved_from_outside_it() -> None:
    db = datalog.Database("e(1, 2). e(2, 1). e(3, 1). p(3). p(y) :- p(x), e(x, y).")
    assert [node.fact for node in db.explain("p(2)").nodes()] == ["p(2)", "p(1)", "p(3)", "e(3, 1)", "e(1, 2)"]


def test_after_a_deletion_the_proof_goes_another_way() -> None:
    db = datalog.Database(CLOSURE + "edge(1, 4). edge(4, 3).")
    used = {node.fact for node in db.explain("path(1, 3)").nodes() if node.kind == "given"}
    with db.transaction() as tx:
        tx.delete("edge", [tuple(map(int, fact[5:-1].split(", "))) for fact in used])
    others = {node.fact for node in db.explain("path(1, 3)").nodes() if node.kind == "given"}
    assert others == {"edge(1, 2)", "edge(2, 3)", "edge(1, 4)", "edge(4, 3)"} - used


def test_a_proof_is_data() -> None:
    found = datalog.Database(CLOSURE).explain("path(1, 3)").to_dict()
    assert json.loads(json.dumps(found)) == {
        "fact": "path(1, 3)",
        "steps": [
            {
                "fact": "path(1, 3)",
                "kind": "derived",
                "rule": "path(x, z) :- path(x, y), edge(y, z).",
                "place": "<program>:5",
                "note": "",
                "premises": [1, 3],
            },
            {
                "fact": "path(1, 2)",
                "kind": "derived",
                "rule": "path(x, y) :- edge(x, y).",
                "place": "<program>:4",
                "note": "",
                "premises": [2],
            },
            {"fact": "edge(1, 2)", "kind": "given", "rule": None, "place": "", "note": "given", "premises": []},
            {"fact": "edge(2, 3)", "kind": "given", "rule": None, "place": "", "note": "given", "premises": []},
        ],
    }


def test_values_are_read_by_the_types_of_their_columns() -> None:
    db = datalog.Database('.decl p(a: unsigned, b: float, c: symbol)\np(18446744073709551615, 2.0, "a\\nb").')
    for written in ('p(18446744073709551615, 2.0, "a\\nb")', 'p(0xffffffffffffffffu, 2, "a\\x0ab").'):
        assert db.explain(written).fact == 'p(18446744073709551615, 2.0, "a\\nb")'


def test_what_is_no_number_is_a_fact_of_floats() -> None:
    db = datalog.Database(".decl p(a: float)\n.input p")
    with db.transaction() as tx:
        tx.insert("p", [(float("inf"),), (float("-inf"),), (float("nan"),)])
    assert [db.explain(f"p({name})").fact for name in ("inf", "-inf", "nan")] == ["p(inf)", "p(-inf)", "p(nan)"]


@pytest.mark.parametrize(
    ("fact", "message"),
    [
        ("path(3, 1)", "path(3, 1) does not hold\n    hint: why_not tells what is missing"),
        ("pth(1, 3)", "<fact>:1:1: error: unknown predicate `pth`\n    pth(1, 3)\n    ^^^\n    hint: did you mean `path`?"),
        ("path@base(1, 3)", "<fact>:1:5: error: "),
        ("path(1)", "<fact>:1:1: error: `path` is given 1 value and has 2 columns (x, y)"),
        ('path(1, "a")', '<fact>:1:9: error: "a" is no number\n    path(1, "a")\n            ^^^'),
        ("path(1, 2.5)", "<fact>:1:9: error: 2.5 is no number"),
        ("path(1, y)", "<fact>:1:9: error: a fact has values only\n    path(1, y)\n            ^\n    hint: a query finds the rows"),
        ("path(_, 3)", "<fact>:1:6: error: a fact has values only"),
        ("path(1, 1 + 2)", "<fact>:1:9: error: a fact has values only, and this is a computation"),
        ("path(1, 3), edge(1, 2)", "<fact>:1:1: error: expected one atom"),
        ("path(1,", "<fact>:1:8: error: "),
    ],
)
def test_what_is_no_fact_that_holds_is_refused_with_a_reason(fact: str, message: str) -> None:
    with pytest.raises(datalog.DatalogError) as caught:
        datalog.Database(CLOSURE).explain(fact)
    assert str(caught.value).startswith(message)


def test_explaining_leaves_the_database_as_it_was() -> None:
    db = datalog.Database("e(1, 2). e(2, 3). p(y, x) :- e(x, y), !e(_, x), q(_, y). q(x, y) :- e(y, x). q(5, 2).")
    storage = db._engine.storage
    before = {name: list(kept) for name, kept in storage.arrangements.items()}, storage.committed.tolist()
    db.explain("p(2, 1)")
    assert ({name: list(kept) for name, kept in storage.arrangements.items()}, storage.committed.tolist()) == before
    with db.transaction() as tx:
        tx.insert("e", [(7, 8)])
    db.check()


def test_rules_that_were_added_later_have_their_place() -> None:
    db = datalog.Database(CLOSURE)
    db.add_rules("back(y, x) :- path(x, y).")
    assert db.explain("back(3, 1)").place == "<program>:6"


def test_a_proof_may_be_deeper_than_the_stack() -> None:
    length = 2000
    db = datalog.Database(".input edge\nreached(0).\nreached(y) :- reached(x), edge(x, y).")
    with db.transaction() as tx:
        tx.insert("edge", list(pairwise(range(length + 1))))
    proof = db.explain(f"reached({length})")
    assert sum(node.kind == "derived" for node in proof.nodes()) == length
    assert str(proof).count("\n") + 1 == len(proof.to_dict()["steps"]) == 2 * length + 1
    assert len(str(db.explain(f"reached({length})", depth=3)).split("\n")) == 7


@pytest.mark.skipif(not COMPILED, reason="two million rows take plain Python hours")
def test_the_far_pair_of_a_long_chain_is_proved_in_seconds() -> None:
    length = 2000
    db = datalog.Database(CLOSURE.replace("edge(1, 2). edge(2, 3).", ".input edge"))
    with db.transaction() as tx:
        tx.insert("edge", list(pairwise(range(length + 1))))
    began = time.perf_counter()
    text = str(db.explain(f"path(0, {length})"))
    assert time.perf_counter() - began < 5
    assert text.count("\n") + 1 == 2 * length


def test_values_that_are_taken_apart_are_told_by_branches_and_fields() -> None:
    db = datalog.Database(
        """
        .type E = Num {v: number} | Neg {e: E} | Nil {}
        .type R = [a: number, r: R]
        .decl s(e: E, r: R)
        .decl t(x: number, y: number)
        s($Neg($Num(3)), [1, nil]).
        t(x, y) :- s(e, r), e = $Neg($Num(x)), r = [y, _].
        """
    )
    why = str(db.explain("t(3, 1)"))
    for line in ("$Neg($Num(3)) is a $Neg  $Neg($Num(x))", "$Num(3) = e of $Neg($Num(3))", "3 = v of $Num(3)  x", "1 = a of [1, nil]  y"):
        assert line in why
    assert "✗ $Num(x)  does not fit" in str(db.why_not("t(4, 1)"))
    assert "✗ 5 = a of [1, nil]  does not hold" in str(db.why_not("t(3, 5)"))
    with db.transaction() as transaction:
        transaction.delete("s", list(db["s"]))
        transaction.insert("s", [(datalog.Branch("Num", 3), (1, None))])
    assert "✗ $Num(3) is a $Neg  does not hold" in str(db.why_not("t(3, 1)"))
