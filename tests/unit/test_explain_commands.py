"""`datalog explain`, and `:explain` and `:whynot` in the REPL."""

from __future__ import annotations

from pathlib import Path

import pytest

from datalog.settings import LEAST, MEMORY, OPTIONS, SECONDS, WORDS
from tests.command_line import datalog

PROGRAM = """\
.decl edge(x: number, y: number)
.input edge
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), edge(y, z).
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    tmp_path.joinpath("edge.facts").write_text("1\t2\n2\t3\n")
    path = tmp_path / "p.dl"
    path.write_text(PROGRAM)
    return path


def test_explain_prints_a_proof(program: Path) -> None:
    outcome = datalog("explain", program, "path(1, 3)", "-F", program.parent)
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out == (
        f"path(1, 3)  by path(x, z) :- path(x, y), edge(y, z).  ({program}:4)\n"
        f"├─ path(1, 2)  by path(x, y) :- edge(x, y).  ({program}:3)\n"
        "│  └─ edge(1, 2)  given\n"
        "└─ edge(2, 3)  given\n"
    )


def test_explain_goes_as_deep_as_it_is_told(program: Path) -> None:
    outcome = datalog("explain", program, "path(1, 3)", "-F", program.parent, "--depth", "1")
    assert outcome.out.splitlines()[1:] == ["├─ path(1, 2)  …", "└─ edge(2, 3)  given"]


def test_a_fact_that_does_not_hold_is_an_error_that_names_the_way_out(program: Path) -> None:
    outcome = datalog("explain", program, "path(3, 1)", "-F", program.parent)
    assert (outcome.status, outcome.out) == (1, "")
    assert outcome.err == (
        "path(3, 1) does not hold\n    hint: why_not tells what is missing (`datalog explain --why-not`; in the REPL `:whynot`)\n"
    )


def test_why_not_prints_what_is_missing(program: Path) -> None:
    outcome = datalog("explain", "--why-not", program, "path(3, 1)", "-F", program.parent)
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out == (
        "path(3, 1) does not hold\n"
        "\n"
        f"path(x, y) :- edge(x, y).  ({program}:3)\n"
        "└─ ✗ edge(3, 1)  no such row\n"
        "\n"
        f"path(x, z) :- path(x, y), edge(y, z).  ({program}:4)\n"
        "└─ ✗ path(3, y)  no such row\n"
    )


def test_a_depth_says_nothing_about_what_is_missing(program: Path) -> None:
    outcome = datalog("explain", "--why-not", "--depth", "2", program, "path(3, 1)")
    assert outcome.status == 2
    assert "--depth says something about a proof" in outcome.err


def test_settings_are_those_of_a_run(program: Path) -> None:
    program.write_text(f"{PROGRAM}inverse(x, 12 / (x - 1)) :- edge(x, _).\n")
    failed = datalog("explain", program, "inverse(2, 12)", "-F", program.parent)
    assert failed.status == 1 and "divides by zero" in failed.err
    outcome = datalog("explain", program, "inverse(2, 12)", "-F", program.parent, "--set", "failing=skip")
    assert (outcome.status, outcome.err) == (0, "")
    assert "├─ edge(2, 3)  given\n" in outcome.out
    wrong = datalog("explain", program, "inverse(2, 12)", "-F", program.parent, "--set", "failing=never")
    assert wrong.status == 2 and "failing is one of error, skip, not never" in wrong.err


@pytest.mark.parametrize("command", ["run", "plan", "explain"])
def test_help_names_every_setting(command: str) -> None:
    choices = [f"{name}={'|'.join(words)}" for name, words in WORDS.items() if name not in OPTIONS]
    written = "".join(datalog(command, "--help").out.split())
    others = [f"{name}=" for name in (*LEAST.keys() - set(OPTIONS), SECONDS, MEMORY, "order.RULE")]
    assert all(setting in written for setting in [*choices, *others])


def test_the_repl_explains(program: Path) -> None:
    script = ":explain path(2, 3).\n:whynot path(2, 2)\n:whynot edge(2, x)\n:explain edge(2, 3)\n"
    outcome = datalog("repl", program, "-F", program.parent, stdin=script)
    assert outcome.status == 1
    assert outcome.out == (
        f"path(2, 3)  by path(x, y) :- edge(x, y).  ({program}:3)\n"
        "└─ edge(2, 3)  given\n"
        "path(2, 2) does not hold\n"
        "\n"
        f"path(x, y) :- edge(x, y).  ({program}:3)\n"
        "└─ ✗ edge(2, 2)  no such row\n"
        "\n"
        f"path(x, z) :- path(x, y), edge(y, z).  ({program}:4)\n"
        "├─ ✓ path(2, 3)  path(x, y)\n"
        "└─ ✗ edge(3, 2)  no such row\n"
        "edge(2, 3)  given\n"
    )
    assert outcome.err.startswith("<fact>:1:9: error: a fact has values only")
