"""An equivalence p is the closure of `p@pairs`, which has the rules and the given rows that the text says are p's.

    p(x, y) ← q(x, y)        becomes        p@pairs(x, y) ← q(x, y)        p = closure of p@pairs

No rule has p for its head then: it is filled by the closure alone (`datalog.ir.core.CoreClosure`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from datalog.ir.core import PAIRS, CoreClosure, CoreRule, Predicate
from datalog.rewrite.supersets import SUPERSET
from datalog.syntax.tree import Span


def close_pairs(
    rules: Iterable[CoreRule], predicates: Mapping[str, Predicate], equivalences: Mapping[str, Span]
) -> tuple[list[CoreRule], dict[str, Predicate], tuple[CoreClosure, ...]]:
    """The rules with pairs for the heads that are equivalences, the predicates of the pairs, and the closures."""
    closures = tuple(
        CoreClosure(head, head + PAIRS, span)
        for name, span in equivalences.items()
        for head in (name, name + SUPERSET)
        if head in predicates and predicates[head].derived
    )
    heads = {closure.head: closure.pairs for closure in closures}
    pairs = {closure.pairs: replace(predicates[closure.head], name=closure.pairs, hidden=True) for closure in closures}
    return [replace(rule, head=heads.get(rule.head, rule.head)) for rule in rules], pairs, closures
