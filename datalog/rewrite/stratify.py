"""Strata of core rules: the components of their dependency graph, helpers included, dependencies first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from datalog.analysis.components import components
from datalog.analysis.dependencies import Edge, check_recursion, successors
from datalog.analysis.findings import Findings
from datalog.ir.core import NO_GUARD, ROUND, CoreAggregate, CoreClosure, CoreNumbering, CoreRule, Guard, Predicate, Stratum
from datalog.rewrite.edges import aggregate_edges, guard_edges, numbering_edges

_HINT = "a negated group or an aggregate takes values of its variables from the recursion itself; bind them by an atom inside it"


def stratify(
    predicates: Mapping[str, Predicate],
    rules: Sequence[CoreRule],
    aggregates: Sequence[CoreAggregate],
    text: str,
    closures: Sequence[CoreClosure] = (),
    guard: Guard = NO_GUARD,
    numberings: Sequence[CoreNumbering] = (),
) -> tuple[Stratum, ...]:
    """The strata of the derived predicates that are made: not of sources that aggregates read at their origins.

    Raises ProgramError if a helper's guard made a predicate depend on its own negation or aggregate, which its author's rules did not.
    """
    edges: list[Edge] = [(rule.head, atom.predicate, "negated" if atom.negated else "", atom.span) for rule in rules for atom in rule.atoms]
    edges += aggregate_edges(aggregates, edges)
    edges += numbering_edges(numberings)
    edges += [(closure.head, closure.pairs, "", closure.span) for closure in closures]
    edges += guard_edges(guard)
    derived = [name for name, predicate in predicates.items() if predicate.derived]
    findings = Findings(text)
    check_recursion(derived, edges, findings, hint=_HINT)
    findings.raise_if_any()
    by_name = {aggregate.head: aggregate for aggregate in aggregates if not aggregate.asked}
    numbered = {one.head: one for one in numberings}
    unmade = {aggregate.source for aggregate in aggregates if aggregate.origin}
    following = successors(edges)
    by_head: dict[str, list[int]] = {}
    for at, rule in enumerate(rules):
        by_head.setdefault(rule.head, []).append(at)
    strata: list[Stratum] = []
    for group in components(derived, following):
        if group[0] in unmade:
            continue
        recursive = any(predicate in group for member in group for predicate in following.get(member, ()))
        numbers = sorted(at for member in group for at in by_head.get(member, ()))
        own = tuple(closure for closure in closures if closure.head in group)
        counted = any(atom.predicate == ROUND for number in numbers for atom in rules[number].atoms)
        asked = tuple(aggregate for aggregate in aggregates if aggregate.asked and aggregate.head in group)
        checks = guard.of(group, counted) or (NO_GUARD if asked else None)
        numbering = numbered.get(group[0])
        strata.append(Stratum(group, tuple(numbers), recursive, by_name.get(group[0]), own, checks, asked, numbering=numbering))
    return tuple(strata)
