"""From the syntax tree to formulas, with the types that inference found. Total: a wrong program gives some formula, too."""

from __future__ import annotations

from collections.abc import Mapping

from datalog.analysis.cells import Cell
from datalog.analysis.types import Inference, exact_decimal, literal, literal_types, named
from datalog.ir import formulas
from datalog.ir.core import PyValue, Type
from datalog.ir.spelling import read_date, read_datetime
from datalog.syntax import tree


class Translation:
    """Translates the literals of one rule, whose variables' types are in `cells`."""

    def __init__(self, inference: Inference, cells: Mapping[str, Cell]) -> None:
        self._inference = inference
        self._cells = cells

    def conjunction(self, body: tree.Conjunction) -> formulas.Conjunction:
        """The conj, without quantifiers."""
        return formulas.Conjunction((), tuple(self._literal(inner) for inner in body.literals), body.span)

    def atom(self, atom: tree.Atom) -> formulas.Atom:
        """The atom, each term with the type of its column."""
        typed = tuple(self._term(term, self._inference.column_type(atom.predicate, at)) for at, term in enumerate(atom.terms))
        return formulas.Atom(atom.predicate, typed, atom.span)

    def _literal(self, source: tree.Literal) -> formulas.Literal:
        match source:
            case tree.Atom():
                return self.atom(source)
            case tree.Comparison(left=tree.Variable() as result, right=tree.Aggregate() as aggregate):
                return self._aggregation(result, aggregate)
            case tree.Comparison():
                left, right = self._typed(source.left), self._typed(source.right)
                return formulas.Comparison(source.operator, left, right, source.span)
            case tree.Truth():
                return formulas.Truth(source.value, source.span)
            case tree.Negation():
                return formulas.Negation(self.conjunction(source.body), source.span)
            case tree.Disjunction():
                return formulas.Disjunction(tuple(self.conjunction(branch) for branch in source.branches), source.span)
            case tree.Conjunction():
                return self.conjunction(source)

    def _aggregation(self, result: tree.Variable, source: tree.Aggregate) -> formulas.Aggregation:
        variable = formulas.Variable(result.name, self._cells[result.name].type, result.span)
        arguments = tuple(map(self._typed, source.arguments))
        return formulas.Aggregation(variable, source.function, arguments, self.conjunction(source.body), source.grouping, source.span)

    def _typed(self, term: tree.Term) -> formulas.Term:
        """A term that is no direct part of an atom."""
        return self._term(term, self._inference.term_type(term))

    def _term(self, term: tree.Term, type_: Type) -> formulas.Term:
        constant = literal(term)
        if constant is not None:
            return formulas.Constant(_value(constant, type_), type_, term.span)
        match term:
            case tree.Variable():
                return formulas.Variable(term.name, self._cells[term.name].type, term.span)
            case tree.Operation():
                arguments = self._arguments(term, type_)
                taken = 1 if term.name == "to_decimal" else len(arguments)  # its scale is that of the type
                return formulas.Operation(named(term), arguments[:taken], type_, term.span)
            case _:
                return formulas.Wildcard(type_, term.span)

    def _arguments(self, term: tree.Operation, type_: Type) -> tuple[formulas.Term, ...]:
        signature = self._inference.signature_of(term)
        if signature is None:
            return tuple(map(self._typed, term.arguments))
        slots, result = signature
        # What inference could not settle in an atom that does not fit has the type that its surroundings say.
        return tuple(
            self._term(argument, type_) if slot.same and result.same else self._typed(argument)
            for slot, argument in zip(slots, term.arguments, strict=True)
        )


def _value(constant: tree.Constant, type_: Type) -> PyValue:
    """The value of a literal as one of its type; any value where the two do not go together, which has been reported."""
    value = constant.value
    if isinstance(value, bool) or type_ not in literal_types(constant):
        return value
    if isinstance(value, str):
        return read_date(value) or value if type_ is Type.DATE else read_datetime(value) or value if type_ is Type.DATETIME else value
    return float(value) if type_ is Type.FLOAT else exact_decimal(constant) if type_.scale >= 0 else value
