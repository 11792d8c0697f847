"""`.pragma`, and the options of Soufflé's command line: what they do, and what is said where they do nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from datalog import Database, ProgramError
from datalog.errors import IgnoredPragma
from datalog.souffle_options import PASSED_OVER, REFUSED
from tests.command_line import datalog

PROGRAM = ".decl p(x: number)\n.input p\n.output p\n"


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program, with its facts in a folder `facts`; the current directory is that of the program."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "facts").mkdir()
    (tmp_path / "facts" / "p.facts").write_text("7\n")
    path = tmp_path / "p.dl"
    path.write_text(PROGRAM)
    return path


def test_facts_and_outputs_are_where_pragmas_say_unless_the_command_line_says_it(program: Path, tmp_path: Path) -> None:
    program.write_text(f'.pragma "fact-dir" "facts"\n.pragma "output-dir" "out"\n{PROGRAM}')
    assert datalog("run", program).out == ""
    assert (tmp_path / "out" / "p.csv").read_text() == "7\n"
    (tmp_path / "p.facts").write_text("8\n")
    assert datalog("run", program, "-F", ".", "-D", "other").status == 0
    assert (tmp_path / "other" / "p.csv").read_text() == "8\n"


def test_a_program_may_ask_for_standard_output(program: Path) -> None:
    program.write_text(f'.pragma "output-dir" "-"\n{PROGRAM}')
    assert datalog("run", program, "-F", "facts").out.splitlines() == [
        "---------------",
        "p",
        "x",
        "===============",
        "7",
        "===============",
    ]


def test_a_repl_finds_facts_where_the_pragma_says(program: Path) -> None:
    program.write_text(f'.pragma "fact-dir" "facts"\n{PROGRAM}')
    assert "7" in datalog("repl", program, stdin="?- p(x).\n.decl q(x: number)\n").out
    assert datalog("repl", program, stdin='.decl q(x: number) .input q(filename="p.facts")\n').err == ""


def test_a_database_does_not_read_what_it_is_not_asked_to_read(program: Path) -> None:
    assert list(Database(f'.pragma "fact-dir" "nowhere"\n{PROGRAM}')["p"]) == []


@pytest.mark.parametrize(("value", "threads"), [("3", 3), ("auto", None), ("0", None)])
def test_jobs_are_threads(value: str, threads: int | None) -> None:
    assert Database(f'.pragma "jobs" "{value}"\np(1).\n')._options.threads == threads
    assert Database(f'.pragma "jobs" "{value}"\np(1).\n', threads=2)._options.threads == 2


def test_of_several_pragmas_of_one_key_the_last_one_counts() -> None:
    text = '.pragma "overflow" "wrap"\n.pragma "overflow" "error"\np(9223372036854775807 + 1).\n'
    with pytest.raises(ProgramError, match="does not fit the type number"):
        Database(text)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [("overflow", "maybe", 'the pragma `overflow` is "error" or "wrap", not "maybe"'), ("jobs", "all", "the pragma `jobs` is a number of")],
)
def test_a_value_that_makes_no_sense_is_refused(key: str, value: str, message: str) -> None:
    with pytest.raises(ProgramError) as caught:
        Database(f'p(1).\n.pragma "{key}" "{value}"\n')
    assert caught.value.message.startswith(message) and caught.value.line == 2


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("profile", "the pragma `profile` has no effect: `datalog plan --run` shows what was done"),
        ("compile", "the pragma `compile` has no effect: nothing is compiled here"),
        ("jibs", "the pragma `jibs` has no effect: did you mean `jobs`?"),
        ("xyz", "the pragma `xyz` has no effect: there is no such option"),
    ],
)
def test_a_pragma_without_effect_is_warned_of_at_its_line(key: str, message: str) -> None:
    with pytest.warns(IgnoredPragma) as caught:
        Database(f'p(1).\n.pragma "{key}" "x"\n')
    (warning,) = caught
    assert (str(warning.message), warning.lineno) == (message, 2)


def test_pragmas_that_need_not_do_anything_are_passed_over_silently(recwarn: pytest.WarningsRecorder) -> None:
    Database('.pragma "legacy"\n.pragma "suppress-warnings" "*"\n.pragma "disable-transformers" "X"\np(1).\n')
    assert not recwarn


# --- the command line ------------------------------------------------------------------------------------------------------------


def test_warnings_are_told_with_their_places_and_kept_back_if_asked(program: Path) -> None:
    program.write_text(f'{PROGRAM}.pragma "profile" "x.json"\n')
    told = datalog("run", program, "-F", "facts")
    assert told.err == f"{program}:4: warning: the pragma `profile` has no effect: `datalog plan --run` shows what was done\n"
    assert datalog("run", program, "-F", "facts", "-w").err == ""


def test_without_warnings_fact_files_may_be_missing(program: Path) -> None:
    program.write_text(f"{PROGRAM}p(1).\n")
    assert "there is no fact file p.facts" in datalog("run", program).err
    for options in (["-w"], ["--no-warn"], ["--set", "missing=empty"]):
        assert datalog("run", program, *options).out == "p (1 row)\nx\n-\n1\n"


def test_legacy_changes_nothing(program: Path) -> None:
    assert datalog("run", program, "-F", "facts", "--legacy") == datalog("run", program, "-F", "facts")


@pytest.mark.parametrize("jobs", ["1", "4", "auto", str(os.cpu_count())])
def test_a_number_of_jobs_changes_no_answer(program: Path, jobs: str) -> None:
    assert datalog("run", program, "-F", "facts", "-j", jobs, "-D-").out.splitlines()[-2] == "7"
    assert datalog("run", program, "--fact-dir=facts", f"--jobs={jobs}", "--output-dir=-").status == 0


@pytest.mark.parametrize(("names", "valued", "said"), PASSED_OVER)
def test_options_that_change_no_result_are_passed_over(program: Path, names: tuple[str, ...], valued: bool, said: str) -> None:
    for name in names:
        outcome = datalog("run", program, "-F", "facts", name, *(["x"] if valued else []))
        assert (outcome.status, outcome.out) == (0, "p (1 row)\nx\n-\n7\n")
        assert outcome.err == (f"warning: {names[-1]} does nothing: {said}\n" if said else "")
        assert datalog("run", program, "-F", "facts", "-w", name, *(["x"] if valued else [])).err == ""


@pytest.mark.parametrize(("names", "valued", "said"), REFUSED)
def test_options_that_ask_for_something_else_say_what_to_do_instead(program: Path, names: tuple[str, ...], valued: bool, said: str) -> None:
    for name in names:
        outcome = datalog("run", program, "-F", "facts", name, *(["x"] if valued else []))
        assert (outcome.status, outcome.out) == (2, "")
        assert f"{names[-1]} is nothing that this command does: {said}" in " ".join(outcome.err.split())


def test_no_provenance_may_be_asked_for(program: Path) -> None:
    assert datalog("run", program, "-F", "facts", "-t", "none").status == 0


# --- outputs ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "files"),
    [
        (".decl q(x: number)\nq(x) :- p(x).\n", []),
        ("q(x) :- p(x).\n", ["q.csv"]),
        (".decl q(x: number)\nq(x) <- p(x).\n", ["q.csv"]),
        (".decl q(x: number) = y: number\nq[x] = x :- p(x).\n", ["q.csv"]),
    ],
)
def test_without_directives_only_programs_of_the_papers_write_files(program: Path, tmp_path: Path, text: str, files: list[str]) -> None:
    program.write_text(f".decl p(x: number)\np(1).\n{text}")
    assert datalog("run", program).out.startswith("q (1 row)\n")
    assert datalog("run", program, "-D", "out").out == ""
    assert [path.name for path in tmp_path.glob("out/*")] == files
    assert datalog("run", program, "-D", "-").out.startswith("---" if files else "") is True
