"""What the suite asks of an engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import ClassVar, Literal

from tests.bench.peers.changes import Change, Row, read_rows
from tests.bench.peers.rules import parse
from tests.bench.peers.workloads import Problem, Workload

Follows = Literal["incremental", "recomputes", "inserts only"]


@dataclass(frozen=True, slots=True)
class Task:
    """A workload, the folder of its facts, and how many threads to use."""

    workload: Workload
    place: Path
    threads: int

    @property
    def problem(self) -> Problem:
        """The problem; where rules come with the data, with these."""
        own = self.place / "rules.dl"
        problem = self.workload.problem
        return replace(problem, rules=parse(own.read_text(encoding="utf-8"))) if own.exists() else problem


class Engine:
    """An engine at one task. Answers are read after everything has been measured."""

    problems: ClassVar[frozenset[str]] = frozenset({"triangles", "closure", "points-to", "aggregates", "galen"})
    changing: ClassVar[frozenset[str]] = problems  # problems that it follows changes of
    follows: Follows = "recomputes"
    apart: ClassVar[bool] = True  # whether `load` and `evaluate` can be told apart
    compiles: ClassVar[bool] = False  # whether the first run at a task makes something that the next ones find

    def __init__(self, task: Task) -> None:
        self.task, self.problem, self.place = task, task.problem, task.place
        self._given: dict[str, set[Row]] = {}

    @classmethod
    def version(cls) -> str:
        """What is measured. Raises ImportError or OSError where it is not installed."""
        raise NotImplementedError

    def warm_up(self) -> None:
        """What happens once in the life of a process and is no part of the figures."""

    def run(self) -> tuple[float | None, float | None]:
        """Load and evaluate; the seconds of each, or None where they are one."""
        start = perf_counter()
        self.load()
        loaded = perf_counter()
        self.evaluate()
        return (loaded - start, perf_counter() - loaded) if self.apart else (None, None)

    def load(self) -> None:
        """Read the facts into the engine."""

    def evaluate(self) -> None:
        """Compute the result, and hold it."""
        raise NotImplementedError

    def answer(self) -> tuple[int, ...]:
        """What the result comes to."""
        raise NotImplementedError

    def prepare_changes(self) -> None:
        """Get ready for transactions. Not measured."""

    def apply(self, changes: Sequence[Change]) -> int | None:
        """Apply one transaction and bring the result up to date; how many rows of it changed, if the engine says so."""
        raise NotImplementedError

    def close(self) -> None:
        """End what runs besides."""

    def given(self) -> dict[str, set[Row]]:
        """The given rows as Python sets, for engines that start anew from them after each change."""
        if not self._given:
            self._given = {name: set(read_rows(self.place / f"{name}.facts")) for name in self.problem.given}
        return self._given

    def change_given(self, changes: Sequence[Change]) -> None:
        """Change these sets."""
        for sign, name, row in changes:
            (self._given[name].add if sign > 0 else self._given[name].discard)(row)
