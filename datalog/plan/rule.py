"""The plan of one rule: its variable order, and what takes part at each depth.

A plan does not know trees yet: it asks for columns (`requests`), and `encode` fills in the arrangements.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from datalog.ir.core import CoreBinding, CoreFilter, CoreRule, Expression, Reference, Type
from datalog.plan.arrangements import Columns
from datalog.plan.order import Rows, variable_order, variables_of

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


@dataclass(frozen=True, slots=True)
class RulePlan:
    """`given` is the number of the atom whose rows come as prefixes (a delta plan), or -1; rows of the atoms in `stamped`
    must be older than the prefix says (a support plan)."""

    rule: CoreRule
    given: int
    stamped: frozenset[int]
    order: tuple[int, ...]
    depths: tuple[DepthPlan, ...]
    positive: tuple[AtomPlan, ...]
    negated: tuple[AtomPlan, ...]  # in the order of their depths

    @property
    def requests(self) -> list[tuple[str, Columns]]:
        return [(atom.predicate, atom.columns) for atom in (*self.positive, *self.negated)]

    def watches(self) -> list[Watch]:
        """The record kinds in the kernel's numbering: iterators by depth, then negated atoms."""
        found = [_watch(atom, level, depth) for depth, plan in enumerate(self.depths) for atom, level in plan.iterators]
        return found + [_watch(atom, len(atom.depths) - 1, atom.depths[-1]) for atom in self.negated]


def _watch(atom: AtomPlan, level: int, depth: int) -> Watch:
    above = atom.depths[:level]
    return Watch(atom, level, depth, above, tuple(d for d in range(depth) if d not in above))


def plan_rule(rule: CoreRule, rows: Rows, order: Sequence[int] | None = None) -> RulePlan:
    """Plan the full evaluation of `rule`; `order` forces a variable order."""
    return _plan(rule, variable_order(rule, rows) if order is None else order)


def plan_delta(rule: CoreRule, rows: Rows, given: int) -> RulePlan:
    """Plan `rule` for changes of its atom number `given`: the atom's variables come first, its rows are the prefixes.

    For a negated atom, the rows are those that changed the atom's truth; the atom itself is not checked again.
    """
    return _plan(rule, variable_order(rule, rows, [v for v in rule.atoms[given].columns if v is not None], given), given)


def plan_support(rule: CoreRule, rows: Rows, recursive: Collection[str]) -> RulePlan:
    """Plan the search for derivations of given head rows: the head's variables come first.

    The positive atoms of `recursive` predicates are stamped, and bind all their columns, since stamps belong to rows.
    """
    variables, types, atoms = list(rule.variables), list(rule.types), []
    for atom in rule.atoms:
        columns = list(atom.columns)
        for column, variable in enumerate(columns):
            if variable is None and atom.predicate in recursive:
                columns[column] = len(variables)
                variables.append(f"_{len(variables)}")
                types.append(Type.NUMBER)  # never decoded
        atoms.append(replace(atom, columns=tuple(columns)))
    full = replace(rule, variables=tuple(variables), types=tuple(types), atoms=tuple(atoms))
    stamped = frozenset(number for number, atom in enumerate(atoms) if atom.predicate in recursive)
    return _plan(full, variable_order(full, rows, rule.head_columns), stamped=stamped)


def _plan(rule: CoreRule, order: Sequence[int], given: int = -1, stamped: frozenset[int] = frozenset()) -> RulePlan:
    depth_of = {variable: depth for depth, variable in enumerate(order)}
    atoms = {number: _atom_plan(rule, number, depth_of) for number in range(len(rule.atoms)) if number != given}
    positive = tuple(atoms[number] for number in atoms if not rule.atoms[number].negated)
    negated = sorted((atoms[number] for number in atoms if rule.atoms[number].negated), key=lambda atom: atom.depths[-1])
    bindings, filters, bounds = _place_checks(rule, depth_of)
    depths = tuple(
        DepthPlan(
            variable,
            bindings.get(depth),
            tuple((atom, atom.depths.index(depth)) for atom in positive if depth in atom.depths),
            tuple(bounds.get(depth, ())),
            tuple(filters.get(depth, ())),
            tuple(atom for atom in negated if atom.depths[-1] == depth),
        )
        for depth, variable in enumerate(order)
    )
    return RulePlan(rule, given, stamped, tuple(order), depths, positive, tuple(negated))


def _atom_plan(rule: CoreRule, number: int, depth_of: dict[int, int]) -> AtomPlan:
    atom = rule.atoms[number]
    placed = sorted((depth_of[variable], column) for column, variable in enumerate(atom.columns) if variable is not None)
    return AtomPlan(number, atom.predicate, tuple(column for _, column in placed), tuple(depth for depth, _ in placed))


def _place_checks(
    rule: CoreRule, depth_of: dict[int, int]
) -> tuple[dict[int, CoreBinding], dict[int, list[CoreFilter]], dict[int, list[Bound]]]:
    """Each binding and filter at the first depth at which its variables are bound."""
    bindings: dict[int, CoreBinding] = {}
    filters: dict[int, list[CoreFilter]] = {}
    bounds: dict[int, list[Bound]] = {}
    for binding in rule.bindings:
        depth = depth_of[binding.variable]
        known = max((depth_of[v] for v in variables_of(binding.expression)), default=-1)
        if known < depth and depth not in bindings:
            bindings[depth] = binding
        else:
            equality = CoreFilter("=", Reference(binding.variable, rule.types[binding.variable]), binding.expression, binding.span)
            filters.setdefault(max(known, depth), []).append(equality)
    for check in rule.filters:
        depth = max((depth_of[v] for v in variables_of(check.left) | variables_of(check.right)), default=0)
        bound = _as_bound(check, depth, depth_of)
        if bound is not None:
            bounds.setdefault(depth, []).append(bound)
        else:
            filters.setdefault(depth, []).append(check)
    return bindings, filters, bounds


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
