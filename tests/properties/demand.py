"""Programs that ask for little: a drawn program with outputs whose rules ask some of its predicates by constants and by given rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st

from tests.oracle.rules import Atom, Blank, Const, Literal, Not, Program, Row, Rule, Term, Value, Var
from tests.oracle.text import to_text
from tests.properties.bodies import CONSTANTS, Chooser
from tests.properties.programs import Drawn, programs, rich_programs


@dataclass(frozen=True)
class Asking:
    """A program whose outputs are `wants`; `queries` are predicates with a value, or None, for each column."""

    drawn: Drawn
    wants: tuple[str, ...]
    queries: tuple[tuple[str, tuple[Value | None, ...]], ...]

    @property
    def outputs(self) -> str:
        return "".join(f".output {name}\n" for name in self.wants)

    def query(self, number: int) -> str:
        """The text of a query: a value where there is one, else a variable."""
        name, values = self.queries[number]
        types = self.drawn.program.types[name]
        terms = (Var(f"v{at}") if value is None else Const(value, type) for at, (value, type) in enumerate(zip(values, types, strict=True)))
        return to_text(Program({}, (Rule((Atom(name, tuple(terms)),), ()),), frozenset())).strip().removesuffix(".")

    def answer(self, number: int, rows: set[Row]) -> list[Row]:
        """What the query gives, of all rows of its predicate."""
        _, values = self.queries[number]
        found = [row for row in rows if all(value is None or cell == value for cell, value in zip(row, values, strict=True))]
        return sorted({tuple(cell for cell, value in zip(row, values, strict=True) if value is None) for row in found})


@st.composite
def askings(draw: Any) -> Asking:
    """One to three outputs, each about one derived predicate."""
    drawn = draw(st.one_of(programs(), programs(), rich_programs()))
    choose = Chooser(draw)
    program = drawn.program
    derived = sorted({head.predicate for rule in program.rules for head in rule.heads})
    rules: list[Rule] = []
    types: dict[str, tuple[str, ...]] = {}
    for number in range(choose.pick((1, 2, 3))):
        head, body, columns = _output(choose, program, choose.pick(derived), f"want{number + 1}", sorted(drawn.domains))
        rules.append(Rule((head,), body))
        types[head.predicate] = columns
    extended = Program({**program.types, **types}, (*program.rules, *rules), program.functional)
    queries = tuple((name, _values(choose, program.types[name])) for name in (choose.pick(derived) for _ in range(2)))
    style = replace(drawn.style, declare=True)
    return Asking(Drawn(extended, drawn.facts, drawn.domains, style), tuple(types), queries)


def _output(choose: Chooser, program: Program, name: str, want: str, given: list[str]) -> tuple[Atom, tuple[Literal, ...], tuple[str, ...]]:
    """A rule about `name`: by constants alone, beside a given atom that binds some columns, or negated behind one that binds all."""
    types = program.types[name]
    kind = choose.pick(("constants", "constants", "joined", "negated"))
    terms: list[Term] = [Const(choose.pick(CONSTANTS[type]), type) if choose.chance(50) else Var(f"v{at}") for at, type in enumerate(types)]
    before: list[Literal] = []
    if kind != "constants":
        other = choose.pick(given)
        columns = program.types[other]
        before.append(Atom(other, tuple(Var(f"w{at}") for at in range(len(columns)))))
        for at, type in enumerate(types):
            fitting = [Var(f"w{place}") for place, column in enumerate(columns) if column == type]
            if fitting and (kind == "negated" or choose.chance(60)):
                terms[at] = choose.pick(fitting)
            elif kind == "negated":
                terms[at] = Blank()
    atom = Atom(name, tuple(terms))
    body: tuple[Literal, ...] = (*before, Not((atom,))) if kind == "negated" else (*before, atom)
    known = {f"v{at}": type for at, type in enumerate(types)} | {
        f"w{at}": type for literal in before if isinstance(literal, Atom) for at, type in enumerate(program.types[literal.predicate])
    }
    used = [term for literal in body if isinstance(literal, Atom) for term in literal.terms if isinstance(term, Var)]
    shown = list(dict.fromkeys(term for term in used if choose.chance(80)))
    return Atom(want, tuple(shown)), body, tuple(known[term.name] for term in shown)


def _values(choose: Chooser, types: tuple[str, ...]) -> tuple[Value | None, ...]:
    return tuple(choose.pick(CONSTANTS[type]) if choose.chance(50) else None for type in types)
