"""What the grammar reads and the engine cannot do yet: refused where it stands."""

from __future__ import annotations

from collections.abc import Iterator

from datalog.analysis.findings import Findings
from datalog.syntax.tree import (
    Aggregate,
    Application,
    Atom,
    Branch,
    Cast,
    Clause,
    Comparison,
    Conjunction,
    Constant,
    Declaration,
    Disjunction,
    Include,
    LatticeDeclaration,
    Literal,
    Negation,
    Operation,
    Program,
    Record,
    Rule,
    Term,
)


def refuse_unsupported(program: Program, findings: Findings) -> None:
    """Report all that the engine cannot do yet, and raise ProgramError if there is any."""
    for clause in program.clauses:
        _clause(clause, findings)
    findings.raise_if_any()


def refuse_in_body(body: Conjunction, findings: Findings) -> None:
    """The same for a query."""
    for term in _in_literal(body):
        _term(term, findings)
    findings.raise_if_any()


def _clause(clause: Clause, findings: Findings) -> None:
    match clause:
        case Rule(heads, body):
            if not body.literals and all(type(term) is Constant for head in heads for term in head.terms):
                return
            literals: tuple[Literal, ...] = (*heads, body)
            for literal in literals:
                for term in _in_literal(literal):
                    _term(term, findings)
            for total in clause.totals:
                for argument in total.arguments:
                    for term in _in_term(argument):
                        _term(term, findings)
        case Declaration(attributes=attributes):
            for attribute in attributes:
                if attribute.lattice:
                    findings.add(attribute.span, "columns of lattices are not supported yet")
        case Include(file):
            findings.add(
                clause.span, f'"{file}" is not included here', "a program that is read from a file or given whole may include others"
            )
        case LatticeDeclaration():
            findings.add(clause.span, "lattices are not supported yet")
        case _:
            return


def _term(term: Term, findings: Findings) -> None:
    match term:
        case Operation("autoinc", ()):
            findings.add(term.span, "`autoinc()` is not supported yet")
        case Aggregate(initial=initial) if initial is not None:
            findings.add(term.span, "aggregates of the user's own are not supported yet")


def _in_literal(literal: Literal) -> Iterator[Term]:
    match literal:
        case Atom(terms=terms):
            for term in terms:
                yield from _in_term(term)
        case Comparison(left=left, right=right):
            yield from _in_term(left)
            yield from _in_term(right)
        case Negation(body):
            yield from _in_literal(body)
        case Conjunction(literals):
            for inner in literals:
                yield from _in_literal(inner)
        case Disjunction(branches):
            for branch in branches:
                yield from _in_literal(branch)


def _in_term(term: Term) -> Iterator[Term]:
    yield term
    match term:
        case Operation(arguments=arguments) | Branch(arguments=arguments) | Application(keys=arguments) | Record(fields=arguments):
            for argument in arguments:
                yield from _in_term(argument)
        case Cast(term=inner):
            yield from _in_term(inner)
        case Aggregate(arguments=arguments, body=body):
            for argument in arguments:
                yield from _in_term(argument)
            yield from _in_literal(body)
