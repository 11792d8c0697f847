"""Negated groups are taken apart where that lets each part be range restricted by itself.

One that holds disjunctions becomes several without: ¬∃z. a ∧ (b ∨ c) = ¬∃z. a ∧ b ∧ ¬∃z. a ∧ c. In `!(e(x), (x = 1 ; x = y))`
only the second branch says what y is. A group of more than `LIMIT` alternatives stays whole. Own variables are renamed apart.

A test t, or in a recursion a negation, that shares no own variable with the rest of its group and has a variable that nothing there
binds, leaves it: ¬∃z. a ∧ t = ¬(∃z. a) ∨ ¬t. Where it may fail it is computed, as before, only if the rest of the group holds:
¬(∃z. a) ∨ (∃z. a) ∧ ¬t. In the body of an aggregate, which counts the ways in which it holds, only one of the branches may hold:
¬t ∨ t ∧ ¬(∃z. a).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from itertools import product

from datalog.analysis.dependencies import component_of, recursion_of, rule_edges
from datalog.analysis.quantify import quantify
from datalog.analysis.safety import bound_by, own_variables
from datalog.ir.formulas import Atom, Comparison, Conjunction, Disjunction, Literal, Negation, Program, Rule, Wildcard
from datalog.ir.occurrences import flat, literal_atoms, literal_names, may_fail
from datalog.ir.renaming import fresh_name, rename_conjunction
from datalog.syntax.tree import Span

LIMIT = 16


def distribute_negations(program: Program) -> Program:
    """The program with no disjunction directly in a negated group, but for those of very many branches."""
    counted = {aggregate.source for aggregate in program.aggregates}
    components = component_of(program.signatures, rule_edges(program.rules))
    return replace(program, rules=tuple(_rule(rule, counted, recursion_of(rule, components)) for rule in program.rules))


def _rule(rule: Rule, bodies: Collection[str], recursion: frozenset[str]) -> Rule:
    literals: tuple[Literal, ...] = (*rule.heads, rule.body)
    names = {name for literal in literals for name in literal_names(literal)}
    recursive = any(atom.predicate in recursion for atom, _ in literal_atoms(rule.body))
    body = _Distribution(names, rule.heads[0].predicate in bodies, recursive).conjunction(rule.body)
    return rule if body == rule.body else quantify(rule.heads, body, rule.span, rule.text)


class _Distribution:
    """What is done with one rule's negations. `names` are those that its variables have; in a `counted` one, ways are counted."""

    def __init__(self, names: set[str], counted: bool, recursive: bool) -> None:
        self._names, self._counted, self._recursive = names, counted, recursive

    def conjunction(self, conjunction: Conjunction) -> Conjunction:
        return replace(conjunction, literals=tuple(part for literal in conjunction.literals for part in self._literal(literal)))

    def _literal(self, literal: Literal) -> Iterator[Literal]:
        match literal:
            case Negation():
                yield from self._negation(literal)
            case Conjunction():
                yield self.conjunction(literal)
            case Disjunction():
                yield replace(literal, branches=tuple(map(self.conjunction, literal.branches)))
            case _:
                yield literal

    def _negation(self, negation: Negation) -> Iterator[Literal]:
        body = self.conjunction(negation.body)
        alternatives = list(_alternatives(body.literals))
        own = own_variables(negation.body) | (
            literal_names(body) - literal_names(negation.body)
        )  # and of the groups that those within became
        if not 1 < len(alternatives) <= LIMIT:
            yield self._freed(replace(negation, body=body), own)
            return
        for number, literals in enumerate(alternatives):
            renaming = {name: fresh_name(name, self._names) for name in sorted(own)} if number else {}
            renamed = rename_conjunction(Conjunction((), literals, body.span), renaming)
            yield self._freed(replace(negation, body=renamed), {renaming.get(name, name) for name in own})

    def _freed(self, negation: Negation, own: set[str]) -> Literal:
        """A negated group without the tests and negations that can leave it and have to."""
        literals, span = tuple(flat(negation.body.literals)), negation.span
        movable = [literal for literal in literals if self._may_leave(literal, literals, own)]
        bound = bound_by([literal for literal in literals if literal not in movable], frozenset())
        leaving = [literal for literal in movable if not literal_names(literal) - own <= bound]
        rest = tuple(literal for literal in literals if literal not in leaving)
        if not leaving or len(leaving) >= LIMIT or (not rest and len(leaving) == 1 and isinstance(leaving[0], Comparison)):
            return negation
        without = (replace(negation, body=replace(negation.body, literals=rest)),) if rest else ()
        branches: list[tuple[Literal, ...]] = []
        for at, literal in enumerate(leaving):
            beside = leaving[:at] if self._counted else self._safeguards(literal, leaving, rest, own)
            branches.append((*beside, *_opposite(literal, span)))
        if without:
            branches.insert(0, (*leaving, *without) if self._counted else without)
        parts = tuple(Conjunction((), branch, span) for branch in branches)
        return parts[0] if len(parts) == 1 else Disjunction(parts, span)

    def _may_leave(self, literal: Literal, group: Iterable[Literal], own: set[str]) -> bool:
        shared = own & literal_names(literal)
        if not self._recursive and isinstance(literal, Negation):
            return False  # what binds its variables may stand beside it in a helper
        match literal:
            case Comparison():
                return not shared and not (self._counted and may_fail(literal))
            case Negation() if not self._counted:
                return all(shared.isdisjoint(literal_names(other)) for other in group if other is not literal)
            case Negation(body=Conjunction(literals=(Atom(terms=terms),))):
                return not shared and not may_fail(literal) and not any(isinstance(term, Wildcard) for term in terms)
            case _:
                return False

    def _safeguards(self, literal: Literal, leaving: Iterable[Literal], rest: tuple[Literal, ...], own: set[str]) -> tuple[Literal, ...]:
        """What has to hold for the literal to be computed."""
        if not may_fail(literal):
            return ()
        others = (*rest, *(other for other in leaving if not may_fail(other)))
        renaming = {name: fresh_name(name, self._names) for name in sorted(own)}
        return rename_conjunction(Conjunction((), others, literal.span), renaming).literals


def _opposite(literal: Literal, span: Span) -> tuple[Literal, ...]:
    return literal.body.literals if isinstance(literal, Negation) else (Negation(Conjunction((), (literal,), span), span),)


def _alternatives(literals: Iterable[Literal]) -> Iterator[tuple[Literal, ...]]:
    choices = []
    for literal in literals:
        if isinstance(literal, Disjunction):
            choices.append([flat for branch in literal.branches for flat in _alternatives(branch.literals)])
        elif isinstance(literal, Conjunction):
            choices.append(list(_alternatives(literal.literals)))
        else:
            choices.append([(literal,)])
    for choice in product(*choices):
        yield tuple(literal for part in choice for literal in part)
