"""The join kernel's slow readable twin, and a driver that stops the kernel as often as it can.

The twin knows no plan: it finds the bindings of a rule by loops over sets of rows, and then those that extend a prefix.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from datalog.evaluate.memo import Memo
from datalog.ir.core import Apply, CoreAtom, CoreBinding, CoreRule, Expression, Reference, Type, Value
from datalog.kernels import encoding as code
from datalog.kernels.triejoin import complete
from datalog.plan.encode import YOUNGEST, EncodedPlan, encode_plan
from datalog.plan.order import variables_of
from datalog.plan.rule import RulePlan
from datalog.plan.statistics import Uniform
from datalog.store.btree import BTree
from datalog.store.pool import PagePool
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


def values_of(expression: Expression, binding: Mapping[int, int]) -> list[int]:
    """The numbers that an expression stands for, of a range all, of a computation without a value none."""
    if isinstance(expression, Apply) and expression.name == "range":
        operands = [value_of(argument, binding) for argument in expression.arguments]
        if None in operands:
            return []
        start, end, *step = (operand for operand in operands if operand is not None)
        by = step[0] if step else 1 if start <= end else -1
        return list(range(start, end, by)) if by else [start] * (start != end)
    value = value_of(expression, binding)
    return [] if value is None else [value]


def called(name: str, arguments: Sequence[int]) -> int | None:
    """The functions that the kernel does not know."""
    if name == "half":
        return None if arguments[0] % 2 else arguments[0] // 2
    assert name == "mix"
    return (3 * arguments[0] + arguments[1]) % 7


def number(name: str, left: int, right: int = 0) -> int | None:
    """What the language says of signed 64-bit integers; division truncates towards zero."""
    result: int | None
    if name in ("half", "mix"):
        return called(name, (left, right))
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
    ready = next((one for one in all_ if variables_of(one.expression) <= set(binding)), None)
    if ready is None:
        yield binding
        return
    rest = [one for one in all_ if one is not ready]
    for value in values_of(ready.expression, binding):
        extended = dict(binding)
        if extended.setdefault(ready.variable, value) == value:
            yield from computed(rest, extended)


def passes(rule: CoreRule, relations: Relations, given: int, binding: dict[int, int]) -> bool:
    for check in rule.filters:
        left, right = value_of(check.left, binding), value_of(check.right, binding)
        if left is None or right is None or not COMPARE[check.operator](left, right):
            return False
    return not any(
        atom.negated and place != given and any(matches(atom, list(relations.get(atom.predicate, ())), binding))
        for place, atom in enumerate(rule.atoms)
    )


def twin(plan: RulePlan, relations: Relations, prefixes: Sequence[Prefix], first_only: int = code.ALL, youngest: bool = False) -> list[Row]:
    """What `complete` writes: head rows of the bindings that extend each prefix, in the order of prefixes and bindings.

    `first_only` is FIRST_OF_PREFIX, or FIRST_OF_HEAD: the first of those that differ behind the head's last variable.

    With `youngest`, the greatest stamp of the prefix and of the rows of stamped atoms stands behind each.
    """
    out = []
    for prefix in prefixes:
        found = bindings(plan.rule, relations, prefix, plan.order, plan.given, plan.stamped if plan.older else ())
        if first_only:
            needed = 0 if first_only == code.FIRST_OF_PREFIX else 1 + max(map(plan.order.index, plan.rule.head_columns), default=-1)
            found = list({row[:needed]: row for row in reversed(found)}.values())[::-1]
        for row in found:
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


def encode(plan: RulePlan, trees: Trees, youngest: bool = False, memo: Memo | None = None) -> EncodedPlan:
    output = [*plan.rule.head_columns, *[YOUNGEST] * youngest]
    return encode_plan(plan, lambda value, type_: int(value), (no_memo() if memo is None else memo).number, trees.shape, output)


class Called:
    """The functions of random rules, computed by columns; `asked` counts the rows."""

    def __init__(self) -> None:
        self.asked = 0
        self.exceptions: dict[str, Exception] = {}

    def compute(self, name: str, arguments: tuple[Type, ...], result: Type, columns: Sequence[Block]) -> tuple[Block, dict[int, str]]:
        rows = list(zip(*(column.tolist() for column in columns), strict=True))
        assert len(set(rows)) == len(rows) and len(arguments) == len(columns)
        self.asked += len(rows)
        found = [called(name, row) for row in rows]
        failures = {place: f"{rows[place]} is odd" for place, value in enumerate(found) if value is None}
        return np.array([value or 0 for value in found], np.int64), failures


def no_memo() -> Memo:
    """A memo for plans that call no function."""
    return Memo(Called())


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
    first_only: int = code.ALL,
    rows: int = 4096,
    records: int = 4096,
    pace: int = 1 << 40,
    trusted: bool = True,
    memo: Memo | None = None,
    misses: int = 4096,
) -> Run:
    """Run the kernel to its end over buffers of so many rows, records and misses, `pace` steps at a time; nothing is written behind."""
    variables = len(encoded.plan.order)
    state = np.zeros(encoded.state_words, np.int64)
    state[code.STATE_PREFIX] = -1
    state[code.STATE_RECORDING] = recording
    state[code.STATE_FIRST_ONLY] = first_only
    state[code.STATE_TRUSTED] = trusted
    output = np.full((rows + 8, max(encoded.width, 1)), GUARD, np.int64)
    kept = np.full((records + 64, code.RECORD_VALUES + variables), GUARD, np.int64)
    missed = np.full((misses + 8, code.PREFIX_VALUES + variables + 1 + encoded.arguments), GUARD, np.int64)
    memo = no_memo() if memo is None else memo
    asked, deferred = prefix_rows(prefixes, variables), []
    out: list[Row] = []
    noted: list[Row] = []
    depths = [watch.depth for watch in encoded.plan.watches()]
    stops: dict[int, int] = {}
    failures: list[tuple[int, int]] = []
    status = -1
    while status != code.DONE:
        state[code.STATE_BUDGET] = state[code.STATE_STEPS] + pace
        arguments = (trees.pool.pages, trees.roots(encoded), encoded.words, np.zeros(1, np.int64), memo.table)
        status = int(complete(*arguments, asked, state, output[:rows], kept[:records], missed[:misses]))
        assert np.all(output[rows:] == GUARD), "the kernel wrote behind the output buffer"
        assert np.all(kept[records:] == GUARD), "the kernel wrote behind the record buffer"
        assert np.all(missed[misses:] == GUARD), "the kernel wrote behind the buffer of misses"
        stops[status] = stops.get(status, 0) + 1
        assert stops[status] < 200_000, "the kernel does not get on"
        if status in (code.DONE, code.OUTPUT_FULL):
            out += [tuple(row) for row in output[: state[code.STATE_OUTPUT]].tolist()]
            state[code.STATE_OUTPUT] = 0
        if status in (code.DONE, code.RECORDS_FULL):
            # the values behind the record's own depth mean nothing
            noted += [tuple(row[: code.RECORD_VALUES + depths[row[0]]]) for row in kept[: state[code.STATE_RECORDS]].tolist()]
            state[code.STATE_RECORDS] = 0
        if status in (code.DONE, code.MISSES_FULL) and state[code.STATE_MISSED]:
            held = missed[: state[code.STATE_MISSED]]
            deferred.append(held[:, : code.PREFIX_VALUES + variables].copy())
            memo.fill(held[:, code.PREFIX_VALUES + variables :])
            state[code.STATE_MISSED] = state[code.STATE_MISSED_BEFORE] = 0
        if status == code.DONE and deferred:
            asked, deferred = np.concatenate(deferred), []
            state[code.STATE_PREFIX], state[code.STATE_MODE], status = -1, code.MODE_PREFIX, code.PAUSED
        if status == code.FAILED:
            failures.append((int(state[code.STATE_ERROR]), int(state[code.STATE_ERROR_AT])))
            state[code.STATE_ERROR] = code.NO_ERROR
    return Run(out, noted, int(state[code.STATE_STEPS]), stops, failures)


def least_record_room(plan: RulePlan) -> int:
    """A record buffer with room for what one entry into a depth may plant."""
    most = max((len(depth.iterators) for depth in plan.depths), default=0)
    return 2 * (most + len(plan.negated) + 2) + 1
