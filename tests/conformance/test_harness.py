"""The harness itself, on a checkout of a few tests that is written here: it must see what is wrong, or the counts mean nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.cmake import after, calls, holds
from tests.conformance.judge import Verdict, compare
from tests.conformance.report import Result, report
from tests.conformance.runner import Engine, run_tests
from tests.conformance.stream import Streamed
from tests.conformance.suite import CATEGORIES, SuiteTest, discover

PATHS = """.decl edge(x: number, y: number)
.input edge
.decl path(x: number, y: number)
.output path
edge(3, 4).
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), edge(y, z).
"""
EDGES = "1\t2\n2\t3\n"
CLOSURE = "1\t2\n1\t3\n1\t4\n2\t3\n2\t4\n3\t4\n"


def checkout(root: Path, registered: str, **files: str) -> Path:
    """A checkout with one category that registers something; other files are named `folder__name__ending`."""
    for category in CATEGORIES:
        (root / "tests" / category).mkdir(parents=True)
        (root / "tests" / category / "CMakeLists.txt").write_text(registered if category == "semantic" else "")
    for name, text in files.items():
        folder, file, ending = name.split("__")
        path = root / "tests" / "semantic" / folder.replace("_facts", "/facts") / f"{file}.{ending}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def paths(root: Path, expected: str = CLOSURE, program: str = PATHS) -> SuiteTest:
    """A test of the transitive closure."""
    files = {"reach__reach__dl": program, "reach_facts__edge__facts": EDGES, "reach__path__csv": expected, "reach__reach__out": ""}
    (test,) = discover(checkout(root, "positive_test(reach)", **files))
    return test


def refused(root: Path, err: str, program: str = ".decl a(x: number)\na(y).\na(z).\n") -> SuiteTest:
    (test,) = discover(checkout(root, "negative_test(bad)", bad__bad__dl=program, bad__bad__out="", bad__bad__err=err))
    return test


def verdict(test: SuiteTest, seed: int | None = None, limit: float = 60.0) -> Verdict:
    ((_, _, verdict),) = run_tests([test], Engine(seed=seed), limit=limit)
    return verdict


def test_calls_in_functions_comments_and_untaken_branches_are_not_made(tmp_path: Path) -> None:
    path = tmp_path / "CMakeLists.txt"
    path.write_text(
        """function(positive_test NAME)
    souffle_positive_test(${NAME} semantic)
endfunction()
positive_test(one COMPILED_SPLITTED) # positive_test(two)
if (FALSE)
    if (NOT MSVC)
        positive_test(three)
    endif ()
else ()
    run(TEST_NAME four FOLDERS (a) b NEGATIVE)
endif ()
"""
    )
    assert calls(path) == [
        ("positive_test", ["one", "COMPILED_SPLITTED"]),
        ("run", ["TEST_NAME", "four", "FOLDERS", "(", "a", ")", "b", "NEGATIVE"]),
    ]


@pytest.mark.parametrize(
    ("condition", "true"),
    [
        (["MSVC"], False),
        (["NOT", "MSVC"], True),
        (["UNIX"], True),
        (["NOT", "${CMAKE_SYSTEM_NAME}", "MATCHES", "Linux"], False),
    ],
)
def test_conditions_hold_as_on_linux(condition: list[str], true: bool) -> None:
    assert holds(condition) is true


def test_a_condition_of_another_kind_is_an_error_lest_tests_go_missing() -> None:
    with pytest.raises(ValueError, match="A AND B"):
        holds(["A", "AND", "B"])


def test_a_keyword_has_the_words_up_to_the_next_one() -> None:
    assert after(["TEST_NAME", "a", "FOLDERS", "b", "c", "NEGATIVE"], "FOLDERS") == ["b", "c"]
    assert after(["TEST_NAME", "a"], "FOLDERS") == []


def test_a_test_knows_its_kind_its_folders_and_its_options(tmp_path: Path) -> None:
    registered = """positive_test(plain)
positive_test(mute)
negative_test(wrong)
souffle_positive_functor_test(called CATEGORY semantic)
souffle_positive_multi_test(TEST_NAME many CATEGORY semantic FACTS_DIR_NAMES one two)
souffle_run_test(TEST_NAME with CATEGORY semantic INCLUDE_DIRS a b NO_PREPROCESSOR NEGATIVE)
"""
    files = {"plain__plain__out": "()\n", "mute__mute__out": "", "many__many__dl": ""}
    found = {test.name: test for test in discover(checkout(tmp_path, registered, **files))}
    assert {name: test.kind for name, test in found.items()} == {
        "semantic/plain": "positive",
        "semantic/mute": "silent",
        "semantic/wrong": "refused",
        "semantic/called": "functor",
        "semantic/many_one": "silent",
        "semantic/many_two": "silent",
        "semantic/with": "refused",
    }
    category = tmp_path / "tests" / "semantic"
    assert found["semantic/many_two"].program == category / "many" / "many.dl"
    assert found["semantic/many_two"].facts == found["semantic/many_two"].expected == category / "many" / "two"
    assert found["semantic/with"].options == (
        "--no-preprocessor",
        "-I",
        str(category / "with" / "a"),
        "-I",
        str(category / "with" / "b"),
    )


def test_files_are_compared_as_sorted_lines_without_blanks_at_their_ends(tmp_path: Path) -> None:
    expected, given = tmp_path / "expected", tmp_path / "given"
    expected.write_text("2\t3 \n1\t2\n")
    given.write_text("1\t2\n2\t3\n")
    assert compare(expected, given) == ""
    given.write_text("1\t2\n1\t2\n")
    assert compare(expected, given) == "1 of 2 lines missing, 1 too many\n    -2\t3\n    +1\t2"


def test_an_empty_line_is_a_line(tmp_path: Path) -> None:
    expected, given = tmp_path / "expected", tmp_path / "given"
    expected.write_text("\na\n")
    given.write_text("a\n")
    assert compare(expected, given).startswith("1 of 2 lines missing")


@pytest.mark.parametrize("seed", [None, 0, 1])
def test_a_right_answer_passes_in_one_go_and_as_a_stream(tmp_path: Path, seed: int | None) -> None:
    assert verdict(paths(tmp_path), seed) == Verdict()


@pytest.mark.parametrize("seed", [None, 0])
def test_a_wrong_answer_is_told_by_its_file_and_lines(tmp_path: Path, seed: int | None) -> None:
    wrong = verdict(paths(tmp_path, expected=CLOSURE + "4\t1\n"), seed)
    assert (wrong.cause, wrong.reason) == ("wrong answer", "different rows")
    assert "path.csv: 1 of 7 lines missing" in wrong.detail and "-4\t1" in wrong.detail


def test_a_file_that_is_not_expected_is_a_wrong_answer(tmp_path: Path) -> None:
    wrong = verdict(paths(tmp_path, program=PATHS + ".output edge\n"))
    assert (wrong.reason, wrong.detail) == ("too many files", "edge.csv is not expected")


def test_a_program_that_is_refused_and_should_not_be_gives_its_first_error_as_the_reason(tmp_path: Path) -> None:
    wrong = verdict(paths(tmp_path, program=PATHS + "path(x, y) :- edge(x, _).\n"))
    assert wrong.cause == "refused" and "`y`" in wrong.reason


def test_a_test_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    endless = ".decl n(x: number)\n.output n\nn(0).\nn(x + 1) :- n(x), x < 1000000000.\n"
    assert verdict(paths(tmp_path, program=endless), limit=0.5).cause == "time"


def test_a_refusal_must_name_one_place_of_each_error_and_no_other(tmp_path: Path) -> None:
    second = "Error: Argument in fact is not constant in file bad.dl at line 2\na(y).\n--^---\n"
    third = "Error: Argument in fact is not constant in file bad.dl at line 3\na(z).\n--^---\n"
    assert verdict(refused(tmp_path / "both", second + third)) == Verdict()
    missed = verdict(refused(tmp_path / "one more", second + third + third.replace("line 3", "line 1")))
    assert missed.cause == "wrong lines" and missed.detail.startswith("missed bad.dl:1: Argument in fact")
    surplus = verdict(refused(tmp_path / "one less", second))
    assert surplus.cause == "wrong lines" and surplus.detail.startswith("surplus bad.dl:3: ")


def test_beside_a_syntax_error_more_may_be_found_wrong(tmp_path: Path) -> None:
    program = ".decl a(x: number)\na(y).\n+\n"
    err = "Error: syntax error, unexpected + in file bad.dl at line 3\n+\n^\n"
    assert verdict(refused(tmp_path / "found", err, program)) == Verdict()
    assert verdict(refused(tmp_path / "missed", err.replace("line 3", "line 1"), program)).cause == "wrong lines"


def test_a_wrong_program_that_runs_was_accepted(tmp_path: Path) -> None:
    err = "Error: Argument in fact is not constant in file bad.dl at line 2\n"
    assert verdict(refused(tmp_path, err, ".decl a(x: number)\na(1).\n")).cause == "accepted"


def test_a_stream_begins_without_some_facts_and_ends_with_all(tmp_path: Path) -> None:
    program = tmp_path / "paths.dl"
    program.write_text(PATHS + "".join(f"edge({n}, {n + 1}).\n" for n in range(10, 40)))
    (tmp_path / "edge.facts").write_text(EDGES)
    streamed = Streamed(program, facts=tmp_path)
    assert streamed.version > 1
    assert len(streamed["edge"]) == 33
    assert len(streamed["path"]) == 6 + 30 * 31 // 2
    streamed.check()


def test_a_stream_passes_over_what_does_not_end_without_a_fact(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    counting = ".decl last(n: number)\nlast(9).\n.decl n(x: number)\n.output n\nn(0).\nn(x + 1) :- n(x), !last(x).\n"
    streamed = Streamed(counting)
    assert sorted(streamed["n"]) == [(n,) for n in range(10)]
    assert "passed over" in capsys.readouterr().err


def test_the_report_counts_by_category_and_groups_failures_by_their_reason(tmp_path: Path) -> None:
    test = paths(tmp_path)
    results = [Result(test, 0.5, Verdict(), 0.25), Result(test, 1.0, Verdict("refused", "no such thing"), 0.25)]
    lines = list(report(results))
    assert lines[1].split() == ["semantic", "1/2"]
    assert "    1  no such thing" in lines
    assert lines[-1].split() == ["1.5", "s", "for", "the", "2", "tests", "that", "Soufflé's", "interpreter", "takes", "0.5", "s", "for"]
