"""What the command line says of programs and facts that are wrong, and of its own options."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command_line import datalog

DECLARED = ".decl edge(x: number, y: number)\n.decl path(x: number, y: number)\n.input edge\n.output path\n"


@pytest.fixture
def program(tmp_path: Path) -> Path:
    (tmp_path / "edge.facts").write_text("1\t2\n")
    return tmp_path / "p.dl"


@pytest.mark.parametrize(
    ("clause", "column", "message"),
    [
        ("path(x, y) :- egde(x, y).", 15, "unknown predicate"),
        ("path(x, y) :- edge(x, y, z).", 15, "edge"),
        ("path(x, z) :- edge(x, y).", 9, "`z` is in the head, but nothing binds it"),
        ("path(x, y) :- edge(x, y), !path(y, x).", 28, "negation through recursion: path → !path"),
        ('path(x, y) :- edge(x, y), x = "a".', 31, "number"),
        ("path(x, y) :- edge(x, y)", 25, "the full stop is missing"),
    ],
)
def test_a_wrong_rule_is_shown_with_place_line_and_caret(program: Path, tmp_path: Path, clause: str, column: int, message: str) -> None:
    program.write_text(f"{DECLARED}{clause}\n")
    for command in (["run", program, "-F", tmp_path, "-D", tmp_path / "out"], ["check", program], ["plan", program]):
        outcome = datalog(*command)
        assert (outcome.status, outcome.out) == (1, "")
        assert outcome.err.startswith(f"{program}:5:{column}: error: ")
        assert message in outcome.err.splitlines()[0]
        assert f"\n    {clause}\n    {' ' * (column - 1)}^" in outcome.err
    assert not (tmp_path / "out").exists()


def test_all_errors_are_told_at_once(program: Path) -> None:
    program.write_text(f"{DECLARED}path(x, z) :- edge(x, y).\npath(x, y) :- egde(x, y).\n")
    assert datalog("check", program).err.count(": error: ") == 2


def test_a_wrong_cell_names_file_row_and_column(program: Path, tmp_path: Path) -> None:
    program.write_text(f"{DECLARED}path(x, y) :- edge(x, y).\n")
    facts = tmp_path / "edge.facts"
    facts.write_text("1\t2\n3\tfour\n")
    outcome = datalog("run", program, "-F", tmp_path)
    assert (outcome.status, outcome.out) == (1, "")
    assert outcome.err.startswith(f"{facts}:2:3: error: ")
    assert "four" in outcome.err
    assert "column y" in outcome.err


def test_a_missing_fact_file_names_the_directive_and_quotes_it(program: Path, tmp_path: Path) -> None:
    program.write_text(f"{DECLARED}path(x, y) :- edge(x, y).\n")
    (tmp_path / "edge.facts").rename(tmp_path / "edges.facts")
    outcome = datalog("run", program, "-F", tmp_path)
    assert (outcome.status, outcome.out) == (1, "")
    assert outcome.err.startswith(f"{program}:3:1: error: there is no fact file {tmp_path / 'edge.facts'} for edge\n    .input edge\n    ^")
    assert "did you mean `edges.facts`?" in outcome.err


def test_a_parameter_that_makes_no_sense_is_found_by_check(program: Path) -> None:
    program.write_text('p(1).\n.output p(delimeter=",")\n.output p(headers=perhaps)\n')
    outcome = datalog("check", program)
    assert outcome.status == 1
    assert f"{program}:2: warning: delimeter is no parameter of .output, and says nothing; did you mean `delimiter`?\n" in outcome.err
    assert f"{program}:3:1: error: " in outcome.err


def test_outputs_that_would_overwrite_each_other_are_refused(program: Path) -> None:
    program.write_text('p(1). q(2).\n.output p(filename="x")\n.output q(filename="x")\n')
    outcome = datalog("check", program)
    assert outcome.status == 1
    assert outcome.err.startswith(f"{program}:3:1: error: p and q would both be written to x\n")


def test_a_symbol_that_would_not_read_back_is_written_with_a_warning(program: Path, tmp_path: Path) -> None:
    program.write_text('p("a\\tb").\n.output p\n')
    outcome = datalog("run", program, "-D", tmp_path / "out")
    assert outcome.status == 0
    assert outcome.err.startswith('warning: "a\\tb" (column c1 of p) has the delimiter in it') and "rfc4180=true" in outcome.err
    assert (tmp_path / "out" / "p.csv").read_text() == "a\tb\n"
    assert datalog("run", program, "-w", "-D", tmp_path / "out").err == ""


def test_a_program_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    for command in ("run", "check", "plan", "fmt"):
        outcome = datalog(command, tmp_path / "nowhere.dl")
        assert (outcome.status, outcome.out) == (1, "")
        assert "No such file or directory" in outcome.err


def test_a_directory_that_cannot_be_written_is_an_error(program: Path, tmp_path: Path) -> None:
    program.write_text("p(1).\n.output p\n")
    (tmp_path / "file").touch()
    outcome = datalog("run", program, "-D", tmp_path / "file" / "out")
    assert outcome.status == 1
    assert outcome.err.startswith(f"{program}:2:1: error: cannot write p to ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--set", "pages=3"],
            "there is no setting pages; there are coalesce, dialect, failing, missing, overflow, rows_per_page, max_rounds, max_rows, "
            "max_seconds, memory_limit and order.RULE",
        ),
        (["--set", "coalesce"], "coalesce is no NAME=VALUE"),
        (["--set", "coalesce=wide"], "coalesce is one of hull, run, exact, not wide"),
        (["--set", "max_rounds=0"], "max_rounds is a number from 1 on, not 0"),
        (["--set", "max_rows=some"], "max_rows is a number from 1 on, not some"),
        (["--set", "max_seconds=nan"], "max_seconds is a number above 0, not nan"),
        (["--set", "order.path=x,,y"], "order.path lists variables with commas between them: x,y,z"),
        (["--set", "rows_per_page=2"], "rows_per_page is a number from 3 on, not 2"),
        (["--maintain", "never"], "'never' is not one of 'auto', 'recorded', 'derived', 'recompute'"),
        (["-j", "0"], "0 is no number of threads from 1 on, nor auto"),
        (["-j", "many"], "many is no number of threads from 1 on, nor auto"),
        (["--set", "overflow=ignore"], "overflow is one of error, wrap, not ignore"),
        (["--format", "jsonl"], "--format says something about a stream, and there is no --stream"),
        (["--changes-only"], "--changes-only says something about a stream"),
        (["--on-error", "skip"], "--on-error says something about a stream"),
        (["--stream", "-", "-D", "-"], "standard output is for the changes"),
        (["-D", "p.dl"], "-D takes a directory, and p.dl is a file"),
        (["--fast"], "No such option"),
    ],
)
def test_wrong_usage_has_status_2(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    program.write_text("p(1).\n")
    outcome = datalog("run", "p.dl", *arguments)
    assert (outcome.status, outcome.out) == (2, "")
    assert message in " ".join(outcome.err.split())
    assert "Usage: datalog run" in outcome.err


def test_a_bug_of_ours_asks_for_a_report(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("somewhere")

    program.write_text("p(1).\n")
    monkeypatch.setattr("datalog.program.compile_program", broken)
    monkeypatch.delenv("DATALOG_DEBUG", raising=False)
    outcome = datalog("check", program)
    assert outcome.status == 1
    assert outcome.err == (
        "datalog: internal error: ZeroDivisionError: somewhere; this is a bug of datalog, please report it\n"
        "    DATALOG_DEBUG=1 in the environment shows where it happened\n"
    )
