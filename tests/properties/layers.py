"""Layers of derived predicates for a program in the making, each reading the layers below.

No layer diverges: in recursion, computed values go through a bounding comparison. Almost none can fail: intervals of all columns are
known, so an operation that might overflow is left out, except in rules made to fail (`risky_rule`), where every variable of the body
takes part in the operation and nothing else filters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal

from tests.oracle.rules import Atom, Blank, Compare, Const, Literal, Op, Rule, Term, Value, Var
from tests.properties.bodies import Body, Chooser, Signatures, constant, fresh_names
from tests.properties.ranges import Column, column_of, full, result

Domain = tuple[str, tuple[Value, ...]]  # a type and some values of it

SMALL: Domain = ("number", (0, 1, 2, 3, 4, 5, 6))
SIGNED: Domain = ("number", (0, 1, 2, -1, -2, -3))
HUGE: Domain = ("number", (0, 1, 5, -7, 2**62, 2**63 - 1, -(2**63)))
SYMBOLS: Domain = ("symbol", ("a", "b", "c", "B", "", 'say "hi"\\\n\t', "é"))
FLOATS: Domain = ("float", (0.0, 0.5, 1.0, -1.5, 2.25, 0.1, 1000000.0))
UNSIGNED: Domain = ("unsigned", (0, 1, 2, 3, 5, 2**63, 2**64 - 1))
TINY: Domain = ("unsigned", (0, 1, 2, 3, 4))
BOOLS: Domain = ("bool", (False, True))
DATES: Domain = ("date", (date(2024, 2, 28), date(2024, 2, 29), date(2024, 3, 1), date(1969, 12, 31), date(1, 1, 1)))
DATETIMES: Domain = (
    "datetime",
    (datetime(2024, 2, 29, tzinfo=UTC), datetime(2024, 2, 29, 0, 0, 0, 1, UTC), datetime(1960, 1, 1, 12, 30, 5, 250000, UTC)),
)
MONEY: Domain = ("decimal(2)", tuple(map(Decimal, ("0.00", "0.01", "1.50", "-2.25", "10.00", "99.99"))))
DEFAULTS = {
    "number": SMALL,
    "symbol": SYMBOLS,
    "float": FLOATS,
    "unsigned": TINY,
    "bool": BOOLS,
    "date": DATES,
    "datetime": DATETIMES,
    "decimal(2)": MONEY,
}
NUMERALS: Domain = ("symbol", ("1", "-2", "a", " 7 ", "0x1f", "", "true"))
PALETTES: tuple[tuple[Domain, ...], ...] = (
    (SMALL,),
    (SMALL,),
    (SMALL,),
    (SMALL, SMALL, SYMBOLS),
    (SMALL, SMALL, SIGNED),
    (SMALL, HUGE),
    (SMALL, FLOATS),
    (SMALL, TINY),
    (SYMBOLS, UNSIGNED),
)
RICH_PALETTES: tuple[tuple[Domain, ...], ...] = (
    (SMALL,),
    (SMALL, SMALL, SYMBOLS),
    (SMALL, FLOATS),
    (SMALL, MONEY),
    (SMALL, NUMERALS),
    (SMALL, SIGNED),
    (SYMBOLS, DATES),
    (SMALL, BOOLS, DATETIMES),
    (SMALL, TINY, UNSIGNED),
    (SMALL, HUGE),
    (FLOATS, MONEY, SMALL),
)
BOUNDED = {"number": Column("number", -8, 8), "unsigned": Column("unsigned", 0, 8)}  # what recursion may compute


@dataclass
class Making:
    """A program in the making; `columns` has the predicates whose layer is complete."""

    choose: Chooser
    palette: tuple[Domain, ...]
    columns: dict[str, tuple[Column, ...]] = field(default_factory=dict)
    rules: list[Rule] = field(default_factory=list)
    domains: dict[str, tuple[tuple[Value, ...], ...]] = field(default_factory=dict)
    risk: int = 8  # percent of plain predicates that have a rule made to fail

    def given(self, name: str) -> None:
        drawn = [self.choose.pick(self.palette) for _ in range(self.choose.pick((2, 2, 2, 1, 1, 3)))]
        self.columns[name] = tuple(column_of(values, type) for type, values in drawn)
        self.domains[name] = tuple(values for _, values in drawn)

    def types(self, arities: tuple[int, ...]) -> tuple[str, ...]:
        available = sorted({column.type for columns in self.columns.values() for column in columns})
        return tuple(self.choose.pick(available) for _ in range(self.choose.pick(arities)))

    def takes_facts(self, name: str, types: tuple[str, ...]) -> tuple[Column, ...]:
        """Let the derived predicate `name` have base facts; the columns of those."""
        self.domains[name] = tuple(DEFAULTS[type][1] for type in types)
        return tuple(column_of(DEFAULTS[type][1], type) for type in types)

    def body(self, own: dict[str, tuple[Column, ...]] | None = None, names: Iterator[str] | None = None) -> Body:
        readable = {**self.columns, **(own or {})}
        return Body(self.choose, readable, self.columns, names or fresh_names(), floats=own is None)

    def extras(self, body: Body) -> None:
        for _ in range(self.choose.pick((0, 0, 0, 1, 1, 1, 2, 2, 3))):
            body.extra(2)

    def plain_layer(self, names: list[str]) -> None:
        """Predicates defined by rules over the layers below, some rules with several heads."""
        types = {name: self.types((2, 1, 2, 3, 1, 2, 0)) for name in names}
        columns: dict[str, list[Column]] = {}
        rules: list[Rule] = []
        for name in names:
            for _ in range(self.choose.pick((1, 1, 2, 2, 3))):
                rules.append(self.plain_rule(name, types, columns))
            if self.choose.chance(self.risk):
                rules.append(self.risky_rule(name, types[name], columns))
            if self.choose.chance(15):
                widen(columns, name, self.takes_facts(name, types[name]))
        self.rules += rules
        self.columns.update({name: tuple(columns[name]) for name in names})

    def plain_rule(self, name: str, types: dict[str, tuple[str, ...]], columns: dict[str, list[Column]]) -> Rule:
        body = self.body()
        if self.choose.chance(12):
            wanted = types[name][: self.choose.number(1, 2)] or types[next(iter(types))][:1]
            body.disjunction(1, {next(body.names): type for type in wanted})
            atoms = self.choose.pick((0, 0, 1))
        else:
            atoms = self.choose.pick((1, 2, 2, 2, 3, 3, 1, 4, 5))
        for _ in range(atoms):
            body.atom(list(self.columns))
        self.extras(body)
        heads = [name]
        if len(types) > 1 and self.choose.chance(15):
            heads.append(self.choose.pick(list(types)))
        return Rule(tuple(self.head(head, types[head], body, columns) for head in heads), tuple(body.literals))

    def head(self, name: str, types: tuple[str, ...], body: Body, columns: dict[str, list[Column]]) -> Atom:
        terms: list[Term] = []
        ranges: list[Column] = []
        for type in types:
            known = self._unused(body.variables(type), terms)
            kinds = ["variable"] * 10 if known else ["constant"]
            kinds += ["expression"] * self.expressions(type)
            match self.choose.pick([*kinds, "constant"]):
                case "variable":
                    variable = self.choose.pick(known)
                    term: Term = Var(variable)
                    column = body.scope[variable]
                case "expression":
                    term, column = body.expression(type)
                case _:
                    term, column = constant(self.choose, type)
            terms.append(term)
            ranges.append(column)
        widen(columns, name, tuple(ranges))
        return Atom(name, tuple(terms))

    def expressions(self, type: str) -> int:
        """How likely an expression of `type` is as a head's term, beside ten for a variable."""
        return int(type != "symbol")

    def _unused(self, known: list[str], terms: list[Term]) -> list[str]:
        """Mostly only those variables that the head does not have yet."""
        unused = [name for name in known if Var(name) not in terms]
        return unused if unused and not self.choose.chance(10) else known

    def risky_rule(self, name: str, types: tuple[str, ...], columns: dict[str, list[Column]]) -> Rule:
        """`p(x / y) :- e(x, y).`, or with the operation in a comparison. Fails on some facts, on others not."""
        body = self.body()
        body.atom([other for other, signature in self.columns.items() if any(c.is_integer for c in signature)] or list(self.columns))
        integer = [variable for variable, column in body.scope.items() if column.is_integer]
        if not integer:
            return Rule((self.head(name, types, body, columns),), tuple(body.literals))
        # Other variables and constants of the atom would be judged after the operation in one order and before it in another.
        (atom,) = (literal for literal in body.literals if isinstance(literal, Atom))
        type = body.scope[integer[0]].type
        left, right = Var(integer[0]), Var(next((v for v in integer[1:] if body.scope[v].type == type), integer[0]))
        body.scope = {variable: body.scope[variable] for variable in {left.name: 0, right.name: 0}}
        terms = tuple(term if isinstance(term, Var) and term.name in body.scope else Blank() for term in atom.terms)
        operation = self.choose.pick(
            (
                Op("/", (Const(12, type), right), type) if left == right else Op("/", (left, right), type),
                Op("%", (left, right), type),
                Op("*", (left, Op("*", (right, Const(2**62, type)), type)), type),
                Op("-", (left, right), type),
            )
        )
        literals: list[Literal] = [Atom(atom.predicate, terms)]
        head: list[Term] = []
        for wanted in types:
            head.append(operation if wanted == type and operation not in head else constant(self.choose, wanted)[0])
        if operation not in head:
            literals.append(Compare("<", operation, Const(3, type)))
        widen(columns, name, tuple(full(wanted) for wanted in types))
        return Rule((Atom(name, tuple(head)),), tuple(literals))

    def recursive_layer(self, names: list[str]) -> None:
        """Predicates that read one another, with a base rule each, negation only of the layers below."""
        types = {name: self.types((2, 2, 2, 1)) for name in names}
        columns = {
            name: tuple(BOUNDED[type] if type in BOUNDED and self.choose.chance(40) else full(type) for type in types[name])
            for name in names
        }
        for name in names:
            if self.choose.chance(15):
                self.takes_facts(name, types[name])
            base = self.body()
            for _ in range(self.choose.pick((1, 1, 2))):
                base.atom(list(self.columns))
            self.rules.append(Rule((self._bounded_head(name, columns[name], base),), tuple(base.literals)))
            for _ in range(self.choose.pick((1, 1, 2))):
                self.rules.append(self._recursive_rule(name, columns))
        self.columns.update(columns)

    def _recursive_rule(self, name: str, columns: dict[str, tuple[Column, ...]]) -> Rule:
        body = self.body(columns)
        others = [other for other in columns if other != name] or [name]
        signature = columns[name]
        steps = [(first, second) for first in others for second in body.readable if chains(signature, first, second, body.readable)]
        if steps and self.choose.chance(50):
            # r(x, z) :- r(x, y), e(y, z).
            x, y, z = (next(body.names) for _ in range(3))
            first, second = self.choose.pick(steps)
            rest = tuple(Blank() for _ in body.readable[second][2:])
            body.literals = [Atom(first, (Var(x), Var(y))), Atom(second, (Var(y), Var(z), *rest))]
            body.scope = {x: columns[first][0], y: columns[first][1], z: body.readable[second][1]}
            self.extras(body)
            return Rule((Atom(name, (Var(x), Var(z))),), tuple(body.literals))
        body.atom(others)
        for _ in range(self.choose.pick((1, 1, 0, 2))):
            body.atom([*columns, *self.columns] if self.choose.chance(40) else list(self.columns))
        self.extras(body)
        heads = [name, *others] if self.choose.chance(10) else [name]
        return Rule(tuple(self._bounded_head(head, columns[head], body) for head in heads), tuple(body.literals))

    def _bounded_head(self, name: str, columns: tuple[Column, ...], body: Body) -> Atom:
        terms: list[Term] = []
        for column in columns:
            terms.append(self._bounded_term(column, body, terms))
        return Atom(name, tuple(terms))

    def _bounded_term(self, column: Column, body: Body, terms: list[Term]) -> Term:
        known = self._unused([variable for variable in body.variables(column.type) if column.holds(body.scope[variable])], terms)
        steps = [v for v in body.variables(column.type) if column.type in BOUNDED and BOUNDED[column.type].holds(body.scope[v])]
        kinds = ["variable"] * 6 if known else []
        kinds += ["step"] * 3 if steps else []
        match self.choose.pick(kinds or ["constant"]):
            case "variable":
                return Var(self.choose.pick(known))
            case "step":
                return self._step(self.choose.pick(steps), column.type, body)
        return constant(self.choose, column.type)[0] if column == full(column.type) else Const(1, column.type)

    def _step(self, variable: str, type: str, body: Body) -> Term:
        """`z = x + 1, z < 8`: a new value, kept within what recursion may compute."""
        operator, operand = self.choose.pick("+-*"), Const(self.choose.pick((1, 2, 3)), type)
        column = result(operator, [body.scope[variable], column_of((operand.value,), type)])
        if column is None:
            return Var(variable)
        bounds, name = BOUNDED[type], next(body.names)
        body.place(Compare("=", Var(name), Op(operator, (Var(variable), operand), type)))
        low, high = bounds.low, self.choose.number(5, int(bounds.high))
        if column.high > high:
            body.place(self.choose.pick((Compare("<", Var(name), Const(high, type)), Compare(">=", Const(high, type), Var(name)))))
        if column.low < low:
            body.place(Compare(">=", Var(name), Const(low, type)))
        body.scope[name] = Column(type, max(column.low, low), min(column.high, high))
        return Var(name)


def chains(head: tuple[Column, ...], first: str, second: str, columns: Signatures) -> bool:
    """Whether `head(x, z) :- first(x, y), second(y, z)` has fitting types and ranges."""
    left, right = columns[first], columns[second]
    if len(head) != 2 or len(left) != 2 or len(right) < 2:
        return False
    return head[0].holds(left[0]) and left[1].type == right[0].type and head[1].holds(right[1])


def widen(columns: dict[str, list[Column]], name: str, more: tuple[Column, ...]) -> None:
    known = columns.setdefault(name, list(more))
    columns[name] = [column.hull(other) for column, other in zip(known, more, strict=True)]
