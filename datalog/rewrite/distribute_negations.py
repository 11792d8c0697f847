"""Negated groups are taken apart where that lets each part be range restricted by itself.

One that holds disjunctions becomes several without: ¬∃z. a ∧ (b ∨ c) = ¬∃z. a ∧ b ∧ ¬∃z. a ∧ c. In `!(e(x), (x = 1 ; x = y))`
only the second branch says what y is. A group of more than `LIMIT` alternatives stays whole. Own variables are renamed apart.

A test t without own variables, of a variable that nothing in its group binds, leaves it: ¬∃z. a ∧ t = ¬(∃z. a) ∨ ¬t. Where it
may fail it is computed, as before, only if the rest of the group holds: ¬(∃z. a) ∨ (∃z. a) ∧ ¬t.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import product

from datalog.analysis.quantify import quantify
from datalog.analysis.safety import bound_by, own_variables
from datalog.ir.formulas import Comparison, Conjunction, Disjunction, Literal, Negation, Program, Rule
from datalog.ir.occurrences import flat, literal_names, may_fail
from datalog.ir.renaming import fresh_name, rename_conjunction

LIMIT = 16


def distribute_negations(program: Program) -> Program:
    """The program with no disjunction directly in a negated group, but for those of very many branches."""
    return replace(program, rules=tuple(_rule(rule) for rule in program.rules))


def _rule(rule: Rule) -> Rule:
    literals: tuple[Literal, ...] = (*rule.heads, rule.body)
    names = {name for literal in literals for name in literal_names(literal)}
    body = _conjunction(rule.body, names)
    return rule if body == rule.body else quantify(rule.heads, body, rule.span, rule.text)


def _conjunction(conjunction: Conjunction, names: set[str]) -> Conjunction:
    return replace(conjunction, literals=tuple(part for literal in conjunction.literals for part in _literal(literal, names)))


def _literal(literal: Literal, names: set[str]) -> Iterator[Literal]:
    match literal:
        case Negation():
            yield from _negation(literal, names)
        case Conjunction():
            yield _conjunction(literal, names)
        case Disjunction():
            yield replace(literal, branches=tuple(_conjunction(branch, names) for branch in literal.branches))
        case _:
            yield literal


def _negation(negation: Negation, names: set[str]) -> Iterator[Literal]:
    body = _conjunction(negation.body, names)
    alternatives = list(_alternatives(body.literals))
    own = own_variables(negation.body) | (literal_names(body) - literal_names(negation.body))  # and of the groups that those within became
    if not 1 < len(alternatives) <= LIMIT:
        yield _freed(replace(negation, body=body), own, names)
        return
    for number, literals in enumerate(alternatives):
        renaming = {name: fresh_name(name, names) for name in sorted(own)} if number else {}
        renamed = rename_conjunction(Conjunction((), literals, body.span), renaming)
        yield _freed(replace(negation, body=renamed), {renaming.get(name, name) for name in own}, names)


def _freed(negation: Negation, own: set[str], names: set[str]) -> Literal:
    """A negated group without the tests that can leave it and have to."""
    literals, span = tuple(flat(negation.body.literals)), negation.span
    tests = [literal for literal in literals if isinstance(literal, Comparison) and own.isdisjoint(literal_names(literal))]
    bound = bound_by([literal for literal in literals if literal not in tests], frozenset())
    leaving = [test for test in tests if not literal_names(test) <= bound]
    rest = tuple(literal for literal in literals if literal not in leaving)
    if not leaving or not rest:
        return negation
    branches = [Conjunction((), (replace(negation, body=replace(negation.body, literals=rest)),), span)]
    for test in leaving:
        beside: tuple[Literal, ...] = ()
        if may_fail(test):
            renaming = {name: fresh_name(name, names) for name in sorted(own)}
            beside = rename_conjunction(Conjunction((), rest, span), renaming).literals
        branches.append(Conjunction((), (*beside, Negation(Conjunction((), (test,), span), span)), span))
    return Disjunction(tuple(branches), span)


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
