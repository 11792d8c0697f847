"""Programs of several files, and programs for a C preprocessor."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from datalog import Database, preprocessor
from datalog.cli import main
from datalog.errors import EvaluationError, ProgramError
from datalog.program import read_program
from datalog.reading import Reading
from datalog.sources import needs_preprocessor

INSTALLED = [name for name in preprocessor.COMMANDS if shutil.which(name)]
needs_one = pytest.mark.skipif(not INSTALLED, reason="neither mcpp nor GCC is installed")
each_one = pytest.mark.parametrize("command", INSTALLED or [pytest.param("", marks=needs_one)])


def write(folder: Path, **files: str) -> Path:
    """Files by their names without the ending; the path of the first."""
    for name, text in files.items():
        folder.joinpath(f"{name}.dl").write_text(text)
    return folder / f"{next(iter(files))}.dl"


# --- Inclusion ---------------------------------------------------------------------------------------------------------------------


def test_an_included_file_stands_in_the_place_of_its_directive(tmp_path: Path) -> None:
    main_file = write(tmp_path, main='p(1).\n.include "more.dl"\nq(x) :- p(x).\n', more="p(2).\n")
    assert list(Database(main_file)["q"]) == [(1,), (2,)]


def test_a_file_may_be_included_in_a_component(tmp_path: Path) -> None:
    main_file = write(tmp_path, main='.comp C { .include "body.dl" }\n.init c = C\n', body=".decl p(x: number)\np(1).\n")
    assert list(Database(main_file)["c.p"]) == [(1,)]


def test_what_follows_once_counts_where_a_file_is_included_first(tmp_path: Path) -> None:
    body = ".once\n.decl p(x: number)\np(__LINE__).\n"
    main_file = write(tmp_path, main='.include "body.dl"\n.include "body.dl"\n', body=body)
    assert list(Database(main_file)["p"]) == [(3,)]


def test_a_file_that_includes_itself_ends_at_once(tmp_path: Path) -> None:
    main_file = write(tmp_path, main='.once\n.include "main.dl"\np(1).\n')
    assert list(Database(main_file)["p"]) == [(1,)]


def test_a_file_that_includes_itself_without_an_end_is_refused(tmp_path: Path) -> None:
    main_file = write(tmp_path, main='p(1).\n.include "main.dl"\n')
    with pytest.raises(ProgramError, match=r'"main.dl" includes itself') as caught:
        Database(main_file)
    assert caught.value.line == 2


def test_files_are_looked_for_beside_the_one_that_includes_them_and_then_in_the_folders(tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()
    write(library, one='.include "two.dl"\n', two="p(2).\n")
    main_file = write(tmp_path, main='.include "one.dl"\n')
    assert list(Database(main_file, reading=Reading((library,)))["p"]) == [(2,)]
    with pytest.raises(ProgramError, match=r'there is no file "one.dl"') as caught:
        Database(main_file)
    assert (caught.value.line, caught.value.column) == (1, 10)


def test_a_mistake_is_placed_in_the_file_in_which_it_stands(tmp_path: Path) -> None:
    main_file = write(tmp_path, main='.decl p(x: number)\n.include "more.dl"\np("c").\n', more='p(1).\n  p("a").\n')
    with pytest.raises(ProgramError) as caught:
        Database(main_file)
    places = [(Path(one.file).name, one.line, one.column, one.text) for one in caught.value.diagnostics]
    assert sorted(places) == [("main.dl", 3, 3, 'p("c").'), ("more.dl", 2, 5, '  p("a").')]


def test_a_computation_that_fails_is_placed_in_the_file_of_its_rule(tmp_path: Path) -> None:
    main_file = write(tmp_path, main='p(0).\n.include "more.dl"\n', more="q(x) :- p(y), x = 1 / y.\n")
    with pytest.raises(EvaluationError) as caught:
        Database(main_file)
    assert Path(caught.value.file).name == "more.dl"
    assert caught.value.text == "q(x) :- p(y), x = 1 / y."


def test_the_text_behind_an_include_keeps_its_line(tmp_path: Path) -> None:
    main_file = write(tmp_path, main='.decl p(x: number)\n.include "more.dl" p("c").\n', more="")
    with pytest.raises(ProgramError) as caught:
        Database(main_file)
    assert (Path(caught.value.file).name, caught.value.line, caught.value.column) == ("main.dl", 2, 22)


def test_words_for_places_tell_line_file_and_includes(tmp_path: Path) -> None:
    main_file = write(tmp_path, main='\n.include "more.dl"\n', more="\np(__LINE__, __FILE__, __INCL__).\n")
    ((line, file, includes),) = Database(main_file)["p"]
    assert (line, file, includes) == (2, str(tmp_path / "more.dl"), f"{main_file}:2")


# --- Preprocessor ------------------------------------------------------------------------------------------------------------------


@each_one
def test_macros_and_conditions_are_those_of_c(tmp_path: Path, command: str) -> None:
    text = "#define N 3\n#ifdef MORE\np(N + MORE).\n#else\np(N).\n#endif\n#if RAM_DOMAIN_SIZE == 64\nq(64).\n#endif\n"
    main_file = write(tmp_path, main=text)
    database = Database(main_file, reading=Reading(preprocessor=command))
    assert (list(database["p"]), list(database["q"])) == ([(3,)], [(64,)])
    assert list(Database(main_file, reading=Reading(macros=("MORE=4",), preprocessor=command))["p"]) == [(7,)]


@each_one
def test_a_mistake_in_a_preprocessed_program_is_placed_as_it_was_written(tmp_path: Path, command: str) -> None:
    text = '#define N 3\n#include "more.h"\n.decl p(x:   number)\np(N). // three\n  p(1),   p(2, 3).  // a comment\n'
    tmp_path.joinpath("more.h").write_text("\nq(1 2).\n")
    main_file = write(tmp_path, main=text)
    with pytest.raises(ProgramError) as caught:
        read_and_parse(main_file, command)
    assert [(Path(one.file).name, one.line, one.column) for one in caught.value.diagnostics] == [("more.h", 2, 5)]
    tmp_path.joinpath("more.h").write_text("")
    with pytest.raises(ProgramError) as caught:
        Database(main_file, reading=Reading(preprocessor=command))
    found = caught.value.diagnostics[0]
    assert (Path(found.file).name, found.line, found.column, found.text) == ("main.dl", 5, 11, "  p(1),   p(2, 3).  // a comment")


@each_one
def test_a_preprocessed_file_is_called_as_it_was_given_and_its_lines_are_as_written(
    tmp_path: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.joinpath("sub").mkdir()
    tmp_path.joinpath("sub", "main.dl").write_text("#define N 1\n  p(x)   :- r(N).  // a comment\n  p(x)   :- r(2).  // a comment\n")
    for folder, given in ((".", "sub/main.dl"), ("sub", "../sub/main.dl"), ("sub", str(tmp_path / "sub" / "main.dl"))):
        monkeypatch.chdir(tmp_path / folder)
        found = check_output([given, "--preprocessor", command])
        assert f"{given}:2:5: error: `x` is in the head" in found
        assert f"{given}:3:5: error: `x` is in the head" in found
        assert "      p(x)   :- r(2).  // a comment\n" in found


def check_output(arguments: list[str]) -> str:
    done = CliRunner().invoke(main, ["check", *arguments])
    assert done.exit_code == 1
    return done.stderr


def read_and_parse(path: Path, command: str) -> None:
    from datalog.syntax import parse

    parse(*read_program(path, Reading(preprocessor=command)))


@each_one
def test_what_a_preprocessor_complains_of_has_its_place(tmp_path: Path, command: str) -> None:
    main_file = write(tmp_path, main='p(1).\n#include "nowhere.h"\n')
    with pytest.raises(ProgramError, match=r"nowhere\.h") as caught:
        Database(main_file, reading=Reading(preprocessor=command))
    assert (Path(caught.value.file).name, caught.value.line) == ("main.dl", 2)


@each_one
def test_a_text_that_is_no_file_is_preprocessed_too(command: str) -> None:
    assert list(Database("#define N 5\np(N).\n", reading=Reading(preprocessor=command))["p"]) == [(5,)]


@each_one
def test_names_of_the_platform_are_no_macros(command: str) -> None:
    assert list(Database("#define N 5\nlinux(N). unix(N).\n", reading=Reading(preprocessor=command))["linux"]) == [(5,)]


def test_without_a_preprocessor_the_message_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(ProgramError, match="lines for a C preprocessor, and none is installed"):
        Database("#define N 5\np(N).\n")


def test_a_command_that_does_not_run_is_named() -> None:
    with pytest.raises(ProgramError, match="cannot run the preprocessor nonesuch"):
        Database("#define N 5\np(N).\n", reading=Reading(preprocessor="nonesuch -x"))


def test_a_program_without_such_lines_starts_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "run", None)
    text = '// #define in a comment\n/*\n#if 0\n*/\np("\\"#x").\n'
    assert not needs_preprocessor(text)
    assert list(Database(text)["p"]) == [('"#x',)]


def test_the_command_line_takes_folders_macros_and_no_preprocessor(tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()
    write(library, more="p(2).\n")
    main_file = write(tmp_path, main='.decl p(x: number)\n.output p\n.include "more.dl"\n')
    checked = CliRunner().invoke(main, ["check", str(main_file), "-I", str(library)])
    assert (checked.exit_code, checked.output) == (0, "ok: 1 predicate, 0 rules, 0 strata\n")
    refused = CliRunner().invoke(main, ["check", str(write(tmp_path, other="#define N 2\np(N).\n")), "--no-preprocessor"])
    assert refused.exit_code == 1
    assert "this line is for a C preprocessor, which was not run" in refused.output


@needs_one
def test_the_command_line_defines_macros(tmp_path: Path) -> None:
    main_file = write(tmp_path, main="#ifdef A\n.decl p(x: number)\np(A + B).\n.output p\n#endif\n")
    result = CliRunner().invoke(main, ["run", str(main_file), "-M", "A=1 B=2", "-D", "-", "-q"])
    assert result.exit_code == 0
    assert "3" in result.output
