"""The text editor: the derived order is that of a replicated list which applies the operations one by one."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path

import pytest

import datalog
from tests.examples.conftest import EXAMPLES, WholeRun, names_of
from tests.examples.rga import ORIGIN, Character, Insertion, ReplicatedList, in_tree_order

HERE = EXAMPLES / "crdt"
replay, extract = names_of("crdt/replay.py"), names_of("crdt/make_extract.py")


def document(db: datalog.Database) -> list[Character]:
    """The document, and a check that it is all that `next_visible` holds."""
    characters: list[Character] = replay["document"](db)
    assert len(characters) == len(db["next_visible"]), "some characters do not hang together with the document"
    return characters


def empty_document(tmp_path: Path) -> datalog.Database:
    for name in ("insert.txt", "remove.txt"):
        (tmp_path / name).touch()
    return datalog.Database(HERE / "editor.dl", facts=tmp_path)


def apply(operation: tuple[int, ...], to: ReplicatedList) -> None:
    if len(operation) == 4:
        to.insert(*operation)
    else:
        to.remove(*operation)


def test_the_order_is_that_of_the_replicated_list_after_each_transaction_of_the_session() -> None:
    db = datalog.Database(HERE / "editor.dl", facts=HERE / "facts")
    replica = ReplicatedList()
    for name in ("insert", "remove"):
        for operation in extract["read"](HERE / "facts" / f"{name}.txt"):
            apply(operation, replica)
    assert document(db) == replica.visible()
    lengths = []
    for rows in replay["transactions"]((HERE / "session.txn").read_text()):
        with db.transaction() as tx:
            for name, operations in rows.items():
                tx.insert(name, operations)
        for operations in rows.values():
            for operation in operations:
                apply(operation, replica)
        assert document(db) == replica.visible()
        lengths.append(len(db["next_visible"]))
    assert lengths == [539, 557, 572, 578, 579, 621, 617, 683]
    db.check()


def test_taking_operations_back_restores_the_earlier_document() -> None:
    db = datalog.Database(HERE / "editor.dl", facts=HERE / "facts")
    before = document(db)
    blocks = list(replay["transactions"]((HERE / "session.txn").read_text()))
    for rows in blocks:
        with db.transaction() as tx:
            for name, operations in rows.items():
                tx.insert(name, operations)
    for rows in reversed(blocks):
        with db.transaction() as tx:
            for name, operations in rows.items():
                tx.delete(name, operations)
    assert document(db) == before


def concurrent_history(seed: int, length: int) -> list[tuple[int, ...]]:
    """What three authors do who hear of one another now and then: operations in an order in which they may have happened."""
    chance = random.Random(seed)
    operations: list[tuple[int, ...]] = []
    seen = dict.fromkeys((1, 2, 3), 0)  # how many of the operations each has heard of, all of its own included
    own: dict[int, list[tuple[int, ...]]] = {author: [] for author in seen}
    for _ in range(length):
        author = chance.choice(list(seen))
        if chance.random() < 0.3:
            seen[author] = len(operations)
        known = [operation for operation in operations[: seen[author]] + own[author] if len(operation) == 4]
        if known and chance.random() < 0.25:
            operation: tuple[int, ...] = chance.choice(known)[:2]
        else:
            counter = max((operation[0] for operation in known), default=0) + 1
            recent = known[-3:] if chance.random() < 0.7 else known
            operation = (counter, author, *(chance.choice(recent)[:2] if recent else (0, 0)))
        operations.append(operation)
        own[author].append(operation)
    return operations


@pytest.mark.parametrize("seed", range(4))
def test_concurrent_authors_see_one_document_whatever_the_order_of_delivery(seed: int, tmp_path: Path) -> None:
    history = concurrent_history(seed, 80)
    db, replica = empty_document(tmp_path), ReplicatedList()
    for start in range(0, len(history), 8):
        with db.transaction() as tx:
            for operation in history[start : start + 8]:
                tx.insert("insert" if len(operation) == 4 else "remove", [operation])
                apply(operation, replica)
        assert document(db) == replica.visible()

    shuffled = history.copy()
    random.Random(-seed).shuffle(shuffled)
    (tmp_path / "elsewhere").mkdir()
    elsewhere = empty_document(tmp_path / "elsewhere")
    for start in range(0, len(shuffled), 20):
        with elsewhere.transaction() as tx:
            for operation in shuffled[start : start + 20]:
                tx.insert("insert" if len(operation) == 4 else "remove", [operation])
    assert document(elsewhere) == document(db)


def test_the_replicated_list_and_the_tree_are_the_same_order() -> None:
    history = concurrent_history(17, 200)
    replica = ReplicatedList()
    for operation in history:
        apply(operation, replica)
    insertions: list[Insertion] = [(a, b, c, d) for a, b, c, d in (o for o in history if len(o) == 4)]
    assert in_tree_order(insertions, replica.removed) == replica.visible()


def test_the_extract_is_what_the_script_cuts(whole_run: WholeRun) -> None:
    for name in ("facts/insert.txt", "facts/remove.txt", "session.txn"):
        assert (whole_run("crdt") / name).read_text() == (HERE / name).read_text()


def test_the_whole_history_gives_the_tree_order_of_its_104852_visible_characters(data_dir: Path, whole_run: WholeRun) -> None:
    """In the file that the README's command writes."""
    insertions = extract["read"](data_dir / "crdt" / "insert.txt")
    removed = set(extract["read"](data_dir / "crdt" / "remove.txt"))
    characters = in_tree_order(insertions, removed)
    assert len(characters) == 104_852
    expected = sorted((*one, *following) for one, following in pairwise([ORIGIN, *characters]))
    lines = (whole_run("crdt") / "whole/next_visible.csv").read_text().splitlines()
    assert [tuple(map(int, line.split("\t"))) for line in lines] == expected


def test_single_operations_on_the_whole_document_change_the_order_next_to_them_and_nothing_else(data_dir: Path) -> None:
    db = datalog.Database(HERE / "editor.dl", facts=data_dir / "crdt")
    text = [ORIGIN, *document(db)]
    chance = random.Random(5)
    for counter in range(1_000_000, 1_000_100):
        place = chance.randrange(1, len(text) - 1)
        before, here, behind = text[place - 1 : place + 2]
        with db.transaction() as tx:
            if chance.random() < 0.5:
                tx.insert("remove", [here])
                gone, come = [(*before, *here), (*here, *behind)], [(*before, *behind)]
                del text[place]
            else:  # the latest of all names stands right behind its parent
                typed = (counter, 1)
                tx.insert("insert", [(*typed, *here)])
                gone, come = [(*here, *behind)], [(*here, *typed), (*typed, *behind)]
                text.insert(place + 1, typed)
        assert tx.changes["next_visible"].deleted == sorted(gone)
        assert tx.changes["next_visible"].inserted == sorted(come)
    assert document(db) == text[1:]
