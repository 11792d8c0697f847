"""Sideways information passing: in which order the literals of a body tell each other values, and what each atom is asked for.

    p(x, y) ← e(x, z), q(z, u), r(u, y)        x known:  e gives z, q is asked by its first column, r by its first, too

Comparisons come as soon as they can, then the atom with the most known columns; a predicate whose rows are there anyway comes before
one that has to be asked. Literals that the result is complete without tell nothing: what may fail, since the rest of the rule may
exclude the rows for which it does; negations, but for those of given predicates, and aggregates, since what is asked would depend
on what is complete only when everything has been asked (weak passing).

A value that is computed from nothing but what the rule itself is asked for is not passed on: `p(x) ← p(x + 1)` would be asked for
ever. What a body's atoms hold is finite, so that what is computed from their values is, too. To take a value apart ends anyway.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from datalog.ir.formulas import Atom, Comparison, Conjunction, Constant, Literal, Negation, Operation, Term, Variable, Wildcard
from datalog.ir.occurrences import literal_names, may_fail, names_in, term_may_fail, term_names
from datalog.ir.structures import FIELD

Told = tuple[int, Literal]  # a literal, perhaps with less than the body says, and its place in the body


@dataclass(frozen=True, slots=True)
class Roles:
    """What predicates are: `given` ones, those that are asked (`demanded`), and how many columns an aggregate has before its results."""

    given: Collection[str]
    demanded: Collection[str]
    keys: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Asking:
    """The atom at the place `at` is asked for rows with the values that the literals `told` give to its `bound` columns."""

    at: int
    bound: tuple[bool, ...]
    told: tuple[Told, ...]


def askings(literals: Sequence[Literal], first: Atom | None, roles: Roles) -> list[Asking]:
    """What each atom over a demanded predicate is asked for, in a flat body; `first` is what the rule itself is asked for."""
    passing = _Passing(roles)
    if first is not None:
        passing.start(first)
    left = dict(enumerate(literals))
    while (at := passing.next(left)) is not None:
        passing.take(at, left.pop(at))
    for at, literal in left.items():  # aggregates and negations: they are asked and tell nothing
        atom = atom_of(literal)
        if atom is not None and atom.predicate in roles.demanded:
            passing.ask(at, atom)
    return passing.found


def atom_of(literal: Literal) -> Atom | None:
    """The atom of a literal of a flat body, negated or not; None for a comparison."""
    match literal:
        case Atom():
            return literal
        case Negation(body=Conjunction(literals=(Atom() as atom,))):
            return atom
        case _:
            return None


def with_predicate(literal: Literal, name: str) -> Literal:
    """The literal of a flat body with another predicate for its atom; a comparison as it is."""
    match literal:
        case Atom():
            return replace(literal, predicate=name)
        case Negation(body=Conjunction(literals=(Atom() as atom,))):
            return replace(literal, body=replace(literal.body, literals=(replace(atom, predicate=name),)))
        case _:
            return literal


class _Passing:
    """What has been told: the names that are `known`, and those of them that more than the rule's own demand gives (`grounded`)."""

    def __init__(self, roles: Roles) -> None:
        self._roles = roles
        self._told: list[Told] = []
        self._known: set[str] = set()
        self._grounded: set[str] = set()
        self.found: list[Asking] = []

    def start(self, demand: Atom) -> None:
        self._known.update(term.name for term in demand.terms if isinstance(term, Variable))
        self._told.append((-1, replace(demand, terms=tuple(map(self._tellable, demand.terms)))))

    def next(self, left: Mapping[int, Literal]) -> int | None:
        """The place of the literal that comes next; None if no more of them tell anything."""
        for at, literal in left.items():
            if self._tells_at_once(literal):
                return at
        atoms = {at: one for at, one in left.items() if isinstance(one, Atom) and one.predicate not in self._roles.keys}
        return min(atoms, key=lambda at: self._reluctance(at, atoms[at]), default=None)

    def take(self, at: int, literal: Literal) -> None:
        """Let a literal tell what it can, and ask for it if it is to be asked."""
        if isinstance(literal, Atom):
            if literal.predicate in self._roles.demanded:
                self.ask(at, literal)
            names = {term.name for term in literal.terms if isinstance(term, Variable)}
            self._known |= names
            self._grounded |= names
            literal = replace(literal, terms=tuple(map(self._tellable, literal.terms)))
        elif isinstance(literal, Comparison) and literal.operator == "=":
            for side, other in ((literal.left, literal.right), (literal.right, literal.left)):
                if isinstance(side, Variable) and term_names(other) <= self._known:
                    self._known.add(side.name)
                    if term_names(other) <= self._grounded:
                        self._grounded.add(side.name)
        self._told.append((at, literal))

    def ask(self, at: int, atom: Atom) -> None:
        keys = self._roles.keys.get(atom.predicate, len(atom.terms))
        bound = tuple(column < keys and self._is_known(term) for column, term in enumerate(atom.terms))
        needed = frozenset().union(*(term_names(term) for term, one in zip(atom.terms, bound, strict=True) if one))
        self.found.append(Asking(at, bound, _connected(self._told, needed)))

    def _tells_at_once(self, literal: Literal) -> bool:
        match literal:
            case Comparison():
                if may_fail(literal):
                    return False
                if literal_names(literal) <= self._known:
                    return True
                sides = ((literal.left, literal.right), (literal.right, literal.left)) if literal.operator == "=" else ()
                return any(isinstance(side, Variable) and self._is_known(other) for side, other in sides)
            case Negation():
                atom = atom_of(literal)
                assert atom is not None
                return atom.predicate in self._roles.given and literal_names(literal) <= self._known and not may_fail(literal)
            case _:
                return False

    def _is_known(self, term: Term) -> bool:
        """Whether a term has values that may be passed on."""
        match term:
            case Variable():
                return term.name in self._known
            case Constant():
                return True
            case Operation():
                names = term_names(term)
                taken_apart = term.name.startswith(FIELD) and all(map(self._is_known, term.arguments))
                return not term_may_fail(term) and (names <= self._grounded or taken_apart)
            case Wildcard():
                return False

    def _tellable(self, term: Term) -> Term:
        """The term of an atom that tells, or a wildcard where it computes what may fail or is not known."""
        if isinstance(term, Operation) and (term_may_fail(term) or not term_names(term) <= self._known):
            return Wildcard(term.type, term.span)
        return term

    def _reluctance(self, at: int, atom: Atom) -> tuple[int, bool, int, int]:
        known = sum(map(self._is_known, atom.terms))
        rank = 1 if known else 2 if not atom.terms else 3
        rank = 0 if known and known == len(atom.terms) else rank
        return rank, atom.predicate in self._roles.demanded, -known, at


def _connected(told: Iterable[Told], needed: frozenset[str]) -> tuple[Told, ...]:
    """What is told of the names that are needed; of the rest, single atoms: whether there is any row is worth knowing, a join is not."""
    groups: list[tuple[frozenset[str], list[Told]]] = [(needed, [])] if needed else []
    for one in told:
        names, members = names_in([one[1]], ()), [one]
        for other in [group for group in groups if group[0] & names]:
            groups.remove(other)
            names, members = names | other[0], [*other[1], *members]
        groups.append((names, members))
    kept = [members for names, members in groups if names & needed or not names or len(members) == 1]
    return tuple(sorted((one for members in kept for one in members), key=lambda one: one[0]))
