"""A points-to analysis of a Java program with its library, under changes of single instructions."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

from tests.bench.measure import Measured, Stream, Update, evaluate, require, run_stream, shared_data
from tests.bench.report import STREAM_COLUMNS, Aim, Column, Report, seconds, stream_row, times

PROGRAM = Path(__file__).parents[2] / "examples" / "points-to" / "points-to.dl"
VARIABLE_OBJECT_PAIRS = 319_389  # as the README of the example says, and as its independent check found
TRANSACTIONS = 200
CHANGED = ("AssignLocal", "AssignHeapAllocation", "LoadInstanceField", "StoreInstanceField")


def run(report: Report, limit: float) -> None:
    """Evaluate the analysis; delete and insert single facts, of methods that a call may reach and of any."""
    folder = shared_data("points-to")
    database = evaluate(PROGRAM, folder, "derived")
    full = database.evaluation
    require("pairs of a variable and an object", len(database["VarPointsTo"]), VARIABLE_OBJECT_PAIRS)
    reachable = {str(row[0]) for row in database["Reachable"]}
    rows: list[list[str | int | float]] = []
    for where, methods in (("any method", None), ("reachable methods", reachable)):
        streams = [(name, _stream(database, folder, name, methods, limit)) for name in CHANGED]
        rows += [[f"{name}, {where}", *stream_row(stream), stream.median / full.seconds] for name, stream in streams]
        whole = Stream(streams[0][1].first, tuple(cost for _, stream in streams for cost in stream.usual))
        rows.append([f"all four, {where}", *stream_row(whole), whole.median / full.seconds])
        report.aim(Aim(f"median transaction to evaluation, {where}", whole.median / full.seconds, 1 / 1000, times))
    report.note(f"evaluation from scratch: {seconds(full.seconds)}, {full.steps:,} steps, {database.bytes_used / 1e6:.0f} MB of pages")
    report.table("Points-to: single-fact transactions", (Column("changed"), *STREAM_COLUMNS, Column("median/evaluation", times)), rows)


def read_facts(path: Path) -> list[tuple[str, ...]]:
    """The rows of a compressed fact file, fields as text."""
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        return [tuple(line.rstrip("\n").split("\t")) for line in lines]


def _stream(database: Measured, folder: Path, name: str, methods: set[str] | None, limit: float) -> Stream:
    """Delete and insert again random facts of a predicate; everything is as before then."""
    pairs = len(database["VarPointsTo"])
    types = [attribute == "number" for attribute in _kinds(database, name)]
    within = database[name].columns.index("within")
    lines = [row for row in read_facts(folder / f"{name}.facts.gz") if methods is None or row[within] in methods]
    updates = []
    for line in random.Random(4).sample(lines, TRANSACTIONS // 2 // len(CHANGED)):
        row = tuple(int(field) if number else field for field, number in zip(line, types, strict=True))
        delete = Update({name: [row]}, {})
        updates += [delete, delete.inverse]
    stream = run_stream(database, updates, limit / len(CHANGED))
    if len(stream) == len(updates):
        require("pairs after the stream", len(database["VarPointsTo"]), pairs)
    return stream


def _kinds(database: Measured, name: str) -> list[str]:
    return [type.value for type in database.predicates[name].types]
