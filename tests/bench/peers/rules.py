"""Positive rules, written once and printed in each engine's language."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

_ATOM = re.compile(r"(\w+)\(([^)]*)\)")
Rename = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Atom:
    """A predicate and its arguments: names of variables, or numbers."""

    name: str
    arguments: tuple[str, ...]

    def text(self, variable: Rename) -> str:
        return f"{self.name}({', '.join(map(variable, self.arguments))})"

    def prefix(self) -> str:
        """`(name v.x v.y)`: variables are kept apart from predicates."""
        return f"({' '.join((self.name, *(one if one.isdigit() else f'v.{one}' for one in self.arguments)))})"


@dataclass(frozen=True, slots=True)
class Rule:
    """A head and the atoms that it follows from; a fact has none."""

    head: Atom
    body: tuple[Atom, ...]


def parse(text: str) -> tuple[Rule, ...]:
    """A rule or fact a line, `t(x, z) :- t(x, y), e(y, z).`; directives are passed over."""
    rules = []
    for line in (line.strip() for line in text.splitlines()):
        if not line or line.startswith("."):
            continue
        head, *body = (Atom(name, tuple(part.strip() for part in arguments.split(","))) for name, arguments in _ATOM.findall(line))
        rules.append(Rule(head, tuple(body)))
    return tuple(rules)


def arities(rules: Iterable[Rule]) -> dict[str, int]:
    """The predicates of rules, in order of appearance, and how many arguments they have."""
    return {atom.name: len(atom.arguments) for rule in rules for atom in (rule.head, *rule.body)}


def heads(rules: Iterable[Rule]) -> list[str]:
    """The predicates that rules with bodies derive."""
    return list(dict.fromkeys(rule.head.name for rule in rules if rule.body))


def clauses(rules: Iterable[Rule], variable: Rename = str, end: str = ".") -> str:
    """Rules as most Datalogs write them; `variable` turns x into what a variable looks like there."""

    def name(argument: str) -> str:
        return argument if argument.isdigit() else variable(argument)

    lines = [
        f"{rule.head.text(name)}{' :- ' if rule.body else ''}{', '.join(atom.text(name) for atom in rule.body)}{end}\n" for rule in rules
    ]
    return "".join(lines)


def declarations(predicates: Mapping[str, int], given: Iterable[str]) -> str:
    """`.decl` and `.input` of predicates over numbers, as Soufflé and we write them."""
    lines = [f".decl {name}({', '.join(f'c{column}: number' for column in range(arity))})\n" for name, arity in predicates.items()]
    return "".join(lines) + "".join(f".input {name}\n" for name in given)


def lisp(rules: Iterable[Rule]) -> str:
    """Rules in egglog's notation."""
    lines = [
        f"(rule ({' '.join(atom.prefix() for atom in rule.body)}) ({rule.head.prefix()}))\n" if rule.body else f"{rule.head.prefix()}\n"
        for rule in rules
    ]
    return "".join(lines)


def select(rule: Rule, tables: Iterable[str]) -> str:
    """A rule's body as a SELECT over tables with columns c0, c1, …; `tables` has one name for each atom."""
    places: dict[str, str] = {}
    conditions, sources = [], []
    for number, (atom, table) in enumerate(zip(rule.body, tables, strict=True)):
        sources.append(f"{table} a{number}")
        for column, argument in enumerate(atom.arguments):
            here = f"a{number}.c{column}"
            there = argument if argument.isdigit() else places.setdefault(argument, here)
            if there != here:
                conditions.append(f"{there} = {here}")
    columns = ", ".join(f"{places[argument]} AS c{column}" for column, argument in enumerate(rule.head.arguments))
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return f"SELECT {columns} FROM {', '.join(sources)}{where}"
