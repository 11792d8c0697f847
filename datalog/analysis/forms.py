"""What may stand where: no wildcard in a head or in an expression, no variable in a fact, only functors and aggregates that there are."""

from __future__ import annotations

from datalog.analysis.desugar import Primitives
from datalog.analysis.findings import Findings, did_you_mean
from datalog.analysis.hints import GREATEST_SCALE, aggregate_hint
from datalog.analysis.types import named, scale_of
from datalog.analysis.walk import leaves, subterms, terms
from datalog.ir.functors import aggregate_of, folded_by
from datalog.ir.primitives import AGGREGATES, CALL, is_fold
from datalog.syntax.aggregates import OTHER_NAMES
from datalog.syntax.tree import Aggregate, Atom, Constant, Literal, Operation, Rule, Term, Variable, Wildcard

FOLDED = 2  # arguments of an aggregate of the user's own: the initial value, and the value


def is_fact(rule: Rule) -> bool:
    """Whether the clause states rows rather than a rule."""
    return not rule.arrow and not rule.body.literals


def check_forms(rule: Rule, primitives: Primitives, findings: Findings) -> None:
    """Report every term of the clause that may not stand where it stands."""
    fact = is_fact(rule)
    for head in rule.heads:
        if all(isinstance(term, Constant) for term in head.terms):
            continue
        for term in head.terms:
            for inner in subterms(term):
                if isinstance(inner, Wildcard):
                    where = "a fact" if fact else "a head"
                    findings.add(inner.span, f"`_` stands in {where}", "every column of a derived row needs a value")
                elif fact and isinstance(inner, Variable):
                    hint = "write a text between double quotes" if len(inner.name) > 1 else "write a rule with a body that binds it"
                    findings.add(inner.span, f"variable `{inner.name}` stands in a fact", hint)
        check_terms(head, primitives, findings, rule)
    check_terms(rule.body, primitives, findings, rule)


def check_terms(literal: Literal, primitives: Primitives, findings: Findings, rule: Rule | None = None) -> None:
    """Report unknown functors and aggregates, and wildcards in expressions and comparisons, at any depth; all in `rule`, if any."""
    for leaf in leaves(literal):
        for term in terms(leaf):
            if isinstance(term, Wildcard) and not isinstance(leaf, Atom):
                findings.add(term.span, "`_` stands in a comparison", "`_` has no value; give it a name")
            for inner in subterms(term):
                if isinstance(inner, Operation):
                    _check_operation(inner, primitives, findings, rule)
                elif isinstance(inner, Aggregate):
                    _check_aggregate(inner, primitives, findings)
                for argument in inner.arguments if isinstance(inner, (Operation, Aggregate)) else ():
                    if isinstance(argument, Wildcard):
                        findings.add(argument.span, "`_` stands in an expression", "`_` has no value; give it a name")


def _check_operation(operation: Operation, primitives: Primitives, findings: Findings, rule: Rule | None) -> None:
    name, count = named(operation), len(operation.arguments)
    found = primitives.get(name, ())
    meant = OTHER_NAMES.get(name, name)
    if meant in AGGREGATES and (not found or count == 1):
        message = f"`{name}` is an aggregate" if meant == name else f"`{name}` is the aggregate `{meant}`"
        body = findings.one_line(rule.body.span) if rule else ""
        findings.add(operation.span, message, aggregate_hint(operation, rule, body))
    elif not found and name.startswith(CALL):
        hint = did_you_mean(name, [known for known in primitives if known.startswith(CALL)])
        findings.add(operation.span, f"functor `{name}` is not declared", hint or f"declare it: .functor {name[1:]}(x: number): number")
    elif not found:
        known = [known for known in primitives if known.isidentifier() and known != "neg"]
        hint = did_you_mean(name, known) or f"there are {', '.join(sorted(known))}"
        findings.add(operation.span, f"unknown functor `{name}`", hint)
    elif all(primitive.slots(count) is None for primitive in found):
        takes = " or ".join(f"{len(primitive.arguments)}{' or more' if primitive.variadic else ''}" for primitive in found)
        noun = "argument" if takes == "1" else "arguments"
        found_here = "one argument" if count == 1 else f"{count or 'no'} arguments"
        findings.add(operation.span, f"`{operation.name}` has {found_here} here", f"it takes {takes} {noun}")
    elif name == "to_decimal" and count == 2 and scale_of(operation) is None:
        findings.add(operation.arguments[1].span, "this is no scale of a decimal", f"write a number from 0 to {GREATEST_SCALE}")


def _check_aggregate(aggregate: Aggregate, primitives: Primitives, findings: Findings) -> None:
    function = aggregate_of(aggregate.function, primitives)
    if is_fold(aggregate.function):
        _check_fold(aggregate, function is not None, primitives, findings)
        return
    if function is None:
        close = OTHER_NAMES.get(aggregate.function)
        hint = (
            f"write `{close}`" if close else did_you_mean(aggregate.function, AGGREGATES)
        ) or f"there are {', '.join(sorted(AGGREGATES))}"
        findings.add(aggregate.span, f"unknown aggregate `{aggregate.function}`", hint)
        return
    takes, count = len(function.arguments), len(aggregate.arguments)
    if takes != count:
        noun = "argument" if takes == 1 else "arguments"
        found = "one argument" if count == 1 else f"{count or 'no'} arguments"
        hint = f"it takes {takes or 'no'} {noun}" if takes or aggregate.grouping else "it counts what its body gives: count : { … }"
        findings.add(aggregate.span, f"`{function.name}` has {found} here", hint)
    elif function.parameter and not isinstance(aggregate.arguments[-1], Constant):
        findings.add(aggregate.arguments[-1].span, f"the last argument of `{function.name}` is no constant", "write its value")
    elif aggregate.function == "quantile" and not _is_fraction(aggregate.arguments[-1]):
        span, hint = aggregate.arguments[-1].span, "0 asks for the least value, 0.5 for the median, 1 for the greatest"
        findings.add(span, "the last argument of `quantile` is outside of 0 to 1", hint)


def _check_fold(aggregate: Aggregate, known: bool, primitives: Primitives, findings: Findings) -> None:
    name = aggregate.function.removeprefix(CALL)
    if not folded_by(aggregate.function, primitives):
        hint = did_you_mean(name, [known for known in primitives if known.startswith(CALL)])
        declaration = f"declare it: .functor {name[1:]}(so_far: number, next: number): number"
        findings.add(aggregate.span, f"functor `{name}` is not declared", hint or declaration)
    elif not known:
        hint = "it takes what the rows before have given, and the next value, and gives a value of the first one's type"
        findings.add(aggregate.span, f"`{name}` takes and gives other values than `{aggregate.function}` could fold rows with", hint)
    elif len(aggregate.arguments) != FOLDED:
        count = len(aggregate.arguments) - 1
        message = f"`{aggregate.function}` has {count or 'no'} argument{'' if count == 1 else 's'} here"
        findings.add(aggregate.span, message, f"it takes one: {aggregate.function} x : initial, {{ … }}")


def _is_fraction(term: Term) -> bool:
    """Whether a constant is one from 0 to 1; of one that is no number the types are to complain."""
    return not isinstance(term, Constant) or isinstance(term.value, str) or 0 <= term.value <= 1
