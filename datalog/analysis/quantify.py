"""Quantifiers: who is in the rule's ∀ block, and which conj's ∃ block holds each other variable.

A conj holds a variable if all of the variable's uses in the rule lie in it and in no one of its parts alone: that conj is
the smallest that encloses them. Source: leapfrog-triejoin-maintenance, figure 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from datalog.ir.formulas import Aggregation, Atom, Comparison, Conjunction, Disjunction, Literal, Negation, Rule, Truth, Variable
from datalog.ir.occurrences import literal_variables, term_variables
from datalog.syntax.tree import NOWHERE, Span


def quantify(heads: Iterable[Atom], body: Conjunction, span: Span = NOWHERE, text: str = "") -> Rule:
    """The rule with its quantifiers; ∃ blocks that `body` may have are replaced. Variables of ∀ stand in order of appearance."""
    heads = tuple(heads)
    forall = {variable.name: variable for head in heads for variable in literal_variables(head)}
    if all(isinstance(literal, Atom | Comparison | Truth) for literal in body.literals):  # the whole body holds what the head does not
        own = [variable for variable in literal_variables(body) if variable.name not in forall]
        return Rule(_declare(forall), heads, Conjunction(_in_order(own), body.literals, body.span), span, text)
    uses = Counter(variable.name for variable in literal_variables(body))
    for name in forall:
        uses[name] = 0  # never reached by a count, so never existential
    return Rule(_declare(forall), heads, _place(body, uses)[0], span, text)


def _declare(variables: dict[str, Variable]) -> tuple[Variable, ...]:
    return tuple(Variable(variable.name, variable.type, variable.span) for variable in variables.values())


def _place(conjunction: Conjunction, uses: Counter[str], beside: Counter[str] | None = None) -> tuple[Conjunction, Counter[str]]:
    """The conj with its blocks, and its uses of the variables that are placed neither in it nor below; `beside` counts as in it."""
    literals: list[Literal] = []
    seen: Counter[str] = Counter(beside)
    for literal in conjunction.literals:
        match literal:
            case Conjunction():
                placed, inner = _place(literal, uses)
                literals.append(placed)
            case Negation():
                placed, inner = _place(literal.body, uses)
                literals.append(Negation(placed, literal.span))
            case Disjunction():
                branches = [_place(branch, uses) for branch in literal.branches]
                literals.append(Disjunction(tuple(branch for branch, _ in branches), literal.span))
                inner = sum((counts for _, counts in branches), Counter[str]())
            case Aggregation():
                # Its arguments belong to its body: they are terms over the body's variables.
                arguments = Counter(variable.name for term in literal.arguments for variable in term_variables(term))
                placed, inner = _place(literal.body, uses, arguments)
                literals.append(replace(literal, body=placed))
                inner[literal.result.name] += 1
            case _:
                literals.append(literal)
                inner = Counter(variable.name for variable in literal_variables(literal))
        seen.update(inner)
    here = {name for name, count in seen.items() if count == uses[name]}
    exists = _in_order([variable for variable in literal_variables(conjunction) if variable.name in here])
    for name in here:
        del seen[name]
    return Conjunction(exists, tuple(literals), conjunction.span), seen


def _in_order(occurrences: list[Variable]) -> tuple[Variable, ...]:
    """Each variable as it first appears; the order is that of their last appearances."""
    first = {variable.name: variable for variable in reversed(occurrences)}
    return _declare(dict(reversed(first.items())))
