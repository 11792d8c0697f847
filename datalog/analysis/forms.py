"""What may stand where: no wildcard in a head or in arithmetic, no variable in a fact, only functors that we have."""

from __future__ import annotations

from collections.abc import Iterator

from datalog.analysis.findings import Findings
from datalog.analysis.types import OPERATORS
from datalog.analysis.walk import leaves, subterms, terms
from datalog.syntax.tree import Atom, Constant, Literal, Operation, Rule, Term, Variable, Wildcard


def is_fact(rule: Rule) -> bool:
    """Whether the clause states rows rather than a rule."""
    return not rule.arrow and not rule.body.literals


def check_forms(rule: Rule, findings: Findings) -> None:
    """Report every term of the clause that may not stand where it stands."""
    fact = is_fact(rule)
    for head in rule.heads:
        if all(isinstance(term, Constant) for term in head.terms):
            continue
        for term in head.terms:
            for inner in subterms(term):
                if isinstance(inner, Wildcard):
                    where = "a fact" if fact else "a head"
                    findings.add(inner.span, f"`_` stands in {where}", "every column of a derived row needs a value")
                elif fact and isinstance(inner, Variable):
                    hint = "write a text between double quotes" if len(inner.name) > 1 else "write a rule with a body that binds it"
                    findings.add(inner.span, f"variable `{inner.name}` stands in a fact", hint)
        check_terms(head, findings)
    check_terms(rule.body, findings)


def check_terms(literal: Literal, findings: Findings) -> None:
    """Report unknown functors, and wildcards in arithmetic and comparisons, at any depth."""
    for leaf in leaves(literal):
        for term in terms(leaf):
            if isinstance(term, Wildcard) and not isinstance(leaf, Atom):
                findings.add(term.span, "`_` stands in a comparison", "`_` has no value; give it a name")
            for operation in _operations(term):
                if (operation.name, len(operation.arguments)) not in OPERATORS:
                    findings.add(operation.span, f"functor `{operation.name}` is not supported yet", "there are + - * / % ^ and unary -")
                for argument in operation.arguments:
                    if isinstance(argument, Wildcard):
                        findings.add(argument.span, "`_` stands in an expression", "`_` has no value; give it a name")


def _operations(term: Term) -> Iterator[Operation]:
    return (inner for inner in subterms(term) if isinstance(inner, Operation))
