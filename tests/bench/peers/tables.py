"""The figures as tables: a row for each engine at each workload in the terminal, a row for each workload in the README."""

from __future__ import annotations

import os
from pathlib import Path

from tests.bench.measure import Wrong
from tests.bench.peers.engines import HOMES, OURS, OWN, TWO_THREADS
from tests.bench.peers.outcomes import Kept, Outcome
from tests.bench.peers.workloads import WORKLOADS, Workload
from tests.bench.report import Column, Figure, Report, megabytes, seconds, times

COLUMNS = (
    Column("workload"),
    Column("engine"),
    Column("way"),
    Column("loading", seconds),
    Column("evaluation", seconds),
    Column("in all", seconds),
    Column("transactions"),
    Column("median", seconds),
    Column("p99", seconds),
    Column("a changed row", seconds),
    Column("peak memory", megabytes),
    Column("to ours", times),
)
BEGIN, END = "<!-- benchmarks -->", "<!-- end of benchmarks -->"
NAMES = {TWO_THREADS: "ours, 2 threads", "duckdb": "DuckDB", "pathway": "Pathway", "kuzu": "Kuzu", "nemo": "Nemo", "souffle": "Soufflé",
         "souffle compiled": "Soufflé compiled"}  # fmt: skip


def show(report: Report, kept: Kept) -> None:
    """The long table."""
    rows = [_row(workload, outcome) for workload, outcomes in ordered(kept) for outcome in outcomes]
    small = kept.about.get("settings", {}).get("small")
    report.table(f"Beside other engines, {'small' if small else 'full'} sizes", COLUMNS, rows)


def ordered(kept: Kept) -> list[tuple[Workload, list[Outcome]]]:
    """Workloads and engines in the order of their lists."""
    places = list(HOMES)
    return [
        (workload, sorted(kept.results[workload.name], key=lambda one: places.index(one.engine)))
        for workload in WORKLOADS
        if workload.name in kept.results
    ]


def said(workload: Workload, outcome: Outcome) -> str:
    """A line for those who wait for the table."""
    best, ratio = outcome.best(workload), outcome.ratio(workload)
    return outcome.failure if best is None else seconds(best) + (f", {times(ratio)} ours" if ratio else "")


def _row(workload: Workload, outcome: Outcome) -> list[Figure]:
    if not outcome.runs:
        return [workload.name, outcome.engine, outcome.failure or "not run", *[None] * (len(COLUMNS) - 3)]
    in_all = min(run.wall for run in outcome.runs) if workload.measure == "wall" else outcome.least("total")
    way = ""
    stream: list[Figure] = [None, None, None, None]
    if workload.changes:
        best = min(outcome.runs, key=lambda run: run.number("median") or 0.0)
        way = str(best.figures["follows"])
        stream = [best.number("transactions"), best.number("median"), best.number("p99"), best.per_row]
    elif (compiling := outcome.least("compiling")) is not None:
        way = f"compiled in {seconds(compiling)}"
    ratio = outcome.ratio(workload)
    return [workload.name, outcome.engine, way, outcome.least("load"), outcome.least("evaluation"), in_all, *stream, outcome.peak, ratio]


def into_readme(path: Path, kept: Kept, chart: Path | None = None) -> None:
    """Put the table, and the chart if there is one, between the two lines of a Markdown file that are there for them.

    Raises Wrong if they are not.
    """
    text = path.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise Wrong(f"{path} has no lines {BEGIN} and {END}")
    picture = f"\n![Time of other engines to ours, by workload]({os.path.relpath(chart, path.parent)})\n" if chart is not None else ""
    path.write_text(f"{before}{begin}\n{picture}{markdown(kept)}{end}{after}", encoding="utf-8")


def markdown(kept: Kept) -> str:
    """One table, with a row for each workload and a column for each engine, and what it was measured on."""
    found = ordered(kept)
    peers = [name for name in HOMES if name != OURS and any(one.engine == name and one.runs for _, all in found for one in all)]
    lines = ["| workload | ours |" + "".join(f" {NAMES.get(name, name)} |" for name in peers) + " memory |"]
    lines.append("| --- |" + " --: |" * (len(peers) + 2))
    faster: dict[str, list[str]] = {}
    for workload, outcomes in found:
        by_name = {outcome.engine: outcome for outcome in outcomes}
        cells = [f"{workload.name}: {workload.title}", _time(workload, by_name.get(OURS))]
        for name in peers:
            outcome = by_name.get(name)
            ratio = outcome.ratio(workload) if outcome else None
            cells.append(_time(workload, outcome) + (f" ({times(ratio)})" if ratio else ""))
            if ratio is not None and ratio < 1 and name not in OWN:
                faster.setdefault(NAMES.get(name, name), []).append(f"{workload.name} ({times(1 / ratio)})")
        lines.append("| " + " | ".join([*cells, _memory(by_name)]) + " |")
    return "\n".join(["", *lines, "", *_notes(kept, faster), ""])


def _time(workload: Workload, outcome: Outcome | None) -> str:
    if outcome is None:
        return ""
    best = outcome.best(workload)
    if best is None:
        return outcome.failure if outcome.failure.startswith("more than") else "–"
    loading = outcome.whole and workload.measure == "evaluation" and not workload.changes
    return f"{seconds(best)}{'*' if loading else ''}"


def _memory(outcomes: dict[str, Outcome]) -> str:
    peaks = [outcomes[name].peak if name in outcomes else None for name in (OURS, "duckdb")]
    ours, theirs = ("" if peak is None else f"{peak / 1e6:.0f} MB" for peak in peaks)
    return f"{ours}, DuckDB {theirs}" if theirs else ours


def _notes(kept: Kept, faster: dict[str, list[str]]) -> list[str]:
    machine, settings = kept.about["machine"], kept.about["settings"]
    versions = ", ".join(f"{NAMES.get(name, name)} {version}" for name, version in kept.about["versions"].items() if name not in OWN)
    lines = [
        f"On {machine['cores']} cores of an {machine['processor']}, {machine['threads']} thread each, Python {machine['python']}; "
        f"{versions}. Seconds of the evaluation, of the median transaction, of loading or of the whole process; the best of "
        f"{settings['rounds']} runs, of one where it takes long; in brackets how many times ours. *: with loading, which the engine does "
        "not tell apart. Memory: the most that the process had.",
        "",
    ]
    missing = [NAMES.get(name, name) for name in kept.about["missing"]]
    if missing:
        lines += [f"Not there when this was measured: {', '.join(missing)}.", ""]
    if faster:
        lines += ["Where others are faster: " + "; ".join(f"{name} at {', '.join(where)}" for name, where in faster.items()) + ".", ""]
    return lines
