"""Subtypes and unions: whether what a rule puts into a declared column is of the column's type, and not only of its primitive type.

The atoms of a body say which types their variables have at most; a variable of several columns has what these have in common, and the
two sides of a comparison have the same, and functors of the user's own say what they take and give. What operations and literals give
is of no subtype in particular and may go anywhere, as may `as(x, T)` where T goes. A head takes what is of its columns' types, and so
does the body: a variable that is of no type at all is one for which no column has a value in common with the others. Columns that are
not declared ask for nothing.

Types that do not even have one primitive type in common are told by `datalog.analysis.types`. Nothing of this matters at run time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from datalog.analysis.findings import Findings, place
from datalog.analysis.literals import literal
from datalog.analysis.signatures import Columns
from datalog.analysis.type_system import Types
from datalog.analysis.types import Inference
from datalog.analysis.walk import leaves, operands, subterms, terms, variables
from datalog.ir.functors import Functor
from datalog.ir.primitives import CALL
from datalog.ir.structures import Structure
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
    Operation,
    Record,
    Rule,
    Term,
    Variable,
)

Node = str | int  # a variable's name, or what stands for another term
Names = frozenset[str]

_SAME_TYPE = ("min", "max", "sum", "median", "product", "bitand", "bitor", "bitxor")  # aggregates that give one of their argument's


def check_subtypes(
    rule: Rule, types: Types, known: Mapping[str, Columns], functors: Mapping[str, Functor], inference: Inference, findings: Findings
) -> None:
    """Report what does not fit in one rule or fact of a program that has subtypes or unions."""
    check = _Check(types, known, functors, inference, findings)
    check.collect(rule)
    check.solve()
    check.report(rule)


@dataclass(frozen=True, slots=True)
class _Limit:
    """What `column` says of a term: that it is of the type `name`."""

    node: Node
    name: str
    column: str


@dataclass(slots=True)
class _Check:
    types: Types
    known: Mapping[str, Columns]
    functors: Mapping[str, Functor]
    inference: Inference
    findings: Findings
    limits: list[_Limit] = field(default_factory=list)
    pairs: list[tuple[Node, Node]] = field(default_factory=list)
    found: dict[Node, Names] = field(default_factory=dict)  # what is not there may be anything

    def collect(self, rule: Rule) -> None:
        for atom, negated in _atoms(rule.body):
            columns = self._columns(atom)
            for at, term in enumerate(atom.terms):
                if columns is not None and not negated:
                    self._limit(term, columns.type_names[at], _column(columns, at))
                self._within(term)
        for leaf in leaves(rule.body):
            if isinstance(leaf, Comparison):
                self._comparison(leaf)
        for head in rule.heads:
            columns = self._columns(head)
            for at, term in enumerate(head.terms):
                if columns is not None and isinstance(columns.types[at], Structure):
                    self._limit(term, columns.type_names[at], _column(columns, at))
                self._within(term)

    def solve(self) -> None:
        """The greatest types that keep within all limits, by going over them until nothing changes."""
        changed = True
        while changed:
            changed = False
            for limit in self.limits:
                changed |= self._narrow(limit.node, frozenset((limit.name,)))
            for one, other in self.pairs:
                for node, beside in ((one, other), (other, one)):
                    if beside in self.found:
                        changed |= self._narrow(node, self.found[beside])

    def report(self, rule: Rule) -> None:
        reported: set[str] = set()
        everything: tuple[Literal, ...] = (*rule.heads, rule.body)
        for literal_ in everything:
            for use in variables(literal_):
                if self.found.get(use.name) == frozenset() and use.name not in reported:
                    reported.add(use.name)
                    self._no_type(use)
        for atom in (*rule.heads, *(atom for atom, negated in _atoms(rule.body) if not negated)):
            columns = self._columns(atom)
            for at, term in enumerate(atom.terms) if columns is not None else ():
                assert columns is not None
                self._fits(term, columns.type_names[at], _column(columns, at), f"`{columns.name}` is declared at {place(columns.span)}")

    def _columns(self, atom: Atom) -> Columns | None:
        columns = self.known.get(atom.predicate)
        return columns if columns is not None and columns.declared and len(columns.types) == len(atom.terms) else None

    def _node(self, term: Term) -> Node | None:
        """What stands for a term whose type is not free."""
        if isinstance(term, Variable):
            return term.name
        return id(term) if isinstance(term, Record | Branch | Cast) or self._functor(term) is not None else None

    def _functor(self, term: Term) -> Functor | None:
        """The functor of the user's own that a term calls as it is declared."""
        functor = self.functors.get(term.name.removeprefix(CALL)) if isinstance(term, Operation) and term.name.startswith(CALL) else None
        return functor if functor is not None and len(functor.arguments) == len(operands(term)) else None

    def _limit(self, term: Term, name: str, column: str) -> None:
        node = self._node(term)
        if node is not None and self.types.bases.get(name) is not None:
            self.limits.append(_Limit(node, self.types.meant(name), column))

    def _comparison(self, test: Comparison) -> None:
        left, right = test.left, test.right
        for side in terms(test):
            self._within(side)
        if isinstance(right, Aggregate):
            if right.function not in _SAME_TYPE or not right.arguments:
                return
            right = right.arguments[0]
        one, other = self._node(left), self._node(right)
        if one is not None and other is not None:
            self.pairs.append((one, other))

    def _within(self, term: Term) -> None:
        """What the types of fields and casts say of the terms in a term."""
        for inner in subterms(term):
            if isinstance(inner, Cast):
                self._limit(inner, inner.type, "`as`")
            elif isinstance(inner, Record | Branch):
                for name, part in self._fields(inner):
                    self._limit(part, name, "a field")
            elif (functor := self._functor(inner)) is not None:
                *arguments, result = functor.type_names
                self._limit(inner, result, f"the result of `@{functor.name}`")
                for name, part in zip(arguments, operands(inner), strict=True):
                    self._limit(part, name, f"an argument of `@{functor.name}`")

    def _fields(self, term: Record | Branch) -> Iterator[tuple[str, Term]]:
        type_ = self.inference.term_type(term)
        number = type_.number(term.name if isinstance(term, Branch) else "") if isinstance(type_, Structure) else -1
        if isinstance(type_, Structure) and number >= 0:
            yield from zip(type_.shapes[number].type_names, operands(term), strict=False)

    def _narrow(self, node: Node, names: Names) -> bool:
        known = self.found.get(node)
        if known is None:
            self.found[node] = names
            return True
        narrowed = known
        if all(self.types.base_name(one) == self.types.base_name(other) for one in known for other in names):
            narrowed = frozenset().union(*(self.types.common(one, other) for one in known for other in names)) if names else names
        if narrowed == known:
            return False
        self.found[node] = narrowed
        return True

    def _no_type(self, use: Variable) -> None:
        columns = list(dict.fromkeys(f"{limit.column} takes a `{limit.name}`" for limit in self.limits if limit.node == use.name))
        hint = " and ".join(columns[:2]) or "what it is compared with is of another type"
        name = use.name.removeprefix("=")
        self.findings.add(use.span, f"`{name}` can have no value: the types of what it stands for have none in common", hint)

    def _fits(self, term: Term, name: str, column: str, hint: str) -> None:
        node = self._node(term)
        have = self.found.get(node) if node is not None and literal(term) is None else None
        if not have or self.types.bases.get(name) is None or any(self.types.base_name(one) != self.types.base_name(name) for one in have):
            return
        if all(self.types.is_subtype(one, name) for one in have):
            return
        what = f"`{term.name.removeprefix('=')}`" if isinstance(term, Variable) else "this"
        message = f"type mismatch: {what} is {' or '.join(f'a `{one}`' for one in sorted(have))}, but {column} takes a `{name}`"
        self.findings.add(term.span, message, hint)


def _column(columns: Columns, at: int) -> str:
    return f"column {at + 1} of `{columns.name}`"


def _atoms(literal_: Literal, negated: bool = False) -> Iterator[tuple[Atom, bool]]:
    """Each atom of a body, and whether it stands in a negation of itself alone."""
    match literal_:
        case Atom():
            yield literal_, negated
        case Negation(body=Conjunction(literals=(Atom() as atom,))):
            yield atom, True
        case Negation(body=body):
            yield from _atoms(body)
        case Conjunction(literals=literals):
            for inner in literals:
                yield from _atoms(inner)
        case Disjunction(branches=branches):
            for branch in branches:
                yield from _atoms(branch)
        case Comparison(right=Aggregate(body=body)):
            yield from _atoms(body)
        case _:
            return
