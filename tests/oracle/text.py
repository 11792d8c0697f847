"""Writes the oracle's programs as `.dl` text, in Soufflé's dialect or in the papers' (`<-`, no declarations)."""

from __future__ import annotations

import random
from collections.abc import Mapping, Set
from dataclasses import dataclass

from tests.oracle.rules import Atom, Blank, Compare, Const, Literal, Not, Op, Or, Program, Row, Rule, Term, Value, Var

ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t"}


@dataclass(frozen=True, slots=True)
class Style:
    """How a program is written. `shuffle` 0 keeps declarations, facts and rules in order, another number seeds a permutation."""

    arrow: str = ":-"
    declare: bool = True
    suffix: bool = False  # unsigned constants as 5u
    shuffle: int = 0


def to_text(program: Program, facts: Mapping[str, Set[Row]] | None = None, style: Style | None = None) -> str:
    """The text of `program` with `facts` as ground facts, one clause a line."""
    writer = _Writer(style or Style())
    clauses = [writer.declaration(name, types) for name, types in program.types.items()] if writer.style.declare else []
    for name, rows in (facts or {}).items():
        clauses.extend(writer.fact(name, row, program.types[name]) for row in sorted(rows))
    clauses.extend(writer.rule(rule) for rule in program.rules)
    if writer.style.shuffle:
        random.Random(writer.style.shuffle).shuffle(clauses)
    return "".join(clause + "\n" for clause in clauses)


class _Writer:
    def __init__(self, style: Style) -> None:
        self.style = style

    def declaration(self, name: str, types: tuple[str, ...]) -> str:
        return f".decl {name}({', '.join(f'{letter}: {type}' for letter, type in zip('abcdefgh', types, strict=False))})"

    def fact(self, name: str, row: Row, types: tuple[str, ...]) -> str:
        return f"{name}({', '.join(self.constant(value, type) for value, type in zip(row, types, strict=True))})."

    def rule(self, rule: Rule) -> str:
        heads = ", ".join(self.literal(head) for head in rule.heads)
        if not rule.body:
            return f"{heads}."
        if len(rule.body) == 1 and isinstance(rule.body[0], Or):
            return f"{heads} {self.style.arrow} {self.branches(rule.body[0])}."
        return f"{heads} {self.style.arrow} {self.body(rule.body)}."

    def body(self, body: tuple[Literal, ...]) -> str:
        return ", ".join(self.literal(literal) for literal in body)

    def branches(self, literal: Or) -> str:
        return " ; ".join(self.body(branch) for branch in literal.branches)

    def literal(self, literal: Literal) -> str:
        match literal:
            case Atom(predicate, terms):
                return f"{predicate}({', '.join(self.term(term) for term in terms)})"
            case Compare(operator, left, right):
                return f"{self.term(left)} {operator} {self.term(right)}"
            case Not((Atom() as atom,)):
                return f"!{self.literal(atom)}"
            case Not((Or() as only,)):
                return f"!({self.branches(only)})"
            case Not(body):
                return f"!({self.body(body)})"
            case Or():
                return f"({self.branches(literal)})"

    def term(self, term: Term, inner: bool = False) -> str:
        match term:
            case Var(name):
                return name
            case Blank():
                return "_"
            case Const(value, type):
                return self.constant(value, type)
            case Op(name, (argument,), _):
                return f"{name}({self.term(argument)})" if isinstance(argument, Const) else f"{name}{self.term(argument, True)}"
            case Op(name, (left, right), _):
                text = f"{self.term(left, True)} {name} {self.term(right, True)}"
                return f"({text})" if inner else text
        raise AssertionError(f"not a term: {term}")

    def constant(self, value: Value, type: str) -> str:
        if type == "symbol":
            return '"' + "".join(ESCAPES.get(character, character) for character in str(value)) + '"'
        if type == "float":
            return repr(float(value))
        return f"{value}u" if type == "unsigned" and self.style.suffix else str(value)
