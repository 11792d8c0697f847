"""Range restriction: every variable has a finite set of values, because something positive binds it.

In a conj a variable is bound by a positive atom that holds it bare, by `=` with an expression whose variables are bound, or
with an expression that says what it is (`datalog.analysis.inverse`), by a disjunction each of whose branches binds it, or from
outside. An aggregate binds its result, and its groups if it is a grouping one; other aggregates have their groups from outside.
Heads, negations, comparisons and arithmetic only use variables. The variables of a negation that also occur outside it must be
bound outside; those that are its own must be bound within, and a negated plain atom may have none: `!p(x, z)` with z nowhere
else is most often a slip of the pen, and `!p(x, _)` says the other thing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Literal as OneOf

from datalog.analysis.findings import Findings, did_you_mean, place
from datalog.analysis.inverse import solve
from datalog.ir.formulas import (
    Aggregation,
    Atom,
    Comparison,
    Conjunction,
    Disjunction,
    Literal,
    Negation,
    Operation,
    Rule,
    Truth,
    Variable,
)
from datalog.ir.occurrences import aggregations, flat, literal_names, literal_variables, term_names, term_variables
from datalog.ir.renaming import written_name
from datalog.syntax.tree import Span

Purpose = OneOf["head", "negated", "compared", "computed with", "aggregated"]


@dataclass(frozen=True, slots=True)
class UnboundUse:
    """A variable that is used where nothing binds it; `local`: it occurs in one negated atom only."""

    variable: Variable
    purpose: Purpose
    local: bool = False


def bound_by(literals: Iterable[Literal], given: frozenset[str], inverses: bool = True) -> frozenset[str]:
    """The variables that the literals together bind, and `given`. The least fixpoint, so independent of their order.

    Without `inverses`, `y = x + 1` binds y only."""
    literals = tuple(literals)
    bound = given
    while True:
        grown = bound.union(*(_binds(literal, bound, inverses) for literal in literals))
        if grown == bound:
            return bound
        bound = grown


def _binds(literal: Literal, bound: frozenset[str], inverses: bool) -> frozenset[str]:
    match literal:
        case Atom():
            return frozenset(term.name for term in literal.terms if isinstance(term, Variable))
        case Comparison(operator="=", left=left, right=right):
            found = bound
            if isinstance(left, Variable) and term_names(right) <= bound:
                found = found | {left.name}
            if isinstance(right, Variable) and term_names(left) <= bound:
                found = found | {right.name}
            for term, value in ((left, right), (right, left)) if inverses and found == bound else ():
                solved = solve(term, value, bound) if isinstance(term, Operation) and term_names(value) <= bound else None
                if solved is not None:
                    found = found | {solved[0].name}
            return found
        case Conjunction():
            return bound_by(literal.literals, bound, inverses)
        case Disjunction():
            branches = [bound_by(branch.literals, bound, inverses) for branch in literal.branches if not is_impossible(branch)]
            return reduce(frozenset.intersection, branches) if branches else bound
        case Aggregation(grouping=True):
            return bound | groups_of(literal) | {literal.result.name}
        case Aggregation():
            return bound | {literal.result.name} if groups_of(literal) <= bound else bound
        case _:
            return bound


def is_impossible(conjunction: Conjunction) -> bool:
    """Whether the conj says of itself that it does not hold."""
    return any(isinstance(literal, Truth) and not literal.value for literal in conjunction.literals)


def unbound_uses(literals: Iterable[Literal], given: frozenset[str]) -> Iterator[UnboundUse]:
    """Each use of a variable that neither the literals of this conj nor the conjs around it (`given`) bind."""
    literals = tuple(literals)
    bound = bound_by(literals, given)
    for literal in literals:
        match literal:
            case Atom():
                for term in literal.terms:
                    if isinstance(term, Operation):
                        yield from (UnboundUse(use, "computed with") for use in term_variables(term) if use.name not in bound)
            case Comparison():
                yield from (UnboundUse(use, "compared") for use in literal_variables(literal) if use.name not in bound)
            case Conjunction():
                yield from unbound_uses(literal.literals, bound)
            case Disjunction():
                for branch in literal.branches:
                    yield from unbound_uses(branch.literals, bound)
            case Negation():
                yield from _unbound_in_negation(literal, bound)
            case Aggregation():
                yield from _unbound_in_aggregate(literal, bound)


def _unbound_in_aggregate(literal: Aggregation, bound: frozenset[str]) -> Iterator[UnboundUse]:
    if is_impossible(literal.body):
        return
    groups = groups_of(literal)
    missing: set[str] = set()
    for use in literal_variables(literal.body) if not literal.grouping else ():
        if use.name in groups - bound:
            missing.add(use.name)
            yield UnboundUse(use, "aggregated")
    given = frozenset[str]() if literal.grouping else groups & bound
    within = bound_by(literal.body.literals, given)
    for term in literal.arguments:
        yield from (UnboundUse(use, "aggregated") for use in term_variables(term) if use.name not in within | missing)
    if literal.grouping:
        yield from (UnboundUse(use, "aggregated") for use in literal_variables(literal.body) if use.name in groups - within)
    for inner in unbound_uses(literal.body.literals, given):
        if inner.variable.name not in missing:
            yield inner


def _unbound_in_negation(negation: Negation, bound: frozenset[str]) -> Iterator[UnboundUse]:
    own = own_variables(negation.body)
    plain = len(negation.body.literals) == 1 and isinstance(negation.body.literals[0], Atom)
    missing: set[str] = set()
    for use in literal_variables(negation.body):
        if use.name not in bound and (plain or use.name not in own):
            missing.add(use.name)
            yield UnboundUse(use, "negated", use.name in own)
    for inner in unbound_uses(negation.body.literals, bound):
        if inner.variable.name not in missing:
            yield inner


def groups_of(aggregation: Aggregation) -> frozenset[str]:
    """The variables of the aggregate's body and arguments that also occur elsewhere in the rule."""
    used = literal_names(aggregation.body).union(*map(term_names, aggregation.arguments))
    return used - own_variables(aggregation.body)


def own_variables(conjunction: Conjunction) -> set[str]:
    """The variables that are quantified in the conj or below."""
    own = {variable.name for variable in conjunction.exists}
    for literal in conjunction.literals:
        match literal:
            case Conjunction():
                own |= own_variables(literal)
            case Negation() | Aggregation():
                own |= own_variables(literal.body)
            case Disjunction():
                own |= set().union(*map(own_variables, literal.branches))
    return own


def hidden_variables(literal: Literal) -> set[str]:
    """The variables that negations and aggregates in the literal quantify: no value of them makes it true."""
    match literal:
        case Negation() | Aggregation():
            return own_variables(literal.body)
        case Conjunction():
            return set().union(*map(hidden_variables, literal.literals))
        case Disjunction():
            return set().union(*map(hidden_variables, literal.branches))
        case _:
            return set()


def check_safety(
    rule: Rule, findings: Findings, head: str = "in the head", given: frozenset[str] = frozenset(), elsewhere: bool = False
) -> bool:
    """Report each variable of the rule that is not range restricted, once, at its first use that needs it; False if there is one.

    `head` says, in a message, what a variable of the head is; `given` are bound where the rule is used. With `elsewhere` only uses in
    what has been put into the rule from the text of another one are reported.
    """
    bound = bound_by(rule.body.literals, given)
    # Where an aggregate's groups have no values, that is to be told, and not that its result has none.
    waiting = {one.result.name for one in aggregations(rule.body) if groups_of(one) - bound - {one.result.name}}
    in_heads = [UnboundUse(use, "head") for head in rule.heads for use in literal_variables(head) if use.name not in bound]
    uses = (*in_heads, *unbound_uses(rule.body.literals, given))
    told = [use for use in uses if use.variable.name not in waiting] or uses  # or else they wait for each other
    reported: set[str] = set()
    for use in told:
        name, span = use.variable.name, use.variable.span
        if _apart(rule.span, span):
            shown = findings.one_line(span) or written_name(name)
            findings.add(span, f"`{shown}` is {use.purpose} here, but nothing binds it", f"its rule is inline at {place(rule.span)}")
        elif name not in reported and not elsewhere:
            reported.add(name)
            where = head if use.purpose == "head" else f"{use.purpose} here"
            findings.add(span, f"`{written_name(name)}` is {where}, but nothing binds it", _advice(rule, use, bound))
    if not elsewhere:
        _check_independence(rule.body, findings)
    return not uses


def _check_independence(conjunction: Conjunction, findings: Findings) -> None:
    """Report aggregates beside each other each of which only uses what the other one's body binds, as Soufflé does."""
    beside = [one for one in flat(conjunction.literals) if isinstance(one, Aggregation) and not one.grouping]
    pairs = [(one, _bound_within(one)) for one in beside] if len(beside) > 1 else []
    for aggregation, bound in pairs:
        names = literal_names(aggregation)
        for other, theirs in pairs:
            common = names & literal_names(other)
            needed, given = sorted(common & theirs - bound), sorted(common & bound - theirs)
            if needed and given:
                message = f"this aggregate and one beside it depend on each other: `{written_name(needed[0])}` is bound there only"
                hint = f"and `{written_name(given[0])}` here only; say one of them in a predicate of its own"
                findings.add(aggregation.span, message, hint)
                break
    for literal in flat(conjunction.literals):
        match literal:
            case Negation() | Aggregation():
                _check_independence(literal.body, findings)
            case Disjunction():
                for branch in literal.branches:
                    _check_independence(branch, findings)


def _bound_within(aggregation: Aggregation) -> frozenset[str]:
    """What an aggregation would bind if it stood alone and its body were seen."""
    bodies = (aggregation.body, *(inner.body for inner in aggregations(aggregation.body)))
    return bound_by((literal for body in bodies for literal in body.literals), frozenset((aggregation.result.name,)), inverses=False)


def _apart(rule: Span, use: Span) -> bool:
    """Whether a use stands outside of the rule's own text."""
    return bool(rule.line and use.line) and (use.end <= rule.start or rule.end <= use.start)


def _advice(rule: Rule, use: UnboundUse, bound: frozenset[str]) -> str:
    name = use.variable.name
    if (author := written_name(name)) != name:
        return f"here `{author}` is a variable of the aggregate's own; bind it by a positive atom in the aggregate's body"
    if use.local:
        return f"write `_` to say that no row has any value there, or bind `{name}` by a positive atom"
    for disjunction in _disjunctions(rule.body):
        lacking = [branch for branch in disjunction.branches if name not in bound_by(branch.literals, bound)]
        if lacking and len(lacking) < len(disjunction.branches):
            return f"the branch at {place(lacking[0].span)}, column {lacking[0].span.column} does not bind `{name}`"
    groups = [literal for literal in rule.body.literals if isinstance(literal, Negation) and name in literal_names(literal)]
    if use.purpose == "negated" and len(groups) > 1:
        return f"`{name}` is one variable in the whole rule; give each negated group a variable of its own"
    if any(name in groups_of(one) and not one.grouping for one in aggregations(rule.body)):
        return f"an aggregate does not bind the variables that make its groups; bind `{name}` by a positive atom beside it"
    if use.purpose == "aggregated":
        return f"bind `{name}` by a positive atom in the aggregate's body"
    similar = did_you_mean(name, sorted(bound - {name})) if len(name) > 2 else ""
    return similar or f"bind `{name}` by a positive atom, or by `=` with an expression of bound variables"


def _disjunctions(literal: Literal) -> Iterator[Disjunction]:
    match literal:
        case Conjunction():
            for inner in literal.literals:
                yield from _disjunctions(inner)
        case Negation():
            yield from _disjunctions(literal.body)
        case Disjunction():
            yield literal
            for branch in literal.branches:
                yield from _disjunctions(branch)
