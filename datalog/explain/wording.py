"""Aggregates as their author wrote them, with the values that a binding gives their variables.

    20 = sum x : { sales("n", _, x) }
    agg<<20 = sum(x)>> sales("n", _, x)

The text is parsed again, since a core rule knows only where in it an aggregate stands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from datalog.errors import ProgramError
from datalog.explain.literals import written
from datalog.ir.core import SOME, CoreAggregate, CoreAtom, CoreFunction, CoreProgram, CoreRule
from datalog.syntax import parse, parse_literals
from datalog.syntax.printer import format_body, format_term
from datalog.syntax.substitute import Substitution
from datalog.syntax.tree import (
    Aggregate,
    Comparison,
    Constant,
    Rule,
    Span,
    Term,
    Variable,
)

Known = Mapping[str, str]


class Wording:
    """The aggregates of one program's text."""

    def __init__(self, text: str, program: CoreProgram) -> None:
        self._text, self._program = text, program
        self.aggregates = {one.head: one for stratum in program.strata for one in stratum.aggregates}
        self._found: dict[tuple[Span, str], Aggregate | Rule | None] = {}

    def source(self, span: Span) -> str:
        """What stands at a span of the text, on one line."""
        return written(self._text, span)

    def of_atom(self, atom: CoreAtom) -> CoreAggregate:
        """The aggregate whose results an atom reads, or asks for (`datalog.rewrite.existence`)."""
        return self.aggregates[atom.predicate.removesuffix(SOME)]

    def result(self, atom: CoreAtom) -> int:
        """Which result of its aggregate an atom is about (`datalog.explain.literals`)."""
        spans = [function.span for function in self.of_atom(atom).functions]
        return spans.index(atom.span) if atom.span in spans else 0

    def function(self, atom: CoreAtom) -> CoreFunction:
        """The function whose result an atom is about."""
        return self.of_atom(atom).functions[self.result(atom)]

    def keys(self, atom: CoreAtom) -> tuple[int | None, ...]:
        """The variables of an atom that say for what its result is."""
        return () if atom.predicate.endswith(SOME) else atom.columns[: self.of_atom(atom).keys]

    def variable(self, atom: CoreAtom) -> int | None:
        """The variable of the result that an atom is about."""
        return None if atom.predicate.endswith(SOME) else atom.columns[self.of_atom(atom).keys + self.result(atom)]

    def aggregate(self, rule: CoreRule, atom: CoreAtom, shown: Sequence[str], bound: Sequence[bool], result: str) -> str:
        """The aggregate that an atom of `rule` stands for, as a literal with a result; as a term without one.

        `shown` has what stands for the rule's variables, `bound` which of them have values.
        """
        known: dict[str, str] = {}
        for name, value, has in zip(rule.variables, shown, bound, strict=True):
            if has and name[0] != "=":
                known[name] = value
                known.setdefault(name.rstrip("'"), value)
        aggregate = self.of_atom(atom)
        if (
            self.function(atom).span == atom.span
        ):  # the groups have the names that they have in this rule, before equal variables became one
            names = self._program.predicates[aggregate.source].attributes[: aggregate.groups]
            groups = [(name, column) for name, column in zip(names, atom.columns, strict=False) if column is not None and bound[column]]
            known.update({name: shown[column] for name, column in groups if name not in known})
        return self._worded(atom.span, rule.text, known, result)

    def is_total(self, rule: CoreRule, atom: CoreAtom) -> bool:
        """Is the aggregate one of `agg<<…>>`, which has no result for a group without rows?"""
        return isinstance(self._parse(atom.span, rule.text), Rule)

    def _worded(self, span: Span, rule: str, known: Known, result: str) -> str:
        match self._parse(span, rule):
            case Aggregate() as aggregate:
                term = format_term(_filled(known).term(aggregate))
                return f"{result} = {term}" if result else term
            case Rule() as grouping:
                filled = _filled(known)
                (total,) = grouping.totals
                arguments = ", ".join(format_term(filled.term(argument)) for argument in total.arguments)
                totals = f"{result or total.result.name} = {total.function}({arguments})"
                return f"agg<<{totals}>> {format_body(filled.conjunction(grouping.body))}"
            case _:
                return f"{result} = {self.source(span)}" if result else self.source(span)

    def _parse(self, span: Span, rule: str) -> Aggregate | Rule | None:
        key = span, rule
        if key not in self._found:
            self._found[key] = _parsed(self.source(span), rule)
        return self._found[key]


def _parsed(source: str, rule: str) -> Aggregate | Rule | None:
    """The aggregate that `source` is, or `rule` with the one total that it is; None if they are neither."""
    try:
        match parse_literals(f"_ = {source}").literals:
            case (Comparison(right=Aggregate() as aggregate),):
                return aggregate
    except ProgramError:
        pass
    try:
        clauses = parse(rule).clauses
    except ProgramError:  # the text of a helper's rule
        return None
    for clause in clauses:
        for total in clause.totals if isinstance(clause, Rule) else ():
            if "".join(source.split()).startswith(f"{total.result.name}={total.function}("):
                assert isinstance(clause, Rule)
                return replace(clause, totals=(total,))
    return None


def _filled(known: Known) -> Substitution:
    """Values for the variables that are known."""

    def value(variable: Variable) -> Term:
        shown = known.get(variable.name)
        return variable if shown is None else Constant(0, "number", spelling=shown)  # it is only printed

    return Substitution(value)
