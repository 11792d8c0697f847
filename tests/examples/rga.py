"""A replicated list by insertion into a Python list, as RGA defines it, and the order of the tree that it amounts to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

Character = tuple[int, int]
Insertion = tuple[int, int, int, int]

ORIGIN: Character = (0, 0)


class ReplicatedList:
    """All characters ever made, in order, and which of them are removed.

    Operations must come in causal order, and a character's name must be greater than those that its author had seen.
    """

    def __init__(self) -> None:
        self.characters: list[Character] = []
        self.removed: set[Character] = set()

    def insert(self, counter: int, node: int, parent_counter: int, parent_node: int) -> None:
        """Right behind the parent, but behind the later characters there, which were typed without knowing of this one."""
        parent = (parent_counter, parent_node)
        place = 0 if parent == ORIGIN else self.characters.index(parent) + 1
        while place < len(self.characters) and self.characters[place] > (counter, node):
            place += 1
        self.characters.insert(place, (counter, node))

    def remove(self, counter: int, node: int) -> None:
        self.removed.add((counter, node))

    def visible(self) -> list[Character]:
        return [character for character in self.characters if character not in self.removed]


def in_tree_order(insertions: Iterable[Insertion], removed: set[Character]) -> list[Character]:
    """The visible characters in depth-first order, later children first."""
    children: dict[Character, list[Character]] = defaultdict(list)
    for counter, node, *parent in insertions:
        children[parent[0], parent[1]].append((counter, node))
    found, pending = [], [ORIGIN]
    while pending:
        character = pending.pop()
        found.append(character)
        pending += sorted(children[character])
    return [character for character in found[1:] if character not in removed]
