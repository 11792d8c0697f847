"""`datalog run` without a stream: tables, files, settings."""

from __future__ import annotations

import gzip
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from typing import get_args

import pytest

from datalog import settings
from datalog.kernels import jit
from datalog.maintain.engine import Coalesce, Failing, Maintain
from tests.command_line import datalog

PATHS = """\
.decl edge(from: number, to: number)
.decl path(from: number, to: number)
.input edge
.output path
.printsize edge
path(x, y) :- edge(x, y).
path(x, z) :- edge(x, y), path(y, z).
"""


@pytest.fixture
def paths(tmp_path: Path) -> Path:
    program = tmp_path / "paths.dl"
    program.write_text(PATHS)
    (tmp_path / "edge.facts").write_text("1\t2\n2\t30\n")
    return program


def test_outputs_are_printed_as_tables_and_sizes_as_lines(paths: Path, tmp_path: Path) -> None:
    outcome = datalog("run", paths, "-F", tmp_path)
    assert outcome.out == "path (3 rows)\nfrom  to\n----  --\n   1   2\n   1  30\n   2  30\nedge\t2\n"
    assert (outcome.status, outcome.err) == (0, "")


def test_facts_are_looked_for_in_the_current_directory(paths: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert datalog("run", "paths.dl").out == datalog("run", paths, "-F", tmp_path).out


def test_compressed_facts_are_found(paths: Path, tmp_path: Path) -> None:
    plain = datalog("run", paths, "-F", tmp_path).out
    facts = tmp_path / "edge.facts"
    (tmp_path / "edge.facts.gz").write_bytes(gzip.compress(facts.read_bytes()))
    facts.unlink()
    assert datalog("run", paths, "-F", tmp_path).out == plain


def test_outputs_go_to_files_in_a_directory_that_is_made(paths: Path, tmp_path: Path) -> None:
    outcome = datalog("run", paths, "-F", tmp_path, "-D", tmp_path / "new" / "out")
    assert (outcome.status, outcome.out) == (0, "edge\t2\n")
    assert [path.name for path in (tmp_path / "new" / "out").iterdir()] == ["path.csv"]
    assert (tmp_path / "new" / "out" / "path.csv").read_text() == "1\t2\n1\t30\n2\t30\n"


def test_a_dash_prints_all_outputs_in_the_form_of_souffle(paths: Path, tmp_path: Path) -> None:
    outcome = datalog("run", paths, "-F", tmp_path, "-D", "-")
    assert outcome.out == "---------------\npath\nfrom\tto\n===============\n1\t2\n1\t30\n2\t30\n===============\nedge\t2\n"


def test_an_output_file_is_replaced_and_stale_rows_go(paths: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "path.csv").write_text("stale\n" * 100)
    (tmp_path / "out" / "other.csv").write_text("not ours\n")
    datalog("run", paths, "-F", tmp_path, "-D", tmp_path / "out")
    assert (tmp_path / "out" / "path.csv").read_text() == "1\t2\n1\t30\n2\t30\n"
    assert (tmp_path / "out" / "other.csv").read_text() == "not ours\n"


def test_a_run_that_fails_leaves_old_outputs_alone(paths: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "path.csv").write_text("old\n")
    (tmp_path / "edge.facts").write_text("1\tx\n")
    assert datalog("run", paths, "-F", tmp_path, "-D", tmp_path / "out").status == 1
    assert (tmp_path / "out" / "path.csv").read_text() == "old\n"


def test_two_runs_are_byte_identical(paths: Path, tmp_path: Path) -> None:
    edges = "".join(f"{(7 * n) % 101}\t{(13 * n + 5) % 101}\n" for n in range(150))
    (tmp_path / "edge.facts").write_text(edges)
    first = datalog("run", paths, "-F", tmp_path)
    (tmp_path / "edge.facts").write_text("".join(reversed(edges.splitlines(keepends=True))))
    second = datalog("run", paths, "-F", tmp_path, "--set", "rows_per_page=3", "-j", "2")
    assert first.out == second.out
    assert first.out.count("\n") > 100  # and a table that is no terminal's is not cut


def test_a_program_without_output_gives_all_derived_predicates(tmp_path: Path) -> None:
    program = tmp_path / "p.dl"
    program.write_text('e(1, "a b"). e(20, "c\\n"). s(y) <- e(_, y). t() <- s(_). u() <- !t().\n')
    outcome = datalog("run", program)
    assert outcome.out == "s (2 rows)\ny\n---\na b\nc\\n\n\nt (1 row)\n()\n\nu (0 rows)\n"
    program.write_text(program.read_text().replace("\\n", ""))
    assert datalog("run", program, "-D", tmp_path / "out").status == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["s.csv", "t.csv", "u.csv"]


def test_an_output_for_standard_output_is_printed_beside_the_files(tmp_path: Path) -> None:
    program = tmp_path / "p.dl"
    program.write_text("p(1). q(x) :- p(x).\n.output q(IO=stdout)\n.output p\n")
    assert datalog("run", program, "-D", tmp_path).out == "---------------\nq\n===============\n1\n===============\n"
    assert (tmp_path / "p.csv").read_text() == "1\n"


@pytest.mark.parametrize("maintain", get_args(Maintain))
@pytest.mark.parametrize("coalesce", get_args(Coalesce))
def test_settings_never_change_the_answer(paths: Path, tmp_path: Path, maintain: str, coalesce: str) -> None:
    usual = datalog("run", paths, "-F", tmp_path).out
    assert datalog("run", paths, "-F", tmp_path, "--maintain", maintain, "--set", f"coalesce={coalesce}").out == usual


def test_the_options_offer_what_the_engine_has() -> None:
    assert sorted(settings.WORDS["maintain"]) == sorted(get_args(Maintain))
    assert sorted(settings.WORDS["coalesce"]) == sorted(get_args(Coalesce))
    assert sorted(settings.WORDS["failing"]) == sorted(get_args(Failing))


def test_a_run_that_waits_for_the_kernels_says_so_unless_it_is_to_be_quiet(paths: Path, tmp_path: Path) -> None:
    datalog("run", paths, "-F", tmp_path, "--quiet")
    assert jit.on_wait is None
    datalog("run", paths, "-F", tmp_path)
    with redirect_stderr(StringIO()) as errors:
        assert jit.on_wait is not None
        jit.on_wait()
    assert errors.getvalue() == "compiling the kernels (once, some seconds) …\n"


def test_columns_are_as_wide_as_what_they_show(tmp_path: Path) -> None:
    program = tmp_path / "p.dl"
    program.write_text('.decl p(word: symbol, n: number)\n.output p\np("日本", 1). p("é", -20). p("tab\\t", 3).\n')
    assert datalog("run", program).out == "p (3 rows)\nword     n\n-----  ---\ntab\\t    3\né      -20\n日本     1\n"
