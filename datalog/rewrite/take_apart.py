"""Records and branches in a head that is asked for them: the value asked for has a name, and its parts are taken from it.

    len([h, t], n + 1) ← len(t, n)   becomes   len(r, n + 1) ← len(t, n), r != nil, h = .head(r), t = .tail(r), r = [h, t]

So that what is asked of the parts follows from what is asked of the whole. Where the body says already what `[h, t]` is, its name is
taken. What is added says nothing new, and is what `datalog.analysis.patterns` makes of a pattern in a body.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from datalog.analysis.patterns import has_shape
from datalog.ir.formulas import Atom, Comparison, Literal, Operation, Term, Variable
from datalog.ir.occurrences import names_in, term_may_fail
from datalog.ir.renaming import fresh_name
from datalog.ir.structures import shape_made
from datalog.ir.text import format_term
from datalog.syntax.tree import NOWHERE

HIDDEN = replace(NOWHERE, start=-1, end=-1)  # within no rule's text


def take_apart(head: Atom, body: Sequence[Literal], columns: Collection[int]) -> tuple[Atom, list[Literal]]:
    """The head with variables for what has parts in some columns, and the body with what they are."""
    terms, literals = list(head.terms), list(body)
    taken = set(names_in((head, *body), ()))
    for column in columns:
        maker = terms[column]
        if not isinstance(maker, Operation) or shape_made(maker.name, maker.type) is None:
            continue
        named = (one.left for one in literals if isinstance(one, Comparison) and one.operator == "=" and one.right == maker)
        value = next((term for term in named if isinstance(term, Variable)), None)
        if value is None:
            value = Variable(fresh_name(f"={format_term(maker)}", taken), maker.type, HIDDEN)
            literals += _parts(value, maker, taken)
        terms[column] = value
    return replace(head, terms=tuple(terms)), literals


def _parts(value: Variable, maker: Operation, taken: set[str]) -> Iterator[Literal]:
    """What holds of a value that is made so."""
    shape = shape_made(maker.name, maker.type)
    assert shape is not None
    yield has_shape(value, shape, HIDDEN)
    parts: list[Term] = []
    for place, (part, field) in enumerate(zip(maker.arguments, shape.types, strict=True)):
        projection = Operation(shape.projection(place), (value,), field, HIDDEN)
        if isinstance(part, Operation) and shape_made(part.name, part.type) is not None:
            inner = Variable(fresh_name(f"={format_term(part)}", taken), field, HIDDEN)
            yield Comparison("=", inner, projection, HIDDEN)
            yield from _parts(inner, part, taken)
            part = inner
        elif not term_may_fail(part):
            yield Comparison("=", part, projection, HIDDEN)
        parts.append(part)
    yield Comparison("=", value, replace(maker, arguments=tuple(parts), span=HIDDEN), HIDDEN)
