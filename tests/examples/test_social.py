"""The social graph: triangles, mutual friends and suggestions equal what plain sets of neighbours give."""

from __future__ import annotations

import random
from collections import defaultdict
from itertools import combinations
from pathlib import Path

import datalog
from tests.examples.conftest import EXAMPLES, WholeRun

HERE = EXAMPLES / "social"
TRIANGLES = 1_612_010  # by the count of those who published the graph

Edge = tuple[int, int]
Rows = set[tuple[int, ...]]


class Graph:
    """Neighbours as sets, and what the examples derive, computed from them."""

    def __init__(self, edges: set[Edge]) -> None:
        self.edges = edges
        self.friends: dict[int, set[int]] = defaultdict(set)
        for a, b in edges:
            self.friends[a].add(b)
            self.friends[b].add(a)

    def triangles(self) -> Rows:
        return {(x, y, z) for x, y in self.edges for z in self.friends[x] & self.friends[y] if z > y}

    def triangles_over(self, a: int, b: int) -> Rows:
        return {tuple(sorted((a, b, c))) for c in self.friends[a] & self.friends[b]}

    def mutual(self) -> Rows:
        return {(x, y, z) for z, around in tuple(self.friends.items()) for x, y in combinations(sorted(around), 2)}

    def suggestions(self) -> Rows:
        return {(x, y) for x, y, _ in self.mutual() if y not in self.friends[x]}


def read(path: Path) -> set[Edge]:
    return {(int(a), int(b)) for a, b in (line.split("\t") for line in path.read_text().splitlines())}


def random_changes(edges: set[Edge], chance: random.Random) -> tuple[set[Edge], set[Edge]]:
    """Up to three friendships to end and three to begin, the smaller number first."""
    people = sorted({person for edge in edges for person in edge})
    begun = {(a, b) for a, b in (sorted(chance.sample(people, 2)) for _ in range(3)) if (a, b) not in edges}
    return set(chance.sample(sorted(edges), 3)), begun


def test_the_sample_has_the_triangles_that_the_neighbours_share_after_each_change() -> None:
    edges = read(HERE / "facts/facebook.tsv")
    db = datalog.Database(HERE / "triangles.dl", facts=HERE / "facts")
    before = Graph(edges).triangles()
    assert set(db["triangle"]) == before
    assert len(before) == 1125
    chance = random.Random(1)
    for _ in range(20):
        ended, begun = random_changes(edges, chance)
        edges = edges - ended | begun
        with db.transaction() as tx:
            tx.delete("edge", ended)
            tx.insert("edge", begun)
        after = Graph(edges).triangles()
        assert set(db["triangle"]) == after
        assert tx.changes["triangle"].inserted == sorted(after - before)
        assert tx.changes["triangle"].deleted == sorted(before - after)
        before = after


def test_the_sample_has_the_mutual_friends_and_suggestions_of_its_neighbours_after_each_change() -> None:
    edges = read(HERE / "facts/facebook.tsv")
    db = datalog.Database(HERE / "friends.dl", facts=HERE / "facts")
    chance = random.Random(2)
    for _ in range(10):
        graph = Graph(edges)
        assert set(db["mutual"]) == graph.mutual()
        assert set(db["suggestion"]) == graph.suggestions()
        ended, begun = random_changes(edges, chance)
        edges = edges - ended | begun
        with db.transaction() as tx:
            tx.delete("edge", ended)
            tx.insert("edge", begun)


def test_the_sample_is_what_the_script_cuts(whole_run: WholeRun) -> None:
    name = "facts/facebook.tsv"
    assert (whole_run("social") / name).read_text() == (HERE / name).read_text()


def test_the_whole_graph_has_its_published_triangles_and_single_changes_those_of_the_edge(data_dir: Path) -> None:
    edges = read(data_dir / "graphs/facebook.tsv")
    db = datalog.Database(HERE / "triangles.dl", facts=data_dir / "graphs")
    assert len(db["triangle"]) == TRIANGLES
    chance = random.Random(3)
    for edge in chance.sample(sorted(edges), 20):
        graph = Graph(edges)
        with db.transaction() as tx:
            tx.delete("edge", [edge])
        assert tx.changes["triangle"].deleted == sorted(graph.triangles_over(*edge))
        assert tx.changes["triangle"].inserted == []
        edges.remove(edge)
    assert len(db["triangle"]) == len(Graph(edges).triangles())
    people = sorted({person for edge in edges for person in edge})
    for _ in range(20):
        a, b = sorted(chance.sample(people, 2))
        with db.transaction() as tx:
            tx.insert("edge", [(a, b)])
        expected = Graph(edges).triangles_over(a, b) if (a, b) not in edges else set()
        assert tx.changes["triangle"].inserted == sorted(expected)
        edges.add((a, b))
