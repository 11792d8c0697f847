"""What there is to do: the problems, with their rules, and the workloads, each a problem on some data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from tests.bench.peers.rules import Rule, arities, heads, parse

Measure = Literal["evaluation", "total", "wall"]


@dataclass(frozen=True, slots=True)
class Problem:
    """Rules over given predicates; the answer is how many rows `result` has (for the aggregates, sums over its columns).

    Without rules, an engine has a program of its own for it.
    """

    name: str
    rules: tuple[Rule, ...]
    given: dict[str, int]
    result: str = "t"

    @property
    def derived(self) -> list[str]:
        return heads(self.rules)

    @property
    def arities(self) -> dict[str, int]:
        return {**self.given, **arities(self.rules)}


TRIANGLES = Problem("triangles", parse("t(x, y, z) :- e(x, y), e(y, z), e(x, z)."), {"e": 2})
CLOSURE = Problem("closure", parse("t(x, y) :- e(x, y).\nt(x, z) :- t(x, y), e(y, z)."), {"e": 2})
POINTS_TO = Problem(
    "points-to",
    parse(
        """
        t(y, x) :- addr(y, x).
        t(y, x) :- assign(y, z), t(z, x).
        t(y, w) :- load(y, x), t(x, z), t(z, w).
        t(z, w) :- store(y, x), t(y, z), t(x, w).
        """
    ),
    {"addr": 2, "assign": 2, "load": 2, "store": 2},
)
# Of a sale's number, group and amount: by group the sum, the count, the least and the greatest.
AGGREGATES = Problem("aggregates", (), {"s": 3}, "o")
# The completion rules of EL that classify the Galen ontology: classes below classes (p), restrictions (q), conjunctions (c), what follows
# from a restriction (u), roles below roles (s), chains of roles (r).
GALEN = Problem(
    "galen",
    parse(
        """
        p(x, z) :- p0(x, z).
        q(x, y, z) :- q0(x, y, z).
        p(x, z) :- p(x, y), p(y, z).
        q(x, r, z) :- p(x, y), q(y, r, z).
        p(x, z) :- p(y, w), u(w, r, z), q(x, r, y).
        p(x, z) :- c(y, w, z), p(x, w), p(x, y).
        q(x, w, z) :- q(x, r, z), s(r, w).
        q(x, e, o) :- q(x, y, z), r(y, u, e), q(z, u, o).
        """
    ),
    {"p0": 2, "q0": 3, "c": 3, "u": 3, "s": 2, "r": 3},
    "p",
)
JAVA = Problem("java", (), {}, "VarPointsTo")
DOCUMENT = Problem("document", (), {"insert": 4, "remove": 2}, "next_visible")
CSV = Problem("csv", (), {}, "sale")
# The rules and facts of these two come with their data.
START = Problem("start", (), {}, "path")
MANY_RULES = Problem("rules", (), {}, "p59")


@dataclass(frozen=True, slots=True)
class Workload:
    """A problem on the data of a folder; `changes` says that transactions follow the evaluation."""

    name: str
    title: str
    problem: Problem
    data: str
    changes: bool = False
    measure: Measure = "evaluation"  # what is compared; the total where an engine cannot tell its evaluation from loading
    program: str = field(default="", kw_only=True)  # of this project's folder: a program that Soufflé reads, too
    smaller: str = field(default="", kw_only=True)  # a workload of the same kind: who is not done with it need not try this one


WORKLOADS = (
    Workload("w1-20k", "triangles, 20 k edges", TRIANGLES, "w1-20k"),
    Workload("w1-200k", "triangles, 200 k edges", TRIANGLES, "w1-200k", smaller="w1-20k"),
    Workload("w1-1m", "triangles, 1 M edges", TRIANGLES, "w1-1m", smaller="w1-200k"),
    Workload("w2-random", "closure of a random digraph", CLOSURE, "w2-random"),
    Workload("w2-chain", "closure of a chain", CLOSURE, "w2-chain"),
    Workload("w2-tree", "closure of a tree", CLOSURE, "w2-tree"),
    Workload("w3", "points-to, four rules", POINTS_TO, "w3"),
    Workload("w4", "sum, count, min, max", AGGREGATES, "w4"),
    Workload("w5-triangles", "triangles, one edge a transaction", TRIANGLES, "w1-200k", True),
    Workload("w5-closure", "closure, one edge a transaction", CLOSURE, "w2-random", True),
    Workload("w5-points-to", "points-to, one fact a transaction", POINTS_TO, "w3", True),
    Workload("w5-aggregates", "aggregates, one row a transaction", AGGREGATES, "w4", True),
    Workload("w6", "triangles, many edges a transaction", TRIANGLES, "w6", True),
    Workload("w7", "points-to of a Java program", JAVA, "w7", program="examples/points-to/points-to.dl"),
    Workload("w7-changes", "the same, one fact a transaction", JAVA, "w7", True, program="examples/points-to/points-to.dl"),
    Workload("w8", "a shared document, all operations at once", DOCUMENT, "w8", program="examples/crdt/editor.dl"),
    Workload("w8-changes", "the same, operation by operation", DOCUMENT, "w8-changes", True, program="examples/crdt/editor.dl"),
    Workload("w9", "six rules in the way of Galen's", GALEN, "w9"),
    Workload("w10-csv", "loading a CSV file with strings", CSV, "w10-csv", measure="total"),
    Workload("w10-start", "a process with ten facts and a closure", START, "w10-start", measure="wall"),
    Workload("w10-rules", "a process with 300 rules", MANY_RULES, "w10-rules", measure="wall"),
)
GROUPS = tuple(dict.fromkeys(workload.name.split("-")[0] for workload in WORKLOADS))


def chosen(names: tuple[str, ...]) -> list[Workload]:
    """The workloads of the given names, or groups of them (`w1`); all without names."""
    return [one for one in WORKLOADS if not names or one.name in names or one.name.split("-")[0] in names]
