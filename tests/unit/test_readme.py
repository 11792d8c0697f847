"""The README is true: its files, commands, outputs and Python lines, in the order in which they stand.

The first word of a fence is its language. After `dl`, `python` and `text` comes the name of a file; `sh` alone is run, and prints
what the `text` fence after it says; `pycon` is a doctest; `sh NAME` is for the reader's machine, and `.ci/run` runs some.
"""

from __future__ import annotations

import doctest
import re
import shutil
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.examples.readme import Block, blocks_of

README = ROOT / "README.md"
FENCE = re.compile(r"^```(\w+) ?(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RUN = blocks_of(README)


def fences(language: str, *, named: bool = True) -> list[tuple[str, str]]:
    """Names and contents of the fences in a language, those with or those without a name."""
    found = (match.groups() for match in FENCE.finditer(README.read_text(encoding="utf-8")))
    return [(name, body) for spoken, name, body in found if spoken == language and bool(name) == named]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with every file that the README shows."""
    for name, body in fences("dl") + fences("python") + fences("text"):
        (tmp_path / name).write_text(body, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("block", RUN, ids=[block.commands.split("\n")[0] for block in RUN])
def test_a_command_prints_what_the_readme_says(block: Block, folder: Path, search_path: str) -> None:
    block.check(folder, search_path)


def test_the_set_up_command_prints_what_the_text_says(search_path: str, tmp_path: Path) -> None:
    command = dict(fences("sh"))["main-job"].removeprefix("pip install . && ")
    examples = tmp_path / "examples"
    shutil.copytree(ROOT / "examples" / "points-to", examples / "points-to")
    expected = next(block.output for block in blocks_of(examples / "points-to" / "README.md") if "grep Reachable" in block.commands)
    assert expected.count("-Reachable(") == 6
    Block(command, expected).check(tmp_path, search_path)


def test_python_answers_what_the_readme_says(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    text = "".join(body for _, body in fences("pycon", named=False))
    test = doctest.DocTestParser().get_doctest(text, {}, "README.md", str(README), 0)
    assert len(test.examples) > 5
    said: list[str] = []
    assert doctest.DocTestRunner(verbose=False).run(test, out=said.append).failed == 0, "".join(said)


def test_every_output_belongs_to_a_command() -> None:
    assert len(fences("text", named=False)) == len([block for block in RUN if block.output])
    assert len(fences("sh", named=False)) == len(RUN)


def test_the_first_screen_shows_a_program_its_answer_a_change_and_the_set_up() -> None:
    lines = README.read_text(encoding="utf-8").split("\n")
    first = "\n".join(lines[:85])
    assert first.index("```dl ") < first.index("datalog run services.dl\n") < first.index("--stream") < first.index("```sh main-job")
    assert "\n```sh tests\n" in first


def test_every_command_of_the_command_line_is_mentioned() -> None:
    from datalog.cli import main

    text = README.read_text(encoding="utf-8")
    assert all(f"datalog {name}" in text for name in main.commands)


def test_every_folder_of_the_package_is_explained() -> None:
    text = README.read_text(encoding="utf-8")
    folders = [path.parent for path in (ROOT / "datalog").glob("*/__init__.py")]
    assert len(folders) > 5
    assert all(f"| `datalog/{folder.name}` |" in text for folder in folders)
