"""Which predicate depends on which, and that no predicate depends on its own negation or on an aggregate of itself.

An edge goes from a head's predicate to each predicate of the body. What stands under any number of negations counts as
negated: a doubly negated group is not positive, because its inner negation is decided first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence

from datalog.analysis.components import components
from datalog.analysis.findings import Findings
from datalog.ir.core import SUBSUMED
from datalog.ir.formulas import Rule
from datalog.ir.occurrences import Under, literal_atoms
from datalog.syntax.tree import Span

Edge = tuple[str, str, Under, Span]
"""(head, body predicate, what the body atom stands under, its place)"""

_HINTS: dict[Under, str] = {
    "negated": "a predicate must be complete before it is negated",
    "aggregated": "a predicate must be complete before it is aggregated",
}


def rule_edges(rules: Iterable[Rule]) -> list[Edge]:
    """The edges of quantified rules, in the order of the text. What a subsumption says beside its two rows is a dependency of their
    predicate."""
    return [
        (head.predicate.removesuffix(SUBSUMED), atom.predicate, under, atom.span)
        for rule in rules
        for head in rule.heads
        for atom, under in list(literal_atoms(rule.body))[2 if head.predicate.endswith(SUBSUMED) else 0 :]
    ]


def successors(edges: Iterable[Edge]) -> dict[str, list[str]]:
    """Each head's body predicates, without repetitions, in the order of the edges."""
    found: dict[str, dict[str, None]] = {}
    for head, predicate, _, _ in edges:
        found.setdefault(head, {})[predicate] = None
    return {head: list(predicates) for head, predicates in found.items()}


def component_of(nodes: Iterable[str], edges: Iterable[Edge]) -> dict[str, frozenset[str]]:
    """For each predicate, the predicates that depend on it and it on them; itself among them."""
    return {member: frozenset(group) for group in components(nodes, successors(edges)) for member in group}


def reached(starts: Iterable[str], following: Mapping[str, Iterable[str]]) -> set[str]:
    """The predicates that these depend on, and they themselves."""
    found = set(starts)
    waiting = list(found)
    while waiting:
        new = set(following.get(waiting.pop(), ())) - found
        found |= new
        waiting += new
    return found


def recurses(name: str, group: Collection[str], following: Mapping[str, Collection[str]]) -> bool:
    """Whether a predicate depends on itself, given its component and what each predicate depends on."""
    return len(group) > 1 or name in following.get(name, ())


def recursion_of(rule: Rule, groups: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """The predicates that recurse through one of the rule's heads, given the components."""
    return frozenset().union(*(groups[head.predicate] for head in rule.heads))


def check_recursion(
    nodes: Iterable[str], edges: Sequence[Edge], findings: Findings, functional: Collection[str] = (), hint: str = ""
) -> None:
    """Report each negated or aggregated edge within a component, and each edge of a `functional` head, with a shortest cycle. Of the
    negations in one cycle the last is reported, which closes it.

    Of several edges at one place between predicates of the engine's own one is reported: an aggregate stands for itself and for
    the negation that says what it gives for nothing.
    """
    groups = component_of(nodes, edges)
    following = successors(edges)
    reported: set[tuple[str, str] | Span] = set()
    closing: dict[frozenset[str], tuple[Span, str]] = {}  # of several negations in one cycle, the last one
    for head, predicate, under, span in sorted(edges, key=lambda edge: edge[2] != "aggregated"):
        known = span if _is_hidden(head) or _is_hidden(predicate) else (head, predicate)
        if predicate not in groups.get(head, ()) or known in reported or not (under or head in functional):
            continue
        reported.add(known)
        path = [head, *_shortest_path(predicate, head, following, groups[head])]
        cycle = _shown(path, under == "negated")
        if under == "negated":
            members = frozenset(path)
            if members not in closing or closing[members][0].start <= span.start:
                closing[members] = span, cycle
        elif under:
            findings.add(span, f"an aggregate through recursion: {cycle}", hint or _HINTS[under])
        else:
            findings.add(
                span,
                f"a functional predicate through recursion: {cycle}",
                f"declare `{head}` as a relation, with the value as its last column",
            )
    for span, cycle in closing.values():
        findings.add(span, f"negation through recursion: {cycle}", hint or _HINTS["negated"])


def _is_hidden(predicate: str) -> bool:
    return "@" in predicate


def _shown(cycle: Sequence[str], negated: bool) -> str:
    """A closed cycle whose first edge may be negated, without the engine's own predicates."""
    names = list(zip(cycle[1:], (negated, *[False] * (len(cycle) - 2)), strict=True))
    visible = [at for at, (name, _) in enumerate(names) if not _is_hidden(name)]
    assert visible, "the engine's own predicates recurse only through those of the program"
    turned = names[visible[-1] + 1 :] + names[: visible[-1] + 1]  # ends with the predicate that it begins with
    shown, waiting = [turned[-1][0]], False
    for name, mark in turned:
        waiting |= mark
        if not _is_hidden(name):
            shown.append(f"!{name}" if waiting else name)
            waiting = False
    return " → ".join(shown)


def _shortest_path(start: str, goal: str, following: Mapping[str, Sequence[str]], inside: frozenset[str]) -> list[str]:
    parents: dict[str, str] = {start: start}
    queue = deque([start])
    while goal not in parents:
        node = queue.popleft()
        for successor in following.get(node, ()):
            if successor in inside and successor not in parents:
                parents[successor] = node
                queue.append(successor)
    path = [goal]
    while path[-1] != start:
        path.append(parents[path[-1]])
    return path[::-1]
