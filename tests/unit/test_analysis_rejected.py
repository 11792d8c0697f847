"""Programs that must be refused: each `tests/rejected/analysis/NAME.dl` with exactly the messages of its `.err`."""

from __future__ import annotations

from pathlib import Path

import pytest

from datalog.analysis import analyse
from datalog.errors import ProgramError
from datalog.rewrite import lower
from datalog.syntax.parser import parse

FOLDER = Path(__file__).parents[1] / "rejected" / "analysis"
CASES = sorted(FOLDER.glob("*.dl"))


def refusal(path: Path) -> ProgramError:
    """What the analysis and the rewriting have to say against the program."""
    program = parse(path.read_text(encoding="utf-8"), path.name)
    with pytest.raises(ProgramError) as caught:
        lower(analyse(program))
    return caught.value


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_wrong_program_is_refused_with_its_messages(path: Path) -> None:
    assert str(refusal(path)) + "\n" == path.with_suffix(".err").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_every_message_has_a_place_a_line_and_a_hint(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").split("\n")
    for diagnostic in refusal(path).diagnostics:
        assert diagnostic.file == path.name
        assert diagnostic.text == lines[diagnostic.line - 1]
        assert 1 <= diagnostic.column <= len(diagnostic.text)
        assert diagnostic.hint


def test_every_message_file_has_its_program() -> None:
    assert len(CASES) >= 20
    assert {path.stem for path in FOLDER.glob("*.err")} == {path.stem for path in CASES}


def test_all_errors_of_a_file_come_in_one_run_in_the_order_of_its_text() -> None:
    diagnostics = refusal(FOLDER / "five_errors.dl").diagnostics
    assert [diagnostic.line for diagnostic in diagnostics] == [5, 6, 7, 8, 9]
    words = ["unknown predicate", "1 term here", "type mismatch", "nothing binds it", "negation through recursion"]
    assert all(word in diagnostic.message for word, diagnostic in zip(words, diagnostics, strict=True))
