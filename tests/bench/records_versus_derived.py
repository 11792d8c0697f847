"""Which rule bodies delta plans serve badly, and which ones sensitivity records serve badly.

A delta plan completes each changed row, whether or not the result changes: it pays for all that the row could join with,
up to the literal that fails. A record says what the join looked at, so a change that no context looked at costs one
look-up; but each context that looked at a key has a record of its own, and a change there re-runs all of them.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from datalog.maintain.engine import Maintain
from tests.bench.measure import Facts, Measured, Stream, Update, evaluate, require, run_stream
from tests.bench.report import Column, Figure, Report, count, seconds, times

TRANSACTIONS = 100
Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Body:
    """A rule body, its facts, and single-fact changes of one of its predicates."""

    name: str
    body: str
    head: str
    facts: dict[str, list[Pair]]
    changed: str
    new: list[Pair]  # rows to insert and delete again


def run(report: Report, limit: float) -> None:
    """All bodies under both ways; both must find the same rows."""
    rows: list[list[Figure]] = []
    for body in bodies():
        program = _program(body)
        there = set(body.facts[body.changed])
        new = [row for row in body.new if row not in there]
        updates = [update for row in new for update in (_insertion(body, row), _insertion(body, row).inverse)]
        found: dict[Maintain, tuple[Measured, Stream]] = {}
        sizes = []
        ways: tuple[Maintain, ...] = ("derived", "recorded")
        for way in ways:
            database = evaluate(program, body.facts, way, times=2)
            found[way] = database, run_stream(database, updates[:TRANSACTIONS], limit)
            sizes.append(len(database["head"]))
        require(f"rows under records, {body.name}", sizes[1], sizes[0])
        require(f"rows after undoing, {body.name}", sizes[0], len(evaluate(program, body.facts, "recompute")["head"]))
        (derived, by_plans), (recorded, by_records) = found["derived"], found["recorded"]
        rows.append(
            [
                f"{body.head} :- {body.body}\n  {body.name}; changes of {body.changed}",
                by_plans.median_steps,
                by_plans.median,
                by_records.median_steps,
                by_records.median,
                by_records.median / by_plans.median,
                recorded.evaluation.seconds / derived.evaluation.seconds,
                recorded.records(),
                recorded.bytes_used / derived.bytes_used,
            ]
        )
    report.table(
        "Single-fact transactions: delta plans and records",
        (
            Column("body"),
            Column("derived steps"),
            Column("derived", seconds),
            Column("recorded steps"),
            Column("recorded", seconds),
            Column("recorded/derived", times),
            Column("evaluation, ratio", times),
            Column("records", count),
            Column("memory, ratio", times),
        ),
        rows,
    )


def bodies() -> list[Body]:
    """Generated facts for each body, always the same."""
    pick = random.Random(9)

    def pairs(count: int, left: int, right: int, below: int = 0) -> list[Pair]:
        """Distinct pairs of values from `below` up to `left` and `right`."""
        return list({(pick.randrange(below, left), pick.randrange(below, right)): None for _ in range(count)})

    hub = [(0, c) for c in range(20_000)]
    few = TRANSACTIONS // 2
    graph = pairs(20_000, 4_000, 4_000)
    return [
        Body(
            "t fails for nearly all c, r gives one b",
            "r(a, b), s(b, c), t(c, d)",
            "head(a, d)",
            {"r": [(a, 0) for a in range(3)], "s": hub, "t": pairs(50, 20_000, 100)},
            "r",
            [(a, 0) for a in range(10, 10 + few)],
        ),
        Body(
            "s has many b for each c, r has nearly none of them",
            "r(a, b), s(b, c), t(c, d)",
            "head(a, d)",
            {"r": pairs(50, 100, 100_000), "s": [(b, b % 5) for b in range(100_000)], "t": pairs(100, 5, 1_000)},
            "t",
            [(pick.randrange(5), d) for d in range(2_000, 2_000 + few)],
        ),
        Body(
            "the intersection of two long lists is empty",
            "r(a, x), s(b, x), t(a, b)",
            "head(a, b)",
            {
                "r": [(a, 2 * x) for a in range(30) for x in range(2_000)],
                "s": [(b, 2 * x + 1) for b in range(30) for x in range(2_000)],
                "t": pairs(100, 30, 30),
            },
            "t",
            [(a, 30 - a % 30) for a in range(few)],
        ),
        Body(
            "a long path through nodes of 5 successors",
            "e(a, b), e(b, c), e(c, d), e(d, f), start(a, f)",
            "head(a, f)",
            {"e": graph, "start": pairs(200, 4_000, 4_000)},
            "e",
            pairs(few, 4_000, 4_000),
        ),
        Body(
            "triangles",
            "e(a, b), e(b, c), e(a, c)",
            "head(a, b, c)",
            {"e": pairs(20_000, 1_000, 1_000)},
            "e",
            pairs(few, 1_000, 1_000),
        ),
        Body(
            "every a looks up the same few c: many contexts a key",
            "r(a, b), s(b, c), t(c, d)",
            "head(a, d)",
            {"r": [(a, a % 50) for a in range(20_000)], "s": [(b, b % 5) for b in range(50)], "t": [(c, c) for c in range(5)]},
            "t",
            [(pick.randrange(5), d) for d in range(2_000, 2_000 + few)],
        ),
        Body(
            "a negation that nothing passes",
            "r(a, b), s(b, c), !t(a, c)",
            "head(a, c)",
            {"r": pairs(3_000, 200, 200), "s": pairs(3_000, 200, 200), "t": [(a, c) for a in range(200) for c in range(200)]},
            "r",
            pairs(few, 200, 200),
        ),
    ]


def _program(body: Body) -> str:
    declared = [f".decl {name}(x: number, y: number)\n.input {name}" for name in body.facts]
    arity = body.head.count(",") + 1
    head = ".decl head(" + ", ".join(f"x{place}: number" for place in range(arity)) + ")"
    return "\n".join((*declared, head, f"{body.head} :- {body.body}.", ""))


def _insertion(body: Body, row: Pair) -> Update:
    facts: Facts = {body.changed: [row]}
    return Update({}, facts)
