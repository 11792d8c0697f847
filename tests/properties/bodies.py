"""Draws the bodies of rules: range-restricted by construction, readable when shrunk.

A choice's first option is its simplest, because that is what Hypothesis shrinks to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import cache
from typing import Self, TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from tests.oracle.naive import COMPARISONS
from tests.oracle.rules import Atom, Blank, Compare, Const, Literal, Not, Op, Or, Term, Value, Var, mentions
from tests.properties.ranges import Column, column_of, full, result

T = TypeVar("T")
Draw = Callable[[SearchStrategy[int]], int]
Signatures = Mapping[str, tuple[Column, ...]]

NAMES = "xyzwvut"
CONSTANTS: dict[str, tuple[Value, ...]] = {
    "number": (1, 0, 2, 3, 5, -1),
    "unsigned": (1, 0, 2, 3),
    "float": (0.5, 0.0, 1.0, -1.5),
    "symbol": ("a", "b", "ab", 'say "x"\\\n'),
    "bool": (True, False),
    "date": (date(2024, 2, 29), date(1969, 12, 31), date(2024, 3, 1)),
    "datetime": (datetime(2024, 2, 29, 12, tzinfo=UTC), datetime(1969, 12, 31, 23, 59, 59, 999999, UTC)),
    "decimal(2)": (Decimal("1.00"), Decimal("0.00"), Decimal("2.50"), Decimal("-0.01")),
}
EXTREMES: dict[str, tuple[Value, ...]] = {"number": (2**63 - 1, -(2**63)), "unsigned": (2**64 - 1,)}
MOST_VARIABLES = 5


@cache
def integers(low: int, high: int) -> SearchStrategy[int]:
    return st.integers(low, high)


class Chooser:
    """The random choices of one example."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw

    def number(self, low: int, high: int) -> int:
        return self._draw(integers(low, high)) if low < high else low

    def pick(self, options: Sequence[T]) -> T:
        return options[self.number(0, len(options) - 1)]

    def chance(self, percent: int) -> bool:
        return self.number(0, 99) >= 100 - percent


def constant(choose: Chooser, type: str) -> tuple[Const, Column]:
    value = choose.pick(EXTREMES[type] if type in EXTREMES and choose.chance(4) else CONSTANTS[type])
    return Const(value, type), column_of((value,), type)


class Body:
    """A conjunction in the making. `readable` predicates may stand in positive atoms, `negatable` ones under a negation too."""

    def __init__(
        self,
        choose: Chooser,
        readable: Signatures,
        negatable: Signatures,
        names: Iterator[str],
        outer: Mapping[str, Column] | None = None,
        floats: bool = True,
    ) -> None:
        self.choose = choose
        self.readable = readable
        self.negatable = negatable
        self.names = names
        self.scope: dict[str, Column] = dict(outer or {})
        self.floats = floats  # whether float arithmetic is allowed: not in recursion, where nothing would bound it
        self.literals: list[Literal] = []

    def within(self, readable: Signatures, outer: Mapping[str, Column]) -> Self:
        """A conjunction in this one, which knows the variables `outer`."""
        return type(self)(self.choose, readable, self.negatable, self.names, outer, self.floats)

    def place(self, literal: Literal) -> None:
        """Add `literal` at some position: the order of literals means nothing."""
        self.literals.insert(len(self.literals) - self.choose.number(0, len(self.literals)), literal)

    def variables(self, type: str) -> list[str]:
        return [name for name, column in self.scope.items() if column.type == type]

    def atom(self, among: Sequence[str], holding: Mapping[str, str] | None = None) -> None:
        """A positive atom over one of `among`; the variable names of `holding` (with their types) must occur in it."""
        required = dict(holding or {})
        fitting = [name for name in among if _fits(self.readable[name], required)]
        predicate = self.choose.pick(fitting or list(among))
        terms: list[Term] = []
        before = set(self.scope)
        for column in self.readable[predicate]:
            forced = next((name for name, type in required.items() if type == column.type), None)
            if forced is not None:
                del required[forced]
                self.scope[forced] = column
                terms.append(Var(forced))
            else:
                terms.append(self._argument(column, before))
        self.place(self.made(predicate, tuple(terms)))

    def made(self, predicate: str, terms: tuple[Term, ...]) -> Atom:
        return Atom(predicate, terms)

    def _argument(self, column: Column, before: set[str]) -> Term:
        """A term of an atom; variables from `before` the atom join it to others, and are likelier than its own."""
        known = self.variables(column.type)
        joining = [name for name in known if name in before]
        kinds = ["new"] * 5 if len(self.scope) < MOST_VARIABLES else []
        kinds += ["joining"] * 6 if joining else []
        kinds += ["own"] if known else []
        kinds += ["blank", "constant"]
        kinds += ["computed"] if known and column.is_integer else []
        match self.choose.pick(kinds):
            case "new":
                name = next(self.names)
                self.scope[name] = column
                return Var(name)
            case "joining":
                return Var(self.choose.pick(joining))
            case "own":
                return Var(self.choose.pick(known))
            case "computed":
                return self.expression(column.type)[0]
            case "constant":
                return constant(self.choose, column.type)[0]
        return Blank()

    def expression(self, type: str, depth: int = 1) -> tuple[Term, Column]:
        """A term over the variables of `type` that cannot fail: an operation if one is at hand, else a variable or a constant."""
        left, left_column = self._operand(type, depth)
        if not (left_column.is_exact or (type == "float" and self.floats)):
            return left, left_column
        operators = ("+", "-", "*", "/", "%", "negate") if left_column.is_integer else ("+", "-", "*")
        name = self.choose.pick(operators)
        if name == "negate":
            column = result("-", [left_column])
            return (left, left_column) if column is None else (Op("-", (left,), type), column)
        right, right_column = self._operand(type, depth)
        column = result(name, [left_column, right_column])
        return (left, left_column) if column is None else (Op(name, (left, right), type), column)

    def _operand(self, type: str, depth: int) -> tuple[Term, Column]:
        known = self.variables(type)
        kinds = ["variable"] * 4 if known else []
        kinds += ["constant"] * 2
        kinds += ["deeper"] if depth and known else []
        match self.choose.pick(kinds):
            case "variable":
                name = self.choose.pick(known)
                return Var(name), self.scope[name]
            case "deeper":
                return self.expression(type, depth - 1)
        return constant(self.choose, type)

    def comparison(self) -> None:
        """Between a variable and a variable, a constant or an expression, on any type."""
        if not self.scope:
            return
        name = self.choose.pick(list(self.scope))
        right, _ = self.expression(self.scope[name].type) if self.choose.chance(25) else self._operand(self.scope[name].type, 0)
        left: Term = Var(name)
        if right == left:
            right = constant(self.choose, self.scope[name].type)[0]
        if self.choose.chance(30):
            left, right = right, left
        self.place(Compare(self.choose.pick(list(COMPARISONS)), left, right))

    def equality(self) -> None:
        """`z = expression`, either way round, binding a new variable."""
        if not self.scope or len(self.scope) >= MOST_VARIABLES:
            return
        term, column = self.expression(self.scope[self.choose.pick(list(self.scope))].type)
        name = next(self.names)
        self.place(Compare("=", *((term, Var(name)) if self.choose.chance(20) else (Var(name), term))))
        self.scope[name] = column

    def guarded_division(self) -> None:
        """`y != 0, z = x / y`: the guard excludes what would fail, and stands before it."""
        divisors = [name for name, column in self.scope.items() if column.is_integer and column.low >= 0]
        if not divisors or len(self.scope) >= MOST_VARIABLES:
            return
        divisor = self.choose.pick(divisors)
        type = self.scope[divisor].type
        dividend, column = self._operand(type, 0)
        guarded = Column(type, 1, max(1, self.scope[divisor].high))
        operator = self.choose.pick("/%")
        quotient = result(operator, [column, guarded])
        if quotient is None:
            return
        guard = self.choose.pick((Compare("!=", Var(divisor), Const(0, type)), Compare("<", Const(0, type), Var(divisor))))
        name = next(self.names)
        self.literals += [guard, Compare("=", Var(name), Op(operator, (dividend, Var(divisor)), type))]
        self.scope[name] = quotient

    def negated_atom(self) -> None:
        predicate = self.choose.pick(list(self.negatable))
        terms: list[Term] = []
        for column in self.negatable[predicate]:
            known = self.variables(column.type)
            kinds = ["old"] * 5 if known else []
            match self.choose.pick([*kinds, "blank", "constant"]):
                case "old":
                    terms.append(Var(self.choose.pick(known)))
                case "constant":
                    terms.append(constant(self.choose, column.type)[0])
                case _:
                    terms.append(Blank())
        self.place(Not((self.made(predicate, tuple(terms)),)))

    def negated_group(self, depth: int) -> None:
        """`!(p(x, z), …)`, whose own variables are bound inside it."""
        # Outside its context a group may meet values that the context excludes: nothing may fail on those either.
        outer = {name: full(column.type) for name, column in self.scope.items()}
        inner = self.within(self.negatable, outer)
        inner.atom(list(self.negatable))
        if self.choose.chance(50):
            inner.atom(list(self.negatable))
        # The engine refuses a group that only compares or computes with a variable whose values come from the rule's recursion.
        recursive = not set(self.readable) <= set(self.negatable)
        if not recursive and self.choose.chance(50):
            inner.extra(depth - 1)
        used = {name for literal in inner.literals for name in mentions(literal)} & set(outer)
        stands = {term.name for literal in inner.literals if isinstance(literal, Atom) for term in literal.terms if isinstance(term, Var)}
        if len(inner.literals) > 1 and (not recursive or used <= stands):
            self.place(Not(tuple(inner.literals)))
        else:
            self.negated_atom()

    def disjunction(self, depth: int, joint: Mapping[str, str]) -> None:
        """`(… ; …)`; each branch binds the new variables `joint`, given with their types."""
        branches: list[tuple[Literal, ...]] = []
        columns: dict[str, Column] = {}
        for _ in range(3 if self.choose.chance(20) else 2):
            inner = self.within(self.readable, self.scope)
            if joint or not self.scope or self.choose.chance(70):
                inner.atom(list(self.readable), joint)
            else:
                inner.comparison()
            for name, type in joint.items():
                if name not in inner.scope:
                    term, inner.scope[name] = inner.expression(type)
                    inner.place(Compare("=", Var(name), term))
            if self.choose.chance(30):
                inner.extra(depth - 1)
            branches.append(tuple(inner.literals))
            for name in joint:
                columns[name] = columns[name].hull(inner.scope[name]) if name in columns else inner.scope[name]
        self.place(Or(tuple(branches)))
        self.scope.update(columns)

    def extra(self, depth: int) -> None:
        """One literal other than a positive atom."""
        kinds = ["comparison"] * 3 + ["negated atom"] * 3 + ["equality"] * 2 + ["division"]
        kinds += ["group", "disjunction", "disjunction"] if depth > 0 else []
        match self.choose.pick(kinds):
            case "comparison":
                self.comparison()
            case "negated atom":
                self.negated_atom()
            case "equality":
                self.equality()
            case "division":
                self.guarded_division()
            case "group":
                self.negated_group(depth)
            case _:
                joint: dict[str, str] = {}
                if self.scope and len(self.scope) < MOST_VARIABLES and self.choose.chance(50):
                    joint[next(self.names)] = self.scope[self.choose.pick(list(self.scope))].type
                self.disjunction(depth, joint)


def _fits(signature: tuple[Column, ...], required: Mapping[str, str]) -> bool:
    types = [column.type for column in signature]
    return all(types.count(type) >= list(required.values()).count(type) for type in required.values())


def fresh_names() -> Iterator[str]:
    number = 0
    while True:
        yield from (letter + (str(number) if number else "") for letter in NAMES)
        number += 1
