"""How far one rule gets towards a fact that does not hold, and the first literal that fails.

A rule's literals are taken in the order of the text. One that computes, compares or negates waits until its variables are bound, and the
helper of a group until its guard is taken, since helpers are true only beside their guards (`datalog.rewrite.helpers`); so are
aggregates that are computed for certain groups or intervals only, and every aggregate waits for its groups. For each longer
prefix of them a join looks for one binding that fits the fact. A join that takes more than `STEPS` steps is given up, and the
answer says so: without the rest of its body, a rule may have no end of bindings.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from datalog.errors import InternalError
from datalog.evaluate.join import Budget, OverBudget
from datalog.explain.absence import Attempt, Condition
from datalog.explain.facts import Codes
from datalog.explain.literals import (
    Part,
    empty_result,
    encloses,
    is_aggregate,
    is_constant,
    is_repetition,
    kind_of,
    parts_of,
    reads,
    spelled,
)
from datalog.explain.reasons import Reason, Reasons
from datalog.explain.wording import Wording
from datalog.explain.workbench import Workbench
from datalog.ir.core import CoreAggregate, CoreBinding, CoreFilter, CoreRule, Reference, Value
from datalog.plan.order import variables_of
from datalog.rewrite.forget_singletons import renumber
from datalog.syntax.tree import Span

STEPS = 50_000_000  # iterator operations for one prefix
COUNTED = 1_000_000  # iterator operations for counting bindings


class RuleAttempt:
    """One rule against one head row."""

    def __init__(self, bench: Workbench, wording: Wording, rule: CoreRule, codes: Codes) -> None:
        self._bench, self._wording, self._rule, self._codes = bench, wording, rule, codes
        self._inverses = tuple(binding for binding in rule.bindings if binding.inverse)
        self._constants = tuple(check for check in rule.bindings if is_constant(rule, check))
        self._known: list[int | None] = [None] * len(rule.variables)
        for bound in self._constants:
            if isinstance(bound.expression, Value):
                self._known[bound.variable] = bench.values.encode(bound.expression.value, bound.expression.type)

    def made(self, kept_out: str = "") -> tuple[Attempt, bool]:
        """How far it gets, and whether it fails only as the other case of an aggregate (`Reason`).

        `kept_out` says why the row is not there if the rule derives it, where that can be."""
        mismatch = self._mismatch()
        if mismatch:
            return self._attempt((), None, mismatch, {}, 1), False
        for column, code in zip(self._rule.head_columns, self._codes, strict=True):
            self._known[column] = code
        parts = self._in_order()
        binding = self._known
        for taken, part in enumerate(parts):
            prefix = parts[: taken + 1]
            try:
                found = self._bindings(prefix, True, STEPS)
            except OverBudget:
                return self._failed(parts[:taken], part, binding, f"undecided: not settled after {STEPS} steps")
            if found is None:
                return self._failed(parts[:taken], part, binding)
            binding = found[0]
        if not kept_out:
            raise InternalError(f"the rule `{self._rule.text}` derives a fact that is not there")
        reasons = Reasons(self._bench, self._wording, self._rule, binding)
        return self._attempt(tuple(map(reasons.condition, parts)), None, kept_out, reasons.named(), 1), False

    # --- the head ---------------------------------------------------------------------------------------------------------

    def _mismatch(self) -> str:
        """Where the head does not fit the fact: a constant differs, or two columns that must be equal are not."""
        columns, values = self._rule.head_columns, self._bench.values
        given = dict(zip(columns, self._codes, strict=True))
        shown = spelled(self._rule, [given.get(v) for v in range(len(self._rule.variables))], values)
        wanted = spelled(self._rule, self._known, values)
        for place, column in enumerate(columns, 1):
            if self._known[column] not in (None, given[column]):
                return f"column {place} of the head is {wanted[column]}, not {shown[column]}"
            for check in self._rule.bindings:
                if check.variable == column and isinstance(check.expression, Reference) and is_repetition(check):
                    other = check.expression.variable
                    if other in given and given[other] != given[column]:
                        equal = f"columns {columns.index(other) + 1} and {place} of the head are equal"
                        return f"{equal}, and {shown[other]} is not {shown[column]}"
        return ""

    # --- the body ---------------------------------------------------------------------------------------------------------

    def _in_order(self) -> list[Part]:
        """The literals in the order in which they are taken."""
        pending = list(parts_of(self._rule, self._bench.aggregates))
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
                raise InternalError(f"no order of the literals binds all variables of the rule `{self._rule.text}`")
            part = (guarded or ready or atoms)[0]
            bound = self._binds(part, bound)
            late = [check for check in part.checks if not reads(check) <= bound]
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
            if not encloses(self._rule.span, rule.span):  # of another rule, which says the same, with which this one shares it
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
        groups = {column for atom in part.atoms if is_aggregate(atom) for column in self._wording.keys(atom) if column is not None}
        return groups <= self._computes(part, bound) and columns <= known and all(reads(check) <= known for check in part.checks)

    def _bindings(self, parts: list[Part], first_only: bool, steps: int) -> list[list[int | None]] | None:
        """The bindings of the rule's variables that satisfy the parts (None for variables that these do not have); None if none does."""
        rule = self._rule
        checks = [check for part in parts for check in part.checks]
        atoms = [atom for part in parts for atom in part.atoms]
        used = {column for atom in atoms for column in atom.columns if column is not None} | set(rule.head_columns)
        used = used.union(*map(reads, checks))
        bindings = [check for check in checks if isinstance(check, CoreBinding)]
        bindings += [check for check in self._inverses if reads(check) <= used]
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

    def _failed(self, taken: list[Part], part: Part, binding: list[int | None], undecided: str = "") -> tuple[Attempt, bool]:
        if len(part.atoms) == 1 and is_aggregate(part.atoms[0]):
            binding = self._asking(taken, part) or binding
        reasons = Reasons(self._bench, self._wording, self._rule, binding)
        try:
            ways = len(self._bindings(taken, False, COUNTED) or ()) if taken else 1
        except OverBudget:
            ways = None
        reason = Reason(undecided) if undecided else reasons.reason(part)
        named = reasons.named()
        return self._attempt(tuple(map(reasons.condition, taken)), reasons.condition(part), reason.text, named, ways), reason.other_case

    def _asking(self, taken: list[Part], part: Part) -> list[int | None] | None:
        """A binding with the groups that an aggregate is asked for where they are computed."""
        checks = tuple(check for check in part.checks if check is not empty_result(part))
        found = self._bindings([*taken, replace(part, atoms=(), checks=checks)], True, STEPS)
        return found[0] if found else None

    def _attempt(
        self, satisfied: tuple[Condition, ...], failed: Condition | None, reason: str, binding: dict[str, str], ways: int | None
    ) -> Attempt:
        span = self._rule.span
        return Attempt(self._rule.text, f"{span.file}:{span.line}", satisfied, failed, reason, binding, ways)
