"""From flat quantified rules to core rules: every term of an atom becomes a variable of its own.

    p(x, 5) ← q(x, x, y + 1), y = z, r(z), z < 3
    p(x, =5) ← q(x, x', =y + 1), r(y), x' = x, =5 = 5, =y + 1 = y + 1, y < 3

Names of fresh variables cannot be written in a program: `x'` repeats x, `=…` is the value of a constant or an expression.
Equal constants of one type share a variable. Two variables that are said to be equal become one, the one that a head
holds if there is one. A nullary atom gets the one column that stores it, bound to 0.
"""

from __future__ import annotations

from collections.abc import Iterator

from datalog.analysis.inverse import solve
from datalog.analysis.safety import bound_by
from datalog.ir.core import Apply, CoreAtom, CoreBinding, CoreFilter, CoreRule, Expression, Reference, Type, Value
from datalog.ir.formulas import Atom, Comparison, Conjunction, Constant, Literal, Negation, Operation, Rule, Term, Variable, Wildcard
from datalog.ir.occurrences import literal_names, term_names
from datalog.ir.primitives import GENERATORS
from datalog.ir.structures import FIELD, WHICH, Structure, shape_made
from datalog.ir.text import format_term


def flatten(rule: Rule) -> CoreRule:
    """The core rule of a rule with one head and a flat body, whose negations hold plain atoms."""
    (head,) = rule.heads
    flattening = _Flattening(_renaming(rule))
    candidates, implied = _patterns(rule.body)
    for literal in rule.body.literals:
        if literal not in implied and literal not in candidates:
            flattening.literal(literal)
    for literal in candidates:
        flattening.candidate(literal)
    for variable, candidate in _inverses(rule.body):
        flattening.inverse(variable, candidate)
    columns = flattening.columns(head)
    assert not any(column is None for column in columns)
    return CoreRule(
        head.predicate,
        tuple(column for column in columns if column is not None),
        tuple(flattening.names),
        tuple(flattening.types),
        tuple(flattening.atoms),
        tuple(flattening.bindings),
        tuple(flattening.filters),
        rule.span,
        rule.text,
    )


def _renaming(rule: Rule) -> dict[str, str]:
    """For each variable that equals another one, the one that stands for both."""
    stands: dict[str, str] = {}

    def final(name: str) -> str:
        while name in stands:
            name = stands[name]
        return name

    in_head = literal_names(rule.heads[0])
    for literal in rule.body.literals:
        match literal:
            case Comparison(operator="=", left=Variable(name=left), right=Variable(name=right)):
                kept, gone = final(left), final(right)
                if gone in in_head and kept not in in_head:
                    kept, gone = gone, kept
                if kept != gone:
                    stands[gone] = kept
    return {name: final(name) for name in stands}


def _inverses(body: Conjunction) -> Iterator[tuple[Variable, Term]]:
    """The variables that only an inverse binds, each with what it then is (`datalog.analysis.inverse`)."""
    bound = bound_by(body.literals, frozenset(), inverses=False)
    everything = bound_by(body.literals, frozenset())
    while bound != everything:
        for literal in body.literals:
            match literal:
                case Comparison(operator="=", left=left, right=right):
                    found = solve(left, right, bound) if term_names(right) <= bound else None
                    if found is None and term_names(left) <= bound:
                        found = solve(right, left, bound)
                    if found is not None:
                        yield found
                        bound = bound_by(body.literals, bound | {found[0].name}, inverses=False)


def _patterns(body: Conjunction) -> tuple[list[Comparison], list[Literal]]:
    """Of `r = [x, y]` and what says the same by parts (`datalog.analysis.patterns`), what need not be checked: first the
    `r = [x, y]` where r is bound without it, so that it only says where to look r up; second the parts where it is not."""
    made: list[Comparison] = []
    for literal in body.literals:
        if isinstance(literal, Comparison) and literal.operator == "=" and _is_made(literal):
            made.append(literal)
    candidates: list[Comparison] = []
    implied: list[Literal] = []
    for literal in made:
        value, maker = literal.left, literal.right
        assert isinstance(value, Variable) and isinstance(maker, Operation)
        others = [other for other in body.literals if other is not literal]
        parts = [other for other in others if _is_part(other, value, maker)]
        if not parts:
            continue  # it was no pattern
        if value.name in bound_by(others, frozenset()):
            candidates.append(literal)
        else:
            implied += parts
    return candidates, implied


def _is_made(test: Comparison) -> bool:
    """Whether it is `variable = [x, y]` or `variable = $Name(x)`."""
    left, right = test.left, test.right
    return isinstance(left, Variable) and isinstance(right, Operation) and shape_made(right.name, right.type) is not None


def _is_part(literal: Literal, value: Variable, maker: Operation) -> bool:
    """Whether a literal says a part of `value = maker`."""
    type_ = value.type
    assert isinstance(type_, Structure)
    match literal:
        case Comparison(operator="!=", left=left, right=Constant(value=None)):
            return left == value
        case Comparison(operator="=", left=Operation(name=name, arguments=(argument,)), right=Constant(value=number)) if name == WHICH:
            return argument == value and isinstance(number, int) and type_.shapes[number].constructor == maker.name
        case Comparison(operator="=", left=part, right=Operation(name=name, arguments=(argument,))) if name.startswith(FIELD):
            if argument != value:
                return False
            number, place = type_.place(name)
            return type_.shapes[number].constructor == maker.name and maker.arguments[place] == part
    return False


class _Flattening:
    """The core rule as far as it is built."""

    def __init__(self, renaming: dict[str, str]) -> None:
        self._renaming = renaming
        self._numbers: dict[str, int] = {}
        self._constants: dict[tuple[Type, str], int] = {}
        self.names: list[str] = []
        self.types: list[Type] = []
        self.atoms: list[CoreAtom] = []
        self.bindings: list[CoreBinding] = []
        self.filters: list[CoreFilter] = []

    def literal(self, literal: Literal) -> None:
        """Add one literal of the body."""
        match literal:
            case Atom():
                self.atoms.append(CoreAtom(literal.predicate, self.columns(literal), False, literal.span))
            case Negation(body=Conjunction(literals=(Atom() as atom,))):
                self.atoms.append(CoreAtom(atom.predicate, self.columns(atom), True, literal.span))
            case Comparison():
                self._comparison(literal)
            case _:
                raise AssertionError(f"not flat: {literal}")

    def inverse(self, variable: Variable, candidate: Term) -> None:
        """Say what a variable is that nothing else binds."""
        self.bindings.append(CoreBinding(self._variable(variable), self._expression(candidate), candidate.span, inverse=True))

    def candidate(self, equal: Comparison) -> None:
        """Say which value a variable has that something else binds, and whose parts are checked."""
        assert isinstance(equal.left, Variable)
        if not self._renamed(equal.left) & self._renamed(equal.right):
            self.bindings.append(CoreBinding(self._variable(equal.left), self._expression(equal.right), equal.span, inverse=True))

    def columns(self, atom: Atom) -> tuple[int | None, ...]:
        """Distinct variables for the terms of an atom, with the bindings that this takes."""
        columns: list[int | None] = []
        for term in atom.terms or (Constant(0, Type.NUMBER, atom.span),):
            column = self._column(term)
            if column is not None and column in columns:
                repeated = column
                column = self._fresh(self.names[repeated] + "'", self.types[repeated])
                self.bindings.append(CoreBinding(column, Reference(repeated, self.types[repeated]), term.span))
            columns.append(column)
        return tuple(columns)

    def _column(self, term: Term) -> int | None:
        match term:
            case Wildcard():
                return None
            case Variable():
                return self._variable(term)
            case Constant():
                key = (term.type, repr(term.value))
                if key not in self._constants:
                    self._constants[key] = self._bind_fresh(term)
                return self._constants[key]
            case _:
                return self._bind_fresh(term)

    def _bind_fresh(self, term: Term) -> int:
        expression = self._expression(term)
        variable = self._fresh(f"={format_term(term)}", expression.type)
        self.bindings.append(CoreBinding(variable, expression, term.span))
        return variable

    def _comparison(self, test: Comparison) -> None:
        if test.operator == "=":
            for side, other in ((test.left, test.right), (test.right, test.left)):
                if isinstance(side, Variable):
                    if isinstance(other, Variable):
                        return  # they have become one variable
                    if isinstance(other, Operation) and other.name in GENERATORS and self._renamed(side) & self._renamed(other):
                        values = self._bind_fresh(other)
                        variable = self._variable(side)
                        same = Reference(variable, side.type), Reference(values, side.type)
                        self.filters.append(CoreFilter("=", *same, test.span))
                        return
                    if not self._renamed(side) & self._renamed(other):
                        self.bindings.append(CoreBinding(self._variable(side), self._expression(other), test.span))
                        return
        self.filters.append(CoreFilter(test.operator, self._expression(test.left), self._expression(test.right), test.span))

    def _renamed(self, term: Term) -> frozenset[str]:
        return frozenset(self._renaming.get(name, name) for name in term_names(term))

    def _expression(self, term: Term) -> Expression:
        match term:
            case Variable():
                return Reference(self._variable(term), term.type)
            case Constant():
                return Value(term.value, term.type)
            case Wildcard():
                raise AssertionError("a wildcard in an expression")
            case _:
                return Apply(term.name, tuple(self._expression(argument) for argument in term.arguments), term.type, term.span)

    def _variable(self, variable: Variable) -> int:
        name = self._renaming.get(variable.name, variable.name)
        if name not in self._numbers:
            self._numbers[name] = self._fresh(name, variable.type)
        return self._numbers[name]

    def _fresh(self, name: str, type_: Type) -> int:
        while name in self.names:
            name += "'"
        self.names.append(name)
        self.types.append(type_)
        return len(self.names) - 1
