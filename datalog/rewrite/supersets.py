"""Supersets of recursive predicates, for the guards of helpers that recursion would otherwise drag into a cycle.

    p(x) ← p(y), x = y + 1, x < 9, !(∃ z. q(z), z < x)

The helper of the group needs the values of x, which only p gives; taken from p, p would depend on its own negation. So it
takes them from `p@super`, which has p's rules without their negated groups, thus at least p's rows, and does not depend on
the helper. A guard may be any superset (`datalog.rewrite.helpers`).

What is not promised: without its groups a recursion that computes may not end. So it must look bounded without them: each
value that a recursive rule computes must be compared with something, or be looked up. Where it does not, the guard stays as
it is, and `datalog.rewrite.stratify` reports the cycle.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from datalog.analysis.quantify import quantify
from datalog.ir.formulas import Atom, Comparison, Conjunction, Disjunction, Literal, Negation, Operation, Program, Rule, Signature, Variable
from datalog.ir.occurrences import literal_atoms, literal_variables

SUPERSET = "@super"


class Supersets:
    """Replaces recursive predicates by supersets of them; keeps the supersets' signatures and rules."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self.signatures: dict[str, Signature] = {}
        self.rules: list[Rule] = []

    def stand_in(self, rule: Rule, recursion: frozenset[str]) -> Rule:
        """The rule with supersets for the predicates of `recursion`; the rule itself if it has none or they look unbounded."""
        if not any(atom.predicate in recursion for atom, _ in literal_atoms(rule.body)):
            return rule
        if not all(_looks_bounded(other, recursion) for other in self._program.rules):
            return rule
        self._define(recursion)
        return quantify(rule.heads, _renamed(rule.body, recursion), rule.span, rule.text)

    def _define(self, recursion: frozenset[str]) -> None:
        for name, signature in self._program.signatures.items():
            if name not in recursion or name + SUPERSET in self.signatures:
                continue
            self.signatures[name + SUPERSET] = replace(signature, name=name + SUPERSET, hidden=True, functional=False)
            for rule in self._program.rules:
                heads = [replace(head, predicate=name + SUPERSET) for head in rule.heads if head.predicate == name]
                if heads:
                    self.rules.append(quantify(heads, _renamed(rule.body, recursion), rule.span, rule.text))


def is_group(literal: Literal) -> bool:
    """Whether the literal is a negation that needs a helper: of more than one plain atom or comparison."""
    match literal:
        case Negation(body=Conjunction(literals=(Atom() | Comparison(),))):
            return False
        case _:
            return isinstance(literal, Negation)


def _renamed(conjunction: Conjunction, recursion: frozenset[str]) -> Conjunction:
    """The conj over the supersets, without its groups."""
    literals: list[Literal] = []
    for literal in conjunction.literals:
        match literal:
            case Atom() if literal.predicate in recursion:
                literals.append(replace(literal, predicate=literal.predicate + SUPERSET))
            case Conjunction():
                literals.append(_renamed(literal, recursion))
            case Disjunction():
                literals.append(Disjunction(tuple(_renamed(branch, recursion) for branch in literal.branches), literal.span))
            case _ if not is_group(literal):
                literals.append(literal)
    return Conjunction((), tuple(literals), conjunction.span)


def _looks_bounded(rule: Rule, recursion: frozenset[str]) -> bool:
    if not any(head.predicate in recursion for head in rule.heads):
        return True
    if not any(atom.predicate in recursion for atom, _ in literal_atoms(rule.body)):
        return True
    if any(isinstance(term, Operation) for head in rule.heads for term in head.terms):
        return False
    leaves = list(_positive_leaves(rule.body))
    equalities = [leaf for leaf in leaves if isinstance(leaf, Comparison) and leaf.operator == "="]
    sides = [pair for leaf in equalities for pair in ((leaf.left, leaf.right), (leaf.right, leaf.left))]
    checked = {variable.name for leaf in leaves if leaf not in equalities for variable in literal_variables(leaf)}
    computed: set[str] = set()
    while (
        new := {
            side.name
            for side, other in sides
            if isinstance(side, Variable) and (isinstance(other, Operation) or (isinstance(other, Variable) and other.name in computed))
        }
        - computed
    ):
        computed |= new
    return not (computed - checked) & {variable.name for head in rule.heads for variable in literal_variables(head)}


def _positive_leaves(conjunction: Conjunction) -> Iterator[Atom | Comparison]:
    for literal in conjunction.literals:
        match literal:
            case Atom() | Comparison():
                yield literal
            case Conjunction():
                yield from _positive_leaves(literal)
            case Disjunction():
                for branch in literal.branches:
                    yield from _positive_leaves(branch)
