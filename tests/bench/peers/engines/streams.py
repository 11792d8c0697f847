"""Pathway, an incremental engine. A transaction is one commit, and takes until the end of its time has been told.

Commits that change nothing in the result are not told of, so each transaction also moves a tick through to the output.
"""

from __future__ import annotations

import importlib
import os
import threading
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from tests.bench.peers import by_hand
from tests.bench.peers.changes import Change, Row, read_rows
from tests.bench.peers.engine import Engine, Task
from tests.bench.peers.rules import Rule

TICK = -1  # the number of the relation that ticks are rows of
WIDTH = 3  # columns of the one table that brings all relations
LONGEST = 600.0  # seconds to wait for a commit


class Peer(Engine):
    problems = frozenset({"triangles", "closure", "points-to", "aggregates"})
    changing = problems
    follows = "incremental"
    apart = False

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        os.environ["PATHWAY_THREADS"] = str(task.threads)
        self._pw = importlib.import_module("pathway")
        connector: Any = self._pw.io.python.ConnectorSubject
        importlib.import_module("logging").disable(importlib.import_module("logging").INFO)
        self._names = list(self.problem.given)
        self._count, self._rows, self._tick = 0, dict[Any, tuple[int, ...]](), 0
        self._ended, self._over = threading.Event(), threading.Event()

        over = self._over

        class Subject(connector):  # type: ignore[misc]
            _deletions_enabled = True  # which it finds out by itself only for deletions made within `run`

            def run(self) -> None:
                over.wait()

        self._subject = Subject()

    @classmethod
    def version(cls) -> str:
        importlib.import_module("pathway")
        return version("pathway")

    def evaluate(self) -> None:
        """All rows in one commit, through the connector that takes the changes, too."""
        rows = [Change(1, name, row) for name in self._names for row in read_rows(self.place / f"{name}.facts")]
        self._thread = threading.Thread(target=self._flow, daemon=True)
        self._thread.start()
        self._send(rows)

    def apply(self, changes: Sequence[Change]) -> int:
        self._changed = 0
        self._send(changes)
        return self._changed

    def answer(self) -> tuple[int, ...]:
        return by_hand.sums(list(zip(*self._rows.values(), strict=True))) if self.problem.name == "aggregates" else (self._count,)

    def close(self) -> None:
        self._over.set()
        self._thread.join(10)

    def _send(self, changes: Sequence[Change]) -> None:
        for sign, name, row in changes:
            self._row(sign, self._names.index(name), row)
        self._tick += 1
        self._row(1, TICK, (self._tick,))
        self._subject.commit()
        if not self._ended.wait(LONGEST):
            raise TimeoutError("a commit did not end")
        self._ended.clear()

    def _row(self, sign: int, relation: int, row: Row) -> None:
        values = {"relation": relation, **{f"c{column}": 0 for column in range(WIDTH)}}
        values.update({f"c{column}": value for column, value in enumerate(row)})  # type: ignore[misc]
        (self._subject.next if sign > 0 else self._subject.delete)(**values)

    def _flow(self) -> None:
        pw = self._pw
        key = {name: pw.column_definition(primary_key=True, dtype=int) for name in ("relation", *(f"c{column}" for column in range(WIDTH)))}
        rows = pw.io.python.read(self._subject, schema=pw.schema_builder(key, name="Rows"), autocommit_duration_ms=None)
        given = {
            name: rows.filter(rows.relation == number).select(**{f"c{column}": pw.this[f"c{column}"] for column in range(arity)})
            for number, (name, arity) in enumerate(self.problem.given.items())
        }
        result = self._aggregates(given["s"]) if self.problem.name == "aggregates" else self._rules(given)
        columns = result.column_names()
        ticks = rows.filter(rows.relation == TICK)
        told = pw.Table.concat_reindex(result.with_columns(tick=0), ticks.select(**dict.fromkeys(columns, 0), tick=pw.this.c0))
        keep, seen = self.problem.name == "aggregates", [0]
        self._changed = 0

        def on_change(key: object, row: dict[str, int], time: int, is_addition: bool) -> None:
            if row["tick"]:
                seen[0] = row["tick"]
                return
            self._count += 1 if is_addition else -1
            self._changed += 1
            if keep:
                values = tuple(row[column] for column in columns)
                if is_addition:
                    self._rows[key] = values
                elif self._rows.get(key) == values:
                    del self._rows[key]

        def on_time_end(time: int) -> None:
            if seen[0] == self._tick:
                seen[0] = 0
                self._ended.set()

        pw.io.subscribe(told, on_change, on_time_end=on_time_end)
        pw.run(monitoring_level=pw.MonitoringLevel.NONE)

    def _aggregates(self, sales: Any) -> Any:
        reduce = self._pw.reducers
        return sales.groupby(sales.c1).reduce(
            sales.c1, total=reduce.sum(sales.c2), sales=reduce.count(), least=reduce.min(sales.c2), greatest=reduce.max(sales.c2)
        )

    def _rules(self, given: dict[str, Any]) -> Any:
        """The one derived predicate of triangles, closure and points-to: joins in the order of the atoms; iterated if recursive."""
        pw, rules = self._pw, self.problem.rules
        (name,) = self.problem.derived
        if all(atom.name != name for rule in rules for atom in rule.body):
            (rule,) = rules
            return self._join(rule, given)

        def step(**tables: Any) -> dict[str, Any]:
            return {name: _distinct(pw.Table.concat_reindex(*(self._join(rule, tables) for rule in rules)))}

        first = [self._join(rule, given) for rule in rules if all(atom.name != name for atom in rule.body)]
        start = pw.iterate_universe(_distinct(pw.Table.concat_reindex(*first) if len(first) > 1 else first[0]))
        return getattr(pw.iterate(step, **{name: start}, **given), name)

    def _join(self, rule: Rule, tables: dict[str, Any]) -> Any:
        """A rule's body, atom by atom; the columns between are the variables."""
        pw = self._pw
        first, *others = rule.body
        table = tables[first.name].select(**{variable: tables[first.name][f"c{column}"] for column, variable in enumerate(first.arguments)})
        for atom in others:
            other = tables[atom.name].copy()
            known = table.column_names()
            shared = [(variable, f"c{column}") for column, variable in enumerate(atom.arguments) if variable in known]
            joined = table.join(other, *(table[variable] == other[column] for variable, column in shared))
            new = {variable: pw.right[f"c{column}"] for column, variable in enumerate(atom.arguments) if variable not in known}
            table = joined.select(**{variable: pw.left[variable] for variable in known}, **new)
        return table.select(**{f"c{column}": table[variable] for column, variable in enumerate(rule.head.arguments)})


def _distinct(table: Any) -> Any:
    names = table.column_names()
    return table.groupby(*(table[name] for name in names)).reduce(*(table[name] for name in names))
