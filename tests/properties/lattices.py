"""Random programs with columns of lattices: monotone recursion, bounds, meets and negations."""

from __future__ import annotations

from random import Random

from tests.oracle.functors import LATTICES, Lattice
from tests.oracle.lattices import Joined, Said
from tests.oracle.rules import Atom, Blank, Compare, Const, Literal, Not, Op, Or, Row, Rule, Term, Value, Var

KEYS = (0, 1, 2)
K, J, X, Y, W = Var("k"), Var("j"), Var("x"), Var("y"), Var("w")


class Maker:
    """One program over e(k, x), which is no lattice, links l(j, k), and joined rows: d(k, x) of facts, p, q and two(k, x, y)."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.lattice: Lattice = random.choice(LATTICES)
        kind = self.lattice.type
        pair = ("number", kind)
        self.types = {
            "e": pair,
            "l": ("number", "number"),
            "d": pair,
            "p": pair,
            "q": pair,
            "two": (*pair, kind),
            "r": pair,
            "n": ("number",),
        }

    def facts(self, most: int) -> dict[str, set[Row]]:
        keys, some = KEYS, self.lattice.some
        draws = {
            name: {(self.random.choice(keys), self.random.choice(some)) for _ in range(self.random.randint(0, most))} for name in ("e", "d")
        }
        links: set[Row] = {(self.random.choice(keys), self.random.choice(keys)) for _ in range(self.random.randint(0, most))}
        return {"e": draws["e"], "d": draws["d"], "l": links}

    def program(self) -> Joined:
        joining = [self.joining(name) for name in "pq" for _ in range(self.random.randint(1, 4))]
        self.random.shuffle(joining)
        recursive = self.random.random() < 0.7
        first = tuple(one for one in joining if recursive or not _reads(one, "pq"))
        last = tuple(self.reading() for _ in range(self.random.randint(1, 5)))
        both = Said(Rule((Atom("two", (K, X, Y)),), (Atom("p", (K, X)), Atom("q", (Var("m"), Y)))), ())
        both = Said(both.rule, both.rule.body)
        return Joined(self.types, self.lattice, {"d": 1, "p": 1, "q": 1, "two": 2}, (first, (both,), last))

    def joining(self, name: str) -> Said:
        """A rule for p or q that gives more where it is given more."""
        other = self.random.choice("pqd")
        link, row = Atom("l", (J, K)), Atom(other, (J, X))
        value: Term = X if self.random.random() < 0.6 else Op(f"@{self.lattice.up}", (X,), self.lattice.type)
        head = Atom(name, (K, value))
        match self.random.randint(0, 5):
            case 0:
                return plain(head, Atom("e", (K, X)))
            case 1 | 2:
                return plain(head, link, row)
            case 3:
                return self.meet(head, Atom(other, (K, X)), Atom(self.random.choice("pqd"), (J, X)), link)
            case 4:
                return self.bound(head, Atom("e", (K, X)), other)
            case _:
                return plain(Atom(name, (K, self.constant())), link, Atom(other, (J, Blank())))

    def reading(self) -> Said:
        """A rule for what is no lattice."""
        other, kind = self.random.choice("pqd"), self.lattice.type
        head, given = Atom("r", (K, X)), Atom("e", (K, X))
        match self.random.randint(0, 5):
            case 0:
                return plain(head, Atom("two", (K, X, Blank())))
            case 1:
                return self.bound(head, given, other)
            case 2:
                return self.meet(head, Atom("p", (K, X)), Atom(other, (J, X)), Atom("l", (J, K)))
            case 3:
                apart = Compare("=", self.glb(W, X), self.bottom())
                none: Literal = Or(((Not((Atom(other, (K, Blank())),)),), (Atom(other, (K, W)), apart)))
                return Said(Rule((head,), (given, Not((Atom(other, (K, X)),)))), (given, none))
            case 4:
                constant = self.constant()
                below = Compare("=", self.glb(W, constant), constant)
                return Said(Rule((Atom("n", (K,)),), (Atom(other, (K, constant)),)), (Atom(other, (K, W)), below))
            case _:
                return plain(Atom("n", (K,)), Atom(other, (K, X)), Compare("!=", X, Const(self.random.choice(self.lattice.some), kind)))

    def meet(self, head: Atom, first: Atom, second: Atom, link: Atom) -> Said:
        """x stands in two columns of lattices, and in nothing else."""
        meant = (
            Atom(first.predicate, (first.terms[0], Y)),
            Atom(second.predicate, (second.terms[0], W)),
            link,
            Compare("=", X, self.glb(Y, W)),
            Compare("!=", X, self.bottom()),
        )
        return Said(Rule((head,), (first, second, link)), meant)

    def bound(self, head: Atom, given: Atom, other: str) -> Said:
        """x is bound by what is given."""
        meant = (given, Atom(other, (K, W)), Compare("=", self.glb(W, X), X))
        return Said(Rule((head,), (given, Atom(other, (K, X)))), meant)

    def glb(self, one: Term, other: Term) -> Op:
        return Op(f"@{self.lattice.glb}", (one, other), self.lattice.type)

    def bottom(self) -> Const:
        return Const(self.lattice.bottom, self.lattice.type)

    def constant(self) -> Const:
        some: Value = self.random.choice(self.lattice.some)
        return Const(some, self.lattice.type)


def plain(head: Atom, *body: Literal) -> Said:
    """What means what it says."""
    return Said(Rule((head,), body), body)


def _reads(said: Said, names: str) -> bool:
    return any(isinstance(literal, Atom) and literal.predicate in names for literal in said.rule.body)
