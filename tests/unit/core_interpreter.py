"""Core rules evaluated naively, by nested loops over sets of rows: what a core program means, in the fewest lines.

A computation without a result is an error only if its assignment passes everything that can still be judged, as in the oracle.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Set
from typing import Any

from datalog.ir.core import Apply, CoreProgram, CoreRule, Expression, Reference, Value
from tests.oracle.naive import OracleArithmeticError
from tests.oracle.naive import compute as apply

Row = tuple[Any, ...]
Rows = dict[str, set[Row]]

_TESTS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def evaluate_core(program: CoreProgram, given: Mapping[str, Set[Row]] | None = None) -> Rows:
    """All relations of the program; `given` rows are added to the facts of the text. Raises OracleArithmeticError."""
    rows = {name: set(program.facts.get(name, ())) | set((given or {}).get(name, ())) for name in program.predicates}
    for stratum in program.strata:
        growing = True
        while growing:
            growing = False
            for number in stratum.rules:
                rule = program.rules[number]
                new = set(derive(rule, rows)) - rows[rule.head]
                growing |= bool(new)
                rows[rule.head] |= new
    return rows


def derive(rule: CoreRule, rows: Rows) -> Iterator[Row]:
    """The head's rows of all satisfying assignments."""
    assignments: list[dict[int, Any]] = [{}]
    for atom in rule.atoms:
        if not atom.negated:
            found = (_match(atom.columns, row, assignment) for assignment in assignments for row in rows[atom.predicate])
            assignments = [extended for extended in found if extended is not None]
    negated = [atom for atom in rule.atoms if atom.negated]
    for assignment in assignments:
        complete, failed = _complete(rule, assignment)
        if complete is None or any(
            all(column is None or column in complete for column in atom.columns) and _match(atom.columns, row, complete) is not None
            for atom in negated
            for row in rows[atom.predicate]
        ):
            continue
        if failed:
            raise OracleArithmeticError(failed)
        yield tuple(complete[column] for column in rule.head_columns)


def _match(columns: tuple[int | None, ...], row: Row, assignment: dict[int, Any]) -> dict[int, Any] | None:
    extended = dict(assignment)
    for column, value in zip(columns, row, strict=True):
        if column is not None and extended.setdefault(column, value) != value:
            return None
    return extended


def _complete(rule: CoreRule, assignment: dict[int, Any]) -> tuple[dict[int, Any] | None, str]:
    """The assignment with what the rule computes, None if it does not pass; and why a computation failed, or ""."""
    complete = dict(assignment)
    failed = ""
    waiting = list(rule.bindings)
    while ready := [step for step in waiting if variables_of(step.expression) <= complete.keys()]:
        waiting.remove(ready[0])
        try:
            value = _value(ready[0].expression, complete)
        except OracleArithmeticError as error:
            failed = str(error)
            continue
        if complete.setdefault(ready[0].variable, value) != value:
            return None, ""
    for test in rule.filters:
        if variables_of(test.left) | variables_of(test.right) <= complete.keys():
            try:
                if not _TESTS[test.operator](_value(test.left, complete), _value(test.right, complete)):
                    return None, ""
            except OracleArithmeticError as error:
                failed = str(error)
    return complete, failed


def variables_of(expression: Expression) -> set[int]:
    """The numbers of the variables in an expression."""
    match expression:
        case Reference():
            return {expression.variable}
        case Apply():
            return set().union(*map(variables_of, expression.arguments))
        case Value():
            return set()


def _value(expression: Expression, assignment: dict[int, Any]) -> Any:
    match expression:
        case Reference():
            return assignment[expression.variable]
        case Value():
            return expression.value
        case Apply():
            values = [_value(argument, assignment) for argument in expression.arguments]
            return apply("-" if expression.name == "neg" else expression.name, values, expression.type.value)
