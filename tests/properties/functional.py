"""Layers with functional predicates, grouping rules and primitives that fail, beside the plain ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.oracle.rules import Agg, Atom, Blank, Compare, Const, Literal, Op, Rule, Term, Total, Var
from tests.properties.aggregates import RichBody
from tests.properties.bodies import constant, fresh_names
from tests.properties.layers import Making, widen
from tests.properties.primitives import risky_term
from tests.properties.ranges import Column, column_of, full


@dataclass
class RichMaking(Making):
    """A program in the making with everything that computes."""

    functional: set[str] = field(default_factory=set)

    def body(self, own: dict[str, tuple[Column, ...]] | None = None, names: Iterator[str] | None = None) -> RichBody:
        readable = {**self.columns, **(own or {})}
        known = frozenset(self.functional)
        return RichBody(self.choose, readable, self.columns, names or fresh_names(), floats=own is None, functional=known)

    def expressions(self, type: str) -> int:
        return 2

    def given_functional(self, name: str) -> None:
        """A functional predicate with facts."""
        drawn = [self.choose.pick(self.palette) for _ in range(self.choose.pick((2, 2, 2, 3, 3, 1)))]
        self.columns[name] = tuple(column_of(values, type) for type, values in drawn)
        self.domains[name] = tuple(values for _, values in drawn)
        self.functional.add(name)

    def plain_rule(self, name: str, types: dict[str, tuple[str, ...]], columns: dict[str, list[Column]]) -> Rule:
        if types[name] and self.choose.chance(25):
            rule = self.grouping_rule(name, types[name], columns, self.choose.number(0, len(types[name]) - 1))
            if rule is not None:
                return rule
        return super().plain_rule(name, types, columns)

    def grouping_rule(self, name: str, types: tuple[str, ...], columns: dict[str, list[Column]], first: int) -> Rule | None:
        """`p(x, t) <- agg<<t = sum(y)>> …`. Columns before `first` are groups; None if the column `first` finds no total."""
        body = self.body()
        for _ in range(self.choose.pick((1, 2, 2))):
            body.atom(list(self.columns))
        if self.choose.chance(40):
            body.extra(1)
        terms: list[Term] = []
        ranges: list[Column] = []
        totals: list[Total] = []
        for place, type in enumerate(types):
            drawn = body.function(body.scope, type) if place >= first and (place == first or self.choose.chance(40)) else None
            if drawn is not None:
                result = Var(f"t{place}")
                totals.append(Total(result, drawn.function, drawn.arguments, type, drawn.parameter))
                term, column = self._after(result, drawn.column, body)
            elif place == first:
                return None
            else:
                known = [variable for variable in body.variables(type) if Var(variable) not in terms]
                if known and self.choose.chance(85):
                    variable = self.choose.pick(known)
                    term, column = Var(variable), body.scope[variable]
                else:
                    term, column = constant(self.choose, type)
            terms.append(term)
            ranges.append(column)
        widen(columns, name, tuple(ranges))
        return Rule((body.made(name, tuple(terms)),), tuple(body.literals), tuple(totals))

    def _after(self, result: Var, column: Column, body: RichBody) -> tuple[Term, Column]:
        """A total, now and then with something done to it in the head."""
        if not column.is_integer or not self.choose.chance(10):
            return result, column
        low, high = min(column.low, 1), max(column.high, 1)
        return Op("max", (result, Const(1, column.type)), column.type), Column(column.type, low, high)

    def functional_layer(self, names: list[str]) -> None:
        """Functional predicates over the layers below, most of them such that no key can have two values."""
        columns: dict[str, list[Column]] = {}
        for name in names:
            self.functional.add(name)
            makers = [
                self._grouped,
                self._grouped,
                self._aggregated,
                self._aggregated,
                self._computed,
                self._looked_up,
                self._loose,
                self._loose,
            ]
            found = next(rule for maker in (self.choose.pick(makers), self._grouped, self._computed) if (rule := maker(name, columns)))
            self.rules.append(found)
        self.columns.update({name: tuple(columns[name]) for name in names})

    def _grouped(self, name: str, columns: dict[str, list[Column]]) -> Rule | None:
        types = self.types((2, 2, 3, 1))
        return self.grouping_rule(name, types, columns, len(types) - 1)

    def _aggregated(self, name: str, columns: dict[str, list[Column]]) -> Rule | None:
        """`F[x] = sum y : { … } :- …`, with groups that are keys."""
        body, keys = self._keys()
        value = body.aggregation(1)
        return None if value is None else self._defined(name, keys, *value[:2], body, columns)

    def _computed(self, name: str, columns: dict[str, list[Column]]) -> Rule:
        """`F[x, y] = x + y :- …`."""
        body, keys = self._keys()
        types = sorted({column.type for column in body.scope.values()}) or ["number"]
        return self._defined(name, keys, *body.expression(self.choose.pick(types)), body, columns)

    def _looked_up(self, name: str, columns: dict[str, list[Column]]) -> Rule | None:
        """`F[x] = G[x] - H[x] :- …`."""
        body, keys = self._keys()
        values = [body.application(self.columns[other][-1].type) for other in sorted(self.functional & set(self.columns))]
        found = [value for value in values if value is not None]
        if not found:
            return None
        term, column = self.choose.pick(found)
        return self._defined(name, keys, term, column, body, columns)

    def _loose(self, name: str, columns: dict[str, list[Column]]) -> Rule | None:
        """`F[x] = y :- e(x, y)`, where one x may have many y."""
        body = self.body()
        body.atom(list(self.columns))
        known = list(body.scope)
        if len(known) < 2:
            return None
        value = known[-1]
        widen(columns, name, tuple(body.scope[variable] for variable in (*known[:-1], value)))
        return Rule((body.made(name, tuple(map(Var, known))),), tuple(body.literals))

    def _keys(self) -> tuple[RichBody, list[str]]:
        """A body whose scope holds what are to be the keys, and nothing else: so whatever it computes follows from them."""
        body = self.body()
        for _ in range(self.choose.pick((1, 1, 2))):
            body.atom(list(self.columns))
        self.extras(body)
        keys = list(body.scope)[: self.choose.pick((2, 1, 1, 3))]
        hidden = {name: column for name, column in body.scope.items() if name not in keys}
        for variable in hidden:
            del body.scope[variable]
        return body, keys

    def _defined(self, name: str, keys: list[str], value: Term, column: Column, body: RichBody, columns: dict[str, list[Column]]) -> Rule:
        widen(columns, name, (*(body.scope[key] for key in keys), column))
        return Rule((body.made(name, (*map(Var, keys), value)),), tuple(body.literals))

    def risky_rule(self, name: str, types: tuple[str, ...], columns: dict[str, list[Column]]) -> Rule:
        if self.choose.chance(25):
            return super().risky_rule(name, types, columns)
        body = self.body()
        body.atom(list(self.columns))
        (atom,) = (literal for literal in body.literals if isinstance(literal, Atom))
        operation: Any = self._risky_sum(body, atom) if self.choose.chance(35) else None
        operation = operation or risky_term(body)
        if operation is None:
            return Rule((self.head(name, types, body, columns),), tuple(body.literals))
        # Other variables and constants of the atom would be judged after the operation in one order and before it in another.
        used = set(self._used(operation))
        terms = tuple(term if isinstance(term, Var) and term.name in used else Blank() for term in atom.terms)
        literals: list[Literal] = [Atom(atom.predicate, terms)]
        head: list[Term] = []
        for wanted in types:
            fits = wanted == operation.type and operation not in head
            head.append(operation if fits else constant(self.choose, wanted)[0])
        if operation not in head:
            literals.append(Compare("!=", operation, constant(self.choose, operation.type)[0]))
        widen(columns, name, tuple(full(wanted) for wanted in types))
        return Rule((Atom(name, tuple(head)),), tuple(literals))

    def _risky_sum(self, body: RichBody, atom: Atom) -> Agg | None:
        """The sum or the product of what stands in one column of the atom, for each value in another."""
        integer = [name for name, column in body.scope.items() if column.is_integer]
        if not integer:
            return None
        summed = self.choose.pick(integer)
        groups = [name for name in body.scope if name != summed][:1]
        terms = tuple(term if term in (Var(summed), *map(Var, groups)) else Blank() for term in atom.terms)
        if terms.count(Var(summed)) != 1:
            return None
        inside = tuple(Var("inner") if term == Var(summed) else term for term in terms)
        argument: Term = Var("inner")
        return Agg(self.choose.pick(("sum", "product")), (argument,), (Atom(atom.predicate, inside),), body.scope[summed].type)

    def _used(self, operation: Any) -> Iterator[str]:
        """The variables of the operation that the rule's own atom has to bind."""
        if isinstance(operation, Agg):
            yield from (term.name for literal in operation.body for term in literal.terms if isinstance(term, Var) and term.name != "inner")  # type: ignore[union-attr]
        else:
            yield from (term.name for term in operation.arguments if isinstance(term, Var))
