"""Kernels as plain Python, as machine code, and switched in the middle: equal answers, and no compilation for small programs."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from signal import SIGTERM
from time import monotonic, sleep

import numpy as np
import pytest

import datalog
from datalog.kernels import jit, machine_code
from datalog.kernels.jit import INT, READ1, READ2, WRITE1, Budget, Kernel, kernel
from tests.kernels.blocks import COMPILED, Block

pytestmark = pytest.mark.skipif(not COMPILED, reason="without compilation there is nothing to switch to")

PROGRAM = """
.decl edge(x: number, y: number)
.decl path(x: number, y: number)
.decl far(x: number, n: number)
.decl blocked(x: number)
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), edge(y, z), !blocked(z).
far(x, n) :- edge(x, _), n = sum y : { path(x, y) }.
"""


def answers() -> list[object]:
    """What a program gives on random graphs, with changes, proofs and a failing computation on the way."""
    random = np.random.default_rng(7)
    db = datalog.Database(PROGRAM)
    given: list[object] = []
    for _ in range(4):
        with db.transaction() as transaction:
            transaction.insert("edge", [tuple(row) for row in random.integers(0, 25, (20, 2)).tolist()])
            transaction.delete("edge", list(db["edge"])[::5])
            transaction.insert("blocked", [(int(random.integers(25)),)])
        given += [transaction.changes[name] for name in ("path", "far") if name in transaction.changes]
    given += [list(db["path"]), list(db["far"]), db.steps, str(db.explain(f"path{next(iter(db['path']))}"))]
    db.check()
    return given


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> list[Kernel]:
    """All kernels as they are when a process begins."""
    modules = [module for name, module in sys.modules.items() if name.startswith("datalog.kernels.")]
    kernels = list({id(value): value for module in modules for value in vars(module).values() if isinstance(value, Kernel)}.values())
    for one in kernels:
        monkeypatch.setattr(one, "_run", one._at_first)
    monkeypatch.setattr(jit, "_spent", 0.0)
    return kernels


def plain(kernels: list[Kernel]) -> int:
    return sum(one._run == one._at_first for one in kernels)


def test_plain_kernels_machine_code_and_a_switch_in_the_middle_give_equal_answers(
    fresh: list[Kernel], monkeypatch: pytest.MonkeyPatch
) -> None:
    given, left = [], []
    for patience in (float("inf"), 0.02, 0.0):  # the last leaves none plain that is called
        monkeypatch.setattr(jit, "patience", patience)
        given.append(answers())
        left.append(plain(fresh))
    assert given[0] == given[1] == given[2]
    assert left[0] == len(fresh)
    assert left[2] < len(fresh) and left[2] <= left[1]


@pytest.mark.parametrize("slice", [1, 2, 7])
def test_answers_do_not_depend_on_where_plain_joins_pause(fresh: list[Kernel], monkeypatch: pytest.MonkeyPatch, slice: int) -> None:
    monkeypatch.setattr(jit, "patience", float("inf"))
    expected = answers()
    monkeypatch.setattr(jit, "SLICE", slice)
    assert answers() == expected


def total(numbers: Block, out: Block) -> int:
    out[0] = numbers.sum()
    return len(numbers)


def test_a_kernel_is_plain_until_the_patience_is_over_or_a_block_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_code, "is_ready", lambda kernel, wait: True)
    monkeypatch.setattr(machine_code, "load", lambda kernel: lambda *arguments: "machine code")
    monkeypatch.setattr(jit, "patience", 100.0)
    out = np.zeros(1, np.int64)

    def fresh() -> object:
        return kernel(INT(READ1, WRITE1))(total)

    def call(one: object, rows: int) -> object:
        assert isinstance(one, Kernel)
        return one(np.ones(rows, np.int64), out)

    one = fresh()
    monkeypatch.setattr(jit, "_spent", 99.0)
    assert (call(one, 5), call(one, jit.LARGE)) == (5, jit.LARGE)
    assert call(one, jit.LARGE + 1) == "machine code"
    assert call(one, 5) == "machine code", "it does not go back"
    one = fresh()
    monkeypatch.setattr(jit, "_spent", 100.0)
    assert call(one, 5) == "machine code"


def test_while_others_compile_small_calls_go_on_and_huge_ones_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def is_ready(kernel: Kernel, wait: bool) -> bool:
        asked.append(wait)
        return wait

    monkeypatch.setattr(machine_code, "is_ready", is_ready)
    monkeypatch.setattr(machine_code, "load", lambda kernel: lambda *arguments: "machine code")
    monkeypatch.setattr(jit, "patience", 0.01)
    monkeypatch.setattr(jit, "_spent", 1.0)
    one, out = kernel(INT(READ1, WRITE1))(total), np.zeros(1, np.int64)
    for rows, result in ((5, 5), (jit.HUGE, jit.HUGE), (jit.HUGE + 1, "machine code"), (5, "machine code")):
        assert one(np.ones(rows, np.int64), out) == result
    assert asked == [False, False, True]


def test_arguments_that_are_not_the_work_make_no_call_large(monkeypatch: pytest.MonkeyPatch) -> None:
    def look(pages: Block, rows: Block) -> int:
        return len(rows)

    monkeypatch.setattr(jit, "patience", 100.0)
    monkeypatch.setattr(jit, "_spent", 0.0)
    one = kernel(INT(READ2, READ2))(look)
    assert one(np.zeros((jit.LARGE + 1, 1), np.int64), np.zeros((3, 1), np.int64)) == 3


def test_a_plain_kernel_with_a_budget_gets_a_slice_of_it_and_the_caller_his_budget_back(monkeypatch: pytest.MonkeyPatch) -> None:
    def work(rows: Block, state: Block) -> int:
        done = state[1] - state[0]
        state[0] = state[1]
        return int(done)

    monkeypatch.setattr(jit, "patience", 100.0)
    one = kernel(INT(READ1, WRITE1), Budget(steps=0, limit=1))(work)
    state = np.array([10, 10 + jit.SLICE + 5], np.int64)
    rows = np.zeros(1, np.int64)
    assert [one(rows, state), one(rows, state)] == [jit.SLICE, 5]
    assert state.tolist() == [10 + jit.SLICE + 5] * 2


def test_failed_compilers_leave_it_to_the_caller(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(machine_code, "_compilers", None)
    monkeypatch.setattr(machine_code, "_looks", {})
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no-python"))
    from datalog.kernels.lookup import lookup

    assert isinstance(lookup, Kernel)
    assert machine_code.is_ready(lookup, wait=False)
    assert machine_code.is_ready(lookup, wait=True)
    assert machine_code._compilers == []


def script(folder: Path, nodes: int, patience: str) -> list[int | str]:
    """A chain's closure in a process with a kernel cache of its own: its pairs, compilers that it started, and Numba if it was imported."""
    code = f"""
import sys, datalog
db = datalog.Database("path(x, y) :- edge(x, y). path(x, z) :- path(x, y), edge(y, z).")
with db.transaction() as transaction:
    transaction.insert("edge", [(node, node + 1) for node in range({nodes})])
machine_code = sys.modules.get("datalog.kernels.machine_code")
print(len(db["path"]), *[process.pid for process in machine_code._compilers] if machine_code else (), *{{"numba"}} & set(sys.modules))
"""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder), "DATALOG_PATIENCE": patience}
    result = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return [int(word) if word.isdecimal() else word for word in result.stdout.split()]


def test_a_small_program_neither_compiles_nor_imports_numba(tmp_path: Path) -> None:
    assert script(tmp_path, 10, "60") == [55]
    assert not list(tmp_path.rglob("*.nb?"))


@pytest.mark.skipif(sys.platform == "win32", reason="the test ends processes by signals")
def test_a_larger_program_does_not_wait_for_the_compilers_and_they_go_on_after_it(tmp_path: Path) -> None:
    pairs, *compilers = script(tmp_path, 30, "0.001")
    assert pairs == 465
    assert compilers and "numba" not in compilers
    try:
        until = monotonic() + 300
        while not list(tmp_path.rglob("*.nbc")):
            assert monotonic() < until, "the compilers keep nothing"
            sleep(0.1)
    finally:
        for process in compilers:
            assert isinstance(process, int)
            with suppress(ProcessLookupError):
                os.kill(process, SIGTERM)
