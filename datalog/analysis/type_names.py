"""The types of a program: the primitive ones, and the user's names for them and subtypes of them.

A subtype is resolved to its primitive type. Deviation from Soufflé: values of two subtypes of one primitive may be mixed
freely, and a value of the primitive may be put where a subtype is declared; primitives are never mixed.
"""

from __future__ import annotations

from collections.abc import Iterable

from datalog.analysis.findings import Findings, did_you_mean, place
from datalog.ir.core import Type
from datalog.syntax.tree import Program, TypeDeclaration

PRIMITIVES = {type_.value: type_ for type_ in Type.ALL}
LISTED = ", ".join(type_.value for type_ in Type.ALL if type_.scale < 0) + " or decimal(scale)"

_SCALE = "say how many digits stand behind the point: decimal(2)"
_OTHER_NAMES = {  # what other languages call them
    **dict.fromkeys(("int", "integer", "long", "bigint"), "number"),
    "uint": "unsigned",
    **dict.fromkeys(("double", "real"), "float"),
    **dict.fromkeys(("string", "str", "text", "varchar"), "symbol"),
    "boolean": "bool",
    **dict.fromkeys(("timestamp", "time"), "datetime"),
}


def resolve_types(program: Program, findings: Findings) -> dict[str, Type | None]:
    """Every type name of the program with its primitive type; None where its declaration is wrong, which is reported."""
    declared: dict[str, TypeDeclaration] = {}
    for clause in program.clauses:
        if not isinstance(clause, TypeDeclaration):
            continue
        if clause.name in PRIMITIVES or clause.name == "decimal":
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
        hint = f"one of them must be a {LISTED}"
        findings.add(declared[chain[-1]].span, f"type `{name}` is defined by itself: {' → '.join(cycle)}", hint)
    elif name not in resolved:
        findings.add(declared[chain[-1]].span, f"unknown type `{name}`", hint_for(name, [*PRIMITIVES, *declared]))
    for link in chain:
        resolved[link] = resolved.get(name)


def hint_for(name: str, known: Iterable[str]) -> str:
    """What to write in place of an unknown type's name, or else which types there are."""
    if name in ("decimal", "numeric", "money"):
        return _SCALE
    if name.lower() in _OTHER_NAMES:
        return f"write `{_OTHER_NAMES[name.lower()]}`"
    if name.startswith("decimal("):
        return f"a decimal has 64 bits, and 0 to {len(Type.DECIMALS) - 1} digits behind the point"
    return did_you_mean(name, (other for other in known if not other.startswith("decimal("))) or f"the types are {LISTED}"
