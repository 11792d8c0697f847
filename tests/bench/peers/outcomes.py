"""What runs found: figures by engine and workload, and the file that keeps them from one call of the suite to the next."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.bench.measure import Wrong
from tests.bench.peers.workloads import Workload

About = dict[str, dict[str, object]]
"""What the figures were taken on and with: `machine`, `versions`, `missing`, `settings`."""


@dataclass(frozen=True, slots=True)
class Run:
    """One engine at one workload: what its process printed, and the seconds that the process took."""

    figures: Mapping[str, object]
    wall: float

    def number(self, name: str) -> float | None:
        found = self.figures.get(name)
        return float(found) if isinstance(found, int | float) else None

    @property
    def per_row(self) -> float | None:
        """Seconds for each row that came or went, among the given ones and in the result."""
        spent, changed = self.number("spent"), self.number("changed")
        return None if spent is None or changed is None else spent / (changed + (self.number("given") or 0))


@dataclass(slots=True)
class Outcome:
    """The runs of an engine at a workload; ours in turn with them; or why there are none."""

    engine: str
    runs: list[Run] = field(default_factory=list)
    beside: list[Run] = field(default_factory=list)  # ours, between these
    failure: str = ""

    def best(self, workload: Workload, runs: Sequence[Run] | None = None) -> float | None:
        """Seconds of the best run: of the median transaction, of the evaluation, or of all where that is what can be compared."""
        runs = self.runs if runs is None else runs
        return min((figure for run in runs if (figure := _figure(workload, run, self.whole)) is not None), default=None)

    def least(self, name: str) -> float | None:
        """The least of one figure."""
        return min((figure for run in self.runs if (figure := run.number(name)) is not None), default=None)

    @property
    def whole(self) -> bool:
        """Whether the engine cannot tell its evaluation from loading."""
        return any(run.number("evaluation") is None for run in self.runs)

    def ratio(self, workload: Workload) -> float | None:
        """The peer's time to ours, above 1 where ours is faster."""
        theirs, ours = self.best(workload), self.best(workload, self.beside)
        return theirs / ours if theirs is not None and ours else None

    @property
    def peak(self) -> float | None:
        return max((run.number("peak") or 0.0 for run in self.runs), default=None)


def _figure(workload: Workload, run: Run, whole: bool) -> float | None:
    if workload.changes:
        return run.number("median")
    if workload.measure == "wall":
        return run.wall
    return run.number("total" if whole or workload.measure == "total" else "evaluation")


Results = Mapping[str, Sequence[Outcome]]
"""By workload, the outcomes; ours first."""


@dataclass(slots=True)
class Kept:
    """All that is known so far, and the file that has it, if any: written after each outcome, so that no run is lost."""

    path: Path | None
    about: About = field(default_factory=dict)
    results: dict[str, list[Outcome]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Kept:
        """What a file has."""
        found = json.loads(path.read_text(encoding="utf-8"))
        results = {name: [_outcome(one) for one in outcomes] for name, outcomes in found.pop("results").items()}
        return cls(path, found, results)

    @classmethod
    def open(cls, path: Path | None, about: About) -> Kept:
        """Go on with a file, if it is there. Raises Wrong if its figures are of another machine, or of other settings."""
        kept = cls.read(path) if path is not None and path.exists() else cls(path)
        for part in ("machine", "settings"):
            if kept.about and kept.about[part] != about[part]:
                raise Wrong(f"{path} has figures of another run ({part}: {kept.about[part]}, and now {about[part]}): remove it")
        for part, found in about.items():
            kept.about[part] = {**kept.about.get(part, {}), **found}
        return kept

    def find(self, workload: str, engine: str) -> Outcome | None:
        return next((one for one in self.results.get(workload, ()) if one.engine == engine), None)

    def add(self, workload: str, outcome: Outcome) -> None:
        """Keep an outcome, in the place of an older one."""
        outcomes = self.results.setdefault(workload, [])
        outcomes[:] = [one for one in outcomes if one.engine != outcome.engine] + [outcome]
        self.write()

    def write(self) -> None:
        if self.path is not None:
            results = {name: [_plain(one) for one in outcomes] for name, outcomes in self.results.items()}
            new = self.path.with_name(f"{self.path.name}.part")
            new.write_text(json.dumps({**self.about, "results": results}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
            new.replace(self.path)


def _plain(outcome: Outcome) -> dict[str, object]:
    runs = {name: [{"wall": run.wall, **run.figures} for run in getattr(outcome, name)] for name in ("runs", "beside")}
    return {"engine": outcome.engine, **runs, "failure": outcome.failure}


def _outcome(found: Mapping[str, list[dict[str, object]]]) -> Outcome:
    return Outcome(str(found["engine"]), _runs(found["runs"]), _runs(found["beside"]), str(found["failure"]))


def _runs(found: Sequence[Mapping[str, object]]) -> list[Run]:
    return [Run({name: value for name, value in run.items() if name != "wall"}, float(str(run["wall"]))) for run in found]
