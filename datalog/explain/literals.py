"""The literals of a core rule as its author wrote them.

A literal of the text has become one or more parts of the core rule: an atom with its terms' bindings, a comparison, the helper of
a negated group or of a disjunction. Their spans say which: a part belongs to the smallest atom or comparison around it. What
belongs to none stands in the head. Parts outside the rule's own span are the guard of a helper's rule (`datalog.rewrite.helpers`).
An aggregate has become an atom of its head; where it is over no rows, a negated one (`datalog.rewrite.lower_aggregates`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal as OneOf

from datalog.analysis.findings import Findings
from datalog.io.literals import spell
from datalog.ir.core import (
    ALL,
    BASE,
    PAIRS,
    ROUND,
    SOME,
    Apply,
    CoreAggregate,
    CoreAtom,
    CoreBinding,
    CoreFilter,
    CoreRule,
    Expression,
    Predicate,
    Reference,
    Type,
    Value,
)
from datalog.ir.demand import without_adornment
from datalog.ir.primitives import ORDER
from datalog.ir.structures import FIELD, WHICH
from datalog.ir.text import format_expression
from datalog.plan.order import variables_of
from datalog.store.values import Values
from datalog.syntax.tree import Span

TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/|[()]', re.DOTALL)

BRANCH = re.compile(r"\$[A-Za-z_?][\w?.]*")

Check = CoreBinding | CoreFilter
Kind = OneOf["plain", "base", "pairs", "numbers", "bindings", "some", "or", "not", "super", "agg", "body", "need", "demand", "guard"]


@dataclass(frozen=True, slots=True)
class Part:
    """A literal of the body, or a computation in the head: its atoms, and its comparisons and computations, in the order of the text."""

    span: Span
    atoms: tuple[CoreAtom, ...]
    checks: tuple[Check, ...]


def kind_of(predicate: str) -> Kind:
    """What a predicate is: one of the program, or a hidden one of a certain kind; a version of a predicate is what this is."""
    predicate = without_adornment(predicate)
    suffix = predicate.partition("@")[2].rstrip("0123456789") if "@" in predicate else "plain"
    match suffix.rpartition("@")[2]:
        case "plain" | "base" | "pairs" | "numbers" | "bindings" | "some" | "or" | "not" | "super" as kind:
            return kind
        case "agg" | "body" | "need" | "demand" as kind:
            return kind
        case "all" | "chosen" | "subsumed" | "round":
            return "guard"
    raise AssertionError(f"{predicate} is a hidden predicate of an unknown kind")


def is_copy(rule: CoreRule) -> bool:
    """Does the rule copy the given rows of its head's predicate?"""
    return [kind for atom in rule.atoms if (kind := kind_of(atom.predicate)) != "demand"] == ["base"]


def is_aggregate(atom: CoreAtom) -> bool:
    """Does the atom read an aggregate's results, or ask whether there are any?"""
    return kind_of(atom.predicate.removesuffix(SOME)) == "agg"


def parts_of(rule: CoreRule, aggregates: Mapping[str, CoreAggregate]) -> tuple[Part, ...]:
    """The literals within the rule's span in the order of the text, and after them the computations of the head.

    What is asked for is no literal. The rule for an aggregate's body has no guard beside the values that are asked for;
    `agg<<…>>` does not stand around its body.
    An atom over an aggregate with several results is taken as one atom for each, where that stands, with wildcards for the others."""
    is_body = kind_of(rule.head) == "body"
    every = [one for atom in rule.atoms for one in _by_result(atom, aggregates)]
    atoms = [atom for atom in every if kind_of(atom.predicate) not in ("need", "demand") and (is_body or encloses(rule.span, atom.span))]
    checks = [check for check in _checks(rule) if is_body or encloses(rule.span, check.span)]
    outer = {item.span for item in (*atoms, *(check for check in checks if not is_generated(rule, check)))}
    within: dict[Span, tuple[list[CoreAtom], list[Check]]] = {span: ([], []) for span in sorted(outer, key=_place)}
    head: list[Check] = []
    for atom in atoms:
        within[atom.span][0].append(atom)
    for check in checks:
        around = [span for span in within if encloses(span, check.span)]
        if around:
            within[min(around, key=lambda span: span.end - span.start)][1].append(check)
        elif isinstance(check, CoreBinding) and isinstance(check.expression, Apply):
            head.append(check)
    parts = [Part(span, tuple(own), tuple(sorted(inner, key=lambda check: _place(check.span)))) for span, (own, inner) in within.items()]
    return (*parts, *(Part(check.span, (), (check,)) for check in head))


def _by_result(atom: CoreAtom, aggregates: Mapping[str, CoreAggregate]) -> Iterator[CoreAtom]:
    aggregate = aggregates.get(atom.predicate)
    if aggregate is None or len(aggregate.functions) == 1:
        yield atom
        return
    keys = atom.columns[: aggregate.keys]
    results = atom.columns[aggregate.keys :]
    for place in [place for place, column in enumerate(results) if column is not None] or [0]:
        own = (column if at == place else None for at, column in enumerate(results))
        yield replace(atom, columns=(*keys, *own), span=aggregate.functions[place].span)


def _checks(rule: CoreRule) -> Iterator[Check]:
    """The checks that somebody has written: an inverse only finds candidates, and the numbers of symbols are the engine's own."""
    for binding in rule.bindings:
        if not binding.inverse and not (isinstance(binding.expression, Apply) and binding.expression.name == ORDER):
            yield binding
    yield from rule.filters


def _place(span: Span) -> tuple[int, int]:
    """A sorting key: what stands at the beginning of something else comes before it."""
    return span.start, span.end


def empty_result(part: Part) -> CoreBinding | None:
    """If the part is an aggregate over no rows: what says which result it then has."""
    if len(part.atoms) != 1 or not part.atoms[0].negated or not is_aggregate(part.atoms[0]):
        return None
    for check in part.checks:
        if isinstance(check, CoreBinding) and isinstance(check.expression, Value) and check.span == part.span:
            return check
    return None


def is_generated(rule: CoreRule, check: Check) -> bool:
    """Is the check the binding of a term within an atom, or a part of a pattern there, and no comparison of its own?"""
    named = isinstance(check, CoreBinding) and rule.variables[check.variable][0] == "="
    return named or is_repetition(check) or is_part_of_pattern(rule, check)


def is_part_of_pattern(rule: CoreRule, check: Check) -> bool:
    """Does the check take a value apart that stands in an atom? The atom shows as much."""
    if not any(encloses(atom.span, check.span) for atom in rule.atoms):
        return False
    if isinstance(check, CoreFilter) and check.operator == "!=":
        return isinstance(check.right, Value) and check.right.value is None
    return taking_apart(check) is not None


def taking_apart(check: Check) -> Apply | None:
    """The call in a check that gives a field of a value, or says of which branch it is."""
    expressions = (check.expression,) if isinstance(check, CoreBinding) else (check.left, check.right)
    calls = (one for one in expressions if isinstance(one, Apply))
    return next((one for one in calls if one.name == WHICH or one.name.startswith(FIELD)), None)


def is_repetition(check: Check) -> bool:
    """Does the check say that a variable stands for another one, which an atom repeats? Equalities of variables are none:
    they have made the two variables one."""
    return isinstance(check, CoreBinding) and isinstance(check.expression, Reference)


def is_constant(rule: CoreRule, check: Check) -> bool:
    """Is the check the binding of a constant term? What an aggregate gives for no rows is none."""
    if not is_generated(rule, check) or not isinstance(check, CoreBinding) or not isinstance(check.expression, Value):
        return False
    return not any(is_aggregate(atom) and atom.span == check.span for atom in rule.atoms)


def written(text: str, span: Span) -> str:
    """What stands at a span of a program's text, on one line. Spans leave out parentheses around outermost operands: they are put back."""
    depth = lowest = 0
    for token in TOKEN.finditer(text, span.start, span.end):
        depth += (token[0] == "(") - (token[0] == ")")
        lowest = min(lowest, depth)
    start, end = span.start, span.end
    for _ in range(-lowest):
        start = text.rindex("(", 0, start)
    for _ in range(depth - lowest):
        end = text.index(")", end) + 1
    return Findings(text).one_line(replace(span, start=start, end=end))


def encloses(outer: Span, inner: Span) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def spelled(rule: CoreRule, binding: Sequence[int | None], values: Values) -> list[str]:
    """What stands for each variable of the rule in print: its value, or its term if it has none."""
    shown = [
        variable_name(name) if code is None else spell(values.decode(code, type), type)
        for name, code, type in zip(rule.variables, binding, rule.types, strict=True)
    ]
    for bound in rule.bindings:
        if binding[bound.variable] is None and (rule.variables[bound.variable][0] == "=" or is_repetition(bound)):
            shown[bound.variable] = format_expression(bound.expression, shown)
    return shown


def reads(check: Check) -> frozenset[int]:
    """The variables that a check is about."""
    if isinstance(check, CoreBinding):
        return variables_of(check.expression) | {check.variable}
    return variables_of(check.left) | variables_of(check.right)


def names_of(expression: Expression) -> frozenset[str]:
    """The primitives in an expression."""
    if not isinstance(expression, Apply):
        return frozenset()
    return frozenset((expression.name,)).union(*map(names_of, expression.arguments))


def variable_name(name: str) -> str:
    """A variable's name as users know it; one that stands for a value of `F[x]` or for an aggregate goes by that."""
    return name.removeprefix("=").rstrip("'")


def show_atom(atom: CoreAtom, shown: Sequence[str], predicate: Predicate) -> str:
    """`!q(3, _)`, `F["n"] = 20`"""
    terms = ["_" if column is None else shown[column] for column in (() if predicate.nullary else atom.columns)]
    text = show_fact(predicate, terms)
    if not atom.negated:
        return text
    return f"!({text})" if predicate.functional else f"!{text}"


def show_fact(predicate: Predicate, terms: Sequence[str]) -> str:
    """`q(3, 4)`; of a functional predicate `F["n"] = 20`; `3 = recursive_iteration_cnt()`."""
    if predicate.name == ROUND:
        return f"{terms[0]} = recursive_iteration_cnt()"
    name = without_adornment(predicate.name)
    for suffix in (BASE, PAIRS, ALL):
        name = name.removesuffix(suffix)
    return f"{show_key(predicate, terms)} = {terms[-1]}" if predicate.functional else f"{name}({', '.join(terms)})"


def show_key(predicate: Predicate, terms: Sequence[str]) -> str:
    """`F["n"]`, from the terms of a whole row of a functional predicate."""
    return f"{predicate.name.removesuffix(BASE)}[{', '.join(terms[:-1])}]"


def show_check(check: Check, shown: Sequence[str], source: str = "") -> str:
    """`4 = 3 + 1`, `match("a.*", "ab")`, `$Neg(1) is a $Neg`, `1 = v of $Neg(1)`; `source` is how it is written."""
    if call := taking_apart(check):
        whole = format_expression(call.arguments[0], shown)
        if isinstance(check, CoreBinding):
            return f"{shown[check.variable]} = {call.name.rpartition(FIELD)[2]} of {whole}"
        if call.name == WHICH and (branch := BRANCH.search(source)):
            return f"{whole} {'is no' if check.operator == '!=' else 'is a'} {branch.group()}"
    if isinstance(check, CoreBinding):
        return f"{shown[check.variable]} = {format_expression(check.expression, shown)}"
    left, right = check.left, check.right
    if isinstance(left, Apply) and isinstance(right, Value) and right.type is Type.BOOL and check.operator in ("=", "!="):
        holds = right.value is (check.operator == "=")
        return format_expression(left, shown) if holds else f"!{_negated(left, shown)}"
    return f"{format_expression(left, shown)} {check.operator} {format_expression(right, shown)}"


def _negated(expression: Expression, shown: Sequence[str]) -> str:
    text = format_expression(expression, shown)
    return text if isinstance(expression, Apply) and text.startswith(f"{expression.name}(") else f"({text})"
