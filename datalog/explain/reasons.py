"""What is said of a rule's literals under a binding: what they are with its values, and why one fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from datalog.explain.absence import Condition
from datalog.explain.facts import Fact, completed, spell_codes
from datalog.explain.literals import (
    Check,
    Part,
    empty_result,
    is_aggregate,
    is_generated,
    kind_of,
    names_of,
    reads,
    show_atom,
    show_check,
    show_key,
    spelled,
    taking_apart,
)
from datalog.explain.wording import Wording
from datalog.explain.workbench import Workbench
from datalog.io.literals import spell
from datalog.ir.core import SOME, CoreAtom, CoreBinding, CoreRule, Predicate, Type
from datalog.ir.primitives import aggregate_named, is_fold
from datalog.plan.order import is_fallible

ARITHMETIC = frozenset(("+", "-", "*", "/", "%", "^", "neg", "abs"))


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a literal fails. An aggregate that may be over no rows makes two rules of one; `other_case`: the literal holds, in the
    rule for the other case."""

    text: str
    other_case: bool = False


class Reasons:
    """The literals of one rule under one binding, None for variables that have no value."""

    def __init__(self, bench: Workbench, wording: Wording, rule: CoreRule, binding: Sequence[int | None]) -> None:
        self._bench, self._wording, self._rule, self._binding = bench, wording, rule, binding
        self._shown = spelled(rule, binding, bench.values)
        self._bound = [code is not None for code in binding]

    def named(self) -> dict[str, str]:
        """The values of the variables that the rule names."""
        every = zip(self._rule.variables, self._shown, self._bound, strict=True)
        return {name: value for name, value, has in every if has and name[0] not in "=@" and name[-1] != "'"}

    def condition(self, part: Part) -> Condition:
        """The literal with its values, and as it is written."""
        source = self._wording.source(part.span)
        if any(kind_of(atom.predicate) == "or" for atom in part.atoms):
            source = f"({source})"  # the parentheses are not in a disjunction's span
        if len(part.atoms) == 1 and is_aggregate(part.atoms[0]):
            return self._aggregate(part)
        if not part.atoms and all(is_generated(self._rule, check) for check in part.checks):
            (check,) = part.checks  # a computation in a term, which is no literal of its own
            assert isinstance(check, CoreBinding)
            return Condition(show_check(check, self._shown, source), f"{self._shown[check.variable]} = {source}")
        kinds = {kind_of(atom.predicate) for atom in part.atoms}
        if "numbers" in kinds:
            number = part.atoms[0].columns[-1]
            return Condition(source if number is None or not self._bound[number] else f"{self._shown[number]} = {source}", source)
        if kinds & {"not", "or", "some"} or len(part.atoms) + (not part.atoms and len(part.checks)) > 1:
            return Condition(source, source)
        if part.atoms:
            atom, predicate = part.atoms[0], self._predicate(part.atoms[0])
            value = atom.columns[-1]
            if predicate.functional and value is not None and not self._bound[value] and self._rule.variables[value][0] == "=":
                terms = ["_" if column is None else self._shown[column] for column in atom.columns]
                return Condition(show_key(predicate, terms), source)  # written as a term
            return Condition(show_atom(atom, self._shown, predicate), source)
        return Condition(show_check(part.checks[0], self._shown, source), source)

    def _aggregate(self, part: Part) -> Condition:
        """An aggregate with the result that is asked for or found, if any."""
        (atom,) = part.atoms
        source = self._wording.source(part.span)
        result = self._result(part)
        name = "" if result is None else self._shown[result]
        if result is not None and self._rule.variables[result][0] != "=" and not self._wording.is_total(self._rule, atom):
            source = f"{self._rule.variables[result]} = {source}"
        elif result is not None and not self._bound[result]:
            name = ""
        if atom.negated and empty_result(part) is None:
            return Condition(f"!({source})", f"!({source})")
        text = self._wording.aggregate(self._rule, atom, self._shown, self._bound, name)
        return Condition(text, source)

    def _result(self, part: Part) -> int | None:
        """The variable of an aggregate's result, if it is asked for."""
        empty, (atom,) = empty_result(part), part.atoms
        return self._wording.variable(atom) if empty is None else empty.variable

    def reason(self, part: Part) -> Reason:
        """Why the part fails."""
        if len(part.checks) > 1 and any(map(taking_apart, part.checks)):
            return Reason("does not fit")
        if not part.atoms:
            return Reason(self._unfulfilled(part.checks[0]))
        atom, kind = part.atoms[0], kind_of(part.atoms[0].predicate)
        if len(part.atoms) == 1 and is_aggregate(atom) and (not atom.negated or empty_result(part)):
            return self._other_result(part)
        if kind == "numbers":
            return Reason("no such binding has this number")
        if kind == "some":
            return Reason(f"{atom.predicate.removesuffix(SOME)} has {'a row' if atom.negated else 'no rows'}")
        if kind in ("not", "or") or len(part.atoms) > 1 or is_aggregate(atom):
            columns = dict.fromkeys(column for one in part.atoms for column in one.columns if column is not None)
            known = self.named()
            values = [f"{name} = {known[name]}" for name in (self._rule.variables[column] for column in columns) if name in known]
            where = f" where {', '.join(values)}" if values else ""
            negated = all(one.negated for one in part.atoms)
            without = "no branch holds" if any(kind_of(one.predicate) == "or" for one in part.atoms) else "nothing satisfies it"
            return Reason(f"something satisfies it{where}" if negated else f"{without}{where}")
        predicate = self._predicate(atom)
        if atom.negated:
            return Reason(f"{show_atom(replace(atom, negated=False), self._shown, predicate)} holds")
        return Reason(self._other_value(atom) if predicate.functional else "no such row")

    def _unfulfilled(self, check: Check) -> str:
        """Why a comparison or computation fails."""
        sides = [check.expression] if isinstance(check, CoreBinding) else [check.left, check.right]
        missing = {variable for variable in reads(check) if not self._bound[variable]}
        if isinstance(check, CoreBinding) and missing == {check.variable}:
            plain = names_of(check.expression) <= ARITHMETIC
            return "has no value: it leaves the 64-bit range or divides by zero" if plain else "has no value"
        if missing:
            return f"no value of {' and '.join(self._shown[variable] for variable in sorted(missing))} makes it true"
        return "does not hold, or has no value" if any(map(is_fallible, sides)) else "does not hold"

    def _other_value(self, atom: CoreAtom) -> str:
        """What a functional predicate says instead, of a key whose terms all have values."""
        predicate = self._predicate(atom)
        terms = ["_" if column is None else self._shown[column] for column in atom.columns]
        codes = [None if column is None else self._binding[column] for column in atom.columns]
        key = tuple(code for code in codes[:-1] if code is not None)
        if len(key) < len(codes) - 1:
            return "no such row"
        has = completed(Fact(predicate, key), self._bench.storage)
        if has is None:
            return f"{show_key(predicate, terms)} has no value"
        return f"{show_key(predicate, terms)} is {spell_codes(predicate, has.codes, self._bench.values)[-1]}, not {terms[-1]}"

    def _other_result(self, part: Part) -> Reason:
        """What an aggregate gives instead."""
        (atom,) = part.atoms
        aggregate, function, result = self._wording.of_atom(atom), self._wording.function(atom), self._result(part)
        keys = [None if column is None else self._binding[column] for column in self._wording.keys(atom)]
        if None in keys:
            return Reason("no group has this result" if result is not None and self._bound[result] else "there is no group")
        rows = self._bench.storage.rows(aggregate.head)
        rows = rows[(rows[:, : len(keys)] == np.array(keys, np.int64).reshape(1, -1)).all(axis=1)]
        empty = aggregate_named(function.name).empty
        if len(rows):
            found = self._spelled(int(rows[0, aggregate.keys + self._wording.result(atom)]), function.result)
        elif is_fold(function.name):
            return Reason("an aggregate over no rows has its initial value")
        elif empty is None or self._wording.is_total(self._rule, atom):
            return Reason("an aggregate over no rows has no result")
        else:
            found = self._spelled(self._bench.values.encode(empty, function.result), function.result)
        wanted = None if result is None else self._binding[result]
        asked = found if wanted is None else self._spelled(wanted, function.result)
        if asked == found:
            return Reason(f"it is {found} here", other_case=True)
        return Reason(f"it is {found} here, not {asked}")

    def _spelled(self, code: int, type: Type) -> str:
        return spell(self._bench.values.decode(code, type), type)

    def _predicate(self, atom: CoreAtom) -> Predicate:
        return self._bench.program.predicates[atom.predicate]
