"""From the syntax tree to formulas, with the types that inference found. Total: a wrong program gives some formula, too."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from datalog.analysis.types import ANY, Cell, default_type, literal, literal_types
from datalog.analysis.walk import subterms
from datalog.ir import formulas
from datalog.ir.core import Type
from datalog.syntax import tree

ColumnType = Callable[[str, int], Type]


class Translation:
    """Translates the literals of one rule; `column_type` knows the predicates, `cells` the rule's variables."""

    def __init__(self, column_type: ColumnType, cells: Mapping[str, Cell]) -> None:
        self._column_type = column_type
        self._cells = cells

    def conjunction(self, body: tree.Conjunction) -> formulas.Conjunction:
        """The conj, without quantifiers."""
        return formulas.Conjunction((), tuple(self._literal(inner) for inner in body.literals), body.span)

    def atom(self, atom: tree.Atom) -> formulas.Atom:
        """The atom, each term with the type of its column."""
        typed = tuple(self._term(term, self._column_type(atom.predicate, at)) for at, term in enumerate(atom.terms))
        return formulas.Atom(atom.predicate, typed, atom.span)

    def _literal(self, source: tree.Literal) -> formulas.Literal:
        match source:
            case tree.Atom():
                return self.atom(source)
            case tree.Comparison():
                type_ = self._common_type(source)
                return formulas.Comparison(source.operator, self._term(source.left, type_), self._term(source.right, type_), source.span)
            case tree.Truth():
                return formulas.Truth(source.value, source.span)
            case tree.Negation():
                return formulas.Negation(self.conjunction(source.body), source.span)
            case tree.Disjunction():
                return formulas.Disjunction(tuple(self.conjunction(branch) for branch in source.branches), source.span)
            case tree.Conjunction():
                return self.conjunction(source)

    def _common_type(self, comparison: tree.Comparison) -> Type:
        allowed = ANY
        for side in (comparison.left, comparison.right):
            for term in subterms(side):
                constant = literal(term)
                if constant is not None:
                    allowed = allowed & literal_types(constant) or allowed
                elif isinstance(term, tree.Variable):
                    allowed = frozenset({self._cells[term.name].type})
                    break
        return default_type(allowed)

    def _term(self, term: tree.Term, type_: Type) -> formulas.Term:
        constant = literal(term)
        if constant is not None:
            return formulas.Constant(_value(constant, type_), type_, term.span)
        match term:
            case tree.Variable():
                return formulas.Variable(term.name, self._cells[term.name].type, term.span)
            case tree.Operation():
                name = "neg" if term.name == "-" and len(term.arguments) == 1 else term.name
                return formulas.Operation(name, tuple(self._term(argument, type_) for argument in term.arguments), type_, term.span)
            case _:
                return formulas.Wildcard(type_, term.span)


def _value(constant: tree.Constant, type_: Type) -> int | float | str:
    if type_ is Type.FLOAT and isinstance(constant.value, int):
        return float(constant.value)
    return constant.value
