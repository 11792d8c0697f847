"""The answers that every engine must give: counted in plain Python and NumPy, once for each workload and number of transactions.

Triangles, the closure and the aggregates are counted by other ways than those of the hand-written peer; points-to, Galen's rules and
the document by its functions, so of these it is no check of that peer, but one of all others.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.bench.graphs import closure_size
from tests.bench.peers import by_hand
from tests.bench.peers.changes import Row, read_changes, read_rows
from tests.bench.peers.workloads import Workload

Answer = tuple[int, ...]
PAIRS = {False: 7_109, True: 319_389}
"""Variables and objects that they point to, of the extract and of the whole program, as the README of the example says."""
PATHS, PAIRS_OF_RULES = 55, 6  # of the programs of ten facts and of 300 rules


class Truth:
    """Answers by workload; each is counted when it is first asked for."""

    def __init__(self, whole: bool) -> None:
        self._known: dict[tuple[str, int, bool], Answer] = {}
        self._whole = whole

    def answer(self, workload: Workload, place: Path, transactions: int = 0, only_inserts: bool = False) -> Answer:
        """The answer on the facts of a folder after so many of its transactions."""
        key = f"{workload.problem.name} {place.name}", transactions, only_inserts
        if key not in self._known:
            self._known[key] = self._count(workload.problem.name, place, transactions, only_inserts)
        return self._known[key]

    def _count(self, problem: str, place: Path, transactions: int, only_inserts: bool) -> Answer:
        if problem == "java":  # of its transactions each second one takes back the first
            return (PAIRS[self._whole],)
        if problem == "csv":
            return ((place / "sale.csv").read_bytes().count(b"\n"),)
        if problem in ("start", "rules"):
            return (PATHS if problem == "start" else PAIRS_OF_RULES,)
        facts = facts_after(place, transactions, only_inserts)
        match problem:
            case "triangles":
                return (_triangles(facts["e"]),)
            case "closure":
                return (closure_size((int(x), int(y)) for x, y in facts["e"]),)
            case "points-to":
                return (sum(map(len, by_hand.points_to(facts).values())),)
            case "aggregates":
                return _sums(facts["s"])
            case "galen":
                return (len(by_hand.galen(facts)[0]),)
        assert problem == "document"
        return (len(by_hand.document(facts["insert"], facts["remove"])),)


def facts_after(place: Path, transactions: int, only_inserts: bool = False) -> dict[str, set[Row]]:
    """The rows of a folder's files after some of its transactions."""
    facts = {path.stem: set(read_rows(path)) for path in place.glob("*.facts")}
    facts |= {path.stem: set(read_rows(path, " ")) for path in place.glob("*.txt")}
    if transactions:
        for changes in read_changes(place, only_inserts)[:transactions]:
            for sign, name, row in changes:
                (facts[name].add if sign > 0 else facts[name].remove)(row)
    return facts


def _triangles(edges: set[Row]) -> int:
    targets: dict[object, set[object]] = {}
    for x, y in edges:
        targets.setdefault(x, set()).add(y)
    nothing: set[object] = set()
    return sum(len(targets[x] & targets.get(y, nothing)) for x, y in edges)


def _sums(sales: set[Row]) -> Answer:
    _, group, amount = np.array(sorted(sales), np.int64).T
    groups = np.unique(group)
    least, greatest = np.full(groups[-1] + 1, amount.max()), np.zeros(groups[-1] + 1, np.int64)
    np.minimum.at(least, group, amount)
    np.maximum.at(greatest, group, amount)
    total, count = np.zeros_like(greatest), np.bincount(group)
    np.add.at(total, group, amount)
    return by_hand.sums([column[groups] for column in (np.arange(len(total)), total, count, least, greatest)])
