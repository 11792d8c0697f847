"""The functors that a program declares: their types, and what is wrong with the declarations.

Values with parts are for `stateful` functors only, as in Soufflé, where no other is given the table of records.
"""

from __future__ import annotations

from datalog.analysis.findings import Findings, place
from datalog.analysis.type_names import hint_for
from datalog.analysis.type_system import Types
from datalog.ir.core import Type
from datalog.ir.functors import Functor
from datalog.ir.structures import Structure
from datalog.syntax.tree import FunctorDeclaration, Program, Span


def declare_functors(program: Program, types: Types, findings: Findings) -> dict[str, Functor]:
    """The functors of the program by name. One whose types are not known takes numbers for them."""
    found: dict[str, Functor] = {}
    for clause in program.clauses:
        if not isinstance(clause, FunctorDeclaration):
            continue
        if clause.name in found:
            findings.add(clause.span, f"functor `{clause.name}` is declared twice", f"the first is at {place(found[clause.name].span)}")
            continue
        for attribute in clause.attributes:
            if attribute.lattice:
                findings.add(attribute.span, "a functor takes a value, and `<>` makes a column of a lattice", f"write `{attribute.type}`")
        arguments = tuple(_type(attribute.type, attribute.span, clause.stateful, types, findings) for attribute in clause.attributes)
        result = _type(clause.result, clause.span, clause.stateful, types, findings)
        names = (*(attribute.type for attribute in clause.attributes), clause.result)
        found[clause.name] = Functor(clause.name, arguments, result, clause.stateful, clause.span, names)
    return found


def _type(name: str, span: Span, stateful: bool, types: Types, findings: Findings) -> Type:
    base = types.bases.get(name)
    if name not in types.bases:
        findings.add(span, f"unknown type `{name}`", hint_for(name, types.bases))
    elif isinstance(base, Structure) and not stateful:
        what = "record" if base.record else "algebraic"
        findings.add(span, f"a functor of the {what} type `{name}` has to be stateful", "write `stateful` behind its result's type")
    return base or Type.NUMBER
