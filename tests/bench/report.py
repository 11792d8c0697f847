"""The report of a run: tables for the terminal, and the same figures as JSON for comparisons between runs."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.bench.measure import Stream

Figure = str | int | float | None
Format = Callable[[float], str]


def seconds(value: float) -> str:
    """`1.2 s`, `34 ms`, `560 µs`"""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value / 1e-6:.0f} µs"


def count(value: float) -> str:
    return f"{value:,.0f}"


def megabytes(value: float) -> str:
    return f"{value / 1e6:.1f} MB"


def times(value: float) -> str:
    """A ratio: `2.3×`, or `1/4567` for one far below 1."""
    if 0 < value < 0.05:
        return f"1/{1 / value:.0f}"
    return f"{value:.2f}×"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table; numbers in it are shown by `show`."""

    name: str
    show: Format = count

    def text(self, figure: Figure) -> str:
        if figure is None:
            return "–"
        return figure if isinstance(figure, str) else self.show(figure)


@dataclass(frozen=True, slots=True)
class Aim:
    """A figure beside what was aimed at."""

    what: str
    figure: float
    limit: float
    show: Format

    @property
    def met(self) -> bool:
        return self.figure <= self.limit


@dataclass(slots=True)
class Report:
    """Collects what the benchmarks find and prints it as it comes."""

    console: Console
    benches: dict[str, dict[str, object]] = field(default_factory=dict)
    _bench: str = ""

    def begin(self, name: str, summary: str) -> None:
        """A benchmark starts."""
        self._bench = name
        self.benches[name] = {"tables": {}, "aims": [], "notes": []}
        self.console.rule(f"{name}: {summary}", align="left")

    def table(self, title: str, columns: Sequence[Column], rows: Sequence[Sequence[Figure]]) -> None:
        """Print and keep a table."""
        shown = Table(title=title, title_justify="left", title_style="bold")
        for column in columns:
            shown.add_column(column.name, justify="right" if column is not columns[0] else "left")
        for row in rows:
            shown.add_row(*(column.text(figure) for column, figure in zip(columns, row, strict=True)))
        self.console.print(shown)
        names = [column.name for column in columns]
        self._keep("tables")[title] = [dict(zip(names, row, strict=True)) for row in rows]

    def aim(self, aim: Aim) -> None:
        """Print and keep whether an aim was met."""
        verdict = "[green]met[/]" if aim.met else "[red]missed[/]"
        self.console.print(f"{verdict}  {aim.what}: {aim.show(aim.figure)}, the aim is at most {aim.show(aim.limit)}")
        self._list("aims").append({"aim": aim.what, "figure": aim.figure, "limit": aim.limit, "met": aim.met})

    def note(self, text: str) -> None:
        """Print and keep a remark."""
        self.console.print(text, highlight=False)
        self._list("notes").append(text)

    def keep(self, name: str, figures: object) -> None:
        """Keep what belongs to the figures of a benchmark and is not printed."""
        self.benches[self._bench][name] = figures

    def save(self, path: Path) -> None:
        """Write all figures as JSON."""
        machine = {"python": platform.python_version(), "machine": platform.machine(), "system": platform.system()}
        path.write_text(json.dumps({"machine": machine, "benches": self.benches}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    def _keep(self, part: str) -> dict[str, object]:
        kept = self.benches[self._bench][part]
        assert isinstance(kept, dict)
        return kept

    def _list(self, part: str) -> list[object]:
        kept = self.benches[self._bench][part]
        assert isinstance(kept, list)
        return kept


STREAM_COLUMNS = (
    Column("transactions"),
    Column("first", seconds),
    Column("median", seconds),
    Column("p99", seconds),
    Column("median steps"),
    Column("most steps"),
)


def stream_row(stream: Stream) -> tuple[int, float, float, float, int, int]:
    """The cells of STREAM_COLUMNS."""
    return len(stream), stream.first.seconds, stream.median, stream.p99, stream.median_steps, stream.most_steps
