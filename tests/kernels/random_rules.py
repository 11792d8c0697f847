"""Random rules, variable orders, relations and prefixes for the join kernel and for its twin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from hypothesis import strategies as st

from datalog.ir.core import Apply, CoreAtom, CoreBinding, CoreFilter, CoreRule, Expression, Reference, Type, Value
from datalog.plan.order import variables_of
from datalog.syntax.tree import NOWHERE
from tests.kernels.blocks import GREATEST, LEAST, Row
from tests.kernels.triejoin_twin import COMPARE, Prefix

PREDICATES = {"a": 1, "b": 1, "e": 2, "f": 2, "t": 3}
OPERATIONS = ("+", "-", "*", "neg", "/", "%")
HARMLESS = ("+", "-", "neg")  # these have a value for small operands
CALLED = ("half", "mix")  # functions that the kernel does not know; `triejoin_twin.py` tells what they give
UNARY = ("neg", "half")


@st.composite
def rules(draw: st.DrawFn, negations: int = 3, operations: Sequence[str] = OPERATIONS, ranges: bool = False) -> CoreRule:
    """Range-restricted rules over numbers: 1–4 positive atoms, negated atoms, wildcards, computed variables, comparisons.

    With `ranges`, variables also have values of ranges, and others only by the inverse of a sum."""
    wanted = draw(st.integers(1, 4))
    positive = [atom(draw, draw(st.sampled_from(sorted(PREDICATES))), range(wanted), False) for _ in range(draw(st.integers(1, 4)))]
    used = sorted({v for one in positive for v in one.columns if v is not None})
    rename = {v: place for place, v in enumerate(used)}
    positive = [CoreAtom(one.predicate, tuple(None if v is None else rename[v] for v in one.columns), False, NOWHERE) for one in positive]
    variables = len(used)
    negated = [
        atom(draw, draw(st.sampled_from(sorted(PREDICATES))), range(variables), True) for _ in range(draw(st.integers(0, negations)))
    ]
    computed_: list[CoreBinding] = []
    tests: list[CoreFilter] = []
    joined = variables
    for _ in range(draw(st.integers(0, 2))):
        target = draw(st.sampled_from([*range(joined), variables]))
        sources = range(variables) if target == variables else [v for v in range(joined) if v != target]
        computed_.append(CoreBinding(target, expression(draw, sources, operations), NOWHERE))
        variables = max(variables, target + 1)
    if ranges:
        for _ in range(draw(st.integers(0, 2))):
            target = draw(st.sampled_from([*range(joined), variables]))
            sources = range(variables) if target == variables else [v for v in range(joined) if v != target]
            computed_.append(CoreBinding(target, some_range(draw, sources), NOWHERE))
            variables = max(variables, target + 1)
        if draw(st.booleans()):
            known, more = draw(st.sampled_from(range(joined))), Value(draw(st.integers(-2, 2)), Type.NUMBER)
            sum_ = Apply("+", (_reference(variables), more), Type.NUMBER, NOWHERE)
            difference = Apply("-", (_reference(known), more), Type.NUMBER, NOWHERE)
            computed_ += [CoreBinding(known, sum_, NOWHERE), CoreBinding(variables, difference, NOWHERE, inverse=True)]
            variables += 1
    for _ in range(draw(st.integers(0, 2))):
        sides = expression(draw, range(variables), operations), expression(draw, range(variables), operations)
        tests.append(CoreFilter(draw(st.sampled_from(sorted(COMPARE))), *sides, NOWHERE))
    body = draw(st.permutations([*positive, *negated]))
    head = draw(st.lists(st.integers(0, variables - 1), min_size=1, max_size=4))
    types = (Type.NUMBER,) * variables
    names = tuple(f"v{place}" for place in range(variables))
    return CoreRule("h", tuple(head), names, types, tuple(body), tuple(computed_), tuple(tests), NOWHERE, "h ← …")


def atom(draw: st.DrawFn, predicate: str, variables: range, negated: bool) -> CoreAtom:
    width = PREDICATES[predicate]
    columns: list[int | None] = []
    for _ in range(width):
        free = [v for v in variables if v not in columns]
        columns.append(draw(st.sampled_from([*free, None])) if free else None)
    if all(v is None for v in columns):
        columns[0] = draw(st.sampled_from(variables))
    return CoreAtom(predicate, tuple(columns), negated, NOWHERE)


def expression(draw: st.DrawFn, sources: Sequence[int], operations: Sequence[str]) -> Expression:
    shape = draw(st.integers(0, 3))
    leaf = st.one_of([st.integers(-1, 6).map(lambda n: Value(n, Type.NUMBER))] + [st.sampled_from(sources).map(_reference)] * bool(sources))
    if shape < 2:
        return draw(leaf)
    name = draw(st.sampled_from(operations))
    arguments = (draw(leaf),) if name in UNARY else (draw(leaf), draw(leaf))
    return Apply(name, arguments, Type.NUMBER, NOWHERE)


def some_range(draw: st.DrawFn, sources: Sequence[int]) -> Expression:
    """A range of few values, some with a step, which may be zero."""
    sums = [expression(draw, sources, ("+",)) for _ in range(2)]
    ends = [Apply("%", (one, Value(draw(st.integers(1, 9)), Type.NUMBER)), Type.NUMBER, NOWHERE) for one in sums]
    steps = draw(st.sampled_from([(), (-3,), (-1,), (0,), (1,), (2,), (2**62,)]))
    return Apply("range", (*ends, *(Value(step, Type.NUMBER) for step in steps)), Type.NUMBER, NOWHERE)


def _reference(variable: int) -> Expression:
    return Reference(variable, Type.NUMBER)


@st.composite
def orders(draw: st.DrawFn, rule: CoreRule) -> tuple[int, ...]:
    """Variable orders in which each computed variable stands behind its operands."""
    joined = {v for one in rule.atoms if not one.negated for v in one.columns if v is not None}
    needs = {one.variable: variables_of(one.expression) for one in rule.bindings if one.variable not in joined}
    order: list[int] = []
    while len(order) < len(rule.variables):
        ready = [v for v in range(len(rule.variables)) if v not in order and needs.get(v, frozenset()) <= set(order)]
        order.append(draw(st.sampled_from(ready)))
    return tuple(order)


@st.composite
def relations(draw: st.DrawFn, most: int = 30, values: int = 6, extremes: bool = True) -> dict[str, dict[Row, int]]:
    """Rows over few values, the extreme words among them, each with a stamp."""
    random = Random(draw(st.integers(0, 10**6)))
    words = [*range(values), *([LEAST, GREATEST, -1] if extremes else [])]
    out = {}
    for name, width in PREDICATES.items():
        size = draw(st.integers(0, most))
        out[name] = {tuple(random.choice(words) for _ in range(width)): random.randint(1, 5) for _ in range(size)}
    return out


@st.composite
def prefixes(draw: st.DrawFn, variables: int, least: int = 0) -> list[Prefix]:
    """Some prefixes of at least `least` variables, sorted or not, some with an interval."""
    word = st.one_of(st.integers(-1, 6), st.integers(-1, 6), st.sampled_from([LEAST, GREATEST]))
    out = []
    for _ in range(draw(st.integers(1, 5))):
        length = draw(st.integers(least, variables))
        values = tuple(draw(word) for _ in range(length))
        low, high = draw(st.sampled_from([(LEAST, GREATEST), (0, 3), (2, 2), (3, 1), (-1, 0)]))
        out.append(Prefix(values, low, high))
    return sorted(out, key=lambda prefix: prefix.values) if draw(st.booleans()) else out


Stored = dict[str, dict[Row, int]]


def stored_rows() -> st.SearchStrategy[Stored]:
    return relations(most=20, extremes=False)


@st.composite
def permuted(draw: st.DrawFn, rule: CoreRule) -> CoreRule:
    """The same rule with its literals in another order and its variables numbered otherwise."""
    numbers = draw(st.permutations(range(len(rule.variables))))

    def renamed(part: Expression) -> Expression:
        match part:
            case Reference(variable=v, type=type_):
                return Reference(numbers[v], type_)
            case Apply(name=name, arguments=arguments, type=type_, span=span):
                return Apply(name, tuple(renamed(argument) for argument in arguments), type_, span)
            case _:
                return part

    atoms = [replace(one, columns=tuple(None if v is None else numbers[v] for v in one.columns)) for one in rule.atoms]
    computed_ = [replace(one, variable=numbers[one.variable], expression=renamed(one.expression)) for one in rule.bindings]
    tests = [CoreFilter(one.operator, renamed(one.left), renamed(one.right), one.span) for one in rule.filters]
    return replace(
        rule,
        head_columns=tuple(numbers[v] for v in rule.head_columns),
        atoms=tuple(draw(st.permutations(atoms))),
        bindings=tuple(draw(st.permutations(computed_))),
        filters=tuple(draw(st.permutations(tests))),
    )
