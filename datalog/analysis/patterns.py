"""Patterns: records and branches with variables in them, where a body may bind these.

    p([x, [y, nil]])   becomes   p(r), r != nil, x = .head(r), r' = .tail(r), r' != nil, y = .head(r'), nil = .tail(r'),
                                 r' = [y, nil], r = [x, r']
    $Add(x, _) = e     becomes   $?(e) = 0, x = .Add.left(e)

The value is taken apart, and where all its parts have names also put together: each half says all, so whichever side is bound binds
the other, and what is said twice is told once in the end (`datalog.rewrite.flatten`). A place that takes no pattern, such as a
head or a comparison by `<`, has the value put together only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from datalog.analysis.folding import make
from datalog.analysis.walk import is_pattern, operands
from datalog.ir.core import Type
from datalog.ir.formulas import Comparison, Constant, Literal, Operation, Term, Truth, Variable, Wildcard
from datalog.ir.renaming import fresh_name
from datalog.ir.structures import WHICH, Shape, Structure
from datalog.syntax import tree
from datalog.syntax.printer import format_term

Translate = Callable[[tree.Term, Type], Term]


class Patterns:
    """The patterns of one rule. `translate` gives the formulas' term for one that is no pattern, `taken` are the rule's names."""

    def __init__(self, translate: Translate, taken: set[str]) -> None:
        self._translate = translate
        self._taken = taken

    def fresh(self, term: tree.Term, type_: Type) -> Variable:
        """A new variable that stands for the value of a term."""
        return Variable(fresh_name(f"={format_term(term)}", self._taken), type_, term.span)

    def equal(self, left: tree.Term, right: tree.Term, type_: Type, span: tree.Span) -> Iterator[Literal]:
        """`left = right`, of which at least one is a pattern."""
        if not is_pattern(left):
            left, right = right, left
        assert isinstance(left, tree.Record | tree.Branch)
        if isinstance(right, tree.Record | tree.Branch):
            yield from self._both(left, right, type_, span)
        elif isinstance(right, tree.Variable):
            value = self._translate(right, type_)
            assert isinstance(value, Variable)
            yield from self.match(value, left)
        else:
            variable = self.fresh(right, type_)
            yield Comparison("=", variable, self._translate(right, type_), span)
            yield from self.match(variable, left)

    def _both(self, left: tree.Record | tree.Branch, right: tree.Record | tree.Branch, type_: Type, span: tree.Span) -> Iterator[Literal]:
        shape = shape_of(left, type_)
        if shape is None or shape != shape_of(right, type_):
            yield Truth(False, span)
            return
        for one, other, field in zip(operands(left), operands(right), shape.types, strict=True):
            if is_pattern(one) or is_pattern(other):
                yield from self.equal(one, other, field, span)
            elif not isinstance(one, tree.Wildcard) and not isinstance(other, tree.Wildcard):
                yield Comparison("=", self._translate(one, field), self._translate(other, field), span)

    def match(self, value: Variable, pattern: tree.Record | tree.Branch) -> Iterator[Literal]:
        """What holds where `value` is of this form, with its parts as they are named."""
        type_, span = value.type, pattern.span
        shape = shape_of(pattern, type_)
        if shape is None:  # has been reported
            return
        yield has_shape(value, shape, span)
        parts: list[Term] = []
        for place, (part, field) in enumerate(zip(operands(pattern), shape.types, strict=True)):
            if isinstance(part, tree.Wildcard):
                parts.append(Wildcard(field, part.span))
                continue
            projection = Operation(shape.projection(place), (value,), field, part.span)
            if is_pattern(part):
                assert isinstance(part, tree.Record | tree.Branch)
                inner = self.fresh(part, field)
                yield Comparison("=", inner, projection, part.span)
                yield from self.match(inner, part)
                parts.append(inner)
            else:
                parts.append(self._translate(part, field))
                yield Comparison("=", parts[-1], projection, part.span)
        if not any(isinstance(part, Wildcard) for part in parts):
            yield Comparison("=", value, make(shape.constructor, parts, type_, span), span)


def has_shape(value: Variable, shape: Shape, span: tree.Span) -> Comparison:
    """That a value is of this shape: a record that is not nil, or a value of this branch."""
    type_ = value.type
    assert isinstance(type_, Structure)
    if type_.record:
        return Comparison("!=", value, Constant(None, type_, span), span)
    which = Operation(WHICH, (value,), Type.NUMBER, span)
    return Comparison("=", which, Constant(type_.number(shape.name), Type.NUMBER, span), span)


def shape_of(term: tree.Record | tree.Branch, type_: Type) -> Shape | None:
    """The shape that a term has in its type; None where they do not go together, which has been reported."""
    if not isinstance(type_, Structure) or type_.record != isinstance(term, tree.Record):
        return None
    number = type_.number(term.name) if isinstance(term, tree.Branch) else 0
    found = type_.shapes[number] if number >= 0 else None
    return found if found is not None and len(found.fields) == len(operands(term)) else None


def leaves_open(term: tree.Term) -> bool:
    """Whether a record or branch has a wildcard in it, at any depth."""
    return isinstance(term, tree.Record | tree.Branch) and any(
        isinstance(part, tree.Wildcard) or leaves_open(part) for part in operands(term)
    )
