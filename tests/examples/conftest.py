"""What the tests of the examples share: the scripts of the examples, and runs of the commands in their READMEs."""

from __future__ import annotations

import runpy
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.examples.readme import blocks_of

EXAMPLES = Path(__file__).parents[2] / "examples"

WholeRun = Callable[[str], Path]


def names_of(script: str) -> dict[str, Any]:
    """The names that a script of an example defines; its main part does not run."""
    return runpy.run_path(str(EXAMPLES / script))


@pytest.fixture(scope="session")
def whole_run(data_dir: Path, search_path: str, tmp_path_factory: pytest.TempPathFactory) -> WholeRun:
    """Checks the blocks of an example that need the large data, once in a session, and returns the folder that they ran in."""

    @cache
    def run(name: str) -> Path:
        folder = shutil.copytree(EXAMPLES / name, tmp_path_factory.mktemp("whole") / name)
        for block in blocks_of(folder / "README.md"):
            if block.needs_data:
                block.check(folder, search_path)
        return folder

    return run
