"""The facts of the workloads, from fixed seeds: files of numbers, a folder for each, tab-separated.

`small` divides the sizes by about twenty. A folder of transactions has a file `changes` besides: the number of the transaction, 1 or -1
for a row that comes or goes, the predicate, the row; the rows all change something.
"""

from __future__ import annotations

import gzip
import random
import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests.bench.peers.changes import Change, Row, write_changes
from tests.bench.startup import PROGRAM, many_rules

Words = NDArray[np.int64]
Generator = np.random.Generator

EXAMPLES = Path(__file__).parents[3] / "examples"
POINTS_TO_SIZES = {"addr": 16_000, "assign": 28_000, "load": 6_500, "store": 6_500}
MODULE = 100  # variables of a module, which facts seldom leave


class Data:
    """Makes the folders that workloads read; `whole` is the folder of the large data sets, if there is one."""

    def __init__(self, folder: Path, small: bool, whole: Path | None) -> None:
        self.folder, self.small, self.whole = folder, small, whole
        self._less = 20 if small else 1

    def make(self, name: str) -> Path:
        """The folder of the given name, made if it is not there."""
        place = self.folder / name
        if not place.exists():
            making = self.folder / f"{name}.part"
            shutil.rmtree(making, ignore_errors=True)
            making.mkdir(parents=True)
            makers: dict[str, Callable[[Path], None]] = {
                **{f"w1-{size}": self._graph(edges) for size, edges in (("20k", 20_000), ("200k", 200_000), ("1m", 1_000_000))},
                **{f"w2-{shape}": getattr(self, f"_{shape}") for shape in ("random", "chain", "tree")},
                **{"w3": self._points_to, "w4": self._aggregates, "w6": self._batches, "w7": self._java, "w9": self._galen},
                **{"w8": lambda place: self._document(place, False), "w8-changes": lambda place: self._document(place, True)},
                **{"w10-csv": self._csv, "w10-start": self._start, "w10-rules": self._rules},
            }
            makers[name](making)
            making.rename(place)
        return place

    def _graph(self, edges: int) -> Callable[[Path], None]:
        def make(place: Path) -> None:
            count = edges // self._less
            generator, nodes = np.random.default_rng(1000 + edges), count // 8
            graph, fresh = _split(power_law(generator, nodes, count + 500 // self._less), count)
            _write(place / "e.facts", graph)
            _write_edge_changes(place, generator, graph, fresh)

        return make

    def _batches(self, place: Path) -> None:
        """The graph of w1-200k, and ten transactions that each bring half their edges and take the other half."""
        count, batch = 200_000 // self._less, 5_000 // self._less
        generator, nodes = np.random.default_rng(6), count // 8
        graph, fresh = _split(power_law(generator, nodes, count + 10 * batch), count)
        gone = graph[generator.choice(count, 10 * batch, replace=False)]
        _write(place / "e.facts", graph)
        blocks = [(fresh[at : at + batch], gone[at : at + batch]) for at in range(0, 10 * batch, batch)]
        write_changes(
            place, [[Change(1, "e", row) for row in _rows(new)] + [Change(-1, "e", row) for row in _rows(old)] for new, old in blocks]
        )

    def _random(self, place: Path) -> None:
        nodes, edges = (420, 590) if self.small else (1_900, 2_650)
        generator, changes = np.random.default_rng(2), 100 // (5 if self.small else 1)
        graph, fresh = _split(uniform(generator, nodes, edges + changes), edges)
        _write(place / "e.facts", graph)
        _write_edge_changes(place, generator, graph, fresh)

    def _chain(self, place: Path) -> None:
        nodes = np.arange(450 if self.small else 2_000)
        _write(place / "e.facts", np.stack([nodes[:-1], nodes[1:]], 1))

    def _tree(self, place: Path) -> None:
        generator = np.random.default_rng(7)
        nodes = 450 if self.small else 2_000
        _write(place / "e.facts", np.array([(generator.integers(0, node), node) for node in range(1, nodes)]))

    def _points_to(self, place: Path) -> None:
        generator, variables = np.random.default_rng(3), 40_000 // self._less
        changed = 200 // (5 if self.small else 1)
        rows: dict[str, tuple[Words, Words]] = {}
        for name, size in POINTS_TO_SIZES.items():
            size //= self._less
            drawn = generator.integers(0, variables, (size + changed) * 2)
            other = drawn // MODULE * MODULE + generator.integers(0, MODULE, len(drawn))
            far = generator.random(len(drawn)) < (0.006 if name == "assign" else 0.0)
            other[far] = generator.integers(0, variables, int(far.sum()))
            rows[name] = _split(_distinct(np.stack([drawn, other], 1)[drawn != other]), size)
            _write(place / f"{name}.facts", rows[name][0])
        transactions = []
        for number in range(changed):
            name = list(POINTS_TO_SIZES)[int(generator.integers(0, 4))]
            given, fresh = rows[name]
            chosen = fresh[number // 2] if number % 2 == 0 else given[number]  # given rows are in no order
            transactions.append([Change(1 if number % 2 == 0 else -1, name, _row(chosen))])
        write_changes(place, transactions)

    def _aggregates(self, place: Path) -> None:
        generator = np.random.default_rng(4)
        sales, groups = 1_000_000 // self._less, 10_000 // self._less
        group, amount = generator.integers(0, groups, sales), generator.integers(1, 100_000, sales)
        rows = np.stack([np.arange(sales), group, amount], 1)
        _write(place / "s.facts", rows)
        chosen = rows[generator.permutation(sales)[: 1_000 // self._less]]
        transactions: list[list[Change]] = []
        for number, old in enumerate(_rows(chosen)):
            new = int(generator.integers(0, groups)), int(generator.integers(1, 100_000))
            if number % 4 == 0:
                transactions.append([Change(1, "s", (sales + number, *new))])
            elif number % 4 == 2:
                transactions.append([Change(-1, "s", old), Change(1, "s", (*old[:2], int(old[2]) % 99_999 + 1))])
            else:
                transactions.append([Change(-1, "s", old)])
        write_changes(place, transactions)

    def _java(self, place: Path) -> None:
        """The whole program's facts, or the extract of the example; single facts of four relations go and come back."""
        source = EXAMPLES / "points-to" / "facts" if self.small or self.whole is None else self.whole / "points-to"
        for path in source.glob("*.facts.gz"):
            with gzip.open(path) as packed, (place / path.stem).open("wb") as unpacked:
                shutil.copyfileobj(packed, unpacked)
        generator = random.Random(4)
        transactions: list[list[Change]] = []
        for _ in range(100 // (5 if self.small else 1)):
            name = generator.choice(["AssignLocal", "AssignHeapAllocation", "LoadInstanceField", "StoreInstanceField"])
            fields = generator.choice((place / f"{name}.facts").read_text(encoding="utf-8").splitlines()).split("\t")
            transactions += [[Change(-1, name, tuple(fields))], [Change(1, name, tuple(fields))]]
        write_changes(place, transactions)

    def _document(self, place: Path, stream: bool) -> None:
        """The history of a text: whole, or an empty document and then one operation a transaction.

        The history does not tell how insertions and removals interleave; each removal comes as soon as it can.
        """
        source = EXAMPLES / "crdt" / "facts" if self.small or self.whole is None else self.whole / "crdt"
        inserted, removed = ([tuple(map(int, line.split())) for line in (source / f"{name}.txt").open()] for name in ("insert", "remove"))
        for name, rows in (("insert", inserted), ("remove", removed)):
            lines = [] if stream else [" ".join(map(str, row)) + "\n" for row in rows]
            (place / f"{name}.txt").write_text("".join(lines), encoding="utf-8")
        if stream:
            operations, there, next_removed = [], set(), 0
            for row in inserted:
                operations.append([Change(1, "insert", row)])
                there.add(row[:2])
                while next_removed < len(removed) and removed[next_removed] in there:
                    operations.append([Change(1, "remove", removed[next_removed])])
                    next_removed += 1
            write_changes(place, operations)

    def _galen(self, place: Path) -> None:
        """A hierarchy of classes, some ten deep, with restrictions, most of what follows from them within a module."""
        generator, classes = np.random.default_rng(9), 12_000 // self._less
        roles, few = 20, classes // 10

        def near(count: int) -> tuple[Words, Words]:
            first = generator.integers(0, classes, count)
            return first, first // 300 * 300 + generator.integers(0, 300, count) % np.maximum(
                1, np.minimum(300, classes - first // 300 * 300)
            )

        children = np.arange(1, classes)
        parents = (children * generator.random(classes - 1)).astype(np.int64)
        _write(place / "p0.facts", np.stack([children, parents], 1))
        first, second = near(classes // 2)
        _write(place / "q0.facts", _distinct(np.stack([first, generator.integers(0, roles, classes // 2), second], 1)))
        first, second = near(few)
        _write(place / "u.facts", _distinct(np.stack([first, generator.integers(0, roles, few), second], 1)))
        first, second = near(few)
        _write(place / "c.facts", _distinct(np.stack([first, second, near(few)[0]], 1)))
        _write(place / "s.facts", np.array([(role, role // 2) for role in range(2, roles, 3)]))
        _write(place / "r.facts", np.array([(role, role, role) for role in range(0, roles, 10)]))

    def _csv(self, place: Path) -> None:
        generator = random.Random(10)
        names = [f"customer {number} of {generator.choice('ABCDEFG')} street" for number in range(100_000 // self._less)]
        towns = [f"town {number}" for number in range(1_000 // self._less)]
        with (place / "sale.csv").open("w", encoding="utf-8") as file:
            for number in range(1_000_000 // self._less):
                file.write(f"{number},{generator.choice(names)},{generator.choice(towns)},{generator.randrange(100_000)}\n")

    def _start(self, place: Path) -> None:
        (place / "rules.dl").write_text(PROGRAM, encoding="utf-8")

    def _rules(self, place: Path) -> None:
        (place / "rules.dl").write_text(many_rules(), encoding="utf-8")


def power_law(generator: Generator, nodes: int, edges: int, exponent: float = 0.65) -> Words:
    """Distinct edges without loops, in no order; the chance of a node falls with its rank."""
    weights = np.cumsum(np.arange(1, nodes + 1, dtype=float) ** -exponent)
    names = generator.permutation(nodes)
    found = np.zeros((0, 2), np.int64)
    while len(found) < edges:
        drawn = names[np.searchsorted(weights, generator.random((edges, 2)) * weights[-1])]
        found = _distinct(np.concatenate((found, drawn[drawn[:, 0] != drawn[:, 1]])))
    return found[:edges]


def uniform(generator: Generator, nodes: int, edges: int) -> Words:
    """Distinct edges without loops, in no order, each as likely as any other."""
    codes = generator.choice(nodes * nodes, 2 * edges, replace=False)
    codes = codes[codes // nodes != codes % nodes][:edges]
    return np.stack([codes // nodes, codes % nodes], 1)


def _distinct(rows: Words) -> Words:
    """The distinct rows in the order in which they first appear."""
    return rows[np.sort(np.unique(rows, axis=0, return_index=True)[1])]


def _split(rows: Words, count: int) -> tuple[Words, Words]:
    return rows[:count], rows[count:]


def _row(row: Iterable[int]) -> Row:
    return tuple(int(value) for value in row)


def _rows(rows: Words) -> list[Row]:
    return [_row(row) for row in rows]


def _write(path: Path, rows: Words) -> None:
    path.write_text("".join("\t".join(map(str, row)) + "\n" for row in rows.tolist()), encoding="utf-8")


def _write_edge_changes(place: Path, generator: Generator, graph: Words, fresh: Sequence[Words] | Words) -> None:
    """Single edges that come and edges of the graph that go, in turn."""
    gone = graph[generator.choice(len(graph), len(fresh), replace=False)]
    write_changes(
        place,
        [[Change(sign, "e", _row(edge))] for new, old in zip(fresh, gone, strict=True) for sign, edge in ((1, new), (-1, old))],
    )
