"""`datalog run --stream`: transactions in, changes out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command_line import datalog

PROGRAM = """\
.decl edge(x: number, y: number)
.decl path(x: number, y: number)
.decl ratio(x: number, r: number)
.output path
path(x, y) :- edge(x, y).
path(x, z) :- edge(x, y), path(y, z).
ratio(x, 60 / (y - 5)) :- edge(x, y).
edge(1, 2).
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "p.dl"
    path.write_text(PROGRAM)
    return path


def test_the_result_on_the_facts_is_transaction_0(program: Path) -> None:
    outcome = datalog("run", program, "--stream", "-", stdin="+edge(2,3).\ncommit.\n")
    assert outcome.out == "+path(1,2).\ncommit.\n+path(1,3).\n+path(2,3).\ncommit.\n"
    assert (outcome.status, outcome.err) == (0, "")


def test_changes_only_leaves_it_out(program: Path) -> None:
    outcome = datalog("run", program, "--stream", "-", "--changes-only", stdin="+edge(2,3).\ncommit.\n")
    assert outcome.out == "+path(1,3).\n+path(2,3).\ncommit.\n"


def test_json_lines_have_numbers_and_leave_out_what_did_not_change(program: Path) -> None:
    stream = '{"insert": {"edge": [[2, 3]]}}\n{"delete": {"edge": [[8, 9]]}}\n'
    outcome = datalog("run", program, "--stream", "-", "--format", "jsonl", stdin=stream)
    assert [json.loads(line) for line in outcome.out.splitlines()] == [
        {"txn": 0, "insert": {"path": [[1, 2]]}, "delete": {}},
        {"txn": 1, "insert": {"path": [[1, 3], [2, 3]]}, "delete": {}},
        {"txn": 2, "insert": {}, "delete": {}},
    ]


def test_final_contents_are_written_at_the_end(program: Path, tmp_path: Path) -> None:
    stream = tmp_path / "s.txn"
    stream.write_text("+edge(2,3).\ncommit.\n-edge(1,2).\ncommit.\n")
    outcome = datalog("run", program, "--stream", stream, "-D", tmp_path / "out")
    assert outcome.status == 0
    assert (tmp_path / "out" / "path.csv").read_text() == "2\t3\n"


def test_an_output_stream_is_an_input_stream(program: Path, tmp_path: Path) -> None:
    for format in ("text", "jsonl"):
        stream = {"text": "+edge(2,3).\ncommit.\n-edge(1,2).\ncommit.\n"}.get(
            format
        ) or '{"insert": {"edge": [[2, 3]]}}\n{"delete": {"edge": [[1, 2]]}}\n'
        first = datalog("run", program, "--stream", "-", "--format", format, stdin=stream)
        copy = tmp_path / "copy.dl"
        copy.write_text(".decl path(x: number, y: number)\n.decl copy(x: number, y: number)\n.output copy\ncopy(x, y) :- path(x, y).\n")
        second = datalog("run", copy, "--stream", "-", "--format", format, "--changes-only", stdin=first.out)
        assert (second.status, second.err) == (0, "")
        renamed = [line.replace("copy", "path") for line in second.out.splitlines()]
        if format == "jsonl":  # the copy counts the first one's transaction 0 as its transaction 1
            renamed = [json.dumps({**json.loads(line), "txn": json.loads(line)["txn"] - 1}) for line in renamed]
        assert renamed == first.out.splitlines()


def test_sizes_do_not_come_between_the_changes(tmp_path: Path) -> None:
    program = tmp_path / "p.dl"
    program.write_text("p(1). q(x) :- p(x).\n.output q(IO=stdout)\n.printsize p\n")
    outcome = datalog("run", program, "--stream", "-", "-D", tmp_path / "out", stdin="+p(2).\ncommit.\n")
    assert outcome.out == "+q(1).\ncommit.\n+q(2).\ncommit.\n"
    assert outcome.err == "p\t2\n"


def test_an_empty_stream_gives_the_result_only(program: Path) -> None:
    assert datalog("run", program, "--stream", "-", stdin="").out == "+path(1,2).\ncommit.\n"


def test_garbage_stops_the_stream_and_says_where(program: Path, tmp_path: Path) -> None:
    stream = tmp_path / "s.txn"
    stream.write_text("+edge(2,3).\ncommit.\n+edge(3,4).\n+edge(4,;).\ncommit.\n+edge(5,6).\ncommit.\n")
    outcome = datalog("run", program, "--stream", stream, "--changes-only", "-D", tmp_path / "out")
    assert outcome.status == 1
    assert outcome.out == "+path(1,3).\n+path(2,3).\ncommit.\n"
    assert outcome.err.startswith(f"{stream}:4:9: error: ")
    assert "    +edge(4,;).\n            ^" in outcome.err
    assert not (tmp_path / "out").exists()


def test_with_skip_the_stream_goes_on_from_an_unchanged_state(program: Path) -> None:
    stream = "+edge(3,4).\n+edge(4,;).\ncommit.\n+edge(2,3).\ncommit.\n"
    outcome = datalog("run", program, "--stream", "-", "--changes-only", "--on-error", "skip", stdin=stream)
    assert outcome.status == 0
    assert outcome.out == "+path(1,3).\n+path(2,3).\ncommit.\n"  # nothing of edge(3,4)
    assert outcome.err.splitlines()[0].startswith("<stdin>:2:9: error: ")
    assert outcome.err.endswith("1 transaction was rejected\n")


@pytest.mark.parametrize(
    ("line", "place", "message"),
    [
        ("+edg(1,2).", "1:2", "there is no predicate edg"),
        ("+edge(1,2,3).", "1:2", "3 values where edge has 2 columns (x, y)"),
        ('+edge(1,"two").', "1:9", '"two" is no number (column y of edge)'),
        ("+edge(1,99999999999999999999).", "1:9", "99999999999999999999 does not fit in 64 bits (column y of edge)"),
    ],
)
def test_a_wrong_fact_names_its_place(program: Path, line: str, place: str, message: str) -> None:
    outcome = datalog("run", program, "--stream", "-", "--changes-only", stdin=f"{line}\ncommit.\n")
    assert (outcome.status, outcome.out) == (1, "")
    assert outcome.err.startswith(f"<stdin>:{place}: error: ")
    assert message in outcome.err


def test_a_stream_that_ends_inside_a_transaction_is_an_error(program: Path) -> None:
    outcome = datalog("run", program, "--stream", "-", "--changes-only", stdin="+edge(2,3).\ncommit.\n+edge(3,4).\n")
    assert outcome.status == 1
    assert outcome.out == "+path(1,3).\n+path(2,3).\ncommit.\n"
    assert "the stream ends inside a transaction" in outcome.err
    assert "it began in line 3" in outcome.err


def test_a_computation_without_a_result_rejects_its_transaction(program: Path) -> None:
    program.write_text(PROGRAM + ".output ratio\n")  # else nobody needs what has no result
    stream = "+edge(2,5).\n+edge(2,3).\ncommit.\n+edge(2,4).\ncommit.\n"
    stopped = datalog("run", program, "--stream", "-", "--changes-only", stdin=stream)
    assert (stopped.status, stopped.out) == (1, "")
    assert stopped.err.startswith(f"{program}:7:10: error: `/` divides by zero where ")
    assert "\n    ratio(x, 60 / (y - 5)) :- edge(x, y).\n             ^" in stopped.err
    assert stopped.err.endswith("the transaction of lines 1 to 3 of <stdin> was rejected\n")
    skipped = datalog("run", program, "--stream", "-", "--changes-only", "--on-error", "skip", stdin=stream)
    assert (skipped.status, skipped.out) == (0, "+path(1,4).\n+path(2,4).\n+ratio(2,-60).\ncommit.\n")


def test_a_bad_json_line_names_its_place(program: Path) -> None:
    outcome = datalog("run", program, "--stream", "-", "--format", "jsonl", "--changes-only", stdin='{"insert": {"edge": [[1, "x"]]}}\n')
    assert (outcome.status, outcome.out) == (1, "")
    assert outcome.err.startswith('<stdin>:1:26: error: "x" is no number (column y of edge)')


@pytest.mark.parametrize(
    ("options", "stream", "hint"),
    [
        ([], '{"insert": {"edge": [[3, 4]]}}\n', "JSON lines are read with --format jsonl"),
        (["--format", "jsonl"], "+edge(3,4).\ncommit.\n", "a stream of facts such as +p(1). is read with --format text"),
        (["--format", "jsonl"], "// first\n+edge(3,4).\ncommit.\n", "a stream of facts such as +p(1). is read with --format text"),
    ],
)
def test_a_stream_in_the_other_format_hints_at_it(program: Path, options: list[str], stream: str, hint: str) -> None:
    outcome = datalog("run", program, "--stream", "-", "--changes-only", *options, stdin=stream)
    assert (outcome.status, outcome.out) == (1, "")
    assert f"    hint: {hint}" in outcome.err


@pytest.mark.parametrize("stream", ["+edge(3,;).\ncommit.\n", "+edge(1,2). +ghost(1).\ncommit.\n", "+edge(3,4).\n"])
def test_every_bad_transaction_says_that_it_was_rejected(program: Path, stream: str) -> None:
    outcome = datalog("run", program, "--stream", "-", "--changes-only", stdin=stream)
    assert outcome.status == 1
    assert outcome.err.endswith("\n    the transaction was rejected\n")


@pytest.mark.parametrize(
    ("stream", "option"),
    [
        ("// today\n+edge(3,4).\n-edge(4,5).\ncommit.\n", "--stream FILE"),
        ('^price["tea"] = 5.\ncommit.\n', "--stream FILE"),
        ('{"insert": {"edge": [[3, 4]]}}\n', "--stream FILE --format jsonl"),
    ],
)
@pytest.mark.parametrize("command", ["run", "check"])
def test_a_stream_that_is_given_as_the_program_hints_at_its_option(tmp_path: Path, command: str, stream: str, option: str) -> None:
    (tmp_path / "x.txn").write_text(stream)
    outcome = datalog(command, tmp_path / "x.txn")
    assert (outcome.status, outcome.out) == (1, "")
    assert outcome.err.count("error:") == 1
    assert outcome.err.endswith(f"    hint: this is a stream of transactions, no program: datalog run PROGRAM.dl {option}\n")


def test_a_stream_that_is_not_there_is_an_error(program: Path) -> None:
    outcome = datalog("run", program, "--stream", "nowhere.txn")
    assert (outcome.status, outcome.out) == (1, "")
    assert outcome.err == "nowhere.txn: error: cannot read the stream nowhere.txn: No such file or directory\n"


def test_without_output_directives_all_derived_predicates_change(tmp_path: Path) -> None:
    program = tmp_path / "p.dl"
    program.write_text("q(x) <- p(x). r(x) <- q(x), x > 1. p(1).\n")
    outcome = datalog("run", program, "--stream", "-", "--changes-only", stdin="+p(2).\ncommit.\n")
    assert outcome.out == "+q(2).\n+r(2).\ncommit.\n"
