"""`input`, `output` and `printsize` behind a declaration, as old programs have them, become directives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal, cast

from datalog.syntax.tree import Clause, Declaration, Directive, Program

OLD = ("input", "output", "printsize")


def expand_old_qualifiers(program: Program) -> Program:
    """The program with a directive behind each declaration that has such a qualifier."""
    if not any(isinstance(clause, Declaration) and not set(OLD).isdisjoint(clause.qualifiers) for clause in program.clauses):
        return program
    return replace(program, clauses=tuple(made for clause in program.clauses for made in _expanded(clause)))


def _expanded(clause: Clause) -> Iterator[Clause]:
    if not isinstance(clause, Declaration):
        yield clause
        return
    yield replace(clause, qualifiers=tuple(word for word in clause.qualifiers if word not in OLD))
    for word in clause.qualifiers:
        if word in OLD:
            yield Directive(cast(Literal["input", "output", "printsize"], word), clause.predicates, (), clause.span)
