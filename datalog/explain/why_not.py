"""Why a fact does not hold: how far each rule for its predicate gets, and the first literal that fails.

A rule's literals are taken in the order of the text. One that computes, compares or negates waits until its variables are bound, and the
helper of a group until its guard is taken, since helpers are true only beside their guards (`datalog.rewrite.helpers`); so are
aggregates that are computed for certain groups or intervals only, and every aggregate waits for its groups. For each longer
prefix of them a join looks for one binding that fits the fact. A join that takes more than `STEPS` steps is given up, and the
answer says so: without the rest of its body, a rule may have no end of bindings.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from datalog.errors import DatalogError, InternalError
from datalog.evaluate.join import Budget, OverBudget
from datalog.explain.absence import Attempt, Condition, WhyNot
from datalog.explain.facts import Codes, Fact, completed, read_fact, show_key_of, show_row, spell_codes
from datalog.explain.literals import (
    Check,
    Part,
    empty_result,
    encloses,
    is_aggregate,
    is_constant,
    is_copy,
    is_generated,
    is_repetition,
    kind_of,
    names_of,
    parts_of,
    show_atom,
    show_check,
    show_key,
    spelled,
)
from datalog.explain.wording import Wording
from datalog.explain.workbench import Workbench
from datalog.io.literals import spell
from datalog.ir.core import CoreAggregate, CoreAtom, CoreBinding, CoreFilter, CoreRule, Predicate, Reference, Type, Value
from datalog.ir.primitives import AGGREGATES
from datalog.maintain.engine import Engine
from datalog.plan.order import is_fallible, variables_of
from datalog.rewrite.forget_singletons import renumber
from datalog.syntax.tree import Span

STEPS = 50_000_000  # iterator operations for one prefix
COUNTED = 1_000_000  # iterator operations for counting bindings
NEARBY = 3  # rows that are shown
ARITHMETIC = frozenset(("+", "-", "*", "/", "%", "^", "neg", "abs"))


def why_not(engine: Engine, text: str, fact: str) -> WhyNot:
    """What each rule lacks to derive a fact that does not hold; `text` is the program's.

    Raises ProgramError or DataError for what is no fact of the program, DatalogError if the fact holds.
    """
    asked = read_fact(fact, engine.program.predicates, engine.values)
    bench = Workbench(engine)
    if asked.is_key:
        key, has = show_key_of(asked.predicate, asked.codes, engine.values), completed(asked, bench.storage)
        holds = f"{show_row(has.predicate, has.codes, engine.values)} holds\n    hint: explain shows why" if has else ""
        raise DatalogError(holds or f"{key} has no value\n    hint: ask for one that you expect: {key} = …")
    shown = show_row(asked.predicate, asked.codes, engine.values)
    if bench.storage.has(asked.predicate.name, asked.rows)[0]:
        raise DatalogError(f"{shown} holds\n    hint: explain shows why")
    rules = [rule for rule in bench.rules.get(asked.predicate.name, []) if not is_copy(rule)]
    given, nearby = _among_the_given(bench, asked)
    wording = Wording(text, bench.program)
    with bench.open():
        tried = [_Attempt(bench, wording, rule, asked.codes) for rule in rules]
        attempts = [(one.rule, one.made(), one.other_case) for one in tried]
    # An aggregate that may be over no rows makes two rules of one. The one whose case it is not says nothing.
    telling = {rule.span for rule, _, other_case in attempts if not other_case}
    told = [(rule, attempt) for rule, attempt, other_case in attempts if not other_case or rule.span not in telling]
    return WhyNot(shown, given, nearby, tuple(_merged(told)))


def _merged(attempts: Sequence[tuple[CoreRule, Attempt]]) -> Iterator[Attempt]:
    """The attempts, with the alternatives of one rule of the text numbered, and those that fail alike as one."""
    by_rule: dict[Span, list[Attempt]] = {}
    for rule, attempt in attempts:
        by_rule.setdefault(rule.span, []).append(attempt)
    for alternatives in by_rule.values():
        alike: list[tuple[Attempt, list[str]]] = []
        for number, attempt in enumerate(alternatives, 1):
            same = next((numbers for other, numbers in alike if other == attempt), None)
            if same is None:
                alike.append((attempt, same := []))
            same.append(str(number))
        for attempt, numbers in alike:
            label = f"{', '.join(numbers)} of {len(alternatives)}" if len(alike) > 1 else ""
            yield replace(attempt, alternative=label)


def _among_the_given(bench: Workbench, asked: Fact) -> tuple[str, tuple[str, ...]]:
    """What the given facts say, and those that differ in one column from the fact. O(n) for n of them."""
    predicate = asked.predicate
    if predicate.functional:
        key = Fact(predicate, asked.codes[:-1])
        has = completed(key, bench.storage)
        named = show_key_of(predicate, asked.codes, bench.values)
        if has is not None:
            found, wanted = (spell_codes(predicate, one.codes, bench.values)[-1] for one in (has, asked))
            return f"{named} is {found}, not {wanted}", ()
        if not predicate.derived:
            return f"{named} has no value", ()
    stored = bench.program.predicates[predicate.base] if predicate.derived else predicate
    rows = bench.storage.rows(stored.name, bench.storage.committed)
    if predicate.derived and not len(rows):
        return "", ()
    if not len(rows):
        return f"{predicate.name} has no facts", ()
    near = rows[(rows == asked.rows).sum(axis=1) == predicate.width - 1] if predicate.width > 1 else rows[:0]
    shown = bench.values.sort_by_value(near, predicate.types)[:NEARBY].tolist()
    message = f"it is not among the {'given ' if predicate.derived else ''}facts of {predicate.name}"
    return message, tuple(show_row(predicate, tuple(row), bench.values) for row in shown)


class _Attempt:
    """One rule against one head row."""

    def __init__(self, bench: Workbench, wording: Wording, rule: CoreRule, codes: Codes) -> None:
        self._bench, self._wording, self.rule, self._codes = bench, wording, rule, codes
        self.other_case = False  # does it fail only because an aggregate is over no rows, or is not?
        self._inverses = tuple(binding for binding in rule.bindings if binding.inverse)
        self._constants = tuple(check for check in rule.bindings if is_constant(rule, check))
        self._known: list[int | None] = [None] * len(rule.variables)
        for bound in self._constants:
            if isinstance(bound.expression, Value):
                self._known[bound.variable] = bench.values.encode(bound.expression.value, bound.expression.type)

    def made(self) -> Attempt:
        mismatch = self._mismatch()
        if mismatch:
            return self._attempt((), None, mismatch, {}, 1)
        for column, code in zip(self.rule.head_columns, self._codes, strict=True):
            self._known[column] = code
        parts = self._in_order()
        binding, bound = self._known, {v for v, code in enumerate(self._known) if code is not None}
        for taken, part in enumerate(parts):
            prefix = parts[: taken + 1]
            try:
                found = self._bindings(prefix, True, STEPS)
            except OverBudget:
                return self._failed(parts[:taken], part, binding, bound, f"undecided: not settled after {STEPS} steps")
            if found is None:
                return self._failed(parts[:taken], part, binding, bound, "")
            binding, bound = found[0], {v for v, code in enumerate(found[0]) if code is not None}
        raise InternalError(f"the rule `{self.rule.text}` derives a fact that is not there")

    # --- the head ---------------------------------------------------------------------------------------------------------

    def _mismatch(self) -> str:
        """Where the head does not fit the fact: a constant differs, or two columns that must be equal are not."""
        columns, values = self.rule.head_columns, self._bench.values
        given = dict(zip(columns, self._codes, strict=True))
        shown = spelled(self.rule, [given.get(v) for v in range(len(self.rule.variables))], values)
        wanted = spelled(self.rule, self._known, values)
        for place, column in enumerate(columns, 1):
            if self._known[column] not in (None, given[column]):
                return f"column {place} of the head is {wanted[column]}, not {shown[column]}"
            for check in self.rule.bindings:
                if check.variable == column and isinstance(check.expression, Reference) and is_repetition(check):
                    other = check.expression.variable
                    if other in given and given[other] != given[column]:
                        equal = f"columns {columns.index(other) + 1} and {place} of the head are equal"
                        return f"{equal}, and {shown[other]} is not {shown[column]}"
        return ""

    # --- the body ---------------------------------------------------------------------------------------------------------

    def _in_order(self) -> list[Part]:
        """The literals in the order in which they are taken."""
        pending = list(parts_of(self.rule))
        guards = {part: self._guards(part, pending) for part in pending}
        bound = {v for v, code in enumerate(self._known) if code is not None}
        taken: list[Part] = []
        while pending:
            ready = [part for part in pending if self._is_ready(part, bound)]
            guarded = [part for part in ready if not any(guard in pending for guard in guards.get(part, ()))]
            # A guard may wait for what a disjunction's helper binds: then the helper goes first. Atoms may wait for each other's
            # variables, as in q(x, y + 1), r(y, x + 1): then one goes before its computation.
            atoms = [part for part in pending if any(not atom.negated for atom in part.atoms)]
            if not (guarded or ready or atoms):
                raise InternalError(f"no order of the literals binds all variables of the rule `{self.rule.text}`")
            part = (guarded or ready or atoms)[0]
            bound = self._binds(part, bound)
            late = [check for check in part.checks if not self._reads(check) <= bound]
            place = pending.index(part)
            pending[place : place + 1] = [Part(check.span, (), (check,)) for check in late]
            taken.append(replace(part, checks=tuple(check for check in part.checks if check not in late)))
        return taken

    def _guards(self, part: Part, parts: list[Part]) -> tuple[Part, ...]:
        """The literals beside which the part's helpers are true."""
        helpers = [atom.predicate for atom in part.atoms if kind_of(atom.predicate) in ("or", "not")]
        helpers += [need for atom in part.atoms if is_aggregate(atom) for need in self._needs(self._wording.of_atom(atom))]
        outside: list[Span] = []
        for rule in (rule for helper in helpers for rule in self._bench.rules.get(helper, [])):
            if not encloses(self.rule.span, rule.span):  # of another rule, which says the same, with which this one shares it
                return tuple(other for other in parts if not any(map(is_aggregate, other.atoms)))
            spans = [*(a.span for a in rule.atoms), *(b.span for b in rule.bindings), *(f.span for f in rule.filters)]
            outside += [span for span in spans if not encloses(rule.span, span)]
        return tuple(other for other in parts if other is not part and any(encloses(other.span, span) for span in outside))

    def _needs(self, aggregate: CoreAggregate) -> Iterator[str]:
        """The predicates of the groups or intervals for which an aggregate is computed."""
        if aggregate.needs:
            yield aggregate.needs
        for rule in self._bench.rules[aggregate.source]:
            yield from (atom.predicate for atom in rule.atoms if kind_of(atom.predicate) == "need")

    def _binds(self, part: Part, bound: set[int]) -> set[int]:
        """All variables that are bound when the part has been taken, if it can be."""
        return self._computes(
            part, bound | {column for atom in part.atoms if not atom.negated for column in atom.columns if column is not None}
        )

    def _computes(self, part: Part, bound: set[int]) -> set[int]:
        """All variables that are bound when the part's computations have been made."""
        known, growing = bound, True
        while growing:
            bindings = (*(check for check in part.checks if isinstance(check, CoreBinding)), *self._inverses)
            more = {binding.variable for binding in bindings if variables_of(binding.expression) <= known} - known
            known = known | more
            growing = bool(more)
        return known

    def _is_ready(self, part: Part, bound: set[int]) -> bool:
        """Does the part wait for no variable but those that it binds itself?"""
        known = self._binds(part, bound)
        columns = {column for atom in part.atoms for column in atom.columns if column is not None}
        groups = {column for atom in part.atoms if is_aggregate(atom) for column in atom.columns[:-1] if column is not None}
        return groups <= self._computes(part, bound) and columns <= known and all(self._reads(check) <= known for check in part.checks)

    def _reads(self, check: Check) -> frozenset[int]:
        if isinstance(check, CoreBinding):
            return variables_of(check.expression) | {check.variable}
        return variables_of(check.left) | variables_of(check.right)

    def _bindings(self, parts: list[Part], first_only: bool, steps: int) -> list[list[int | None]] | None:
        """The bindings of the rule's variables that satisfy the parts (None for variables that these do not have); None if none does."""
        rule = self.rule
        checks = [check for part in parts for check in part.checks]
        atoms = [atom for part in parts for atom in part.atoms]
        used = {column for atom in atoms for column in atom.columns if column is not None} | set(rule.head_columns)
        used = used.union(*map(self._reads, checks))
        bindings = [check for check in checks if isinstance(check, CoreBinding)]
        bindings += [check for check in self._inverses if self._reads(check) <= used]
        bindings += [check for check in self._constants if check.variable in used and check not in bindings]
        filters = [check for check in checks if isinstance(check, CoreFilter)]
        kept = sorted(used)
        prefix = renumber(replace(rule, atoms=tuple(atoms), bindings=tuple(bindings), filters=tuple(filters)), kept)
        join = self._bench.join(prefix, ())
        budget = Budget(join.tally, join.tally.cost + steps)
        rows = self._bench.complete(join, np.array([self._codes], np.int64), first_only=first_only, budget=budget)
        if not len(rows):
            return None
        found: list[list[int | None]] = []
        for row in rows.tolist():
            binding = list(self._known)
            for variable, code in zip(kept, row, strict=True):
                binding[variable] = code
            found.append(binding)
        return found

    # --- what is said -----------------------------------------------------------------------------------------------------

    def _failed(self, taken: list[Part], part: Part, binding: list[int | None], bound: set[int], reason: str) -> Attempt:
        shown = spelled(self.rule, binding, self._bench.values)
        try:
            ways = len(self._bindings(taken, False, COUNTED) or ()) if taken else 1
        except OverBudget:
            ways = None
        satisfied = tuple(self._condition(one, shown, bound) for one in taken)
        named = {
            name: value
            for name, value, code in zip(self.rule.variables, shown, binding, strict=True)
            if code is not None and name[0] != "=" and name[-1] != "'"
        }
        reason = reason or self._reason(part, shown, binding, bound)
        return self._attempt(satisfied, self._condition(part, shown, bound), reason, named, ways)

    def _attempt(
        self, satisfied: tuple[Condition, ...], failed: Condition | None, reason: str, binding: dict[str, str], ways: int | None
    ) -> Attempt:
        span = self.rule.span
        return Attempt(self.rule.text, f"{span.file}:{span.line}", satisfied, failed, reason, binding, ways)

    def _condition(self, part: Part, shown: list[str], bound: set[int]) -> Condition:
        source = self._wording.source(part.span)
        if any(kind_of(atom.predicate) == "or" for atom in part.atoms):
            source = f"({source})"  # the parentheses are not in a disjunction's span
        if len(part.atoms) == 1 and is_aggregate(part.atoms[0]):
            return self._aggregate_condition(part, shown, bound)
        if not part.atoms and all(is_generated(self.rule, check) for check in part.checks):
            (check,) = part.checks  # a computation in a term, which is no literal of its own
            assert isinstance(check, CoreBinding)
            return Condition(show_check(check, shown), f"{shown[check.variable]} = {source}")
        kinds = {kind_of(atom.predicate) for atom in part.atoms}
        if kinds & {"not", "or", "some"} or len(part.atoms) + (not part.atoms and len(part.checks)) > 1:
            return Condition(source, source)
        if part.atoms:
            atom, predicate = part.atoms[0], self._predicate(part.atoms[0])
            value = atom.columns[-1]
            if predicate.functional and value is not None and value not in bound and self.rule.variables[value][0] == "=":
                terms = ["_" if column is None else shown[column] for column in atom.columns]
                return Condition(show_key(predicate, terms), source)  # written as a term
            return Condition(show_atom(atom, shown, predicate), source)
        return Condition(show_check(part.checks[0], shown), source)

    def _aggregate_condition(self, part: Part, shown: list[str], bound: set[int]) -> Condition:
        """An aggregate with the result that is asked for or found, if any."""
        (atom,) = part.atoms
        source = self._wording.source(part.span)
        result = self._result(part)
        name = "" if result is None else shown[result]
        if result is not None and self.rule.variables[result][0] != "=" and not self._wording.is_total(self.rule, atom):
            source = f"{self.rule.variables[result]} = {source}"
        elif result is not None and result not in bound:
            name = ""
        negated = atom.negated and empty_result(part) is None
        if negated:
            return Condition(f"!({source})", f"!({source})")
        text = self._wording.aggregate(self.rule, atom, shown, [variable in bound for variable in range(len(shown))], name)
        return Condition(text, source)

    def _result(self, part: Part) -> int | None:
        """The variable of an aggregate's result, if it is asked for."""
        empty, (atom,) = empty_result(part), part.atoms
        if empty is not None:
            return empty.variable
        return None if kind_of(atom.predicate) == "some" else atom.columns[-1]

    def _reason(self, part: Part, shown: list[str], binding: list[int | None], bound: set[int]) -> str:
        """Why the part fails."""
        if not part.atoms:
            (first, *_) = part.checks
            sides = [first.expression] if isinstance(first, CoreBinding) else [first.left, first.right]
            missing = self._reads(first) - bound
            if isinstance(first, CoreBinding) and missing == {first.variable}:
                plain = names_of(first.expression) <= ARITHMETIC
                return "has no value: it leaves the 64-bit range or divides by zero" if plain else "has no value"
            if missing:
                return f"no value of {' and '.join(shown[variable] for variable in sorted(missing))} makes it true"
            return "does not hold, or has no value" if any(map(is_fallible, sides)) else "does not hold"
        atom, kind = part.atoms[0], kind_of(part.atoms[0].predicate)
        if len(part.atoms) == 1 and is_aggregate(atom) and (not atom.negated or empty_result(part)):
            return self._aggregate_reason(part, binding, bound)
        if kind == "some":
            return f"{atom.predicate.removesuffix('@some')} has {'a row' if atom.negated else 'no rows'}"
        if kind in ("not", "or") or len(part.atoms) > 1 or is_aggregate(atom):
            columns = dict.fromkeys(column for atom in part.atoms for column in atom.columns if column is not None)
            known = [f"{self.rule.variables[v]} = {shown[v]}" for v in columns if v in bound and self.rule.variables[v][0] != "="]
            where = f" where {', '.join(known)}" if known else ""
            return f"something satisfies it{where}" if atom.negated else f"no branch holds{where}"
        predicate = self._predicate(atom)
        if atom.negated:
            return f"{show_atom(replace(atom, negated=False), shown, predicate)} holds"
        return self._other_value(atom, shown, binding) if predicate.functional else "no such row"

    def _other_value(self, atom: CoreAtom, shown: list[str], binding: list[int | None]) -> str:
        """What a functional predicate says instead, of a key whose terms all have values."""
        predicate = self._predicate(atom)
        terms = ["_" if column is None else shown[column] for column in atom.columns]
        codes = [None if column is None else binding[column] for column in atom.columns]
        key = tuple(code for code in codes[:-1] if code is not None)
        if len(key) < len(codes) - 1:
            return "no such row"
        has = completed(Fact(predicate, key), self._bench.storage)
        if has is None:
            return f"{show_key(predicate, terms)} has no value"
        return f"{show_key(predicate, terms)} is {spell_codes(predicate, has.codes, self._bench.values)[-1]}, not {terms[-1]}"

    def _aggregate_reason(self, part: Part, binding: list[int | None], bound: set[int]) -> str:
        """What an aggregate gives instead."""
        (atom,) = part.atoms
        aggregate, result = self._wording.of_atom(atom), self._result(part)
        keys = [] if kind_of(atom.predicate) == "some" else [None if column is None else binding[column] for column in atom.columns[:-1]]
        if None in keys:
            return "no group has this result" if result in bound else "there is no group"
        rows = self._bench.storage.rows(aggregate.head)
        rows = rows[(rows[:, :-1] == np.array(keys, np.int64).reshape(1, -1)).all(axis=1)]
        empty = AGGREGATES[aggregate.function].empty
        if len(rows):
            found = self._spelled(int(rows[0, -1]), aggregate.result)
        elif empty is None or self._wording.is_total(self.rule, atom):
            return "an aggregate over no rows has no result"
        else:
            found = self._spelled(self._bench.values.encode(empty, aggregate.result), aggregate.result)
        wanted = None if result is None else binding[result]
        asked = found if wanted is None else self._spelled(wanted, aggregate.result)
        self.other_case = asked == found
        return f"it is {found} here" if asked == found else f"it is {found} here, not {asked}"

    def _spelled(self, code: int, type: Type) -> str:
        return spell(self._bench.values.decode(code, type), type)

    def _predicate(self, atom: CoreAtom) -> Predicate:
        return self._bench.program.predicates[atom.predicate]
