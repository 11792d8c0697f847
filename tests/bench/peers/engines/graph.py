"""Kuzu, a graph database: triangles and closures are patterns of its queries, which cannot say points-to or Galen's rules."""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.bench.peers.changes import Change, Row
from tests.bench.peers.engine import Engine, Task

TRIANGLES = "MATCH (a:N)-[:E]->(b:N)-[:E]->(c:N), (a)-[:E]->(c) RETURN count(*)"
CLOSURE = "MATCH (a:N)-[:E* SHORTEST 1..{depth}]->(b:N) RETURN count(*)"
AGGREGATES = """MATCH (s:S) WITH s.g AS g, sum(s.a) AS total, count(*) AS sales, min(s.a) AS least, max(s.a) AS greatest
RETURN count(*), sum(total), sum(sales), sum(least * (g % 97 + 1)), sum(greatest * (g % 97 + 1))"""
MEMORY = 8 << 30


class Peer(Engine):
    """Results are counted and not kept."""

    problems = frozenset({"triangles", "closure", "aggregates"})
    changing = problems

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        kuzu = importlib.import_module("kuzu")
        self._connection = kuzu.Connection(kuzu.Database(":memory:", buffer_pool_size=MEMORY), num_threads=task.threads)
        self._row: list[Any] = []

    @classmethod
    def version(cls) -> str:
        return str(importlib.import_module("kuzu").__version__)

    def load(self) -> None:
        if self.problem.name == "aggregates":
            self._run("CREATE NODE TABLE S(id INT64 PRIMARY KEY, g INT64, a INT64)")
            self._run(f'COPY S FROM "{self.place}/s.facts" (delim="\t", file_format="csv")')
            return
        nodes = np.unique(np.loadtxt(self.place / "e.facts", np.int64, delimiter="\t", ndmin=2))
        self._nodes = len(nodes) + 1
        self._run("CREATE NODE TABLE N(id INT64 PRIMARY KEY)")
        self._run("CREATE REL TABLE E(FROM N TO N)")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "nodes.csv"
            path.write_text("".join(f"{node}\n" for node in nodes), encoding="utf-8")
            self._run(f'COPY N FROM "{path}"')
        self._run(f'COPY E FROM "{self.place}/e.facts" (delim="\t", file_format="csv")')
        self._run(f"CALL var_length_extend_max_depth={self._nodes}")

    def evaluate(self) -> None:
        query = {"triangles": TRIANGLES, "closure": CLOSURE.format(depth=getattr(self, "_nodes", 0)), "aggregates": AGGREGATES}
        self._row = self._run(query[self.problem.name]).get_next()

    def answer(self) -> tuple[int, ...]:
        """A shortest path has no end at its beginning, so of the closure the pairs (x, x) are missing, and are counted here."""
        on_cycles = 0
        if self.problem.name == "closure":
            found = self._run("MATCH (a:N)-[:E]->(b:N) RETURN a.id, b.id")
            edges = []
            while found.has_next():
                edges.append(found.get_next())
            on_cycles = _on_cycles(edges)
        return tuple(int(value) for value in (self._row[0] + on_cycles, *self._row[1:]))

    def prepare_changes(self) -> None:
        """Nodes of edges to come."""
        if self.problem.name != "aggregates":
            from tests.bench.peers.changes import read_changes

            for node in {value for changes in read_changes(self.place) for change in changes for value in change.row}:
                self._run("MERGE (:N {id: $id})", {"id": node})

    def apply(self, changes: Sequence[Change]) -> None:
        for sign, _, row in changes:
            if self.problem.name == "aggregates":
                self._sale(sign, row)
            elif sign > 0:
                self._run("MATCH (x:N {id: $a}), (y:N {id: $b}) CREATE (x)-[:E]->(y)", {"a": row[0], "b": row[1]})
            else:
                self._run("MATCH (x:N {id: $a})-[e:E]->(y:N {id: $b}) DELETE e", {"a": row[0], "b": row[1]})
        self.evaluate()

    def _sale(self, sign: int, row: Row) -> None:
        if sign > 0:
            self._run("CREATE (:S {id: $id, g: $g, a: $a})", {"id": row[0], "g": row[1], "a": row[2]})
        else:
            self._run("MATCH (s:S {id: $id}) DELETE s", {"id": row[0]})

    def _run(self, query: str, values: dict[str, object] | None = None) -> Any:
        return self._connection.execute(query, values or {})


def _on_cycles(edges: Sequence[Sequence[int]]) -> int:
    """How many nodes reach themselves."""
    targets: dict[int, list[int]] = {}
    for x, y in edges:
        targets.setdefault(x, []).append(y)
    found = 0
    for node in targets:
        seen, waiting = set(), list(targets[node])
        while waiting and node not in seen:
            at = waiting.pop()
            if at not in seen:
                seen.add(at)
                waiting += targets.get(at, ())
        found += node in seen
    return found
