"""What to write instead: a way out of types that do not go together, and the right forms of what other languages write otherwise.

Hints show the author's own terms; nothing here decides whether something is an error.
"""

from __future__ import annotations

from dataclasses import replace

from datalog.analysis.walk import subterms, variables
from datalog.ir.core import Type
from datalog.ir.primitives import DECIMALS, PLAIN, PRIMITIVES, TIMES, WHOLE, Allowed
from datalog.syntax.aggregates import OTHER_NAMES
from datalog.syntax.printer import format_heads, format_literal, format_term
from datalog.syntax.tree import Aggregate, Comparison, Constant, Operation, Rule, Term, Variable

GREATEST_SCALE = len(Type.DECIMALS) - 1
LONGEST_BODY = 60
_DAYS = "add_days(d, 30) is the day 30 days later, and days_between(a, b) the days from one to another"
_SECONDS = "add_seconds(t, 60) is the time a minute later, and seconds_between(a, b) the seconds from one to another"


def way_out(whole: Term | Comparison | None, operand: Term, seen: Allowed, wanted: Allowed) -> str:
    """How `whole` could be written, of whose operands `operand` is `seen` and should be `wanted`; empty where nothing is known."""
    if isinstance(whole, Operation) and whole.name in ("+", "-") and (times := (seen | wanted) & TIMES):
        return _SECONDS if times == {Type.DATETIME} else _DAYS
    if isinstance(whole, Operation) and whole.name.isidentifier():
        return _argument(operand, seen, wanted)
    if not isinstance(whole, (Operation, Comparison)):
        return ""
    others = [other for other in _operands(whole) if other is not operand]
    if len(others) != 1:
        return ""
    other = others[0]
    if isinstance(operand, Constant) and len(wanted) == 1 and wanted <= DECIMALS:
        return _finer(whole, operand, other, *wanted)
    if isinstance(other, Constant) and len(seen) == 1 and seen <= DECIMALS and wanted & DECIMALS and len(wanted) > 1:
        return _finer(whole, other, operand, *seen)
    if len(seen) != 1 or len(wanted) != 1:
        return ""
    (have,), (need,) = seen, wanted
    return _converted(whole, operand, other, have, need)


def _argument(operand: Term, seen: Allowed, wanted: Allowed) -> str:
    """The argument of a functor converted to the one type that it takes."""
    if len(wanted) != 1 or (isinstance(operand, Constant) and wanted != {Type.SYMBOL}):
        return ""
    (type_,) = wanted
    functor = f"to_{type_.value}" if type_ is not Type.SYMBOL else "to_string"
    takes = {found for primitive in PRIMITIVES.get(functor, ()) for found in primitive.arguments[0].types}
    return f"write {_text(Operation(functor, (operand,)))}" if seen <= takes else ""


def _converted(whole: Operation | Comparison, operand: Term, other: Term, have: Type, need: Type) -> str:
    """One of two operands converted, of which one is a decimal."""
    if have.scale >= 0 and need.scale >= 0:
        if isinstance(other, Constant) and isinstance(whole, Operation):
            return f"write {_text(_decimal(whole, need.scale))}"
        lesser = operand if have.scale < need.scale else other
        return f"both have one scale in {_with(whole, lesser, _decimal(lesser, max(have.scale, need.scale)))}"
    if have.scale < 0 and need.scale < 0:
        return ""
    decimal, plain, type_ = (operand, other, need) if have.scale >= 0 else (other, operand, have)
    scale = max(have.scale, need.scale)
    written = f"write {_with(whole, plain, Operation('to_decimal', (plain,)))}"
    if type_ in WHOLE:
        return written
    if type_ not in PLAIN:
        return ""
    floats = _with(whole, decimal, Operation("to_float", (decimal,)))
    return f"{written}, which rounds to {_digits(scale)} behind the point, or {floats}"


def _finer(whole: Operation | Comparison, constant: Constant, other: Term, type_: Type) -> str:
    """The same with as many digits behind the point as are needed to hold a constant, and a product by it, exactly."""
    fraction = (constant.spelling or repr(constant.value)).partition(".")[2]
    if constant.type not in ("number", "float") or not fraction.isdigit() or len(fraction) <= type_.scale:
        return ""
    multiplies = isinstance(whole, Operation) and whole.name == "*"
    scale = min(len(fraction) + multiplies * type_.scale, GREATEST_SCALE)
    if len(fraction) > scale:
        return ""
    finer = _exchanged(whole, other, _decimal(other, scale))
    if isinstance(finer, Comparison):
        return f"compare with {_digits(scale)} behind the point: {_text(finer)}"
    return f"compute with more digits, then round to {type_.scale}: {_text(_decimal(finer, type_.scale))}"


def scale_hint(operation: Operation) -> str:
    """How the scale of `to_decimal(x)` is said."""
    (argument,) = operation.arguments
    shown = argument if isinstance(argument, (Variable, Constant)) else Variable("x")
    return f"declare the column that it goes to, or write {_text(_decimal(shown, 2))}"


def aggregate_hint(operation: Operation, rule: Rule | None, body: str) -> str:
    """The two right forms of `p(x, sum(y)) :- body`, or of `t = sum(y)` in a body; `body` is the rule's as it was written.

    One form for what is no part of a rule with a body."""
    function = OTHER_NAMES.get(operation.name, operation.name)
    arguments = ", ".join(map(_text, operation.arguments))
    term, call = (function, f"{function}()") if function == "count" else (f"{function} {arguments}", f"{function}({arguments})")
    if rule is None or not body:
        return f"write {term} : {{ … }} in a body"
    heads = [term for head in rule.heads for term in head.terms]
    in_head = any(inner is operation for head in heads for inner in subterms(head))
    result = _fresh(rule) if in_head else next((test.left for test in _tests(rule) if test.right is operation), None)
    if not isinstance(result, Variable):
        return f"write {term} : {{ … }} in a body"
    body = body if in_head and len(body) <= LONGEST_BODY else "…"
    written = [replace(head, terms=tuple(_plain(_exchanged_within(term, operation, result)) for term in head.terms)) for head in rule.heads]
    head = format_heads(replace(rule, heads=tuple(written)))
    name = result.name
    return f"write {head} <- agg<<{name} = {call}>> {body}, or {name} = {term} : {{ {body} }} beside what binds the rest"


def _tests(rule: Rule) -> list[Comparison]:
    return [literal for literal in rule.body.literals if isinstance(literal, Comparison)]


def _fresh(rule: Rule) -> Variable:
    """A variable for a total, of a name that the rule does not have."""
    taken = {use.name for literal in [*rule.heads, *rule.body.literals] for use in variables(literal)}
    taken.update(head.predicate for head in rule.heads)
    names = ("t", "total", "result", *(f"t{number}" for number in range(len(taken) + 1)))
    return Variable(next(name for name in names if name not in taken))


def _operands(whole: Operation | Comparison) -> tuple[Term, ...]:
    return whole.arguments if isinstance(whole, Operation) else (whole.left, whole.right)


def _decimal(term: Term, scale: int) -> Operation:
    return Operation("to_decimal", (term, Constant(scale, "number")))


def _digits(scale: int) -> str:
    return f"{scale} digit{'' if scale == 1 else 's'}"


def _exchanged(whole: Operation | Comparison, old: Term, new: Term) -> Operation | Comparison:
    if isinstance(whole, Operation):
        return replace(whole, arguments=tuple(new if argument is old else argument for argument in whole.arguments))
    return replace(whole, left=new if whole.left is old else whole.left, right=new if whole.right is old else whole.right)


def _exchanged_within(term: Term, old: Term, new: Term) -> Term:
    if term is old:
        return new
    if isinstance(term, Operation):
        return replace(term, arguments=tuple(_exchanged_within(argument, old, new) for argument in term.arguments))
    return term


def _with(whole: Operation | Comparison, old: Term, new: Term) -> str:
    return _text(_exchanged(whole, old, new))


def _text(what: Term | Comparison) -> str:
    if isinstance(what, Comparison):
        return format_literal(replace(what, left=_plain(what.left), right=_plain(what.right)))
    return format_term(_plain(what))


def _plain(term: Term) -> Term:
    """A desugared term as its author knows it: new variables stand for what follows their `=`."""
    match term:
        case Variable():
            return replace(term, name=term.name.removeprefix("="))
        case Operation() | Aggregate():
            return replace(term, arguments=tuple(map(_plain, term.arguments)))
        case _:
            return term
