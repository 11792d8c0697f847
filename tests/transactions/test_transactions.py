"""Every stream prints its expected changes, however rules are maintained, and so does the same stream as JSON lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from datalog.io.changes import format_changes
from datalog.io.stream import StagedTransaction, read_transactions
from datalog.ir.core import Predicate
from datalog.program import compile_program
from tests.command_line import datalog

HERE = Path(__file__).parent
CASES = sorted(path.stem for path in HERE.glob("*.dl"))


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> Path:
    return HERE / str(request.param)


def staged(text: str, predicates: dict[str, Predicate]) -> list[StagedTransaction]:
    found = []
    for item in read_transactions(text.splitlines(keepends=True), "text", predicates, "<stream>"):
        assert isinstance(item, StagedTransaction)
        found.append(item)
    return found


@pytest.mark.parametrize("maintain", ["auto", "recorded", "derived", "recompute"])
@pytest.mark.parametrize("coalesce", ["hull", "exact"])
def test_a_stream_prints_its_expected_changes(case: Path, maintain: str, coalesce: str) -> None:
    options = ("--maintain", maintain, "--set", f"coalesce={coalesce}", "--set", "rows_per_page=4")
    outcome = datalog("run", case.with_suffix(".dl"), "--stream", case.with_suffix(".txn"), *options)
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out == case.with_suffix(".expected").read_text(encoding="utf-8")


def test_json_lines_say_the_same_as_text(case: Path) -> None:
    program = case.with_suffix(".dl")
    _, core = compile_program(program.read_text(encoding="utf-8"), str(program))
    transactions = staged(case.with_suffix(".txn").read_text(encoding="utf-8"), core.predicates)
    sides = ("insert", "upsert", "delete_keys", "delete")
    lines = [json.dumps({side: getattr(one, side) for side in sides}) + "\n" for one in transactions]
    outcome = datalog("run", program, "--stream", "-", "--format", "jsonl", stdin="".join(lines))
    assert (outcome.status, outcome.err) == (0, "")
    answered = [json.loads(line) for line in outcome.out.splitlines()]
    assert [one["txn"] for one in answered] == list(range(len(transactions) + 1))
    text = ""
    for one in answered:
        new, old = ({name: [tuple(row) for row in rows] for name, rows in one[side].items()} for side in ("insert", "delete"))
        changes = {name: (new.get(name, []), old.get(name, [])) for name in {*new, *old}}
        text += format_changes(one["txn"], changes, "text", core.predicates)
    assert text == case.with_suffix(".expected").read_text(encoding="utf-8")


def test_each_program_has_a_stream_and_its_answer() -> None:
    assert CASES
    for suffix in (".txn", ".expected"):
        assert sorted(path.stem for path in HERE.glob(f"*{suffix}")) == CASES
