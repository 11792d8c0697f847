"""Proofs: trees of facts, drawn as text.

A fact that is used several times is one node with several parents, and is drawn once. Everything here goes without recursion:
a proof may be deeper than Python's stack.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["derived", "given", "absent", "computed", "aggregate", "row", "more", "cut"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Proof:
    """Why one literal holds.

    `fact` is the literal with its values. A `derived` fact has the `rule` that gives it, `place` (file:line) of that rule, and the
    rule's literals as `premises`, in the order of the text. A `given` fact has none, nor has a literal that is `absent` (a
    negation that holds, an aggregate over no rows) or `computed` (a comparison or a computation). `cut` marks a fact whose proof
    was not asked for. An `aggregate` has what it is over as premises: facts, and where its body has several literals a `row`
    of premises for each of its bindings, which `fact` tells; `more` says how many are left out.
    A fact of `debug_delta`, and one that was derived from rows which subsumption has taken away since, have no rule; `note` says so.
    `note` says more, for readers. `limit` is how many levels are drawn (None: all of them).
    """

    fact: str
    kind: Kind
    rule: str | None = None
    place: str = ""
    premises: tuple[Proof, ...] = ()
    note: str = ""
    limit: int | None = None

    def nodes(self) -> Iterator[Proof]:
        """This proof and all that it rests on, each once, in the order of the drawing."""
        seen: set[int] = set()
        stack = [self]
        while stack:
            node = stack.pop()
            if id(node) not in seen:
                seen.add(id(node))
                yield node
                stack.extend(reversed(node.premises))

    def to_dict(self) -> dict[str, Any]:
        """`{"fact": …, "steps": [{"fact", "kind", "rule", "place", "note", "premises"}, …]}`, ready for JSON.

        A step's premises are places in `steps`; the first step is the fact itself. Flat, since JSON libraries recurse.
        """
        numbers = {id(node): number for number, node in enumerate(self.nodes())}
        steps = [
            {
                "fact": node.fact,
                "kind": node.kind,
                "rule": node.rule,
                "place": node.place,
                "note": node.note,
                "premises": [numbers[id(premise)] for premise in node.premises],
            }
            for node in self.nodes()
        ]
        return {"fact": self.fact, "steps": steps}

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def __repr__(self) -> str:
        return f"<Proof of {self.fact}>"

    def _lines(self) -> Iterator[str]:
        """The tree, one line a node; a derived fact that has been drawn is only referred to."""
        drawn: set[int] = set()
        stack = [(self, "", "", 0)]
        while stack:
            node, lead, indent, level = stack.pop()
            at_limit = self.limit is not None and level >= self.limit
            if node.kind == "cut" or (at_limit and node.premises):
                yield f"{lead}{node.fact}  …"
            elif node.kind == "more":
                yield f"{lead}{node.fact}"
            elif id(node) in drawn:
                yield f"{lead}{node.fact}  see above"
            else:
                yield f"{lead}{node.fact}  {node._remark()}".rstrip()
                if node.premises:
                    drawn.add(id(node))
                last = len(node.premises) - 1
                for place in range(last, -1, -1):
                    branch, below = ("└─ ", "   ") if place == last else ("├─ ", "│  ")
                    stack.append((node.premises[place], indent + branch, indent + below, level + 1))

    def _remark(self) -> str:
        return self.note if self.rule is None else f"by {self.rule}  ({self.place})"
