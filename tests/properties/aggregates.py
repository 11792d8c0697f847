"""Bodies with everything that computes beyond arithmetic: aggregates, functional predicates, primitives."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

from tests.oracle.flatten import renamed_term
from tests.oracle.rules import Agg, Application, Atom, Compare, Const, Literal, Not, Op, Or, Term, Test, Var, mentions, mentions_of
from tests.oracle.scopes import bound_by
from tests.properties.bodies import MOST_VARIABLES, Body, Chooser, Signatures, constant
from tests.properties.primitives import generated, inverted, safe_term, tested
from tests.properties.ranges import Column, full

MOST_ROWS = 10**6  # in a group, far more than there are
FRACTIONS = (0.5, 0.25, 0.9, 0.0, 1.0, 0.1)
SEPARATORS = (", ", "", "-")
WEIGHTS = {"sum": 5, "count": 4, "min": 4, "max": 4, "mean": 3, "bitand": 1, "bitor": 1, "bitxor": 1}  # others 2


@dataclass(frozen=True, slots=True)
class Drawn:
    """A function with its arguments, and the column of its results."""

    function: str
    arguments: tuple[Term, ...]
    column: Column
    parameter: Const | None = None


class RichBody(Body):
    """A body that also draws what issue 4's language has beyond plain rules; `functional` are the predicates that may be applied."""

    def __init__(
        self,
        choose: Chooser,
        readable: Signatures,
        negatable: Signatures,
        names: Iterator[str],
        outer: Mapping[str, Column] | None = None,
        floats: bool = True,
        functional: Collection[str] = (),
    ) -> None:
        super().__init__(choose, readable, negatable, names, outer, floats)
        self.functional = functional
        self.witnesses: set[str] = set()  # which other aggregates do not use: the oracle does not order those by each other

    def within(self, readable: Signatures, outer: Mapping[str, Column]) -> Self:
        return type(self)(self.choose, readable, self.negatable, self.names, outer, self.floats, self.functional)

    def made(self, predicate: str, terms: tuple[Term, ...]) -> Atom:
        return Atom(predicate, terms, predicate in self.functional and self.choose.chance(60))

    def expression(self, type: str, depth: int = 1) -> tuple[Term, Column]:
        if self.choose.chance(25):
            found = self.application(type) if self.choose.chance(40) else safe_term(self, type)
            if found is not None:
                return found
        return super().expression(type, depth)

    def application(self, type: str) -> tuple[Term, Column] | None:
        """`F[x]` for some functional predicate with values of `type`."""
        fitting = [name for name in self.functional if name in self.negatable and self.negatable[name][-1].type == type]
        if not fitting:
            return None
        predicate = self.choose.pick(fitting)
        *keys, value = self.negatable[predicate]
        return Application(predicate, tuple(self._operand(key.type, 0)[0] for key in keys)), value

    def extra(self, depth: int) -> None:
        if not self.choose.chance(45):
            super().extra(depth)
            return
        kinds = ["condition", "range"] + ["aggregate"] * (6 if depth > 0 else 2) + (["inverse"] * 2 if self.floats else [])
        match self.choose.pick(kinds):
            case "aggregate":
                self.aggregate(depth)
            case "inverse":
                inverted(self)
            case "range":
                generated(self)
            case _:
                test = tested(self)
                if test is None:
                    self.comparison()
                else:
                    self.place(Not((test,)) if self.choose.chance(30) else test)

    def aggregate(self, depth: int) -> None:
        """`z = sum x : { … }`, or an aggregate in a comparison."""
        found = self.aggregation(depth)
        if found is None:
            return
        term, column, own = found
        term = self._shadowing(term)
        if not all(independent(term, other) for literal in self.literals for other in _aggregates_in(literal)):
            return
        if self.choose.chance(25) or len(self.scope) >= MOST_VARIABLES:
            right, _ = self._operand(column.type, 0)
            left: Term = term
            if self.choose.chance(50):
                left, right = right, left
            self.place(Compare(self.choose.pick((">", "<=", "!=", "=", ">=", "<")), left, right))
            return
        name = next(self.names)
        self.place(Compare("=", Var(name), term))
        self.scope[name] = column
        # Values of the rows with the least or greatest one, unless something else gives the variable its values.
        for witness in own if term.function in ("min", "max") else ():
            if witness in set(mentions(term)) and len(self.scope) < MOST_VARIABLES and self.choose.chance(40):
                self.scope[witness] = own[witness]
                self.witnesses.add(witness)

    def _shadowing(self, term: Agg) -> Agg:
        """Now and then the aggregate with a name from outside for what it goes over, which is none the less its own."""
        spare = [name for name in self.scope if name not in self.witnesses.union(mentions(term))]
        own = {part.name for literal in term.body if isinstance(literal, Atom) for part in literal.terms if isinstance(part, Var)} - set(
            self.scope
        )
        used = [argument.name for argument in term.arguments if isinstance(argument, Var) and argument.name in own]
        if not spare or not used or not self.choose.chance(12):
            return term
        renamed = renamed_term(term, {self.choose.pick(used): self.choose.pick(spare)})
        assert isinstance(renamed, Agg)
        return renamed

    def aggregation(self, depth: int, wanted: str | None = None) -> tuple[Agg, Column, dict[str, Column]] | None:
        """An aggregate over a body of its own, and what this body binds; its groups are those variables of this body that it uses."""
        # Outside its context it may meet values that the context excludes: nothing may fail on those either.
        outer = {name: full(column.type) for name, column in self.scope.items() if name not in self.witnesses}
        inner = self.within(self.negatable, outer)
        shared = [name for name, column in outer.items() if self._is_held(column.type)]
        inner.atom(list(self.negatable), {name: outer[name].type for name in shared[:1]} if shared and self.choose.chance(75) else None)
        if self.choose.chance(40):
            inner.atom(list(self.negatable))
        if outer and self.choose.chance(30):
            inner.interval(set(outer))
        if self.choose.chance(35):
            inner.extra(depth - 1)
        own = {name: column for name, column in inner.scope.items() if name not in outer}
        drawn = inner.function(own, wanted)
        recursive = not set(self.readable) <= set(self.negatable)
        if drawn is None or (recursive and not _is_flat(inner.literals) and not _stands(inner.literals, set(outer))):
            return None
        bound = bound_by(tuple(inner.literals), frozenset())
        term = Agg(drawn.function, drawn.arguments, tuple(inner.literals), drawn.column.type, drawn.parameter)
        return term, drawn.column, {name: column for name, column in own.items() if name in bound}

    def _is_held(self, type: str) -> bool:
        return any(column.type == type for columns in self.negatable.values() for column in columns)

    def interval(self, outer: set[str]) -> None:
        """`y >= a, y < b`, with the bounds from outside."""
        pairs = [
            (name, other)
            for name, column in self.scope.items()
            for other in sorted(outer)
            if name not in outer and self.scope[other].type == column.type
        ]
        if not pairs:
            return
        name, low = self.choose.pick(pairs)
        self.place(Compare(self.choose.pick((">=", ">")), Var(name), Var(low)))
        if self.choose.chance(60):
            high = self.choose.pick([other for inner, other in pairs if inner == name])
            self.place(Compare(self.choose.pick(("<=", "<")), Var(name), Var(high)))

    def function(self, own: Mapping[str, Column], wanted: str | None = None) -> Drawn | None:
        """An aggregate function over the variables `own`, with a result of the type `wanted`, if one is."""
        options: list[Drawn] = []
        if wanted in (None, "number"):
            options.append(Drawn("count", (), Column("number", 0, MOST_ROWS)))
        for name, column in own.items():
            variable = Var(name)
            options += [drawn for drawn in self._functions(variable, column) if wanted in (None, drawn.column.type)]
            witnesses = [(other, witness) for other, witness in own.items() if other != name and wanted in (None, witness.type)]
            options += [Drawn(arg, (variable, Var(other)), witness) for other, witness in witnesses for arg in ("argmin", "argmax")]
        if not options:
            return None
        known = sorted({option.function for option in options})
        function = self.choose.pick([name for name in known for _ in range(WEIGHTS.get(name, 2))])
        drawn = self.choose.pick([option for option in options if option.function == function])
        if drawn.function in ("min", "max", "count", "sum") and drawn.arguments and self.choose.chance(20):
            kept, self.scope = self.scope, dict(own)
            term, column = Body.expression(self, drawn.column.type)
            self.scope = kept
            totals = [other for other in self._functions(term, column) if other.function == drawn.function]
            if totals and any(mentions(term)):
                return totals[0]
        return drawn

    def _functions(self, term: Term, column: Column) -> list[Drawn]:
        """What takes one argument."""
        type = column.type
        found = [Drawn(name, (term,), column) for name in ("min", "max", "median")]
        found.append(Drawn("quantile", (term,), column, Const(self.choose.pick(FRACTIONS), "float")))
        found.append(Drawn("collect", (term,), Column("symbol")))
        found.append(Drawn("join", (term,), Column("symbol"), Const(self.choose.pick(SEPARATORS), "symbol")))
        if type == "float":
            found += [Drawn(name, (term,), column) for name in ("sum", "mean", "product")]
        if column.is_exact:
            found.append(Drawn("mean", (term,), Column("float")))
            low, high = min(column.low, 0) * MOST_ROWS, max(column.high, 0) * MOST_ROWS
            if full(type).holds(Column(type, low, high)):
                found.append(Drawn("sum", (term,), Column(type, low, high)))
        if column.is_integer:
            found += [Drawn(name, (term,), full(type)) for name in ("bitand", "bitor", "bitxor")]
            if max(abs(column.low), abs(column.high)) <= 1:
                found.append(Drawn("product", (term,), Column(type, column.low, 1)))
        return found


def independent(one: Agg, other: Agg) -> bool:
    """Whether not each of two aggregates binds what the other only uses: that is refused."""
    common = set(mentions(one)) & set(mentions(other))
    given, theirs = bound_by(_pooled(one), frozenset()), bound_by(_pooled(other), frozenset())
    return not (common & given - theirs and common & theirs - given)


def _pooled(term: Agg) -> tuple[Literal, ...]:
    """The literals of an aggregate's body, and of those in it."""
    return (*term.body, *(inner for literal in term.body for one in _aggregates_in(literal) for inner in _pooled(one)))


def _aggregates_in(part: Literal | Term) -> Iterator[Agg]:
    """The aggregates in a literal, but not those in other ones."""
    match part:
        case Agg():
            yield part
        case Op(_, parts, _) | Atom(_, parts, _) | Application(_, parts) | Not(parts):
            for inner in parts:
                yield from _aggregates_in(inner)
        case Compare(_, left, right):
            yield from _aggregates_in(left)
            yield from _aggregates_in(right)
        case Or(branches):
            for branch in branches:
                for inner in branch:
                    yield from _aggregates_in(inner)


def _is_flat(literals: list[Literal]) -> bool:
    """Whether there are no groups and no aggregates in a body, for which the engine has predicates of their own."""
    return not any(
        isinstance(literal, Or)
        or (isinstance(literal, Not) and not (len(literal.body) == 1 and isinstance(literal.body[0], Atom | Test)))
        or any(_aggregates_in(literal))
        for literal in literals
    )


def _stands(literals: list[Literal], outer: set[str]) -> bool:
    """Whether each variable from `outer` stands in an atom: the engine refuses aggregates in a recursive rule with such a body that only
    compares or computes with a variable whose values come from the recursion."""
    stands = {term.name for literal in literals if isinstance(literal, Atom) for term in literal.terms if isinstance(term, Var)}
    return outer & set(mentions_of(tuple(literals))) <= stands


def first_of(body: RichBody, type: str) -> tuple[Any, Column]:
    """A variable of `type`, or a constant."""
    known = body.variables(type)
    if known:
        name = body.choose.pick(known)
        return Var(name), body.scope[name]
    return constant(body.choose, type)
