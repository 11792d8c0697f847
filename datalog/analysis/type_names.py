"""The types of a program: the four primitive ones, and the user's names for them and subtypes of them.

A subtype is resolved to its primitive type. Deviation from Soufflé: values of two subtypes of one primitive may be mixed
freely, and a value of the primitive may be put where a subtype is declared; primitives are never mixed.
"""

from __future__ import annotations

from datalog.analysis.findings import Findings, did_you_mean, place
from datalog.ir.core import Type
from datalog.syntax.tree import Program, TypeDeclaration

PRIMITIVES = {type_.value: type_ for type_ in Type.ALL}


def resolve_types(program: Program, findings: Findings) -> dict[str, Type | None]:
    """Every type name of the program with its primitive type; None where its declaration is wrong, which is reported."""
    declared: dict[str, TypeDeclaration] = {}
    for clause in program.clauses:
        if not isinstance(clause, TypeDeclaration):
            continue
        if clause.name in PRIMITIVES:
            findings.add(clause.span, f"type `{clause.name}` is built in and cannot be declared", "choose another name")
        elif clause.name in declared:
            findings.add(clause.span, f"type `{clause.name}` is declared twice", f"the first is at {place(declared[clause.name].span)}")
        else:
            declared[clause.name] = clause
    resolved: dict[str, Type | None] = dict(PRIMITIVES)
    for name in declared:
        _resolve(name, declared, resolved, findings)
    return resolved


def _resolve(name: str, declared: dict[str, TypeDeclaration], resolved: dict[str, Type | None], findings: Findings) -> None:
    chain: list[str] = []
    while name not in resolved and name in declared and name not in chain:
        chain.append(name)
        name = declared[name].base
    if name in chain:
        cycle = [*chain[chain.index(name) :], name]
        hint = f"one of them must be a {' or '.join(PRIMITIVES)}"
        findings.add(declared[chain[-1]].span, f"type `{name}` is defined by itself: {' → '.join(cycle)}", hint)
    elif name not in resolved:
        findings.add(declared[chain[-1]].span, f"unknown type `{name}`", did_you_mean(name, [*PRIMITIVES, *declared]))
    for link in chain:
        resolved[link] = resolved.get(name)
