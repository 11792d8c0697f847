"""What `datalog plan` shows: how a program will be evaluated and maintained, as stable text.

    edge(x, [y])      an iterator or a watch at column y, below the value of x
    edge([x], ·) | z  a watch at column x, in contexts that z belongs to; the dot is a column that is not looked at yet
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from datalog.ir.core import CoreBinding, CoreFilter, CoreProgram, Predicate, Stratum, Value
from datalog.ir.formulas import Program
from datalog.ir.text import format_core_rule, format_expression, format_rule
from datalog.plan.program import ProgramPlan
from datalog.plan.rule import AtomPlan, Bound, DepthPlan, RulePlan, Watch

LABEL = 13  # columns before what a line of a rule says


def report_plan(program: Program, core: CoreProgram, plan: ProgramPlan, recompute: bool = False) -> str:
    """Quantified rules, strata, core rules with their plans, arrangements. With `recompute` nothing is recorded."""
    sections = (
        ("quantified rules", [f"{format_rule(rule)}" for rule in program.rules]),
        ("strata", [stratum_line(number, stratum) for number, stratum in enumerate(core.strata, 1)]),
        ("rules", list(rule_lines(core, plan, recompute))),
        ("arrangements", list(arrangement_lines(core, plan))),
    )
    return "\n".join("".join(f"{line}\n" for line in (title, *(f"  {line}".rstrip() for line in lines))) for title, lines in sections if lines)


def stratum_line(number: int, stratum: Stratum) -> str:
    rules = f"rule{'s' if len(stratum.rules) > 1 else ''} {', '.join(str(rule + 1) for rule in stratum.rules)}" if stratum.rules else "no rules"
    return f"{number}  {', '.join(stratum.predicates)}: {rules}{', recursive' if stratum.recursive else ''}"


def rule_lines(core: CoreProgram, plan: ProgramPlan, recompute: bool) -> Iterator[str]:
    recursive = {number for stratum in core.strata if stratum.recursive for number in stratum.rules}
    for number, (own, deltas) in enumerate(zip(plan.rules, plan.deltas, strict=True)):
        if number:
            yield ""
        yield f"{number + 1}  {format_core_rule(own.rule)}"
        if is_copy(own, core.predicates):
            yield f"   {labelled('maintenance', 'the given rows of ' + own.rule.head)}"
            continue
        yield from (f"   {line}" for line in order_lines(own, core.predicates))
        if number in recursive:
            yield f"   {labelled('maintenance', 'recomputed with its stratum')}"
            for delta in deltas:
                yield f"   {labelled('round', f'new rows of {given_atom(delta)}')}"
                yield from (f"   {line}" for line in order_lines(delta, core.predicates))
        elif recompute:
            yield f"   {labelled('maintenance', 'recomputed')}"
        elif watches := own.watches():
            yield f"   {labelled('maintenance', 'recorded, watching')}"
            yield from (f"   {labelled('', watch_text(watch, own, core.predicates))}" for watch in watches)
        else:
            yield f"   {labelled('maintenance', 'none: it reads no predicate')}"


def is_copy(plan: RulePlan, predicates: dict[str, Predicate]) -> bool:
    """Whether a rule only copies the rows that a derived predicate was given from outside."""
    return [atom.predicate for atom in plan.rule.atoms] == [predicates[plan.rule.head].base]


def order_lines(plan: RulePlan, predicates: dict[str, Predicate]) -> Iterator[str]:
    """The variable order, then each variable with what takes part at its depth."""
    rule = plan.rule
    yield labelled("order", ", ".join(rule.variables[variable] for variable in plan.order))
    bound = len(set(rule.atoms[plan.given].columns) - {None}) if plan.given >= 0 else 0
    for depth, step in enumerate(plan.depths):
        parts = list(step_parts(step, plan, predicates))
        if depth < bound:
            parts.insert(0, "given")
        yield labelled(f"  {rule.variables[step.variable]}", ", ".join(parts) or "free")


def step_parts(step: DepthPlan, plan: RulePlan, predicates: dict[str, Predicate]) -> Iterator[str]:
    names = plan.rule.variables
    if step.binding is not None:
        yield binding_text(step.binding, names)
    yield from (atom_text(atom, level, plan, predicates) for atom, level in step.iterators)
    yield from (bound_text(bound, names[step.variable], names) for bound in step.bounds)
    yield from (filter_text(check, names) for check in step.filters)
    yield from (f"!{atom_text(atom, len(atom.depths), plan, predicates)}" for atom in step.negations)


def binding_text(binding: CoreBinding, names: Sequence[str]) -> str:
    if isinstance(binding.expression, Value) and names[binding.variable].startswith("="):
        return "constant"  # its name says which
    return f"{names[binding.variable]} = {format_expression(binding.expression, names)}"


def bound_text(bound: Bound, variable: str, names: Sequence[str]) -> str:
    return f"{variable} {bound.operator} {format_expression(bound.expression, names)}"


def filter_text(check: CoreFilter, names: Sequence[str]) -> str:
    return f"{format_expression(check.left, names)} {check.operator} {format_expression(check.right, names)}"


def given_atom(plan: RulePlan) -> str:
    atom = plan.rule.atoms[plan.given]
    return f"{atom.predicate}({', '.join('_' if column is None else plan.rule.variables[column] for column in atom.columns)})"


def atom_text(atom: AtomPlan, level: int, plan: RulePlan, predicates: dict[str, Predicate]) -> str:
    """The atom with its columns as declared: variables above `level`, the one at `level` in brackets, dots beyond."""
    cells = ["_"] * len(predicates[atom.predicate].types)
    for place, (column, depth) in enumerate(zip(atom.columns, atom.depths, strict=True)):
        name = plan.rule.variables[plan.order[depth]]
        cells[column] = name if place < level else f"[{name}]" if place == level else "·"
    return f"{atom.predicate}({', '.join(cells)})"


def watch_text(watch: Watch, plan: RulePlan, predicates: dict[str, Predicate]) -> str:
    text = ("!" if watch.atom in plan.negated else "") + atom_text(watch.atom, watch.level, plan, predicates)
    others = ", ".join(plan.rule.variables[plan.order[depth]] for depth in watch.others)
    return f"{text} | {others}" if others else text


def arrangement_lines(core: CoreProgram, plan: ProgramPlan) -> Iterable[str]:
    width = max(map(len, plan.orders), default=0)
    for name, orders in plan.orders.items():
        attributes = core.predicates[name].attributes
        listed = "; ".join(", ".join(attributes[column] for column in order) if attributes else "()" for order in orders)
        yield f"{name:<{width}}  {listed}"


def labelled(label: str, text: str) -> str:
    return f"{label:<{LABEL}}{text}"
