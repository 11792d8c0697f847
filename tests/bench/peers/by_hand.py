"""What one would write by hand for each problem, in NumPy or plain Python: peers in their own right, and where answers come from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from tests.bench.peers.changes import Row

Words = NDArray[np.int64]
Cell = int | str
WEDGES = 4_000_000  # that are expanded at a time


def triangles(edges: Words) -> Words:
    """All (x, y, z) with edges x → y, y → z, x → z: paths of two edges are expanded and their ends looked up among the sorted edges."""
    nodes = int(edges.max()) + 1
    codes = np.sort(edges[:, 0] * nodes + edges[:, 1])
    x, y = codes // nodes, codes % nodes
    start = np.searchsorted(x, np.arange(nodes + 1))
    ways = np.diff(start)[y]
    before = np.concatenate(([0], np.cumsum(ways)))
    found, at = [], 0
    while at < len(x):
        end = max(at + 1, int(np.searchsorted(before, before[at] + WEDGES, side="right")) - 1)
        edge = np.repeat(np.arange(at, end), ways[at:end])
        z = y[start[y[edge]] + np.arange(len(edge)) - (before[edge] - before[at])]
        wanted = x[edge] * nodes + z
        there = codes[np.minimum(np.searchsorted(codes, wanted), len(codes) - 1)] == wanted
        found.append(np.stack([x[edge[there]], y[edge[there]], z[there]], 1))
        at = end
    return np.concatenate(found)


def closure(edges: Words) -> NDArray[np.uint8]:
    """Which nodes each node reaches, as rows of bits, by Warshall's algorithm."""
    nodes = int(edges.max()) + 1
    reached = np.zeros((nodes, nodes), np.bool_)
    reached[edges[:, 0], edges[:, 1]] = True
    bits = np.packbits(reached, axis=1)
    for node in range(nodes):
        through = (bits[:, node >> 3] >> (7 - (node & 7)) & 1).astype(np.bool_)
        bits[through] |= bits[node]
    return bits


def bits_set(bits: NDArray[np.uint8]) -> int:
    return int(np.bitwise_count(bits).sum())


def points_to(facts: Mapping[str, Iterable[Row]]) -> dict[Cell, set[Cell]]:
    """Andersen's analysis with a list of work to do: what each variable may point to."""
    found: dict[Cell, set[Cell]] = defaultdict(set)
    flows: dict[Cell, set[Cell]] = defaultdict(set)
    loads: dict[Cell, list[Cell]] = defaultdict(list)
    stores: dict[Cell, list[Cell]] = defaultdict(list)
    work: list[tuple[Cell, Cell]] = []

    def point(variable: Cell, target: Cell) -> None:
        if target not in found[variable]:
            found[variable].add(target)
            work.append((variable, target))

    def flow(source: Cell, target: Cell) -> None:
        if target not in flows[source]:
            flows[source].add(target)
            for pointed in list(found[source]):
                point(target, pointed)

    for target, source in facts["assign"]:
        flows[source].add(target)
    for target, base in facts["load"]:
        loads[base].append(target)
    for base, source in facts["store"]:
        stores[base].append(source)
    for variable, target in facts["addr"]:
        point(variable, target)
    while work:
        variable, pointed = work.pop()
        for target in list(flows[variable]):
            point(target, pointed)
        for target in loads[variable]:
            flow(pointed, target)
        for source in stores[variable]:
            flow(source, pointed)
    return found


def aggregates(sales: Words) -> tuple[Words, ...]:
    """By group: its number, the sum, the count, the least and the greatest amount."""
    order = np.argsort(sales[:, 1], kind="stable")
    group, amount = sales[order, 1], sales[order, 2]
    groups, start = np.unique(group, return_index=True)
    count = np.diff(np.append(start, len(group)))
    return groups, np.add.reduceat(amount, start), count, np.minimum.reduceat(amount, start), np.maximum.reduceat(amount, start)


def sums(columns: Iterable[Iterable[int]]) -> tuple[int, ...]:
    """What is compared of the aggregates: how many groups, and a sum over each other column, those of extremes weighted by group."""
    group, total, count, least, greatest = (np.asarray(column, np.int64) for column in columns)
    weight = group % 97 + 1
    return len(group), int(total.sum()), int(count.sum()), int((least * weight).sum()), int((greatest * weight).sum())


def document(inserted: Iterable[Row], removed: Iterable[Row]) -> list[Row]:
    """The visible characters of a text in order: the tree of insertions depth first, the latest child first."""
    children: dict[Row, list[Row]] = defaultdict(list)
    for row in inserted:
        children[row[2:]].append(row[:2])
    gone, text = set(removed), []
    stack: list[Row] = [(0, 0)]
    while stack:
        place = stack.pop()
        stack += sorted(children.get(place, ()))
        if place not in gone:
            text.append(place)
    return text[1:]


def galen(facts: Mapping[str, Iterable[Row]]) -> tuple[set[Row], set[Row]]:
    """The least relations p and q of the six rules, with a list of work to do."""
    above: dict[Cell, set[Cell]] = defaultdict(set)  # p by its first column
    below: dict[Cell, set[Cell]] = defaultdict(set)  # p by its second column
    source: dict[Row, set[Cell]] = defaultdict(set)  # q by its second and third columns
    target: dict[Cell, set[Row]] = defaultdict(set)  # q by its first column
    roles: dict[Cell, list[Cell]] = defaultdict(list)
    joined: dict[Cell, list[Row]] = defaultdict(list)
    implied: dict[Cell, list[Row]] = defaultdict(list)
    chains: dict[Cell, list[Row]] = defaultdict(list)
    chained: dict[Cell, list[Row]] = defaultdict(list)
    for y, w, z in facts["c"]:
        joined[w].append((y, z))
        joined[y].append((w, z))
    for w, r, z in facts["u"]:
        implied[w].append((r, z))
    for r, w in facts["s"]:
        roles[r].append(w)
    for y, u, e in facts["r"]:
        chains[y].append((u, e))
        chained[u].append((y, e))
    p: set[Row] = set()
    q: set[Row] = set()
    restricting: dict[Row, list[Cell]] = defaultdict(list)  # by role and class: what follows
    work: list[Row] = []

    def say(rows: set[Row], row: Row) -> None:
        if row not in rows:
            rows.add(row)
            work.append(row)

    for row in facts["p0"]:
        say(p, tuple(row))
    for row in facts["q0"]:
        say(q, tuple(row))
    while work:
        row = work.pop()
        if len(row) == 2:
            x, z = row
            above[x].add(z)
            below[z].add(x)
            for other in list(above[z]):
                say(p, (x, other))
            for other in list(below[x]):
                say(p, (other, z))
            for r, o in list(target[z]):
                say(q, (x, r, o))
            for r, result in implied[z]:  # p(x, z), u(z, r, result), q(o, r, x)
                restricting[r, x].append(result)
                for o in list(source[r, x]):
                    say(p, (o, result))
            for other, result in joined[z]:
                if other in above[x]:
                    say(p, (x, result))
        else:
            x, r, z = row
            target[x].add((r, z))
            source[r, z].add(x)
            for other in list(below[x]):
                say(q, (other, r, z))
            for result in restricting[r, z]:
                say(p, (x, result))
            for role in roles[r]:
                say(q, (x, role, z))
            for u, e in chains[r]:
                for v, o in list(target[z]):
                    if v == u:
                        say(q, (x, e, o))
            for y, e in chained[r]:
                for before in list(source[y, x]):
                    say(q, (before, e, z))
    return p, q
