"""Random programs with choice domains and subsumption, in and outside of recursion, over small domains."""

from __future__ import annotations

from random import Random

from tests.oracle.rounds import COUNTER, Guarded, Subsumption
from tests.oracle.rules import Atom, Blank, Compare, Const, Literal, Not, Op, Program, Row, Rule, Term, Value, Var

GIVEN = {"e": ("number", "number"), "f": ("number", "symbol"), "g": ("symbol", "number", "number")}
DOMAINS: dict[str, tuple[Value, ...]] = {"number": (0, 1, 2, 3), "symbol": ("b", "a", "B", "é", "")}
DERIVED = ("p", "q", "r", "s")


def random_rows(random: Random, name: str, types: tuple[str, ...], most: int) -> set[Row]:
    return {tuple(random.choice(DOMAINS[type]) for type in types) for _ in range(random.randint(0, most))}


class Maker:
    """One program. The derived predicates may depend on each other in any way; negated are given ones only."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.types: dict[str, tuple[str, ...]] = dict(GIVEN)
        for name in DERIVED[: random.randint(1, len(DERIVED))]:
            self.types[name] = tuple(random.choice(("number", "number", "symbol")) for _ in range(random.randint(1, 3)))
        self.derived = [name for name in self.types if name not in GIVEN]

    def program(self) -> Guarded:
        random = self.random
        rules = [self.rule(name, recursive=number > 0) for name in self.derived for number in range(random.randint(1, 3))]
        choices = {name: self.keys(name) for name in self.derived if len(self.types[name]) > 1 and random.random() < 0.5}
        subsumptions = tuple(self.subsumption(name) for name in self.derived for _ in range(random.choice((0, 0, 1, 1, 2))))
        limits = {name: random.randint(1, 6) for name in self.derived if random.random() < 0.1}
        deltas = {f"d{name}": name for name in self.derived if random.random() < 0.2}
        self.types.update({delta: (*self.types[name], "unsigned") for delta, name in deltas.items()})
        return Guarded(Program(self.types, tuple(rules)), choices, subsumptions, limits, deltas)

    def keys(self, name: str) -> tuple[tuple[int, ...], ...]:
        columns = range(len(self.types[name]))
        drawn = {
            tuple(sorted(self.random.sample(columns, self.random.randint(1, len(columns) - 1))))
            for _ in range(self.random.choice((1, 1, 2)))
        }
        return tuple(sorted(drawn))

    def rule(self, name: str, recursive: bool) -> Rule:
        self.bound: dict[str, str] = {}
        body = self.body(1 + (self.random.random() < 0.5), recursive)
        if self.random.random() < 0.15:
            body.append(Compare("=", Var("n"), COUNTER))
            body.append(Compare("<", Var("n"), Const(self.random.randint(0, 4), "unsigned")))
        return Rule((Atom(name, tuple(self.head_term(type) for type in self.types[name])),), tuple(body))

    def subsumption(self, name: str) -> Subsumption:
        self.bound = {}
        if self.random.random() < 0.3:
            return self.extreme(name)
        sides = [Atom(name, tuple(self.term(type) for type in self.types[name])) for _ in range(2)]
        body = self.body(self.random.choice((0, 0, 0, 1)), True)
        for one, other in zip(sides[0].terms, sides[1].terms, strict=True):
            if isinstance(one, Var) and isinstance(other, Var) and one != other and self.random.random() < 0.7:
                body.append(Compare(self.random.choice(("<", "<=", ">", ">=", "!=")), one, other))
        return Subsumption(sides[0], sides[1], tuple(body))

    def extreme(self, name: str) -> Subsumption:
        """One column is compared, each of the others is in common, or anything."""
        width = len(self.types[name])
        compared = self.random.randrange(width)
        common = [self.random.random() < 0.5 for _ in range(width)]
        less = tuple(Var(f"x{at}") for at in range(width))
        greater = tuple(Var(f"{'x' if common[at] and at != compared else 'y'}{at}") for at in range(width))
        test = Compare(self.random.choice(("<", "<=", ">", ">=")), *self.random.sample((less[compared], greater[compared]), 2))
        return Subsumption(Atom(name, less), Atom(name, greater), (test,))

    def body(self, atoms: int, recursive: bool) -> list[Literal]:
        known = list(GIVEN) + (self.derived * 2 if recursive else [])
        body: list[Literal] = []
        for _ in range(atoms):
            name = self.random.choice(known)
            body.append(Atom(name, tuple(self.term(type) for type in self.types[name])))
        if self.random.random() < 0.2:
            name = self.random.choice(list(GIVEN))
            terms = tuple(self.bound_term(type) for type in GIVEN[name])
            if not all(isinstance(term, Blank) for term in terms):
                body.append(Not((Atom(name, terms),)))
        return body

    def term(self, type: str) -> Term:
        chance = self.random.random()
        if chance < 0.1:
            return Const(self.random.choice(DOMAINS[type]), type)
        same = [name for name, known in self.bound.items() if known == type]
        name = self.random.choice(same) if same and chance < 0.45 else f"v{len(self.bound)}"
        self.bound[name] = type
        return Var(name)

    def bound_term(self, type: str) -> Term:
        same = [name for name, known in self.bound.items() if known == type]
        return Var(self.random.choice(same)) if same else Blank()

    def head_term(self, type: str) -> Term:
        same = [name for name, known in self.bound.items() if known == type]
        if not same or self.random.random() < 0.1:
            return Const(self.random.choice(DOMAINS[type]), type)
        variable = Var(self.random.choice(same))
        if type == "number" and self.random.random() < 0.3:
            return Op("%", (Op("+", (variable, Const(1, "number")), "number"), Const(5, "number")), "number")
        return variable
