"""The literals of a core rule as its author wrote them.

A literal of the text has become one or more parts of the core rule: an atom with its terms' bindings, a comparison, the helper of
a negated group or of a disjunction. Their spans say which: a part belongs to the outermost atom or comparison around it. What
belongs to none stands in the head. Parts outside the rule's own span are the guard of a helper's rule (`datalog.rewrite.helpers`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal as OneOf

from datalog.analysis.findings import Findings
from datalog.io.literals import spell
from datalog.ir.core import Apply, CoreAtom, CoreBinding, CoreFilter, CoreRule, Reference, Value
from datalog.ir.text import format_expression
from datalog.store.values import Values
from datalog.syntax.tree import Span

TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/|[()]', re.DOTALL)

Check = CoreBinding | CoreFilter
Kind = OneOf["plain", "base", "some", "or", "not", "super"]


@dataclass(frozen=True, slots=True)
class Part:
    """A literal of the body, or a computation in the head: its atoms, and its comparisons and computations, in the order of the text."""

    span: Span
    atoms: tuple[CoreAtom, ...]
    checks: tuple[Check, ...]


def kind_of(predicate: str) -> Kind:
    """What a predicate is: one of the program, or a hidden one of a certain kind."""
    suffix = predicate.partition("@")[2].rstrip("0123456789") if "@" in predicate else "plain"
    match suffix.rpartition("@")[2]:
        case "plain" | "base" | "some" | "or" | "not" | "super" as kind:
            return kind
    raise AssertionError(f"{predicate} is a hidden predicate of an unknown kind")


def is_copy(rule: CoreRule) -> bool:
    """Does the rule copy the given rows of its head's predicate?"""
    return len(rule.atoms) == 1 and kind_of(rule.atoms[0].predicate) == "base"


def parts_of(rule: CoreRule) -> tuple[Part, ...]:
    """The literals within the rule's span in the order of the text, and after them the computations of the head."""
    atoms = [atom for atom in rule.atoms if encloses(rule.span, atom.span)]
    everything: list[Check] = [*rule.bindings, *rule.filters]
    checks = [check for check in everything if encloses(rule.span, check.span)]
    outer = {item.span for item in (*atoms, *(check for check in checks if not is_generated(rule, check)))}
    within: dict[Span, tuple[list[CoreAtom], list[Check]]] = {span: ([], []) for span in sorted(outer, key=lambda span: span.start)}
    head: list[Check] = []
    for atom in atoms:
        within[atom.span][0].append(atom)
    for check in checks:
        span = next((span for span in within if encloses(span, check.span)), None)
        if span is not None:
            within[span][1].append(check)
        elif isinstance(check, CoreBinding) and isinstance(check.expression, Apply):
            head.append(check)
    parts = [Part(span, tuple(own), tuple(sorted(inner, key=lambda check: check.span.start))) for span, (own, inner) in within.items()]
    return (*parts, *(Part(check.span, (), (check,)) for check in head))


def is_generated(rule: CoreRule, check: Check) -> bool:
    """Is the check the binding of a term within an atom, and no comparison of its own?"""
    return (isinstance(check, CoreBinding) and rule.variables[check.variable][0] == "=") or is_repetition(check)


def is_repetition(check: Check) -> bool:
    """Does the check say that a variable stands for another one, which an atom repeats? Equalities of variables are none:
    they have made the two variables one."""
    return isinstance(check, CoreBinding) and isinstance(check.expression, Reference)


def is_constant(rule: CoreRule, check: Check) -> bool:
    """Is the check the binding of a constant term?"""
    return is_generated(rule, check) and isinstance(check, CoreBinding) and isinstance(check.expression, Value)


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
        _term(name) if code is None else spell(values.decode(code, type), type)
        for name, code, type in zip(rule.variables, binding, rule.types, strict=True)
    ]
    for bound in rule.bindings:
        if binding[bound.variable] is None and rule.variables[bound.variable][0] == "=":
            shown[bound.variable] = format_expression(bound.expression, shown)
    return shown


def _term(name: str) -> str:
    return name if name[0] == "=" else name.rstrip("'")


def show_atom(atom: CoreAtom, shown: Sequence[str], nullary: bool) -> str:
    """`!q(3, _)`"""
    columns = () if nullary else atom.columns
    terms = ", ".join("_" if column is None else shown[column] for column in columns)
    return f"{'!' if atom.negated else ''}{atom.predicate}({terms})"


def show_check(check: Check, shown: Sequence[str]) -> str:
    """`4 = 3 + 1`"""
    if isinstance(check, CoreBinding):
        return f"{shown[check.variable]} = {format_expression(check.expression, shown)}"
    return f"{format_expression(check.left, shown)} {check.operator} {format_expression(check.right, shown)}"
