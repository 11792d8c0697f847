"""Generated data, the same at every run, and independent counts of what the programs derive from it."""

from __future__ import annotations

import random
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.int64]
Edge = tuple[int, int]


def random_digraph(nodes: int, edges: int, seed: int) -> list[Edge]:
    """Distinct edges without loops, each as likely as any other, in no order."""
    generator = random.Random(seed)
    found: dict[Edge, None] = {}
    while len(found) < edges:
        edge = generator.randrange(nodes), generator.randrange(nodes)
        if edge[0] != edge[1]:
            found[edge] = None
    return list(found)


def chain(nodes: int) -> list[Edge]:
    """0 → 1 → 2 → …"""
    return [(node, node + 1) for node in range(nodes - 1)]


def binary_tree(nodes: int) -> list[Edge]:
    """Node n's children are 2n + 1 and 2n + 2."""
    return [((node - 1) // 2, node) for node in range(1, nodes)]


def closure_size(edges: Iterable[Edge]) -> int:
    """How many pairs the transitive closure of a graph has: sets of nodes as bits of integers, by Warshall's algorithm."""
    reached: dict[int, int] = {}
    for source, target in edges:
        reached[source] = reached.get(source, 0) | 1 << target
    for middle, beyond in [(node, reached[node]) for node in reached]:
        bit, beyond = 1 << middle, reached[middle]
        for source, targets in reached.items():
            if targets & bit:
                reached[source] = targets | beyond
    return sum(targets.bit_count() for targets in reached.values())


def skewed(rows: int, columns: int, values: int, seed: int, exponent: float = 1.2) -> Words:
    """Distinct rows whose values follow a power law, each column with an order of frequency of its own."""
    generator = np.random.default_rng(seed)
    weights = np.arange(1, values + 1, dtype=float) ** -exponent
    chances = weights / weights.sum()
    drawn = [generator.permutation(values)[generator.choice(values, rows, p=chances)] for _ in range(columns)]
    return np.unique(np.stack(drawn, axis=1).astype(np.int64), axis=0)
