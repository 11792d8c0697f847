"""Where `recursive_iteration_cnt()` may stand: in the body of a rule itself or in its head, where it is read in each round anew."""

from __future__ import annotations

from collections.abc import Iterable

from datalog.analysis.findings import Findings
from datalog.analysis.walk import atoms
from datalog.ir.core import ROUND
from datalog.syntax.tree import Aggregate, Clause, Comparison, Conjunction, Disjunction, Literal, Negation, Rule

_HINT = "write `n = recursive_iteration_cnt()` beside it, and n there"


def check_rounds(clauses: Iterable[Clause], findings: Findings) -> None:
    """Report numbers of rounds that are read under a negation or in an aggregate; the clauses have been desugared."""
    for clause in clauses:
        if isinstance(clause, Rule):
            _check(clause.body, findings)


def refuse_rounds(body: Conjunction, findings: Findings) -> None:
    """Report each number of a round in a query, which has no rounds."""
    for atom in atoms(body):
        if atom.predicate == ROUND:
            message = "a query has no rounds, and so no `recursive_iteration_cnt()`"
            findings.add(atom.span, message, "`debug_delta` tells the rounds of rows")


def _check(literal: Literal, findings: Findings) -> None:
    match literal:
        case Conjunction(literals):
            for inner in literals:
                _check(inner, findings)
        case Disjunction(branches):
            for branch in branches:
                _check(branch, findings)
        case Negation(body):
            _report(body, "under a negation", findings)
        case Comparison(right=Aggregate(body=body)):
            _report(body, "in an aggregate", findings)


def _report(body: Conjunction, where: str, findings: Findings) -> None:
    for atom in atoms(body):
        if atom.predicate == ROUND:
            findings.add(atom.span, f"`recursive_iteration_cnt()` stands {where}", _HINT)
