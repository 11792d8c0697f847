"""Wrong programs of every kind, and the lines on which something is wrong with them: those that Soufflé 2.5 names, no more and no fewer.

Each file of tests/rejected/lines holds programs under lines of the form `//! WHAT IS WRONG: LINES`.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from datalog.errors import ProgramError
from datalog.program import compile_program

FOLDER = Path(__file__).parents[1] / "rejected" / "lines"
HEADING = re.compile(r"^//! (.*): ([0-9, ]+)\n", re.MULTILINE)


def cases() -> list[tuple[str, list[int], str]]:
    found = []
    for path in sorted(FOLDER.glob("*.dl")):
        _, *parts = HEADING.split(path.read_text(encoding="utf-8"))
        found += [
            (f"{path.stem}: {what}", [int(line) for line in lines.split(",")], text)
            for what, lines, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True)
        ]
    return found


@pytest.mark.parametrize(("lines", "text"), [pytest.param(lines, text, id=what) for what, lines, text in cases()])
def test_the_lines_of_all_errors_are_named(lines: list[int], text: str) -> None:
    with pytest.raises(ProgramError) as refused:
        compile_program(text, "wrong.dl")
    assert sorted({one.line for one in refused.value.diagnostics}) == lines
    assert all(one.text == text.split("\n")[one.line - 1] for one in refused.value.diagnostics)


def test_the_programs_are_there() -> None:
    assert len(cases()) > 150
