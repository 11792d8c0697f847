"""Writes the oracle's programs as `.dl` text, in Soufflé's dialect or in the papers' (`<-`, no declarations)."""

from __future__ import annotations

import random
from collections.abc import Mapping, Set
from dataclasses import dataclass

from tests.oracle.rules import (
    Agg,
    Application,
    Atom,
    Blank,
    Compare,
    Const,
    Fold,
    Literal,
    Not,
    Op,
    Or,
    Program,
    Row,
    Rule,
    Term,
    Test,
    Total,
    Value,
    Var,
)
from tests.oracle.values import scale_of, spelled

ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t"}
INFIX = frozenset(["+", "-", "*", "/", "%", "^", "band", "bor", "bxor", "bshl", "bshr", "bshru", "land", "lor", "lxor"])
PREFIX = frozenset(("-", "bnot", "lnot"))
ATTRIBUTES = "abcdefgh"


@dataclass(frozen=True, slots=True)
class Style:
    """How a program is written. `shuffle` 0 keeps declarations, facts and rules in order, another number seeds a permutation."""

    arrow: str = ":-"
    declare: bool = True
    suffix: bool = False  # unsigned constants as 5u
    bare: bool = False  # `count : p(x)` without braces, where the aggregate's body is one atom
    scales: bool = True  # to_decimal(x, 2), and not to_decimal(x), whose scale something else has to say
    shuffle: int = 0


def to_text(program: Program, facts: Mapping[str, Set[Row]] | None = None, style: Style | None = None) -> str:
    """The text of `program` with `facts` as ground facts, one clause a line."""
    writer = _Writer(style or Style())
    functional = program.functional
    clauses = [writer.declaration(name, types, name in functional) for name, types in program.types.items()] if writer.style.declare else []
    for name, rows in (facts or {}).items():
        clauses.extend(writer.fact(name, row, program.types[name], name in functional) for row in sorted(rows))
    clauses.extend(writer.rule(rule) for rule in program.rules)
    if writer.style.shuffle:
        random.Random(writer.style.shuffle).shuffle(clauses)
    return "".join(clause + "\n" for clause in clauses)


class _Writer:
    def __init__(self, style: Style) -> None:
        self.style = style

    def declaration(self, name: str, types: tuple[str, ...], functional: bool) -> str:
        attributes = [f"{letter}: {type}" for letter, type in zip(ATTRIBUTES, types, strict=False)]
        if functional:
            return f".decl {name}({', '.join(attributes[:-1])}) = {attributes[-1]}"
        return f".decl {name}({', '.join(attributes)})"

    def fact(self, name: str, row: Row, types: tuple[str, ...], functional: bool) -> str:
        return f"{self.literal(Atom(name, tuple(map(Const, row, types)), functional))}."

    def rule(self, rule: Rule) -> str:
        heads = ", ".join(self.literal(head) for head in rule.heads)
        if rule.totals:
            return f"{heads} <- agg<<{', '.join(map(self.total, rule.totals))}>> {self.body(rule.body)}."
        if not rule.body:
            return f"{heads}."
        if len(rule.body) == 1 and isinstance(rule.body[0], Or):
            return f"{heads} {self.style.arrow} {self.branches(rule.body[0])}."
        return f"{heads} {self.style.arrow} {self.body(rule.body)}."

    def total(self, total: Total) -> str:
        arguments = (*total.arguments, *((total.parameter,) if total.parameter else ()))
        return f"{total.result.name} = {total.function}({self.terms(arguments)})"

    def body(self, body: tuple[Literal, ...]) -> str:
        return ", ".join(self.literal(literal) for literal in body)

    def branches(self, literal: Or) -> str:
        return " ; ".join(self.body(branch) for branch in literal.branches)

    def literal(self, literal: Literal) -> str:
        match literal:
            case Atom(predicate, terms, bracketed):
                if bracketed:
                    return f"{predicate}[{self.terms(terms[:-1])}] = {self.term(terms[-1])}"
                return f"{predicate}({self.terms(terms)})"
            case Test(term):
                return self.term(term)
            case Compare(operator, left, right):
                return f"{self.term(left)} {operator} {self.term(right)}"
            case Not((Atom(bracketed=False) | Test() as only,)):
                return f"!{self.literal(only)}"
            case Not((Or() as only,)):
                return f"!({self.branches(only)})"
            case Not(body):
                return f"!({self.body(body)})"
            case Or():
                return f"({self.branches(literal)})"
            case Fold():
                raise AssertionError("a flat literal has no text")

    def terms(self, terms: tuple[Term, ...]) -> str:
        return ", ".join(self.term(term) for term in terms)

    def term(self, term: Term, inner: bool = False) -> str:
        match term:
            case Var(name):
                return name
            case Blank():
                return "_"
            case Const(value, type):
                return self.constant(value, type)
            case Op("-", (argument,), _):
                return f"-({self.term(argument)})" if isinstance(argument, Const) else f"-{self.term(argument, True)}"
            case Op(name, (argument,), _) if name in PREFIX:
                operand = f"({self.term(argument)})" if isinstance(argument, Const) else self.term(argument, True)
                return f"({name} {operand})" if inner else f"{name} {operand}"
            case Op(name, (left, right), _) if name in INFIX:
                base = f"({self.term(left)})" if name == "^" and isinstance(left, Const) else self.term(left, True)
                text = f"{base} {name} {self.term(right, True)}"  # -1 ^ 2 is -(1 ^ 2)
                return f"({text})" if inner else text
            case Op("to_decimal", (argument,), type) if self.style.scales:
                return f"to_decimal({self.term(argument)}, {scale_of(type)})"
            case Op(name, arguments, _):
                return f"{name}({self.terms(arguments)})"
            case Application(predicate, keys):
                return f"{predicate}[{self.terms(keys)}]"
            case Agg():
                return f"({self.aggregate(term)})" if inner else self.aggregate(term)
        raise AssertionError(f"not a term: {term}")

    def aggregate(self, term: Agg) -> str:
        arguments = (*term.arguments, *((term.parameter,) if term.parameter else ()))
        body = self.body(term.body)
        if not (self.style.bare and len(term.body) == 1 and isinstance(term.body[0], Atom) and not term.body[0].bracketed):
            body = f"{{ {body} }}"
        if term.function.startswith("@@") and term.parameter:
            return f"{term.function} {self.terms(term.arguments)} : {self.term(term.parameter)}, {body}"
        return f"{term.function} {self.terms(arguments)} : {body}" if arguments else f"{term.function} : {body}"

    def constant(self, value: Value, type: str) -> str:
        if type in ("symbol", "date", "datetime"):
            return '"' + "".join(ESCAPES.get(character, character) for character in spelled(value)) + '"'
        if type == "unsigned" and self.style.suffix:
            return f"{value}u"
        return spelled(value)
