"""The points-to analysis finds exactly what a worklist in plain Python finds, and still does after changes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import datalog
from tests.examples.andersen import Andersen, Rows, read
from tests.examples.conftest import EXAMPLES, WholeRun

HERE = EXAMPLES / "points-to"
NUMBERS = {"AssignHeapAllocation": (1, 5), "AssignCast": (1,), "AssignLocal": (1,), "VirtualMethodInvocation": (1,)}


def as_values(name: str, row: tuple[str, ...]) -> tuple[str | int, ...]:
    return tuple(int(cell) if column in NUMBERS[name] else cell for column, cell in enumerate(row))


def derived(db: datalog.Database, names: Iterable[str]) -> dict[str, Rows]:
    """The rows of symbols that the database derives."""
    return {name: {tuple(map(str, row)) for row in db[name]} for name in names}


def test_the_extract_gives_what_a_worklist_finds() -> None:
    expected = Andersen(read(HERE / "facts")).solve().relations()
    assert {name: len(rows) for name, rows in expected.items()} == {
        "VarPointsTo": 7109,
        "InstanceFieldPointsTo": 3632,
        "StaticFieldPointsTo": 21,
        "ArrayPointsTo": 22,
        "CallGraphEdge": 2156,
        "Reachable": 655,
    }
    assert derived(datalog.Database(HERE / "points-to.dl", facts=HERE / "facts"), expected) == expected


def test_instructions_that_go_and_come_back_take_their_consequences_with_them() -> None:
    facts = read(HERE / "facts")
    db = datalog.Database(HERE / "points-to.dl", facts=HERE / "facts")
    whole = Andersen(facts).solve().relations()
    main = "<Main: void main(java.lang.String[])>"
    goal = "<MiniJavaParser: syntaxtree.Goal Goal()>"
    gone = [
        ("AssignHeapAllocation", next(row for row in facts["AssignHeapAllocation"] if row[2] == f"{goal}/new syntaxtree.Goal/0")),
        ("AssignCast", next(row for row in facts["AssignCast"] if "NodeListOptional" in row[5])),
        ("AssignLocal", next(row for row in facts["AssignLocal"] if row[4] == "<java.util.Vector: void <init>(int)>")),
        ("VirtualMethodInvocation", min(row for row in facts["VirtualMethodInvocation"] if row[4] == main and "accept" in row[0])),
    ]
    for name, row in gone:
        with db.transaction() as tx:
            tx.delete(name, [as_values(name, row)])
        expected = Andersen(facts | {name: facts[name] - {row}}).solve().relations()
        assert derived(db, expected) == expected
        for relation, rows in expected.items():
            assert set(tx.changes[relation].deleted) == whole[relation] - rows
        db.check()
        with db.transaction() as tx:
            tx.insert(name, [as_values(name, row)])
        assert derived(db, whole) == whole


def test_a_program_that_never_makes_a_literal_true_never_visits_one() -> None:
    db = datalog.Database(HERE / "points-to.dl", facts=HERE / "facts")
    made = [row for row in db["AssignHeapAllocation"] if "new syntaxtree.TrueLiteral/" in str(row[2])]
    with db.transaction() as tx:
        tx.delete("AssignHeapAllocation", made)
    dead = [method for (method,) in tx.changes["Reachable"].deleted]
    assert len(dead) == 6
    assert all("TrueLiteral" in str(method) for method in dead)


def test_the_extract_is_what_the_script_cuts(whole_run: WholeRun) -> None:
    assert read(whole_run("points-to") / "facts") == read(HERE / "facts")


def test_the_whole_program_gives_what_a_worklist_finds(data_dir: Path, whole_run: WholeRun) -> None:
    """On the files that the README's command writes."""
    folder = whole_run("points-to") / "whole"
    expected = Andersen(read(data_dir / "points-to")).solve().relations()
    assert len(expected["VarPointsTo"]) == 319_389
    for name, rows in expected.items():
        lines = (folder / f"{name}.csv").read_text(encoding="utf-8").splitlines()
        assert sorted(lines) == sorted("\t".join(row) for row in rows)
