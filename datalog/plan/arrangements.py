"""Arrangements: the column orders in which a predicate is kept.

A rule asks for a sequence of columns in the order in which its variables are bound; columns that it ignores stand
last and in any order. So an arrangement serves every request that is a prefix of it, and the fewest arrangements that
serve all requests are the requests that are no prefix of another one.
"""

from __future__ import annotations

from collections.abc import Iterable

Columns = tuple[int, ...]


def fewest_arrangements(requests: Iterable[Columns], width: int) -> tuple[Columns, ...]:
    """The fewest full column orders that serve all `requests`; at least one. Each is a permutation of range(width).

    >>> fewest_arrangements([(0,), (0, 1), (1,)], 2)
    ((0, 1), (1, 0))
    """
    chosen: list[Columns] = []
    for request in sorted(set(requests), key=lambda columns: (-len(columns), columns)):
        if not any(longer[: len(request)] == request for longer in chosen):
            chosen.append(request + tuple(column for column in range(width) if column not in request))
    return tuple(chosen) or (tuple(range(width)),)
