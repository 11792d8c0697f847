"""Predicates: which there are, how many columns each has, and what is declared about them.

Declarations count for the whole text, wherever they stand. An undeclared predicate takes its columns from its first use, a head
if there is one, and its types from all its uses (`datalog.analysis.types`). One that has no declaration, no rule, no fact and
no `.input` is unknown, unless the program declares nothing at all: then, in the papers' dialect, it is a given predicate, if no
functor has its name.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

from datalog.analysis.choices import choice_keys
from datalog.analysis.findings import Findings, did_you_mean, place
from datalog.analysis.type_names import hint_for
from datalog.analysis.type_system import Types
from datalog.analysis.walk import atoms
from datalog.ir.core import ROUND, Type
from datalog.ir.formulas import Signature
from datalog.syntax.tree import NOWHERE, Atom, Declaration, DeltaDeclaration, Directive, Program, Rule, Span, Variable

_LITERALS = ("contains", "match")  # functors that stand where atoms do


@dataclass(frozen=True, slots=True)
class Columns:
    """What is known of a predicate before inference; a type is None where it has to be inferred."""

    name: str
    attributes: tuple[str, ...]
    types: tuple[Type | None, ...]
    type_names: tuple[str, ...]
    declared: bool
    span: Span
    functional: bool = False
    choices: tuple[tuple[int, ...], ...] = ()
    delta_of: str = ""

    def typed(self, types: tuple[Type, ...]) -> Signature:
        """The signature, with the types that inference found."""
        names = self.type_names if self.declared else tuple(type_.value for type_ in types)
        return Signature(
            self.name,
            self.attributes,
            types,
            names,
            self.declared,
            hidden="@" in self.name,
            functional=self.functional,
            span=self.span,
            choices=self.choices,
            delta_of=self.delta_of,
        )


def collect_signatures(
    program: Program, types: Types, functors: Container[str], findings: Findings, declared_only: bool = False
) -> dict[str, Columns]:
    """All predicates of the program in the order of the text; unknown predicates are reported and left out.

    Those that only heads and inputs name are known, too, but not if they must be `declared_only`."""
    known = _declared(program, types, findings)
    anything_declared = bool(known)
    inputs = {name for clause in program.clauses if isinstance(clause, Directive) and clause.kind == "input" for name in clause.predicates}
    rules = [clause for clause in program.clauses if isinstance(clause, Rule)]
    if any(atom.predicate == ROUND for rule in rules for atom in atoms(rule.body)):
        known[ROUND] = Columns(ROUND, ("round",), (Type.UNSIGNED,), ("unsigned",), True, NOWHERE)
    functional = {atom.predicate for rule in rules for atom in (*rule.heads, *atoms(rule.body)) if atom.functional}
    unknown: list[Atom] = []
    for rule in rules:
        for head in rule.heads:
            if head.predicate not in known and declared_only:
                unknown.append(head)
            elif head.predicate not in known:
                known[head.predicate] = _from_use(head, head.predicate in functional, head=True)
            elif known[head.predicate].delta_of:
                message = f"`{head.predicate}` is a predicate of `debug_delta`, and has no rules and no facts of its own"
                findings.add(head.span, message, f"its rows are those of `{known[head.predicate].delta_of}`")
    for rule in rules:
        for atom in atoms(rule.body):
            if atom.predicate in known:
                continue
            if not declared_only and (atom.predicate in inputs or not (anything_declared or atom.predicate in functors)):
                known[atom.predicate] = _from_use(atom, atom.predicate in functional)
            else:
                unknown.append(atom)
    for atom in unknown:
        report_unknown(atom.predicate, atom.span, known, functors, findings)
    for clause in program.clauses:
        if isinstance(clause, Directive):
            for name in clause.predicates:
                if clause.kind == "input" and name in known and known[name].delta_of:
                    findings.add(
                        clause.span,
                        f"`{name}` is a predicate of `debug_delta`, and has no facts of its own",
                        "its rows are those of the other one",
                    )
                if name not in known and (declared_only or all(name != atom.predicate for atom in unknown)):
                    report_unknown(name, clause.span, known, (), findings)
    for rule in rules:
        for atom in (*rule.heads, *atoms(rule.body)):
            check_arity(atom, known.get(atom.predicate), findings)
    return known


def report_unknown(
    name: str, span: Span, known: dict[str, Columns] | dict[str, Signature], functors: Container[str], findings: Findings
) -> None:
    """Report that nothing says what `name`, used as a predicate, is."""
    if name in functors:
        hint = f"the functor `{name}` gives a value to compare, as in `x = {name}(…)`; a predicate of that name needs a declaration"
    else:
        hint = did_you_mean(name, (*known, *_LITERALS)) or "it has no declaration, no rule, no fact and no .input"
    findings.add(span, f"unknown predicate `{name}`", hint)


def check_arity(atom: Atom, columns: Columns | Signature | None, findings: Findings) -> None:
    """Report an atom that has not as many terms as its predicate has columns, or a value where there is none."""
    if columns is None:
        return
    if atom.functional and not columns.functional:
        shape = f"{atom.predicate}({', '.join(columns.attributes)})"
        findings.add(
            atom.span, f"`{atom.predicate}` is a relation and has no value", f"write `{shape}`, or declare it with `= value: type`"
        )
        return
    if len(atom.terms) == len(columns.attributes):
        return
    verb = "declared" if columns.declared else "first used"
    message = f"`{atom.predicate}` has {_count(len(atom.terms))} here, but {len(columns.attributes)} where it is {verb}"
    shape = f"{atom.predicate}({', '.join(columns.attributes)})"
    if columns.functional:
        shape = f"{atom.predicate}[{', '.join(columns.attributes[:-1])}] = {columns.attributes[-1]}"
    findings.add(atom.span, message, f"`{shape}` is {verb} at {place(columns.span)}")


def _count(terms: int) -> str:
    return f"{terms} term" if terms == 1 else f"{terms} terms"


def _from_use(atom: Atom, functional: bool, head: bool = False) -> Columns:
    """As a first use says: columns are named as the variables of a head that has nothing else, and none of them twice."""
    width = len(atom.terms)
    attributes = tuple(f"c{at + 1}" for at in range(width))
    names = tuple(term.name for term in atom.terms if isinstance(term, Variable) and term.name.isidentifier())
    if head and len(set(names)) == width:
        attributes = names
    return Columns(atom.predicate, attributes, (None,) * width, (), False, atom.span, functional)


def _declared(program: Program, types: Types, findings: Findings) -> dict[str, Columns]:
    known: dict[str, Columns] = {}
    for clause in program.clauses:
        if not isinstance(clause, Declaration):
            continue
        seen: set[str] = set()
        for attribute in clause.attributes:
            if attribute.type not in types.bases:
                findings.add(attribute.span, f"unknown type `{attribute.type}`", hint_for(attribute.type, types.bases))
            if attribute.name in seen:
                findings.add(attribute.span, f"column `{attribute.name}` is declared twice", "each column needs a name of its own")
            seen.add(attribute.name)
        for name in clause.predicates:
            if name in types.declared:
                hint = f"the type is declared at {place(types.declared[name].span)}; in Soufflé both have one namespace"
                findings.add(clause.span, f"`{name}` is the name of a type, too", hint)
            if name in known:
                findings.add(clause.span, f"`{name}` is declared twice", f"the first is at {place(known[name].span)}")
                continue
            known[name] = Columns(
                name,
                tuple(attribute.name for attribute in clause.attributes),
                tuple(types.bases.get(attribute.type) for attribute in clause.attributes),
                tuple(attribute.type for attribute in clause.attributes),
                True,
                clause.span,
                clause.functional,
                choice_keys(clause, findings),
            )
    for delta in program.clauses:
        if isinstance(delta, DeltaDeclaration):
            _add_delta(delta, known, findings)
    return known


def _add_delta(delta: DeltaDeclaration, known: dict[str, Columns], findings: Findings) -> None:
    """A predicate of `debug_delta` has the columns of the other one, and one for the round."""
    whose = known.get(delta.predicate)
    if delta.name in known:
        findings.add(delta.span, f"`{delta.name}` is declared twice", f"the first is at {place(known[delta.name].span)}")
    elif whose is None or whose.functional or whose.delta_of:
        hint = did_you_mean(delta.predicate, known) or "name a relation that is declared"
        findings.add(delta.span, f"`debug_delta` of `{delta.predicate}`, which is no declared relation", hint)
    else:
        attributes, type_names = (*whose.attributes, "<iteration>"), (*whose.type_names, "unsigned")
        types = (*whose.types, Type.UNSIGNED)
        known[delta.name] = Columns(delta.name, attributes, types, type_names, True, delta.span, delta_of=delta.predicate)
