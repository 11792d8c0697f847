"""Random programs that call functors, in recursion, negations and aggregates of their own, over small domains."""

from __future__ import annotations

from random import Random

from tests.oracle.functors import FUNCTORS
from tests.oracle.rules import Agg, Atom, Compare, Const, Literal, Not, Op, Program, Row, Rule, Term, Value, Var

GIVEN = {"e": ("number", "symbol"), "f": ("number", "number")}
DOMAINS: dict[str, tuple[Value, ...]] = {"number": (0, 1, 2, 3), "symbol": ("", "a", "b", "ba", "é")}
CALLED = ("mix", "tag", "size", "two")
FOLDS = {"over": "number", "behind": "symbol", "longer": "number"}  # and what they fold


def random_rows(random: Random, name: str, most: int) -> set[Row]:
    return {tuple(random.choice(DOMAINS[type]) for type in GIVEN[name]) for _ in range(random.randint(0, most))}


class Maker:
    """One program. A predicate reads itself and those before it, and what is negated or folded stands before it."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.types: dict[str, tuple[str, ...]] = dict(GIVEN)
        self.bound: dict[str, str] = {}

    def program(self) -> Program:
        rules: list[Rule] = []
        for name in "pqrst"[: self.random.randint(2, 5)]:
            before = tuple(self.types)
            self.types[name] = tuple(self.random.choice(("number", "symbol")) for _ in range(self.random.randint(1, 2)))
            rules += [self.rule(name, before, own=number > 0) for number in range(self.random.randint(1, 3))]
        return Program(self.types, tuple(rules))

    def rule(self, name: str, before: tuple[str, ...], own: bool) -> Rule:
        self.bound = {}
        readable = (*before, name) if own else before
        body: list[Literal] = [self.atom(self.random.choice(readable)) for _ in range(self.random.randint(1, 2))]
        if self.random.random() < 0.4:
            left = self.call("number", 1)
            body.append(Compare(self.random.choice(("<", ">=", "=", "!=")), left, Const(self.random.choice((1, 2, 3, 5)), "number")))
        if self.random.random() < 0.3:
            other = self.random.choice(before)
            body.append(Not((Atom(other, tuple(self.term(type) for type in self.types[other])),)))
        if self.random.random() < 0.6:
            body.append(self.fold(before))
        return Rule((Atom(name, tuple(self.term(type) for type in self.types[name])),), tuple(body))

    def atom(self, name: str) -> Atom:
        terms: list[Term] = []
        for type in self.types[name]:
            same = [known for known, of in self.bound.items() if of == type]
            variable = self.random.choice(same) if same and self.random.random() < 0.4 else f"v{len(self.bound)}"
            self.bound[variable] = type
            terms.append(Var(variable))
        return Atom(name, tuple(terms))

    def term(self, type: str, depth: int = 0) -> Term:
        chance = self.random.random()
        same = [known for known, of in self.bound.items() if of == type]
        if same and chance < 0.5:
            return Var(self.random.choice(same))
        return self.call(type, depth + 1) if depth < 2 and chance < 0.9 else Const(self.random.choice(DOMAINS[type]), type)

    def call(self, type: str, depth: int) -> Op:
        name = self.random.choice([name for name in CALLED if FUNCTORS[name].result == type])
        return Op(f"@{name}", tuple(self.term(one, depth) for one in FUNCTORS[name].arguments), type)

    def fold(self, before: tuple[str, ...]) -> Literal:
        """A fold of a column of what stands before; groups are the columns that have a variable of the rule."""
        choices = [(name, fold) for name in before for fold, folded in FOLDS.items() if folded in self.types[name]]
        name, fold = self.random.choice(choices)
        at = self.random.choice([at for at, type in enumerate(self.types[name]) if type == FOLDS[fold]])
        terms: list[Term] = []
        for place, type in enumerate(self.types[name]):
            same = [known for known, of in self.bound.items() if of == type]
            open_ = Var(f"w{place}") if self.random.random() < 0.5 or not same else Var(self.random.choice(same))
            terms.append(Var("w") if place == at else open_)
        result = FUNCTORS[fold].result
        initial = Const(self.random.choice(DOMAINS[result]), result)
        argument: Term = Var("w") if self.random.random() < 0.7 else self.folded(FOLDS[fold])
        body: tuple[Literal, ...] = (Atom(name, tuple(terms)),)
        if self.random.random() < 0.3 and FOLDS[fold] == "number":
            body = (*body, Compare("<", Op("@mix", (Var("w"), Var("w")), "number"), Const(4, "number")))
        self.bound["z"] = result
        return Compare("=", Var("z"), Agg(f"@@{fold}", (argument,), body, result, initial))

    def folded(self, type: str) -> Term:
        return (
            Op("@mix", (Var("w"), Op("@two", (), "number")), type) if type == "number" else Op("@tag", (Const(1, "number"), Var("w")), type)
        )
