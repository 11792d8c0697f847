"""Batches from 0.01 % to half of the data under each way of maintenance: where recomputing wins, and that auto knows it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from datalog.maintain.engine import Maintain
from tests.bench import closure, facebook
from tests.bench.graphs import chain, random_digraph
from tests.bench.measure import Cost, Facts, Measured, Skipped, Update, evaluate, require, run_stream, shared_data
from tests.bench.points_to import PROGRAM as POINTS_TO
from tests.bench.points_to import read_facts
from tests.bench.report import Aim, Column, Report, count, seconds, times

SHARES = (0.0001, 0.001, 0.01, 0.1, 0.5)
WAYS: tuple[Maintain, ...] = ("auto", "derived", "recorded", "recompute")
LIMIT = 1.5  # times an evaluation from scratch, that auto may take at most
REACHABLE = """
.decl edge(x: number, y: number)
.decl start(x: number)
.decl reached(x: number)
.input edge
start(0).
reached(x) :- start(x).
reached(y) :- reached(x), edge(x, y).
"""


@dataclass(frozen=True, slots=True)
class Case:
    """A program, its facts, the rows of one input that batches change, and an output whose size is compared."""

    name: str
    program: str | Path
    facts: Facts | Path
    changed: str
    rows: Sequence[tuple[int | str, ...]]
    output: str


def run(report: Report, limit: float) -> None:
    """All cases; each batch and what undoes it, under each way, on a database that knows the batches before."""
    for case in _cases(report):
        worst = _case(report, case, limit)
        for what, ratio in worst.items():
            report.aim(Aim(f"auto's worst batch to evaluation from scratch, {case.name}, {what}", ratio, LIMIT, times))


def _cases(report: Report) -> list[Case]:
    cases = [_triangles(report)]
    graph = random_digraph(800, 1_600, seed=5)
    cases.append(Case("closure", closure.PROGRAM, {"edge": graph}, "edge", graph, "path"))
    cases.append(Case("reachability along a chain", REACHABLE, {"edge": chain(2_000)}, "edge", chain(2_000), "reached"))
    folder = POINTS_TO.parent / "facts"
    lines = read_facts(next(folder.glob("AssignLocal.facts*")))
    cases.append(
        Case("points-to, the extract", POINTS_TO, folder, "AssignLocal", [(a, int(b), c, d, e) for a, b, c, d, e in lines], "VarPointsTo")
    )
    return cases


def _triangles(report: Report) -> Case:
    try:
        lines = shared_data("graphs/facebook.tsv").read_text().splitlines()
        name, edges = "triangles, facebook", [(int(x), int(y)) for x, y in (line.split("\t") for line in lines)]
    except Skipped as reason:
        report.note(f"triangles of a random graph, since {reason}")
        name, edges = "triangles, random", [(x, y) for x, y in random_digraph(2_000, 80_000, seed=6) if x < y]
    return Case(name, facebook.DERIVED_DIRECTIONS, {"friendship": edges}, "friendship", edges, "triangle")


def _case(report: Report, case: Case, limit: float) -> dict[str, float]:
    """Measure and print; returns the worst ratios of auto, by what is compared."""
    updates = {share: _batch(case, share) for share in SHARES}
    sizes: dict[float, int] = {}
    results: dict[tuple[float, str], Cost] = {}
    scratch = evaluate(case.program, case.facts, "recompute", times=3).evaluation
    worst = {"seconds": 0.0, "steps": 0.0}
    for way in WAYS:
        database = evaluate(case.program, case.facts, way)
        size = len(database[case.output])
        for share, update in updates.items():
            costs = _both_ways(database, case, update, share, sizes, size)
            results[share, way] = Cost(max(cost.seconds for cost in costs), max(cost.steps for cost in costs))
            if way == "auto":
                worst["seconds"] = max(worst["seconds"], results[share, way].seconds / scratch.seconds)
                worst["steps"] = max(worst["steps"], results[share, way].steps / scratch.steps)
            if results[share, way].seconds > limit:
                break
    columns = [Column("batch"), Column("rows")]
    columns += [column for way in WAYS for column in (Column(way, seconds), Column("steps of " + way, count))]
    columns.append(Column("auto/scratch", times))
    rows: list[list[str | int | float | None]] = []
    for share, update in updates.items():
        row: list[str | int | float | None] = [
            f"{share:.2%}",
            sum(len(block) for block in (*update.delete.values(), *update.insert.values())),
        ]
        for way in WAYS:
            cost = results.get((share, way))
            row += [None] * 2 if cost is None else [cost.seconds, cost.steps]
        auto = results.get((share, "auto"))
        row.append(None if auto is None else auto.seconds / scratch.seconds)
        rows.append(row)
    report.note(f"{case.name}: evaluation from scratch takes {seconds(scratch.seconds)} and {scratch.steps:,} steps")
    report.note("cells show the dearer of a batch and its undoing")
    report.table(f"Crossover: {case.name}", columns, rows)
    return worst


def _both_ways(database: Measured, case: Case, update: Update, share: float, sizes: dict[float, int], size: int) -> list[Cost]:
    """The costs of a batch and of its inverse; every way must find as many rows."""
    first = run_stream(database, [update], 1e9).first
    found = len(database[case.output])
    require(f"{case.output} after a batch of {share:.2%}", found, sizes.setdefault(share, found))
    second = run_stream(database, [update.inverse], 1e9).first
    require(f"{case.output} after its undoing", len(database[case.output]), size)
    return [first, second]


def _batch(case: Case, share: float) -> Update:
    """Half deletions of rows that are there, half insertions of rows that are not (rows that mix two that are there)."""
    generator = random.Random(7)
    half = max(1, round(len(case.rows) * share / 2))
    there = set(case.rows)
    inserted: dict[tuple[int | str, ...], None] = {}
    while len(inserted) < half:
        left, right = generator.choice(case.rows), generator.choice(case.rows)
        mixed = (*left[:-1], right[-1]) if len(left) == 2 else (*left[:2], right[2], *left[3:])
        if mixed not in there and (case.changed != "friendship" or int(mixed[0]) < int(mixed[1])):
            inserted[mixed] = None
    return Update({case.changed: generator.sample(list(case.rows), half)}, {case.changed: list(inserted)})
