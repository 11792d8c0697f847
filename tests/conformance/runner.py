"""Runs tests in processes that are copies of this one, which has everything imported: start-up costs nothing, and nothing is shared.

A process that takes too long is ended, whatever it does.
"""

from __future__ import annotations

import hashlib
import io
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from multiprocessing.connection import wait
from pathlib import Path
from typing import IO, Protocol

from datalog.cli import main
from tests.conformance.judge import Ran, Verdict, judge
from tests.conformance.stream import stream_everything
from tests.conformance.suite import SuiteTest

LIMIT = 20.0  # seconds for a test
FUNCTORS = Path(tempfile.gettempdir()) / "datalog-conformance-functors"
_FORK = multiprocessing.get_context("fork")


class Task(Protocol):
    """What a process does for a test, in its working folder; gives the exit status."""

    def __call__(self, test: SuiteTest) -> int: ...


DIALECT = ("--set", "dialect=souffle")  # what Soufflé refuses has a meaning otherwise, and a number that leaves 64 bits none


@dataclass(frozen=True, slots=True)
class Engine:
    """Runs a test by this engine's command line, with further options for every test; incrementally if there is a seed."""

    options: tuple[str, ...] = ()
    seed: int | None = None

    def __call__(self, test: SuiteTest) -> int:
        if self.seed is not None:
            stream_everything(test.name, self.seed)
        try:
            main(["run", "--quiet", *DIALECT, *self.options, *arguments(test)], prog_name="datalog")
        except SystemExit as end:
            return end.code if isinstance(end.code, int) else int(end.code is not None)
        raise AssertionError("the command line ended without a status")


def run_souffle(test: SuiteTest) -> int:
    """Runs a test by the `souffle` on the PATH."""
    return subprocess.run(["souffle", *arguments(test)], stdin=subprocess.DEVNULL).returncode


def arguments(test: SuiteTest) -> list[str]:
    """What Soufflé's command line and ours are called with."""
    library = ["-L", str(functors_of(test))] if test.kind == "functor" else []
    facts = ["-F", str(test.facts)] if test.facts.is_dir() else []
    return [*test.options, *library, "-D", "-" if test.prints else ".", *facts, str(test.program)]


def run_tests(
    tests: Iterable[SuiteTest], task: Task, jobs: int = 1, limit: float = LIMIT, judged: bool = True
) -> Iterator[tuple[SuiteTest, float, Verdict]]:
    """Each test with its seconds and verdict, as they end. Without judgement the status alone decides."""
    waiting = iter(tests)
    running: dict[int, _Process] = {}
    while True:
        while len(running) < jobs and (test := next(waiting, None)) is not None:
            process = _Process(test, task)
            running[process.sentinel] = process
        if not running:
            return
        now = time.perf_counter()
        wait(list(running), timeout=max(0.0, min(process.began + limit - now for process in running.values())))
        now = time.perf_counter()
        for process in list(running.values()):
            if not process.alive or now >= process.began + limit:
                del running[process.sentinel]
                yield process.test, now - process.began, process.end(judged)


class _Process:
    def __init__(self, test: SuiteTest, task: Task) -> None:
        if test.kind == "functor":
            functors_of(test)  # compiled once, and not in the time of the test
        self.test, self._place = test, Path(tempfile.mkdtemp(prefix="conformance-"))
        self._folder = self._place / "made"
        self._folder.mkdir()
        self._process = _FORK.Process(target=_perform, args=(test, task, self._place))
        self.began = time.perf_counter()
        self._process.start()
        self.sentinel = self._process.sentinel

    @property
    def alive(self) -> bool:
        return self._process.is_alive()

    def end(self, judged: bool) -> Verdict:
        """What comes of it; ends it if it still runs."""
        status = None if self._process.is_alive() else self._process.exitcode
        self._process.kill()
        self._process.join()
        ran = Ran(status, time.perf_counter() - self.began, self._place / "out", self._place / "err", self._folder)
        try:
            if judged:
                return judge(self.test, ran)
            return Verdict() if status == 0 or self.test.kind == "refused" else Verdict("refused", f"status {status}")
        finally:
            shutil.rmtree(self._place)


def _perform(test: SuiteTest, task: Task, place: Path) -> None:
    """In the new process: have standard streams of its own, and end with the status of the task."""
    os.chdir(place / "made")
    out, err = open(place / "out", "wb"), open(place / "err", "wb")  # noqa: SIM115, PTH123
    for stream, number in ((out, 1), (err, 2)):
        os.dup2(stream.fileno(), number)
    with open(os.devnull) as nothing:  # noqa: PTH123
        os.dup2(nothing.fileno(), 0)
    sys.stdout, sys.stderr = _text(out), _text(err)
    try:
        status = task(test)
    except BaseException:
        traceback.print_exc()
        status = 70
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status if status >= 0 else 128 - status)


def _text(stream: IO[bytes]) -> io.TextIOWrapper:
    return io.TextIOWrapper(stream, encoding="utf-8", errors="surrogateescape", line_buffering=True)


@cache
def functors_of(test: SuiteTest) -> Path:
    """A folder with the shared library of a test's C++ functions, under the name by which Soufflé looks for it; compiled if need be."""
    sources = sorted(test.program.parent.glob("*.cpp"))
    folder = FUNCTORS / hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]
    library = folder / "libfunctors.so"
    if not library.exists():
        folder.mkdir(parents=True, exist_ok=True)
        include = test.program.parents[3] / "src" / "include"
        unfinished = folder / f"{os.getpid()}.so"
        command = ["c++", "-shared", "-fPIC", "-std=c++17", "-O1", "-fwrapv", "-DRAM_DOMAIN_SIZE=64", "-DUSE_LIBFFI", f"-I{include}"]
        subprocess.run([*command, *map(str, sources), "-o", str(unfinished)], check=True, capture_output=True)
        unfinished.rename(library)
    return folder


def warm() -> None:
    """Import what a run imports and compile the kernels, so that the copies of this process need not."""
    from datalog.database import Database
    from datalog.kernels import jit, machine_code

    if jit.has_numba:
        jit.patience = 0.0
        machine_code.compile_all()
    text = """.type R = [a: number, b: symbol]
.decl e(x: number, y: number) .decl p(x: number, y: number) .decl c(n: number) .decl r(v: R) .output p
e(1, 2). e(2, 3). p(x, y) :- e(x, y). p(x, z) :- p(x, y), e(y, z). c(n) :- n = count : { p(_, _) }. r([x, "a"]) :- e(x, _), !p(x, 1)."""
    database = Database(text, threads=1)
    with database.transaction() as transaction:
        transaction.insert("e", [(3, 4)])
        transaction.delete("e", [(1, 2)])
