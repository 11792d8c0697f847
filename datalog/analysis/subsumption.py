"""Subsumptions become rules for hidden predicates of the rows that are dominated.

    sp(x, y, c1) <= sp(x, y, c2) :- c2 <= c1.
    becomes   sp@subsumed(x, y, c1) :- sp(x, y, c1), sp(x, y, c2), c2 <= c1, c1 != c2.

A row never dominates itself, so the two rows differ in a column. What becomes of a dominated row is the matter of
`datalog.rewrite.guards`. The two atoms stand first in the body, as the numbers in a `.plan` have it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from datalog.analysis.findings import Findings
from datalog.ir.core import SUBSUMED
from datalog.syntax.tree import (
    Atom,
    Clause,
    Comparison,
    Conjunction,
    Constant,
    Declaration,
    Disjunction,
    Literal,
    Program,
    Rule,
    Span,
    Subsumption,
    Term,
    Truth,
    Variable,
    Wildcard,
)

STRICT = ("<", ">", "!=")
DIRECT = frozenset({"btree", "brie", "eqrel"})  # what nothing leaves


def subsumptions_as_rules(program: Program, findings: Findings) -> Program:
    """The program with a rule for each subsumption, and a declaration for each predicate of dominated rows."""
    dropped = {clause.less.predicate: clause for clause in program.clauses if isinstance(clause, Subsumption)}
    if not dropped and not any(isinstance(clause, Declaration) and "btree_delete" in clause.qualifiers for clause in program.clauses):
        return program
    clauses: list[Clause] = []
    for clause in program.clauses:
        if isinstance(clause, Subsumption):
            if clause.less.predicate == clause.greater.predicate:
                clauses.append(_rule(clause))
            else:
                hint = f"`{clause.less.predicate}` on both sides, or a rule with a negation"
                findings.add(clause.span, "a subsumption compares rows of one predicate", hint)
            continue
        clauses.append(clause)
        if isinstance(clause, Declaration):
            _check(clause, dropped, findings)
            subsumed = tuple(name + SUBSUMED for name in clause.predicates if name in dropped)
            if subsumed:
                clauses.append(replace(clause, predicates=subsumed, qualifiers=(), functional=False, choices=()))
    return replace(program, clauses=tuple(clauses))


def _check(declaration: Declaration, dropped: dict[str, Subsumption], findings: Findings) -> None:
    names = [name for name in declaration.predicates if name in dropped]
    if not declaration.attributes and (names or "btree_delete" in declaration.qualifiers):
        message = "a predicate without columns has one row at most, which nothing subsumes"
        findings.add(declaration.span, message, "give it columns, or drop the subsumption")
    elif names and declaration.functional:
        findings.add(declaration.span, f"`{names[0]}` is functional, and has a subsumption", "declare it as a relation")
    elif names and (kept := DIRECT.intersection(declaration.qualifiers)):
        findings.add(declaration.span, f"`{names[0]}` is declared `{min(kept)}`, and has a subsumption", "declare it `btree_delete`")


def _rule(clause: Subsumption) -> Rule:
    sides = _Sides()
    less = sides.columns(clause.less, "less")
    greater = sides.columns(clause.greater, "greater")
    literals: list[Literal] = [*sides.equalities, *clause.body.literals]
    differing = [(one, other) for one, other in zip(less.terms, greater.terms, strict=False) if one != other]
    if not any(_is_strict(literal, differing) for literal in clause.body.literals):
        literals.append(_differ(differing, clause.less.span))
    body = Conjunction((less, greater, *literals), clause.body.span)
    return Rule((replace(less, predicate=less.predicate + SUBSUMED),), body, ":-", clause.span)


@dataclass(slots=True)
class _Sides:
    """Puts variables for all that is no variable, or stands twice, into the two atoms."""

    equalities: list[Literal] = field(default_factory=list)

    def columns(self, atom: Atom, side: str) -> Atom:
        terms: list[Term] = []
        for at, term in enumerate(atom.terms):
            if isinstance(term, Constant) or (isinstance(term, Variable) and term not in terms):
                terms.append(term)
                continue
            variable = Variable(f"={side}{at + 1}", term.span)
            terms.append(variable)
            if not isinstance(term, Wildcard):
                self.equalities.append(Comparison("=", variable, term, term.span))
        return replace(atom, terms=tuple(terms))


def _is_strict(literal: Literal, differing: list[tuple[Term, Term]]) -> bool:
    """Whether a literal says already that the rows differ in a column."""
    if not isinstance(literal, Comparison) or literal.operator not in STRICT:
        return False
    return (literal.left, literal.right) in differing or (literal.right, literal.left) in differing


def _differ(differing: list[tuple[Term, Term]], span: Span) -> Literal:
    """Some column holds one value in one row and another in the other."""
    tests = [Comparison("!=", one, other, span) for one, other in differing]
    if not tests:
        return Truth(False, span)
    if len(tests) == 1:
        return tests[0]
    return Disjunction(tuple(Conjunction((test,), span) for test in tests), span)
