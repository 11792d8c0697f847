"""Quantified rules: ∀x̄. head₁, …, headₘ ← conj, with conj := ∃ȳ. dform₁, …, dformₖ, every term typed.

A dform is an atom, a comparison, a truth value, a negated conj, a disjunction of conjs, or a conj. A name stands for one
variable in the whole rule: a variable that occurs in a head is in the rule's ∀ block, any other is in the ∃ block of the
smallest conj that encloses all its uses, and nowhere else (`datalog.analysis.quantify`). Spans and texts take no part
in equality. Source: leapfrog-triejoin-maintenance, figure 1; the truth values are ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal as OneOf

from datalog.ir.core import CoreAggregate, CoreNumbering, Guard, PyValue, Type
from datalog.ir.demand import Demand, Version
from datalog.ir.functors import Functor
from datalog.ir.lattices import Lattices
from datalog.syntax.tree import NOWHERE, Directive, Span


@dataclass(frozen=True, slots=True)
class Variable:
    name: str
    type: Type
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Wildcard:
    type: Type
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Constant:
    """`value` has Python's form of `type`."""

    value: PyValue
    type: Type
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Operation:
    """A primitive applied to arguments (`datalog.ir.primitives`); `type` is the result's."""

    name: str
    arguments: tuple[Term, ...]
    type: Type
    span: Span = field(default=NOWHERE, compare=False)


Term = Variable | Wildcard | Constant | Operation


@dataclass(frozen=True, slots=True)
class Atom:
    predicate: str
    terms: tuple[Term, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Both sides have the same type."""

    operator: OneOf["=", "!=", "<", "<=", ">", ">="]
    left: Term
    right: Term
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Truth:
    value: bool
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Conjunction:
    exists: tuple[Variable, ...]
    literals: tuple[Literal, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Negation:
    body: Conjunction
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Disjunction:
    branches: tuple[Conjunction, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Aggregation:
    """`result = function arguments : { body }`. The arguments are terms over the body's variables.

    Its groups are the values of those variables of the body that occur outside it. A `grouping` one (the papers' `agg<<…>>`)
    binds them and has no result for a group without bindings; else they are bound outside, and an empty group has what its
    function says (`datalog.ir.primitives`). Each assignment of the body's positive atoms counts once, wildcards included.
    """

    result: Variable
    function: str
    arguments: tuple[Term, ...]
    body: Conjunction
    grouping: bool
    span: Span = field(default=NOWHERE, compare=False)


Literal = Atom | Comparison | Truth | Negation | Disjunction | Conjunction | Aggregation


@dataclass(frozen=True, slots=True)
class Rule:
    """`text` is the rule as its author wrote it, on one line."""

    forall: tuple[Variable, ...]
    heads: tuple[Atom, ...]
    body: Conjunction
    span: Span = field(default=NOWHERE, compare=False)
    text: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class JoinPlan:
    """A `.plan` of the rule at the place `rule`, by the places of positive atoms of its body: `atoms` are all of them, `recursive`
    those whose version is 0, those whose version is 1, …; `orders` has the order of all atoms for each version that the plan names."""

    rule: Span
    atoms: tuple[Span, ...]
    recursive: tuple[tuple[Span, ...], ...]
    orders: dict[int, tuple[Span, ...]]


@dataclass(frozen=True, slots=True)
class Signature:
    """A predicate's columns. `type_names` are as declared, `types` what they resolve to; an undeclared predicate has columns
    c1, c2, …, or the variables of its first head if that has nothing else, and its first use as span. `hidden` predicates are
    the engine's own. The last column of a `functional` one is its value, `F[x] = value`. `choices` are the columns of keys
    of which each has one row; `delta_of` is whose rows a predicate of `debug_delta` has, with a last column for their rounds."""

    name: str
    attributes: tuple[str, ...]
    types: tuple[Type, ...]
    type_names: tuple[str, ...]
    declared: bool
    hidden: bool = False
    functional: bool = False
    span: Span = field(default=NOWHERE, compare=False)
    choices: tuple[tuple[int, ...], ...] = ()
    delta_of: str = ""

    @property
    def variables(self) -> tuple[Variable, ...]:
        """A variable for each column, of its name."""
        return tuple(Variable(name, type_) for name, type_ in zip(self.attributes, self.types, strict=True))


@dataclass(frozen=True, slots=True)
class Inline:
    """A predicate of which no rows are kept: what its rules say stands in the place of its atoms (`datalog.analysis.inline`)."""

    signature: Signature
    rules: tuple[Rule, ...]


@dataclass(frozen=True, slots=True)
class Program:
    """An analysed program. `signatures` are in the order of the text; the terms of `facts` are constants.

    `aggregates` are what rewriting has made of the rules' aggregations, and `guard` what it has left of choices and subsumptions;
    `types` is what stands at run time for each type's name. `demand` is what is wanted on demand, `demanded` are the predicates
    that rewriting has put on demand, with their versions. With `wraps`, numbers that leave 64 bits wrap around. `papers`: something
    is written as only the papers' dialect has it."""

    signatures: dict[str, Signature]
    facts: tuple[Atom, ...]
    rules: tuple[Rule, ...]
    directives: tuple[Directive, ...]
    text: str = field(default="", compare=False)
    file: str = field(default="<program>", compare=False)
    plans: tuple[JoinPlan, ...] = ()
    aggregates: tuple[CoreAggregate, ...] = ()
    types: Mapping[str, Type] = field(default_factory=dict, compare=False)
    numberings: tuple[CoreNumbering, ...] = ()  # in the order in which they number
    equivalences: Mapping[str, Span] = field(default_factory=dict, compare=False)  # where each is declared
    guard: Guard = field(default_factory=Guard)
    functors: Mapping[str, Functor] = field(default_factory=dict, compare=False)
    lattices: Lattices = field(default_factory=dict, compare=False)
    pragmas: Mapping[str, str] = field(default_factory=dict, compare=False)
    wraps: bool = False
    papers: bool = False
    demand: Demand = field(default_factory=Demand)
    demanded: Mapping[str, tuple[Version, ...]] = field(default_factory=dict)
    inline: Mapping[str, Inline] = field(default_factory=dict, compare=False)
