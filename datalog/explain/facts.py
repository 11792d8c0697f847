"""Facts as users write them, `path(1, 3)`, and as they are stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from datalog.errors import DataError, Diagnostic, ProgramError
from datalog.io.literals import closest, read_literal, spell
from datalog.io.rows import columns_of, counted
from datalog.ir.core import Predicate
from datalog.store.values import BadValue, Values
from datalog.syntax import parse_atom
from datalog.syntax.constants import BadLiteral
from datalog.syntax.source import Source
from datalog.syntax.tree import Constant, Operation, Term, Variable, Wildcard

FILE = "<fact>"
Codes = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Fact:
    """A row that a predicate has or could have; `codes` is the row as it is stored."""

    predicate: Predicate
    codes: Codes

    @property
    def rows(self) -> NDArray[np.int64]:
        """The row as a block of one."""
        return np.array([self.codes], np.int64)


def read_fact(text: str, predicates: Mapping[str, Predicate], values: Values) -> Fact:
    """The fact that `text` spells, values as in a transaction stream: an integer may stand for an unsigned number or a float.

    Raises ProgramError if it is no fact of a predicate of the program, DataError for a value of a wrong type.
    """
    atom, source = parse_atom(text, FILE), Source(text, FILE)

    def wrong(term: Term, message: str, hint: str = "") -> Diagnostic:
        return source.diagnostic(message, term.span.start, term.span.end, hint)

    predicate = predicates.get(atom.predicate)
    if predicate is None or predicate.hidden:
        known = [name for name, other in predicates.items() if not other.hidden]
        start = atom.span.start
        message = f"unknown predicate `{atom.predicate}`"
        raise ProgramError([source.diagnostic(message, start, start + len(atom.predicate), closest(atom.predicate, known))])
    if len(atom.terms) != len(predicate.types):
        message = f"`{atom.predicate}` is given {counted(len(atom.terms), 'value')} and has {columns_of(predicate)}"
        raise ProgramError([source.diagnostic(message, atom.span.start, atom.span.end)])
    codes: list[int] = []
    problems: list[Diagnostic] = []
    for term, type in zip(atom.terms, predicate.types, strict=True):
        try:
            codes.append(values.encode(read_literal(text[term.span.start : term.span.end].strip(), type), type))
        except (BadValue, BadLiteral) as error:
            match term:
                case Constant():
                    raise DataError([wrong(term, str(error))]) from None
                case Variable() | Wildcard():
                    problems.append(wrong(term, "a fact has values only", "a query finds the rows: `?- …` in the REPL, or Database.query"))
                case Operation():
                    problems.append(wrong(term, "a fact has values only, and this is a computation"))
    if problems:
        raise ProgramError(problems)
    return Fact(predicate, tuple(codes) or (0,))


def show_row(predicate: Predicate, codes: Codes, values: Values) -> str:
    """A row of a predicate in the notation of facts."""
    spelled = [spell(values.decode(code, type), type) for code, type in zip(codes, predicate.types, strict=False)]
    return f"{predicate.name.removesuffix('@base')}({', '.join(spelled)})"
