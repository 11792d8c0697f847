"""A negated group that holds disjunctions becomes several negated groups without: ¬∃z. a ∧ (b ∨ c) = ¬∃z. a ∧ b ∧ ¬∃z. a ∧ c.

Each group may then be range restricted by itself where the whole was not: in `!(e(x), (x = 1 ; x = y))` only the second
branch says what y is. A group of more than `LIMIT` alternatives stays whole. Own variables are renamed apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import product

from datalog.analysis.quantify import quantify
from datalog.analysis.safety import own_variables
from datalog.ir.formulas import Conjunction, Disjunction, Literal, Negation, Program, Rule
from datalog.ir.occurrences import literal_names
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
    if not 1 < len(alternatives) <= LIMIT:
        yield replace(negation, body=body)
        return
    own = own_variables(negation.body)
    for number, literals in enumerate(alternatives):
        renaming = {name: fresh_name(name, names) for name in sorted(own)} if number else {}
        yield replace(negation, body=rename_conjunction(Conjunction((), literals, body.span), renaming))


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
