"""Core rules: what the planner takes.

A core rule is one head atom and a flat conjunction. Every term of an atom is a variable (an index into the rule's
`variables`) or a wildcard (None); constants and expressions have become variables with a binding; disjunctions have
become several rules; negated groups have become negated helper predicates. No variable stands twice in one atom.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from datalog.syntax.tree import Directive, Span


class Type(Enum):
    """The primitive type that a value's code is made by; subtypes have been resolved to it."""

    NUMBER = "number"
    UNSIGNED = "unsigned"
    FLOAT = "float"
    SYMBOL = "symbol"


@dataclass(frozen=True, slots=True)
class Reference:
    """The value of the rule's variable number `variable`."""

    variable: int
    type: Type


@dataclass(frozen=True, slots=True)
class Value:
    """A constant, in Python's form of its type (int, float, str)."""

    value: int | float | str
    type: Type


@dataclass(frozen=True, slots=True)
class Apply:
    """`name` is one of + - * / % ^ neg; all arguments and the result have type `type`."""

    name: str
    arguments: tuple[Expression, ...]
    type: Type
    span: Span


Expression = Reference | Value | Apply


@dataclass(frozen=True, slots=True)
class CoreAtom:
    """A positive or negated atom over distinct variables; None is a wildcard."""

    predicate: str
    columns: tuple[int | None, ...]
    negated: bool
    span: Span


@dataclass(frozen=True, slots=True)
class CoreBinding:
    """variable = expression. It gives the variable its value, or checks it where the variable has one already."""

    variable: int
    expression: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class CoreFilter:
    """left operator right, with operator one of = != < <= > >=; both sides have the same type."""

    operator: str
    left: Expression
    right: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class ForcedOrder:
    """The order in which somebody wants a rule's variables bound. `full` is for the full evaluation (None: the planner's choice),
    `deltas` for the delta plans, by the number of the given atom, whose variables always come first.

    `exact`: variables that an expression computes come where the order has them, and else as soon as they can be computed.
    `by` is how it was said, `.plan` or `--set`; `ignored` says why a `.plan` does not apply."""

    by: str
    full: tuple[int, ...] | None = None
    deltas: dict[int, tuple[int, ...]] = field(default_factory=dict)
    exact: bool = False
    ignored: str = ""


@dataclass(frozen=True, slots=True)
class CoreRule:
    """`head(head_columns) ← atoms, bindings, filters`; `variables` are names for people, unique in the rule."""

    head: str
    head_columns: tuple[int, ...]
    variables: tuple[str, ...]
    types: tuple[Type, ...]
    atoms: tuple[CoreAtom, ...]
    bindings: tuple[CoreBinding, ...]
    filters: tuple[CoreFilter, ...]
    span: Span
    text: str  # the rule as its author wrote it, on one line
    forced: ForcedOrder | None = None


@dataclass(frozen=True, slots=True)
class Predicate:
    """A predicate's signature. `derived` (IDB) or given (EDB), never both: the given rows of a derived predicate p lie in
    `base`, a given predicate of the same signature, and a core rule copies them. `hidden` predicates are the engine's own.
    A nullary predicate has no attributes and no types, and is stored with one column of type NUMBER that always holds 0."""

    name: str
    attributes: tuple[str, ...]
    types: tuple[Type, ...]
    derived: bool
    hidden: bool = False
    base: str = ""

    @property
    def nullary(self) -> bool:
        return not self.attributes

    @property
    def width(self) -> int:
        """How many columns are stored."""
        return len(self.types) or 1


@dataclass(frozen=True, slots=True)
class Stratum:
    """One strongly connected component of the dependency graph; strata are listed dependencies first."""

    predicates: tuple[str, ...]
    rules: tuple[int, ...]  # indices into CoreProgram.rules
    recursive: bool


@dataclass(frozen=True, slots=True)
class CoreProgram:
    """Everything that evaluation needs. `facts` holds the ground facts of the text, in Python values, per given predicate."""

    predicates: dict[str, Predicate]
    rules: tuple[CoreRule, ...]
    strata: tuple[Stratum, ...]
    facts: dict[str, list[tuple[int | float | str, ...]]]
    directives: tuple[Directive, ...]
