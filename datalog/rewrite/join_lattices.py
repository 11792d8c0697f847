"""Columns of lattices outside of recursion: an aggregate joins the rows, and follows their changes group by group.

For a predicate p(k, x: T<>) whose rules do not depend on it, what they derive and what is given becomes `p@all`, and

    p(k, x) ← agg<<x = @@lub(y)>> p@all(k, y)

stands for the rule and the subsumption that `datalog.analysis.lattices` has made, which are left where p recurses.
"""

from __future__ import annotations

from dataclasses import replace

from datalog.analysis.dependencies import component_of, recurses, rule_edges, successors
from datalog.analysis.quantify import quantify
from datalog.ir.core import ALL, SUBSUMED
from datalog.ir.formulas import Aggregation, Atom, Conjunction, Literal, Program, Rule, Signature, Wildcard
from datalog.ir.primitives import CALL


def join_lattices(program: Program) -> Program:
    """The program with aggregates for all predicates with lattices that take part in no recursion."""
    if not program.lattices:
        return program
    own = [rule for rule in program.rules if not _joins(rule, program)]
    edges = rule_edges(own)
    groups, following = component_of(program.signatures, edges), successors(edges)
    apart = {name for name in program.lattices if not recurses(name, groups[name], following)}
    hidden = {name + SUBSUMED for name in apart}
    rules: list[Rule] = []
    texts: dict[str, str] = {}
    for rule in program.rules:
        if rule.heads[0].predicate in hidden:
            continue
        if rule.heads[0].predicate in apart and _joins(rule, program):
            texts[rule.heads[0].predicate] = rule.text
            continue
        heads = tuple(replace(head, predicate=head.predicate + ALL) if head.predicate in apart else head for head in rule.heads)
        rules.append(rule if heads == rule.heads else quantify(heads, rule.body, rule.span, rule.text))
    signatures = {name: one for name, one in program.signatures.items() if name not in hidden}
    for name in sorted(apart):
        every = replace(signatures[name], name=name + ALL, hidden=True)
        signatures[every.name] = every
        rules.append(_joined(signatures[name], every.name, program, texts[name]))
    return replace(program, rules=tuple(rules), signatures=signatures)


def _joins(rule: Rule, program: Program) -> bool:
    """Whether a rule, or that of a subsumption, has been made for columns of lattices: it has the place of their declaration."""
    name = rule.heads[0].predicate.removesuffix(SUBSUMED)
    return name in program.lattices and rule.span == program.signatures[name].span


def _joined(signature: Signature, every: str, program: Program, text: str) -> Rule:
    name, span, lattices = signature.name, signature.span, program.lattices[signature.name]
    columns = signature.variables
    literals: list[Literal] = []
    for at, lattice in sorted(lattices.items()):
        value = replace(columns[at], name=f"{columns[at].name}'")
        terms = (value if place == at else Wildcard(one.type) if place in lattices else one for place, one in enumerate(columns))
        rows = Conjunction((), (Atom(every, tuple(terms), span),), span)
        literals.append(Aggregation(columns[at], CALL + lattice.lub, (value, value), rows, True, span))
    return quantify([Atom(name, columns, span)], Conjunction((), tuple(literals), span), span, text)
