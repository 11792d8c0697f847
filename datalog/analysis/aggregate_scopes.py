"""Whose the variables of an aggregate are: the rules of scope, which are Soufflé's.

A variable of the arguments that the body binds is the aggregate's own, whatever has its name outside. Any other variable that the
literals outside bind, but for the aggregate's own result, is *injected*: its values make the groups. One that occurs outside and is
bound neither there nor by the result is a *witness* of `min` and `max`: its values are those of the rows that attain the extremum,
all of them. What is left is the aggregate's own. Outside is everything around: the rule, and of a nested aggregate also the bodies
of those that it stands in, but never the body of another aggregate.

    p(n, t) :- r(x), t = sum x : { s(n, x) }         becomes    p(n, t) ← r(x), t = sum x' : { s(n, x') }
    tallest(s, h) :- h = max x : { student(s, x) }   becomes    tallest(s, h) ← h = max x : { student(s', x) }, student(s, h)

Afterwards a name that belongs to an aggregate alone stands nowhere else in the rule. The papers' `agg<<…>>` has its groups from the
head, and its other variables are its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from datalog.analysis.walk import leaves, operands, terms, variables, variables_in
from datalog.syntax.substitute import renaming
from datalog.syntax.tree import (
    Aggregate,
    Atom,
    Branch,
    Cast,
    Comparison,
    Conjunction,
    Disjunction,
    Literal,
    Negation,
    Record,
    Rule,
    Term,
    Truth,
    Variable,
    Wildcard,
)

WITNESSED = frozenset({"min", "max"})


def separate_scopes(rule: Rule) -> Rule:
    """The rule, desugared, with names that say whose a variable is, and with what binds the witnesses beside their aggregates."""
    if not any(isinstance(leaf, Comparison) and isinstance(leaf.right, Aggregate) for leaf in leaves(rule.body)):
        return rule
    heads = {use.name for head in rule.heads for use in variables(head)}
    scopes = _Scopes(heads.union(use.name for use in variables(rule.body)))
    body, witnessed = scopes.conjunction(rule.body, _Around(frozenset(heads), ()))
    return replace(rule, body=replace(body, literals=(*body.literals, *(literal for one in witnessed for literal in one.literals))))


@dataclass(frozen=True, slots=True)
class _Around:
    """What stands around a literal: the literals of its scope, other `names` of it, and the scope around that."""

    names: frozenset[str]
    literals: tuple[Literal, ...]
    above: _Around | None = None

    def beside(self, literals: Iterable[Literal]) -> _Around:
        return replace(self, literals=(*self.literals, *literals))

    @property
    def here(self) -> frozenset[str]:
        """The names that occur in this scope."""
        return self.names.union(*map(_names_outside, self.literals))

    @property
    def everywhere(self) -> frozenset[str]:
        return self.here | self.above.everywhere if self.above else self.here

    @property
    def all_literals(self) -> tuple[Literal, ...]:
        return (*self.above.all_literals, *self.literals) if self.above else self.literals


@dataclass(frozen=True, slots=True)
class _Witnessed:
    """Literals that bind witnesses, for the scope where these occur."""

    names: frozenset[str]
    literals: tuple[Literal, ...]


class _Scopes:
    """Gives the variables of one rule's aggregates their names; `taken` are all names of the rule."""

    def __init__(self, taken: set[str]) -> None:
        self._taken = taken
        self._own: set[str] = set()  # of some aggregate

    def conjunction(self, conjunction: Conjunction, around: _Around) -> tuple[Conjunction, list[_Witnessed]]:
        """The conj, and what it leaves to the scopes around to be bound."""
        literals = _distributed(conjunction.literals)
        here = around.beside(literals).here
        done: list[Literal] = []
        beside: list[Literal] = []
        left: list[_Witnessed] = []
        for at, literal in enumerate(literals):
            finished, witnessed = self._literal(literal, around.beside((*literals[:at], *literals[at + 1 :])))
            done.append(finished)
            for one in witnessed:
                if one.names & here:
                    beside += one.literals
                else:
                    left.append(one)
        return replace(conjunction, literals=(*done, *beside)), left

    def _literal(self, literal: Literal, around: _Around) -> tuple[Literal, list[_Witnessed]]:
        match literal:
            case Comparison(left=Variable() as result, right=Aggregate() as aggregate):
                return self._aggregate(literal, result, aggregate, around)
            case Negation():
                body, left = self.conjunction(literal.body, around)
                return replace(literal, body=body), left
            case Disjunction():
                branches = [self.conjunction(branch, around) for branch in literal.branches]
                return replace(literal, branches=tuple(branch for branch, _ in branches)), [one for _, left in branches for one in left]
            case Conjunction():
                return self.conjunction(literal, around)
            case _:
                return literal, []

    def _aggregate(self, literal: Comparison, result: Variable, aggregate: Aggregate, around: _Around) -> tuple[Literal, list[_Witnessed]]:
        outside = around.everywhere | {result.name}
        own, witnesses = _scope(literal, aggregate, around, outside)
        aggregate = _renamed(aggregate, {name: self._fresh(name) for name in sorted(own) if name in outside or name in self._own})
        names = {*_names_in(aggregate.arguments), *_names_outside(aggregate.body)}
        self._own.update(names - outside)
        inside = _Around(_names_in(aggregate.arguments) | {result.name}, (), around)
        body, left = self.conjunction(aggregate.body, inside)
        aggregate = replace(aggregate, body=body)
        if witnesses:
            left.append(self._witnessed(result, aggregate, witnesses, outside, bool(witnesses & around.here)))
            aggregate = _renamed(aggregate, {name: self._fresh(name) for name in sorted(witnesses)})
        return replace(literal, right=aggregate), left

    def _witnessed(
        self, result: Variable, aggregate: Aggregate, witnesses: frozenset[str], outside: frozenset[str], here: bool
    ) -> _Witnessed:
        """The rows that attain the extremum: the body once more. Not `here`: where the aggregate's result is not seen."""
        others = sorted(({*_names_in(aggregate.arguments)} | {use.name for use in variables(aggregate.body)}) - outside)
        literals: list[Literal] = []
        if not here:
            result = replace(result, name=self._fresh(result.name))
            again = _renamed(aggregate, {name: self._fresh(name) for name in (*others, *sorted(witnesses))})
            literals.append(Comparison("=", result, again, aggregate.span))
        names = {name: self._fresh(name) for name in others}
        (argument,) = aggregate.arguments
        if isinstance(argument, Variable) and argument.name in names:
            names[argument.name] = result.name
        else:
            literals.append(Comparison("=", result, renaming(names).term(argument), aggregate.span))
        literals += map(renaming(names).literal, aggregate.body.literals)
        return _Witnessed(witnesses, tuple(literals))

    def _fresh(self, name: str) -> str:
        while name in self._taken:
            name += "'"
        self._taken.add(name)
        return name


def _scope(literal: Comparison, aggregate: Aggregate, around: _Around, outside: frozenset[str]) -> tuple[frozenset[str], frozenset[str]]:
    """The aggregate's own variables and its witnesses; `outside` are the names that occur outside of it."""
    arguments = _names_in(aggregate.arguments)
    names = arguments.union(_names_outside(aggregate.body))
    if aggregate.grouping:
        return names - outside, frozenset()
    given = _bound(around.all_literals)
    bound = _bound((*around.all_literals, literal))
    within = _bound(aggregate.body.literals, given - arguments)
    unbound = outside - bound
    witnesses = names & within & unbound if aggregate.function in WITNESSED else frozenset[str]()
    by_itself = (arguments | {use.name for use in variables(aggregate.body)}) & (bound - given)
    return (names - outside | arguments & within | by_itself) - witnesses, witnesses


def _distributed(literals: tuple[Literal, ...]) -> tuple[Literal, ...]:
    """The literals; where a disjunction binds a variable of an aggregate beside it in some branches only, each branch has them all."""
    for at, literal in enumerate(literals):
        others = (*literals[:at], *literals[at + 1 :])
        if isinstance(literal, Disjunction) and (mentioned := _aggregated(others)):
            each = [_bound(branch.literals) for branch in literal.branches]
            partly = frozenset[str]().union(*each) - frozenset.intersection(*each) - _bound(others)
            if partly & mentioned:
                branches = (replace(branch, literals=(*branch.literals, *others)) for branch in literal.branches)
                return (replace(literal, branches=tuple(branches)),)
    return literals


def _aggregated(literals: Iterable[Literal]) -> frozenset[str]:
    """The names in aggregates that are literals of their own."""
    return frozenset(
        use.name
        for literal in literals
        if isinstance(literal, Comparison) and isinstance(literal.right, Aggregate) and not literal.right.grouping
        for use in variables(literal)
    )


# --- which variables literals bind ----------------------------------------------------------------------------------------


def _bound(literals: Sequence[Literal], given: frozenset[str] = frozenset()) -> frozenset[str]:
    """The variables that the literals bind, and `given`: by atoms and by what follows from `=`; aggregates have results."""
    bound = given
    while True:
        grown = bound.union(*(_binds(literal, bound) for literal in literals))
        if grown == bound:
            return bound
        bound = grown


def _binds(literal: Literal, bound: frozenset[str]) -> frozenset[str]:
    match literal:
        case Atom():
            return frozenset(name for term in literal.terms for name in _given_by(term))
        case Comparison(operator="=", left=left, right=right):
            found = [_given_by(side) for side, other in ((left, right), (right, left)) if _is_bound(other, bound)]
            return frozenset(name for names in found for name in names)
        case Conjunction():
            return _bound(literal.literals, bound)
        case Disjunction():
            return frozenset.intersection(*(_bound(branch.literals, bound) for branch in literal.branches))
        case _:
            return frozenset()


def _given_by(term: Term) -> Iterator[str]:
    """The variables whose values the value of a term tells."""
    match term:
        case Variable():
            yield term.name
        case Record() | Branch() | Cast():
            for inner in operands(term):
                yield from _given_by(inner)


def _is_bound(term: Term, bound: frozenset[str]) -> bool:
    match term:
        case Variable():
            return term.name in bound
        case Wildcard():
            return False
        case Aggregate():
            return True
        case _:
            return all(_is_bound(inner, bound) for inner in operands(term))


# --- names ----------------------------------------------------------------------------------------------------------------


def _names_in(some: Iterable[Term]) -> frozenset[str]:
    return frozenset(use.name for term in some for use in variables_in(term))


def _names_outside(literal: Literal) -> frozenset[str]:
    """The names of the variables that stand in `literal` and not in an aggregate within it."""
    match literal:
        case Negation():
            return _names_outside(literal.body)
        case Conjunction():
            return frozenset[str]().union(*map(_names_outside, literal.literals))
        case Disjunction():
            return frozenset[str]().union(*map(_names_outside, literal.branches))
        case Atom() | Comparison():
            return _names_in(term for term in terms(literal) if not isinstance(term, Aggregate))
        case Truth():
            return frozenset()


def _renamed(aggregate: Aggregate, names: Mapping[str, str]) -> Aggregate:
    """The aggregate with other names for variables, at any depth."""
    if not names:
        return aggregate
    return renaming(names).aggregate(aggregate)
