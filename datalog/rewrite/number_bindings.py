"""`autoinc()` becomes an atom that numbers the bindings of its rule.

    p(autoinc(), x) ← q(x, y), r(y)

    p@bindings1(x, y) ← q(x, y), r(y)
    p@numbers1(x, y, n) = the numbers of p@bindings1(x, y)          a stratum of its own (`datalog.ir.core.CoreNumbering`)
    p(n, x) ← p@numbers1(x, y, n)

The bindings are those of all variables; in a body of one atom wildcards count, too, so that each row has a number. What the body says
of an `autoinc()`, and what nothing else binds, comes after the numbers. Where there are several in a rule, each binding takes
as many numbers, first for those in the body and then for those in the head. Rules are flat and have one head, so that one of several
heads or alternatives numbers the bindings of each.

Numbers run on from rule to rule: first come rules on whose numbers others depend, else they come in the order of the text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from datalog.analysis.dependencies import reached, successors
from datalog.analysis.quantify import quantify
from datalog.ir.core import CoreNumbering, Type
from datalog.ir.formulas import (
    Atom,
    Comparison,
    Conjunction,
    Constant,
    Literal,
    Negation,
    Operation,
    Program,
    Rule,
    Term,
    Variable,
)
from datalog.ir.occurrences import literal_variables, names_in
from datalog.ir.primitives import AUTOINC
from datalog.ir.renaming import fresh_name, with_named_wildcards
from datalog.rewrite.edges import program_edges
from datalog.rewrite.helpers import Helpers, without_unbound


def number_bindings(program: Program) -> Program:
    """The program without `autoinc()`, with the numberings that stand for it."""
    helpers = Helpers(program.signatures)
    rules: list[Rule] = []
    numberings: list[CoreNumbering] = []
    for rule in program.rules:
        if any(_calls((*rule.heads, *rule.body.literals))):
            own, numbering = _numbered(rule, helpers)
            rules += own
            numberings.append(numbering)
        else:
            rules.append(rule)
    if not numberings:
        return program
    done = replace(program, rules=tuple(rules), signatures={**program.signatures, **helpers.signatures})
    return replace(done, numberings=tuple(_in_order(numberings, done)))


def _numbered(rule: Rule, helpers: Helpers) -> tuple[tuple[Rule, Rule], CoreNumbering]:
    """The rule for the bindings and the rule over their numbers."""
    (head,) = rule.heads
    literals = rule.body.literals
    names = set(names_in((head, *literals), ()))
    body = without_unbound([literal for literal in literals if not any(_calls((literal,)))], ())
    counted = body
    if sum(isinstance(literal, Atom) for literal in body) == 1:
        counted = [with_named_wildcards(literal, names) if isinstance(literal, Atom) else literal for literal in body]
    variables = tuple({variable.name: variable for literal in counted for variable in literal_variables(literal)}.values())
    source = helpers.declare(head.predicate, "bindings", variables, rule.span)
    number = Variable(fresh_name(f"={AUTOINC}()", names), Type.NUMBER)
    target = helpers.declare(head.predicate, "numbers", (*variables, number), rule.span)
    span = next(_calls((*literals, head))).span
    numbers = _Numbers(number)
    later = [numbers.literal(literal) for literal in literals if not any(literal is other for other in body)]
    numbered = numbers.atom(head)
    rules = (
        quantify([Atom(source.name, variables, rule.span)], Conjunction((), tuple(counted), rule.body.span), rule.span, rule.text),
        quantify([numbered], Conjunction((), (Atom(target.name, (*variables, number), span), *later)), rule.span, rule.text),
    )
    return rules, CoreNumbering(target.name, source.name, numbers.count, rule.text, span)


class _Numbers:
    """Puts numbers in the place of calls: n, n + 1, …"""

    def __init__(self, first: Variable) -> None:
        self._first = first
        self.count = 0

    def literal(self, literal: Literal) -> Literal:
        match literal:
            case Atom():
                return self.atom(literal)
            case Comparison():
                return replace(literal, left=self.term(literal.left), right=self.term(literal.right))
            case Negation(body=Conjunction(literals=(inner,))):
                return replace(literal, body=Conjunction((), (self.literal(inner),), literal.body.span))
            case _:
                return literal

    def atom(self, atom: Atom) -> Atom:
        return replace(atom, terms=tuple(map(self.term, atom.terms)))

    def term(self, term: Term) -> Term:
        if not isinstance(term, Operation):
            return term
        if term.name != AUTOINC:
            return replace(term, arguments=tuple(map(self.term, term.arguments)))
        self.count += 1
        if self.count == 1:
            return replace(self._first, span=term.span)
        return Operation("+", (self._first, Constant(self.count - 1, Type.NUMBER, term.span)), Type.NUMBER, term.span)


def _calls(literals: Sequence[Literal]) -> Iterator[Operation]:
    """Each `autoinc()` in flat literals."""
    waiting: list[Term] = []
    for literal in literals:
        match literal:
            case Atom():
                waiting += literal.terms
            case Comparison():
                waiting += (literal.left, literal.right)
            case Negation(body=Conjunction(literals=inner)):
                yield from _calls(inner)
    for term in waiting:
        yield from calls_in(term)


def calls_in(term: Term) -> Iterator[Operation]:
    """Each `autoinc()` in a term."""
    if isinstance(term, Operation):
        if term.name == AUTOINC:
            yield term
        for argument in term.arguments:
            yield from calls_in(argument)


def _in_order(numberings: Sequence[CoreNumbering], program: Program) -> Iterator[CoreNumbering]:
    """The numberings in the order in which they number, each with those before it."""
    following = successors(program_edges(replace(program, numberings=tuple(numberings))))
    needed = {one.head: reached((one.source,), following) for one in numberings}
    waiting = list(numberings)
    before: list[tuple[str, int]] = []
    while waiting:
        heads = {one.head for one in waiting}
        # Where none is free of the others, they recurse, which stratification tells.
        chosen = next((one for one in waiting if needed[one.head].isdisjoint(heads)), waiting[0])
        waiting.remove(chosen)
        yield replace(chosen, before=tuple(before))
        before.append((chosen.source, chosen.each))
