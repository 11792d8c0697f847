"""`eqrel`: declarations, facts from files and transactions, what reads an equivalence, and what explains one."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

import datalog
from datalog import Database, ProgramError

SAME = ".decl same(x: symbol, y: symbol) eqrel\n"


def classes(*members: str) -> list[tuple[str, str]]:
    return sorted(pair for one in members for pair in product(one, repeat=2))


@pytest.mark.parametrize(
    ("declaration", "message"),
    [
        (".decl p(x: number) eqrel", "the equivalence `p` is not binary"),
        (".decl p(x: number, y: number, z: number) eqrel", "the equivalence `p` is not binary"),
        (".decl p(x: number, y: symbol) eqrel", "the columns of the equivalence `p` have different types, number and symbol"),
        (".type t <: number\n.decl p(x: number, y: t) eqrel", "the columns of the equivalence `p` have different types, number and t"),
        (".decl p(x: number, y: number) eqrel choice-domain x", "`p` is an equivalence, and has a choice domain"),
        (".decl p(x: number, y: number) eqrel brie", "`brie` after `eqrel`"),
        (".decl p(x: number, y: number) btree btree", "`btree` after `btree`"),
    ],
)
def test_a_wrong_declaration_is_refused(declaration: str, message: str) -> None:
    with pytest.raises(ProgramError) as caught:
        Database(declaration)
    assert [one.message for one in caught.value.diagnostics] == [message]


def test_facts_rules_and_transactions_give_pairs_and_reading_gives_classes() -> None:
    db = Database(SAME + 'same("a", "b"). same("c", x) :- says(x). .decl says(x: symbol) says("d").')
    assert list(db["same"]) == classes("ab", "cd")
    with db.transaction() as tx:
        tx.insert("same", [("b", "c")])
        tx.insert("says", [("e",)])
    assert list(db["same"]) == classes("abcde")
    with db.transaction() as tx:
        tx.delete("same", [("a", "b"), ("a", "c")])  # the second is no given pair
    assert tx.changes["same"].inserted == []
    assert list(db["same"]) == classes("bcde")
    assert db.query('same("b", x), says(x)') == [("d",), ("e",)]


def test_an_element_that_is_only_like_itself_goes_with_its_pair() -> None:
    db = Database(SAME + 'same("a", "a"). same("b", "a").')
    with db.transaction() as tx:
        tx.delete("same", [("b", "a")])
    assert list(db["same"]) == classes("a")
    with db.transaction() as tx:
        tx.delete("same", [("a", "a")])
    assert len(db["same"]) == 0


def test_negations_and_aggregates_are_over_whole_classes() -> None:
    db = Database(
        SAME
        + """same("a", "b"). same("b", "c"). same("x", "y").
        .decl size(x: symbol, n: number)
        size(x, n) :- same(x, x), n = count : { same(x, _) }.
        .decl of_second(y: symbol, n: number)
        of_second(y, n) :- same(y, y), n = count : { same(_, y) }.
        .decl apart(x: symbol, y: symbol)
        apart(x, y) :- same(x, x), same(y, y), !same(x, y)."""
    )
    assert list(db["of_second"]) == list(db["size"])
    assert list(db["size"]) == [("a", 3), ("b", 3), ("c", 3), ("x", 2), ("y", 2)]
    assert len(db["apart"]) == 12
    with db.transaction() as tx:
        tx.insert("same", [("y", "c")])
    assert {size for _, size in db["size"]} == {5}
    assert list(db["of_second"]) == list(db["size"])
    assert len(db["apart"]) == 0
    db.check()


def test_one_column_order_serves_for_both() -> None:
    db = Database(
        """.decl same(x: number, y: number) eqrel
        .decl e(x: number, y: number)
        same(x, z) :- same(x, y), e(y, z).
        .decl by_second(x: number, y: number)
        by_second(x, y) :- e(y, _), same(x, y), x > y."""
    )
    with db.transaction() as tx:
        tx.insert("same", [(1, 2)])
        tx.insert("e", [(2, 3), (5, 1)])
    assert list(db["by_second"]) == [(3, 2)]
    with db.transaction() as tx:
        tx.delete("same", [(1, 2)])
        tx.insert("same", [(6, 5)])
    assert list(db["by_second"]) == [(6, 5)]
    assert [part.name for part in db.stats() if part.name.startswith("same(")] == ["same(x, y)"]
    db.check()


def test_records_may_be_elements() -> None:
    db = Database(
        """.type term = [left: term, right: term]
        .decl same(x: term, y: term) eqrel
        same([nil, nil], nil).
        same([x, y], [y, x]) :- same(x, y), same([x, y], _)."""
    )
    assert ((None, None), None) in db["same"]
    assert len(db["same"]) == 4


def test_each_instance_of_a_component_has_an_equivalence_of_its_own() -> None:
    db = Database(
        """.comp Classes<T> { .decl link(x: T, y: T)  .decl same(x: T, y: T) eqrel  same(x, y) :- link(x, y). }
        .init numbers = Classes<number>
        .init names = Classes<symbol>
        numbers.link(1, 2). names.link("a", "b")."""
    )
    assert list(db["names.same"]) == classes("ab")
    assert len(db["numbers.same"]) == 4


def test_pairs_are_read_from_a_file_and_classes_are_written_and_counted(tmp_path: Path) -> None:
    (tmp_path / "same.facts").write_text("a\tb\nc\tb\n")
    db = datalog.Database(SAME + ".input same", facts=tmp_path)
    assert list(db["same"]) == classes("abc")
    assert len(db["same"]) == 9


def test_rules_that_are_added_later_give_pairs_to_what_was_given() -> None:
    db = Database(SAME + 'same("a", "b").')
    db.add_rules('same(x, "z") :- same(x, _).')
    assert list(db["same"]) == classes("abz")


def test_a_proof_is_a_shortest_path_of_pairs() -> None:
    db = Database(SAME + '.decl near(x: symbol, y: symbol)\nnear("a", "b"). near("c", "b"). same("c", "d").\nsame(x, y) :- near(x, y).\n')
    assert str(db.explain('same("d", "a")')).splitlines() == [
        'same("d", "a")  by eqrel, which is reflexive, symmetric and transitive  (<program>:1)',
        '├─ same("c", "d")  given',
        '├─ same("c", "b")  by same(x, y) :- near(x, y).  (<program>:4)',
        '│  └─ near("c", "b")  given',
        '└─ same("a", "b")  by same(x, y) :- near(x, y).  (<program>:4)',
        '   └─ near("a", "b")  given',
    ]
    assert str(db.explain('same("c", "d")')) == 'same("c", "d")  given'


def test_a_proof_within_a_recursion_never_rests_on_itself() -> None:
    db = Database(
        """.decl p(x: number, y: number) eqrel
        .decl q(x: number, y: number)
        p(1, 2). q(2, 3). q(x, y) :- p(x, y). p(x, y) :- q(x, y)."""
    )
    for x, y in db["p"]:
        assert "given" in str(db.explain(f"p({x}, {y})"))


def test_why_not_tells_the_classes_and_what_rules_lack() -> None:
    db = Database(SAME + 'same("a", "b"). .decl near(x: symbol, y: symbol)\nsame(x, y) :- near(x, y).')
    told = str(db.why_not('same("a", "z")')).splitlines()
    assert told[0].endswith('it is not among the given facts of same; "a" is in a class of 2 elements and "z" is in no class')
    assert told[-1] == '└─ ✗ near("a", "z")  no such row'


def test_the_plan_tells_how_an_equivalence_is_kept(tmp_path: Path) -> None:
    from datalog.plan_report import report_file

    program = tmp_path / "program.dl"
    program.write_text(SAME + 'same("a", "b").\n.decl r(x: symbol, y: symbol) eqrel\nr(x, y) :- same(x, y). r(x, x) :- r(x, "b").\n')
    report = report_file(program, None, "auto")
    assert "  2  same: closure of same@pairs\n" in report
    assert (
        "  same  closure of same@pairs, by classes that lose or gain pairs, or its stratum is evaluated anew where most pairs change\n"
        in report
    )
    assert "  r  closure of r@pairs, by stamps of its pairs, or its stratum is evaluated anew where that takes fewer steps\n" in report
