"""A set-at-a-time evaluator in plain Python: slow, short, and without a line in common with the engine.

Strata by naive stratification, a naive fixpoint in each, hash joins on dictionaries inside a rule.

When a computation has no result (overflow of 64 bits, division by zero), the assignment at hand counts as an error only if it
satisfies every literal of the rule that can still be judged: so `p(x), x != 0, y = 10 / x` is safe, in whatever order it is written,
and whether a program fails does not depend on an order of evaluation. Within a rule such an assignment is carried on, its first
column holding the reason, and the missing values `_Missing`. Float operations follow IEEE 754, with -0.0 = 0.0.
"""

from __future__ import annotations

import math
import operator
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Set
from functools import lru_cache
from itertools import product
from typing import Any

from tests.oracle.rules import (
    Atom,
    Blank,
    Compare,
    Const,
    Literal,
    Not,
    Op,
    Or,
    Program,
    Row,
    Rule,
    Term,
    Value,
    Var,
    computes,
    mentions,
    reads,
)

COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
RANGES = {"number": (-(2**63), 2**63 - 1), "unsigned": (0, 2**64 - 1)}


class OracleArithmeticError(ArithmeticError):
    """A satisfying assignment needs a value that does not exist."""


class _Missing:
    """The value of a variable whose computation has no result."""


_MISSING: Any = _Missing()
_REASON = ""  # the name of the first column of every table: why the assignment is an error, or ""


class _Tables:
    """The relations during an evaluation, with hash indexes on demand."""

    def __init__(self, rows: dict[str, set[Row]]) -> None:
        self.rows = rows
        self._indexes: dict[str, dict[tuple[int, ...], dict[Row, list[Row]]]] = {}

    def matching(self, predicate: str, columns: tuple[int, ...]) -> dict[Row, list[Row]]:
        indexes = self._indexes.setdefault(predicate, {})
        if columns not in indexes:
            index: dict[Row, list[Row]] = {}
            for row in self.rows[predicate]:
                index.setdefault(tuple(row[column] for column in columns), []).append(row)
            indexes[columns] = index
        return indexes[columns]

    def add(self, predicate: str, rows: set[Row]) -> bool:
        new = rows - self.rows[predicate]
        if new:
            self.rows[predicate] |= new
            self._indexes.pop(predicate, None)
        return bool(new)


def evaluate(program: Program, facts: Mapping[str, Set[Row]]) -> dict[str, set[Row]]:
    """All relations of `program` on `facts`. Raises OracleArithmeticError."""
    tables = _Tables({predicate: set(facts.get(predicate, ())) for predicate in program.types})
    for stratum in strata(program):
        growing = True
        while growing:
            growing = False
            for rule in stratum:
                for head in rule.heads:
                    rows = {row for body in alternatives(rule.body) for row in _derive(head, body, tables)}
                    growing |= tables.add(head.predicate, rows)
    return tables.rows


def derivations(program: Program, facts: Mapping[str, Set[Row]]) -> dict[str, Counter[Row]]:
    """How often each row of each non-recursive derived predicate is derived: satisfying assignments over all rules.

    A rule counts once per head and per branch of its disjunctive normal form. A variable that occurs once only, in a positive
    atom, is a wildcard, and what a wildcard stands for is not counted. A base fact of a derived predicate counts as one derivation.
    """
    tables = _Tables(evaluate(program, facts))
    counts: dict[str, Counter[Row]] = {}
    for rule in program.rules:
        for head in rule.heads:
            if _depends_on_itself(program, head.predicate):
                continue
            counter = counts.setdefault(head.predicate, Counter(dict.fromkeys(facts.get(head.predicate, ()), 1)))
            for body in alternatives(rule.body):
                uses = Counter(name for part in (head, *body) for name in mentions(part))
                blanked = tuple(_blank_singles(literal, uses) for literal in body)
                variables = frozenset(name for literal in blanked if not isinstance(literal, Not) for name in mentions(literal))
                for _, row in _assignments(head, blanked, tables, variables):
                    counter[row] += 1
    return counts


def strata(program: Program) -> list[list[Rule]]:
    """The rules by the stratum of their heads, one rule per head. Raises ValueError for negation through recursion."""
    level = dict.fromkeys(program.types, 0)
    edges = [(head.predicate, *read) for rule in program.rules for head in rule.heads for read in reads(rule.body)]
    changed = True
    while changed:
        changed = False
        for head, body, negated in edges:
            if level[head] < level[body] + negated:
                level[head] = level[body] + negated
                changed = True
        if max(level.values(), default=0) > len(level):
            raise ValueError("negation through recursion")
    split = [Rule((head,), rule.body) for rule in program.rules for head in rule.heads]
    return [[rule for rule in split if level[rule.heads[0].predicate] == number] for number in range(len(level) + 1)]


def alternatives(body: tuple[Literal, ...]) -> Iterator[tuple[Literal, ...]]:
    """The conjunctions of the disjunctive normal form of `body`, negated groups kept whole."""
    choices: list[list[tuple[Literal, ...]]] = []
    for literal in body:
        if isinstance(literal, Or):
            choices.append([conjunction for branch in literal.branches for conjunction in alternatives(branch)])
        else:
            choices.append([(literal,)])
    for choice in product(*choices):
        yield tuple(literal for part in choice for literal in part)


def compute(name: str, values: list[Any], type: str) -> Value:
    """One operation on values of `type`. Raises OracleArithmeticError if the result does not exist or leaves 64 bits."""
    if len(values) == 1:
        values = [0, values[0]]
    left, right = values
    if type == "float":
        return _compute_float(name, float(left), float(right))
    if name in "/%" and right == 0:
        raise OracleArithmeticError(f"{left} {name} 0")
    match name:
        case "+":
            result = left + right
        case "-":
            result = left - right
        case "*":
            result = left * right
        case _:
            quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
            result = quotient if name == "/" else left - quotient * right
    low, high = RANGES[type]
    if not low <= result <= high:
        raise OracleArithmeticError(f"{left} {name} {right} overflows {type}")
    return int(result)


def _compute_float(name: str, left: float, right: float) -> float:
    if name == "/" and right == 0.0:
        return math.nan if left == 0.0 or math.isnan(left) else math.copysign(math.inf, left)
    functions = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
    return float(functions[name](left, right)) + 0.0  # + 0.0 turns -0.0 into 0.0


def _derive(head: Atom, body: tuple[Literal, ...], tables: _Tables) -> set[Row]:
    return {row for _, row in _assignments(head, body, tables, frozenset(mentions(head)))}


def _assignments(head: Atom, body: tuple[Literal, ...], tables: _Tables, wanted: frozenset[str]) -> Iterator[tuple[Row, Row]]:
    """The satisfying assignments to the variables `wanted`, each with the head's row."""
    names, rows = _solve(body, tables, (_REASON,), {("",)}, wanted | frozenset(mentions(head)))
    position = {name: place for place, name in enumerate(names)}
    for row in rows:
        if row[0]:
            raise OracleArithmeticError(f"{row[0]} in a rule for {head.predicate}")
        yield row, tuple(_value(term, position, row) for term in head.terms)


def _solve(
    body: tuple[Literal, ...], tables: _Tables, names: tuple[str, ...], rows: set[Row], wanted: frozenset[str]
) -> tuple[tuple[str, ...], set[Row]]:
    """Extends the assignments `rows` to `names` by `body`, and projects them on `wanted` and the reason."""
    steps = _schedule(body, names, wanted)
    for place, literal in enumerate(steps):
        match literal:
            case Atom():
                names, rows = _join(literal, tables, names, rows)
            case Compare():
                names, rows = _compare(literal, names, rows)
            case Not():
                rows = _exclude(literal, tables, names, rows)
        later = wanted.union(*(mentions(step) for step in steps[place + 1 :]), (_REASON,))
        kept = [column for column, name in enumerate(names) if name in later]
        if len(kept) < len(names):
            names = tuple(names[column] for column in kept)
            rows = {tuple(row[column] for column in kept) for row in rows}
    return names, rows


@lru_cache(maxsize=4096)
def _schedule(body: tuple[Literal, ...], names: tuple[str, ...], wanted: frozenset[str]) -> tuple[Literal, ...]:
    """An order in which each literal finds its variables bound, and computations come as late as they can."""
    bound, waiting, order = set(names), list(body), []
    while waiting:
        ready = [literal for literal in waiting if _is_ready(literal, bound, waiting, wanted)]
        if not ready:
            raise ValueError(f"not range restricted: {waiting}")
        chosen = min(ready, key=lambda literal: (computes(literal), *_cost(literal, bound)))
        waiting.remove(chosen)
        order.append(chosen)
        if not isinstance(chosen, Not):
            bound.update(mentions(chosen))
    if not wanted <= bound:
        raise ValueError(f"unbound: {wanted - bound}")
    return tuple(order)


def _is_ready(literal: Literal, bound: set[str], waiting: list[Literal], wanted: frozenset[str]) -> bool:
    match literal:
        case Atom(_, terms):
            own = {term.name for term in terms if isinstance(term, Var)}
            return all(set(mentions(term)) <= bound | own for term in terms)
        case Compare(symbol, left, right):
            unbound = [side for side in (left, right) if not set(mentions(side)) <= bound]
            return not unbound or (symbol == "=" and len(unbound) == 1 and isinstance(unbound[0], Var))
        case Not():
            outside = wanted.union(*(mentions(other) for other in waiting if other is not literal and not isinstance(other, Not)))
            return set(mentions(literal)) & outside <= bound
    raise AssertionError("a disjunction outside the normal form")


def _cost(literal: Literal, bound: set[str]) -> tuple[int, int]:
    if isinstance(literal, Compare):
        return 0, 0
    if isinstance(literal, Atom):
        return 1, sum(1 for term in literal.terms if not set(mentions(term)) <= bound)
    return 2, 0


def _value(term: Term, position: Mapping[str, int], row: Row) -> Value:
    match term:
        case Var(name):
            value = row[position[name]]
            if value is _MISSING:
                raise OracleArithmeticError(row[0])
            return value
        case Const(value, _):
            return value
        case Op(name, arguments, type):
            return compute(name, [_value(argument, position, row) for argument in arguments], type)
    raise AssertionError(f"no value: {term}")


def _join(atom: Atom, tables: _Tables, names: tuple[str, ...], rows: set[Row]) -> tuple[tuple[str, ...], set[Row]]:
    position = {name: place for place, name in enumerate(names)}
    keys: list[tuple[int, Term]] = []
    fresh: dict[str, int] = {}
    late: list[tuple[int, Term]] = []  # what only the atom's own fresh variables decide
    for column, term in enumerate(atom.terms):
        if isinstance(term, Blank):
            continue
        if all(name in position for name in mentions(term)):
            keys.append((column, term))
        elif isinstance(term, Var) and term.name not in fresh:
            fresh[term.name] = column
        else:
            late.append((column, term))
    all_names = (*names, *fresh)
    all_position = {name: place for place, name in enumerate(all_names)}
    index = tables.matching(atom.predicate, tuple(column for column, _ in keys))
    result: set[Row] = set()
    for row in rows:
        try:
            found = index.get(tuple(_value(term, position, row) for _, term in keys), ())
        except OracleArithmeticError as error:
            result.update(
                _join_what_has_values(atom, tables, keys, list(fresh.values()), late, position, all_position, (str(error), *row[1:]))
            )
            continue
        for match in found:
            extended = (*row, *(match[column] for column in fresh.values()))
            try:
                if all(_value(term, all_position, extended) == match[column] for column, term in late):
                    result.add(extended)
            except OracleArithmeticError as error:
                result.add((str(error), *extended[1:]))
    return all_names, result


def _join_what_has_values(
    atom: Atom,
    tables: _Tables,
    keys: list[tuple[int, Term]],
    fresh: list[int],
    late: list[tuple[int, Term]],
    position: Mapping[str, int],
    all_position: Mapping[str, int],
    row: Row,
) -> Iterator[Row]:
    """The join of an assignment in which some computation has no value: terms without a value match anything, and a variable
    without one takes the value that it meets."""
    judged, missing = [], {}
    for column, term in keys:
        try:
            judged.append((column, _value(term, position, row)))
        except OracleArithmeticError:
            if isinstance(term, Var):
                missing[position[term.name]] = column
    for match in tables.matching(atom.predicate, tuple(column for column, _ in judged)).get(tuple(value for _, value in judged), ()):
        met = tuple(match[missing[place]] if place in missing else value for place, value in enumerate(row))
        extended = (*met, *(match[column] for column in fresh))
        if all(_may_equal(term, all_position, extended, match[column]) for column, term in late):
            yield extended


def _may_equal(term: Term, position: Mapping[str, int], row: Row, value: Value) -> bool:
    try:
        return _value(term, position, row) == value
    except OracleArithmeticError:
        return True


def _compare(literal: Compare, names: tuple[str, ...], rows: set[Row]) -> tuple[tuple[str, ...], set[Row]]:
    position = {name: place for place, name in enumerate(names)}
    left, right = literal.left, literal.right
    if isinstance(right, Var) and right.name not in position:
        left, right = right, left
    binds = isinstance(left, Var) and left.name not in position
    result: set[Row] = set()
    for row in rows:
        try:
            value = _value(right, position, row)
            if binds:
                result.add((*row, value))
            elif COMPARISONS[literal.operator](_value(left, position, row), value):
                result.add(row)
        except OracleArithmeticError as error:
            result.add((str(error), *row[1:], *((_MISSING,) if binds else ())))
    return ((*names, left.name) if isinstance(left, Var) and binds else names), result


def _exclude(literal: Not, tables: _Tables, names: tuple[str, ...], rows: set[Row]) -> set[Row]:
    shared = [place for place, name in enumerate(names) if name in set(mentions(literal))]
    inner_names = (_REASON, *(names[place] for place in shared))
    verdicts: dict[Row, str | None] = {}
    result: set[Row] = set()
    for row in rows:
        key = tuple(row[place] for place in shared)
        if any(value is _MISSING for value in key):
            result.add(row)
            continue
        if key not in verdicts:
            verdicts[key] = _holds(literal.body, tables, inner_names, ("", *key))
        verdict = verdicts[key]
        if verdict is None:
            result.add(row)
        elif verdict:
            result.add((verdict, *row[1:]))
    return result


def _holds(body: tuple[Literal, ...], tables: _Tables, names: tuple[str, ...], row: Row) -> str | None:
    """None: `body` has no assignment; "": it has one; otherwise why that cannot be told."""
    verdict: str | None = None
    for conjunction in alternatives(body):
        for (reason,) in _solve(conjunction, tables, names, {row}, frozenset())[1]:
            if not reason:
                return ""
            verdict = str(reason)
    return verdict


def _blank_singles(literal: Literal, uses: Mapping[str, int]) -> Literal:
    if not isinstance(literal, Atom):
        return literal
    terms = tuple(Blank() if isinstance(term, Var) and uses[term.name] == 1 else term for term in literal.terms)
    return Atom(literal.predicate, terms)


def _depends_on_itself(program: Program, predicate: str) -> bool:
    edges: dict[str, set[str]] = {name: set() for name in program.types}
    for rule in program.rules:
        for head in rule.heads:
            edges[head.predicate].update(name for name, _ in reads(rule.body))
    reached: set[str] = set()
    front = set(edges[predicate])
    while front - reached:
        reached |= front
        front = {successor for name in front for successor in edges[name]}
    return predicate in reached
