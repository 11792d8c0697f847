"""Shorthands of terms become literals beside them, so that what follows knows plain terms only.

    profit[s] = sell[s] - buy[s]     becomes   profit(s, =sell[s] - =buy[s]) ← sell(s, =sell[s]), buy(s, =buy[s])
    p(x, 1 + sum y : { q(x, y) })    becomes   p(x, 1 + =sum) … =sum = sum y : { q(x, y) }
    p(recursive_iteration_cnt())     becomes   p(=n) ← @round(=n)
    p(range(1, 9))                   becomes   p(=range) ← =range = range(1, 9)
    h(x) <- agg<<t = sum(y)>> q(x, y)  becomes  h(x) ← t = sum y : { q(x, y) }, which groups
    contains("a", x)                 becomes   contains("a", x) = true, unless a predicate has that name
    !(q(x), 1 < count : { r(x) })    becomes   (!q(x) ; !(1 < count : { r(x) }))

Afterwards an aggregate, and a primitive that generates values, stands only on the right side of `variable = …`; a variable that
belongs to an aggregate alone has a name of its own in the rule; a fact that has something to compute beyond plain arithmetic is
a rule. Names of new variables begin with `=`, which none of a program does.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from datalog.analysis.aggregate_scopes import separate_scopes
from datalog.analysis.anonymous import compare_by_parts
from datalog.analysis.folding import can_fold
from datalog.analysis.negated_aggregates import negate_aggregates_apart
from datalog.analysis.walk import operands, subterms, terms, variables, with_operands, with_terms
from datalog.ir.core import ROUND, Type
from datalog.ir.primitives import GENERATORS, Primitive
from datalog.syntax.printer import format_term
from datalog.syntax.tree import (
    Aggregate,
    Application,
    Atom,
    Comparison,
    Conjunction,
    Constant,
    Declaration,
    Directive,
    Disjunction,
    Literal,
    Negation,
    Operation,
    Program,
    Rule,
    Term,
    Truth,
    Variable,
    Wildcard,
)

Primitives = Mapping[str, tuple[Primitive, ...]]
_TRUE = Constant(True, "bool")


def desugar(program: Program, primitives: Primitives) -> Program:
    """The program without applications, totals and conditions, with aggregates and generators standing alone."""
    known = _predicates(program)
    return replace(
        program, clauses=tuple(_rule(clause, known, primitives) if isinstance(clause, Rule) else clause for clause in program.clauses)
    )


def desugar_body(body: Conjunction, known: Collection[str], primitives: Primitives) -> Conjunction:
    """The same for a query's body; `known` are the predicates that there are."""
    names = {use.name for use in variables(body)}
    query = negate_aggregates_apart(compare_by_parts(Rule((), body, ":-", body.span), names))
    return separate_scopes(_Desugaring(known, primitives, names).rule(query)).body


def _predicates(program: Program) -> frozenset[str]:
    """The names that are those of predicates, whatever primitives there are."""
    known: set[str] = set()
    for clause in program.clauses:
        match clause:
            case Declaration() | Directive():
                known.update(clause.predicates)
            case Rule():
                known.update(head.predicate for head in clause.heads)
    return frozenset(known)


def _rule(rule: Rule, known: frozenset[str], primitives: Primitives) -> Rule:
    if not rule.body.literals and all(isinstance(term, Constant) for head in rule.heads for term in head.terms):
        return rule
    return separate_scopes(_Desugaring(known, primitives, set()).rule(negate_aggregates_apart(compare_by_parts(rule))))


@dataclass(slots=True)
class _Beside:
    """What is hoisted out of the literals of one conj."""

    literals: list[Literal] = field(default_factory=list)
    applied: dict[str, Variable] = field(default_factory=dict)


class _Desugaring:
    """One rule's desugaring."""

    def __init__(self, known: Collection[str], primitives: Primitives, taken: set[str]) -> None:
        self._known, self._primitives = known, primitives
        self._taken = taken

    def rule(self, rule: Rule) -> Rule:
        beside = _Beside()
        heads = tuple(self._atom(head, beside) for head in rule.heads)
        body = rule.body
        if rule.totals:
            totals = [
                Comparison("=", total.result, Aggregate(total.function, total.arguments, body, total.span, grouping=True), total.span)
                for total in rule.totals
            ]
            body = Conjunction(tuple(totals), body.span)
        body = self._conjunction(body, beside)
        if not rule.arrow and not body.literals and not all(can_fold(term) for head in heads for term in head.terms):
            body = Conjunction((Truth(True, body.span),), body.span)
        return replace(rule, heads=heads, body=body, totals=())

    def _conjunction(self, conjunction: Conjunction, beside: _Beside | None = None) -> Conjunction:
        beside = beside or _Beside()
        literals = [self._literal(literal, beside) for literal in conjunction.literals]
        return replace(conjunction, literals=(*literals, *beside.literals))

    def _literal(self, literal: Literal, beside: _Beside) -> Literal:
        match literal:
            case Atom():
                return self._atom(literal, beside) if not self._is_condition(literal) else self._condition(literal, beside)
            case Comparison():
                return self._comparison(literal, beside)
            case Negation(body=Conjunction(literals=(Atom() | Comparison() as only,)) as body):
                # Of an aggregate without a result there is nothing to negate: it stands outside, as in Soufflé.
                bare = with_terms(only, [self._without_aggregates(term, beside) for term in terms(only)])
                return replace(literal, body=self._conjunction(replace(body, literals=(bare,))))
            case Negation():
                return replace(literal, body=self._conjunction(literal.body))
            case Disjunction():
                return replace(literal, branches=tuple(map(self._conjunction, literal.branches)))
            case Conjunction():
                return self._conjunction(literal)
            case Truth():
                return literal

    def _atom(self, atom: Atom, beside: _Beside) -> Atom:
        return replace(atom, terms=tuple(self._term(term, beside) for term in atom.terms))

    def _is_condition(self, atom: Atom) -> bool:
        return (
            not atom.functional
            and atom.predicate not in self._known
            and any(Type.BOOL in primitive.result.types for primitive in self._primitives.get(atom.predicate, ()))
        )

    def _condition(self, atom: Atom, beside: _Beside) -> Comparison:
        arguments = tuple(self._term(term, beside) for term in atom.terms)
        return Comparison("=", Operation(atom.predicate, arguments, atom.span), replace(_TRUE, span=atom.span), atom.span)

    def _comparison(self, test: Comparison, beside: _Beside) -> Comparison:
        if test.operator == "=":
            for side, other in ((test.left, test.right), (test.right, test.left)):
                if isinstance(side, Variable) and self._stands_alone(other):
                    return replace(test, left=side, right=self._alone(other, beside))
                if isinstance(side, Wildcard) and isinstance(other, Aggregate):  # for the sake of its witnesses
                    return replace(test, left=self._fresh(f"={other.function}", other), right=self._alone(other, beside))
        return replace(test, left=self._term(test.left, beside), right=self._term(test.right, beside))

    def _term(self, term: Term, beside: _Beside) -> Term:
        match term:
            case Application():
                return self._application(term, beside)
            case Operation(name="recursive_iteration_cnt", arguments=()):
                variable = self._fresh("=recursive_iteration_cnt()", term)
                beside.literals.append(Atom(ROUND, (variable,), term.span))
                return variable
            case _ if self._stands_alone(term):
                assert isinstance(term, (Aggregate, Operation))
                variable = self._fresh(f"={term.function if isinstance(term, Aggregate) else term.name}", term)
                beside.literals.append(Comparison("=", variable, self._alone(term, beside), term.span))
                return variable
            case _ if inner := operands(term):
                return with_operands(term, [self._term(argument, beside) for argument in inner])
            case _:
                return term

    def _without_aggregates(self, term: Term, beside: _Beside) -> Term:
        if isinstance(term, Aggregate):
            return self._term(term, beside)
        inner = operands(term)
        return with_operands(term, [self._without_aggregates(argument, beside) for argument in inner]) if inner else term

    def _stands_alone(self, term: Term) -> bool:
        if isinstance(term, Operation):
            return term.name in GENERATORS
        return isinstance(term, Aggregate)

    def _alone(self, term: Term, beside: _Beside) -> Term:
        if isinstance(term, Operation):
            return replace(term, arguments=tuple(self._term(argument, beside) for argument in term.arguments))
        assert isinstance(term, Aggregate)
        if term.initial is not None:
            term = replace(term, arguments=(self._initial(term.initial, beside), *term.arguments), initial=None)
        within = _Beside()
        arguments = tuple(self._term(argument, within) for argument in term.arguments)
        return replace(term, arguments=arguments, body=self._conjunction(term.body, within))

    def _initial(self, term: Term, beside: _Beside) -> Term:
        """The initial value of the user's own aggregate: what stands outside binds its variables, whatever the body says of their names."""
        if not any(isinstance(inner, Variable | Wildcard | Application | Aggregate) for inner in subterms(term)):
            return term
        variable = self._fresh("=initial", term)
        beside.literals.append(Comparison("=", variable, self._term(term, beside), term.span))
        return variable

    def _application(self, term: Application, beside: _Beside) -> Variable:
        written = format_term(term)
        if written not in beside.applied or "_" in written:  # two wildcards are two variables
            keys = tuple(self._term(key, beside) for key in term.keys)
            beside.applied[written] = self._fresh(f"={written}", term)
            beside.literals.append(Atom(term.predicate, (*keys, beside.applied[written]), term.span, functional=True))
        return replace(beside.applied[written], span=term.span)

    def _fresh(self, name: str, term: Term) -> Variable:
        while name in self._taken:
            name += "'"
        self._taken.add(name)
        return Variable(name, term.span)
