"""Aggregates over a million sales in ten thousand groups, and single-row changes, beside DuckDB's recomputation."""

from __future__ import annotations

import importlib
import random
import statistics
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np

from tests.bench.measure import Measured, Update, Words, evaluate, require, run_stream
from tests.bench.report import STREAM_COLUMNS, Aim, Column, Report, seconds, stream_row, times

SALES, GROUPS = 1_000_000, 10_000
TRANSACTIONS = 1_000
VALUES = 100_000
TYPES = {"integers": "number", "floats": "float"}
PROGRAM = """
.decl sale(id: number, region: number, value: {type})
.input sale
.decl totals(region: number, total: {type}, sales: number, least: {type}, greatest: {type})
totals(r, t, n, a, b) <- agg<<t = sum(v), n = count(), a = min(v), b = max(v)>> sale(_, r, v).
"""
QUERY = "SELECT region, sum(value), count(*), min(value), max(value) FROM sale GROUP BY region"

Row = tuple[int, int, Any]


def run(report: Report, limit: float) -> None:
    """Evaluate and change the totals, and have DuckDB compute them anew."""
    rows: list[list[str | int | float | None]] = []
    for name, type_ in TYPES.items():
        sales = _sales(type_)
        database = evaluate(PROGRAM.format(type=type_), {"sale": sales}, "auto")
        changes = _changes(sales)
        stream = run_stream(database, changes, limit)
        peer = _peer(database, sales, changes[: len(stream)], type_)
        full = database.evaluation.seconds
        rows.append([name, full, database.evaluation.steps, *stream_row(stream), peer, full / peer if peer else None])
        if peer is None:
            report.note("DuckDB is not installed: nothing to compare with")
            continue
        report.aim(Aim(f"{name}: evaluation to DuckDB's", full / peer, 3.0, times))
        report.aim(Aim(f"{name}: median change to DuckDB's recomputation", stream.median / peer, 1 / 200, times))
    columns = (Column("values"), Column("evaluation", seconds), Column("steps"), *STREAM_COLUMNS)
    report.table("sum, count, min and max", (*columns, Column("DuckDB anew", seconds), Column("evaluation/DuckDB", times)), rows)


def _sales(type_: str) -> list[Row]:
    generator = random.Random(1)
    value: Callable[[], Any] = generator.random if type_ == "float" else lambda: generator.randrange(VALUES)
    return [(number, generator.randrange(GROUPS), value()) for number in range(SALES)]


def _changes(sales: list[Row]) -> list[Update]:
    """Deletions, of which every other one takes the least sale of its region, and insertions of new sales, in turn."""
    generator = random.Random(2)
    least: dict[int, Row] = {}
    for sale in sales:
        if sale[1] not in least or sale[2] < least[sale[1]][2]:
            least[sale[1]] = sale
    chosen = generator.sample(sorted(least), TRANSACTIONS // 4)
    deleted = [least[region] for region in chosen]
    deleted += generator.sample([sale for sale in sales if sale is not least[sale[1]]], TRANSACTIONS // 4)
    generator.shuffle(deleted)
    inserted = [(SALES + number, generator.randrange(GROUPS), generator.choice(sales)[2]) for number in range(TRANSACTIONS // 2)]
    return [
        update for old, new in zip(deleted, inserted, strict=True) for update in (Update({"sale": [old]}, {}), Update({}, {"sale": [new]}))
    ]


def _peer(database: Measured, sales: list[Row], changes: list[Update], type_: str) -> float | None:
    """Seconds that DuckDB takes for the totals, on one thread, after the changes; the two results are compared. None: it is not there."""
    try:
        duckdb = importlib.import_module("duckdb")
    except ImportError:
        return None
    left = {sale[0]: sale for sale in sales}
    for change in changes:
        for row in change.delete.get("sale", ()):
            del left[int(row[0])]
        for row in change.insert.get("sale", ()):
            left[int(row[0])] = (int(row[0]), int(row[1]), row[2])
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    columns = _columns(list(left.values()))
    connection.execute("CREATE TABLE sale AS SELECT * FROM columns")
    del columns
    took: list[float] = []
    for _ in range(5):
        start = process_time()
        found = connection.execute(QUERY).fetchnumpy()
        took.append(process_time() - start)
    table = database["totals"].to_arrow()
    order = np.argsort(found["region"])
    for name, column in zip(table.column_names, found.values(), strict=True):
        ours, theirs = table[name].to_numpy(), np.asarray(column)[order]
        close = np.allclose(ours, theirs.astype(ours.dtype), rtol=1e-12) if name == "total" and type_ == "float" else None
        require(
            f"column {name} of DuckDB's answer", bool(np.array_equal(ours, theirs.astype(ours.dtype)) if close is None else close), True
        )
    return statistics.median(took)


def _columns(rows: list[Row]) -> dict[str, Words]:
    names = ("id", "region", "value")
    return {name: np.array(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}
