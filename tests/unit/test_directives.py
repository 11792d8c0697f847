"""What is found wrong with directives before any file is opened: all at once, and together with the rest of the program."""

from __future__ import annotations

import pytest

from datalog import ProgramError
from datalog.errors import IgnoredParameter
from datalog.program import compile_program

DECLARED = ".decl p(id: number, day: date)\n.decl q(id: number)\n"


def messages(text: str) -> list[str]:
    with pytest.raises(ProgramError) as caught:
        compile_program(DECLARED + text, "p.dl")
    assert all(found.text for found in caught.value.diagnostics), "each quotes its line"
    return [f"{found.line}: {found.message}" for found in caught.value.diagnostics]


def test_all_parameters_that_make_no_sense_are_told_of_all_directives() -> None:
    assert messages('.input p(headers=perhaps, IO=sqlit, columns="1:")\n.output q(delimiter="")\n') == [
        "3: IO=sqlit is nothing that .input knows",
        '3: headers="perhaps" is neither true nor false',
        '3: columns="1:" has an empty name in it',
        "4: the delimiter is empty",
    ]


@pytest.mark.parametrize(
    ("directive", "message"),
    [
        ('.input p(delimeter=",")', "delimeter is no parameter of .input, and says nothing; did you mean `delimiter`?"),
        ('.output q(null="NA")', "null is no parameter of .output, and says nothing; there are IO, "),
        (".input p(compress=true)", "compress is no parameter of .input, and says nothing"),
        (".output q(columns=1)", "columns is no parameter of .output, and says nothing"),
    ],
)
def test_parameters_that_nobody_knows_say_nothing_and_are_warned_of(directive: str, message: str) -> None:
    with pytest.warns(IgnoredParameter) as caught:
        compile_program(f"{DECLARED}{directive}\n", "p.dl")
    (warning,) = caught
    assert str(warning.message).startswith(message)
    assert (warning.filename, warning.lineno) == ("p.dl", 3)


def test_parameters_of_older_versions_of_souffle_are_passed_over_silently(recwarn: pytest.WarningsRecorder) -> None:
    compile_program(f"{DECLARED}.output q(intermediate=true)\n", "p.dl")
    assert not recwarn


def test_defaults_are_checked_without_the_file() -> None:
    assert messages('.input p(null="NA", default_day="today", default_id="x", default_ids=1)\n') == [
        '3: a default of p: "today" is no date, which is written YYYY-MM-DD',
        '3: a default of p: "x" is no number',
        "3: p has no column ids that could have a default; did you mean `id`?",
    ]


def test_parameters_are_told_together_with_errors_of_rules() -> None:
    assert messages("r(x) :- s(x).\n.input p(headers=perhaps)\nt(y) :- q(x).\n") == [
        "3: unknown predicate `s`",
        '4: headers="perhaps" is neither true nor false',
        "5: `y` is in the head, but nothing binds it",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '.input p(rejects="bad.csv")\n.input q(rejects="./bad.csv")\n',
            "4: the rejected rows of two inputs, p and q, would both be written to ./bad.csv",
        ),
        (
            '.input p(filename="a", rejects="x")\n.input p(filename="b", rejects="x")\n',
            "4: the rejected rows of two inputs, p and p, would both be written to x",
        ),
        ('.input p(rejects="q.csv")\n.output q\n', "3: the rejected rows of p and the output q would both be written to q.csv"),
        ('.input p(rejects="q.facts")\n.input q\n', "3: the rejected rows of p would be written over the facts of q"),
        ('.output p(filename="x")\n.output q(filename="x")\n', "4: p and q would both be written to x"),
    ],
)
def test_files_that_would_be_written_over_are_refused(text: str, message: str) -> None:
    assert messages(text) == [message]


def test_inputs_may_share_a_file_of_facts_and_outputs_may_be_printed() -> None:
    text = '.input p(filename="x")\n.input q(filename="x", rejects="y")\n.output p(IO=stdout)\n.output q\n.output q\n'
    assert len(compile_program(DECLARED + text, "p.dl")[1].directives) == 5
