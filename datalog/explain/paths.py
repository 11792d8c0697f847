"""How a row of an equivalence is had: by a shortest path of pairs between its elements.

In a recursion only pairs with smaller stamps than the row's are on it, so that no row ever rests on itself. O(m) for the m pairs of the
class, for each row that is asked for.
"""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from datalog.errors import InternalError
from datalog.evaluate.classes import ranges_of
from datalog.explain.facts import Codes
from datalog.explain.workbench import Workbench
from datalog.ir.core import CoreClosure

Words = NDArray[np.int64]


def path_of(bench: Workbench, closure: CoreClosure, row: Codes) -> list[Codes]:
    """The pairs on a shortest path between the two elements of a row that is there; of an element with itself any pair that it is in."""
    one, other = row
    ways: dict[int, list[tuple[int, Codes]]] = {}
    for left, right in sorted(map(tuple, _pairs(bench, closure, row).tolist()), key=lambda pair: pair != row):
        ways.setdefault(left, []).append((right, (left, right)))
        ways.setdefault(right, []).append((left, (left, right)))
    if one == other and one in ways:
        return [ways[one][0][1]]
    came: dict[int, tuple[int, Codes]] = {}
    waiting = deque([one])
    while waiting and other not in came:
        element = waiting.popleft()
        for following, pair in ways.get(element, ()):
            if following != one and following not in came:
                came[following] = element, pair
                waiting.append(following)
    if other not in came:
        raise InternalError(f"a row of {closure.head} is there, and no path of pairs leads from one of its elements to the other")
    path: list[Codes] = []
    while other != one:
        other, pair = came[other]
        path.append(pair)
    return path[::-1]


def class_of(bench: Workbench, closure: CoreClosure, element: int) -> Words:
    """The elements of a class; none if the element is in no class."""
    asked = np.array([[element]], np.int64)
    members: Words = ranges_of(bench.storage, closure.head).rows(asked, asked).rows[:, 1]
    return members


def _pairs(bench: Workbench, closure: CoreClosure, row: Codes) -> Words:
    """The pairs of a row's class that are older than it."""
    members = class_of(bench, closure, row[0]).reshape(-1, 1)
    found = ranges_of(bench.storage, closure.pairs).rows(members, members)
    if closure.head not in bench.recursion:
        return found.rows
    older: Words = found.rows[found.payloads < bench.storage.stamps(closure.head, np.array([row], np.int64))]
    return older
