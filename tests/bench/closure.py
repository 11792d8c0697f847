"""Transitive closure under single-edge transactions: random digraphs of a million result pairs, a chain, a tree."""

from __future__ import annotations

import random
import statistics
from collections.abc import Sequence

from tests.bench.graphs import Edge, binary_tree, chain, closure_size, random_digraph
from tests.bench.measure import Measured, Stream, Update, evaluate, require, rows_changed, run_stream
from tests.bench.report import STREAM_COLUMNS, Aim, Column, Report, seconds, stream_row, times

TRANSACTIONS = 200
PROGRAM = """
.decl edge(x: number, y: number)
.decl path(x: number, y: number)
.input edge
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), edge(y, z).
"""
RANDOM_GRAPHS = {
    "sparse, 2 edges a node": (1_265, 2_530),  # most deletions cut something off
    "dense, 8 edges a node": (1_000, 8_000),  # nearly all pairs, and many ways from each node to each
}
NODES = 2_000
EDGES = 20  # that are deleted and inserted again at one place of a chain or tree


def run(report: Report, limit: float) -> None:
    """Evaluate and change each graph."""
    rows: list[list[str | int | float]] = []
    for name, (nodes, edges) in RANDOM_GRAPHS.items():
        graph = random_digraph(nodes, edges, seed=1)
        database, pairs, stream, changed = _measure(graph, random_updates(graph, nodes, TRANSACTIONS), limit)
        rows.append(_row(f"random, {name}", pairs, database, stream, changed))
        report.aim(Aim(f"median transaction to evaluation, random, {name}", stream.median / database.evaluation.seconds, 1 / 1000, times))
    for shape, graph in (("chain", chain(NODES)), ("tree", binary_tree(NODES))):
        for where, chosen in _places(graph).items():
            updates = [update for edge in chosen for update in (_deletion(edge), _deletion(edge).inverse)]
            database, pairs, stream, changed = _measure(graph, updates, limit)
            rows.append(_row(f"{shape}, {where}", pairs, database, stream, changed))
    columns = (Column("graph"), Column("pairs"), Column("evaluation", seconds), Column("steps"), Column("median change"))
    report.table("Closure: evaluation and single-edge transactions", (*columns, *STREAM_COLUMNS, Column("median/evaluation", times)), rows)


def random_updates(graph: Sequence[Edge], nodes: int, transactions: int) -> list[Update]:
    """Single-edge transactions: deletions of edges and insertions of edges that are not there, in turn."""
    generator = random.Random(2)
    deleted = generator.sample(list(graph), transactions // 2)
    there = set(graph)
    inserted = [edge for edge in random_digraph(nodes, transactions, seed=3) if edge not in there]
    return [update for old, new in zip(deleted, inserted, strict=False) for update in (_deletion(old), _deletion(new).inverse)]


def _measure(graph: list[Edge], updates: Sequence[Update], limit: float) -> tuple[Measured, int, Stream, int]:
    database = evaluate(PROGRAM, {"edge": graph}, "derived")
    pairs = len(database["path"])
    require("pairs of the closure", pairs, closure_size(graph))
    changed: list[int] = []
    stream = run_stream(database, updates, limit, lambda _, changes: changed.append(rows_changed(changes, "path")))
    edges = set(graph)
    for update in updates[: len(stream)]:
        edges.difference_update((int(x), int(y)) for rows in update.delete.values() for x, y in rows)
        edges.update((int(x), int(y)) for rows in update.insert.values() for x, y in rows)
    require("pairs after the stream", len(database["path"]), closure_size(edges))
    return database, pairs, stream, int(statistics.median(changed))


def _places(graph: list[Edge]) -> dict[str, list[Edge]]:
    """Edges near the start, the middle and the end of a graph that was made from its root or head."""
    middle = len(graph) // 2
    return {"first edges": graph[:EDGES], "middle edges": graph[middle : middle + EDGES], "last edges": graph[-EDGES:]}


def _deletion(edge: Edge) -> Update:
    return Update({"edge": [edge]}, {})


def _row(name: str, pairs: int, database: Measured, stream: Stream, changed: int) -> list[str | int | float]:
    full = database.evaluation
    return [name, pairs, full.seconds, full.steps, changed, *stream_row(stream), stream.median / full.seconds]
