"""Type inference: every variable and every undeclared column gets one primitive type.

Cells (the variables of each rule, the columns whose type is not declared) carry the set of types that they may still have.
Uses merge cells and narrow sets, to a fixpoint by union-find; a use that would leave none is reported at its place, with
the use that had decided, and is otherwise ignored, so that one mistake is told once. What stays open takes the first of
number, unsigned, float, symbol that it admits; but where `to_decimal` makes a decimal, its scale must be said.

A literal has the type that its context says: an integer may be a number, an unsigned, a float or a decimal, a text between
quotes a symbol, a date or a datetime. The two sides of a comparison have one type; what the arguments of a primitive or an
aggregate have in common, its signature says (`datalog.ir.primitives`). The result never depends on the order of clauses; which of
two conflicting uses is blamed does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from datalog.analysis.cells import Cell, default_type
from datalog.analysis.findings import Findings, place
from datalog.analysis.hints import scale_hint, way_out
from datalog.analysis.literals import UNSIGNED, literal, literal_types, noun
from datalog.analysis.signatures import Columns
from datalog.analysis.type_names import hint_for
from datalog.analysis.type_system import Types, unknown_branch_hint
from datalog.analysis.walk import leaves, operands, variables
from datalog.ir.core import ROUND, Type
from datalog.ir.functors import aggregate_of
from datalog.ir.primitives import ANY, CALL, DECIMALS, TIMES, Allowed, Primitive, Slot
from datalog.ir.structures import Shape, Structure
from datalog.syntax.constants import spell
from datalog.syntax.tree import (
    Aggregate,
    Atom,
    Branch,
    Cast,
    Comparison,
    Constant,
    Literal,
    Nil,
    Operation,
    Record,
    Rule,
    Span,
    Term,
    Variable,
    Wildcard,
)


def named(operation: Operation) -> str:
    """The name of the primitive that an operation applies."""
    return "neg" if operation.name == "-" and len(operation.arguments) == 1 else operation.name


def signature_of(operation: Operation, primitives: Mapping[str, tuple[Primitive, ...]]) -> tuple[tuple[Slot, ...], Slot] | None:
    """The slots of an operation's arguments and of its result; None if there is no such primitive, which is reported elsewhere."""
    for primitive in primitives.get(named(operation), ()):
        slots = primitive.slots(len(operation.arguments))
        if slots is not None:
            scale = scale_of(operation)
            return slots, primitive.result if scale is None else Slot(frozenset({Type.DECIMALS[scale]}))
    return None


def scale_of(operation: Operation) -> int | None:
    """What `to_decimal(x, scale)` says, if that is a scale; None for all other operations."""
    if operation.name == "to_decimal" and len(operation.arguments) == 2:
        scale = operation.arguments[1]
        if (
            isinstance(scale, Constant)
            and scale.type == "number"
            and isinstance(scale.value, int)
            and 0 <= scale.value < len(Type.DECIMALS)
        ):
            return scale.value
    return None


@dataclass(frozen=True, slots=True)
class _Undecided:
    """A value with parts of which several types are still possible, in a rule whose variables have these cells."""

    term: Nil | Record | Branch
    cell: Cell
    rule: int
    cells: dict[str, Cell]


@dataclass(frozen=True, slots=True)
class _Demand:
    """What wants a type of a term, in the words of a message, and where to read more."""

    subject: str
    hint: str
    whole: Term | Comparison | None = None  # of which the term is an operand


def _column_demand(columns: Columns, at: int) -> _Demand:
    hint = f"a declaration of `{columns.name}` says which type is meant"
    if columns.declared:
        declared = [f"{name}: {type_}" for name, type_ in zip(columns.attributes, columns.type_names, strict=True)]
        keys, value = (declared[:-1], f" = {declared[-1]}") if columns.functional else (declared, "")
        hint = f"`{columns.name}({', '.join(keys)}){value}` is declared at {place(columns.span)}"
    return _Demand(f"column {at + 1} of `{columns.name}`", hint)


class Inference:
    """Types of a program's predicates and of each rule's variables. Feed it all rules, then read the types."""

    def __init__(
        self, known: dict[str, Columns], types: Types, primitives: Mapping[str, tuple[Primitive, ...]], findings: Findings
    ) -> None:
        self._known = known
        self._types = types
        self._any = types.any
        self._primitives = primitives
        self._findings = findings
        self._rule = 0  # the number of the rule that is being taken in
        self._open: dict[tuple[str, int], Cell] = {}
        self._decimals: list[tuple[Operation, Cell]] = []  # those made by to_decimal(x)
        self._undecided: list[_Undecided] = []
        self._terms: dict[int, tuple[Term, Cell]] = {}  # by id; keeps the terms alive, so that no id is used twice

    def add(self, rule: Rule) -> dict[str, Cell]:
        """Take in one rule or fact; the cells of its variables are final when all rules are in."""
        self._rule += 1
        parts: list[Literal] = [*rule.heads, rule.body]
        cells = {variable.name: Cell(self._any) for part in parts for variable in variables(part)}
        for leaf in leaves(rule.body):
            if isinstance(leaf, Atom):
                self._atom(leaf, cells)
            else:
                self._comparison(leaf, cells)
        for head in rule.heads:
            self._atom(head, cells)
        return cells

    def settle(self) -> None:
        """Find out of which types records are, once all rules are in. Report what nothing decides: such records, and scales."""
        self._decide_records()
        self._check_scales()

    def _decide_records(self) -> None:
        rule = self._rule
        while self._undecided:
            decided = [one for one in self._undecided if len(one.cell.allowed) == 1]
            self._undecided = [one for one in self._undecided if len(one.cell.allowed) > 1]
            for one in decided:
                self._rule = one.rule
                self._fields(one.term, one.cell, one.cells)
            if not decided:
                break
        for one in self._undecided:
            if self._known_mistake(one):
                continue
            names = " or ".join(sorted(f"`{type_.value}`" for type_ in one.cell.allowed))
            self._findings.add(one.term.span, f"this may be of the type {names}, and nothing says which", "as(…, T) says it")
        self._rule = rule

    def _known_mistake(self, one: _Undecided) -> bool:
        return one.rule in one.cell.doubts

    def _check_scales(self) -> None:
        """Report each `to_decimal(x)` of which nothing says the scale, once all rules are in."""
        for operation, cell in self._decimals:
            if len(cell.allowed) > 1 and not cell.doubts:
                self._findings.add(operation.span, "the scale of this decimal is not said anywhere", scale_hint(operation))
                cell.doubt(self._rule)

    def column_type(self, predicate: str, column: int) -> Type:
        """The type of a column, once all rules are in; some type where there is no such column, which has been reported."""
        columns = self._known.get(predicate)
        declared = columns.types[column] if columns and column < len(columns.types) else None
        return declared or self._open.get((predicate, column), Cell()).type

    def term_type(self, term: Term) -> Type:
        """The type of a term that is no direct part of an atom, once all rules are in."""
        return self._terms[id(term)][1].type if id(term) in self._terms else Type.NUMBER

    def signature_of(self, operation: Operation) -> tuple[tuple[Slot, ...], Slot] | None:
        """As the function of that name says, of the primitives of this program."""
        return signature_of(operation, self._primitives)

    def _column(self, predicate: str, column: int, span: Span) -> Cell:
        declared = self._known[predicate].types[column]
        if declared is not None:
            whose = f"column {column + 1} of `{predicate}`" if predicate != ROUND else "the number of a round"
            return Cell(frozenset({declared}), f"{whose}, {place(span)}")
        return self._open.setdefault((predicate, column), Cell(self._any))

    def _atom(self, atom: Atom, cells: dict[str, Cell]) -> None:
        columns = self._known.get(atom.predicate)
        if columns is None or len(columns.attributes) != len(atom.terms):
            for term in atom.terms:
                self._unknown(term, cells)
            return
        for at, term in enumerate(atom.terms):
            if not (isinstance(term, Constant) and columns.types[at] in literal_types(term)):
                self._require(term, self._column(atom.predicate, at, term.span), _column_demand(columns, at), cells)

    def _comparison(self, comparison: Comparison, cells: dict[str, Cell]) -> None:
        common = Cell(self._any if comparison.operator in ("=", "!=") else ANY)
        demand = _Demand(f"the left side of `{comparison.operator}`", "the two sides of a comparison have one type", comparison)
        self._require(comparison.left, common, demand, cells)
        self._require(comparison.right, common, demand, cells)

    def _unknown(self, term: Term, cells: dict[str, Cell]) -> None:
        """Nothing is known of what `term` has to be."""
        self._require(term, Cell(self._any, doubts=frozenset(() if isinstance(term, Variable) else (self._rule,))), _Demand("", ""), cells)

    def _require(self, term: Term, target: Cell, demand: _Demand, cells: dict[str, Cell]) -> bool:
        """`term` has the type of `target`, because of `demand`; False if it cannot have."""
        self._terms[id(term)] = term, target
        constant = literal(term)
        if constant is not None:
            return self._constant(term, constant, target, demand)
        if isinstance(term, Variable):
            cell = cells[term.name]
            if cell.merge(target):
                return True
            known = f" ({cell.reason})" if cell.reason else ""
            if self._rule not in cell.doubts:
                self._mismatch(term, f"`{_shown(term)}` is {noun(cell.allowed)}{known}", cell.allowed, target, demand)
            if len(cell.allowed) > 1:
                cell.doubt(self._rule)
            return False
        if isinstance(term, Operation):
            signature = self.signature_of(term)
            if signature is not None:
                hint = "all terms of an arithmetic expression have one type" if not term.name.removeprefix(CALL).isidentifier() else ""
                return self._apply(term, term.name, *signature, target, demand, hint, cells)
        elif isinstance(term, Aggregate):
            function = aggregate_of(term.function, self._primitives)
            if function is not None and len(function.arguments) == len(term.arguments):
                return self._apply(term, term.function, function.arguments, function.result, target, demand, "", cells)
        elif isinstance(term, Nil | Record | Branch):
            return self._structure(term, target, demand, cells)
        elif isinstance(term, Cast):
            return self._cast(term, target, demand, cells)
        else:
            assert isinstance(term, Wildcard)
        return True

    def _structure(self, term: Nil | Record | Branch, target: Cell, demand: _Demand, cells: dict[str, Cell]) -> bool:
        """What makes a value with parts has a type that has such values; its parts have theirs when that is decided."""
        fitting = self._types.fitting(term)
        fits = bool(fitting) and target.merge(Cell(fitting, f"{_described(term)}, {place(term.span)}"))
        if fits:
            undecided = _Undecided(term, target, self._rule, cells)
            if len(target.allowed) == 1:
                self._fields(term, target, cells)
            else:
                self._undecided.append(undecided)
            return True
        if isinstance(term, Branch) and not fitting:
            self._findings.add(term.span, f"no type has a branch `{term.name}`", unknown_branch_hint(term.name, self._types))
        elif self._rule not in target.doubts:
            wanted = next(iter(target.allowed)) if len(target.allowed) == 1 else None
            if isinstance(wanted, Structure) and wanted.record and isinstance(term, Record):
                shape = f"[{', '.join(wanted.shapes[0].fields)}]"
                message = f"this record has {_count(term.fields)}, and a `{wanted.value}` has {_count(wanted.shapes[0].fields)}"
                self._findings.add(term.span, message, f"`{wanted.value}` is {shape}")
            elif not fitting and target.allowed == self._any:
                self._findings.add(term.span, f"no record type fits {_described(term)}", "declare one: .type Name = [field: type, …]")
            else:
                self._mismatch(term, f"this is {_described(term)}", fitting or target.allowed, target, demand)
        for part in operands(term):
            self._unknown(part, cells)
        return False

    def _fields(self, term: Nil | Record | Branch, cell: Cell, cells: dict[str, Cell]) -> None:
        """The parts of a value have the types that the fields of its type have."""
        (structure,) = cell.allowed
        assert isinstance(structure, Structure)
        shape = structure.shapes[structure.number(term.name) if isinstance(term, Branch) else 0] if not isinstance(term, Nil) else None
        parts = operands(term)
        if shape is not None and len(parts) != len(shape.fields):
            hint = f"`{structure.value}` has the branch {_declared(shape)}"
            message = f"`${shape.name}` has {_count(parts)} here, but {_count(shape.fields)} where it is declared"
            self._findings.add(term.span, message, hint)
            for part in parts:
                self._unknown(part, cells)
        elif shape is not None:
            for name, type_, part in zip(shape.fields, shape.types, parts, strict=True):
                owner = f"${shape.name}" if shape.name else structure.value
                hint = f"`{structure.value}` {'has the branch' if shape.name else 'is'} {_declared(shape)}"
                reason = f"field `{name}` of `{owner}`, {place(part.span)}"
                if not (isinstance(part, Constant) and type_ in literal_types(part)):
                    self._require(part, Cell(frozenset({type_}), reason), _Demand(f"field `{name}` of `{owner}`", hint), cells)
                else:
                    self._terms[id(part)] = part, Cell(frozenset({type_}), reason)

    def _cast(self, term: Cast, target: Cell, demand: _Demand, cells: dict[str, Cell]) -> bool:
        """A cast has the type that it names, and what it casts has one of its own."""
        base = self._types.bases.get(term.type)
        if base is None:
            if term.type not in self._types.bases:
                self._findings.add(term.span, f"unknown type `{term.type}`", hint_for(term.type, self._types.bases))
            self._unknown(term.term, cells)
            return False
        inner = Cell(self._any)
        if isinstance(term.term, Nil | Record | Branch) or literal(term.term) is not None:
            inner = Cell(frozenset({base}), f"`as`, {place(term.span)}")  # the cast says what was meant
        self._require(term.term, inner, _Demand(f"what is cast to `{term.type}`", "write a value of that type"), cells)
        if target.merge(Cell(frozenset({base}), f"`as`, {place(term.span)}")):
            return True
        self._mismatch(term, f"this is cast to {noun(frozenset({base}))}", frozenset({base}), target, demand)
        return False

    def _apply(
        self,
        term: Operation | Aggregate,
        name: str,
        slots: Sequence[Slot],
        result: Slot,
        target: Cell,
        demand: _Demand,
        hint: str,
        cells: dict[str, Cell],
    ) -> bool:
        """The result of `term` has the type of `target`, and its arguments those of their slots. False if the result cannot have."""
        reason = f"`{name}`, {place(term.span)}"
        fits = target.merge(Cell(result.types, reason))
        if not fits:
            self._mismatch(term, f"the result of `{name}` is {noun(result.types)}", result.types, target, demand)
            target = Cell(result.types, doubts=frozenset((self._rule,)))
            self._terms[id(term)] = term, target
        if name == "to_decimal" and len(slots) == 1 and isinstance(term, Operation):
            self._decimals.append((term, target))
        common = target if result.same else Cell(_common(slots), reason)
        inner = _Demand(f"what `{name}` works on", hint, term)
        for number, (slot, argument) in enumerate(zip(slots, term.arguments, strict=True)):
            if not slot.same:
                taken = slot.types | self._types.structures if slot.parts else slot.types
                self._require(argument, Cell(taken, reason), _Demand(f"argument {number + 1} of `{name}`", hint, term), cells)
            elif not self._require(argument, common, inner, cells):
                common.doubt(self._rule)
        return fits

    def _constant(self, term: Term, constant: Constant, target: Cell, demand: _Demand) -> bool:
        allowed = literal_types(constant)
        shown = constant.spelling or spell(constant)
        negative = not isinstance(constant.value, str) and constant.value < 0
        if not allowed:
            fault = "is negative and cannot be an unsigned" if constant.type == "unsigned" and negative else "does not fit 64 bits"
            self._findings.add(constant.span, f"the constant {shown} {fault}", "an integer is never wrapped around")
            return False
        if target.merge(Cell(allowed, f"the constant {shown}, {place(constant.span)}")):
            return True
        if self._rule in target.doubts:
            return False
        if negative and target.allowed == UNSIGNED:
            self._findings.add(constant.span, f"the constant {shown} is negative, but {demand.subject} is an unsigned", demand.hint)
        elif isinstance(constant.value, str) and target.allowed <= TIMES:
            form = "YYYY-MM-DD" if target.allowed == frozenset({Type.DATE}) else "YYYY-MM-DDThh:mm:ss"
            self._findings.add(constant.span, f"{shown} is no {target.type.value}, but {demand.subject} is one", f"write it as {form}")
        elif not isinstance(constant.value, (str, bool)) and target.allowed <= DECIMALS:
            scale = max(type_.scale for type_ in target.allowed)
            hint = f"it has at most {scale} digits behind the point, and 64 bits"
            hint = way_out(demand.whole, term, allowed, target.allowed) or hint
            self._findings.add(constant.span, f"{shown} does not fit {noun(target.allowed)}, but {demand.subject} is one", hint)
        else:
            self._mismatch(term, f"{shown} is {noun(frozenset({default_type(allowed)}))}", allowed, target, demand)
        return False

    def _mismatch(self, term: Term, words: str, seen: Allowed, target: Cell, demand: _Demand) -> None:
        if self._rule not in target.doubts:
            wanted = target.allowed
            hint = way_out(demand.whole, term, seen, wanted) or way_out(term, term, seen, wanted & TIMES) or demand.hint
            self._findings.add(term.span, f"type mismatch: {words}, but {demand.subject} is {noun(wanted)}", hint)


def _common(slots: Iterable[Slot]) -> Allowed:
    return ANY.intersection(*(slot.types for slot in slots if slot.same))


def _described(term: Nil | Record | Branch) -> str:
    if isinstance(term, Branch):
        return f"a value of the branch `${term.name}`"
    return "`nil`, a record" if isinstance(term, Nil) else f"a record of {_count(term.fields)}"


def _declared(shape: Shape) -> str:
    fields = ", ".join(f"{name}: {type_}" for name, type_ in zip(shape.fields, shape.type_names, strict=True))
    return f"{shape.name} {{{fields}}}" if shape.name else f"[{fields}]"


def _count(fields: Sequence[object]) -> str:
    return f"{len(fields) or 'no'} field{'' if len(fields) == 1 else 's'}"


def _shown(variable: Variable) -> str:
    """A variable as its author knows it: new ones stand for what follows the `=`."""
    return variable.name.removeprefix("=")
