"""Primitives and aggregates by name: what they take and what they give. What they compute is told by
`datalog.kernels.expressions` and `datalog.evaluate.primitives`, and for aggregates by `datalog.evaluate.aggregates`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from datalog.ir.core import PyValue, Type
from datalog.ir.structures import is_structural

Allowed = frozenset[Type]

ANY: Allowed = frozenset(Type.ALL)
WHOLE: Allowed = frozenset({Type.NUMBER, Type.UNSIGNED})
PLAIN: Allowed = WHOLE | {Type.FLOAT}
DECIMALS: Allowed = frozenset(Type.DECIMALS)
NUMERIC: Allowed = PLAIN | DECIMALS
TIMES: Allowed = frozenset({Type.DATE, Type.DATETIME})


@dataclass(frozen=True, slots=True)
class Slot:
    """The types that an argument or a result may have. Those slots of one signature that are `same` have one type in common.
    `parts`: records and values of algebraic types are taken, too."""

    types: Allowed
    same: bool = False
    parts: bool = False


@dataclass(frozen=True, slots=True)
class Primitive:
    """A function of values. A `variadic` one takes its last argument any number of times, at least once.

    `total`: it has a value for all arguments. `generates`: it has any number of values, and stands only in `x = …`.
    """

    name: str
    arguments: tuple[Slot, ...]
    result: Slot
    variadic: bool = False
    total: bool = False
    generates: bool = False

    def slots(self, count: int) -> tuple[Slot, ...] | None:
        """The slots of `count` arguments; None if it does not take so many."""
        missing = count - len(self.arguments)
        if missing == 0:
            return self.arguments
        return (*self.arguments, *self.arguments[-1:] * missing) if self.variadic and missing > 0 else None


@dataclass(frozen=True, slots=True)
class AggregateFunction:
    """A function of the rows of a group. `empty` is what it gives for a group without rows where the group is bound outside;
    None: nothing. `parameter`: its last argument is a constant and not a term over the rows. `picks`: in the order of its first
    argument's values it picks one row, or a few."""

    name: str
    arguments: tuple[Slot, ...]
    result: Slot
    empty: PyValue | None = None
    parameter: bool = False
    picks: bool = False


def _one(*types: Type) -> Slot:
    return Slot(frozenset(types))


def _same(types: Iterable[Type]) -> Slot:
    return Slot(frozenset(types), same=True)


_NUMBER, _UNSIGNED, _FLOAT, _SYMBOL, _BOOL = map(_one, (Type.NUMBER, Type.UNSIGNED, Type.FLOAT, Type.SYMBOL, Type.BOOL))
_DATE, _DATETIME = _one(Type.DATE), _one(Type.DATETIME)
_LOGICAL = WHOLE | {Type.BOOL}

ORDER = "#order"  # of a symbol: a number that orders symbols as far as their first eight bytes tell; the engine's own

CALL = "@"  # before the name of a functor of the user's own in a term, and twice in an aggregate

CAST = "#as"  # takes the 64 bits of a value for one of another type; written as(x, type)

AUTOINC = "autoinc"  # a number of a rule's binding; rewriting leaves none of it

PRIMITIVES: dict[str, tuple[Primitive, ...]] = {}
for _primitive in (
    Primitive("+", (_same(NUMERIC | {Type.SYMBOL}),) * 2, _same(NUMERIC | {Type.SYMBOL})),  # of symbols: `cat`, which it is analysed to
    *(Primitive(name, (_same(NUMERIC),) * 2, _same(NUMERIC)) for name in ("-", "*", "/")),
    Primitive("%", (_same(WHOLE | DECIMALS),) * 2, _same(WHOLE | DECIMALS)),
    Primitive("^", (_same(PLAIN),) * 2, _same(PLAIN)),
    Primitive("neg", (_same(NUMERIC),), _same(NUMERIC)),
    Primitive("abs", (_same(NUMERIC),), _same(NUMERIC)),
    *(Primitive(name, (_same(WHOLE),) * 2, _same(WHOLE), total=True) for name in ("band", "bor", "bxor", "bshl", "bshr", "bshru")),
    Primitive("bnot", (_same(WHOLE),), _same(WHOLE), total=True),
    *(Primitive(name, (_same(_LOGICAL),) * 2, _same(_LOGICAL), total=True) for name in ("land", "lor", "lxor")),
    Primitive("lnot", (_same(_LOGICAL),), _same(_LOGICAL), total=True),
    *(Primitive(name, (_same(ANY),) * 2, _same(ANY), variadic=True, total=True) for name in ("min", "max")),
    Primitive("range", (_same(NUMERIC),) * 2, _same(NUMERIC), generates=True),
    Primitive("range", (_same(NUMERIC),) * 3, _same(NUMERIC), generates=True),
    Primitive(AUTOINC, (), _NUMBER, total=True),
    Primitive("to_number", (Slot(ANY),), _NUMBER),
    Primitive("to_unsigned", (Slot(NUMERIC | {Type.SYMBOL, Type.BOOL}),), _UNSIGNED),
    Primitive("to_float", (Slot(NUMERIC | {Type.SYMBOL, Type.BOOL}),), _FLOAT),
    Primitive("to_decimal", (Slot(NUMERIC | {Type.SYMBOL}),), Slot(DECIMALS)),
    Primitive("to_decimal", (Slot(NUMERIC | {Type.SYMBOL}), Slot(ANY)), Slot(DECIMALS)),  # the scale, which the result's type takes in
    Primitive("to_string", (Slot(ANY, parts=True),), _SYMBOL, total=True),
    Primitive("to_bool", (Slot(WHOLE | {Type.SYMBOL}),), _BOOL),
    Primitive("to_date", (_one(Type.NUMBER, Type.SYMBOL, Type.DATETIME),), _DATE),
    Primitive("to_datetime", (_one(Type.NUMBER, Type.SYMBOL, Type.DATE),), _DATETIME),
    *(Primitive(name, (Slot(TIMES),), _NUMBER, total=True) for name in ("year", "month", "day")),
    Primitive("add_days", (_DATE, _NUMBER), _DATE),
    Primitive("days_between", (_DATE, _DATE), _NUMBER, total=True),
    Primitive("add_seconds", (_DATETIME, _NUMBER), _DATETIME),
    Primitive("seconds_between", (_DATETIME, _DATETIME), _NUMBER, total=True),
    Primitive("cat", (_SYMBOL, _SYMBOL), _SYMBOL, variadic=True, total=True),
    Primitive("strlen", (_SYMBOL,), _NUMBER, total=True),
    Primitive("substr", (_SYMBOL, _NUMBER, _NUMBER), _SYMBOL, total=True),
    *(Primitive(name, (_SYMBOL,), _SYMBOL, total=True) for name in ("lower", "upper", "trim")),
    Primitive("replace", (_SYMBOL,) * 3, _SYMBOL, total=True),
    Primitive("ord", (Slot(ANY - {Type.UNSIGNED, Type.FLOAT}, parts=True),), _NUMBER, total=True),
    Primitive(ORDER, (_SYMBOL,), _NUMBER, total=True),
    Primitive("contains", (_SYMBOL, _SYMBOL), _BOOL, total=True),
    Primitive("match", (_SYMBOL, _SYMBOL), _BOOL),
):
    PRIMITIVES[_primitive.name] = (*PRIMITIVES.get(_primitive.name, ()), _primitive)

GENERATORS = frozenset(name for name, found in PRIMITIVES.items() if any(primitive.generates for primitive in found))

AGGREGATES: dict[str, AggregateFunction] = {
    function.name: function
    for function in (
        AggregateFunction("count", (), _NUMBER, empty=0),
        AggregateFunction("sum", (_same(NUMERIC),), _same(NUMERIC), empty=0),
        AggregateFunction("mean", (Slot(NUMERIC),), _FLOAT),
        *(AggregateFunction(name, (_same(ANY),), _same(ANY), picks=True) for name in ("min", "max", "median")),
        *(AggregateFunction(name, (Slot(ANY), _same(ANY)), _same(ANY), picks=True) for name in ("argmin", "argmax")),
        AggregateFunction("quantile", (_same(ANY), _FLOAT), _same(ANY), parameter=True, picks=True),
        AggregateFunction("product", (_same(PLAIN),), _same(PLAIN)),
        *(AggregateFunction(name, (_same(WHOLE),), _same(WHOLE)) for name in ("bitand", "bitor", "bitxor")),
        AggregateFunction("collect", (Slot(ANY, parts=True),), _SYMBOL),
        AggregateFunction("join", (Slot(ANY, parts=True), _SYMBOL), _SYMBOL, parameter=True),
    )
}


FOLD = AggregateFunction("@@", (Slot(ANY, parts=True), Slot(ANY, parts=True)), Slot(ANY))  # `@@f`: the initial value, and the value


def aggregate_named(name: str) -> AggregateFunction:
    """An aggregate that there is; of one of the user's own only as far as all such are alike."""
    return FOLD if is_fold(name) else AGGREGATES[name]


def is_fold(name: str) -> bool:
    """Whether an aggregate is one of the user's own."""
    return name.startswith(FOLD.name)


def always_has_value(name: str, arguments: Sequence[Type], result: Type) -> bool:
    """Whether a primitive has a value for all arguments of these types; a user's function never is taken to have."""
    if name == CAST or is_structural(name):
        return True
    if name not in PRIMITIVES or not arguments:
        return False
    source = arguments[0]
    match name:
        case "+" | "-" | "*" | "^" | "neg" | "abs":
            return source in (Type.FLOAT, Type.UNSIGNED)
        case "to_number":
            return source not in (Type.UNSIGNED, Type.FLOAT, Type.SYMBOL)
        case "to_unsigned":
            return source in (Type.UNSIGNED, Type.BOOL)
        case "to_float" | "to_bool":
            return source is not Type.SYMBOL
        case "to_decimal":
            return source.scale >= result.scale
        case _:
            return all(primitive.total for primitive in PRIMITIVES[name])
