"""Every command in the examples' READMEs prints what the README says."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.examples.conftest import EXAMPLES, WholeRun
from tests.examples.readme import blocks_of

NAMES = sorted(readme.parent.name for readme in EXAMPLES.glob("*/README.md"))


@pytest.mark.parametrize("name", NAMES)
def test_the_commands_print_what_the_readme_says(name: str, search_path: str, tmp_path: Path) -> None:
    folder = shutil.copytree(EXAMPLES / name, tmp_path / name)
    for block in blocks_of(folder / "README.md"):
        if not block.needs_data:
            block.check(folder, search_path)


@pytest.mark.parametrize("name", NAMES)
def test_the_commands_on_the_large_data_print_what_the_readme_says(name: str, whole_run: WholeRun) -> None:
    whole_run(name)  # checks each block


def test_each_example_has_commands_and_a_line_in_the_index() -> None:
    folders = sorted({program.parent.name for program in EXAMPLES.glob("*/*.dl")})
    assert folders == NAMES
    assert all(blocks_of(EXAMPLES / name / "README.md") for name in NAMES)
    index = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert all(f"[{name}]({name})" in index for name in NAMES)


def test_the_programs_are_formatted() -> None:
    programs = sorted(str(path) for path in EXAMPLES.glob("*/*.dl"))
    done = subprocess.run([sys.executable, "-m", "datalog", "fmt", "--check", *programs], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
