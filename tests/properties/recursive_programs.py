"""Recursive programs of fixed shape, a naive fixpoint for them in plain Python, and random streams over their facts.

A rule is written as the engine reads it; `derivations` finds its instances by loops over all rows, so that a test can also ask which
premises a row has.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from random import Random

Row = tuple[int, ...]
Relations = dict[str, set[Row]]
Fact = tuple[str, Row]
Change = tuple[int, str, Row]  # 1 inserts, -1 deletes

_ATOM = re.compile(r"(!?)\s*(\w+)\(([^)]*)\)")


@dataclass(frozen=True)
class Literal:
    """An atom, or a comparison in Python's syntax (`=` is `==`, or gives a free variable its value)."""

    predicate: str
    terms: tuple[str, ...]
    negated: bool = False
    comparison: str = ""


@dataclass(frozen=True)
class Rule:
    head: Literal
    body: tuple[Literal, ...]


@dataclass(frozen=True)
class Shape:
    """A program: rules in strata from below, the arities of given predicates, and how many values they are about.

    `equivalences` are given predicates, which may have rules, too, of which the rows are a closure."""

    strata: tuple[str, ...]
    given: Mapping[str, int]
    values: int = 6
    density: float = 0.25
    equivalences: frozenset[str] = frozenset()
    rules: tuple[tuple[Rule, ...], ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rules", tuple(tuple(map(parse, lines(stratum))) for stratum in self.strata))

    @property
    def text(self) -> str:
        declared = (
            f".decl {name}({', '.join(f'c{n}: number' for n in range(width))}){' eqrel' if name in self.equivalences else ''}"
            for name, width in self.given.items()
        )
        return "\n".join([*declared, *(line for stratum in self.strata for line in lines(stratum))]) + "\n"

    @property
    def derived(self) -> list[str]:
        return list(dict.fromkeys(rule.head.predicate for stratum in self.rules for rule in stratum))

    def facts(self, random: Random) -> Relations:
        return {name: {self.row(name, random) for _ in range(self._rows(width))} for name, width in self.given.items()}

    def row(self, name: str, random: Random) -> Row:
        return tuple(random.randrange(self.values) for _ in range(self.given[name]))

    def _rows(self, width: int) -> int:
        return max(1, round(self.density * (self.values if width == 1 else self.values * self.values)))


def lines(stratum: str) -> list[str]:
    return [line.strip() for line in stratum.strip().splitlines()]


def parse(line: str) -> Rule:
    head, _, body = line.rstrip(".").partition(":-")
    literals = [part.strip() for part in re.split(r",(?![^(]*\))", body) if part.strip()]
    return Rule(literal(head), tuple(map(literal, literals)))


def literal(text: str) -> Literal:
    found = _ATOM.fullmatch(text.strip())
    if found is None:
        return Literal("", (), comparison=re.sub(r"(?<![<>!])=", "==", text))
    return Literal(found[2], tuple(term.strip() for term in found[3].split(",")), negated=found[1] == "!")


def derivations(rule: Rule, relations: Relations) -> Iterator[tuple[Row, tuple[Fact, ...]]]:
    """Every instance of a rule: the head's row and the positive premises."""

    def extend(number: int, binding: dict[str, int], premises: tuple[Fact, ...]) -> Iterator[tuple[Row, tuple[Fact, ...]]]:
        if number == len(rule.body):
            yield tuple(eval(term, {}, binding) for term in rule.head.terms), premises
            return
        part = rule.body[number]
        if part.comparison:
            left, equal, right = part.comparison.partition("==")
            if equal and left.strip().isidentifier() and left.strip() not in binding:
                yield from extend(number + 1, {**binding, left.strip(): eval(right, {}, binding)}, premises)
            elif eval(part.comparison, {}, binding):
                yield from extend(number + 1, binding, premises)
            return
        rows = list(matching(part.terms, relations[part.predicate], binding))
        if part.negated:
            if not rows:
                yield from extend(number + 1, binding, premises)
            return
        for row, extended in rows:
            yield from extend(number + 1, extended, (*premises, (part.predicate, row)))

    yield from extend(0, {}, ())


def matching(terms: tuple[str, ...], rows: set[Row], binding: dict[str, int]) -> Iterator[tuple[Row, dict[str, int]]]:
    for row in rows:
        extended = dict(binding)
        if all(
            term == "_" or (extended.setdefault(term, value) == value if term.isidentifier() else int(term) == value)
            for term, value in zip(terms, row, strict=True)
        ):
            yield row, extended


def fixpoint(shape: Shape, facts: Relations) -> Relations:
    relations = {name: set(facts.get(name, ())) for name in (*shape.given, *shape.derived)}
    for name in shape.equivalences:
        relations[name] = equivalence(relations[name])
    for stratum in shape.rules:
        growing = True
        while growing:
            growing = False
            for rule in stratum:
                name = rule.head.predicate
                new = {row for row, _ in derivations(rule, relations)} - relations[name]
                relations[name] |= new
                if name in shape.equivalences:
                    relations[name] = equivalence(relations[name])
                growing = growing or bool(new)
    return relations


def equivalence(pairs: set[Row]) -> set[Row]:
    """The least equivalence on the elements of pairs that holds them: classes grow until no two have an element in common."""
    classes: list[set[int]] = []
    for pair in pairs:
        touched = [one for one in classes if not one.isdisjoint(pair)]
        classes = [one for one in classes if one.isdisjoint(pair)] + [set(pair).union(*touched)]
    return {(x, y) for one in classes for x in one for y in one}


def stream(shape: Shape, random: Random, facts: Relations, transactions: int) -> Iterator[list[Change]]:
    """Transactions that delete a lot; `facts` follows them."""
    for _ in range(transactions):
        changes = list(transaction(shape, random, facts))
        for sign, name, row in changes:
            (facts[name].add if sign > 0 else facts[name].discard)(row)
        yield changes


def transaction(shape: Shape, random: Random, facts: Relations) -> Iterator[Change]:
    present = [(name, row) for name, rows in sorted(facts.items()) for row in sorted(rows)]
    kind = random.choice(["delete", "insert", "mixed", "churn", "churn", "node", "there and back", "most"])
    names = sorted(shape.given)
    if kind in ("insert", "mixed", "churn") or not present:
        for _ in range(random.randint(2, 6) if kind == "churn" else random.randint(1, 4)):
            name = random.choice(names)
            yield 1, name, shape.row(name, random)
    if kind in ("delete", "mixed", "churn", "most"):
        count = {"most": len(present) * 2 // 3, "churn": random.randint(2, 6)}.get(kind, random.randint(1, 4))
        for name, row in random.sample(present, min(len(present), count)):
            yield -1, name, row
    if kind == "node":
        value = random.randrange(shape.values)
        for name, row in present:
            if value in row:
                yield -1, name, row
    if kind == "there and back":
        for name, row in random.sample(present, min(len(present), 3)):
            yield -1, name, row
            yield 1, name, row
        name = random.choice(names)
        row = shape.row(name, random)
        yield 1, name, row
        yield -1, name, row


SHAPES = {
    "closure, left-linear": Shape(("p(x, y) :- e(x, y).\np(x, z) :- p(x, y), e(y, z).",), {"e": 2}),
    "closure, right-linear": Shape(("p(x, y) :- e(x, y).\np(x, z) :- e(x, y), p(y, z).",), {"e": 2}),
    "closure, non-linear": Shape(("p(x, y) :- e(x, y).\np(x, z) :- p(x, y), p(y, z).",), {"e": 2}),
    "same generation": Shape(("sg(x, y) :- up(x, p), up(y, p).\nsg(x, y) :- up(x, a), sg(a, b), up(y, b).",), {"up": 2}),
    "points-to": Shape(
        (
            """pt(y, x) :- new(y, x).
            pt(y, x) :- copy(y, z), pt(z, x).
            pt(y, w) :- load(y, x), pt(x, z), pt(z, w).
            pt(z, w) :- store(y, x), pt(y, z), pt(x, w).""",
        ),
        {"new": 2, "copy": 2, "load": 2, "store": 2},
        values=5,
        density=0.15,
    ),
    "mutual recursion over a negation": Shape(
        (
            "quiet(x) :- n(x), !loud(x).",
            """odd(x) :- s(x), quiet(x).
            odd(y) :- e(x, y), even(x), quiet(y).
            even(y) :- e(x, y), odd(x), !loud(y).
            even(x) :- odd(x), even(x), n(x).""",
        ),
        {"n": 1, "loud": 1, "s": 1, "e": 2},
        density=0.4,
    ),
    "reachability around blocked nodes": Shape(
        ("blocked(x) :- guard(x, y), on(y).", "reach(y) :- start(y), !blocked(y).\nreach(y) :- reach(x), e(x, y), !blocked(y)."),
        {"guard": 2, "on": 1, "start": 1, "e": 2},
    ),
    "reachability over sparse graphs": Shape(
        ("reach(y) :- start(y).\nreach(y) :- reach(x), e(x, y).",), {"start": 1, "e": 2}, values=14, density=0.11
    ),
    "paths with a bounded length": Shape(
        ("path(x, y, n) :- e(x, y), n = 1.\npath(x, z, m) :- path(x, y, n), e(y, z), n < 6, m = n + 1.",), {"e": 2}, values=4
    ),
    "wildcards in recursive atoms": Shape(
        ("p(x, y) :- e(x, y).\np(x, z) :- p(x, _), f(x, z), p(_, z).\np(x, x) :- p(_, x), e(x, _).",), {"e": 2, "f": 2}, density=0.2
    ),
    "constants and repeated variables": Shape(
        (
            """p(x, x) :- n(x).
            p(x, 0) :- p(x, x), e(x, _).
            p(0, y) :- p(y, 0), p(0, y).
            p(0, x) :- p(x, 0), e(0, x).
            p(y, y) :- p(x, x), p(0, x), e(x, y).
            p(1, 2) :- p(_, 1), e(2, 2).""",
        ),
        {"n": 1, "e": 2},
        values=4,
        density=0.35,
    ),
    "two recursive strata, one above the other": Shape(
        (
            "p(x, y) :- e(x, y).\np(x, z) :- p(x, y), p(y, z).",
            "back(x, y) :- p(x, y), !f(y, x).",
            "q(x, y) :- back(x, y), f(x, y).\nq(x, z) :- q(x, y), back(y, z), !p(z, x).\nq(x, y) :- q(y, x), f(x, _).",
        ),
        {"e": 2, "f": 2},
        values=5,
        density=0.2,
    ),
    "strata without recursion above and below": Shape(
        (
            "sym(x, y) :- e(x, y).\nsym(x, y) :- e(y, x).",
            "c(x, y) :- sym(x, y), live(x), live(y).\nc(x, z) :- c(x, y), c(y, z).",
            "lone(x) :- live(x), !c(x, x).",
            "pair(x, y) :- lone(x), lone(y), x < y.",
        ),
        {"e": 2, "live": 1},
        density=0.3,
    ),
}
