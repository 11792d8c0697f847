"""Every program gives its expected files in one go, and as a stream of transactions with detours, however it is maintained."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from datalog.io.changes import format_changes
from datalog.io.rows import rows_of
from datalog.io.stream import StagedTransaction, read_transactions
from datalog.ir.core import Predicate
from datalog.outputs import output_names
from datalog.program import compile_program, given_facts
from datalog.store.values import Row, Values
from tests.command_line import datalog

HERE = Path(__file__).parent
CASES = sorted(path.parent for path in HERE.glob("*/*/program.dl"))
TRANSACTIONS = 4

Fact = tuple[str, Row]


@pytest.fixture(params=CASES, ids=lambda case: str(case.relative_to(HERE)))
def case(request: pytest.FixtureRequest) -> Path:
    return Path(request.param)


def contents(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def facts_of(case: Path) -> tuple[dict[str, Predicate], list[Fact]]:
    """The signature, and the facts in the case's files."""
    program = case / "program.dl"
    _, core = compile_program(program.read_text(encoding="utf-8"), str(program))
    values = Values()
    found = given_facts(replace(core, facts={}), case / "facts", values) if (case / "facts").is_dir() else {}
    rows = {name: rows_of(codes, core.predicates[name], values) for name, codes in found.items()}
    return core.predicates, [(name.removesuffix("@base"), row) for name, own in rows.items() for row in own]


def with_detours(facts: list[Fact], predicates: dict[str, Predicate], seed: int) -> Iterator[str]:
    """A stream after which exactly `facts` hold: facts come in any order, and some of them go again before they come back."""
    chance = random.Random(seed)
    chance.shuffle(facts)
    gone: list[Fact] = []
    for number in range(TRANSACTIONS):
        come = gone + facts[number::TRANSACTIONS]
        last = number == TRANSACTIONS - 1
        leaving = [] if last else [fact for fact in facts[: number + 1] if chance.random() < 0.5 and fact not in come]
        changes: dict[str, tuple[list[Row], list[Row]]] = {}
        for side, own in enumerate((come, leaving)):
            for name, row in own:
                changes.setdefault(name, ([], []))[side].append(row)
        gone = leaving
        yield format_changes(number, changes, "text", predicates)


def test_a_program_writes_its_expected_files(case: Path, tmp_path: Path) -> None:
    facts = ["-F", case / "facts"] if (case / "facts").is_dir() else []
    outcome = datalog("run", case / "program.dl", *facts, "-D", tmp_path / "out")
    assert (outcome.status, outcome.out, outcome.err) == (0, "", "")
    assert contents(tmp_path / "out") == contents(case / "expected")


@pytest.mark.parametrize("maintain", ["auto", "recorded", "derived", "recompute"])
def test_a_stream_of_its_facts_ends_in_the_same_files(case: Path, maintain: str, tmp_path: Path) -> None:
    predicates, facts = facts_of(case)
    (tmp_path / "facts").mkdir()
    for path in (case / "facts").glob("*"):
        (tmp_path / "facts" / path.name).touch()
    stream = "".join(with_detours(facts, predicates, seed=len(facts)))
    outcome = datalog(
        "run", case / "program.dl", "-F", tmp_path / "facts", "-D", tmp_path / "out", "--stream", "-", "--maintain", maintain, stdin=stream
    )
    assert (outcome.status, outcome.err) == (0, "")
    assert contents(tmp_path / "out") == contents(case / "expected")
    assert replayed(outcome.out, predicates) == results(case)


def replayed(stream: str, predicates: dict[str, Predicate]) -> set[Fact]:
    """What holds after the changes of a printed stream, each of which must do something."""
    facts: set[Fact] = set()
    for transaction in read_transactions(stream.splitlines(keepends=True), "text", predicates, "<changes>"):
        assert isinstance(transaction, StagedTransaction)
        gone = {(name, row) for name, rows in transaction.delete.items() for row in rows}
        come = {(name, row) for name, rows in transaction.insert.items() for row in rows}
        assert gone <= facts
        assert not come & facts
        facts = facts - gone | come
    return facts


def results(case: Path) -> set[Fact]:
    from datalog import Database

    database = Database(case / "program.dl", facts=case / "facts" if (case / "facts").is_dir() else None)
    return {(name, row) for name in output_names(database.core) for row in database[name]}


def test_there_are_cases() -> None:
    assert len(CASES) > 15


def test_programs_are_in_canonical_layout() -> None:
    assert datalog("fmt", "--check", *(case / "program.dl" for case in CASES)).out == ""
