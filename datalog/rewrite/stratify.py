"""Strata of core rules: the components of their dependency graph, helpers included, dependencies first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from datalog.analysis.components import components
from datalog.analysis.dependencies import Edge, check_negation, successors
from datalog.analysis.findings import Findings
from datalog.ir.core import CoreRule, Predicate, Stratum

_HINT = "a negated group takes this variable's values from the recursion itself; bind it by an atom inside the group"


def stratify(predicates: Mapping[str, Predicate], rules: Sequence[CoreRule], text: str) -> tuple[Stratum, ...]:
    """The strata of the derived predicates.

    Raises ProgramError if a helper's guard made a predicate depend on its own negation, which its author's rules did not.
    """
    edges: list[Edge] = [(rule.head, atom.predicate, atom.negated, atom.span) for rule in rules for atom in rule.atoms]
    derived = [name for name, predicate in predicates.items() if predicate.derived]
    findings = Findings(text)
    check_negation(derived, edges, findings, _HINT)
    findings.raise_if_any()
    following = successors(edges)
    by_head: dict[str, list[int]] = {}
    for at, rule in enumerate(rules):
        by_head.setdefault(rule.head, []).append(at)
    strata: list[Stratum] = []
    for group in components(derived, following):
        recursive = any(predicate in group for member in group for predicate in following.get(member, ()))
        numbers = sorted(at for member in group for at in by_head.get(member, ()))
        strata.append(Stratum(group, tuple(numbers), recursive))
    return tuple(strata)
