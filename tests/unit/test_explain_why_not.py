"""Why facts do not hold: the texts and the data, on small programs."""

from __future__ import annotations

import json

import pytest

import datalog

CLOSURE = """\
.decl edge(x: number, y: number)
.decl path(x: number, y: number)
edge(1, 2). edge(2, 3). edge(3, 4).
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), edge(y, z).
"""


def failing(program: str, fact: str) -> list[str]:
    """The last lines of the attempts: what fails in each rule."""
    text = str(datalog.Database(program).why_not(fact))
    return [line.removeprefix("└─ ✗ ") for line in text.split("\n") if line.startswith("└─ ")]


def test_each_rule_shows_how_far_it_gets_and_what_fails_then() -> None:
    assert str(datalog.Database(CLOSURE).why_not("path(1, 7)")) == (
        "path(1, 7) does not hold\n"
        "\n"
        "path(x, y) :- edge(x, y).  (<program>:4)\n"
        "└─ ✗ edge(1, 7)  no such row\n"
        "\n"
        "path(x, z) :- path(x, y), edge(y, z).  (<program>:5)\n"
        "├─ ✓ path(1, 2)  path(x, y)\n"
        "└─ ✗ edge(2, 7)  no such row\n"
        "   3 bindings get this far; shown is x = 1, y = 2, z = 7"
    )


def test_variables_that_are_not_bound_yet_stand_in_what_fails() -> None:
    assert failing(CLOSURE, "path(9, 1)") == ["edge(9, 1)  no such row", "path(9, y)  no such row"]


def test_a_given_fact_is_not_among_the_facts_and_its_neighbours_are_shown() -> None:
    assert str(datalog.Database(CLOSURE).why_not("edge(1, 3)")) == (
        "edge(1, 3) does not hold: it is not among the facts of edge\nnearby: edge(1, 2), edge(2, 3)"
    )


def test_at_most_three_neighbours_are_shown() -> None:
    facts = "".join(f"e(1, {number})." for number in range(10, 20))
    assert datalog.Database(facts).why_not("e(1, 5)").nearby == ("e(1, 10)", "e(1, 11)", "e(1, 12)")


def test_a_predicate_without_facts_says_so() -> None:
    assert str(datalog.Database(".decl e(x: number)\n.input e").why_not("e(1)")) == "e(1) does not hold: e has no facts"


def test_a_derived_predicate_with_given_facts_says_that_it_is_none_of_them() -> None:
    assert str(datalog.Database("p(4, 1). e(3, 3). p(x, y) :- e(x, y).").why_not("p(4, 2)")) == (
        "p(4, 2) does not hold: it is not among the given facts of p\n"
        "nearby: p(4, 1)\n"
        "\n"
        "p(x, y) :- e(x, y).  (<program>:1)\n"
        "└─ ✗ e(4, 2)  no such row"
    )


@pytest.mark.parametrize(
    ("rule", "fact", "reason"),
    [
        ("p(1, x) :- e(x, _).", "p(2, 1)", "column 1 of the head is 1, not 2"),
        ("p(x, x) :- e(x, _).", "p(1, 2)", "columns 1 and 2 of the head are equal, and 1 is not 2"),
        ("p(1, 1) :- e(1, 1).", "p(1, 2)", "columns 1 and 2 of the head are equal, and 1 is not 2"),
        ("p(1, 2) :- e(1, 1).", "p(1, 2)", "e(1, 1)  no such row"),
        ("p(x, y) :- e(x, y), !e(1, x), e(2, 2).", "p(1, 2)", "e(2, 2)  no such row"),
        ("p(x, y) :- e(x, _), e(_, y), x = y.", "p(1, 2)", "columns 1 and 2 of the head are equal, and 1 is not 2"),
        ("p(x, y) :- e(x, y), x > y.", "p(1, 2)", "1 > 2  does not hold"),
        ("p(x, y) :- e(x, y), !e(y, _).", "p(1, 2)", "!e(2, _)  e(2, _) holds"),
        ("p(x, y) :- e(x, y), !(e(y, z), z > x).", "p(1, 2)", "!(e(y, z), z > x)  something satisfies it where y = 2, x = 1"),
        ("p(x, y) :- e(x, y), !e(_, _).", "p(1, 2)", "!e(_, _)  e has a row"),
        ("p(x, y) :- e(x, y), none(_).", "p(1, 2)", "none(_)  none has no rows"),
        (
            "p(x, y) :- e(x, y), z = 6 / (x - 1), z > 0, x > 1.",
            "p(1, 2)",
            "z = 6 / (1 - 1)  has no value: it leaves the 64-bit range or divides by zero",
        ),
        ("p(x + 5, y) :- e(x, y).", "p(1, 2)", "1 = 1 + 5  does not hold, or has no value"),
        ("p(x, y) :- e(x, y), e(y, y + 5).", "p(1, 2)", "e(2, 2 + 5)  no such row"),
        ("p(x, y) :- y > x + 7, e(x, y).", "p(1, 2)", "2 > 1 + 7  does not hold, or has no value"),
        ("p(x, y) :- x = 3, e(x, y).", "p(1, 2)", "1 = 3  does not hold"),
    ],
)
def test_what_fails_is_named_with_its_values(rule: str, fact: str, reason: str) -> None:
    types = ".decl e(x: number, y: number)\n.decl p(x: number, y: number)\n.decl none(x: number)\n"
    found = failing(f"{types}e(1, 2). e(2, 3).\n{rule}", fact)
    assert found == [reason]


def test_a_literal_that_waits_for_its_variables_is_tried_when_it_has_them() -> None:
    why = datalog.Database("e(1, 2). q(3). p(x) :- y < 1, !q(y), e(x, y).").why_not("p(1)")
    assert [condition.text for condition in why.attempts[0].satisfied] == ["e(1, 2)"]
    assert why.attempts[0].failed is not None
    assert why.attempts[0].failed.text == "2 < 1"


def test_of_atoms_that_wait_for_each_other_one_goes_before_its_computation() -> None:
    program = "q(1, 5). r(4, 9). p(7) :- q(x, y + 1), r(y, x + 1)."
    (attempt,) = datalog.Database(program).why_not("p(7)").attempts
    assert [condition.text for condition in attempt.satisfied] == ["q(1, 5)"]
    assert attempt.failed is not None and attempt.failed.text == "r(y, 1 + 1)"


def test_an_atom_waits_for_the_variables_of_its_computation() -> None:
    db = datalog.Database("q(5). r(1, 4). r(1, 6). p(x) :- q(y + 2), r(x, y).")
    (attempt,) = db.why_not("p(1)").attempts
    assert [condition.source for condition in attempt.satisfied] == ["r(x, y)"]
    assert attempt.failed is not None and attempt.failed.source == "q(y + 2)"
    assert attempt.ways == 2


def test_alternatives_that_fail_alike_are_shown_once() -> None:
    db = datalog.Database("e(1). f(2). p(x) :- f(x), (e(x); x > 5).")
    assert [attempt.alternative for attempt in db.why_not("p(1)").attempts] == [""]
    apart = db.why_not("p(2)").attempts
    assert [(attempt.alternative, attempt.failed.text) for attempt in apart if attempt.failed] == [("1 of 2", "e(2)"), ("2 of 2", "2 > 5")]


def test_a_disjunction_that_became_a_helper_is_shown_as_it_is_written() -> None:
    of_x, of_y = (" ; ".join(f"{name} = {number}" for number in range(5)) for name in "xy")
    program = f"e(3, 7). e(7, 3). p(x, y) :- e(x, y), ({of_x}), ({of_y})."
    assert any("@or" in name for name in datalog.Database(program).predicates), "the program is one with such a helper"
    assert failing(program, "p(7, 3)") == [f"({of_x})  no branch holds where x = 7"]
    assert failing(program, "p(3, 7)") == [f"7 = {number}  does not hold" for number in range(5)]


def test_the_guard_of_a_group_is_tried_before_the_group() -> None:
    db = datalog.Database("e(1, 2). a(1). b(5). p(x, y) :- a(x), !(b(z), z > y), e(y, x).")
    (attempt,) = db.why_not("p(1, 2)").attempts
    assert attempt.failed is not None and attempt.failed.text == "e(2, 1)"


def test_many_bindings_are_counted() -> None:
    facts = "".join(f"e({number})." for number in range(50))
    (attempt,) = datalog.Database(f"{facts} f(1). p(x) :- e(a), e(b), f(x), a + b = 200.").why_not("p(1)").attempts
    assert attempt.ways == 2500
    assert attempt.binding == {"x": "1", "a": "0", "b": "0"}


def test_what_fails_is_data() -> None:
    found = datalog.Database(CLOSURE).why_not("path(2, 9)").to_dict()
    assert json.loads(json.dumps(found)) == json.loads(json.dumps(found)) | {"fact": "path(2, 9)", "given": ""}
    assert found["attempts"][1] == {
        "rule": "path(x, z) :- path(x, y), edge(y, z).",
        "place": "<program>:5",
        "satisfied": ({"text": "path(2, 3)", "source": "path(x, y)"},),
        "failed": {"text": "edge(3, 9)", "source": "edge(y, z)"},
        "reason": "no such row",
        "binding": {"x": "2", "y": "3", "z": "9"},
        "ways": 2,
        "alternative": "",
    }


def test_a_fact_that_holds_is_refused() -> None:
    with pytest.raises(datalog.DatalogError, match=r"path\(1, 3\) holds\n    hint: explain shows why"):
        datalog.Database(CLOSURE).why_not("path(1,3)")


def test_asking_leaves_the_database_as_it_was() -> None:
    db = datalog.Database(CLOSURE + "q(y) :- edge(x, y), !edge(_, x), path(y, z), z > 2.")
    storage = db._engine.storage
    before = {name: list(kept) for name, kept in storage.arrangements.items()}, storage.committed.tolist()
    db.why_not("q(9)")
    assert ({name: list(kept) for name, kept in storage.arrangements.items()}, storage.committed.tolist()) == before
    with db.transaction() as tx:
        tx.delete("edge", [(2, 3)])
    db.check()
    assert "edge(2, 3)  no such row" in str(db.why_not("path(2, 3)"))
