"""A clause with other names for predicates and types, wherever they stand in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from typing import Any, TypeVar

from datalog.syntax.tree import (
    AlgebraicDeclaration,
    Application,
    Atom,
    Attribute,
    Branch,
    BranchDeclaration,
    Cast,
    Declaration,
    DeltaDeclaration,
    Directive,
    LatticeDeclaration,
    RecordDeclaration,
    TypeDeclaration,
    UnionDeclaration,
)

Node = TypeVar("Node")


@dataclass(frozen=True, slots=True)
class Names:
    """New names by old ones; those that are not there stay. Branches of algebraic types are named like types."""

    predicates: Mapping[str, str]
    types: Mapping[str, str]


def qualify(node: Node, names: Names) -> Node:
    """The node with new names. What has no name to change is the same object."""
    changes: dict[str, Any] = _own(node, names)
    kind: type = type(node)
    for name in _parts(kind):
        before = getattr(node, name)
        if isinstance(before, tuple):
            after: Any = tuple(qualify(part, names) if is_dataclass(part) else part for part in before)
            if any(one is not other for one, other in zip(before, after, strict=True)):
                changes[name] = after
        elif is_dataclass(before) and (after := qualify(before, names)) is not before:
            changes[name] = after
    return replace(node, **changes) if changes else node  # type: ignore[type-var]  # all nodes are dataclasses


def _own(node: object, names: Names) -> dict[str, Any]:
    """The names that stand in the node itself."""
    match node:
        case Atom(predicate) | Application(predicate):
            return _changed("predicate", predicate, names.predicates)
        case DeltaDeclaration(name, predicate):
            return _changed("name", name, names.predicates) | _changed("predicate", predicate, names.predicates)
        case Declaration(predicates) | Directive(predicates=predicates):
            return {"predicates": tuple(names.predicates.get(name, name) for name in predicates)}
        case Branch(name) | BranchDeclaration(name) | RecordDeclaration(name) | AlgebraicDeclaration(name):
            return _changed("name", name, names.types)
        case TypeDeclaration(name, base):
            return _changed("name", name, names.types) | _changed("base", base, names.types)
        case UnionDeclaration(name, members):
            return _changed("name", name, names.types) | {"members": tuple(names.types.get(member, member) for member in members)}
        case Attribute(type=type_) | Cast(type=type_) | LatticeDeclaration(type=type_):
            return _changed("type", type_, names.types)
    return {}


def _changed(field: str, name: str, names: Mapping[str, str]) -> dict[str, Any]:
    return {field: names[name]} if name in names else {}


@cache
def _parts(kind: type) -> tuple[str, ...]:
    """The fields in which other nodes may stand."""
    return tuple(field.name for field in fields(kind) if field.name not in ("span", "name", "predicate", "predicates", "qualifiers"))
