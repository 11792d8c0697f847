"""The setting `dialect`: a program is refused where Soufflé refuses it, and its numbers wrap around."""

from __future__ import annotations

from pathlib import Path

import pytest

from datalog import Database
from datalog.errors import EvaluationError, ProgramError, SettingError
from tests.command_line import datalog

MIXED = ".decl edge(a: number, b: number)\nedge(1, 2).\npath(x, y) :- edge(x, y).\n.output path\n"
PLANNED = ".decl e(a: number)\n.decl p(a: number)\ne(1).\np(x) :- e(x), e(x).\n.plan 0: (2, 1)\n"
LARGE = ".decl p(a: number)\np(x + 1) :- x = 9223372036854775807.\n"


def places(text: str) -> list[tuple[int, int]]:
    with pytest.raises(ProgramError) as caught:
        Database(text, dialect="souffle")
    return [(one.line, one.column) for one in caught.value.diagnostics]


def test_a_predicate_without_a_declaration_is_refused_wherever_it_stands() -> None:
    assert list(Database(MIXED)["path"]) == [(1, 2)]
    assert places(MIXED) == [(3, 1), (4, 1)]


def test_a_plan_is_only_for_rules_that_recurse() -> None:
    assert list(Database(PLANNED)["p"]) == [(1,)]
    assert places(PLANNED) == [(5, 1)]


def test_numbers_wrap_around_unless_overflow_says_otherwise() -> None:
    assert list(Database(LARGE, dialect="souffle")["p"]) == [(-(2**63),)]
    with pytest.raises(EvaluationError):
        Database(LARGE)
    with pytest.raises(EvaluationError):
        Database(LARGE, dialect="souffle", overflow="error")


def test_a_program_says_it_by_a_pragma_and_a_setting_wins() -> None:
    said = f'.pragma "dialect" "souffle"\n{MIXED}'
    with pytest.raises(ProgramError, match="unknown predicate `path`"):
        Database(said)
    assert list(Database(said, dialect="any")["path"]) == [(1, 2)]
    with pytest.raises(ProgramError, match='the pragma `dialect` is "any" or "souffle", not "prolog"'):
        Database('.pragma "dialect" "prolog"\n')
    with pytest.raises(SettingError, match="dialect is one of any, souffle, not prolog"):
        Database(MIXED, dialect="prolog")  # type: ignore[arg-type]


def test_rules_that_are_added_are_of_the_same_dialect() -> None:
    db = Database(".decl edge(a: number, b: number)\n", dialect="souffle")
    with pytest.raises(ProgramError, match="unknown predicate `path`"):
        db.add_rules("path(x, y) :- edge(x, y).")


@pytest.mark.parametrize("command", ["run", "check", "plan"])
def test_the_command_line_takes_it(command: str, tmp_path: Path) -> None:
    path = tmp_path / "mixed.dl"
    path.write_text(MIXED)
    assert datalog(command, path).status == 0
    refused = datalog(command, path, "--set", "dialect=souffle")
    assert refused.status == 1
    assert refused.err.count("unknown predicate `path`") == 2
