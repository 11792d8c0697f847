"""An installed wheel works far from the checkout: the README's first program, through the `datalog` command.

The wheel is installed into a fresh environment, which borrows the running one's dependencies by a path file: they are
the same versions, and nothing is downloaded twice.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.examples.readme import Block, blocks_of
from tests.unit.test_readme import README, fences

MODULES = """
import json, sys, datalog.maintain.engine, datalog.syntax
print(json.dumps([module.__file__ for name, module in sys.modules.items() if name.split(".")[0] == "datalog"]))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, as anybody builds it."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--outdir", str(folder), str(ROOT)], check=True, capture_output=True, text=True
    )
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of a fresh environment that the wheel is installed in."""
    home = tmp_path_factory.mktemp("installed")
    venv.create(home, with_pip=False, symlinks=True)
    (packages,) = home.glob("lib/python*/site-packages")
    (packages / "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n", encoding="utf-8")
    python = home / "bin" / "python"
    arguments = ["--no-deps", "--no-index", "--ignore-installed", "--no-warn-script-location", "--quiet"]
    subprocess.run([python, "-I", "-m", "pip", "install", *arguments, str(wheel)], check=True, cwd=home)
    return python.parent


@pytest.fixture
def away(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder outside the checkout, and an environment that does not lead there."""
    monkeypatch.delenv("PYTHONPATH")
    assert not tmp_path.is_relative_to(ROOT)
    return tmp_path


def test_the_wheel_holds_the_grammar_and_no_tests(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        assert archive.read("datalog/syntax/datalog.lark") == (ROOT / "grammar" / "datalog.lark").read_bytes()
    assert "datalog/py.typed" in names, "or type checkers do not read the annotations"
    sources = {path.relative_to(ROOT).as_posix() for path in (ROOT / "datalog").rglob("*.py")}
    assert sources <= set(names)
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"datalog"}


def test_each_kind_of_dataframe_has_an_extra(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        metadata = next(archive.read(name).decode() for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
    extras = {line.removeprefix("Provides-Extra: ") for line in metadata.splitlines() if line.startswith("Provides-Extra: ")}
    assert extras >= {"pandas", "polars"}
    assert "Requires-Dist: pandas>=2.2; extra == 'pandas'" in metadata


def test_the_readmes_program_runs_outside_the_checkout(installed: Path, away: Path) -> None:
    for name, body in fences("dl") + fences("text"):
        (away / name).write_text(body, encoding="utf-8")
    answer, changes = blocks_of(README)[:2]
    assert "--stream" in changes.commands
    for block in (answer, changes):
        block.check(away, f"{installed}{os.pathsep}{os.environ['PATH']}")


def test_nothing_is_imported_from_the_checkout(installed: Path, away: Path) -> None:
    done = subprocess.run([installed / "python", "-c", MODULES], cwd=away, capture_output=True, text=True, check=True)
    files = [Path(file) for file in json.loads(done.stdout)]
    assert len(files) > 20
    assert all(file.is_relative_to(installed.parent) for file in files)


def test_the_command_and_the_distribution_say_the_same_version(installed: Path, wheel: Path, away: Path) -> None:
    version = wheel.name.split("-")[1]
    Block("datalog --version", f"datalog, version {version}\n").check(away, f"{installed}{os.pathsep}{os.environ['PATH']}")
