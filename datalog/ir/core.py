"""Core rules: what the planner takes.

A core rule is one head atom and a flat conjunction. Every term of an atom is a variable (an index into the rule's
`variables`) or a wildcard (None); constants and expressions have become variables with a binding; disjunctions have
become several rules; negated groups have become negated helper predicates. No variable stands twice in one atom.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any, ClassVar

from datalog.ir.branch import Branch
from datalog.ir.demand import Version
from datalog.syntax.tree import Directive, Span

PyValue = int | float | str | bool | date | Decimal | tuple[Any, ...] | Branch | None  # a datetime is a date, too, for Python
Row = tuple[PyValue, ...]


class Type:
    """The primitive type that a value's code is made by; subtypes have been resolved to it. There is one object for each type.

    `scale` is a decimal's, and -1 for all others. Python's forms: int for number and unsigned, float, str for symbol, bool,
    `datetime.date`, `datetime.datetime` in UTC, and `decimal.Decimal` for decimal(s), which has exactly s digits behind the point.
    Types whose values have parts are told by `datalog.ir.structures`.
    """

    __slots__ = ("scale", "value")

    NUMBER: ClassVar[Type]
    UNSIGNED: ClassVar[Type]
    FLOAT: ClassVar[Type]
    SYMBOL: ClassVar[Type]
    BOOL: ClassVar[Type]
    DATE: ClassVar[Type]
    DATETIME: ClassVar[Type]
    DECIMALS: ClassVar[tuple[Type, ...]]  # by scale, from 0 to 18
    ALL: ClassVar[tuple[Type, ...]]  # in the order in which an open type is decided

    def __init__(self, value: str, scale: int = -1) -> None:
        self.value, self.scale = value, scale

    def __repr__(self) -> str:
        return f"<{self.value}>"

    def __reduce__(self) -> tuple[object, ...]:
        return _type_named, (self.value,)


Type.NUMBER, Type.UNSIGNED, Type.FLOAT, Type.SYMBOL = Type("number"), Type("unsigned"), Type("float"), Type("symbol")
Type.BOOL, Type.DATE, Type.DATETIME = Type("bool"), Type("date"), Type("datetime")
Type.DECIMALS = tuple(Type(f"decimal({scale})", scale) for scale in range(19))
Type.ALL = (Type.NUMBER, Type.UNSIGNED, Type.FLOAT, Type.SYMBOL, Type.BOOL, Type.DATE, Type.DATETIME, *Type.DECIMALS)
_NAMED = {type_.value: type_ for type_ in Type.ALL}


def _type_named(name: str) -> Type:
    return _NAMED[name]


@dataclass(frozen=True, slots=True)
class Reference:
    """The value of the rule's variable number `variable`."""

    variable: int
    type: Type


@dataclass(frozen=True, slots=True)
class Value:
    """A constant, in Python's form of its type."""

    value: PyValue
    type: Type


@dataclass(frozen=True, slots=True)
class Apply:
    """A primitive applied to arguments (`datalog.ir.primitives`); `type` is the result's, each argument has its own."""

    name: str
    arguments: tuple[Expression, ...]
    type: Type
    span: Span


Expression = Reference | Value | Apply


@dataclass(frozen=True, slots=True)
class CoreAtom:
    """A positive or negated atom over distinct variables; None is a wildcard."""

    predicate: str
    columns: tuple[int | None, ...]
    negated: bool
    span: Span


@dataclass(frozen=True, slots=True)
class CoreBinding:
    """variable = expression. It gives the variable its value, or checks it where the variable has one already.

    An expression that is `range` at its root gives it each of several values. An `inverse` binding only gives the variable a
    value, the one candidate for which another binding or filter of the rule can hold, and where the expression has no value
    there is no candidate; it is no check, and nothing else binds the variable."""

    variable: int
    expression: Expression
    span: Span
    inverse: bool = False


@dataclass(frozen=True, slots=True)
class CoreFilter:
    """left operator right, with operator one of = != < <= > >=; both sides have the same type."""

    operator: str
    left: Expression
    right: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class ForcedOrder:
    """The order in which somebody wants a rule's variables bound. `full` is for the full evaluation (None: the planner's choice),
    `deltas` for the delta plans, by the number of the given atom, whose variables always come first.

    `exact`: variables that an expression computes come where the order has them, and else as soon as they can be computed.
    `by` is how it was said, `.plan` or `--set`; `ignored` says why a `.plan` does not apply."""

    by: str
    full: tuple[int, ...] | None = None
    deltas: dict[int, tuple[int, ...]] = field(default_factory=dict)
    exact: bool = False
    ignored: str = ""


# What the names of the engine's own predicates end with that stand beside one of the program's.
BASE = "@base"  # its given rows, if it is derived
ALL = "@all"  # all that it is given or derives, where some of it is left
CHOSEN = "@chosen"  # what choice domains leave of that
SUBSUMED = "@subsumed"  # the rows that others dominate
PAIRS = "@pairs"  # what an equivalence is the closure of
SOME = "@some"  # whether it has any row
QUERY = "?query"  # the head of a query's rule; the names of its helpers begin so
ROUND = "@round"  # has one row, the number of the round, while a guarded stratum is evaluated


@dataclass(frozen=True, slots=True)
class CoreRule:
    """`head(head_columns) ← atoms, bindings, filters`; `variables` are names for people, unique in the rule."""

    head: str
    head_columns: tuple[int, ...]
    variables: tuple[str, ...]
    types: tuple[Type, ...]
    atoms: tuple[CoreAtom, ...]
    bindings: tuple[CoreBinding, ...]
    filters: tuple[CoreFilter, ...]
    span: Span
    text: str  # the rule as its author wrote it, on one line
    forced: ForcedOrder | None = None

    @property
    def projection(self) -> tuple[int, ...] | None:
        """The columns of the body's only atom that the head takes, where the rule does nothing but copy rows; else None."""
        if len(self.atoms) != 1 or self.atoms[0].negated or None in self.atoms[0].columns or self.bindings or self.filters:
            return None
        return tuple(self.atoms[0].columns.index(variable) for variable in self.head_columns)


@dataclass(frozen=True, slots=True)
class CoreFunction:
    """One function of an aggregate, said at `span`.

    `types` are those of the arguments: the value; of argmin and argmax the compared value and the witness. `ordered`: the
    first argument is a symbol, and a number that orders symbols (`datalog.ir.primitives`, `#order`) stands as a column before it.
    `parameter` is the fraction of a quantile or the separator of a join. With `wraps` a result that leaves 64 bits wraps around.
    """

    name: str
    types: tuple[Type, ...]
    result: Type
    span: Span
    ordered: bool = False
    parameter: PyValue | None = None
    wraps: bool = False


@dataclass(frozen=True, slots=True)
class CoreAggregate:
    """head(groups…, [low, high,] results…) = functions over the rows of `source` in the group, each as often as it has derivations.

    `source`(groups…, [key,] arguments…) is a counted predicate of the engine's own. Without `needs` there is a head row for each
    group that has a source row. With it, there is one for each row of `needs`(groups…, [low,] [high]) whose group has a source row
    with a key in the interval: key `low` low and key `high` high, with `low` one of > >= and `high` one of < <=, or "": no such
    bound and no such column, neither in `needs` nor in `head`.

    Functions of one aggregate have the same arguments, or none. Where all that the source would do is copy `columns` of another
    predicate, its `origin`, the rows are read there, each as one that has one derivation, and the source is empty.

    One that is `asked` by a predicate of groups is in the stratum of that, which its only rules for `source` have as a premise: when
    a group comes in, all its source rows come, and its head row, with `empty` for a result if there are none. Without `empty`, there
    is no head row then.
    """

    head: str
    source: str
    groups: int
    functions: tuple[CoreFunction, ...]
    text: str
    needs: str = ""
    low: str = ""
    high: str = ""
    origin: str = ""
    columns: tuple[int, ...] = ()
    asked: str = ""
    empty: PyValue | None = None

    @property
    def read(self) -> str:
        """The predicate whose rows it goes over."""
        return self.origin or self.source

    @property
    def keys(self) -> int:
        """How many columns the head has before the results."""
        return self.groups + bool(self.low) + bool(self.high)


@dataclass(frozen=True, slots=True)
class CoreNumbering:
    """head(row…, n) for the rows of `source` in the order of their values, with every `each`-th number n, from that on where the
    numberings of the sources `before` end, of which each has its own `each`.

    `source` is a predicate of the engine's own; `span` is the place of an `autoinc()`, and `text` its rule."""

    head: str
    source: str
    each: int
    text: str
    span: Span
    before: tuple[tuple[str, int], ...] = ()

    @property
    def reads(self) -> tuple[str, ...]:
        return (self.source, *(source for source, _ in self.before))


@dataclass(frozen=True, slots=True)
class CoreClosure:
    """head = the least equivalence on the elements of `pairs` that holds them; `span` is where head is declared.

    `head` has no rules. `pairs` is a predicate of the engine's own, in the stratum of `head` if the two depend on each other."""

    head: str
    pairs: str
    span: Span


@dataclass(frozen=True, slots=True)
class Predicate:
    """A predicate's signature. `derived` (IDB) or given (EDB), never both: the given rows of a derived predicate p lie in
    `base`, a given predicate of the same signature, and a core rule copies them. `hidden` predicates are the engine's own.
    A nullary predicate has no attributes and no types, and is stored with one column of type NUMBER that always holds 0.
    A functional predicate has one value, its last column, for each key, the columns before it. `choices` are the columns of keys of
    which each has one row."""

    name: str
    attributes: tuple[str, ...]
    types: tuple[Type, ...]
    derived: bool
    hidden: bool = False
    base: str = ""
    functional: bool = False
    choices: tuple[tuple[int, ...], ...] = ()

    @property
    def nullary(self) -> bool:
        return not self.attributes

    @property
    def width(self) -> int:
        """How many columns are stored."""
        return len(self.types) or 1


@dataclass(frozen=True, slots=True)
class Guard:
    """What decides, beside the rules, which rows stand; by predicate. A stratum that has one is evaluated by rounds
    (`datalog.evaluate.guarded`), and rounds are what some of it is about.

    `choices`: the keys, by columns, of which each has one row. `subsumed`: the hidden predicate of rows that others dominate.
    `limits`: the number of rows with which the recursion ends. `deltas`: for a predicate of rows with their rounds, whose rows
    these are. `counted`: rules read the number of the round. `rounds`: the predicates that are evaluated by rounds for any of this."""

    choices: Mapping[str, tuple[tuple[int, ...], ...]] = field(default_factory=dict)
    subsumed: Mapping[str, str] = field(default_factory=dict)
    limits: Mapping[str, int] = field(default_factory=dict)
    deltas: Mapping[str, str] = field(default_factory=dict)
    counted: bool = False
    rounds: frozenset[str] = frozenset()

    @property
    def predicates(self) -> frozenset[str]:
        return frozenset((*self.choices, *self.subsumed, *self.limits, *self.deltas))

    def of(self, predicates: Collection[str], counted: bool) -> Guard | None:
        """What concerns some predicates alone, if anything does."""
        own = Guard(
            {name: keys for name, keys in self.choices.items() if name in predicates},
            {name: hidden for name, hidden in self.subsumed.items() if name in predicates},
            {name: limit for name, limit in self.limits.items() if name in predicates},
            {name: whose for name, whose in self.deltas.items() if name in predicates},
            counted,
        )
        return own if own.predicates or counted else None


NO_GUARD = Guard()


@dataclass(frozen=True, slots=True)
class Stratum:
    """One strongly connected component of the dependency graph; strata are listed dependencies first.

    An aggregate's head is a stratum of its own, which has no rules, and so is that of a numbering. A source that is not made is in no
    stratum. `closures` are those of its predicates that are equivalences; one that takes part in no recursion is a stratum of its own,
    too. `asked` are its aggregates that are asked; such a stratum has a guard."""

    predicates: tuple[str, ...]
    rules: tuple[int, ...]  # indices into CoreProgram.rules
    recursive: bool
    aggregate: CoreAggregate | None = None
    closures: tuple[CoreClosure, ...] = ()
    numbering: CoreNumbering | None = field(default=None, kw_only=True)
    guard: Guard | None = None
    asked: tuple[CoreAggregate, ...] = ()

    @property
    def stamped(self) -> tuple[str, ...]:
        """The predicates whose rows carry the numbers of the rounds that found them."""
        sources = {aggregate.source for aggregate in self.asked}
        return tuple(name for name in self.predicates if name not in sources) if self.recursive or self.guard is not None else ()

    @property
    def aggregates(self) -> tuple[CoreAggregate, ...]:
        """That whose stratum it is, or those that are asked in it."""
        return self.asked if self.aggregate is None else (self.aggregate,)


@dataclass(frozen=True, slots=True)
class CoreProgram:
    """Everything that evaluation needs. `facts` holds the ground facts of the text, in Python values, per given predicate.

    With `wraps` arithmetic is that of the machine: numbers wrap around, and a float divided by zero is infinite or NaN.
    `demanded` are the predicates on demand, which have no rows themselves, with their versions; `inline` ones are in no rule any more."""

    predicates: dict[str, Predicate]
    rules: tuple[CoreRule, ...]
    strata: tuple[Stratum, ...]
    facts: dict[str, list[Row]]
    directives: tuple[Directive, ...]
    wraps: bool = False
    demanded: Mapping[str, tuple[Version, ...]] = field(default_factory=dict)
    inline: frozenset[str] = frozenset()

    @property
    def unmade(self) -> frozenset[str]:
        """The sources of aggregates that no rows are kept for."""
        return frozenset(stratum.aggregate.source for stratum in self.strata if stratum.aggregate is not None and stratum.aggregate.origin)
