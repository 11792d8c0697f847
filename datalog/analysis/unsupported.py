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
    DeltaDeclaration,
    Directive,
    Disjunction,
    FunctorDeclaration,
    Include,
    LatticeDeclaration,
    Literal,
    Negation,
    Once,
    Operation,
    Pragma,
    Program,
    Record,
    Rule,
    Subsumption,
    Term,
)

HARMLESS_PRAGMAS = frozenset({"magic-transform", "magic-transform-exclude", "inline-exclude", "suppress-warnings", "disable-transformers"})

_CLAUSES = {
    LatticeDeclaration: "lattices",
    FunctorDeclaration: "functors of the user's own",
    DeltaDeclaration: "predicates of `debug_delta`",
    Subsumption: "subsumption",
}
_FUNCTOR_HINT = "a Database takes Python functions"


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
        case Declaration(attributes=attributes, choices=choices):
            if choices:
                findings.add(clause.span, "`choice-domain` is not supported yet")
            for attribute in attributes:
                if attribute.lattice:
                    findings.add(attribute.span, "columns of lattices are not supported yet")
        case Directive(kind="limitsize"):
            findings.add(clause.span, "`.limitsize` is not supported yet", "the setting max_rows limits each recursion")
        case Pragma(key):
            if key not in HARMLESS_PRAGMAS:
                findings.add(
                    clause.span, f"the pragma `{key}` is not supported yet", f"understood are {', '.join(sorted(HARMLESS_PRAGMAS))}"
                )
        case Include(file):
            findings.add(
                clause.span, f'"{file}" is not included here', "a program that is read from a file or given whole may include others"
            )
        case Once():
            return
        case _:
            if what := _CLAUSES.get(type(clause)):
                are = "is" if what == "subsumption" else "are"
                hint = _FUNCTOR_HINT if isinstance(clause, FunctorDeclaration) else ""
                findings.add(clause.span, f"{what} {are} not supported yet", hint)


def _term(term: Term, findings: Findings) -> None:
    match term:
        case Operation(name) if name.startswith("@"):
            findings.add(term.span, f"functors of the user's own, such as `{name}`, are not supported yet", _FUNCTOR_HINT)
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
