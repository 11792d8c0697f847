"""Strategies for programs and for streams of transactions on them.

`programs()` draws layers of predicates, each reading the layers below: layers of plain rules, and recursive ones (linear,
non-linear, mutual). No drawn program diverges: in recursion, computed values go through a bounding comparison. Almost none can
fail: intervals of all columns are known, so an operation that might overflow is left out, except in rules made to fail
(`_risky_rule`), where every variable of the body takes part in the operation and nothing else filters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod
from typing import Any

from hypothesis import strategies as st

from tests.oracle.rules import Atom, Blank, Compare, Const, Literal, Op, Program, Row, Rule, Term, Value, Var
from tests.oracle.text import Style, to_text
from tests.properties.bodies import Body, Chooser, Signatures, constant, fresh_names, integers
from tests.properties.ranges import Column, column_of, full, result

Domain = tuple[str, tuple[Value, ...]]  # a type and some values of it

SMALL: Domain = ("number", (0, 1, 2, 3, 4, 5, 6))
SIGNED: Domain = ("number", (0, 1, 2, -1, -2, -3))
HUGE: Domain = ("number", (0, 1, 5, -7, 2**62, 2**63 - 1, -(2**63)))
SYMBOLS: Domain = ("symbol", ("a", "b", "c", "B", "", 'say "hi"\\\n\t', "é"))
FLOATS: Domain = ("float", (0.0, 0.5, 1.0, -1.5, 2.25, 0.1, 1000000.0))
UNSIGNED: Domain = ("unsigned", (0, 1, 2, 3, 5, 2**63, 2**64 - 1))
TINY: Domain = ("unsigned", (0, 1, 2, 3, 4))
DEFAULTS = {"number": SMALL, "symbol": SYMBOLS, "float": FLOATS, "unsigned": TINY}
PALETTES: tuple[tuple[Domain, ...], ...] = (
    (SMALL,),
    (SMALL,),
    (SMALL,),
    (SMALL, SMALL, SYMBOLS),
    (SMALL, SMALL, SIGNED),
    (SMALL, HUGE),
    (SMALL, FLOATS),
    (SMALL, TINY),
    (SYMBOLS, UNSIGNED),
)
BOUNDED = {"number": Column("number", -8, 8), "unsigned": Column("unsigned", 0, 8)}  # what recursion may compute

Change = tuple[bool, str, Row]  # insert (or delete), predicate, row
Transaction = tuple[Change, ...]


@dataclass(frozen=True)
class Drawn:
    """A program with the facts of its text, and, for each predicate that takes facts, the values of its columns."""

    program: Program
    facts: dict[str, frozenset[Row]]
    domains: dict[str, tuple[tuple[Value, ...], ...]]
    style: Style

    @property
    def text(self) -> str:
        return to_text(self.program, self.facts, self.style)

    @property
    def text_without_facts(self) -> str:
        """With declarations, because facts may have been what the types were inferred from."""
        return to_text(self.program, None, Style(self.style.arrow, True, self.style.suffix, self.style.shuffle))

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """How Hypothesis shows a failing example: the text that fails."""
        printer.text(f"the program\n{self.text}")


@dataclass
class _Making:
    """A program in the making; `columns` has the predicates whose layer is complete."""

    choose: Chooser
    palette: tuple[Domain, ...]
    columns: dict[str, tuple[Column, ...]] = field(default_factory=dict)
    rules: list[Rule] = field(default_factory=list)
    domains: dict[str, tuple[tuple[Value, ...], ...]] = field(default_factory=dict)

    def given(self, name: str) -> None:
        drawn = [self.choose.pick(self.palette) for _ in range(self.choose.pick((2, 2, 2, 1, 1, 3)))]
        self.columns[name] = tuple(column_of(values, type) for type, values in drawn)
        self.domains[name] = tuple(values for _, values in drawn)

    def types(self, arities: tuple[int, ...]) -> tuple[str, ...]:
        available = sorted({column.type for columns in self.columns.values() for column in columns})
        return tuple(self.choose.pick(available) for _ in range(self.choose.pick(arities)))

    def takes_facts(self, name: str, types: tuple[str, ...]) -> tuple[Column, ...]:
        """Let the derived predicate `name` have base facts; the columns of those."""
        self.domains[name] = tuple(DEFAULTS[type][1] for type in types)
        return tuple(column_of(DEFAULTS[type][1], type) for type in types)

    def body(self, own: dict[str, tuple[Column, ...]] | None = None, names: Iterator[str] | None = None) -> Body:
        readable = {**self.columns, **(own or {})}
        return Body(self.choose, readable, self.columns, names or fresh_names(), floats=own is None)

    def extras(self, body: Body) -> None:
        for _ in range(self.choose.pick((0, 0, 0, 1, 1, 1, 2, 2, 3))):
            body.extra(2)

    def plain_layer(self, names: list[str]) -> None:
        """Predicates defined by rules over the layers below, some rules with several heads."""
        types = {name: self.types((2, 1, 2, 3, 1, 2, 0)) for name in names}
        columns: dict[str, list[Column]] = {}
        rules: list[Rule] = []
        for name in names:
            for _ in range(self.choose.pick((1, 1, 2, 2, 3))):
                body = self.body()
                if self.choose.chance(12):
                    wanted = types[name][: self.choose.number(1, 2)] or types[names[0]][:1]
                    body.disjunction(1, {next(body.names): type for type in wanted})
                    atoms = self.choose.pick((0, 0, 1))
                else:
                    atoms = self.choose.pick((1, 2, 2, 2, 3, 3, 1, 4, 5))
                for _ in range(atoms):
                    body.atom(list(self.columns))
                self.extras(body)
                heads = [name]
                if len(names) > 1 and self.choose.chance(15):
                    heads.append(self.choose.pick(names))
                rules.append(Rule(tuple(self._head(head, types[head], body, columns) for head in heads), tuple(body.literals)))
            if self.choose.chance(8):
                rules.append(self._risky_rule(name, types[name], columns))
            if self.choose.chance(15):
                _widen(columns, name, self.takes_facts(name, types[name]))
        self.rules += rules
        self.columns.update({name: tuple(columns[name]) for name in names})

    def _head(self, name: str, types: tuple[str, ...], body: Body, columns: dict[str, list[Column]]) -> Atom:
        terms: list[Term] = []
        ranges: list[Column] = []
        for type in types:
            known = self._unused(body.variables(type), terms)
            kinds = ["variable"] * 10 if known else ["constant"]
            kinds += ["expression"] if type != "symbol" else []
            match self.choose.pick([*kinds, "constant"]):
                case "variable":
                    variable = self.choose.pick(known)
                    term: Term = Var(variable)
                    column = body.scope[variable]
                case "expression":
                    term, column = body.expression(type)
                case _:
                    term, column = constant(self.choose, type)
            terms.append(term)
            ranges.append(column)
        _widen(columns, name, tuple(ranges))
        return Atom(name, tuple(terms))

    def _unused(self, known: list[str], terms: list[Term]) -> list[str]:
        """Mostly only those variables that the head does not have yet."""
        unused = [name for name in known if Var(name) not in terms]
        return unused if unused and not self.choose.chance(10) else known

    def _risky_rule(self, name: str, types: tuple[str, ...], columns: dict[str, list[Column]]) -> Rule:
        """`p(x / y) :- e(x, y).`, or with the operation in a comparison. Fails on some facts, on others not."""
        body = self.body()
        body.atom([other for other, signature in self.columns.items() if any(c.is_integer for c in signature)] or list(self.columns))
        integer = [variable for variable, column in body.scope.items() if column.is_integer]
        if not integer:
            return Rule((self._head(name, types, body, columns),), tuple(body.literals))
        # Other variables and constants of the atom would be judged after the operation in one order and before it in another.
        (atom,) = (literal for literal in body.literals if isinstance(literal, Atom))
        type = body.scope[integer[0]].type
        left, right = Var(integer[0]), Var(next((v for v in integer[1:] if body.scope[v].type == type), integer[0]))
        body.scope = {variable: body.scope[variable] for variable in {left.name: 0, right.name: 0}}
        terms = tuple(term if isinstance(term, Var) and term.name in body.scope else Blank() for term in atom.terms)
        operation = self.choose.pick(
            (
                Op("/", (Const(12, type), right), type) if left == right else Op("/", (left, right), type),
                Op("%", (left, right), type),
                Op("*", (left, Op("*", (right, Const(2**62, type)), type)), type),
                Op("-", (left, right), type),
            )
        )
        literals: list[Literal] = [Atom(atom.predicate, terms)]
        head: list[Term] = []
        for wanted in types:
            head.append(operation if wanted == type and operation not in head else constant(self.choose, wanted)[0])
        if operation not in head:
            literals.append(Compare("<", operation, Const(3, type)))
        _widen(columns, name, tuple(full(wanted) for wanted in types))
        return Rule((Atom(name, tuple(head)),), tuple(literals))

    def recursive_layer(self, names: list[str]) -> None:
        """Predicates that read one another, with a base rule each, negation only of the layers below."""
        types = {name: self.types((2, 2, 2, 1)) for name in names}
        columns = {
            name: tuple(BOUNDED[type] if type in BOUNDED and self.choose.chance(40) else full(type) for type in types[name])
            for name in names
        }
        for name in names:
            if self.choose.chance(15):
                self.takes_facts(name, types[name])
            base = self.body()
            for _ in range(self.choose.pick((1, 1, 2))):
                base.atom(list(self.columns))
            self.rules.append(Rule((self._bounded_head(name, columns[name], base),), tuple(base.literals)))
            for _ in range(self.choose.pick((1, 1, 2))):
                self.rules.append(self._recursive_rule(name, columns))
        self.columns.update(columns)

    def _recursive_rule(self, name: str, columns: dict[str, tuple[Column, ...]]) -> Rule:
        body = self.body(columns)
        others = [other for other in columns if other != name] or [name]
        signature = columns[name]
        steps = [(first, second) for first in others for second in body.readable if _chains(signature, first, second, body.readable)]
        if steps and self.choose.chance(50):
            # r(x, z) :- r(x, y), e(y, z).
            x, y, z = (next(body.names) for _ in range(3))
            first, second = self.choose.pick(steps)
            rest = tuple(Blank() for _ in body.readable[second][2:])
            body.literals = [Atom(first, (Var(x), Var(y))), Atom(second, (Var(y), Var(z), *rest))]
            body.scope = {x: columns[first][0], y: columns[first][1], z: body.readable[second][1]}
            self.extras(body)
            return Rule((Atom(name, (Var(x), Var(z))),), tuple(body.literals))
        body.atom(others)
        for _ in range(self.choose.pick((1, 1, 0, 2))):
            body.atom([*columns, *self.columns] if self.choose.chance(40) else list(self.columns))
        self.extras(body)
        heads = [name, *others] if self.choose.chance(10) else [name]
        return Rule(tuple(self._bounded_head(head, columns[head], body) for head in heads), tuple(body.literals))

    def _bounded_head(self, name: str, columns: tuple[Column, ...], body: Body) -> Atom:
        terms: list[Term] = []
        for column in columns:
            terms.append(self._bounded_term(column, body, terms))
        return Atom(name, tuple(terms))

    def _bounded_term(self, column: Column, body: Body, terms: list[Term]) -> Term:
        known = self._unused([variable for variable in body.variables(column.type) if column.holds(body.scope[variable])], terms)
        steps = [v for v in body.variables(column.type) if column.type in BOUNDED and BOUNDED[column.type].holds(body.scope[v])]
        kinds = ["variable"] * 6 if known else []
        kinds += ["step"] * 3 if steps else []
        match self.choose.pick(kinds or ["constant"]):
            case "variable":
                return Var(self.choose.pick(known))
            case "step":
                return self._step(self.choose.pick(steps), column.type, body)
        return constant(self.choose, column.type)[0] if column == full(column.type) else Const(1, column.type)

    def _step(self, variable: str, type: str, body: Body) -> Term:
        """`z = x + 1, z < 8`: a new value, kept within what recursion may compute."""
        operator, operand = self.choose.pick("+-*"), Const(self.choose.pick((1, 2, 3)), type)
        column = result(operator, [body.scope[variable], column_of((operand.value,), type)])
        if column is None:
            return Var(variable)
        bounds, name = BOUNDED[type], next(body.names)
        body.place(Compare("=", Var(name), Op(operator, (Var(variable), operand), type)))
        low, high = bounds.low, self.choose.number(5, bounds.high)
        if column.high > high:
            body.place(self.choose.pick((Compare("<", Var(name), Const(high, type)), Compare(">=", Const(high, type), Var(name)))))
        if column.low < low:
            body.place(Compare(">=", Var(name), Const(low, type)))
        body.scope[name] = Column(type, max(column.low, low), min(column.high, high))
        return Var(name)


def _chains(head: tuple[Column, ...], first: str, second: str, columns: Signatures) -> bool:
    """Whether `head(x, z) :- first(x, y), second(y, z)` has fitting types and ranges."""
    left, right = columns[first], columns[second]
    if len(head) != 2 or len(left) != 2 or len(right) < 2:
        return False
    return head[0].holds(left[0]) and left[1].type == right[0].type and head[1].holds(right[1])


def _widen(columns: dict[str, list[Column]], name: str, more: tuple[Column, ...]) -> None:
    known = columns.setdefault(name, list(more))
    columns[name] = [column.hull(other) for column, other in zip(known, more, strict=True)]


def _draw_row(choose: Chooser, domain: tuple[tuple[Value, ...], ...]) -> Row:
    return _row(domain, choose.number(0, prod(map(len, domain)) - 1))


def _row(domain: tuple[tuple[Value, ...], ...], index: int) -> Row:
    row: list[Value] = []
    for values in domain:
        index, place = divmod(index, len(values))
        row.append(values[place])
    return tuple(row)


@st.composite
def programs(draw: Any) -> Drawn:
    """Programs with one to three given predicates and one to three layers of derived ones."""
    choose = Chooser(draw)
    making = _Making(choose, choose.pick(PALETTES))
    for number in range(choose.pick((2, 1, 3))):
        making.given(f"e{number + 1}")
    count = 0
    for _ in range(choose.pick((1, 2, 3))):
        recursive = choose.chance(40)
        names = [f"{'r' if recursive else 'd'}{count + number + 1}" for number in range(choose.pick((1, 1, 2)))]
        count += len(names)
        (making.recursive_layer if recursive else making.plain_layer)(names)
    program = Program({name: tuple(column.type for column in columns) for name, columns in making.columns.items()}, tuple(making.rules))
    facts: dict[str, frozenset[Row]] = {}
    for name, domain in making.domains.items():
        size = prod(map(len, domain))
        least = choose.pick((1, 0, 3, 6, 8, 8)) if name.startswith("e") else 0
        indexes = draw(st.lists(integers(0, size - 1), min_size=least, max_size=least + 4))
        facts[name] = frozenset(_row(domain, index) for index in indexes)
    # Without a declaration, a given predicate has its types from its facts; nothing says unsigned but a declaration.
    inferable = all(facts[name] for name in facts if name.startswith("e")) and all(
        "unsigned" not in types and types for types in program.types.values()
    )
    style = Style(
        arrow=choose.pick((":-", "<-")),
        declare=not (inferable and choose.chance(35)),
        suffix=choose.chance(50),
        shuffle=choose.pick((0, 0, 1, 2, 3)),
    )
    return Drawn(program, facts, making.domains, style)


@st.composite
def streams(draw: Any, drawn: Drawn) -> list[Transaction]:
    """One to six transactions on `drawn`: changes of all kinds, empty ones, deletions of everything, undoing of earlier ones."""
    choose = Chooser(draw)
    history = [{name: set(rows) for name, rows in drawn.facts.items()}]
    stream: list[Transaction] = []
    for _ in range(choose.number(1, 6)):
        kind = choose.pick(("changes",) * 7 + ("undo", "undo", "clear", "repeat", "empty"))
        transaction: Transaction = ()
        match kind:
            case "changes":
                transaction = _changes(draw, choose, drawn, history[-1])
            case "undo":
                transaction = difference(history[-1], choose.pick(history[:-1] or history))
            case "clear":
                cleared = choose.pick([None, *sorted(drawn.domains)])
                transaction = tuple(
                    (False, name, row) for name, rows in history[-1].items() if cleared in (None, name) for row in sorted(rows)
                )
            case "repeat" if stream:
                transaction = choose.pick(stream)
        stream.append(transaction)
        history.append(after(history[-1], transaction))
    return stream


def _changes(draw: Any, choose: Chooser, drawn: Drawn, present: dict[str, set[Row]]) -> Transaction:
    changes: list[Change] = []
    names = list(drawn.domains)
    while len(changes) < 8 and (not changes or choose.chance(75)):
        name = choose.pick(names)
        match choose.pick(("insert",) * 4 + ("delete",) * 3 + ("any", "again", "opposite")):
            case "insert":
                changes.append((True, name, _draw_row(choose, drawn.domains[name])))
            case "delete" if present[name]:
                changes.append((False, name, choose.pick(sorted(present[name]))))
            case "again" if changes:
                changes.append(changes[-1])
            case "opposite" if changes:
                insert, name, row = choose.pick(changes)
                changes.append((not insert, name, row))
            case _:
                changes.append((choose.chance(30), name, _draw_row(choose, drawn.domains[name])))
    return tuple(changes)


def after(facts: dict[str, set[Row]], transaction: Transaction) -> dict[str, set[Row]]:
    """The given facts after `transaction`: the last word on a row wins."""
    result = {name: set(rows) for name, rows in facts.items()}
    for insert, name, row in transaction:
        (result[name].add if insert else result[name].discard)(row)
    return result


def difference(old: dict[str, set[Row]], new: dict[str, set[Row]]) -> Transaction:
    """The transaction that turns `old` into `new`."""
    gone = [(False, name, row) for name in old for row in sorted(old[name] - new[name])]
    return (*gone, *((True, name, row) for name in old for row in sorted(new[name] - old[name])))
