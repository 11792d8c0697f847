"""The syntax tree: what was written, with spans, in both dialects.

Spans take no part in equality, so `parse(print(tree)) == tree` compares what was said and not where it stood.
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
    before one operand, or a name."""

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
    """`function arguments : { body }` in an expression. `grouping`: not written so, but what one of `agg<<…>>` stands for."""

    function: str
    arguments: tuple[Term, ...]
    body: Conjunction
    span: Span = field(default=NOWHERE, compare=False)
    grouping: bool = False


Term = Variable | Wildcard | Constant | Operation | Application | Aggregate


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
    name: str
    type: str
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Declaration:
    """`.decl p, q(x: number, y: symbol) qualifier …`, or with `functional` `.decl F(x: number) = y: symbol`, whose last attribute is
    the value. A type's name may be `decimal(2)`."""

    predicates: tuple[str, ...]
    attributes: tuple[Attribute, ...]
    qualifiers: tuple[str, ...] = ()
    span: Span = field(default=NOWHERE, compare=False)
    functional: bool = False


@dataclass(frozen=True, slots=True)
class TypeDeclaration:
    """`.type Name <: base` (subtype) or `.type Name = base` (another name for it)."""

    name: str
    base: str
    subtype: bool
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Directive:
    """`.input p, q(key=value, …)`, `.output`, `.printsize`; a value keeps its Python type (str, int)."""

    kind: OneOf["input", "output", "printsize"]
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
class PlanVersion:
    """`number:(atoms)`: an order of the positive atoms of a rule's body, by their places there, which count from 1."""

    number: int
    atoms: tuple[int, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Plan:
    """`.plan 0:(2,1), 1:(1,2)`, which says how the rule before it is to be joined."""

    versions: tuple[PlanVersion, ...]
    span: Span = field(default=NOWHERE, compare=False)


Clause = Declaration | TypeDeclaration | Directive | Plan | Rule


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment with its delimiters; `trailing` if code precedes it on its line."""

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
