"""Equality of two terms of formulas, with values of parts taken apart as patterns are (`datalog.analysis.patterns`).

The head of a rule and an atom that it is to fit: `h(a, [b, c], 3)` and `h(x, y, 3)` say a = x, y != nil, b = .head(y), c = .tail(y),
y = [b, c].
"""

from __future__ import annotations

from collections.abc import Iterator

from datalog.analysis.patterns import has_shape
from datalog.ir.formulas import Comparison, Constant, Literal, Operation, Term, Truth, Variable, Wildcard
from datalog.ir.renaming import fresh_name
from datalog.ir.structures import Shape, shape_made
from datalog.ir.text import format_term
from datalog.syntax.tree import Span


def equal(left: Term, right: Term, taken: set[str], span: Span) -> Iterator[Literal]:
    """What holds where the two are one value; a wildcard is any. New variables get names that are none of those `taken`."""
    match left, right:
        case (Constant(value=one), Constant(value=other)):
            if one != other:
                yield Truth(False, span)
        case (Wildcard(), other) | (other, Wildcard()):
            shape = _shape(other)
            if isinstance(other, Operation) and shape is None:  # it must have a value
                yield Comparison("=", _fresh(other, taken, span), other, span)
            elif isinstance(other, Operation):
                for part in other.arguments:
                    yield from equal(Wildcard(part.type), part, taken, span)
        case (Operation() as one, Operation() as other) if _shape(one) and _shape(other):
            if one.name != other.name:
                yield Truth(False, span)
            else:
                for part, counterpart in zip(one.arguments, other.arguments, strict=True):
                    yield from equal(part, counterpart, taken, span)
        case (Operation() as made, other) | (other, Operation() as made) if (shape := _shape(made)) is not None:
            if isinstance(other, Constant) and other.value is None:
                yield Truth(False, span)
            elif isinstance(other, Variable):
                yield from _parts(other, made, shape, taken, span)
            else:
                variable = _fresh(other, taken, span)
                yield Comparison("=", variable, other, span)
                yield from _parts(variable, made, shape, taken, span)
        case (Variable(name), Variable(other_name)) if name == other_name:
            return
        case _:
            yield Comparison("=", left, right, span)


def _shape(term: Term) -> Shape | None:
    return shape_made(term.name, term.type) if isinstance(term, Operation) else None


def _fresh(term: Term, taken: set[str], span: Span) -> Variable:
    return Variable(fresh_name(f"={format_term(term)}", taken), term.type, span)


def _parts(value: Variable, made: Operation, shape: Shape, taken: set[str], span: Span) -> Iterator[Literal]:
    yield has_shape(value, shape, span)
    parts: list[Term] = []
    for place, part in enumerate(made.arguments):
        projection = Operation(shape.projection(place), (value,), part.type, span)
        inner = _shape(part)
        if isinstance(part, Operation) and inner is not None:
            variable = _fresh(part, taken, span)
            yield Comparison("=", variable, projection, span)
            yield from _parts(variable, part, inner, taken, span)
            parts.append(variable)
        else:
            yield Comparison("=", part, projection, span)
            parts.append(part)
    yield Comparison("=", value, Operation(made.name, tuple(parts), value.type, span), span)
