"""Lattices of lattices, `x: T<>`: of the rows that agree in all other columns there is one, whose value is the least upper bound of theirs.

    .lattice Sign<> { Bottom -> $None(), Lub -> @lub(_, _), Glb -> @glb(_, _) }        .decl p(k: number, s: Sign<>)

becomes rules of the program's own kind: two rows give a third one, and what is below another row is subsumed by it.

    p(k, @lub(a, b)) :- p(k, a), p(k, b), a != b.              p(k, a) <= p(k, b) :- @lub(a, b) = b.

In a body a row stands for all values that are not above its own, as in Soufflé:

    p(k, t), where something else binds t               p(k, v), @glb(v, t) = t             t is not above
    p(k, x), q(k, x), where nothing else binds x        p(k, v), q(k, w), x = @glb(v, w), x != bottom
    !p(k, t)                                            (!p(k, _); p(k, v), @glb(v, t) = bottom)

A variable that stands once is the row's own value. Without `Glb` and `Bottom` all values are, and are compared as such.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from datalog.analysis.findings import Findings, did_you_mean, place
from datalog.analysis.walk import leaves, operands, subterms, terms, variables, variables_in, with_operands
from datalog.ir.lattices import Lattice, Lattices
from datalog.ir.primitives import CALL
from datalog.syntax.tree import (
    Aggregate,
    Atom,
    Branch,
    Clause,
    Comparison,
    Conjunction,
    Declaration,
    Disjunction,
    FunctorDeclaration,
    LatticeDeclaration,
    Literal,
    Negation,
    Operation,
    Program,
    Record,
    Rule,
    Span,
    Subsumption,
    Term,
    Variable,
    Wildcard,
)

OPERATORS = ("Bottom", "Top", "Lub", "Glb", "Leq")
FUNCTORS = ("Lub", "Glb")
OTHER_LAYOUTS = frozenset({"brie", "eqrel", "btree_delete"})


def lattices_as_rules(program: Program, findings: Findings) -> tuple[Program, Lattices]:
    """The program with rules that join rows, and with bodies that say what they mean; and which columns are of lattices.

    Those rules have the places of the declarations, by which they are known (`datalog.rewrite.join_lattices`)."""
    declared = [clause for clause in program.clauses if isinstance(clause, LatticeDeclaration)]
    uses = [clause for clause in program.clauses if isinstance(clause, Declaration) and any(column.lattice for column in clause.attributes)]
    if not declared and not uses:
        return program, {}
    lattices = _declared(declared, program, findings)
    clauses: list[Clause] = []
    subsumed = {clause.less.predicate for clause in program.clauses if isinstance(clause, Subsumption)}
    columns: dict[str, dict[int, Lattice]] = {}
    for use in uses:
        _check_columns(use, {one.type for one in declared}, subsumed, findings)
        own = {at: lattices[one.type] for at, one in enumerate(use.attributes) if one.lattice and one.type in lattices}
        columns |= dict.fromkeys(use.predicates, own)
    met = _met(columns)
    for clause in program.clauses:
        match clause:
            case LatticeDeclaration():
                continue
            case Declaration():
                clauses.append(replace(clause, attributes=tuple(replace(one, lattice=False) for one in clause.attributes)))
                for name in clause.predicates:
                    if columns.get(name):
                        clauses += _joining(clause, name, columns[name])
            case Rule() if _reads(clause, met):
                clauses += _rules(clause, met, findings)
            case _:
                clauses.append(clause)
    return replace(program, clauses=tuple(clauses)), columns


def lattices_in_query(body: Conjunction, lattices: Lattices, findings: Findings) -> Conjunction:
    """The same for a query."""
    met = _met(lattices)
    if not any(met.get(atom.predicate) for atom in _atoms(body)):
        return body
    bodies = lattice_bodies(body, met, findings)
    return bodies[0] if len(bodies) == 1 else Conjunction((Disjunction(tuple(bodies), body.span),), body.span)


def _met(lattices: Lattices) -> Lattices:
    """The columns that bodies read by what is below their values."""
    return {name: {at: one for at, one in own.items() if one.is_met} for name, own in lattices.items()}


# --- declarations ---------------------------------------------------------------------------------------------------------------


def _declared(declarations: Sequence[LatticeDeclaration], program: Program, findings: Findings) -> dict[str, Lattice]:
    """The lattices by their types, as far as they are right."""
    functors = {clause.name: clause for clause in program.clauses if isinstance(clause, FunctorDeclaration)}
    first: dict[str, Span] = {}
    found: dict[str, Lattice] = {}
    for clause in declarations:
        if clause.type in first:
            findings.add(clause.span, f"lattice `{clause.type}<>` is declared twice", f"the first is at {place(first[clause.type])}")
            continue
        first[clause.type] = clause.span
        said: dict[str, Term] = {}
        for name, term in clause.operators:
            if name not in OPERATORS:
                hint = did_you_mean(name, OPERATORS) or f"there are {', '.join(OPERATORS)}"
                findings.add(clause.span, f"a lattice has no operator `{name}`", hint)
            elif name in said:
                findings.add(clause.span, f"`{name}` is said twice of the lattice `{clause.type}<>`", "it has one operator of each name")
            said.setdefault(name, term)
        if "Lub" not in said:
            findings.add(clause.span, f"the lattice `{clause.type}<>` has no `Lub`", "say how two values are joined: Lub -> @f(_, _)")
        calls = {name: _call(name, said[name], clause, functors, findings) for name in FUNCTORS if name in said}
        if calls.get("Lub"):
            found[clause.type] = Lattice(calls["Lub"], calls.get("Glb", ""), said.get("Bottom"))
    return found


def _call(name: str, term: Term, clause: LatticeDeclaration, functors: Mapping[str, FunctorDeclaration], findings: Findings) -> str:
    """The functor that `Lub` or `Glb` names; empty if it is none that joins two values."""
    if not isinstance(term, Operation) or not term.name.startswith(CALL):
        findings.add(term.span, f"`{name}` of a lattice is a functor of your own", f"write {name} -> @f(_, _)")
        return ""
    declared = functors.get(term.name.removeprefix(CALL))
    if declared is None:
        hint = f"declare it: .functor {term.name[1:]}(x: {clause.type}, y: {clause.type}): {clause.type}"
        findings.add(term.span, f"functor `{term.name}` is not declared", hint)
        return ""
    if (*(attribute.type for attribute in declared.attributes), declared.result) != (clause.type,) * 3:
        hint = f"it takes two values of `{clause.type}` and gives one"
        findings.add(term.span, f"`{term.name}` does not join values of the lattice `{clause.type}<>`", hint)
        return ""
    return term.name


def _check_columns(declaration: Declaration, declared: Collection[str], subsumed: set[str], findings: Findings) -> None:
    name = declaration.predicates[0]
    last = max((at for at, column in enumerate(declaration.attributes) if not column.lattice), default=-1)
    for at, column in enumerate(declaration.attributes):
        if column.lattice and at < last:
            hint = "what the rows agree in stands before what is joined"
            findings.add(column.span, f"the column `{column.name}` of a lattice stands before others", hint)
        if column.lattice and column.type not in declared:
            hint = f"declare it: .lattice {column.type}<> {{ Bottom -> …, Lub -> @f(_, _), Glb -> @g(_, _) }}"
            findings.add(column.span, f"the type `{column.type}` is no lattice", hint)
    if subsumed.intersection(declaration.predicates):
        findings.add(declaration.span, f"`{name}` has columns of lattices, and a subsumption", "say the order in one of the two ways")
    elif declaration.functional or declaration.choices:
        what = "is functional" if declaration.functional else "has a choice-domain"
        findings.add(declaration.span, f"`{name}` {what}, and has columns of lattices", "rows are joined, or there is one for a key")
    elif others := OTHER_LAYOUTS.intersection(declaration.qualifiers):
        findings.add(declaration.span, f"`{name}` is declared `{min(others)}`, and has columns of lattices", "declare it `btree`")


def _joining(declaration: Declaration, name: str, lattices: Mapping[int, Lattice]) -> Iterator[Clause]:
    """The rule and the subsumption that leave one row of those that agree in the other columns."""
    span = declaration.span
    keys: list[Term] = []
    less: list[Term] = []
    greater: list[Term] = []
    upper: list[Term] = []
    below: list[Literal] = []
    for at, column in enumerate(declaration.attributes):
        lattice = lattices.get(at)
        one, other = Variable(f"{column.name}", span), Variable(f"{column.name}'", span)
        if lattice is None:
            keys.append(one)
            continue
        less.append(one)
        greater.append(other)
        upper.append(Operation(lattice.lub, (one, other), span))
        below.append(Comparison("=", Operation(lattice.lub, (one, other), span), other, span))
    rows = Atom(name, (*keys, *less), span), Atom(name, (*keys, *greater), span)
    differing = [Conjunction((Comparison("!=", one, other, span),), span) for one, other in zip(less, greater, strict=True)]
    differ: Literal = Disjunction(tuple(differing), span) if len(differing) > 1 else differing[0]
    yield Rule((Atom(name, (*keys, *upper), span),), Conjunction((*rows, differ), span), ":-", span)
    yield Subsumption(*rows, Conjunction(tuple(below), span), span)


def _reads(rule: Rule, columns: Lattices) -> bool:
    """Whether columns of lattices stand in a body, or in that of an aggregate."""
    parts: tuple[Literal, ...] = (*rule.heads, rule.body)
    return any(columns.get(atom.predicate) for part in parts for atom in _atoms(part))


def _rules(rule: Rule, columns: Lattices, findings: Findings) -> Iterator[Rule]:
    """What a rule means, or a fact with aggregates."""
    for body in lattice_bodies(rule.body, columns, findings):
        meaning = _Meaning(columns, findings)
        bound = _bound_by(rule.body.literals, frozenset(), {})
        heads = tuple(replace(head, terms=tuple(meaning.within(term, bound) for term in head.terms)) for head in rule.heads)
        yield replace(rule, heads=heads, body=body)


# --- bodies ---------------------------------------------------------------------------------------------------------------------


def lattice_bodies(body: Conjunction, columns: Lattices, findings: Findings) -> list[Conjunction]:
    """The body in other words; several, if it has disjunctions, since what is bound differs between their branches."""
    meaning = _Meaning(columns, findings)
    return [meaning.conjunction(one, frozenset()) for one in _branches(body)]


def _branches(body: Conjunction) -> list[Conjunction]:
    """The body without disjunctions and groups at its top."""
    found: list[tuple[Literal, ...]] = [()]
    for literal in body.literals:
        match literal:
            case Disjunction(branches=branches):
                ways = [one.literals for branch in branches for one in _branches(branch)]
            case Conjunction():
                ways = [one.literals for one in _branches(literal)]
            case _:
                ways = [(literal,)]
        found = [(*before, *way) for before in found for way in ways]
    return [replace(body, literals=literals) for literals in found]


@dataclass(slots=True)
class _Meaning:
    columns: Lattices
    findings: Findings
    made: int = field(default=0)

    def conjunction(self, body: Conjunction, bound: frozenset[str]) -> Conjunction:
        """A conj without disjunctions; `bound` is what the conjs around it bind."""
        own = _bound_by(body.literals, bound, self.columns)
        shared = self._shared(body, own)
        literals: list[Literal] = []
        beside: list[Literal] = []
        values: dict[str, list[Variable]] = {}
        for literal in body.literals:
            match literal:
                case Atom():
                    literals.append(self._atom(literal, own, shared, values, beside))
                case Negation(body=Conjunction(literals=(Atom() as atom,))) if self.columns.get(atom.predicate):
                    literals.append(self._negated(atom))
                case Negation():
                    inner = [self.conjunction(one, own) for one in _branches(literal.body)]
                    group = inner[0] if len(inner) == 1 else Conjunction((Disjunction(tuple(inner), literal.span),), literal.span)
                    literals.append(replace(literal, body=group))
                case Comparison(left=left, right=right):
                    literals.append(replace(literal, left=self.within(left, own), right=self.within(right, own)))
                case _:
                    literals.append(literal)
        for name, lattice in shared.items():
            beside += _meet(Variable(name, values[name][0].span), values[name], lattice)
        return replace(body, literals=(*literals, *beside))

    def _shared(self, body: Conjunction, bound: frozenset[str]) -> dict[str, Lattice]:
        """The variables that stand in several columns of lattices and are bound by nothing else."""
        uses: dict[str, list[Lattice]] = {}
        for literal in body.literals:
            for at, term in enumerate(literal.terms if isinstance(literal, Atom) else ()):
                assert isinstance(literal, Atom)
                lattice = self.columns.get(literal.predicate, {}).get(at)
                if lattice is not None and isinstance(term, Variable) and term.name not in bound:
                    uses.setdefault(term.name, []).append(lattice)
        shared = {name: found[0] for name, found in uses.items() if len(found) > 1}
        for literal in body.literals:
            for use in variables(literal):
                if use.name in shared and not isinstance(literal, Atom):
                    hint = "only columns of lattices bind it, whose values are met; let a rule before this one do that"
                    self.findings.add(use.span, f"`{use.name}` is the meet of several values, and stands in another literal", hint)
        return shared

    def _atom(
        self,
        atom: Atom,
        bound: frozenset[str],
        shared: Mapping[str, Lattice],
        values: dict[str, list[Variable]],
        beside: list[Literal],
    ) -> Atom:
        found = [self.within(term, bound) for term in atom.terms]
        for at, lattice in self.columns.get(atom.predicate, {}).items():
            term = found[at] if at < len(found) else Wildcard(atom.span)
            if isinstance(term, Wildcard):
                continue
            if isinstance(term, Variable) and term.name not in bound:
                if term.name in shared:
                    found[at] = value = self._value(term)
                    values.setdefault(term.name, []).append(value)
            elif all(use.name in bound for use in variables_in(term)) and not any(isinstance(one, Wildcard) for one in subterms(term)):
                found[at] = self._value(term)
                met = Operation(lattice.glb, (found[at], term), term.span)
                beside.append(Comparison("=", met, term, term.span))
            else:
                hint = "give the row's value a variable, and take that apart: v = […]"
                self.findings.add(term.span, "what stands in a column of a lattice is bound by nothing", hint)
        return replace(atom, terms=tuple(found))

    def _negated(self, atom: Atom) -> Literal:
        """There is no row, or its value and the other one have nothing in common."""
        columns = self.columns[atom.predicate]
        span = atom.span
        open_ = [Wildcard(span) if at in columns else term for at, term in enumerate(atom.terms)]
        none: Literal = Negation(Conjunction((replace(atom, terms=tuple(open_)),), span), span)
        branches = [Conjunction((none,), span)]
        for at, lattice in columns.items():
            term = atom.terms[at] if at < len(atom.terms) else Wildcard(span)
            if isinstance(term, Wildcard):
                continue
            value = self._value(term)
            row = replace(atom, terms=(*open_[:at], value, *open_[at + 1 :]))
            assert lattice.bottom is not None
            apart = Comparison("=", Operation(lattice.glb, (value, term), term.span), lattice.bottom, term.span)
            branches.append(Conjunction((row, apart), span))
        return Disjunction(tuple(branches), span) if len(branches) > 1 else none

    def within(self, term: Term, bound: frozenset[str]) -> Term:
        """A term with what aggregates in it mean."""
        if own := operands(term):
            term = with_operands(term, [self.within(one, bound) for one in own])
        if not isinstance(term, Aggregate):
            return term
        inner = [self.conjunction(one, bound) for one in _branches(term.body)]
        span = term.body.span
        return replace(term, body=inner[0] if len(inner) == 1 else Conjunction((Disjunction(tuple(inner), span),), span))

    def _value(self, term: Term) -> Variable:
        self.made += 1
        return Variable(f"=row{self.made}", term.span)


def _meet(result: Variable, values: Sequence[Term], lattice: Lattice) -> tuple[Literal, Literal]:
    assert lattice.bottom is not None
    met = values[0]
    for value in values[1:]:
        met = Operation(lattice.glb, (value, met), result.span)
    return Comparison("=", result, met, result.span), Comparison("!=", result, lattice.bottom, result.span)


def _bound_by(literals: Iterable[Literal], bound: frozenset[str], columns: Lattices) -> frozenset[str]:
    """What literals bind, and `bound`, without the columns of lattices."""
    found = set(bound)
    known = -1
    equations = [literal for literal in literals if isinstance(literal, Comparison) and literal.operator == "="]
    for literal in literals:
        if isinstance(literal, Atom):
            own = columns.get(literal.predicate, {})
            for at, term in enumerate(literal.terms):
                if at not in own:
                    found |= _bindable(term)
    while known < len(found):
        known = len(found)
        for test in equations:
            for side, other in ((test.left, test.right), (test.right, test.left)):
                if isinstance(other, Aggregate) or all(use.name in found for use in variables_in(other)):
                    found |= _bindable(side)
    return frozenset(found)


def _bindable(term: Term) -> set[str]:
    """The variables that matching a value with the term binds."""
    if isinstance(term, Variable):
        return {term.name}
    return set().union(*map(_bindable, operands(term))) if isinstance(term, Record | Branch) else set()


def _atoms(literal: Literal) -> Iterator[Atom]:
    """Each atom, also in aggregates wherever they stand."""
    for leaf in leaves(literal):
        if isinstance(leaf, Atom):
            yield leaf
        for term in terms(leaf):
            for inner in subterms(term):
                if isinstance(inner, Aggregate):
                    yield from _atoms(inner.body)
