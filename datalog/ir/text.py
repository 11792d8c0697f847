"""Quantified rules and core rules as text, for `datalog plan` and for people who debug.

The forms are stable: one line a rule, no trailing spaces, numbers as Python prints them, strings with JSON's escapes.
Facts are data and are not shown. The text is for reading and is not parsed again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date

from datalog.ir.branch import Branch, spell_parts
from datalog.ir.core import Apply, CoreAggregate, CoreRule, Expression, Predicate, PyValue, Reference, Value
from datalog.ir.formulas import (
    Aggregation,
    Atom,
    Comparison,
    Conjunction,
    Constant,
    Disjunction,
    Literal,
    Negation,
    Operation,
    Program,
    Rule,
    Signature,
    Term,
    Truth,
    Variable,
    Wildcard,
)
from datalog.ir.spelling import spell_value
from datalog.ir.structures import FIELD, RECORD

_STRENGTH = {
    **{"lor": 1, "lxor": 2, "land": 3, "bor": 4, "bxor": 5, "band": 6, "bshl": 7, "bshr": 7, "bshru": 7},
    **{"+": 8, "-": 8, "*": 9, "/": 9, "%": 9, "neg": 10, "bnot": 10, "lnot": 10, "^": 11},
}
_PREFIX = {"neg": "-", "bnot": "bnot ", "lnot": "lnot "}


def format_program(program: Program) -> str:
    """The quantified rules, one a line, in the order of the program."""
    return "".join(format_rule(rule) + "\n" for rule in program.rules)


def format_signature(signature: Signature) -> str:
    """`edge(from: number, to: number)`, with the types as they were declared."""
    columns = [f"{name}: {type_name}" for name, type_name in zip(signature.attributes, signature.type_names, strict=True)]
    if signature.functional:
        return f"{signature.name}({', '.join(columns[:-1])}) = {columns[-1]}"
    return f"{signature.name}({', '.join(columns)})"


def format_rule(rule: Rule) -> str:
    """`∀ x: number. p(x) ← ∃ y: number. q(x, y).`"""
    heads = ", ".join(format_literal(head) for head in rule.heads)
    return f"{_block('∀', rule.forall)}{heads} ← {format_literal(rule.body)}."


def format_literal(literal: Literal) -> str:
    """One dform, with its quantifiers."""
    match literal:
        case Atom():
            return f"{literal.predicate}({', '.join(format_term(term) for term in literal.terms)})"
        case Comparison():
            return f"{format_term(literal.left)} {literal.operator} {format_term(literal.right)}"
        case Truth():
            return "true" if literal.value else "false"
        case Negation():
            inner = literal.body
            plain = len(inner.literals) == 1 and not inner.exists and isinstance(inner.literals[0], Atom)
            return f"!{format_literal(inner)}" if plain else f"!({format_literal(inner)})"
        case Disjunction():
            return f"({'; '.join(format_literal(branch) for branch in literal.branches)})"
        case Conjunction():
            parts = [
                f"({format_literal(inner)})" if isinstance(inner, Conjunction) else format_literal(inner) for inner in literal.literals
            ]
            return _block("∃", literal.exists) + (", ".join(parts) or "true")
        case Aggregation():
            arguments = ", ".join(map(format_term, literal.arguments))
            if literal.grouping:
                return f"{literal.result.name} = agg<<{literal.function}({arguments})>> ({format_literal(literal.body)})"
            spaced = f"{literal.function} {arguments}".rstrip()
            return f"{literal.result.name} = {spaced} : {{ {format_literal(literal.body)} }}"


def format_term(term: Term, strength: int = 0) -> str:
    """A term, in parentheses where it binds more loosely than its surroundings (`strength`)."""
    match term:
        case Variable():
            return term.name
        case Wildcard():
            return "_"
        case Constant():
            return format_value(term.value)
        case Operation():
            name = term.name
            inner_terms = [format_term(argument, _inner(name, at)) for at, argument in enumerate(term.arguments)]
            return _operation(name, inner_terms, strength)


def format_value(value: PyValue) -> str:
    """A constant in the program's own notation."""
    if isinstance(value, (str, date)):
        return json.dumps(value if isinstance(value, str) else spell_value(value), ensure_ascii=False)
    if isinstance(value, tuple | Branch):
        return spell_parts(value, format_value)
    return repr(value) if type(value) in (int, float) else spell_value(value)


def format_core_rule(rule: CoreRule) -> str:
    """`path(x, z) ← edge(x, y), path(y, z), !blocked(z), w = z + 1, x < y.`"""
    parts = [
        ("!" if atom.negated else "") + _row(atom.predicate, ["_" if column is None else rule.variables[column] for column in atom.columns])
        for atom in rule.atoms
    ]
    parts += [f"{rule.variables[binding.variable]} = {format_expression(binding.expression, rule.variables)}" for binding in rule.bindings]
    parts += [
        f"{format_expression(test.left, rule.variables)} {test.operator} {format_expression(test.right, rule.variables)}"
        for test in rule.filters
    ]
    return f"{_row(rule.head, [rule.variables[column] for column in rule.head_columns])} ← {', '.join(parts) or 'true'}."


def format_aggregate(aggregate: CoreAggregate, predicates: Mapping[str, Predicate]) -> str:
    """`total@agg1(region, sum) = sum over total@body1(region, value)`, with the intervals that it asks for, if any."""
    source = predicates[aggregate.source].attributes
    functions = ", ".join(
        function.name
        + (f" with {format_value(function.parameter)}" if function.parameter is not None and len(aggregate.functions) > 1 else "")
        for function in aggregate.functions
    )
    shown = f"{_row(aggregate.head, predicates[aggregate.head].attributes)} = {functions} over {_row(aggregate.source, source)}"
    first = aggregate.functions[0]
    if first.parameter is not None and len(aggregate.functions) == 1:
        shown += f" with {format_value(first.parameter)}"
    if not aggregate.needs:
        return shown + "."
    columns = list(predicates[aggregate.needs].attributes)
    bounds = [
        f"{source[aggregate.groups]} {operator} {columns[aggregate.groups + place]}"
        for place, operator in enumerate(operator for operator in (aggregate.low, aggregate.high) if operator)
    ]
    return f"{shown} with {' and '.join(bounds)}, for each {_row(aggregate.needs, columns)}."


def format_expression(expression: Expression, variables: Sequence[str], strength: int = 0) -> str:
    """A core expression, its variables by name."""
    match expression:
        case Reference():
            return variables[expression.variable]
        case Value():
            return format_value(expression.value)
        case Apply():
            name = expression.name
            inner = [format_expression(argument, variables, _inner(name, at)) for at, argument in enumerate(expression.arguments)]
            return _operation(name, inner, strength)


def _row(predicate: str, columns: Sequence[str]) -> str:
    return f"{predicate}({', '.join(columns)})"


def _block(quantifier: str, variables: Sequence[Variable]) -> str:
    if not variables:
        return ""
    return f"{quantifier} {', '.join(f'{variable.name}: {variable.type.value}' for variable in variables)}. "


def _inner(name: str, position: int) -> int:
    """How strongly an argument must bind to stand without parentheses: `^` groups to the right, the other infixes to the left."""
    if name not in _STRENGTH:
        return 0
    own = _STRENGTH[name]
    if name in _PREFIX:
        return own + 1
    return own if position == (1 if name == "^" else 0) else own + 1


def _operation(name: str, arguments: Sequence[str], strength: int) -> str:
    if name == RECORD:
        return f"[{', '.join(arguments)}]"
    if name.startswith(FIELD):
        return arguments[0] + name
    if name not in _STRENGTH:
        return f"{name}({', '.join(arguments)})"
    shown = f"{_PREFIX[name]}{arguments[0]}" if name in _PREFIX else f" {name} ".join(arguments)
    return f"({shown})" if _STRENGTH[name] < strength else shown
