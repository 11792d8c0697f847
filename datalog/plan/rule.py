"""The plan of one rule: its variable order, and what takes part at each depth.

A plan does not know trees yet: it asks for columns (`requests`), and `encode` fills in the arrangements.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from datalog.ir.core import Apply, CoreAtom, CoreBinding, CoreFilter, CoreRule, Expression, Reference, Type, Value
from datalog.plan.arrangements import Columns
from datalog.plan.forced import forced_order
from datalog.plan.order import Statistics, generates, is_fallible, variable_order, variables_of

FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True, slots=True)
class AtomPlan:
    """An atom as the join reads it: `columns` of the arrangement from its first on, `depths` of the variables there."""

    number: int  # in the rule's body
    predicate: str
    columns: Columns
    depths: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Watch:
    """What a sensitivity record of one (atom, level) is keyed by: (α, a, γ), with α and γ given as depths."""

    atom: AtomPlan
    level: int
    depth: int
    above: tuple[int, ...]  # α
    others: tuple[int, ...]  # γ


@dataclass(frozen=True, slots=True)
class Bound:
    """depth's variable `operator` expression, known on entering the depth."""

    operator: str
    expression: Expression


@dataclass(frozen=True, slots=True)
class DepthPlan:
    """One variable: joined over `iterators` (atom, level), or computed by `binding` and then looked up in them."""

    variable: int
    binding: CoreBinding | None
    iterators: tuple[tuple[AtomPlan, int], ...]
    bounds: tuple[Bound, ...]
    filters: tuple[CoreFilter, ...]
    negations: tuple[AtomPlan, ...]
    fallible: tuple[CoreFilter, ...]  # filters that may fail; made last


@dataclass(frozen=True, slots=True)
class RulePlan:
    """`given` is the number of the atom whose rows come as prefixes (a delta plan), or -1. Stamps of rows of the atoms in
    `stamped` count: they must be `older` than the prefix says (a support plan), or are there to be reported.

    `late[d, k]` judges a computation that had no value at depth d: with the first k variables as prefix, it makes all
    computations from depth d on after everything else. The failure is an error only if the late plan fails, too: whether
    a program fails does not depend on the order in which a rule's literals are taken.
    """

    rule: CoreRule
    given: int
    stamped: frozenset[int]
    older: bool
    order: tuple[int, ...]
    depths: tuple[DepthPlan, ...]
    positive: tuple[AtomPlan, ...]
    negated: tuple[AtomPlan, ...]  # in the order of their depths
    late: dict[tuple[int, int], RulePlan]

    @property
    def projection(self) -> Columns | None:
        """The columns of the only atom that the head takes, where a rule does nothing but copy rows; else None."""
        return self.rule.projection

    @property
    def given_columns(self) -> Columns:
        """The columns of the given atom that have variables, in the order of these in the plan."""
        columns = self.rule.atoms[self.given].columns
        own = {variable for variable in columns if variable is not None}
        return tuple(columns.index(variable) for variable in self.order[: len(own)])

    @property
    def requests(self) -> list[tuple[str, Columns]]:
        own = [(atom.predicate, atom.columns) for atom in (*self.positive, *self.negated)]
        return own + [request for plan in self.late.values() for request in plan.requests]

    def watches(self) -> list[Watch]:
        """The record kinds in the kernel's numbering: iterators by depth, then negated atoms."""
        found = [_watch(atom, level, depth) for depth, plan in enumerate(self.depths) for atom, level in plan.iterators]
        return found + [_watch(atom, len(atom.depths) - 1, atom.depths[-1]) for atom in self.negated]


def _watch(atom: AtomPlan, level: int, depth: int) -> Watch:
    above = atom.depths[:level]
    return Watch(atom, level, depth, above, tuple(d for d in range(depth) if d not in above))


def plan_rule(rule: CoreRule, statistics: Statistics, order: Sequence[int] | None = None) -> RulePlan:
    """Plan the full evaluation of `rule`, in the variable order that is forced on it; `order` is another one, for tests."""
    if order is None:
        forced = rule.forced
        if forced is not None and forced.full is not None:
            order = forced_order(rule, forced.full, forced.exact)
        else:
            order = variable_order(rule, statistics)
    return _with_late(plan_in_order(rule, order), statistics, 0)


def plan_delta(rule: CoreRule, statistics: Statistics, given: int, recursive: Collection[str] = (), joined_first: bool = False) -> RulePlan:
    """Plan `rule` for changes of its atom number `given`: the atom's variables come first, its rows are the prefixes.

    They stand as in the atom, or with `joined_first` those in front that other atoms have, too, so that what sorted prefixes have in
    common is looked for once. For a negated atom, the rows are those that changed the atom's truth; the atom itself is not
    checked again. Stamps are there to be reported for those atoms of `recursive` predicates that bind all their columns: stamps
    belong to rows.
    """
    first = [v for v in rule.atoms[given].columns if v is not None]
    stamped = frozenset(
        number
        for number, atom in enumerate(rule.atoms)
        if number != given and not atom.negated and atom.predicate in recursive and None not in atom.columns
    )
    forced = rule.forced
    if forced is not None and given in forced.deltas:
        order = forced_order(rule, forced.deltas[given], forced.exact, first, given)
    else:
        if joined_first:
            others = {v for number, atom in enumerate(rule.atoms) if number != given for v in atom.columns}
            first.sort(key=lambda v: v not in others)
        order = variable_order(rule, statistics, first, given)
    return _with_late(plan_in_order(rule, order, given, stamped), statistics, len(first))


def plan_support(rule: CoreRule, statistics: Statistics, recursive: Collection[str]) -> RulePlan:
    """Plan the search for derivations of given head rows: the head's variables come first.

    The positive atoms of `recursive` predicates are stamped, bind all their columns, since stamps belong to rows, and hold
    only for rows that are not suspected (`suspects_of`). A computation without a value is no derivation; nothing judges it.
    """
    variables, types = list(rule.variables), list(rule.types)
    atoms: list[CoreAtom] = []
    for atom in rule.atoms:
        columns = list(atom.columns)
        for column, variable in enumerate(columns):
            if variable is None and atom.predicate in recursive:
                columns[column] = len(variables)
                variables.append(f"_{len(variables)}")
                types.append(Type.NUMBER)  # never decoded
        atoms.append(replace(atom, columns=tuple(columns)))
    stamped = frozenset(number for number, atom in enumerate(atoms) if atom.predicate in recursive)
    atoms += [replace(atoms[number], predicate=suspects_of(atoms[number].predicate), negated=True) for number in sorted(stamped)]
    full = replace(rule, variables=tuple(variables), types=tuple(types), atoms=tuple(atoms))
    return plan_in_order(full, variable_order(full, statistics, rule.head_columns), stamped=stamped, older=True)


def suspects_of(predicate: str) -> str:
    """The engine's own relation of a recursive predicate's rows that are under suspicion."""
    return f"{predicate}@suspects"


def _with_late(plan: RulePlan, statistics: Statistics, prefix: int) -> RulePlan:
    """The plan with the late plans of all its computations that may fail; `prefix` variables are always given."""
    for depth, at in enumerate(plan.depths):
        early = [bound.expression for bound in at.bounds] + ([at.binding.expression] if at.binding and not at.binding.inverse else [])
        for known, fails in ((depth, any(map(is_fallible, early))), (depth + 1, bool(at.fallible))):
            if fails:
                plan.late[depth, max(known, prefix)] = _late(plan, statistics, depth, max(known, prefix))
    return plan


def _late(plan: RulePlan, statistics: Statistics, depth: int, known: int) -> RulePlan:
    rule = plan.rule
    depth_of = {variable: place for place, variable in enumerate(plan.order)}
    postponed = frozenset(
        number
        for number, binding in enumerate(rule.bindings)
        if not binding.inverse
        and is_fallible(binding.expression)
        and max(depth_of[v] for v in (binding.variable, *variables_of(binding.expression))) >= depth
    )
    order = variable_order(rule, statistics, plan.order[:known], plan.given, postponed)
    return plan_in_order(rule, order, plan.given, postponed=postponed, joined_until=depth)


def plan_in_order(
    rule: CoreRule,
    order: Sequence[int],
    given: int = -1,
    stamped: frozenset[int] = frozenset(),
    older: bool = False,
    postponed: Collection[int] = (),
    joined_until: int | None = None,
) -> RulePlan:
    """The plan of `rule` in this variable order, without late plans; `postponed` and `joined_until` are for `_place_checks`."""
    depth_of = {variable: depth for depth, variable in enumerate(order)}
    atoms = {number: _atom_plan(rule, number, depth_of) for number in range(len(rule.atoms)) if number != given}
    # In an order that does not depend on how the body was written.
    placed = sorted(atoms.values(), key=lambda atom: (atom.depths[-1], atom.predicate, atom.columns, atom.depths))
    positive = tuple(atom for atom in placed if not rule.atoms[atom.number].negated)
    negated = tuple(atom for atom in placed if rule.atoms[atom.number].negated)
    joined = {depth for atom in positive for depth in atom.depths}
    checks = _place_checks(rule, depth_of, joined, postponed, joined_until)
    depths = tuple(
        DepthPlan(
            variable,
            checks.bindings.get(depth),
            tuple((atom, atom.depths.index(depth)) for atom in positive if depth in atom.depths),
            tuple(checks.bounds.get(depth, ())),
            tuple(checks.filters.get(depth, ())),
            tuple(atom for atom in negated if atom.depths[-1] == depth),
            tuple(checks.fallible.get(depth, ())),
        )
        for depth, variable in enumerate(order)
    )
    return RulePlan(rule, given, stamped, older, tuple(order), depths, positive, negated, {})


def _atom_plan(rule: CoreRule, number: int, depth_of: dict[int, int]) -> AtomPlan:
    atom = rule.atoms[number]
    placed = sorted((depth_of[variable], column) for column, variable in enumerate(atom.columns) if variable is not None)
    return AtomPlan(number, atom.predicate, tuple(column for _, column in placed), tuple(depth for depth, _ in placed))


@dataclass(frozen=True, slots=True)
class _Checks:
    """Bindings and filters by the depth at which they are made."""

    bindings: dict[int, CoreBinding]
    bounds: dict[int, list[Bound]]
    filters: dict[int, list[CoreFilter]]
    fallible: dict[int, list[CoreFilter]]

    def add(self, depth: int, check: CoreFilter, late: int | None) -> None:
        """Make a check at `depth`, or at the depth `late` if it may fail and is to be late."""
        if not (is_fallible(check.left) or is_fallible(check.right)):
            self.filters.setdefault(depth, []).append(check)
        else:
            self.fallible.setdefault(depth if late is None else late, []).append(check)


def _place_checks(
    rule: CoreRule, depth_of: dict[int, int], joined: Collection[int], postponed: Collection[int], late_from: int | None
) -> _Checks:
    """Each binding and filter at the first depth at which its variables are bound; from depth `late_from` on, those that
    may fail at the last depth, but for `postponed` bindings of variables that no atom binds (`joined`: depths that one does)."""
    checks = _Checks({}, {}, {}, {})
    last = len(depth_of) - 1
    # In an order that does not depend on how the body was written.
    for number, binding in sorted(enumerate(rule.bindings), key=lambda one: _preference(one[1], depth_of)):
        depth = depth_of[binding.variable]
        known = max((depth_of[v] for v in variables_of(binding.expression)), default=-1)
        tested = depth in joined and (number in postponed or generates(binding.expression))
        if known < depth and depth not in checks.bindings and not tested:
            checks.bindings[depth] = binding
        elif not binding.inverse:
            equality = CoreFilter("=", Reference(binding.variable, rule.types[binding.variable]), binding.expression, binding.span)
            checks.add(max(known, depth), equality, last if number in postponed else None)
    for check in sorted(rule.filters, key=lambda one: (one.operator, _said(one.left, depth_of), _said(one.right, depth_of))):
        depth = max((depth_of[v] for v in variables_of(check.left) | variables_of(check.right)), default=0)
        late = last if late_from is not None and depth >= late_from else None
        bound = _as_bound(check, depth, depth_of)
        if bound is not None and (late is None or not is_fallible(bound.expression)):
            checks.bounds.setdefault(depth, []).append(bound)
        else:
            checks.add(depth, check, late)
    return checks


def _preference(binding: CoreBinding, depth_of: Mapping[int, int]) -> tuple[bool, bool, str]:
    """Of several bindings of a variable the first one gives its value, if it can."""
    return binding.inverse, generates(binding.expression), _said(binding.expression, depth_of)


def _said(expression: Expression, depth_of: Mapping[int, int]) -> str:
    """An expression as text, with depths for variables."""
    match expression:
        case Reference(variable=variable):
            return f"at {depth_of[variable]}"
        case Value(value=value):
            return repr(value)
        case Apply(name=name, arguments=arguments):
            return f"{name}({', '.join(_said(argument, depth_of) for argument in arguments)})"


def _as_bound(check: CoreFilter, depth: int, depth_of: dict[int, int]) -> Bound | None:
    if check.operator not in FLIPPED:
        return None
    for side, other, operator in ((check.left, check.right, check.operator), (check.right, check.left, FLIPPED[check.operator])):
        if (
            isinstance(side, Reference)
            and side.type is not Type.SYMBOL
            and depth_of[side.variable] == depth
            and all(depth_of[v] < depth for v in variables_of(other))
        ):
            return Bound(operator, other)
    return None
