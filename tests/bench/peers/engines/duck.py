"""DuckDB: plain SQL where there is no recursion, a recursive CTE where that can say it, else rounds of semi-naive SQL from Python."""

from __future__ import annotations

import importlib
from collections.abc import Sequence

from tests.bench.peers.changes import Change
from tests.bench.peers.engine import Engine, Task
from tests.bench.peers.rules import Rule, select

AGGREGATES = "SELECT c1 AS c0, sum(c2) AS c1, count(*) AS c2, min(c2) AS c3, max(c2) AS c4 FROM s GROUP BY s.c1"
SUMS = "SELECT count(*), sum(c1)::BIGINT, sum(c2)::BIGINT, sum(c3 * (c0 % 97 + 1))::BIGINT, sum(c4 * (c0 % 97 + 1))::BIGINT FROM o"
MANY = 100  # changed rows that are handed over as a table


class Peer(Engine):
    problems = Engine.problems | {"csv", "start"}  # of 300 rules, the rounds from Python would be all that is measured

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._connection = importlib.import_module("duckdb").connect(config={"threads": task.threads})

    @classmethod
    def version(cls) -> str:
        return str(importlib.import_module("duckdb").__version__)

    def load(self) -> None:
        if self.problem.name == "csv":
            self._run(f"CREATE TABLE sale AS SELECT * FROM read_csv('{self.place}/sale.csv', header=false)")
        for name, arity in self.problem.given.items():
            columns = ", ".join(f"'c{column}': 'BIGINT'" for column in range(arity))
            path = self.place / f"{name}.facts"
            self._run(f"CREATE TABLE {name} AS SELECT * FROM read_csv('{path}', delim='\t', header=false, columns={{{columns}}})")
        derived = self.problem.derived
        for name, arity in self.problem.arities.items():
            if name not in self.problem.given and (name not in derived or not self._linear):
                self._run(f"CREATE TABLE {name} ({', '.join(f'c{column} BIGINT' for column in range(arity))})")
        for rule in self.problem.rules:
            if not rule.body:
                self._run(f"INSERT INTO {rule.head.name} VALUES ({', '.join(rule.head.arguments)})")

    def evaluate(self) -> None:
        if self.problem.name == "csv":
            return
        if self.problem.name == "aggregates":
            self._run(f"CREATE OR REPLACE TABLE o AS {AGGREGATES}")
        elif self._linear:
            self._with_a_query()
        else:
            self._in_rounds()

    def answer(self) -> tuple[int, ...]:
        query = SUMS if self.problem.name == "aggregates" else f"SELECT count(*) FROM {self.problem.result}"
        return tuple(map(int, self._run(query).fetchone()))

    def apply(self, changes: Sequence[Change]) -> None:
        if len(changes) < MANY:
            self._run("BEGIN")
            for sign, name, row in changes:
                if sign > 0:
                    self._run(f"INSERT INTO {name} VALUES ({', '.join('?' * len(row))})", row)
                else:
                    self._run(f"DELETE FROM {name} WHERE {' AND '.join(f'c{column} = ?' for column in range(len(row)))}", row)
            self._run("COMMIT")
        else:
            self._apply_table(changes)
        self.evaluate()

    def _apply_table(self, changes: Sequence[Change]) -> None:
        import numpy as np

        for name in {change.name for change in changes}:
            for sign in (-1, 1):
                rows = np.array([change.row for change in changes if change.name == name and change.sign == sign], np.int64)
                if len(rows):
                    names = [f"c{column}" for column in range(rows.shape[1])]
                    self._connection.register("changed", dict(zip(names, np.ascontiguousarray(rows.T), strict=True)))
                    same = " AND ".join(f"{name}.{column} = changed.{column}" for column in names)
                    self._run(f"INSERT INTO {name} FROM changed" if sign > 0 else f"DELETE FROM {name} USING changed WHERE {same}")

    @property
    def _linear(self) -> bool:
        """One derived predicate, of which each rule has one atom at most: that is what WITH RECURSIVE can say."""
        rules = self.problem.rules
        derived = self.problem.derived
        return len(derived) == 1 and all(sum(atom.name == derived[0] for atom in rule.body) < 2 for rule in rules)

    def _with_a_query(self) -> None:
        (name,) = self.problem.derived
        rules = [rule for rule in self.problem.rules if rule.body]
        first = [_body(rule) for rule in rules if all(atom.name != name for atom in rule.body)]
        again = [_body(rule) for rule in rules if any(atom.name == name for atom in rule.body)]
        if again:
            columns = ", ".join(f"c{column}" for column in range(self.problem.arities[name]))
            query = f"WITH RECURSIVE {name}({columns}) AS ({' UNION '.join(first)} UNION {' UNION '.join(again)}) SELECT * FROM {name}"
        else:
            query = " UNION ".join(first)
        self._run(f"CREATE OR REPLACE TABLE {name} AS {query}")

    def _in_rounds(self) -> None:
        """Rows of the last round against all rows, until a round brings nothing new."""
        rules, derived = [rule for rule in self.problem.rules if rule.body], self.problem.derived
        for name in derived:
            own = [_body(rule) for rule in rules if rule.head.name == name and not any(atom.name in derived for atom in rule.body)]
            self._run(f"DELETE FROM {name}")
            if own:
                self._run(f"INSERT INTO {name} {' UNION '.join(own)}")
            self._run(f"CREATE OR REPLACE TABLE {name}_new AS SELECT * FROM {name}")
        while True:
            came = 0
            for name in derived:
                bodies = []
                for rule in rules:
                    for number, atom in enumerate(rule.body):
                        if rule.head.name == name and atom.name in derived:
                            tables = [one.name + ("_new" if at == number else "") for at, one in enumerate(rule.body)]
                            bodies.append(select(rule, tables))
                found = f"SELECT * FROM ({' UNION ALL '.join(bodies)}) EXCEPT SELECT * FROM {name}" if bodies else f"FROM {name} LIMIT 0"
                self._run(f"CREATE OR REPLACE TABLE {name}_next AS {found}")
            for name in derived:
                self._run(f"INSERT INTO {name} SELECT * FROM {name}_next")
                self._run(f"CREATE OR REPLACE TABLE {name}_new AS SELECT * FROM {name}_next")
                came += self._run(f"SELECT count(*) FROM {name}_new").fetchone()[0]
            if not came:
                return

    def _run(self, query: str, values: Sequence[object] = ()) -> _Cursor:
        cursor: _Cursor = self._connection.execute(query, values)
        return cursor


class _Cursor:
    """What of DuckDB's cursors is used here."""

    def fetchone(self) -> tuple[int, ...]:
        raise NotImplementedError


def _body(rule: Rule) -> str:
    return select(rule, [atom.name for atom in rule.body])
