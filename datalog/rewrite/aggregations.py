"""What aggregations say: of which functions they are, what they give for no rows, and whether two of them are over the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal

from datalog.ir.core import CoreAggregate, CoreFunction, PyValue, Type
from datalog.ir.formulas import Aggregation, Constant, Literal, Term, Variable
from datalog.ir.occurrences import literal_variables, term_variables
from datalog.ir.primitives import aggregate_named, is_fold
from datalog.ir.renaming import rename_literal, rename_term
from datalog.ir.text import format_literal, format_term
from datalog.syntax.tree import NOWHERE


def core_function(aggregation: Aggregation) -> CoreFunction:
    """The function that it is of."""
    function = aggregate_named(aggregation.function)
    parameter = aggregation.arguments[-1] if function.parameter else None
    return CoreFunction(
        aggregation.function,
        tuple(term.type for term in aggregation.arguments[: len(function.arguments) - function.parameter]),
        aggregation.result.type,
        aggregation.span,
        is_ordered(aggregation),
        parameter.value if isinstance(parameter, Constant) else None,
    )


def is_ordered(aggregation: Aggregation) -> bool:
    """Whether a column that orders symbols stands before its first argument."""
    return aggregate_named(aggregation.function).picks and aggregation.arguments[0].type is Type.SYMBOL


def placeless(aggregate: CoreAggregate) -> tuple[CoreFunction, ...]:
    """The functions without the places where they were said."""
    return tuple(replace(function, span=NOWHERE) for function in aggregate.functions)


def empty_result(aggregation: Aggregation) -> Term | None:
    """What it gives for no rows, if anything."""
    if is_fold(aggregation.function):
        return aggregation.arguments[0]
    empty, type_ = aggregate_named(aggregation.function).empty, aggregation.result.type
    return None if empty is None else Constant(_typed(empty, type_), type_, aggregation.span)


def _typed(value: PyValue, type_: Type) -> PyValue:
    assert isinstance(value, int)
    return float(value) if type_ is Type.FLOAT else Decimal(value) if type_.scale >= 0 else value


def canonical(*parts: tuple[Sequence[Term], Sequence[Literal]] | bool) -> str:
    """The parts as text, with the variables named in the order of their appearance."""
    numbers: dict[str, str] = {}
    pairs = [part for part in parts if not isinstance(part, bool)]
    for terms, literals in pairs:
        for variable in (*(variable for term in terms for variable in term_variables(term)), *_all_variables(literals)):
            numbers.setdefault(variable.name, f"?{len(numbers)}: {variable.type.value}")
    shown = [
        [*(format_term(rename_term(term, numbers)) for term in terms), *(format_literal(rename_literal(one, numbers)) for one in literals)]
        for terms, literals in pairs
    ]
    return repr((shown, [part for part in parts if isinstance(part, bool)]))


def _all_variables(literals: Iterable[Literal]) -> Iterator[Variable]:
    for literal in literals:
        yield from literal_variables(literal)
