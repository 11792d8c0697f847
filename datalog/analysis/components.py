"""Strongly connected components of a graph, dependencies first (Tarjan 1972), without recursion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence


def components(nodes: Iterable[str], successors: Mapping[str, Sequence[str]]) -> list[tuple[str, ...]]:
    """The components of the graph, each after all that its members point to, its members in the order of `nodes`.

    Deterministic: it depends on the order of `nodes` and of each node's successors only. O(nodes + edges).
    """
    order = {node: at for at, node in enumerate(nodes)}
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    standing: set[str] = set()
    found: list[tuple[str, ...]] = []
    for root in order:
        if root in index:
            continue
        path = [(root, iter(successors.get(root, ())))]
        index[root] = low[root] = len(index)
        stack.append(root)
        standing.add(root)
        while path:
            node, remaining = path[-1]
            for successor in remaining:
                if successor not in order:
                    continue
                if successor not in index:
                    index[successor] = low[successor] = len(index)
                    stack.append(successor)
                    standing.add(successor)
                    path.append((successor, iter(successors.get(successor, ()))))
                    break
                if successor in standing:
                    low[node] = min(low[node], index[successor])
            else:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[node])
                if low[node] == index[node]:
                    members = [stack.pop()]
                    while members[-1] != node:
                        members.append(stack.pop())
                    standing.difference_update(members)
                    found.append(tuple(sorted(members, key=order.__getitem__)))
    return found
