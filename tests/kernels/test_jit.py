"""Compilation and its cache: kept, private, never stale, and not needed."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from datalog.kernels import jit
from tests.kernels.blocks import COMPILED

NAMES = sorted(path.stem for path in jit.HERE.glob("*.py") if path.stem not in ("__init__", "jit"))
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
    assert used <= jit.sources(name)
    assert name in jit.sources(name)


@compiled_only
def test_an_edit_of_a_called_file_changes_the_directory_of_its_callers_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "callee.py").write_text("ONE = 1\n")
    (tmp_path / "caller.py").write_text("from datalog.kernels.callee import ONE\n")
    (tmp_path / "other.py").write_text("")
    monkeypatch.setattr(jit, "HERE", tmp_path)
    before = [jit.cache_directory(name) for name in ("callee", "caller", "other")]
    assert len(set(before)) == 3
    (tmp_path / "callee.py").write_text("ONE = 2\n")
    after = [jit.cache_directory(name) for name in ("callee", "caller", "other")]
    assert [old == new for old, new in zip(before, after, strict=True)] == [False, False, True]


@compiled_only
def test_kernels_are_cached_where_the_user_says_and_found_there_again(tmp_path: Path) -> None:
    code = """
from datalog.kernels import jit
before = jit.numba.config.CACHE_DIR
import datalog.kernels.lookup as lookup
assert jit.numba.config.CACHE_DIR == before
print(sum(lookup.lookup.stats.cache_hits.values()), sum(lookup.lookup.stats.cache_misses.values()), jit.is_cached())
"""
    assert run(code, NUMBA_CACHE_DIR=str(tmp_path)).split() == ["0", "1", "False"]
    assert list(tmp_path.rglob("*.nbi"))
    assert run(code, NUMBA_CACHE_DIR=str(tmp_path)).split() == ["1", "0", "False"]


@compiled_only
def test_the_kernels_are_cached_when_each_file_has_compiled_kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit, "HERE", tmp_path)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    for name in ("one", "two"):
        (tmp_path / f"{name}.py").write_text(f"@kernel(INT(INT))\ndef {name}(x): return x\n")
    (tmp_path / "constants.py").write_text("ONE = 1\n")
    assert not jit.is_cached()
    for name in ("one", "two"):
        directory = jit.cache_directory(name) / "below"
        directory.mkdir(parents=True)
        (directory / "index.nbi").touch()
        assert jit.is_cached() == (name == "two")


@compiled_only
def test_a_home_that_cannot_be_written_gives_way_to_a_private_temporary_directory(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("not a directory")
    (tmp_path / "temporary").mkdir()
    environment = {"XDG_CACHE_HOME": str(tmp_path / "home"), "NUMBA_CACHE_DIR": "", "TMPDIR": str(tmp_path / "temporary")}
    directory = Path(run("from datalog.kernels import jit; print(jit.cache_directory('layout'))", **environment).strip())
    assert directory.is_relative_to(tmp_path / "temporary")
    assert directory.parent.stat().st_mode & 0o077 == 0


def test_without_numba_kernels_are_plain_python() -> None:
    code = """
import sys
sys.modules["numba"] = None
from datalog.kernels import jit
from datalog.store.btree import SET, BTree
from datalog.store.pool import PagePool
import numpy as np
assert jit.numba is None and jit.is_cached()
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
