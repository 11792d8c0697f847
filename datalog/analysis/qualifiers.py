"""The words behind a declaration: what cannot be said together, and those of old programs.

`input`, `output` and `printsize` become directives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal, cast

from datalog.analysis.findings import Findings
from datalog.syntax.tree import Clause, Declaration, Directive, Program

_KEPT = ("btree", "brie", "btree_delete", "eqrel")
OLD = ("input", "output", "printsize")


def check_qualifiers(program: Program, findings: Findings) -> None:
    """Report declarations that say a word twice, or twice how rows are kept."""
    for clause in program.clauses:
        words = clause.qualifiers if isinstance(clause, Declaration) else ()
        kept = [word for word in words if word in _KEPT]
        if len(kept) > 1 and set(kept) != {"btree_delete"}:
            hint = "one of btree, brie, btree_delete and eqrel says how rows are kept"
            findings.add(clause.span, f"`{kept[1]}` after `{kept[0]}`", hint)
        for word in sorted({word for word in words if words.count(word) > 1 and word not in _KEPT}):
            findings.add(clause.span, f"`{word}` stands twice behind one declaration", "once says it")


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
