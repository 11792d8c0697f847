"""Databases whose steps are counted, and the programs and graphs for them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from datalog import Database
from datalog.maintain.engine import Maintain
from tests.kernels.blocks import COMPILED

Edge = tuple[int, int]
CLIQUES = (20, 40, 80) if COMPILED else (18, 26, 36)
CHAINS = (50, 100, 200) if COMPILED else (12, 24, 48)
LONG = 300 if COMPILED else 60

_CLOSURE = ".decl e(x: number, y: number)\n.decl p(x: number, y: number)\np(x, y) :- e(x, y).\n"
LEFT = _CLOSURE + "p(x, z) :- p(x, y), e(y, z).\n"
RIGHT = _CLOSURE + "p(x, z) :- e(x, y), p(y, z).\n"
NON_LINEAR = _CLOSURE + "p(x, z) :- p(x, y), p(y, z).\n"
LINEAR = {"left-linear": LEFT, "right-linear": RIGHT}
TRIANGLES = """.decl e(x: number, y: number)
.decl lone(x: number)
t(x, y, z) :- e(x, y), e(y, z), e(x, z), x < y, y < z.
named(x) :- lone(x).
"""


@dataclass(frozen=True, slots=True)
class Done:
    """What a transaction cost and changed in `p`."""

    steps: int
    inserted: int
    deleted: int


def on_edges(program: str, edges: Iterable[Edge], maintain: Maintain) -> Database:
    db = Database(program, maintain=maintain)
    with db.transaction() as tx:
        tx.insert("e", list(edges))
    return db


def change(db: Database, insert: Iterable[Edge] = (), delete: Iterable[Edge] = (), derived: str = "p") -> Done:
    before = db.steps
    with db.transaction() as tx:
        tx.insert("e", list(insert))
        tx.delete("e", list(delete))
    changed = tx.changes[derived]
    return Done(db.steps - before, len(changed.inserted), len(changed.deleted))


def clique(nodes: int) -> list[Edge]:
    return [(x, y) for x in range(nodes) for y in range(nodes) if x != y]


def chain(nodes: int, first: int = 0) -> list[Edge]:
    return [(node, node + 1) for node in range(first, first + nodes)]


def ring(nodes: int) -> list[Edge]:
    """Every node has three edges onwards: to the next one, to the one after that, and to the fifth."""
    return [(node, (node + far) % nodes) for node in range(nodes) for far in (1, 2, 5)]
