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
        ways: tuple[Maintain, ...] = ("derived", "recorded", "auto")
        for way in ways:
            database = evaluate(program, body.facts, way, times=2)
            found[way] = database, run_stream(database, updates[:TRANSACTIONS], limit)
            sizes.append(len(database["head"]))
        require(f"rows after undoing, {body.name}", sizes, [len(evaluate(program, body.facts, "recompute")["head"])] * len(ways))
        (derived, by_plans), (recorded, by_records) = found["derived"], found["recorded"]
        rows.append(
            [
                f"{body.head} :- {body.body}\n{body.name}\nchanges of {body.changed}; order {order_of(recorded)}",
                by_plans.median_steps,
                by_plans.median,
                by_records.median_steps,
                by_records.median,
                by_records.median / by_plans.median,
                found["auto"][1].median,
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
            Column("auto", seconds),
            Column("of evaluation", times),
            Column("records", count),
            Column("of memory", times),
        ),
        rows,
    )


def bodies() -> list[Body]:
    """Generated facts for each body, always the same."""
    pick = random.Random(9)

    def pairs(count: int, left: int, right: int, below: int = 0) -> list[Pair]:
        """Distinct pairs of values from `below` up to `left` and `right`."""
        return list({(pick.randrange(below, left), pick.randrange(below, right)): None for _ in range(count)})

    few = TRANSACTIONS // 2
    graph = pairs(20_000, 4_000, 4_000)
    return [
        Body(
            "r and s share no b, and a hub c has 20,000 of them",
            "r(a, b), s(b, c), t(c, d)",
            "head(a, d)",
            {
                "r": [(b, 2 * b) for b in range(20_000)],
                "s": [(2 * b + 1, 0) for b in range(20_000)] + [(2 * c + 1, c) for c in range(1, 40_000)],
                "t": [(c, c) for c in range(60_000)],
            },
            "t",
            [(0, d) for d in range(100_000, 100_000 + few)],
        ),
        Body(
            "r has few b, and each d has 20,000 c that no such b has",
            "r(a, b), s(b, c), t(c, d), u(d, f)",
            "head(a, f)",
            {
                "r": [(a, a) for a in range(5)],
                "s": [(c % 2_000, 2 * c) for c in range(20_000)],
                "t": [(2 * c + 1, d) for c in range(20_000) for d in range(10)],
                "u": [(d, f) for d in range(10) for f in range(500)],
            },
            "u",
            [(pick.randrange(10), f) for f in range(1_000, 1_000 + few)],
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
            "all a and b look up one hub c, and u keeps few of them: many contexts a key",
            "r(a, b), s(b, c), t(c, d), u(a, d)",
            "head(a, d)",
            {
                "r": [(a, b) for a in range(300) for b in range(100)],
                "s": [(b, 0) for b in range(100)] + [(b, c) for b in range(100, 2_000) for c in (b, 2 * b)],
                "t": [(c, c) for c in range(5_000)],
                "u": [(a, 200 * a + d) for a in range(300) for d in range(200)],
            },
            "t",
            [(0, d) for d in range(70_000, 70_000 + few)],
        ),
        Body(
            "few c under each b, far apart: many hulls hold the new c",
            "r(a, b), s(b, c), t(c, d)",
            "head(a, d)",
            {
                "r": [(a, a % 2_000) for a in range(10_000)],
                "s": [(b, c) for b in range(2_000) for c in (b, 50_000 + b)],
                "t": [(c, c) for c in range(0, 60_000, 3) if not 2_000 <= c < 50_000],
            },
            "t",
            [(25_000 + d, d) for d in range(few)],
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


def order_of(database: Measured) -> str:
    """The variable order of the rule that was written; rules that the engine adds are shorter."""
    plan = max(database._engine.joins.plan.rules, key=lambda plan: len(plan.positive))
    return " ".join(plan.rule.variables[variable] for variable in plan.order)


def _program(body: Body) -> str:
    declared = [f".decl {name}(x: number, y: number)\n.input {name}" for name in body.facts]
    arity = body.head.count(",") + 1
    head = ".decl head(" + ", ".join(f"x{place}: number" for place in range(arity)) + ")"
    return "\n".join((*declared, head, f"{body.head} :- {body.body}.", ""))


def _insertion(body: Body, row: Pair) -> Update:
    facts: Facts = {body.changed: [row]}
    return Update({}, facts)
