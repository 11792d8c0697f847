"""`.plan` directives: each must stand behind a rule, and order all positive atoms of its body.

The atoms of a rule are counted from 1 in the order of the text, wherever in the body they stand, but not under a negation (under two,
they are). Or, as in Soufflé, those of each branch of a disjunction from the same number on, if all branches have as many. Version k
belongs to the k-th atom, counted from 0, whose predicate recurses through the rule's head.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence

from datalog.analysis.findings import Findings
from datalog.ir.core import SUBSUMED
from datalog.ir.formulas import JoinPlan
from datalog.syntax.tree import Atom, Conjunction, Disjunction, Literal, Negation, Plan, PlanVersion, Program, Rule, Span

_Numbered = list[tuple[Span, ...]]  # for each number the places of the atoms that have it


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
    recursion = frozenset[str]().union(*(components.get(head.predicate, ()) for head in rule.heads))
    atoms = _one_by_one(rule.body, components)
    recursive = _one_by_one(rule.body, recursion)
    branches = _by_branches(rule.body, components)
    ways = [atoms] if branches is None else [atoms, branches]
    if not any(_fits(version, atoms) for version in plan.versions):
        recursive = _by_branches(rule.body, recursion) or recursive
    orders: dict[int, tuple[Span, ...]] = {}
    for version in plan.versions:
        if version.number in orders:
            findings.add(version.span, f"version {version.number} comes twice", "keep one of them")
        elif version.number >= max(len(recursive), 1):
            findings.add(version.span, f"the rule has no version {version.number}", _last_version(len(recursive)))
        elif fitting := [way for way in ways if _fits(version, way)]:
            orders[version.number] = tuple(span for place in version.atoms for span in fitting[0][place - 1])
        else:
            known = f"the body has {_numbers(len(atoms))}"
            findings.add(version.span, f"version {version.number} does not name each atom of the body once", known)
    return JoinPlan(rule.span, tuple(span for spans in atoms for span in spans), tuple(recursive), orders)


def _fits(version: PlanVersion, numbered: Sequence[object]) -> bool:
    return sorted(version.atoms) == list(range(1, len(numbered) + 1))


def _last_version(recursive: int) -> str:
    last = recursive - 1
    if last > 0:
        return f"version k is for the recursive atom k of the body, counted from 0: the last is {last}"
    return "there is only version 0"


def _numbers(atoms: int) -> str:
    if not atoms:
        return "no positive atom"
    return "the positive atom 1" if atoms == 1 else f"the positive atoms 1 to {atoms}"


def _one_by_one(literal: Literal, predicates: Container[str]) -> _Numbered:
    """The places of the positive atoms of `predicates`, each with a number of its own."""
    return [(span,) for span in _positive(literal, predicates)]


def _positive(literal: Literal, predicates: Container[str], negated: bool = False) -> Iterator[Span]:
    match literal:
        case Atom() if not negated and literal.predicate in predicates:
            yield literal.span
        case Negation():
            yield from _positive(literal.body, predicates, not negated)
        case Conjunction():
            for inner in literal.literals:
                yield from _positive(inner, predicates, negated)
        case Disjunction():
            for branch in literal.branches:
                yield from _positive(branch, predicates, negated)


def _by_branches(literal: Literal, predicates: Container[str], negated: bool = False) -> _Numbered | None:
    """The same, the first atoms of all branches of a disjunction with one number, and so on; None if one has more than another."""
    match literal:
        case Atom():
            return _one_by_one(literal, predicates) if not negated else []
        case Negation():
            return _by_branches(literal.body, predicates, not negated)
        case Conjunction(literals=parts) | Disjunction(branches=parts):
            numbered = [_by_branches(part, predicates, negated) for part in parts]
            known = [part for part in numbered if part is not None]
            if len(known) < len(numbered):
                return None
            if isinstance(literal, Conjunction) != negated:
                return [spans for part in known for spans in part]
            even = len({len(part) for part in known}) < 2
            return [tuple(span for spans in same for span in spans) for same in zip(*known, strict=True)] if even else None
        case _:
            return []
