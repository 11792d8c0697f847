"""A set-at-a-time evaluator in plain Python: slow, short, and without a line in common with the engine.

Strata by naive stratification, a naive fixpoint in each, hash joins on dictionaries inside a rule.

When a computation has no result (overflow of 64 bits, division by zero), the assignment at hand counts as an error only if it
satisfies every literal of the rule that can still be judged: so `p(x), x != 0, y = 10 / x` is safe, in whatever order it is written,
and whether a program fails does not depend on an order of evaluation. Within a rule such an assignment is carried on, its first
column holding the reason, and the missing values `MISSING`. With failing="skip", it is dropped: the literal does not hold.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Set
from itertools import product
from typing import Any

from tests.oracle.aggregates import aggregate
from tests.oracle.flatten import counted, flatten
from tests.oracle.rules import (
    Atom,
    Blank,
    Compare,
    Fold,
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
    mentions,
    reads,
)
from tests.oracle.schedule import schedule
from tests.oracle.tables import MISSING, REASON, Tables, join, value_of
from tests.oracle.values import RANGES as RANGES
from tests.oracle.values import NoValue, inverse, ordered, range_of, wraps
from tests.oracle.values import OracleArithmeticError as OracleArithmeticError
from tests.oracle.values import compute as compute

COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class OracleConflictError(ValueError):
    """A key of a functional predicate has two values."""


def evaluate(program: Program, facts: Mapping[str, Set[Row]], failing: str = "error", overflow: str = "error") -> dict[str, set[Row]]:
    """All relations of `program` on `facts`. Raises OracleArithmeticError and OracleConflictError."""
    before = wraps.set(overflow == "wrap")
    try:
        return _evaluate(program, facts, failing)
    finally:
        wraps.reset(before)


def _evaluate(program: Program, facts: Mapping[str, Set[Row]], failing: str) -> dict[str, set[Row]]:
    tables = Tables({predicate: set(facts.get(predicate, ())) for predicate in program.types}, failing == "skip")
    for stratum in strata(program):
        growing = True
        while growing:
            growing = False
            for rule in stratum:
                for head in rule.heads:
                    rows = {row for body in alternatives(rule.body) for row in _derive(head, body, tables)}
                    growing |= tables.add(head.predicate, rows)
    for predicate in sorted(program.functional):
        values: dict[Row, Value] = {}
        for row in tables.rows[predicate]:
            if values.setdefault(row[:-1], row[-1]) != row[-1]:
                raise OracleConflictError(f"{predicate}{list(row[:-1])} is {values[row[:-1]]!r} and {row[-1]!r}")
    return tables.rows


def derivations(program: Program, facts: Mapping[str, Set[Row]]) -> dict[str, Counter[Row]]:
    """How often each row of each non-recursive derived predicate is derived: satisfying assignments over all rules.

    A rule counts once per head and per branch of its disjunctive normal form. A variable that occurs once only, in a positive
    atom, is a wildcard, and what a wildcard stands for is not counted. A base fact of a derived predicate counts as one derivation.
    """
    tables = Tables(evaluate(program, facts), False)
    counts: dict[str, Counter[Row]] = {}
    rules = tuple(map(flatten, program.rules))
    for rule in rules:
        for head in rule.heads:
            if _depends_on_itself(program, rules, head.predicate):
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
    """The flat rules by the stratum of their heads, one rule per head. Raises ValueError for negation through recursion."""
    level = dict.fromkeys(program.types, 0)
    rules = tuple(map(flatten, program.rules))
    edges = [(head.predicate, *read) for rule in rules for head in rule.heads for read in reads(rule.body)]
    changed = True
    while changed:
        changed = False
        for head, body, strict in edges:
            if level[head] < level[body] + strict:
                level[head] = level[body] + strict
                changed = True
        if max(level.values(), default=0) > len(level):
            raise ValueError("negation through recursion")
    split = [Rule((head,), rule.body) for rule in rules for head in rule.heads]
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


def _derive(head: Atom, body: tuple[Literal, ...], tables: Tables) -> set[Row]:
    return {row for _, row in _assignments(head, body, tables, frozenset(mentions(head)))}


def _assignments(head: Atom, body: tuple[Literal, ...], tables: Tables, wanted: frozenset[str]) -> Iterator[tuple[Row, Row]]:
    """The satisfying assignments to the variables `wanted`, each with the head's row."""
    names, rows = _solve(body, tables, (REASON,), {("",)}, wanted | frozenset(mentions(head)))
    position = {name: place for place, name in enumerate(names)}
    for row in rows:
        if row[0]:
            raise OracleArithmeticError(f"{row[0]} in a rule for {head.predicate}")
        try:
            yield row, tuple(value_of(term, position, row) for term in head.terms)
        except OracleArithmeticError as error:
            if not tables.skip and not isinstance(error, NoValue):
                raise


def _solve(
    body: tuple[Literal, ...], tables: Tables, names: tuple[str, ...], rows: set[Row], wanted: frozenset[str]
) -> tuple[tuple[str, ...], set[Row]]:
    """Extends the assignments `rows` to `names` by `body`, and projects them on `wanted` and the reason."""
    steps = schedule(body, names, wanted)
    for place, literal in enumerate(steps):
        match literal:
            case Atom():
                names, rows = join(literal, tables, names, rows)
            case Compare():
                names, rows = _compare(literal, names, rows)
            case Not():
                rows = _exclude(literal, tables, names, rows)
            case Fold():
                names, rows = _fold(literal, tables, names, rows)
        if tables.skip:
            rows = {row for row in rows if not row[0]}
        later = wanted.union(*(mentions(step) for step in steps[place + 1 :]), (REASON,))
        kept = [column for column, name in enumerate(names) if name in later]
        if len(kept) < len(names):
            names = tuple(names[column] for column in kept)
            rows = {tuple(row[column] for column in kept) for row in rows}
    return names, rows


def _compare(literal: Compare, names: tuple[str, ...], rows: set[Row]) -> tuple[tuple[str, ...], set[Row]]:
    position = {name: place for place, name in enumerate(names)}
    left, right = literal.left, literal.right
    if not all(name in position for name in mentions(right)):
        left, right = right, left
    (fresh,) = {name for name in mentions(left) if name not in position} or {""}
    result: set[Row] = set()
    for row in rows:
        try:
            if isinstance(right, Op) and right.name == "range":
                values = range_of([value_of(term, position, row) for term in right.arguments], right.type)
                if fresh:
                    result.update((*row, value) for value in values)
                elif value_of(left, position, row) in set(values):
                    result.add(row)
            elif not fresh:
                if COMPARISONS[literal.operator](*(ordered(value_of(side, position, row)) for side in (literal.left, literal.right))):
                    result.add(row)
            else:
                result.update((*row, value) for value in _solutions(left, value_of(right, position, row), position, row))
        except NoValue:
            continue
        except OracleArithmeticError as error:
            result.add((str(error), *row[1:], *((MISSING,) if fresh else ())))
    return ((*names, fresh) if fresh else names), result


def _solutions(term: Term, value: Value, position: Mapping[str, int], row: Row) -> Iterator[Value]:
    """The values of the term's only unbound variable for which it is `value`: at most one."""
    if isinstance(term, Var):
        yield value
        return
    assert isinstance(term, Op)
    (place,) = (at for at, argument in enumerate(term.arguments) if any(name not in position for name in mentions(argument)))
    arguments: list[Any] = [None if at == place else value_of(argument, position, row) for at, argument in enumerate(term.arguments)]
    wanted = inverse(term.name, arguments, place, value, term.type)
    if wanted is not None:
        yield from _solutions(term.arguments[place], wanted, position, row)


def _fold(fold: Fold, tables: Tables, names: tuple[str, ...], rows: set[Row]) -> tuple[tuple[str, ...], set[Row]]:
    """Groups get their totals: those that the rows ask for, or all, where the aggregate itself gives its groups."""
    results = tuple(total.result.name for total in fold.totals)
    if fold.grouping:
        groups = _groups(fold, tables, (), {("",)})
        return (*names, *fold.groups, *results), {
            (verdict, *key, *values)
            for key, assignments in groups.items()
            for verdict, values in [_totals(fold, assignments, tables.skip)]
            if not any(value is None for value in values)
        }
    columns = [names.index(name) for name in fold.groups]
    keys = {row: tuple(row[column] for column in columns) for row in rows}
    asked = {key for key in keys.values() if not any(value is MISSING for value in key)}
    groups = _groups(fold, tables, fold.groups, {("", *key) for key in asked})
    totals = {key: _totals(fold, groups.get(key, set()), tables.skip) for key in asked}
    new = (*results, *(name for name, _ in fold.witnesses))
    result: set[Row] = set()
    for row, key in keys.items():
        verdict, (value,) = totals.get(key, (row[0], (MISSING,)))
        for witnesses in _witnesses(fold, groups.get(key, set()), value) if value is not None else ():
            known = dict(zip(names, row, strict=True))
            for name, found in zip(new, (value, *witnesses), strict=True):
                before = known.setdefault(name, found)  # by another literal
                if before is not MISSING and found is not MISSING and before != found:
                    break
            else:
                result.add((row[0] or verdict, *list(known.values())[1:]))
    return tuple(dict.fromkeys((*names, *new))), result


def _witnesses(fold: Fold, assignments: set[Row], value: Any) -> set[Row]:
    """What the witnesses are in the assignments with the least or greatest value."""
    if value is MISSING or not fold.witnesses:
        return {(MISSING,) * len(fold.witnesses)}
    wanted = sorted(counted(fold))
    places = [2 + wanted.index(inner) for _, inner in fold.witnesses]
    return {tuple(row[place] for place in places) for row in assignments if ordered(row[1][0]) == ordered(value)}  # type: ignore[index]


def _groups(fold: Fold, tables: Tables, names: tuple[str, ...], rows: set[Row]) -> dict[Row, set[Row]]:
    """The distinct assignments of the fold's body in each group: the reason, the arguments of all totals in a row, then all variables."""
    wanted = counted(fold)
    groups: dict[Row, set[Row]] = {}
    for body in alternatives(fold.body):
        found, assignments = _solve(body, tables, (REASON, *names), rows, wanted)
        position = {name: place for place, name in enumerate(found)}
        for row in assignments:
            reason = row[0]
            arguments: tuple[Any, ...] = ()
            try:
                arguments = tuple(value_of(term, position, row) for total in fold.totals for term in total.arguments)
            except NoValue:
                continue
            except OracleArithmeticError as error:
                reason = reason or str(error)
            if reason and tables.skip:
                continue
            key = tuple(row[position[name]] for name in fold.groups)
            groups.setdefault(key, set()).add((reason, arguments, *(row[position[name]] for name in sorted(wanted))))  # type: ignore[arg-type]
    return groups


def _totals(fold: Fold, assignments: set[Row], skip: bool) -> tuple[str, tuple[Any, ...]]:
    """Why a group has no totals, or "", and the totals, each None where an empty group has nothing."""
    for reason, *_ in assignments:
        if reason:
            return str(reason), (MISSING,) * len(fold.totals)
    values: list[Value | None] = []
    first = 0
    for total in fold.totals:
        last = first + len(total.arguments)
        rows: list[Any] = [arguments[first:last] for _, arguments, *_ in assignments]  # type: ignore[index]
        try:
            values.append(aggregate(total.function, rows, total.type, total.parameter and total.parameter.value))
        except OracleArithmeticError as error:
            if skip:
                raise
            return str(error), (MISSING,) * len(fold.totals)
        first = last
    return "", tuple(values)


def _exclude(literal: Not, tables: Tables, names: tuple[str, ...], rows: set[Row]) -> set[Row]:
    shared = [place for place, name in enumerate(names) if name in set(mentions(literal))]
    inner_names = (REASON, *(names[place] for place in shared))
    verdicts: dict[Row, str | None] = {}
    result: set[Row] = set()
    for row in rows:
        key = tuple(row[place] for place in shared)
        if any(value is MISSING for value in key):
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


def _holds(body: tuple[Literal, ...], tables: Tables, names: tuple[str, ...], row: Row) -> str | None:
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


def _depends_on_itself(program: Program, rules: tuple[Rule, ...], predicate: str) -> bool:
    edges: dict[str, set[str]] = {name: set() for name in program.types}
    for rule in rules:
        for head in rule.heads:
            edges[head.predicate].update(name for name, _ in reads(rule.body))
    reached: set[str] = set()
    front = set(edges[predicate])
    while front - reached:
        reached |= front
        front = {successor for name in front for successor in edges[name]}
    return predicate in reached
