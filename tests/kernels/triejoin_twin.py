"""The join kernel's slow readable twin, random rules for both, and a driver that stops the kernel as often as it can.

The twin knows no plan: it finds the bindings of a rule by loops over sets of rows, and then those that extend a prefix.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

import numpy as np
from hypothesis import strategies as st

from datalog.ir.core import Apply, CoreAtom, CoreBinding, CoreFilter, CoreRule, Expression, Reference, Type, Value
from datalog.kernels import encoding as code
from datalog.kernels.triejoin import complete
from datalog.plan.encode import YOUNGEST, EncodedPlan, encode_plan
from datalog.plan.order import variables_of
from datalog.plan.rule import RulePlan
from datalog.plan.statistics import Uniform
from datalog.store.btree import BTree
from datalog.store.pool import PagePool
from datalog.syntax.tree import NOWHERE
from tests.kernels.blocks import GREATEST, LEAST, Block, Row, block

Relations = Mapping[str, Mapping[Row, int]]  # the rows of each predicate, with their stamps
NO_STAMP = GREATEST
COMPARE: dict[str, Callable[[int, int], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True)
class Prefix:
    """Values of the first variables of an order, an interval for the next one, and what stamps must be below."""

    values: Row
    low: int = LEAST
    high: int = GREATEST
    stamp: int = 0


# --- the twin ------------------------------------------------------------------------------------------------------------


def value_of(expression: Expression, binding: Mapping[int, int]) -> int | None:
    """The number that an expression stands for, or None where it has none."""
    match expression:
        case Reference(variable=variable):
            return binding[variable]
        case Value(value=int(value)):
            return value
        case Apply(name=name, arguments=arguments):
            operands = [value_of(argument, binding) for argument in arguments]
            if None in operands:
                return None
            return number(name, *(operand for operand in operands if operand is not None))
    raise AssertionError(f"the twin knows numbers only, not {expression}")


def number(name: str, left: int, right: int = 0) -> int | None:
    """What the language says of signed 64-bit integers; division truncates towards zero."""
    result: int | None
    if name == "neg":
        result = -left
    elif name in "+-*":
        result = {"+": left + right, "-": left - right, "*": left * right}[name]
    elif name == "^":
        result = power(left, right)
    elif right == 0:
        result = None
    else:
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        result = quotient if name == "/" else left - quotient * right
    return result if result is not None and LEAST <= result <= GREATEST else None


def power(base: int, exponent: int) -> int | None:
    if exponent >= 0:
        return base**exponent if abs(base) < 2 or exponent < 64 else None
    if base == 0:
        return None
    return base if abs(base) == 1 and exponent % 2 else 1 if abs(base) == 1 else 0


def bindings(
    rule: CoreRule,
    relations: Relations,
    prefix: Prefix,
    order: Sequence[int],
    given: int = -1,
    older: Collection[int] = (),
) -> list[Row]:
    """All bindings that extend a prefix, in the variable order and sorted.

    The atom number `given` is not looked at; rows of the atoms in `older` have smaller stamps than the prefix.
    """
    found: list[dict[int, int]] = [dict(zip(order, prefix.values, strict=False))]
    for number_, atom in enumerate(rule.atoms):
        if atom.negated or number_ == given:
            continue
        rows = [row for row, stamp in relations.get(atom.predicate, {}).items() if number_ not in older or stamp < prefix.stamp]
        found = [extended for binding in found for extended in matches(atom, rows, binding)]
    for _ in rule.bindings:  # each may need what the one after it gives
        found = [extended for binding in found for extended in computed(rule.bindings, binding)]
    rows_out = {tuple(binding[v] for v in order) for binding in found if passes(rule, relations, given, binding)}
    place = len(prefix.values)
    return sorted(row for row in rows_out if place == len(order) or prefix.low <= row[place] <= prefix.high)


def matches(atom: CoreAtom, rows: Sequence[Row], binding: dict[int, int]) -> Iterator[dict[int, int]]:
    for row in rows:
        extended = dict(binding)
        if all(v is None or extended.setdefault(v, x) == x for v, x in zip(atom.columns, row, strict=True)):
            yield extended


def computed(all_: Sequence[CoreBinding], binding: dict[int, int]) -> Iterator[dict[int, int]]:
    for one in all_:
        if variables_of(one.expression) <= set(binding):
            value = value_of(one.expression, binding)
            if value is None or binding.setdefault(one.variable, value) != value:
                return
    yield binding


def passes(rule: CoreRule, relations: Relations, given: int, binding: dict[int, int]) -> bool:
    for check in rule.filters:
        left, right = value_of(check.left, binding), value_of(check.right, binding)
        if left is None or right is None or not COMPARE[check.operator](left, right):
            return False
    return not any(
        atom.negated and place != given and any(matches(atom, list(relations.get(atom.predicate, ())), binding))
        for place, atom in enumerate(rule.atoms)
    )


def twin(plan: RulePlan, relations: Relations, prefixes: Sequence[Prefix], first_only: bool = False, youngest: bool = False) -> list[Row]:
    """What `complete` writes: head rows of the bindings that extend each prefix, in the order of prefixes and bindings.

    With `youngest`, the greatest stamp of the prefix and of the rows of stamped atoms stands behind each.
    """
    out = []
    for prefix in prefixes:
        found = bindings(plan.rule, relations, prefix, plan.order, plan.given, plan.stamped if plan.older else ())
        for row in found[:1] if first_only else found:
            value = dict(zip(plan.order, row, strict=True))
            stamps = [
                prefix.stamp,
                *(relations[atom.predicate][atom_row(atom, value)] for atom in map(plan.rule.atoms.__getitem__, plan.stamped)),
            ]
            out.append(tuple(value[v] for v in plan.rule.head_columns) + ((max(stamps),) if youngest else ()))
    return out


def atom_row(atom: CoreAtom, value: Mapping[int, int]) -> Row:
    return tuple(value[v] for v in atom.columns if v is not None)


def sizes(relations: Relations) -> Uniform:
    """What the planner is told: how many rows there are."""
    return Uniform(lambda name: len(relations.get(name, ())))


# --- the kernel ----------------------------------------------------------------------------------------------------------


class Trees:
    """The trees that a plan reads, built from relations; every atom has one of its own."""

    def __init__(self, relations: Relations, rows_per_page: int | None) -> None:
        self.pool = PagePool(rows_per_page=rows_per_page)
        self._relations = relations
        self._built: dict[tuple[str, tuple[int, ...]], tuple[BTree, int]] = {}

    def shape(self, predicate: str, columns: tuple[int, ...]) -> tuple[int, int, int, int]:
        rows = self._relations.get(predicate, {})
        width = len(next(iter(rows), (0,) * max(3, len(columns))))
        if (predicate, columns) not in self._built:
            full = columns + tuple(c for c in range(width) if c not in columns)
            turned = sorted((tuple(row[c] for c in full), stamp) for row, stamp in rows.items())
            tree = BTree(self.pool, width, payload=True)
            self.pool.begin()
            root = tree.build(block([row for row, _ in turned], width), np.array([stamp for _, stamp in turned], np.int64))
            self.pool.commit()
            self._built[predicate, columns] = tree, root
        tree, _ = self._built[predicate, columns]
        return list(self._built).index((predicate, columns)), tree.width, tree.leaf_rows, tree.inner_rows

    def roots(self, encoded: EncodedPlan) -> Block:
        roots = [root for _, root in self._built.values()]
        return np.array([roots[slot] for slot in encoded.slots], np.int64)


def encode(plan: RulePlan, trees: Trees, youngest: bool = False) -> EncodedPlan:
    return encode_plan(plan, lambda value, type_: int(value), trees.shape, [*plan.rule.head_columns, *[YOUNGEST] * youngest])


def prefix_rows(prefixes: Sequence[Prefix], variables: int) -> Block:
    rows = np.zeros((len(prefixes), code.PREFIX_VALUES + variables), np.int64)
    for row, prefix in zip(rows, prefixes, strict=True):
        row[: code.PREFIX_VALUES] = len(prefix.values), prefix.low, prefix.high, prefix.stamp
        row[code.PREFIX_VALUES : code.PREFIX_VALUES + len(prefix.values)] = prefix.values
    return rows


GUARD = -77


@dataclass
class Run:
    """What a run of the kernel gave, and how often it stopped for which reason."""

    output: list[Row]
    records: list[Row]
    steps: int
    stops: dict[int, int]
    failures: list[tuple[int, int]]  # what went wrong, and the offset of the operation


def run(
    encoded: EncodedPlan,
    trees: Trees,
    prefixes: Sequence[Prefix],
    recording: int = code.RECORD_NOTHING,
    first_only: bool = False,
    rows: int = 4096,
    records: int = 4096,
    pace: int = 1 << 40,
    trusted: bool = True,
) -> Run:
    """Run the kernel to its end over buffers of so many rows and records, `pace` steps at a time; nothing is written behind them."""
    variables = len(encoded.plan.order)
    state = np.zeros(encoded.state_words, np.int64)
    state[code.STATE_PREFIX] = -1
    state[code.STATE_RECORDING] = recording
    state[code.STATE_FIRST_ONLY] = first_only
    state[code.STATE_TRUSTED] = trusted
    output = np.full((rows + 8, max(encoded.width, 1)), GUARD, np.int64)
    kept = np.full((records + 64, code.RECORD_VALUES + variables), GUARD, np.int64)
    out: list[Row] = []
    noted: list[Row] = []
    depths = [watch.depth for watch in encoded.plan.watches()]
    stops: dict[int, int] = {}
    failures: list[tuple[int, int]] = []
    status = -1
    while status != code.DONE:
        state[code.STATE_BUDGET] = state[code.STATE_STEPS] + pace
        arguments = (trees.pool.pages, trees.roots(encoded), encoded.words, np.zeros(1, np.int64))
        status = int(complete(*arguments, prefix_rows(prefixes, variables), state, output[:rows], kept[:records]))
        assert np.all(output[rows:] == GUARD), "the kernel wrote behind the output buffer"
        assert np.all(kept[records:] == GUARD), "the kernel wrote behind the record buffer"
        stops[status] = stops.get(status, 0) + 1
        assert stops[status] < 200_000, "the kernel does not get on"
        if status in (code.DONE, code.OUTPUT_FULL):
            out += [tuple(row) for row in output[: state[code.STATE_OUTPUT]].tolist()]
            state[code.STATE_OUTPUT] = 0
        if status in (code.DONE, code.RECORDS_FULL):
            # the values behind the record's own depth mean nothing
            noted += [tuple(row[: code.RECORD_VALUES + depths[row[0]]]) for row in kept[: state[code.STATE_RECORDS]].tolist()]
            state[code.STATE_RECORDS] = 0
        if status == code.FAILED:
            failures.append((int(state[code.STATE_ERROR]), int(state[code.STATE_ERROR_AT])))
            state[code.STATE_ERROR] = code.NO_ERROR
    return Run(out, noted, int(state[code.STATE_STEPS]), stops, failures)


def least_record_room(plan: RulePlan) -> int:
    """A record buffer with room for what one entry into a depth may plant."""
    most = max((len(depth.iterators) for depth in plan.depths), default=0)
    return 2 * (most + len(plan.negated) + 2) + 1


# --- random rules --------------------------------------------------------------------------------------------------------

PREDICATES = {"a": 1, "b": 1, "e": 2, "f": 2, "t": 3}
OPERATIONS = ("+", "-", "*", "neg", "/", "%")
HARMLESS = ("+", "-", "neg")  # these have a value for small operands


@st.composite
def rules(draw: st.DrawFn, negations: int = 3, operations: Sequence[str] = OPERATIONS) -> CoreRule:
    """Range-restricted rules over numbers: 1–4 positive atoms, negated atoms, wildcards, computed variables, comparisons."""
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
    arguments = (draw(leaf),) if name == "neg" else (draw(leaf), draw(leaf))
    return Apply(name, arguments, Type.NUMBER, NOWHERE)


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
    computed_ = [CoreBinding(numbers[one.variable], renamed(one.expression), one.span) for one in rule.bindings]
    tests = [CoreFilter(one.operator, renamed(one.left), renamed(one.right), one.span) for one in rule.filters]
    return replace(
        rule,
        head_columns=tuple(numbers[v] for v in rule.head_columns),
        atoms=tuple(draw(st.permutations(atoms))),
        bindings=tuple(draw(st.permutations(computed_))),
        filters=tuple(draw(st.permutations(tests))),
    )
