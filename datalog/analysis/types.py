"""Type inference: every variable and every undeclared column gets one primitive type.

Cells (the variables of each rule, the columns whose type is not declared) carry the set of types that they may still have.
Uses merge cells and narrow sets, to a fixpoint by union-find; a use that would leave none is reported at its place, with
the use that had decided, and is otherwise ignored, so that one mistake is told once. What stays open takes the first of
number, unsigned, float, symbol that it admits.

An integer literal may be a number, an unsigned or a float, as its context says; all terms of one arithmetic expression
and the two sides of a comparison have one type. The result never depends on the order of clauses; which of two
conflicting uses is blamed does.
"""

from __future__ import annotations

from dataclasses import dataclass

from datalog.analysis.findings import Findings, place
from datalog.analysis.signatures import Columns
from datalog.analysis.walk import leaves, variables
from datalog.ir.core import Type
from datalog.syntax.tree import Atom, Comparison, Constant, Literal, Operation, Rule, Span, Term, Variable, Wildcard

Allowed = frozenset[Type]
ANY: Allowed = frozenset(Type.ALL)
_NUMERIC: Allowed = frozenset({Type.NUMBER, Type.UNSIGNED, Type.FLOAT})
_WHOLE: Allowed = frozenset({Type.NUMBER, Type.UNSIGNED})
_SIGNED: Allowed = frozenset({Type.NUMBER, Type.FLOAT})
_HUGE: Allowed = frozenset({Type.UNSIGNED, Type.FLOAT})
_UNSIGNED: Allowed = frozenset({Type.UNSIGNED})
_FLOAT: Allowed = frozenset({Type.FLOAT})
_SYMBOL: Allowed = frozenset({Type.SYMBOL})

OPERATORS: dict[tuple[str, int], Allowed] = {
    ("+", 2): _NUMERIC,
    ("-", 2): _NUMERIC,
    ("*", 2): _NUMERIC,
    ("/", 2): _NUMERIC,
    ("^", 2): _NUMERIC,
    ("%", 2): _WHOLE,
    ("-", 1): _NUMERIC,
}

_NOUNS: dict[Allowed, str] = {
    frozenset({Type.NUMBER}): "a number",
    _UNSIGNED: "an unsigned",
    _FLOAT: "a float",
    _SYMBOL: "a symbol",
    _NUMERIC: "numeric",
    _WHOLE: "an integer",
    _SIGNED: "a number or a float",
    _HUGE: "an unsigned or a float",
}


class Cell:
    """One unknown type. `reason` says which use decided it, for messages."""

    __slots__ = ("_allowed", "_parent", "_reason")

    def __init__(self, allowed: Allowed = ANY, reason: str = "") -> None:
        self._parent: Cell | None = None
        self._allowed = allowed
        self._reason = reason

    def _root(self) -> Cell:
        root = self
        while root._parent is not None:
            root = root._parent
        while self is not root:
            assert self._parent is not None
            self._parent, self = root, self._parent
        return root

    @property
    def allowed(self) -> Allowed:
        return self._root()._allowed

    @property
    def reason(self) -> str:
        return self._root()._reason

    @property
    def type(self) -> Type:
        """The type, decided by default where the uses left it open."""
        return default_type(self.allowed)

    def merge(self, other: Cell) -> bool:
        """Make both cells one; False, and no change, if no type would be left."""
        mine, theirs = self._root(), other._root()
        if mine is theirs:
            return True
        common = mine._allowed & theirs._allowed
        if not common:
            return False
        if len(theirs._allowed) < len(mine._allowed):
            mine._reason = theirs._reason
        mine._allowed = common
        theirs._parent = mine
        return True


def default_type(allowed: Allowed) -> Type:
    """The first of number, unsigned, float, symbol in `allowed`."""
    return next(type_ for type_ in Type.ALL if type_ in allowed)


def literal(term: Term) -> Constant | None:
    """The constant that `term` is, signs applied; None if it is no constant."""
    if isinstance(term, Constant):
        return term
    if isinstance(term, Operation) and term.name == "-" and len(term.arguments) == 1:
        inner = literal(term.arguments[0])
        if inner is not None and not isinstance(inner.value, str):
            return Constant(-inner.value, inner.type, span=term.span)
    return None


def literal_types(constant: Constant) -> Allowed:
    """The types that a literal may have; empty if it fits none."""
    if constant.type == "symbol":
        return _SYMBOL
    if constant.type == "float":
        return _FLOAT
    assert isinstance(constant.value, int)
    if constant.type == "unsigned":
        return _UNSIGNED if 0 <= constant.value < 2**64 else frozenset()
    if constant.value >= 0:
        return _NUMERIC if constant.value < 2**63 else _HUGE if constant.value < 2**64 else frozenset()
    return _SIGNED if constant.value >= -(2**63) else frozenset()


def noun(allowed: Allowed) -> str:
    """The set of types, in words."""
    return _NOUNS.get(allowed, "of any type")


@dataclass(frozen=True, slots=True)
class _Demand:
    """What wants a type of a term, in the words of a message, and where to read more."""

    subject: str
    hint: str


def _column_demand(columns: Columns, at: int) -> _Demand:
    hint = ""
    if columns.declared:
        declared = ", ".join(f"{name}: {type_}" for name, type_ in zip(columns.attributes, columns.type_names, strict=True))
        hint = f"`{columns.name}({declared})` is declared at {place(columns.span)}"
    return _Demand(f"column {at + 1} of `{columns.name}`", hint)


class Inference:
    """Types of a program's predicates and of each rule's variables. Feed it all rules, then read the types."""

    def __init__(self, known: dict[str, Columns], findings: Findings) -> None:
        self._known = known
        self._findings = findings
        self._open: dict[tuple[str, int], Cell] = {}

    def add(self, rule: Rule) -> dict[str, Cell]:
        """Take in one rule or fact; the cells of its variables are final when all rules are in."""
        parts: list[Literal] = [*rule.heads, rule.body]
        cells = {variable.name: Cell() for part in parts for variable in variables(part)}
        for leaf in leaves(rule.body):
            if isinstance(leaf, Atom):
                self._atom(leaf, cells)
            else:
                self._comparison(leaf, cells)
        for head in rule.heads:
            self._atom(head, cells)
        return cells

    def column_type(self, predicate: str, column: int) -> Type:
        """The type of a column, once all rules are in; some type where there is no such column, which has been reported."""
        columns = self._known.get(predicate)
        declared = columns.types[column] if columns and column < len(columns.types) else None
        return declared or self._open.get((predicate, column), Cell()).type

    def _column(self, predicate: str, column: int, span: Span) -> Cell:
        declared = self._known[predicate].types[column]
        if declared is not None:
            return Cell(frozenset({declared}), f"column {column + 1} of `{predicate}`, {place(span)}")
        return self._open.setdefault((predicate, column), Cell())

    def _atom(self, atom: Atom, cells: dict[str, Cell]) -> None:
        columns = self._known.get(atom.predicate)
        if columns is None or len(columns.attributes) != len(atom.terms):
            for term in atom.terms:
                self._require(term, Cell(), _Demand("", ""), cells)
            return
        for at, term in enumerate(atom.terms):
            if not (isinstance(term, Constant) and columns.types[at] in literal_types(term)):
                self._require(term, self._column(atom.predicate, at, term.span), _column_demand(columns, at), cells)

    def _comparison(self, comparison: Comparison, cells: dict[str, Cell]) -> None:
        common = Cell()
        demand = _Demand(f"the left side of `{comparison.operator}`", "the two sides of a comparison have one type")
        self._require(comparison.left, common, demand, cells)
        self._require(comparison.right, common, demand, cells)

    def _require(self, term: Term, target: Cell, demand: _Demand, cells: dict[str, Cell]) -> None:
        """`term` has the type of `target`, because of `demand`."""
        constant = literal(term)
        if constant is not None:
            self._constant(constant, target, demand)
        elif isinstance(term, Variable):
            cell = cells[term.name]
            if not cell.merge(target):
                known = f" ({cell.reason})" if cell.reason else ""
                self._mismatch(term.span, f"`{term.name}` is {noun(cell.allowed)}{known}", target, demand)
        elif isinstance(term, Operation):
            allowed = OPERATORS.get((term.name, len(term.arguments)))
            if allowed is None:
                return
            if not target.merge(Cell(allowed, f"`{term.name}`, {place(term.span)}")):
                self._mismatch(term.span, f"the result of `{term.name}` is {noun(allowed)}", target, demand)
                target = Cell(allowed)
            inner = _Demand(f"what `{term.name}` works on", "all terms of an arithmetic expression have one type")
            for argument in term.arguments:
                self._require(argument, target, inner, cells)
        else:
            assert isinstance(term, Wildcard)

    def _constant(self, constant: Constant, target: Cell, demand: _Demand) -> None:
        allowed = literal_types(constant)
        shown = constant.spelling or (f'"{constant.value}"' if constant.type == "symbol" else str(constant.value))
        negative = not isinstance(constant.value, str) and constant.value < 0
        if not allowed:
            fault = "is negative and cannot be an unsigned" if constant.type == "unsigned" and negative else "does not fit 64 bits"
            self._findings.add(constant.span, f"the constant {shown} {fault}", "an integer is never wrapped around")
        elif not target.merge(Cell(allowed, f"the constant {shown}, {place(constant.span)}")):
            if negative and target.allowed == _UNSIGNED:
                self._findings.add(constant.span, f"the constant {shown} is negative, but {demand.subject} is an unsigned", demand.hint)
            else:
                self._mismatch(constant.span, f"{shown} is {noun(frozenset({default_type(allowed)}))}", target, demand)

    def _mismatch(self, span: Span, seen: str, target: Cell, demand: _Demand) -> None:
        self._findings.add(span, f"type mismatch: {seen}, but {demand.subject} is {noun(target.allowed)}", demand.hint)
