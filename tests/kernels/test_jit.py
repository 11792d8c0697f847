"""Compilation of kernels and where it is kept: private, never stale, and not needed."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from datalog.kernels import machine_code
from tests.kernels.blocks import COMPILED

NAMES = sorted(path.stem for path in machine_code.HERE.glob("*.py") if path.stem not in ("__init__", "jit", "machine_code"))
compiled_only = pytest.mark.skipif(not COMPILED, reason="there is no cache without compilation")


def run(code: str, **environment: str) -> str:
    result = subprocess.run([sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize("name", NAMES)
def test_a_cache_directory_depends_on_every_kernel_file_whose_functions_are_compiled_in(name: str) -> None:
    module = importlib.import_module(f"datalog.kernels.{name}")
    homes = {getattr(value, "__module__", None) or "" for value in vars(module).values()}
    used = {home.rpartition(".")[2] for home in homes if home.startswith("datalog.kernels.")}
    assert used <= machine_code.sources(name)
    assert name in machine_code.sources(name)


@compiled_only
def test_an_edit_of_a_called_file_changes_the_directory_of_its_callers_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "callee.py").write_text("ONE = 1\n")
    (tmp_path / "caller.py").write_text("from datalog.kernels.callee import ONE\n")
    (tmp_path / "other.py").write_text("")
    monkeypatch.setattr(machine_code, "HERE", tmp_path)
    before = [machine_code.cache_directory(name) for name in ("callee", "caller", "other")]
    assert len(set(before)) == 3
    (tmp_path / "callee.py").write_text("ONE = 2\n")
    after = [machine_code.cache_directory(name) for name in ("callee", "caller", "other")]
    assert [old == new for old, new in zip(before, after, strict=True)] == [False, False, True]


@compiled_only
def test_kernels_are_kept_where_the_user_says_and_found_there_again(tmp_path: Path) -> None:
    code = """
import numba
from datalog.kernels import lookup, machine_code
before = numba.config.CACHE_DIR
for kernel in (lookup.lookup, lookup.count_prefixes):
    stats = machine_code.load(kernel).stats
    hits = sum(stats.cache_hits.values())
    print(hits, sum(stats.cache_misses.values()), machine_code.is_kept("lookup"))
assert numba.config.CACHE_DIR == before
"""
    assert run(code, NUMBA_CACHE_DIR=str(tmp_path)).split("\n") == ["0 1 False", "0 1 True", ""]
    assert list(tmp_path.rglob("*.nbi"))
    assert run(code, NUMBA_CACHE_DIR=str(tmp_path)).split("\n") == ["1 0 True", "1 0 True", ""]


@compiled_only
def test_a_module_is_kept_when_each_of_its_kernels_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_code, "HERE", tmp_path)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "two.py").write_text("\n".join(f"@kernel(INT(INT))\ndef {name}(x): return x\n" for name in ("one", "two")))
    (tmp_path / "constants.py").write_text("ONE = 1\n")
    assert machine_code.modules() == ["two"]
    directory = machine_code.cache_directory("two") / "below"
    directory.mkdir(parents=True)
    for kept, name in enumerate(("one", "two")):
        assert not machine_code.is_kept("two"), kept
        (directory / f"two.{name}.nbc").touch()
    assert machine_code.is_kept("two")


@compiled_only
def test_a_home_that_cannot_be_written_gives_way_to_a_private_temporary_directory(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("not a directory")
    (tmp_path / "temporary").mkdir()
    environment = {"XDG_CACHE_HOME": str(tmp_path / "home"), "NUMBA_CACHE_DIR": "", "TMPDIR": str(tmp_path / "temporary")}
    directory = Path(run("from datalog.cache_folder import cache_folder; print(cache_folder())", **environment).strip())
    assert directory.parent == tmp_path / "temporary"
    assert directory.stat().st_mode & 0o077 == 0


def test_without_numba_kernels_are_plain_python() -> None:
    code = """
import sys
sys.modules["numba"] = None
from datalog.kernels import jit
from datalog.store.btree import SET, BTree
from datalog.store.pool import PagePool
import numpy as np
assert not jit.has_numba
tree = BTree(PagePool(), 1)
tree.pool.begin()
root, _ = tree.apply(-1, np.arange(5).reshape(-1, 1), np.ones(5, np.int64), SET)
print(tree.size(root))
"""
    assert run(code) == "5\n"


def test_the_tests_of_trees_pass_with_the_jit_off() -> None:
    here = Path(__file__).parent
    files = [here / name for name in ("test_btree_changes.py", "test_btree_bulk.py", "test_btree_diff.py", "test_rows.py")]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *map(str, files)]
    result = subprocess.run(command, env={**os.environ, "NUMBA_DISABLE_JIT": "1"}, capture_output=True, text=True, cwd=here.parents[1])
    assert result.returncode == 0, result.stdout[-4000:]
