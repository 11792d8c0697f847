"""From the syntax tree to formulas, with the types that inference found. Total: a wrong program gives some formula, too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from datalog.analysis.cells import Cell
from datalog.analysis.folding import make
from datalog.analysis.literals import exact_decimal, literal, literal_types
from datalog.analysis.patterns import Patterns, leaves_open, shape_of
from datalog.analysis.types import Inference, named
from datalog.analysis.walk import is_pattern, operands
from datalog.ir import formulas
from datalog.ir.core import PyValue, Type
from datalog.ir.primitives import CAST
from datalog.ir.spelling import read_date, read_datetime
from datalog.syntax import tree


class Translation:
    """Translates the literals of one rule, whose variables' types are in `cells`."""

    def __init__(self, inference: Inference, cells: Mapping[str, Cell]) -> None:
        self._inference = inference
        self._cells = cells
        self._patterns = Patterns(self._term, set(cells))

    def conjunction(self, body: tree.Conjunction) -> formulas.Conjunction:
        """The conj, without quantifiers."""
        literals = [literal for inner in body.literals for literal in self._literals(inner)]
        return formulas.Conjunction((), tuple(literals), body.span)

    def atom(self, atom: tree.Atom) -> formulas.Atom:
        """The atom, each term with the type of its column."""
        typed = tuple(self._term(term, self._inference.column_type(atom.predicate, at)) for at, term in enumerate(atom.terms))
        return formulas.Atom(atom.predicate, typed, atom.span)

    def _literals(self, source: tree.Literal) -> Iterator[formulas.Literal]:
        """A literal of a body; where it has patterns, with what these say beside it."""
        match source:
            case tree.Atom() if any(map(is_pattern, source.terms)):
                yield from self._matched(source)
            case tree.Comparison(operator="=", left=left, right=right) if is_pattern(left) or is_pattern(right):
                yield from self._patterns.equal(left, right, self._inference.term_type(left), source.span)
            case _:
                yield self._literal(source)

    def _matched(self, atom: tree.Atom) -> Iterator[formulas.Literal]:
        terms: list[formulas.Term] = []
        matched: list[formulas.Literal] = []
        for at, term in enumerate(atom.terms):
            type_ = self._inference.column_type(atom.predicate, at)
            if isinstance(term, tree.Record | tree.Branch) and is_pattern(term):
                variable = self._patterns.fresh(term, type_)
                matched += self._patterns.match(variable, term)
                terms.append(variable)
            else:
                terms.append(self._term(term, type_))
        yield formulas.Atom(atom.predicate, tuple(terms), atom.span)
        yield from matched

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
            case tree.Negation(body=tree.Conjunction(literals=(tree.Atom(terms=terms) as atom,))) if not any(map(leaves_open, terms)):
                # What is bound outside is put together, and nothing is to be found within.
                return formulas.Negation(formulas.Conjunction((), (self.atom(atom),), source.body.span), source.span)
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
            case tree.Nil():
                return formulas.Constant(None, type_, term.span)
            case tree.Record() | tree.Branch() if (shape := shape_of(term, type_)) is not None:
                parts = [self._term(part, field) for part, field in zip(operands(term), shape.types, strict=True)]
                return make(shape.constructor, parts, type_, term.span)
            case tree.Cast():
                return self._cast(term, type_)
            case tree.Operation():
                arguments = self._arguments(term, type_)
                taken = 1 if term.name == "to_decimal" else len(arguments)  # its scale is that of the type
                name = "cat" if term.name == "+" and type_ is Type.SYMBOL else named(term)
                return formulas.Operation(name, arguments[:taken], type_, term.span)
            case _:
                return formulas.Wildcard(type_, term.span)

    def _cast(self, term: tree.Cast, type_: Type) -> formulas.Term:
        inner = self._typed(term.term)
        return inner if inner.type == type_ else formulas.Operation(CAST, (inner,), type_, term.span)

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
