"""Random programs over lists, pairs and trees: patterns in bodies, values made in heads, recursion into parts, negation."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.oracle.rules import Blank, Var
from tests.oracle.structures import Clause, Equal, Holds, Made

TYPES = """.type List = [head: number, tail: List]
.type Pair = [left: List, name: symbol]
.type Tree = Node { left: Tree, value: number, right: Tree } | Tagged { tag: Pair } | Leaf {}
"""
SHAPES: dict[str, dict[str, tuple[str, ...]]] = {
    "List": {"": ("number", "List")},
    "Pair": {"": ("List", "symbol")},
    "Tree": {"Node": ("Tree", "number", "Tree"), "Tagged": ("Pair",), "Leaf": ()},
}
GIVEN = {"l": ("List", "number"), "t": ("Tree", "List"), "r": ("Pair",)}
PARTS = {  # what is within what is given: the recursion of every program
    "list": ("List", "list(x) :- l(x, _).", "list(x) :- list([_, x])."),
    "tree": ("Tree", "tree(x) :- t(x, _).", "tree(x) :- tree($Node(x, _, _)).", "tree(x) :- tree($Node(_, _, x))."),
}


def value(random: Random, type: str, depth: int = 3) -> Any:
    """A value of a type, in the oracle's form."""
    if type == "number":
        return random.choice((0, 1, 2))
    if type == "symbol":
        return random.choice(("a", "b"))
    if type != "Tree" and (depth == 0 or random.random() < 0.25):
        return None
    name = random.choice(list(SHAPES[type])) if depth else ("Leaf" if type == "Tree" else "")
    parts = tuple(value(random, part, depth - 1) for part in SHAPES[type][name])
    return (f"${name}", *parts) if name else parts


def clauses() -> list[Clause]:
    """The recursion into what is given, as the oracle has it."""
    x, _ = Var("x"), Blank()
    return [
        Clause(Holds("list", (x,)), (Holds("l", (x, _)),)),
        Clause(Holds("list", (x,)), (Holds("list", (Made("", (_, x)),)),)),
        Clause(Holds("tree", (x,)), (Holds("t", (x, _)),)),
        Clause(Holds("tree", (x,)), (Holds("tree", (Made("Node", (x, _, _)),)),)),
        Clause(Holds("tree", (x,)), (Holds("tree", (Made("Node", (_, _, x)),)),)),
    ]


class Maker:
    """One random rule after another; each may use the predicates of those before."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.types: dict[str, tuple[str, ...]] = {**GIVEN, "list": ("List",), "tree": ("Tree",)}

    def rule(self, name: str) -> Clause:
        self.bound: dict[str, str] = {}
        known = list(self.types)
        body: list[Holds | Equal] = []
        for _ in range(self.random.choice((1, 1, 2, 2, 3))):
            predicate = self.random.choice(known)
            body.append(Holds(predicate, tuple(self.term(type) for type in self.types[predicate])))
        structured = [variable for variable, type in self.bound.items() if type in SHAPES]
        if structured and self.random.random() < 0.5:
            variable = self.random.choice(structured)
            sides = [Var(variable), self.pattern(self.bound[variable], 2)]
            self.random.shuffle(sides)
            body.append(Equal(*sides))
        if self.random.random() < 0.4:
            type = self.random.choice(list(SHAPES))
            body.append(Equal(made := Var(f"m{len(self.bound)}"), self.ground(type, 2)))
            self.bound[made.name] = type
        if self.random.random() < 0.4:
            predicate = self.random.choice(known)
            body.append(Holds(predicate, tuple(self.ground(type, 2, open=True) for type in self.types[predicate]), negated=True))
        if structured and self.random.random() < 0.3:
            variable = self.random.choice(structured)
            body.append(Equal(Var(variable), self.ground(self.bound[variable], 1), negated=True))
        self.random.shuffle(body)
        types = tuple(self.random.choice(("number", "List", "Pair", "Tree")) for _ in range(self.random.choice((1, 2))))
        head = Holds(name, tuple(self.ground(type, 2) for type in types))
        self.types[name] = types
        return Clause(head, tuple(body))

    def term(self, type: str, depth: int = 2) -> Any:
        """A term that binds: a variable, new or known, a pattern, a constant or `_`."""
        chance = self.random.random()
        if type in SHAPES and depth and chance < 0.4:
            return self.pattern(type, depth)
        if chance < 0.5:
            return value(self.random, type, 1)
        if chance < 0.6:
            return Blank()
        same = [name for name, known in self.bound.items() if known == type]
        name = self.random.choice(same) if same and self.random.random() < 0.4 else f"v{len(self.bound)}"
        self.bound[name] = type
        return Var(name)

    def pattern(self, type: str, depth: int) -> Any:
        if type != "Tree" and self.random.random() < 0.1:
            return None
        name = self.random.choice(list(SHAPES[type]))
        return Made(name, tuple(self.term(part, depth - 1) for part in SHAPES[type][name]))

    def ground(self, type: str, depth: int, open: bool = False) -> Any:
        """A term of what is bound; with `open`, `_` may stand in it."""
        same = [name for name, known in self.bound.items() if known == type]
        chance = self.random.random()
        if open and chance < 0.3:
            return Blank()
        if same and chance < 0.7:
            return Var(self.random.choice(same))
        if type not in SHAPES or not depth:
            return value(self.random, type, 1)
        name = self.random.choice(list(SHAPES[type]))
        return Made(name, tuple(self.ground(part, depth - 1, open) for part in SHAPES[type][name]))
