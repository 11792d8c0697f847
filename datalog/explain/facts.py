"""Facts as users write them, `path(1, 3)` and `F["n"] = 20`, and as they are stored."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from datalog.errors import DataError, Diagnostic, ProgramError
from datalog.explain.literals import show_fact, show_key
from datalog.io.literals import closest, read_literal, spell
from datalog.io.rows import columns_of, counted
from datalog.ir.core import CoreProgram, Predicate
from datalog.store.keys import find_values
from datalog.store.storage import Storage
from datalog.store.values import BadValue, Values
from datalog.syntax import parse_atom
from datalog.syntax.constants import BadLiteral
from datalog.syntax.source import Source
from datalog.syntax.tree import Atom, Constant, Term, Variable, Wildcard

FILE = "<fact>"
Codes = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Fact:
    """A row that a predicate has or could have; `codes` is the row as it is stored, or the key of one of a functional predicate."""

    predicate: Predicate
    codes: Codes

    @property
    def is_key(self) -> bool:
        """Is it a key alone, which stands for the row with that key?"""
        return len(self.codes) < self.predicate.width

    @property
    def rows(self) -> NDArray[np.int64]:
        """The row as a block of one."""
        return np.array([self.codes], np.int64)


def read_fact(text: str, program: CoreProgram, values: Values) -> Fact:
    """The fact that `text` spells, values as in a transaction stream: an integer may stand for an unsigned number or a float.

    `F[x]` and `F[x] = _` are keys. Raises ProgramError if it is no fact of a predicate of the program, DataError for a value of a
    wrong type.
    """
    shown = text.strip().removesuffix(".").rstrip()
    text = f"{shown} = _" if shown.endswith("]") else text
    atom, source = parse_atom(text, FILE), Source(text, FILE)

    def wrong(term: Term, message: str, hint: str = "") -> Diagnostic:
        return source.diagnostic(message, term.span.start, term.span.end, hint)

    def wrong_name(message: str, hint: str = "") -> ProgramError:
        return ProgramError([source.diagnostic(message, atom.span.start, atom.span.start + len(atom.predicate), hint)])

    predicates = program.predicates
    predicate = predicates.get(atom.predicate)
    if predicate is None or predicate.hidden:
        if atom.predicate in program.inline:
            raise wrong_name(f"`{atom.predicate}` is inline, so it has no facts of its own", "a query finds its rows")
        known = [name for name, other in predicates.items() if not other.hidden]
        raise wrong_name(f"unknown predicate `{atom.predicate}`", closest(atom.predicate, known))
    if atom.functional and not predicate.functional:
        raise wrong_name(f"`{atom.predicate}` is no functional predicate", f"a fact of it is written {atom.predicate}(…)")
    if len(atom.terms) != len(predicate.types):
        message = f"`{atom.predicate}` is given {counted(len(atom.terms), 'value')} and has {columns_of(predicate)}"
        raise ProgramError([source.diagnostic(message, atom.span.start, atom.span.end)])
    codes: list[int] = []
    problems: list[Diagnostic] = []
    for term, type in zip(_given(atom), predicate.types, strict=False):
        try:
            codes.append(values.encode(read_literal(text[term.span.start : term.span.end].strip(), type), type))
        except (BadValue, BadLiteral) as error:
            match term:
                case Constant():
                    raise DataError([wrong(term, str(error))]) from None
                case Variable() | Wildcard():
                    problems.append(wrong(term, "a fact has values only", "a query finds the rows: `?- …` in the REPL, or Database.query"))
                case _:
                    problems.append(wrong(term, "a fact has values only, and this is a computation"))
    if problems:
        raise ProgramError(problems)
    return Fact(predicate, tuple(codes) if predicate.types else (0,))


def _given(atom: Atom) -> tuple[Term, ...]:
    """The terms that say something: not the value of `F[x] = _`."""
    return atom.terms[:-1] if atom.functional and isinstance(atom.terms[-1], Wildcard) else atom.terms


def completed(fact: Fact, storage: Storage) -> Fact | None:
    """The fact; for a key the one that holds with it, None if there is none."""
    if not fact.is_key:
        return fact
    key = np.array([fact.codes], np.int64).reshape(1, -1)
    found, value = find_values(storage, fact.predicate.name, key, storage.committed)
    return Fact(fact.predicate, (*fact.codes, int(value[0]))) if found[0] else None


def show_row(predicate: Predicate, codes: Codes, values: Values) -> str:
    """A row of a predicate in the notation of facts."""
    return show_fact(predicate, spell_codes(predicate, codes, values))


def show_key_of(predicate: Predicate, codes: Codes, values: Values) -> str:
    """`F["n"]`, from a row or a key of a functional predicate."""
    return show_key(predicate, [*spell_codes(predicate, codes[: predicate.width - 1], values), "_"])


def spell_codes(predicate: Predicate, codes: Codes, values: Values) -> list[str]:
    """The values of the first columns of a predicate as a fact has them."""
    return [spell(values.decode(code, type), type) for code, type in zip(codes, predicate.types, strict=False)]
