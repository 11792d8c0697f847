"""The parser's tables are kept between processes, and what is wrong with the kept ones harms nobody."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CODE = """
import lark.lark
made = []
build = lark.lark.Lark._build_parser
lark.lark.Lark._build_parser = lambda self: made.append(1) or build(self)
from datalog.errors import ProgramError
from datalog.syntax.parser import parse
print(parse("p(x) :- q(x, y), n = count : { r(y) }, n > 2. // a note"))
try:
    parse("p(x :- q(x).")
except ProgramError as error:
    print(error)
print(len(made))
"""


def parsed(folder: Path) -> tuple[str, bool]:
    """A tree and an error as a process of its own prints them, and whether it had to make the tables."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder), "TMPDIR": str(folder.parent)}
    result = subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")
    text, made = result.stdout.rstrip("\n").rsplit("\n", 1)
    return text, made != "0"


def test_kept_tables_parse_and_explain_as_new_ones_do(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    new = parsed(folder)
    (kept,) = folder.iterdir()
    assert new == (parsed(folder)[0], True)
    assert parsed(folder) == (new[0], False)
    assert list(folder.iterdir()) == [kept]


@pytest.mark.parametrize("keep", [0, 10, -1], ids=["empty", "begun", "cut"])
def test_broken_tables_are_made_anew(tmp_path: Path, keep: int) -> None:
    folder = tmp_path / "cache"
    new, _ = parsed(folder)
    (kept,) = folder.iterdir()
    kept.write_bytes(kept.read_bytes()[:keep])
    assert parsed(folder) == (new, True)
    assert parsed(folder) == (new, False)


def test_without_a_folder_to_keep_them_the_tables_are_made(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("not a folder")
    assert parsed(tmp_path / "cache")[1]
