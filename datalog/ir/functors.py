"""Functors that a program declares and does not hold: `.functor f(x: number): symbol`, called `@f(x)`.

What they compute is bound from outside (`datalog.functors`). They are pure, as all functions that rules call: what one gave is kept.
An aggregate of the user's own, `@@f x : initial, { … }`, folds values by a functor of two arguments: the value so far, and the next.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from datalog.ir.core import Apply, CoreRule, Expression, Stratum, Type
from datalog.ir.primitives import AGGREGATES, CALL, PRIMITIVES, AggregateFunction, Primitive, Slot, is_fold
from datalog.syntax.tree import NOWHERE, Span


@dataclass(frozen=True, slots=True)
class Functor:
    """A declaration. `stateful`: a function of a shared library is given the tables of symbols and records, too. The names are those of
    the types as declared, the result's last."""

    name: str
    arguments: tuple[Type, ...]
    result: Type
    stateful: bool = False
    span: Span = field(default=NOWHERE, compare=False)
    type_names: tuple[str, ...] = field(default=(), compare=False)

    @property
    def primitive(self) -> Primitive:
        """What terms may call."""
        arguments = tuple(Slot(frozenset({type_})) for type_ in self.arguments)
        return Primitive(f"{CALL}{self.name}", arguments, Slot(frozenset({self.result})))


def with_functors(functors: Mapping[str, Functor]) -> dict[str, tuple[Primitive, ...]]:
    """The primitives that terms may call because of declarations."""
    return {f"{CALL}{name}": (functor.primitive,) for name, functor in functors.items()}


def folded_by(name: str, primitives: Mapping[str, tuple[Primitive, ...]]) -> tuple[Primitive, ...]:
    """What an aggregate of the user's own may fold by: the functor of its name, or else a Python function that tells its types."""
    functor = name.removeprefix(CALL)
    own = functor.removeprefix(CALL)
    return primitives.get(functor, () if own in PRIMITIVES else primitives.get(own, ()))


def aggregate_of(name: str, primitives: Mapping[str, tuple[Primitive, ...]]) -> AggregateFunction | None:
    """The aggregate of a name; one of the user's own folds by the functor or function of that name, if it is of two arguments."""
    if not is_fold(name):
        return AGGREGATES.get(name)
    for primitive in folded_by(name, primitives):
        if len(primitive.arguments) == 2 and primitive.arguments[0].types == primitive.result.types:
            return AggregateFunction(name, primitive.arguments, primitive.result)
    return None


def called_in(rules: Iterable[CoreRule], strata: Iterable[Stratum] = ()) -> set[str]:
    """The names of the functors that rules and aggregates call."""
    names = {name for rule in rules for name in _called_by(rule)}
    functions = (function.name for stratum in strata for aggregate in stratum.aggregates for function in aggregate.functions)
    return {name.removeprefix(CALL).removeprefix(CALL) for name in (*names, *functions) if name.startswith(CALL)}


def _called_by(rule: CoreRule) -> Iterator[str]:
    for binding in rule.bindings:
        yield from _called(binding.expression)
    for test in rule.filters:
        yield from _called(test.left)
        yield from _called(test.right)


def _called(expression: Expression) -> Iterator[str]:
    if isinstance(expression, Apply):
        yield expression.name
        for argument in expression.arguments:
            yield from _called(argument)
