"""Strategies for programs: layers of predicates, each reading the layers below (`tests.properties.layers`).

`programs()` draws layers of plain rules and recursive ones (linear, non-linear, mutual). `rich_programs()` also draws functional
predicates, aggregates, primitives, and the types beyond the four.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import Any

from hypothesis import strategies as st

from tests.oracle.rules import Program, Row, Value
from tests.oracle.text import Style, to_text
from tests.properties.bodies import Chooser, integers
from tests.properties.functional import RichMaking
from tests.properties.layers import PALETTES, RICH_PALETTES, Making

INFERABLE = frozenset(("number", "float", "symbol"))  # types that facts tell without a declaration


@dataclass(frozen=True)
class Drawn:
    """A program with the facts of its text, and, for each predicate that takes facts, the values of its columns."""

    program: Program
    facts: dict[str, frozenset[Row]]
    domains: dict[str, tuple[tuple[Value, ...], ...]]
    style: Style

    @property
    def text(self) -> str:
        return to_text(self.program, self.facts, self.style)

    @property
    def text_without_facts(self) -> str:
        """With declarations, because facts may have been what the types were inferred from."""
        return to_text(self.program, None, replace(self.style, declare=True))

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """How Hypothesis shows a failing example: the text that fails."""
        printer.text(f"the program\n{self.text}")


def random_row(choose: Chooser, domain: tuple[tuple[Value, ...], ...]) -> Row:
    return _row(domain, choose.number(0, prod(map(len, domain)) - 1))


def _row(domain: tuple[tuple[Value, ...], ...], index: int) -> Row:
    row: list[Value] = []
    for values in domain:
        index, place = divmod(index, len(values))
        row.append(values[place])
    return tuple(row)


@st.composite
def programs(draw: Any) -> Drawn:
    """Programs with one to three given predicates and one to three layers of derived ones."""
    choose = Chooser(draw)
    making = Making(choose, choose.pick(PALETTES))
    for number in range(choose.pick((2, 1, 3))):
        making.given(f"e{number + 1}")
    count = 0
    for _ in range(choose.pick((1, 2, 3))):
        recursive = choose.chance(40)
        names = [f"{'r' if recursive else 'd'}{count + number + 1}" for number in range(choose.pick((1, 1, 2)))]
        count += len(names)
        (making.recursive_layer if recursive else making.plain_layer)(names)
    return _drawn(draw, making, frozenset())


@st.composite
def rich_programs(draw: Any) -> Drawn:
    """The same, with everything that computes; given functional predicates are g1, …, derived ones f1, …."""
    choose = Chooser(draw)
    making = RichMaking(choose, choose.pick(RICH_PALETTES), risk=15)
    for number in range(choose.pick((1, 2, 2))):
        making.given(f"e{number + 1}")
    for number in range(choose.pick((0, 1, 1, 2))):
        making.given_functional(f"g{number + 1}")
    count = 0
    for _ in range(choose.pick((1, 2, 2, 3))):
        kind = choose.pick("dddffr")
        names = [f"{kind}{count + number + 1}" for number in range(choose.pick((1, 1, 2)))]
        count += len(names)
        {"d": making.plain_layer, "f": making.functional_layer, "r": making.recursive_layer}[kind](names)
    return _drawn(draw, making, frozenset(making.functional))


def _drawn(draw: Any, making: Making, functional: frozenset[str]) -> Drawn:
    """The program with facts and a style."""
    choose = making.choose
    types = {name: tuple(column.type for column in columns) for name, columns in making.columns.items()}
    program = Program(types, tuple(making.rules), functional)
    facts: dict[str, frozenset[Row]] = {}
    for name, domain in making.domains.items():
        size = prod(map(len, domain))
        least = choose.pick((1, 0, 3, 6, 8, 8)) if name[0] in "eg" else 0
        indexes = draw(st.lists(integers(0, size - 1), min_size=least, max_size=least + 4))
        rows = [_row(domain, index) for index in indexes]
        if name in functional and not choose.chance(3):
            rows = list({row[:-1]: row for row in rows}.values())
        facts[name] = frozenset(rows)
    # Without a declaration, a given predicate has its types from its facts; nothing says unsigned but a declaration.
    inferable = all(facts[name] for name in facts if name[0] in "eg") and all(
        types and INFERABLE.issuperset(types) for types in program.types.values()
    )
    bracketed = all(head.bracketed for rule in program.rules for head in rule.heads if head.predicate in functional)
    style = Style(
        arrow=choose.pick((":-", "<-")),
        declare=not (inferable and bracketed and choose.chance(35)),
        suffix=choose.chance(50),
        bare=choose.chance(30),
        shuffle=choose.pick((0, 0, 1, 2, 3)),
    )
    return Drawn(program, facts, making.domains, style)
