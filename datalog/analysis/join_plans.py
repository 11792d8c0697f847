"""`.plan` directives: each must stand behind a rule, and order all positive atoms of its body.

The atoms of a rule are counted from 1 in the order of the text, wherever in the body they stand, but not under a negation.
Version k belongs to the k-th atom, counted from 0, whose predicate recurses through the rule's head.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from datalog.analysis.findings import Findings
from datalog.analysis.subsumption import SUFFIX as SUBSUMED
from datalog.ir.formulas import JoinPlan
from datalog.syntax.tree import Atom, Conjunction, Disjunction, Literal, Plan, PlanVersion, Program, Rule, Span


def join_plans(
    program: Program, components: Mapping[str, frozenset[str]], findings: Findings, recursive_only: bool = False
) -> tuple[JoinPlan, ...]:
    """The program's plans, by places; what is wrong with one is reported. `components` has the predicates that recurse with each other.
    With `recursive_only` rules that do not recurse have no plans."""
    found: list[JoinPlan] = []
    for before, clause in zip((None, *program.clauses), program.clauses, strict=False):
        if not isinstance(clause, Plan):
            continue
        if isinstance(before, Rule) and before.body.literals:
            plan = _plan(before, clause, components, findings)
            if recursive_only and not plan.recursive and not before.heads[0].predicate.endswith(SUBSUMED):
                findings.add(clause.span, "a `.plan` for a rule that does not recurse", "Soufflé takes none; dialect=any does")
            found.append(plan)
        elif isinstance(before, Plan):
            findings.add(clause.span, "a second `.plan` for one rule", "write all versions behind one `.plan`, with commas between them")
        else:
            findings.add(clause.span, "there is no rule before this `.plan`", "a plan stands directly behind the rule that it is for")
    return tuple(found)


def _plan(rule: Rule, plan: Plan, components: Mapping[str, frozenset[str]], findings: Findings) -> JoinPlan:
    atoms = list(_positive(rule.body))
    recursion = frozenset[str]().union(*(components.get(head.predicate, ()) for head in rule.heads))
    recursive = tuple(atom.span for atom in atoms if atom.predicate in recursion)
    orders: dict[int, tuple[Span, ...]] = {}
    for version in plan.versions:
        if version.number in orders:
            findings.add(version.span, f"version {version.number} comes twice", "keep one of them")
        elif _is_right(version, len(atoms), len(recursive), findings):
            orders[version.number] = tuple(atoms[place - 1].span for place in version.atoms)
    return JoinPlan(rule.span, tuple(atom.span for atom in atoms), recursive, orders)


def _is_right(version: PlanVersion, atoms: int, recursive: int, findings: Findings) -> bool:
    if version.number >= max(recursive, 1):
        last = recursive - 1
        hint = (
            f"version k is for the recursive atom k of the body, counted from 0: the last is {last}"
            if last > 0
            else "there is only version 0"
        )
        findings.add(version.span, f"the rule has no version {version.number}", hint)
        return False
    if sorted(version.atoms) != list(range(1, atoms + 1)):
        known = f"the body has the positive atom{'s' if atoms > 1 else ''} {_numbers(atoms)}" if atoms else "the body has no positive atom"
        findings.add(version.span, f"version {version.number} does not name each atom of the body once", known)
        return False
    return True


def _numbers(atoms: int) -> str:
    return "1" if atoms == 1 else f"1 to {atoms}"


def _positive(literal: Literal) -> Iterator[Atom]:
    match literal:
        case Atom():
            yield literal
        case Conjunction():
            for inner in literal.literals:
                yield from _positive(inner)
        case Disjunction():
            for branch in literal.branches:
                yield from _positive(branch)
