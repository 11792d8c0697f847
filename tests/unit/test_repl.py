"""The REPL as a script: statements in, answers out."""

from __future__ import annotations

from pathlib import Path

import pytest

from datalog.ir.primitives import AGGREGATES, PRIMITIVES
from datalog.repl import Session
from datalog.statements import split_statements
from tests.command_line import Outcome, datalog

PATHS = """\
.decl edge(x: number, y: number)
path(x, y) :- edge(x, y).
path(x, z) :- edge(x, y), path(y, z).
"""


def talk(*lines: str, arguments: tuple[str | Path, ...] = ()) -> Outcome:
    return datalog("repl", *arguments, stdin="".join(f"{line}\n" for line in lines))


def after_paths(*lines: str) -> Outcome:
    """What is said after the program of paths and the facts edge(1,2), edge(2,3); without what they say themselves."""
    before = (*PATHS.splitlines(), "edge(1,2).", "edge(2,3).")
    introduction = talk(*before)
    assert introduction.status == 0
    outcome = talk(*before, *lines)
    assert outcome.out.startswith(introduction.out)
    return Outcome(outcome.status, outcome.out.removeprefix(introduction.out), outcome.err)


def test_rules_say_how_many_rows_they_derive() -> None:
    assert talk("e(1, 2).", "p(x) :- e(x, _).").out == "// e (1 row)\n// p (1 row)\n"


def test_a_fact_of_a_known_predicate_is_inserted_at_once_and_shows_what_follows() -> None:
    assert after_paths("edge(3,4).").out == "+path(1,4).\n+path(2,4).\n+path(3,4).\n"


def test_changes_wait_for_their_commit() -> None:
    outcome = after_paths("+edge(3,4).", "-edge(1,2).", "?- edge(x, y).", "commit.", "?- edge(x, y).")
    assert outcome.out == (
        "2 rows\nx  y\n-  -\n1  2\n2  3\n"
        "-path(1,2).\n-path(1,3).\n+path(2,4).\n+path(3,4).\n// committed: edge +1 -1\n"
        "2 rows\nx  y\n-  -\n2  3\n3  4\n"
    )


def test_an_abort_forgets_what_was_staged() -> None:
    outcome = after_paths("+edge(3,4). -edge(1,2).", "+edge(4,5).", "abort.", "commit.", "abort.")
    assert outcome.out == "// aborted: 3 changes forgotten\n// committed: nothing changed\n// aborted: nothing was waiting\n"
    assert (outcome.status, outcome.err) == (0, "")


@pytest.mark.parametrize(
    ("lines", "counted", "began"),
    [(["+edge(3,4)."], "1 change of it was", 6), (["", "-edge(1,2). +edge(3,4).", ":quit"], "2 changes of it were", 7)],
)
def test_a_script_that_ends_before_its_commit_says_so(lines: list[str], counted: str, began: int) -> None:
    outcome = after_paths(*lines)
    assert (outcome.status, outcome.out) == (1, "")
    assert outcome.err == f"<stdin>:{began}:1: error: the script ends, and {counted} not committed\n    hint: changes wait for `commit.`\n"


def test_the_last_word_on_a_fact_wins() -> None:
    assert after_paths("+edge(3,4). -edge(3,4). -edge(1,2). +edge(1,2). commit.").out == "// committed: nothing changed\n"


def test_queries_answer_with_a_table_or_with_a_word() -> None:
    assert after_paths("?- path(1, x).").out == "2 rows\nx\n-\n2\n3\n"
    assert after_paths("?- path(1, 3).", "?- path(3, 1).").out == "true\nfalse\n"
    assert after_paths("?- path(x, 9).").out == "0 rows\n"


def test_a_statement_may_take_several_lines_and_a_line_several_statements() -> None:
    outcome = after_paths("back(x, y) :-", "  // backwards", "  edge(y,", "       x).", "?- back(x, 1). ?- back(3, y).")
    assert outcome.out == "// back (2 rows)\n1 row\nx\n-\n2\n1 row\ny\n-\n2\n"


def test_what_was_deleted_stays_deleted_when_rules_are_added() -> None:
    outcome = talk("e(1). e(2).", "-e(1). commit.", "p(x) :- e(x).", "?- p(x).")
    assert outcome.out == "// e (2 rows)\n// committed: e +0 -1\n// p (1 row)\n1 row\nx\n-\n2\n"


def test_a_program_and_its_facts_are_loaded_first(tmp_path: Path) -> None:
    (tmp_path / "p.dl").write_text(f".input edge\n{PATHS}")
    (tmp_path / "edge.facts").write_text("1\t2\n2\t3\n")
    assert talk("?- path(x, 3).", arguments=(tmp_path / "p.dl", "-F", tmp_path)).out == "2 rows\nx\n-\n1\n2\n"


def test_a_file_is_loaded_with_the_facts_that_it_names(tmp_path: Path) -> None:
    (tmp_path / "p.dl").write_text(f".input edge\n{PATHS}edge(7, 8).\n")
    (tmp_path / "edge.facts").write_text("1\t2\n")
    outcome = talk(f":load {tmp_path / 'p.dl'}", "?- edge(x, y).", arguments=("-F", tmp_path))
    assert outcome.out == "// path (2 rows)\n// edge (2 rows)\n2 rows\nx  y\n-  -\n1  2\n7  8\n"


def test_a_fact_file_that_is_missing_leaves_the_program_as_it_was(tmp_path: Path) -> None:
    outcome = talk(".decl e(x: number)", ".input e", ":list", arguments=("-F", tmp_path))
    assert outcome.status == 1
    assert outcome.err.startswith("<stdin>:2:1: error: there is no fact file")
    assert "    .input e\n    ^" in outcome.err
    assert outcome.out == "1 predicate\npredicate     kind   rows\n------------  -----  ----\ne(x: number)  given     0\n"


def test_list_rules_and_plan_describe_the_session() -> None:
    listed = after_paths(":list").out
    assert "edge(x: number, y: number)  given       2\n" in listed
    assert "path(x: number, y: number)  derived     3\n" in listed
    assert after_paths(":rules").out == "path(x, y) :- edge(x, y).\npath(x, z) :- edge(x, y), path(y, z).\n"
    assert "order        y, x, z" in after_paths(":plan").out


def test_what_is_included_and_what_components_make_is_added_with_its_facts(tmp_path: Path) -> None:
    (tmp_path / "q.facts").write_text("9\n")
    (tmp_path / "parts.dl").write_text('.comp C {\n.decl q(x: number)\n.input q(filename="q.facts")\nq(7).\n}\n.init c = C\n')
    lines = (f'.include "{tmp_path / "parts.dl"}"', "?- c.q(x).", ".init d = C", "?- d.q(x).", "d.p(x) :- nothing(x).")
    outcome = talk(*lines, arguments=("-F", tmp_path))
    assert outcome.out == "// c.q (2 rows)\n2 rows\nx\n-\n7\n9\n// d.q (2 rows)\n2 rows\nx\n-\n7\n9\n"
    assert outcome.err.startswith("<stdin>:5:11: error: unknown predicate `nothing`\n    d.p(x) :- nothing(x).\n")


def test_help_names_every_command() -> None:
    shown = talk(":help").out
    assert all(command in shown for command in (*Session(None, Path()).commands, "commit.", "abort.", "?-") if command != ":help")
    words = set(shown.split())
    assert words >= {"operators", "functors", "aggregates", "band", "lnot", *AGGREGATES}
    assert {name for name in PRIMITIVES if name.isidentifier()} - words == {"neg"}, "which is written -x"


@pytest.mark.parametrize(
    ("lines", "column", "kept"),
    [
        (["?- path(1, x)", "?- path(2, x)."], 14, "1 row\nx\n-\n3\n"),
        (["?- path(1, x)", "back(x, y) :- edge(y, x)."], 14, "// back (2 rows)\n"),
        (["back(x, y) :- edge(y, x)", "loop(x) :- path(x, x)."], 25, "// loop (0 rows)\n"),
        (["+edge(3, 4)", "?- path(3, 4)."], 12, "false\n"),
        (["+edge(3, 4)", "commit."], 12, "// committed: nothing changed\n"),
        (["?- edge(x, y), x = 1", "edge(3, 4).", "?- edge(3, 4)."], 21, "+path(1,4).\n+path(2,4).\n+path(3,4).\ntrue\n"),
        (["edge(3, 4)", ".decl z(x: number)", "?- z(1)."], 11, "false\n"),
        (["?- path(3, 4)", ":rules"], 14, "path(x, y) :- edge(x, y).\npath(x, z) :- edge(x, y), path(y, z).\n"),
    ],
)
def test_a_forgotten_full_stop_costs_its_own_statement_only(lines: list[str], column: int, kept: str) -> None:
    outcome = after_paths(*lines)
    assert (outcome.status, outcome.out) == (1, kept)
    assert outcome.err.startswith(f"<stdin>:6:{column}: error: the full stop is missing\n    {lines[0]}\n")
    assert outcome.err.count("error:") == 1
    assert "ends with a full stop: `.`" in outcome.err


def test_another_mistake_before_a_forgotten_full_stop_is_told_first() -> None:
    outcome = after_paths("?- path(1, x", "?- path(2, x).", "+edge(1", "?- edge(9, x).")
    assert [line for line in outcome.err.splitlines() if "error" in line] == [
        "<stdin>:6:13: error: expected `)` or `,` before the end of the text",
        "<stdin>:8:8: error: expected `,` or `)`, found `.`",
    ]
    assert outcome.out == "1 row\nx\n-\n3\n0 rows\n"


@pytest.mark.parametrize(
    ("command", "hint"),
    [
        (":rollback", "`abort.` forgets"),
        (":commit", "`commit.` has no colon"),
        (":lst", "did you mean `:list`?"),
        (":zzz", "there are :explain,"),
    ],
)
def test_a_command_that_is_not_there_hints_at_what_was_meant(command: str, hint: str) -> None:
    outcome = after_paths(command)
    assert outcome.status == 1
    assert outcome.err.startswith(f"error: there is no command {command}; {hint}")


def test_why_explains_and_hints_at_whynot() -> None:
    outcome = after_paths(":why path(1, 2)", ":why path(3, 1)")
    assert outcome.out.startswith("path(1, 2)  by ")
    assert outcome.err.startswith("error: path(3, 1) does not hold\n    hint: ")
    assert ":whynot" in outcome.err


def test_quit_ends_the_session() -> None:
    assert after_paths(":quit", "?- edge(x, y).") == Outcome(0, "", "")


@pytest.mark.parametrize(
    ("line", "message", "caret"),
    [
        ("?- pth(1, x).", "<stdin>:6:4: error: unknown predicate `pth`", "    ?- pth(1, x).\n       ^"),
        ("  +edge(1, two).", "<stdin>:6:12: error: ", "      +edge(1, two).\n               ^"),
        ('edge(1, "two").', '<stdin>:6:9: error: "two" is no number (column y of edge)', '    edge(1, "two").\n            ^'),
        ("edge(1).", "<stdin>:6:1: error: 1 value where edge has 2 columns", "    edge(1).\n    ^"),
        ("q(x, z) :- path(x, y).", "<stdin>:6:6: error: `z` is in the head", "    q(x, z) :- path(x, y).\n         ^"),
        (
            "q(x) :- path(x, y), !q(y).",
            "<stdin>:6:22: error: negation through recursion",
            "    q(x) :- path(x, y), !q(y).\n                         ^",
        ),
        ("q(x) :- edge(x, y), y / 0 > 1.", "<stdin>:6:", "^"),
        ("q(x :- edge(x, y).", "<stdin>:6:", "    q(x :- edge(x, y).\n"),
        (":lst", "error: there is no command :lst; did you mean `:list`?", ""),
        (":load nowhere.dl", "nowhere.dl: error: cannot read nowhere.dl", ""),
    ],
)
def test_an_error_is_shown_under_the_input_and_the_session_goes_on(line: str, message: str, caret: str) -> None:
    outcome = after_paths(line, "?- path(1, x).", ":rules")
    assert outcome.status == 1
    assert outcome.err.startswith(message)
    assert caret in outcome.err
    assert outcome.out == "2 rows\nx\n-\n2\n3\npath(x, y) :- edge(x, y).\npath(x, z) :- edge(x, y), path(y, z).\n"


def test_a_commit_that_fails_changes_nothing_and_is_forgotten() -> None:
    outcome = after_paths("r(60 / (x - 5)) :- edge(x, _).", "+edge(4, 4). +edge(5, 5).", "commit.", "commit.", "?- edge(x, y).")
    assert "divides by zero" in outcome.err
    assert outcome.out == "// r (2 rows)\n// committed: nothing changed\n2 rows\nx  y\n-  -\n1  2\n2  3\n"


def test_the_rest_of_an_unfinished_script_is_an_error() -> None:
    outcome = talk("p(1).", "p(2")
    assert outcome.status == 1
    assert outcome.err.startswith("<stdin>:2:")


def test_an_interrupt_in_a_script_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("datalog.repl.Session._ask", interrupted)
    assert talk("?- p(x).").status == 130


def test_an_error_in_the_loaded_program_ends_it_before_it_begins(tmp_path: Path) -> None:
    (tmp_path / "p.dl").write_text("p(x) :- q(y).\n")
    outcome = talk("?- p(x).", arguments=(tmp_path / "p.dl",))
    assert (outcome.status, outcome.out) == (1, "")
    assert outcome.err.startswith(f"{tmp_path / 'p.dl'}:1:")


def test_names_that_can_be_completed_follow_the_program() -> None:
    session = Session(None, Path())
    assert session.execute("e(1). p(x) :- e(x).")
    assert sorted(session.database) == ["e", "p"]
    assert ":load" in session.commands


@pytest.mark.parametrize(
    ("text", "kinds", "rest"),
    [
        ('p(1.5, "a. b\\""). q(2). // c.\n', ["clauses"], ""),
        ("p(1).q(2).+r(3).", ["clauses", "change"], ""),
        (".decl p(x: number,\n  y: number)\np(1, 2).", ["clauses"], ""),
        (".decl p(x: number,\n", [], ".decl p(x: number,\n"),
        ("?- p(x). commit. abort .", ["query", "commit", "abort"], ""),
        ("+p(1). -p(2).\n?- p(x", ["change", "change"], "?- p(x"),
        (":list\n:help", ["command", "command"], ""),
        ("/* p(1).\n", [], "/* p(1).\n"),
        ("/* p(1). */ // q\n", [], ""),
        ("x(y) :- z(y), y = 1.", ["clauses"], ""),
        ("ns.p(1). ", ["clauses"], ""),
        ("commit", [], "commit"),
        ("p(1)\nq(2).", ["clauses", "clauses"], ""),
        ("p(1). q(2)\nr(3). s(4).", ["clauses", "clauses", "clauses"], ""),
        ("+p(1)\n^f[2] = 3\n-f[2].", ["change", "change", "change"], ""),
        ("p(x) :- q(x)\n+r(1).", ["clauses", "change"], ""),
        # What a line may go on with:
        ("p(x) :- q(x, y), x = y\n+f(y).", ["clauses"], ""),
        ("p(x) :- q(x, y), x = y\nband f(y).", ["clauses"], ""),
        ("p(x) :- q(x, y), x = y band\nf(y).", ["clauses"], ""),
        ("p(x) :-\nq(x),\nr(x).", ["clauses"], ""),
        ("p(x) :- q(x)\n  r(x).", ["clauses"], ""),
        ("p(t) <- agg<<t = sum(c)>>\nmeal(c).", ["clauses"], ""),
        ("p(n) :- n = count :\n{ q(_) }.", ["clauses"], ""),
        ('p("?-\n?- q(x).', ["clauses", "query"], ""),
    ],
)
def test_statements_end_with_their_full_stop(text: str, kinds: list[str], rest: str) -> None:
    statements, at = split_statements(text)
    assert [statement.kind for statement in statements] == kinds
    assert text[at:] == rest
