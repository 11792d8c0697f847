"""The types of a program: the primitive ones, and what it declares beside them.

Each name is that of a primitive type, another name for a type, a subtype, a union of subtypes of one primitive type, a record type or
an algebraic type. Values know nothing of subtypes and unions: what stands at run time for a name is its `base`, a primitive type or
a `Structure`. Which names a value of a named type may be put under, `is_subtype` tells (`datalog.analysis.subtypes` sees to it).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain

from datalog.analysis.findings import Findings, did_you_mean, place
from datalog.analysis.type_names import LISTED, PRIMITIVES, hint_for
from datalog.ir.core import Type
from datalog.ir.primitives import ANY, Allowed
from datalog.ir.structures import Shape, Structure
from datalog.syntax.tree import (
    AlgebraicDeclaration,
    AnyType,
    Attribute,
    Branch,
    Nil,
    Program,
    Record,
    RecordDeclaration,
    TypeDeclaration,
    UnionDeclaration,
)


class Types:
    """All types of a program by name. `bases` has None where a declaration is wrong, which has been reported."""

    def __init__(self, bases: Mapping[str, Type | None], declared: Mapping[str, AnyType] | None = None) -> None:
        self.bases = bases
        self.declared = declared or {}
        self.structures = frozenset(base for base in bases.values() if isinstance(base, Structure))
        self._of_branch = {shape.name: one for one in self.structures if not one.record for shape in one.shapes}

    @property
    def has_subtypes(self) -> bool:
        """Whether the program tells types apart that are one at run time."""
        return any(isinstance(one, UnionDeclaration) or getattr(one, "subtype", False) for one in self.declared.values())

    @property
    def are_right(self) -> bool:
        """Whether nothing is wrong with what any of them is at run time; else rules cannot be judged by them."""
        return None not in self.bases.values()

    @property
    def any(self) -> Allowed:
        """What a type may be of which nothing is known."""
        return ANY | self.structures

    @property
    def branches(self) -> Iterable[str]:
        """The names of all branches of algebraic types."""
        return self._of_branch

    def fitting(self, term: Nil | Record | Branch) -> frozenset[Structure]:
        """The types of which `term` can be a value, by its form."""
        if isinstance(term, Branch):
            known = self._of_branch.get(term.name)
            return frozenset(() if known is None else (known,))
        records = frozenset(one for one in self.structures if one.record)
        if isinstance(term, Record):
            return frozenset(one for one in records if len(one.shapes[0].fields) == len(term.fields))
        return records

    def meant(self, name: str) -> str:
        """The name that an alias stands for in the end."""
        while isinstance(declared := self.declared.get(name), TypeDeclaration) and not declared.subtype:
            name = declared.base
        return name

    def base_name(self, name: str) -> str:
        """The name of what stands for a type at run time."""
        base = self.bases.get(name)
        return base.value if base is not None else name

    def members(self, name: str) -> tuple[str, ...]:
        """The members of a union, as they are meant; empty for all other types."""
        declared = self.declared.get(self.meant(name))
        return tuple(map(self.meant, declared.members)) if isinstance(declared, UnionDeclaration) else ()

    def is_subtype(self, name: str, other: str) -> bool:
        """Whether each value of the type `name` is one of `other`."""
        name, other = self.meant(name), self.meant(other)
        if name == other:
            return True
        own = self.members(name)
        if own:
            return all(self.is_subtype(member, other) for member in own)
        declared = self.declared.get(name)
        if isinstance(declared, TypeDeclaration) and self.is_subtype(declared.base, other):
            return True
        return any(self.is_subtype(name, member) for member in self.members(other))

    def common(self, name: str, other: str) -> frozenset[str]:
        """The greatest types whose values are of both."""
        name, other = self.meant(name), self.meant(other)
        if self.is_subtype(name, other):
            return frozenset((name,))
        if self.is_subtype(other, name):
            return frozenset((other,))
        return frozenset(chain.from_iterable(self.common(member, other) for member in self.members(name) if self.members(other)))


def declare_types(program: Program, findings: Findings) -> Types:
    """The types of the program; what is wrong with their declarations is reported."""
    declared: dict[str, AnyType] = {}
    for clause in program.clauses:
        if not isinstance(clause, AnyType):
            continue
        if clause.name in PRIMITIVES or clause.name == "decimal":
            findings.add(clause.span, f"type `{clause.name}` is built in and cannot be declared", "choose another name")
        elif clause.name in declared:
            findings.add(clause.span, f"type `{clause.name}` is declared twice", f"the first is at {place(declared[clause.name].span)}")
        else:
            declared[clause.name] = clause
    return _Declarations(declared, findings).resolved()


class _Declarations:
    def __init__(self, declared: dict[str, AnyType], findings: Findings) -> None:
        self._declared, self._findings = declared, findings
        self._bases: dict[str, Type | None] = dict(PRIMITIVES)
        self._branches: dict[str, AlgebraicDeclaration] = {}
        self._circular: set[str] = set()

    def resolved(self) -> Types:
        structures = [one for one in self._declared.values() if isinstance(one, RecordDeclaration | AlgebraicDeclaration)]
        for one in structures:
            self._bases[one.name] = Structure(one.name, isinstance(one, RecordDeclaration))
        for name, declaration in self._declared.items():
            if isinstance(declaration, TypeDeclaration | UnionDeclaration):
                self._resolve(name, ())
        for one in structures:
            self._define(one)
        return Types(self._bases, self._declared)

    def _resolve(self, name: str, above: tuple[str, ...]) -> Type | None:
        """The base of a type; `above` are the names in whose declarations it was met."""
        if name in self._bases:
            return self._bases[name]
        if name in above:
            cycle = above[above.index(name) :]
            self._circular.update(cycle)
            for at, member in enumerate(cycle):
                around = " → ".join((*cycle[at:], *cycle[: at + 1]))
                hint = f"one of them must be a {LISTED}"
                self._findings.add(self._declared[member].span, f"type `{member}` is defined by itself: {around}", hint)
            return None
        declared = self._declared[name]
        assert isinstance(declared, TypeDeclaration | UnionDeclaration)
        above = (*above, name)
        if isinstance(declared, TypeDeclaration):
            base = self._part(declared.base, declared, above)
            if base is None and declared.base in self._circular and name not in self._circular:
                hint = f"what is wrong is at {place(self._declared[declared.base].span)}"
                self._findings.add(declared.span, f"type `{name}` rests on `{declared.base}`, which is defined by itself", hint)
            below = self._declared.get(declared.base)
            if declared.subtype and isinstance(below, RecordDeclaration | UnionDeclaration):
                what = "union" if isinstance(below, UnionDeclaration) else "record type"
                hint = f"write .type {name} = {declared.base}"
                self._findings.add(declared.span, f"`{declared.base}` is a {what} and has no subtypes", hint)
        else:
            base = self._union(declared, above)
        self._bases[name] = base
        return base

    def _part(self, name: str, declared: TypeDeclaration | UnionDeclaration, above: tuple[str, ...]) -> Type | None:
        if name not in self._bases and name not in self._declared:
            self._findings.add(declared.span, f"unknown type `{name}`", hint_for(name, [*PRIMITIVES, *self._declared]))
            return None
        return self._resolve(name, above)

    def _union(self, union: UnionDeclaration, above: tuple[str, ...]) -> Type | None:
        bases: dict[Type, str] = {}
        for member in union.members:
            base = self._part(member, union, above)
            if base is None:
                return None
            if isinstance(base, Structure):
                what = "record" if base.record else "algebraic"
                self._findings.add(
                    union.span,
                    f"the union `{union.name}` has the {what} type `{member}` in it",
                    "a union is of numbers, or of symbols, or of other types without parts",
                )
                return None
            bases.setdefault(base, member)
        if len(bases) > 1:
            parts = " and ".join(f"{base.value} (`{member}`)" for base, member in bases.items())
            self._findings.add(union.span, f"the union `{union.name}` mixes {parts}", "its members need one primitive type")
        return next(iter(bases)) if len(bases) == 1 else None

    def _define(self, declared: RecordDeclaration | AlgebraicDeclaration) -> None:
        structure = self._bases[declared.name]
        assert isinstance(structure, Structure)
        if isinstance(declared, RecordDeclaration):
            structure.define((self._shape("", declared.fields, declared.name),))
            return
        shapes: list[Shape] = []
        for branch in declared.branches:
            if branch.name in self._branches:
                first = self._branches[branch.name]
                self._findings.add(
                    branch.span, f"branch `{branch.name}` is declared twice", f"the first is one of `{first.name}`, {place(first.span)}"
                )
                continue
            self._branches[branch.name] = declared
            shapes.append(self._shape(branch.name, branch.fields, declared.name))
        structure.define(tuple(shapes))

    def _shape(self, name: str, fields: tuple[Attribute, ...], owner: str) -> Shape:
        seen: set[str] = set()
        for field in fields:
            if field.type not in self._bases:
                self._findings.add(field.span, f"unknown type `{field.type}`", hint_for(field.type, self._bases))
            if field.type in self._circular:
                hint = f"what is wrong is at {place(self._declared[field.type].span)}"
                self._findings.add(field.span, f"field `{field.name}` is of the type `{field.type}`, which is defined by itself", hint)
            if field.name in seen:
                self._findings.add(field.span, f"field `{field.name}` is declared twice", "each field needs a name of its own")
            seen.add(field.name)
        types = tuple(self._bases.get(field.type) or Type.NUMBER for field in fields)
        return Shape(name, tuple(field.name for field in fields), types, tuple(field.type for field in fields), owner)


def unknown_branch_hint(name: str, types: Types) -> str:
    """What to write instead of a branch that no type has."""
    known = sorted(types.branches)
    return did_you_mean(name, known) or (f"there are {', '.join(known)}" if known else "no algebraic type is declared")
