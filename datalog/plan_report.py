"""What `datalog plan` shows: how a program will be evaluated and maintained, as stable text.

edge(x, [y])      an iterator or a watch at column y, below the value of x
edge([x], ·) | z  a watch at column x, in contexts that z belongs to; the dot is a column that is not looked at yet
x 3, y 1.5        estimates: y has 1.5 values under a value of x

After a run, what each join gave (head rows, the same one as often as it was derived) and took stands beside the estimates.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from datalog.ir.core import CoreBinding, CoreFilter, CoreProgram, Predicate, Stratum, Value
from datalog.ir.demand import Demand, names_of
from datalog.ir.formulas import Program
from datalog.ir.text import format_aggregate, format_core_rule, format_expression, format_rule, format_signature
from datalog.plan.forced import Orders, force_orders
from datalog.plan.order import Statistics
from datalog.plan.program import ProgramPlan, plan_program
from datalog.plan.rule import AtomPlan, Bound, DepthPlan, RulePlan, Watch, plan_delta, plan_support
from datalog.plan.statistics import Counted, estimate, values_by_depth
from datalog.plan_aggregates import ANEW, kept_texts, upkeep_text
from datalog.plan_guards import guard_lines
from datalog.render import counted

if TYPE_CHECKING:
    from datalog.database import Database
    from datalog.evaluate.join import Join
    from datalog.maintain.engine import Engine
    from datalog.reading import Reading

LABEL = 13  # columns before what a line of a rule says


def report_file(
    path: Path,
    facts: Path | None,
    maintain: str,
    orders: Orders | None = None,
    reading: Reading | None = None,
    on_demand: str = "",
    whole: str = "",
    settings: Mapping[str, str] | None = None,
) -> str:
    """The plan of a program by the sizes of its facts; of those in files only with a facts directory. What is `on_demand`, what
    stays `whole`, is said as to a `Database`; `settings` are `dialect` and `overflow`, where they are said.

    Raises SettingError for wrong `orders`.
    """
    from datalog.program import check_program, given_facts, quoting
    from datalog.reading import Reading
    from datalog.store.values import Values

    program, core = check_program(path, reading or Reading(), Demand(names_of(on_demand), names_of(whole)), settings)
    core = force_orders(core, orders or {})
    with quoting(program.text, program.file):
        given = {name: np.unique(rows, axis=0) for name, rows in given_facts(core, facts, Values()).items()}
    return report_plan(program, core, estimated(core, given), maintain)


def report_run(database: Database, maintain: str) -> str:
    """The plan of a database that has just been evaluated, with estimates as they were before, and with what there was."""
    core, engine = database.core, database._engine
    given = {name: engine.storage.rows(name) for name, predicate in core.predicates.items() if not predicate.derived}
    return report_plan(database.program, core, estimated(core, given), maintain, engine)


def estimated(core: CoreProgram, given: Mapping[str, NDArray[np.int64]]) -> Counted:
    """Statistics of the given rows, with estimates of all that is derived."""
    sizes = {name: None if predicate.derived else len(given.get(name, ())) for name, predicate in core.predicates.items()}
    statistics = Counted(sizes.__getitem__, given.__getitem__)
    estimate(core, statistics)
    return statistics


def report_plan(program: Program, core: CoreProgram, statistics: Statistics, maintain: str = "auto", engine: Engine | None = None) -> str:
    """Quantified rules, strata, core rules with their plans, aggregates, functional predicates, predicates, arrangements.

    `statistics` tells or guesses what predicates hold; `engine` has evaluated the program.
    """
    plan = plan_program(core, statistics) if engine is None else engine.joins.plan
    later: list[RulePlan] = []
    strata = [stratum for stratum in core.strata if core.demanded.keys().isdisjoint(stratum.predicates)]
    sections = (
        ("quantified rules", [format_rule(rule) for rule in program.rules]),
        ("inline", [format_rule(rule) for one in program.inline.values() for rule in one.rules]),
        ("strata", [stratum_line(number, stratum) for number, stratum in enumerate(strata, 1)]),
        ("rules", list(rule_lines(core, plan, statistics, maintain, later, engine))),
        ("aggregates", list(aggregate_lines(core, statistics, maintain, engine))),
        ("guards", list(guard_lines(core))),
        ("numberings", list(numbering_lines(core))),
        ("equivalences", list(equivalence_lines(core, maintain))),
        ("predicates on demand", [demanded_line(core, name) for name in core.demanded]),
        ("functional predicates", [format_signature(one) for one in program.signatures.values() if one.functional]),
        ("predicates", list(predicate_lines(core, statistics, engine))),
        ("arrangements", list(arrangement_lines(core, plan, later))),
    )
    return "\n".join(
        "".join(f"{line}\n" for line in (title, *(f"  {line}".rstrip() for line in lines))) for title, lines in sections if lines
    )


def stratum_line(number: int, stratum: Stratum) -> str:
    if stratum.aggregate is not None:
        over = " for ".join(filter(None, (stratum.aggregate.read, stratum.aggregate.needs)))
        return f"{number}  {stratum.aggregate.head}: {', '.join(one.name for one in stratum.aggregate.functions)} over {over}"
    if stratum.numbering is not None:
        return f"{number}  {stratum.numbering.head}: numbers of {stratum.numbering.source}"
    if stratum.closures and not stratum.recursive:
        return f"{number}  {stratum.predicates[0]}: closure of {stratum.closures[0].pairs}"
    rules = (
        f"rule{'s' if len(stratum.rules) > 1 else ''} {', '.join(str(rule + 1) for rule in stratum.rules)}" if stratum.rules else "no rules"
    )
    how = f"{', recursive' if stratum.recursive else ''}{', by rounds' if stratum.guard is not None else ''}"
    return f"{number}  {', '.join(stratum.predicates)}: {rules}{how}"


def demanded_line(core: CoreProgram, name: str) -> str:
    """What is asked of a predicate on demand: `path  path@bf by x`."""
    columns = core.predicates[name].attributes
    asked = [
        f"{one.name} by {', '.join(columns[at] for at in one.columns)}" if one.columns else f"{one.name} whole"
        for one in core.demanded[name]
    ]
    return f"{name}  {'; '.join(asked) or 'nothing asks for it'}"


def rule_lines(
    core: CoreProgram, plan: ProgramPlan, statistics: Statistics, maintain: str, later: list[RulePlan], engine: Engine | None
) -> Iterator[str]:
    """Each core rule with its plan; plans that only maintenance needs are added to `later`."""
    recursive = {number: stratum.predicates for stratum in core.strata if stratum.recursive for number in stratum.rules}
    guarded = {number for stratum in core.strata if stratum.guard is not None for number in stratum.rules}
    for number, (own, rounds) in enumerate(zip(plan.rules, plan.deltas, strict=True)):
        if number:
            yield ""
        yield f"{number + 1}  {format_core_rule(own.rule)}"
        if own.rule.head in core.unmade:
            yield f"   {labelled('maintenance', f'none, its rows are read where those of {own.rule.atoms[0].predicate} are kept')}"
            continue
        if is_copy(own, core.predicates):
            yield f"   {labelled('maintenance', f'the given rows of {own.rule.head}')}"
            continue
        yield from (f"   {line}" for line in order_lines(own, core.predicates))
        yield f"   {labelled('estimate', estimate_text(own, statistics))}"
        if engine is not None:
            yield f"   {labelled('run', run_text(engine.joins.full[number]))}"
        for place, delta in enumerate(rounds):
            yield f"   {labelled('round', delta_text(delta, statistics))}"
            if engine is not None:
                yield f"   {labelled('  run', run_text(engine.joins.deltas[number][place].join))}"
        within = recursive.get(number, ())
        way = ANEW if number in guarded else maintenance(own, bool(within), maintain)
        yield f"   {labelled('maintenance', way)}"
        if way == ANEW:
            continue
        if maintain == "recorded" and not within:
            yield from (f"   {labelled('  watch', watch_text(watch, own, core.predicates))}" for watch in own.watches())
            continue
        known = statistics if engine is None else engine.joins.statistics  # as the engine will plan them
        changes = [plan_delta(own.rule, known, place, within) for place, atom in enumerate(own.rule.atoms) if atom.predicate not in within]
        yield from (f"   {labelled('  change', delta_text(change, known))}" for change in changes)
        later += changes
        if within:
            support = plan_support(own.rule, known, within)
            yield f"   {labelled('  support', support_text(support))}"
            later.append(support)


def aggregate_lines(core: CoreProgram, statistics: Statistics, maintain: str, engine: Engine | None) -> Iterator[str]:
    """Each aggregate with the rule that it comes from, what is kept for it and how many results it has."""
    aggregates = [aggregate for stratum in core.strata for aggregate in stratum.aggregates]
    for number, aggregate in enumerate(aggregates):
        if number:
            yield ""
        yield format_aggregate(aggregate, core.predicates)
        results, rows = statistics.rows(aggregate.head), statistics.rows(aggregate.read)
        asked = "interval" if aggregate.needs else "group"
        each = "" if aggregate.needs else f" of {amount(max(1.0, rows / results))}"
        lines = [
            ("in", aggregate.text),
            *(("kept", text) for text in kept_texts(aggregate)),
            ("estimate", f"about {amount(results)} {asked}{'' if amount(results) == '1' else 's'}{each}"),
        ]
        if engine is not None:
            found, over = (engine.storage.size(name) for name in (aggregate.head, aggregate.read))
            lines.append(("run", f"{counted(found, 'result')} over {counted(over, 'row')}"))
        lines.append(("maintenance", upkeep_text(aggregate, maintain)))
        yield from (f"   {labelled(label, text)}" for label, text in lines)


def numbering_lines(core: CoreProgram) -> Iterator[str]:
    """Each numbering with its rule, and that it is made anew."""
    for one in (stratum.numbering for stratum in core.strata if stratum.numbering is not None):
        each = f", {one.each} for each row" if one.each > 1 else ""
        after = f", from where those of {one.before[-1][0]} end" if one.before else ""
        yield f"{one.head}  numbers {one.source} by value{each}{after}"
        yield f"   {labelled('in', one.text)}"
        yield f"   {labelled('maintenance', 'all are numbered anew; only rows whose numbers are others change')}"


def equivalence_lines(core: CoreProgram, maintain: str) -> Iterator[str]:
    """How each equivalence is kept."""
    for stratum in core.strata:
        for closure in stratum.closures:
            if maintain == "recompute":
                way = ANEW
            elif stratum.recursive:
                way = f"by stamps of its pairs{f', or {ANEW} where that takes fewer steps' if maintain == 'auto' else ''}"
            else:
                way = f"by classes that lose or gain pairs{f', or {ANEW} where most pairs change' if maintain == 'auto' else ''}"
            yield f"{closure.head}  closure of {closure.pairs}, {way}"


def maintenance(plan: RulePlan, recursive: bool, maintain: str) -> str:
    if not plan.rule.atoms:
        return "none, it reads no predicate"
    if maintain == "recompute":
        return ANEW
    way = "by stamps" if recursive else "recorded" if maintain == "recorded" else "derived on demand"
    return f"{way}, or {ANEW} where that takes fewer steps" if maintain == "auto" else way


def delta_text(plan: RulePlan, statistics: Statistics) -> str:
    """The changed atom, the variables that are then joined in this order, and how many bindings a row of the atom may have."""
    rule, atom = plan.rule, plan.rule.atoms[plan.given]
    cells = ("_" if column is None else rule.variables[column] for column in atom.columns)
    known = {column for column in atom.columns if column is not None}
    bindings = prod(values_by_depth(rule, statistics, plan.order, len(known), plan.given))
    shown = then(f"{'!' if atom.negated else ''}{atom.predicate}({', '.join(cells)})", known, plan)
    if len(plan.order) == len(known):
        return shown
    by = f", by {rule.forced.by}" if rule.forced is not None and plan.given in rule.forced.deltas else ""
    return f"{shown}{by}: about {amount(bindings)} a row"


def support_text(plan: RulePlan) -> str:
    head = f"{plan.rule.head}({', '.join(plan.rule.variables[column] for column in plan.rule.head_columns)})"
    return then(head, set(plan.rule.head_columns), plan)


def then(first: str, known: set[int], plan: RulePlan) -> str:
    rest = [plan.rule.variables[variable] for variable in plan.order if variable not in known]
    return f"{first}, then {', '.join(rest)}" if rest else first


def is_copy(plan: RulePlan, predicates: dict[str, Predicate]) -> bool:
    """Whether a rule only copies the rows that a derived predicate was given from outside."""
    return [atom.predicate for atom in plan.rule.atoms] == [predicates[plan.rule.head].base]


def order_lines(plan: RulePlan, predicates: dict[str, Predicate]) -> Iterator[str]:
    """The variable order, then each variable with what takes part at its depth."""
    rule = plan.rule
    forced = rule.forced
    if forced is not None and forced.ignored:
        yield labelled(forced.by, f"ignored: {forced.ignored}")
    names = ", ".join(rule.variables[variable] for variable in plan.order) or "no variables"
    yield labelled("order", f"{names}, by {forced.by}" if forced is not None and forced.full is not None else names)
    for step in plan.depths:
        yield labelled(f"  {rule.variables[step.variable]}", ", ".join(step_parts(step, plan, predicates)))


def estimate_text(plan: RulePlan, statistics: Statistics) -> str:
    values = values_by_depth(plan.rule, statistics, plan.order)
    each = (f"{plan.rule.variables[variable]} {amount(count)}" for variable, count in zip(plan.order, values, strict=True))
    total = amount(prod(values))
    return f"{', '.join(each)}: about {total} binding{'' if total == '1' else 's'}" if values else "1 binding"


def run_text(join: Join) -> str:
    return f"{counted(join.rows, 'row')} in {counted(join.steps, 'step')}"


def predicate_lines(core: CoreProgram, statistics: Statistics, engine: Engine | None) -> Iterator[str]:
    """How many rows each predicate has or may have, but for the given rows of derived ones."""
    every = ((name, predicate) for name, predicate in core.predicates.items() if name not in core.unmade)
    shown = [name for name, predicate in every if (predicate.derived or not predicate.hidden) and name not in core.demanded]
    width = max(map(len, shown), default=0)
    for name in shown:
        guess, known = amount(statistics.rows(name)), statistics.size(name)
        if known is not None:
            text = counted(known, "row")
        elif engine is None:
            text = f"about {guess} row{'' if guess == '1' else 's'}"
        else:
            text = f"{counted(engine.storage.size(name), 'row')}, estimated {guess}"
        yield f"{name:<{width}}  {text}"


def amount(number: float) -> str:
    """Three figures are enough for an estimate."""
    return f"{number:.0f}" if number >= 100 else f"{number:.3g}"


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


def atom_text(atom: AtomPlan, level: int, plan: RulePlan, predicates: dict[str, Predicate]) -> str:
    """The atom with its columns as declared: variables above `level`, the one at `level` in brackets, dots beyond."""
    cells = ["_"] * predicates[atom.predicate].width
    for place, (column, depth) in enumerate(zip(atom.columns, atom.depths, strict=True)):
        name = plan.rule.variables[plan.order[depth]]
        cells[column] = name if place < level else f"[{name}]" if place == level else "·"
    return f"{atom.predicate}({', '.join(cells)})"


def watch_text(watch: Watch, plan: RulePlan, predicates: dict[str, Predicate]) -> str:
    text = ("!" if watch.atom in plan.negated else "") + atom_text(watch.atom, watch.level, plan, predicates)
    others = ", ".join(plan.rule.variables[plan.order[depth]] for depth in watch.others)
    return f"{text} | {others}" if others else text


def arrangement_lines(core: CoreProgram, plan: ProgramPlan, later: Iterable[RulePlan]) -> Iterator[str]:
    """The column orders of each predicate; in parentheses those that are made when a change first needs them."""
    made = {name: orders for name, orders in plan.orders.items() if name not in core.unmade and name not in core.demanded}
    width = max(map(len, made), default=0)
    requests = sorted({request for delta in later for request in delta.requests}, key=lambda request: (-len(request[1]), request))
    symmetric = {closure.head for stratum in core.strata for closure in stratum.closures}
    for name, orders in made.items():
        predicate = core.predicates[name]
        added: list[tuple[int, ...]] = []
        for columns in (columns for asked, columns in requests if asked == name and name not in symmetric):
            if not any(kept[: len(columns)] == columns for kept in (*orders, *added)):
                added.append(columns + tuple(c for c in range(predicate.width) if c not in columns))
        listed = [columns_text(order, predicate) for order in orders] + [f"({columns_text(order, predicate)})" for order in added]
        yield f"{name:<{width}}  {'; '.join(listed)}"


def columns_text(order: Iterable[int], predicate: Predicate) -> str:
    return ", ".join(predicate.attributes[column] for column in order) if predicate.attributes else "no columns"


def labelled(label: str, text: str) -> str:
    return f"{label:<{LABEL - 2}}  {text}"
