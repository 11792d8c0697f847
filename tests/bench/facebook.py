"""Triangles in a social network: 88,234 friendships, 1,612,010 triangles by the publisher's count."""

from __future__ import annotations

import random

import numpy as np

from datalog.maintain.engine import Maintain
from datalog.transaction import Changes
from tests.bench.measure import Facts, Measured, Stream, Update, evaluate, require, rows_changed, run_stream, shared_data
from tests.bench.report import STREAM_COLUMNS, Aim, Column, Report, count, megabytes, seconds, stream_row, times

TRIANGLES = 1_612_010
TRANSACTIONS = 1_000
DERIVED_DIRECTIONS = """
.decl friendship(x: number, y: number)
.input friendship
edge(x, y) :- friendship(x, y).
edge(x, y) :- friendship(y, x).
triangle(x, y, z) :- edge(x, y), edge(y, z), edge(x, z), x < y, y < z.
.decl edge(x: number, y: number)
.decl triangle(x: number, y: number, z: number)
"""
GIVEN_DIRECTIONS = """
.decl edge(x: number, y: number)
.input edge
triangle(x, y, z) :- edge(x, y), edge(y, z), edge(x, z), x < y, y < z.
.decl triangle(x: number, y: number, z: number)
"""
BYTES_AN_EDGE = 120
BYTES_A_TRIANGLE = 40
"""What the relations may take, per friendship and per row of the result."""


class Friends:
    """The network in plain Python: how many triangles an edge is part of."""

    def __init__(self, edges: list[tuple[int, int]]) -> None:
        self._friends: dict[int, set[int]] = {}
        for x, y in edges:
            self._friends.setdefault(x, set()).add(y)
            self._friends.setdefault(y, set()).add(x)

    def triangles(self, x: int, y: int) -> int:
        return len(self._friends[x] & self._friends[y])


def run(report: Report, limit: float) -> None:
    """Evaluate, and delete and insert single friendships."""
    edges = [(int(x), int(y)) for x, y in np.loadtxt(shared_data("graphs/facebook.tsv"), np.int64)]
    both = edges + [(y, x) for x, y in edges]
    _program(report, limit, "both directions given", GIVEN_DIRECTIONS, {"edge": both}, edges)
    _program(report, limit, "the other direction derived", DERIVED_DIRECTIONS, {"friendship": edges}, edges)


def _program(report: Report, limit: float, title: str, program: str, facts: Facts, edges: list[tuple[int, int]]) -> None:
    ways: tuple[Maintain, ...] = ("derived", "recorded")
    friends = Friends(edges)
    found: dict[str, tuple[Measured, Stream]] = {}
    fresh: dict[str, tuple[int, int, int]] = {}
    for maintain in ways:
        database = evaluate(program, facts, maintain, times=3)
        require("triangles", len(database["triangle"]), TRIANGLES)
        fresh[maintain] = database.bytes_used, database.bytes_held, database.records()
        found[maintain] = (
            database,
            run_stream(database, _updates(facts, edges), limit, lambda update, changes: _check(friends, update, changes)),
        )
        if len(found[maintain][1]) == TRANSACTIONS:
            require("triangles after the stream", len(database["triangle"]), TRIANGLES)
    recorded = found["recorded"][0].evaluation
    report.table(
        f"Triangles, {title}: evaluation and single-edge transactions",
        (
            Column("maintained"),
            Column("evaluation", seconds),
            Column("steps"),
            *STREAM_COLUMNS,
            Column("median/recorded evaluation", times),
        ),
        [
            [maintain, database.evaluation.seconds, database.evaluation.steps, *stream_row(stream), stream.median / recorded.seconds]
            for maintain, (database, stream) in found.items()
        ],
    )
    report.table(
        f"Triangles, {title}: memory after evaluation",
        (
            Column("maintained"),
            Column("pages in use", megabytes),
            Column("pool", megabytes),
            Column("allowed", megabytes),
            Column("records"),
        ),
        [[maintain, used, held, _allowed(len(edges)), records] for maintain, (used, held, records) in fresh.items()],
    )
    report.aim(Aim(f"evaluation with records to without, {title}", recorded.seconds / found["derived"][0].evaluation.seconds, 8, times))
    for name, (_, stream) in found.items():
        report.aim(Aim(f"median transaction to recorded evaluation, {name}, {title}", stream.median / recorded.seconds, 1 / 1000, times))
    report.aim(Aim(f"bytes of pages in use, derived, {title}", fresh["derived"][0], _allowed(len(edges)), count))


def _allowed(edges: int) -> int:
    return BYTES_AN_EDGE * edges + BYTES_A_TRIANGLE * TRIANGLES


def _updates(facts: Facts, edges: list[tuple[int, int]]) -> list[Update]:
    """Half as many edges as transactions: each is deleted and inserted again."""
    (name,) = facts
    updates = []
    for x, y in random.Random(1).sample(edges, TRANSACTIONS // 2):
        delete = Update({name: [(x, y)] if len(facts[name]) == len(edges) else [(x, y), (y, x)]}, {})
        updates += [delete, delete.inverse]
    return updates


def _check(friends: Friends, update: Update, changes: Changes) -> None:
    """A transaction changes as many triangles as its edge is part of."""
    (rows,) = (*update.delete.values(), *update.insert.values())
    x, y = (int(value) for value in rows[0])
    require(f"triangles changed with the edge {x}, {y}", rows_changed(changes, "triangle"), friends.triangles(x, y))
