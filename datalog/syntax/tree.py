"""The syntax tree: what was written, with spans, in both dialects.

Spans take no part in equality, so `parse(print(tree)) == tree` compares what was said and not where it stood.
All nodes stand in this one module, longer than others, so that whoever walks the tree finds its whole vocabulary in one place.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal as OneOf


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a source text; `line` and `column` count from 1, `start` and `end` are character offsets."""

    file: str
    start: int
    end: int
    line: int
    column: int
    end_line: int
    end_column: int


NOWHERE = Span("<generated>", 0, 0, 0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Variable:
    name: str
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Wildcard:
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal. `spelling` keeps how it was written (0xff, "a\\n") where that is not the canonical form of `value`."""

    value: int | float | str | bool
    type: OneOf["number", "unsigned", "float", "symbol", "bool"]
    spelling: str = ""
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator or functor applied to arguments: `+ - * / % ^ band bor bxor bshl bshr bshru land lor lxor` infix, `- bnot lnot`
    before one operand, or a name.

    `@name`, with its sign, is a functor of a `FunctorDeclaration`. `$` alone is read as `autoinc()`.
    """

    name: str
    arguments: tuple[Term, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Application:
    """`F[x, y]` in an expression: the value of a functional predicate."""

    predicate: str
    keys: tuple[Term, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Aggregate:
    """`function arguments : { body }` in an expression. `grouping`: not written so, but what one of `agg<<…>>` stands for.

    With `initial` it is the user's: `@@function arguments : initial, { body }`, and `function` begins with the two signs.
    """

    function: str
    arguments: tuple[Term, ...]
    body: Conjunction
    span: Span = field(default=NOWHERE, compare=False)
    grouping: bool = False
    initial: Term | None = None


@dataclass(frozen=True, slots=True)
class Nil:
    """`nil`, the record that has no fields and belongs to every record type."""

    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Record:
    """`[x, y]`: a value of a record type, or a pattern that binds its fields. Which record type it is, its place decides."""

    fields: tuple[Term, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Branch:
    """`$Name(x, y)`: a value of an algebraic type, or a pattern. A branch without fields may be written `$Name` or `$Name()`, which
    are the same. A branch declared in a component has a qualified name: `$c.Name(x)`."""

    name: str
    arguments: tuple[Term, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Cast:
    """`as(term, type)`: the same value, taken for one of another type."""

    term: Term
    type: str
    span: Span = field(default=NOWHERE, compare=False)


Term = Variable | Wildcard | Constant | Operation | Application | Aggregate | Nil | Record | Branch | Cast


@dataclass(frozen=True, slots=True)
class Atom:
    """`p(x, y)`, or with `functional` `F[x] = y`, whose last term is the value."""

    predicate: str
    terms: tuple[Term, ...]
    span: Span = field(default=NOWHERE, compare=False)
    functional: bool = False


@dataclass(frozen=True, slots=True)
class Comparison:
    operator: OneOf["=", "!=", "<", "<=", ">", ">="]
    left: Term
    right: Term
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Truth:
    """The literals `true` and `false`."""

    value: bool
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Conjunction:
    literals: tuple[Literal, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Disjunction:
    """Two or more branches, written `(a, b; c)`; at a rule's top level without parentheses."""

    branches: tuple[Conjunction, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Negation:
    """`!p(x)` holds a conjunction of one atom; `!(p(x), q(x))` a longer one or a disjunction."""

    body: Conjunction
    span: Span = field(default=NOWHERE, compare=False)


Literal = Atom | Comparison | Truth | Negation | Disjunction | Conjunction


@dataclass(frozen=True, slots=True)
class Attribute:
    """`name: type` of a declaration, a record type or a branch; `lattice`: written `name: type<>`, a column whose values are joined.

    The arguments of a `.functor` may have no name (an empty one).
    """

    name: str
    type: str
    span: Span = field(default=NOWHERE, compare=False)
    lattice: bool = False


@dataclass(frozen=True, slots=True)
class Declaration:
    """`.decl p, q(x: number, y: symbol) qualifier …`, or with `functional` `.decl F(x: number) = y: symbol`, whose last attribute is
    the value. A type's name may be `decimal(2)`.

    `choices` are the keys of `choice-domain x, (y, z)`: the first row for a key stays, others with that key are not derived.
    """

    predicates: tuple[str, ...]
    attributes: tuple[Attribute, ...]
    qualifiers: tuple[str, ...] = ()
    span: Span = field(default=NOWHERE, compare=False)
    functional: bool = False
    choices: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class DeltaDeclaration:
    """`.decl name = debug_delta(predicate) qualifier …`: the rows of `predicate` with the round of the recursion that found them."""

    name: str
    predicate: str
    qualifiers: tuple[str, ...] = ()
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class TypeDeclaration:
    """`.type Name <: base` (subtype) or `.type Name = base` (another name for it)."""

    name: str
    base: str
    subtype: bool
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class UnionDeclaration:
    """`.type Name = A | B`, of two or more types."""

    name: str
    members: tuple[str, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class RecordDeclaration:
    """`.type Name = [x: T, …]`, whose values are records and `nil`."""

    name: str
    fields: tuple[Attribute, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class BranchDeclaration:
    """`Name { x: T, … }` of an algebraic type."""

    name: str
    fields: tuple[Attribute, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class AlgebraicDeclaration:
    """`.type Name = A { x: T } | B {}`, of one or more branches."""

    name: str
    branches: tuple[BranchDeclaration, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class LatticeDeclaration:
    """`.lattice Type<> { Bottom -> …, Top -> …, Lub -> @f(_, _), … }`: which terms and functors make a type a lattice."""

    type: str
    operators: tuple[tuple[str, Term], ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class FunctorDeclaration:
    """`.functor name(x: T, …): result stateful`; its calls are operations called `@name`."""

    name: str
    attributes: tuple[Attribute, ...]
    result: str
    stateful: bool = False
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Directive:
    """`.input p, q(key=value, …)`, `.output`, `.printsize`, `.limitsize`; a value keeps its Python type (str, int)."""

    kind: OneOf["input", "output", "printsize", "limitsize"]
    predicates: tuple[str, ...]
    parameters: tuple[tuple[str, str | int], ...] = ()
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Total:
    """`result = function(arguments)` within `agg<<…>>`."""

    result: Variable
    function: str
    arguments: tuple[Term, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Rule:
    """`heads :- body.`; a fact has an empty body and no arrow. With `totals` it is `heads <- agg<<totals>> body.`"""

    heads: tuple[Atom, ...]
    body: Conjunction
    arrow: OneOf[":-", "<-", ""]
    span: Span = field(default=NOWHERE, compare=False)
    totals: tuple[Total, ...] = ()


@dataclass(frozen=True, slots=True)
class Subsumption:
    """`less <= greater :- body.`: a row that fits `less` is dropped while one that fits `greater` is there and the body holds."""

    less: Atom
    greater: Atom
    body: Conjunction
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class PlanVersion:
    """`number:(atoms)`: an order of the positive atoms of a rule's body, by their places there, which count from 1."""

    number: int
    atoms: tuple[int, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Plan:
    """`.plan 0:(2,1), 1:(1,2)`, which says how the rule or subsumption before it is to be joined."""

    versions: tuple[PlanVersion, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Pragma:
    """`.pragma "key" "value"`; the value may be left out (an empty one)."""

    key: str
    value: str = ""
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class ComponentType:
    """`Name<A, B>` where a component is used, or where it is declared: then the parameters are names for its body."""

    name: str
    parameters: tuple[str, ...] = ()
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Component:
    """`.comp Name<T> : Base<T>, … { clauses }`. Its clauses mean something where an `Instantiation` makes them anew with names of
    its own; `datalog.analysis.instantiate` does that, so no later pass meets components, instantiations and overrides."""

    type: ComponentType
    bases: tuple[ComponentType, ...]
    clauses: tuple[Clause, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Instantiation:
    """`.init name = Component<T>`: the component's `p` is then `name.p`."""

    name: str
    component: ComponentType
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Override:
    """`.override p` in a component: the rules and facts of its bases for `p`, which is `overridable` there, do not count."""

    predicate: str
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Include:
    """`.include "file"`. Only the formatter meets it: a program that is to run has the file's text in its place."""

    file: str
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Once:
    """`.once`: what follows in this file counts only where it is included first. Without effect where the text is not included."""

    span: Span = field(default=NOWHERE, compare=False)


AnyType = TypeDeclaration | UnionDeclaration | RecordDeclaration | AlgebraicDeclaration
Clause = (
    Declaration
    | DeltaDeclaration
    | AnyType
    | LatticeDeclaration
    | FunctorDeclaration
    | Directive
    | Plan
    | Rule
    | Subsumption
    | Pragma
    | Component
    | Instantiation
    | Override
    | Include
    | Once
)


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment with its delimiters; `trailing` if code precedes it on its line. Annotations such as `@[key = value]`, which mean
    nothing to a program, are kept like comments."""

    text: str
    trailing: bool
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Program:
    """The clauses in the order of the text. `comments` in order, too; `text` is the whole source, for error messages."""

    clauses: tuple[Clause, ...]
    comments: tuple[Comment, ...] = ()
    text: str = field(default="", compare=False)
    file: str = field(default="<program>", compare=False)
