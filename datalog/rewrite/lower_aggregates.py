"""An aggregation becomes an atom of a predicate of the engine's own, which an aggregate of another such predicate defines.

    p(r, s) ← region(r), s = sum x : { sales(r, _, x) }

    p@body1(r, x) ← sales(r, _1, x)                       each row as often as it has derivations
    p@agg1(r, sum) = sum over p@body1(r, x)               a stratum of its own (`datalog.ir.core.CoreAggregate`)
    p(r, s) ← region(r), (p@agg1(r, s) ; !p@agg1(r, _), s = 0)

The totals of one `agg<<…>>` that are over the same rows are one aggregate with several results.
The groups are the variables that the aggregation shares with the rest of its rule. Where its body does not bind one of them, a
predicate `@need` of the values that the rest of the rule gives it stands in the body as a guard (`datalog.rewrite.helpers`); so it
does, with all groups, where a computation in the body may fail. Else, if all that the body says of such variables is the interval of
one of its own variables, the aggregate asks for intervals of that key instead, and the body stays one for all of them:

    t = sum v : { sales(day, v), day >= a, day <= b }

    p@body1(day, v) ← sales(day, v)        p@need1(a, b) ← …        p@agg1(a, b, sum) = sum over p@body1(day, v), a ≤ day ≤ b

Where values of groups that the body does not bind come from a recursion which the rule is part of, the aggregate is *asked* in it: its
head has a row for each row of the need, also where the group is empty (`CoreAggregate.asked`).

    p(n + 1, c) ← p(n, _), c = count : { q(x), x < n }

    p@need1(n) ← p(n, _)        p@body1(n, x) ← q(x), p@need1(n), x < n        p@agg1(n, count), asked for p@need1(n)

Where the body is one atom its wildcards become variables, since each row counts; so they do in a grouping one. Else a row counts
once for each assignment of the variables that have names. A disjunction in the body becomes a predicate of the variables that all
its branches bind. Aggregations over equal bodies share them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

from datalog.analysis.dependencies import component_of, recursion_of, rule_edges
from datalog.analysis.quantify import quantify
from datalog.analysis.safety import bound_by, groups_of, unbound_uses
from datalog.ir.core import CoreAggregate, CoreFunction, PyValue, Type
from datalog.ir.formulas import (
    Aggregation,
    Atom,
    Comparison,
    Conjunction,
    Constant,
    Disjunction,
    Literal,
    Negation,
    Operation,
    Program,
    Rule,
    Signature,
    Term,
    Variable,
    Wildcard,
)
from datalog.ir.occurrences import (
    aggregations,
    flat,
    is_of_one_atom,
    literal_atoms,
    literal_variables,
    may_fail,
    names_in,
    term_may_fail,
    term_variables,
)
from datalog.ir.primitives import ORDER, aggregate_named
from datalog.ir.renaming import fresh_name, is_uncounted, with_named_wildcards
from datalog.ir.text import format_term
from datalog.rewrite.aggregations import canonical, core_function, empty_result, is_ordered, placeless
from datalog.rewrite.helpers import Helpers, can_stand_alone, helper_rule, shared_variables
from datalog.rewrite.intervals import Interval, interval_of

Flat = tuple[Literal, ...]


def lower_aggregates(program: Program) -> Program:
    """The program without aggregations, with the aggregates that define what stands for them."""
    if not any(any(aggregations(rule.body)) for rule in program.rules):
        return program
    components = component_of(program.signatures, rule_edges(program.rules))
    shared = _Shared(Helpers(program.signatures))
    rules: list[Rule] = []
    for original in program.rules:
        pending = deque([original])
        while pending:
            rule = pending.popleft()
            recursion = recursion_of(original, components) | shared.recursive
            lowering = _Lowering(rule, original.heads[0].predicate, recursion, shared)
            rules.append(quantify(rule.heads, lowering.conjunction(rule.body, ()), rule.span, rule.text))
            pending.extend(lowering.rules)
    signatures = {**program.signatures, **shared.helpers.signatures}
    aggregates = tuple(_wrapping(aggregate, program.wraps) for aggregate in shared.aggregates)
    return replace(program, rules=tuple(rules), signatures=signatures, aggregates=aggregates)


def _wrapping(aggregate: CoreAggregate, wraps: bool) -> CoreAggregate:
    """The aggregate, whose unsigned results wrap around, and its numbers, too, if `wraps`."""
    types = (Type.UNSIGNED, Type.NUMBER) if wraps else (Type.UNSIGNED,)
    return replace(aggregate, functions=tuple(replace(one, wraps=one.result in types) for one in aggregate.functions))


class _Shared:
    """What the rules of a program have in common: bodies and aggregates by what they say."""

    def __init__(self, helpers: Helpers) -> None:
        self.helpers = helpers
        self.bodies: dict[str, tuple[Signature, Signature | None]] = {}
        self.counted: dict[str, tuple[Signature, Signature | None]] = {}  # by what they say beside their arguments
        self.aggregates: list[CoreAggregate] = []
        self.recursive: set[str] = set()  # the predicates of aggregates that are asked in a recursion, and of their bodies and needs


class _Lowering:
    """The lowering of one rule's aggregations; `rules` are those of bodies and needs that it makes."""

    def __init__(self, rule: Rule, owner: str, avoid: frozenset[str], shared: _Shared) -> None:
        self._rule, self._owner, self._avoid, self._shared = rule, owner, avoid, shared
        self._names = set(names_in((*rule.heads, rule.body), ()))
        self.rules: list[Rule] = []

    def conjunction(self, conjunction: Conjunction, around: tuple[Literal, ...]) -> Conjunction:
        """The conj without aggregations; `around` are the literals of the conjs that enclose it."""
        literals = list(flat(conjunction.literals))
        done = [literal for literal in literals if not any(aggregations(literal))]
        waiting = sorted((literal for literal in literals if any(aggregations(literal))), key=_counts)  # they take what others have
        while waiting:
            bound = bound_by((*around, *done), frozenset())
            chosen = next((literal for literal in waiting if not any(unbound_uses([literal], bound))), waiting[0])
            waiting = [literal for literal in waiting if literal is not chosen]
            if isinstance(chosen, Aggregation) and chosen.grouping:  # all that waits is of the same `agg<<…>>`
                done += self._totals([chosen, *waiting], (*around, *done))
                break
            done += self._literal(chosen, (*around, *done))
        return Conjunction((), tuple(done), conjunction.span)

    def _literal(self, literal: Literal, context: tuple[Literal, ...]) -> list[Literal]:
        match literal:
            case Aggregation():
                return self._aggregation(literal, context)
            case Negation():
                return [Negation(self.conjunction(literal.body, context), literal.span)]
            case Disjunction():
                return [Disjunction(tuple(self.conjunction(branch, context) for branch in literal.branches), literal.span)]
            case _:
                return [literal]

    def _aggregation(self, aggregation: Aggregation, context: tuple[Literal, ...]) -> list[Literal]:
        over = self._over(aggregation, context)
        interval = over.interval
        head = self._head(over, (core_function(aggregation),))
        ends = interval.ends if interval else ()
        return [*(interval.beside if interval else ()), *_asked(aggregation, head, (*over.groups, *ends), over.asked)]

    def _totals(self, totals: Sequence[Literal], context: tuple[Literal, ...]) -> list[Literal]:
        """The aggregations of one `agg<<…>>`."""
        together: dict[tuple[str, ...], list[tuple[Aggregation, _Over]]] = {}
        for total in totals:
            assert isinstance(total, Aggregation)
            over = self._over(total, context)
            together.setdefault((over.source.name, *(group.name for group in over.groups)), []).append((total, over))
        atoms: list[Literal] = []
        for members in together.values():
            members.sort(key=lambda member: member[0].span.start)
            (first, over), results = members[0], [total.result for total, _ in members]
            head = self._head(over, tuple(core_function(total) for total, _ in members))
            atoms.append(Atom(head, (*over.groups, *results), first.span))
        return atoms

    def _over(self, aggregation: Aggregation, context: tuple[Literal, ...]) -> _Over:
        """What an aggregation is over; makes the rules for it."""
        function = aggregate_named(aggregation.function)
        arguments = aggregation.arguments[: len(function.arguments) - function.parameter]
        body = self._body(aggregation.body, arguments, context, aggregation.grouping)
        names = groups_of(aggregation)
        interval = None if aggregation.grouping else interval_of(body, arguments, names, self._names)
        within = interval.body if interval else body
        fallible = any(map(may_fail, within)) or any(map(term_may_fail, arguments))
        groups = _groups(aggregation, names)
        asked = not aggregation.grouping and isinstance(empty_result(aggregation), Constant | None)
        asked = asked and self._is_recursive(self._need(aggregation, body, groups, None, fallible, context))
        if fallible or asked:
            interval = None  # its one body would compute for rows that no interval holds; and it is there once the recursion ends
        if interval is not None:
            inner = _groups(aggregation, names & names_in(interval.body, arguments))
            beside = (*context, *interval.beside)
            if self._is_recursive(self._need(aggregation, interval.body, inner, interval, fallible, beside)):
                interval = None  # which groups there are, only the recursion knows; without intervals they need not be known
            else:
                body, context, groups = interval.body, beside, inner
        ordered = is_ordered(aggregation)
        keys: list[Term] = [*groups, *([interval.key] if interval else [])]
        columns = [*keys]
        columns += [Operation(ORDER, arguments[:1], Type.NUMBER, aggregation.span)] if ordered else []
        columns += arguments
        need = None if aggregation.grouping else self._need(aggregation, body, groups, interval, fallible, context, asked)
        source, needs = self._source(aggregation, keys, columns, body, need, interval, asked)
        if asked and needs is not None:
            self._shared.recursive |= {source.name, needs.name}
            self._avoid |= self._shared.recursive
        empty = empty_result(aggregation) if asked else None
        return _Over(source, needs, groups, interval, asked, empty.value if isinstance(empty, Constant) else None)

    def _is_recursive(self, need: Rule | None) -> bool:
        return need is not None and any(atom.predicate in self._avoid for atom, _ in literal_atoms(need.body))

    # --- the body ---------------------------------------------------------------------------------------------------------

    def _body(self, conjunction: Conjunction, arguments: Sequence[Term], context: Flat, grouping: bool) -> list[Literal]:
        """The literals of an aggregation's body, each of whose rows counts."""
        literals = list(flat(conjunction.literals))
        if grouping or is_of_one_atom(literals):
            literals = [with_named_wildcards(literal, self._names) if isinstance(literal, Atom) else literal for literal in literals]
        for at, literal in enumerate(literals):
            if isinstance(literal, Disjunction):
                others = (*literals[:at], *literals[at + 1 :])
                literals[at] = self._alternatives(literal, others, names_in((), arguments), context)
        return literals

    def _alternatives(self, disjunction: Disjunction, others: Flat, used: frozenset[str], context: Flat) -> Literal:
        """A predicate of the variables that each branch binds, that the disjunction shares with the rest, or that are `used`.

        So a row counts once, whatever branches it is in."""
        counted = (name for name in bound_by([disjunction], frozenset()) if not is_uncounted(name))
        rest = used.union(names_in((*others, *context, *self._rule.heads), ()), counted)
        columns = shared_variables(disjunction, rest)
        around = tuple(literal for literal in (*others, *context) if not any(aggregations(literal)))
        assert can_stand_alone(columns, disjunction, around)
        signature = self._shared.helpers.declare(self._owner, "or", columns, disjunction.span)
        head = Atom(signature.name, columns, disjunction.span)
        self.rules.append(helper_rule(head, (disjunction,), around, self._avoid, self._rule.text))
        return head

    # --- predicates -------------------------------------------------------------------------------------------------------

    def _need(
        self,
        aggregation: Aggregation,
        body: Sequence[Literal],
        groups: Sequence[Variable],
        interval: Interval | None,
        fallible: bool,
        context: Flat,
        asked: bool = False,
    ) -> Rule | None:
        """The rule for the values of groups, or the intervals, that are asked for; its head has no name yet. None: there need be none."""
        bound = bound_by(body, frozenset())
        if interval is not None:
            columns = (*groups, *interval.ends)
        elif fallible or asked:
            columns = tuple(groups)
        else:
            columns = tuple(group for group in groups if group.name not in bound)
        if not columns:
            return None
        around = tuple(literal for literal in context if not any(aggregations(literal)))
        head = Atom("", columns, aggregation.span)
        rule = helper_rule(head, (), around, self._avoid, self._rule.text, strict=fallible)
        restricts = interval is not None or not all(group.name in bound for group in columns)
        return None if not restricts and self._is_recursive(rule) else rule

    def _source(
        self,
        aggregation: Aggregation,
        keys: Sequence[Term],
        columns: Sequence[Term],
        body: Sequence[Literal],
        need: Rule | None,
        interval: Interval | None,
        asked: bool,
    ) -> tuple[Signature, Signature | None]:
        """The predicate of the body's rows and that of the needs, made unless they are there already.

        A count does with the rows of any aggregation over its body, if none of them can be missing there."""
        span = aggregation.span
        asked_for = (need.heads[0].terms, need.body.literals) if need else ((), ())
        key = canonical((columns, body), asked_for, interval is not None, asked)
        beside = canonical((keys, body), asked_for, interval is not None, asked)
        if key in self._shared.bodies:
            return self._shared.bodies[key]
        if _counts(aggregation) and beside in self._shared.counted:
            return self._shared.counted[beside]
        needs = None
        literals = list(body)
        if need is not None:
            wanted = [term for term in need.heads[0].terms if isinstance(term, Variable)]
            needs = self._shared.helpers.declare(self._owner, "need", wanted, span)
            head = replace(need.heads[0], predicate=needs.name)
            self.rules.append(replace(need, heads=(head,)))
            if interval is None:
                literals.append(head)
        named = [term if isinstance(term, Variable) else Variable(format_term(term), term.type) for term in columns]
        source = self._shared.helpers.declare(self._owner, "body", named, span)
        head = Atom(source.name, tuple(columns), span)
        self.rules.append(quantify([head], Conjunction((), tuple(literals), aggregation.body.span), span, self._rule.text))
        self._shared.bodies[key] = source, needs
        if not any(map(term_may_fail, columns)):
            self._shared.counted.setdefault(beside, (source, needs))
        return source, needs

    def _head(self, over: _Over, functions: tuple[CoreFunction, ...]) -> str:
        """The predicate that holds the results of functions, made unless it is there already; several are always new."""
        interval, needs = over.interval, over.needs
        aggregate = CoreAggregate(
            "",
            over.source.name,
            len(over.groups),
            functions,
            self._rule.text,
            needs.name if needs and interval else "",
            interval.low[0] if interval and interval.low else "",
            interval.high[0] if interval and interval.high else "",
            asked=needs.name if needs and over.asked else "",
            empty=over.empty,
        )
        for other in self._shared.aggregates if len(functions) == 1 else ():
            if replace(other, head="", functions=placeless(other), text="") == replace(aggregate, functions=placeless(aggregate), text=""):
                return other.head
        taken: set[str] = set()
        results = [Variable(fresh_name(function.name, taken), function.result) for function in functions]
        columns = (*over.groups, *(interval.ends if interval else ()), *results)
        head = self._shared.helpers.declare(self._owner, "agg", columns, functions[0].span).name
        self._shared.aggregates.append(replace(aggregate, head=head))
        if over.asked:
            self._shared.recursive.add(head)
            self._avoid |= {head}
        return head


@dataclass(frozen=True, slots=True)
class _Over:
    """What an aggregation is over: the predicates of the body's rows and of the needs, the groups, and the interval of a key.

    `asked`: the needs come from the recursion that the rule is part of; `empty` is then what empty groups have."""

    source: Signature
    needs: Signature | None
    groups: tuple[Variable, ...]
    interval: Interval | None
    asked: bool
    empty: PyValue | None


def _groups(aggregation: Aggregation, names: frozenset[str]) -> tuple[Variable, ...]:
    """The variables of the aggregation with these names, once each."""
    used = (variable for term in aggregation.arguments for variable in term_variables(term))
    found = {variable.name: variable for variable in (*literal_variables(aggregation.body), *used) if variable.name in names}
    return tuple(found.values())


def _counts(literal: Literal) -> bool:
    return isinstance(literal, Aggregation) and literal.function == "count"


def _asked(aggregation: Aggregation, head: str, keys: Sequence[Variable], asked: bool) -> list[Literal]:
    """What stands for the aggregation in its rule."""
    span, result = aggregation.span, aggregation.result
    empty = empty_result(aggregation)
    atom = Atom(head, (*keys, result), span)
    if empty is None or aggregation.grouping or asked:
        return [atom]
    none = Negation(Conjunction((), (Atom(head, (*keys, Wildcard(result.type)), span),), span), span)
    nothing = Comparison("=", result, empty, span)
    return [Disjunction((Conjunction((), (atom,), span), Conjunction((), (none, nothing), span)), span)]
