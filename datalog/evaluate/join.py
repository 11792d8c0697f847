"""One rule's join: drives the `complete` kernel over buffers that grow as they fill.

A join reads trees by their numbers in a version (`roots`), so the same join runs on old and new versions. Between kernel
calls Python runs, so Ctrl-C is seen at least every STEPS_A_CALL iterator operations.

Where a function is called that the kernel does not compute and the memo does not know, the kernel puts off what is bound so
far, as a prefix. The memo computes all such calls together, and the prefixes that were put off are completed in their turn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from datalog.errors import Diagnostic, EvaluationError
from datalog.evaluate.memo import Memo
from datalog.evaluate.threads import Crew, split_keys, split_prefixes
from datalog.ir.core import QUERY, Type
from datalog.kernels import encoding as code
from datalog.kernels.triejoin import complete
from datalog.plan.encode import EncodedPlan
from datalog.plan.rule import RulePlan
from datalog.store.tally import A_BINDING, A_CALL, A_PREFIX, Tally
from datalog.store.values import shown

Words = NDArray[np.int64]
Decode = Callable[[int, Type], object]

LEAST, GREATEST = -(2**63), 2**63 - 1
STEPS_A_CALL = 20_000_000
ENDLESS = 1 << 62
SMALLEST_BUFFER = 256
LARGEST_BUFFER = 1 << 20  # rows; fuller buffers are emptied into a list
LASTING_BUFFER = 1 << 12  # rows that a join keeps room for between calls
# As plain Python the kernel works on NumPy's numbers, which warn where a result is checked afterwards.
run = complete if hasattr(complete, "py_func") else np.errstate(all="ignore")(complete)
AT_FIRST = np.zeros(code.STATE_WORDS, np.int64)
AT_FIRST[code.STATE_PREFIX] = -1
NO_LABELS = np.empty(0, np.int64)
NO_RECORDS = np.empty((0, code.RECORD_VALUES), np.int64)
PROBLEMS = {
    code.OVERFLOW: ("leaves the 64-bit range", "values are 64-bit; bound the variables, or use float"),
    code.DIVISION_BY_ZERO: ("divides by zero", "exclude zero in the body, for instance with `x != 0`"),
    code.OUT_OF_RANGE: ("has no value: the argument is outside the range of the result's type", "compare the argument in the body first"),
    code.NEGATIVE: ("has no value: the argument is negative", "an unsigned is 0 or more; exclude what is below in the body"),
    code.NOT_A_NUMBER: ("has no value: the argument is NaN", "NaN comes from computations such as infinity - infinity"),
}


class OverBudget(Exception):
    """A join has made as many steps as its budget allowed."""


@dataclass(slots=True)
class Budget:
    """Work that may be done: until the tally's cost comes to `limit`."""

    tally: Tally
    limit: int

    @property
    def left(self) -> int:
        return self.limit - self.tally.cost


@dataclass(slots=True)
class Failures:
    """What becomes of a computation without a value where everything else of its rule holds. `skip`: it is a literal that does
    not hold, and is counted in `skipped`; else it is an error."""

    skip: bool = False
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the joins of one program share. `labels` order symbols; `make` makes the joins of late plans."""

    labels: Callable[[], Words]
    decode: Decode
    memo: Memo
    tally: Tally
    failing: Failures
    make: Callable[[RulePlan], Join]
    threads: int = 1


class Join:
    """The join of one plan. It adds its iterator operations to the tally of its surroundings.

    `steps` and `rows` count its own iterator operations and the rows that it gave.
    """

    def __init__(self, encoded: EncodedPlan, surroundings: Surroundings) -> None:
        self.encoded = encoded
        self.variables = len(encoded.plan.order)
        self.width = encoded.width
        self.slots = np.array(encoded.slots, dtype=np.int64)
        self._positive = len(encoded.plan.positive)  # their slots come first
        self._before = np.flatnonzero([atom.number < encoded.plan.given for atom in encoded.atoms])
        self._slots_before = self.slots[self._before]
        self._blanks: dict[int, Words] = {}
        self.tally = surroundings.tally
        self.steps = self.rows = 0
        self.failures = 0  # computations without a value that the rule did not need
        self.around = surroundings
        self._late: dict[tuple[int, int], Join] = {}
        self.state = np.zeros(encoded.state_words, np.int64)  # of the kernel
        self._output = np.empty((SMALLEST_BUFFER, self.width), np.int64)
        self._records = np.empty((SMALLEST_BUFFER, code.RECORD_VALUES + self.variables), np.int64)
        self.missed_width = code.PREFIX_VALUES + self.variables + 1 + encoded.arguments
        self._missed = np.empty((SMALLEST_BUFFER, self.missed_width), np.int64)
        self._splits = surroundings.threads > 1 and not encoded.operations
        self._key_slot = _key_slot(encoded)
        self.first_of_head = code.FIRST_OF_HEAD if _ends_unseen(encoded) else code.ALL
        self._crew = Crew(self._worker, _dismiss)
        self._whole = self.prefixes(np.empty((1, 0), np.int64))

    @property
    def bytes(self) -> int:
        """Memory of its plan and of the buffers that it keeps."""
        return self._output.nbytes + self._records.nbytes + self._missed.nbytes + self.state.nbytes + self.encoded.words.nbytes

    def everything(self) -> Words:
        """The one empty prefix: full evaluation."""
        return self._whole

    def prefixes(self, rows: Words, stamps: Words | int = 0) -> Words:
        """Prefixes that bind the first variables to the columns of `rows`; rows of stamped atoms must be older than `stamps`."""
        count, length = rows.shape
        blank = self._blanks.get(length)
        if blank is None:
            blank = self._blanks[length] = np.zeros((1, code.PREFIX_VALUES + self.variables), np.int64)
            blank[0, code.PREFIX_LENGTH], blank[0, code.PREFIX_LOW], blank[0, code.PREFIX_HIGH] = length, LEAST, GREATEST
        out = blank.copy() if count == 1 else blank.repeat(count, axis=0)
        out[:, code.PREFIX_VALUES : code.PREFIX_VALUES + length] = rows
        if not isinstance(stamps, int) or stamps:
            out[:, code.PREFIX_STAMP] = stamps
        return out

    def at(self, version: Words) -> Words:
        """The roots of this join's trees in a version."""
        return version[self.slots]

    def between(self, old: Words, new: Words) -> Words:
        """Roots for a telescoped delta: new for the atoms before the given one, old for those after it."""
        roots = old[self.slots]
        if len(self._before):
            roots[self._before] = new[self._slots_before]
        return roots

    def complete(
        self,
        pages: Words,
        roots: Words,
        prefixes: Words,
        recording: int = code.RECORD_NOTHING,
        first_only: bool = False,
        budget: Budget | None = None,
        judge: Words | None = None,
        distinct: bool = False,
    ) -> tuple[Words, Words]:
        """Output rows, one per binding that extends a prefix, and the sensitivity records (none without `recording`).

        `roots` as `at` and `between` give them; `first_only` takes one binding a prefix, and with `distinct` bindings may be
        left out whose output row another one gives, too. An expression without a value is
        a literal that does not hold; with `judge`, a version, EvaluationError is raised if all other literals hold
        there. Raises OverBudget when `budget` is spent.
        """
        if not recording and -1 in roots[: self._positive].tolist():
            return np.empty((0, self.width), np.int64), NO_RECORDS  # an atom of an empty relation
        if self._splits and not recording and budget is None:
            parts = self._parts(pages, roots, prefixes, first_only)
            if len(parts) > 1:
                return self._apart(pages, roots, parts, first_only, distinct), NO_RECORDS
        state = self.state
        state[: code.STATE_WORDS] = AT_FIRST
        state[code.STATE_RECORDING] = recording
        state[code.STATE_FIRST_ONLY] = code.FIRST_OF_PREFIX if first_only else self.first_of_head if distinct else code.ALL
        state[code.STATE_TRUSTED] = judge is None or self.around.failing.skip
        memo = self.around.memo
        deferred: list[Words] = []
        output: list[Words] = []
        records: list[Words] = []
        self.tally.cost += A_CALL + A_PREFIX * len(prefixes)
        done = 0
        while True:
            state[code.STATE_BUDGET] = done + (STEPS_A_CALL if budget is None else min(STEPS_A_CALL, budget.left - done))
            labels = self.around.labels() if self.encoded.compares_symbols else NO_LABELS  # calls may have given new symbols
            status = run(pages, roots, self.encoded.words, labels, memo.table, prefixes, state, self._output, self._records, self._missed)
            done = state.item(code.STATE_STEPS)
            if status == code.OUTPUT_FULL:
                self._output = _emptied(output, self._output, state, code.STATE_OUTPUT)
            elif status == code.RECORDS_FULL:
                self._records = _emptied(records, self._records, state, code.STATE_RECORDS)
            elif status == code.FAILED:
                assert judge is not None, "the kernel stops at failures only where they are judged"
                self._judge(pages, judge, prefixes)
                state[code.STATE_ERROR] = code.NO_ERROR
            elif status == code.PAUSED and budget is not None and done >= budget.left:
                self._made(done)
                raise OverBudget
            elif status == code.MISSES_FULL or (status == code.DONE and state[code.STATE_MISSED]):
                deferred.append(self._call(memo))
            if status == code.DONE:
                if not deferred:
                    break
                prefixes, deferred = np.concatenate(deferred), []
                self.tally.cost += A_PREFIX * len(prefixes)
                state[code.STATE_PREFIX], state[code.STATE_MODE] = -1, code.MODE_PREFIX
        self._made(done)
        if judge is not None:
            self.around.failing.skipped += state.item(code.STATE_FAILURES)
        rows = self._output[: state.item(code.STATE_OUTPUT)].copy()
        kept = self._records[: state[code.STATE_RECORDS]].copy() if recording else NO_RECORDS
        if len(self._output) > LASTING_BUFFER:
            self._output = np.empty((LASTING_BUFFER, self.width), np.int64)
        if len(self._records) > LASTING_BUFFER:
            self._records = np.empty((LASTING_BUFFER, self._records.shape[1]), np.int64)
        given = _together([*output, rows]) if output else rows
        self.rows += len(given)
        self.tally.cost += A_BINDING * len(given)
        return given, _together([*records, kept]) if records else kept

    def _parts(self, pages: Words, roots: Words, prefixes: Words, first_only: bool) -> list[Words]:
        """The prefixes in parts for threads, if they are worth it."""
        if len(prefixes) != 1 or prefixes[0, code.PREFIX_LENGTH] or self._key_slot < 0 or first_only:
            return split_prefixes(prefixes, self.around.threads)
        at = self.encoded.words[code.PLAN_SLOTS_AT] + self._key_slot * code.SLOT_WORDS
        columns, inner_rows = self.encoded.words[[at + code.SLOT_COLUMNS, at + code.SLOT_INNER_ROWS]].tolist()
        return split_keys(pages, int(roots[self._key_slot]), columns, inner_rows, prefixes, self.around.threads)

    def _apart(self, pages: Words, roots: Words, parts: list[Words], first_only: bool, distinct: bool) -> Words:
        """Output rows of parts, each completed by a join of its own."""
        if self.encoded.compares_symbols:
            self.around.labels()  # brought up to date by one thread only

        def complete_part(worker: tuple[Join, Budget], part: Words) -> Words:
            join, budget = worker
            return join.complete(pages, roots, part, first_only=first_only, budget=budget, distinct=distinct)[0]

        given = _together(self._crew.each(self.around.threads, parts, complete_part))
        steps = 0
        for join, _ in self._crew.workers:
            steps += join.tally.steps
            join.tally.steps = join.tally.cost = 0
        self._made(steps)
        self.rows += len(given)
        self.tally.cost += A_CALL + A_PREFIX * sum(map(len, parts)) + A_BINDING * len(given)
        return given

    def _worker(self) -> tuple[Join, Budget]:
        tally = Tally()
        return Join(self.encoded, replace(self.around, tally=tally, threads=1)), Budget(tally, ENDLESS)

    def _call(self, memo: Memo) -> Words:
        """Have the missed calls computed; returns the prefixes that were put off for them."""
        state = self.state
        held = self._missed[: state[code.STATE_MISSED]]
        behind = code.PREFIX_VALUES + self.variables
        memo.fill(held[:, behind:])
        prefixes = held[:, :behind].copy()
        if state[code.STATE_MISSED] == len(self._missed) < LARGEST_BUFFER:
            self._missed = np.empty((4 * len(self._missed), self._missed.shape[1]), np.int64)
        state[code.STATE_MISSED] = state[code.STATE_MISSED_BEFORE] = 0
        return prefixes

    def made(self, steps: int, rows: int, prefixes: int) -> None:
        """Count what was done with its plan elsewhere."""
        self.steps += steps
        self.rows += rows
        self.tally.steps += steps
        self.tally.cost += steps + A_PREFIX * prefixes + A_BINDING * rows

    def _made(self, steps: int) -> None:
        self.steps += steps
        self.tally.steps += steps
        self.tally.cost += steps

    def _judge(self, pages: Words, version: Words, prefixes: Words) -> None:
        """Raise EvaluationError if the computation that just failed is one that the rule needs (`RulePlan.late`)."""
        self.failures += 1
        state = self.state
        if not self.encoded.plan.late:  # this is a late plan: everything else holds
            self._raise(prefixes)
        given = int(prefixes[state[code.STATE_PREFIX], code.PREFIX_LENGTH])
        key = int(state[code.STATE_FAILED_DEPTH]), max(int(state[code.STATE_FAILED_BOUND]), given)
        if key not in self._late:
            self._late[key] = self.around.make(self.encoded.plan.late[key])
        late = self._late[key]
        values = np.array([[self._value(depth, prefixes) for depth in range(key[1])]], np.int64)
        late.complete(pages, late.at(version), late.prefixes(values), judge=version)

    def _value(self, depth: int, prefixes: Words) -> int:
        """The code of the variable at a depth that the prefix or the join has bound."""
        prefix = prefixes[self.state[code.STATE_PREFIX]]
        if depth < prefix[code.PREFIX_LENGTH]:
            return int(prefix[code.PREFIX_VALUES + depth])
        return int(self.state[code.STATE_WORDS + depth * code.LEVEL_WORDS + code.LEVEL_VALUE])

    def _raise(self, prefixes: Words) -> NoReturn:
        rule, order = self.encoded.plan.rule, self.encoded.plan.order
        operation, span = self.encoded.operations[int(self.state[code.STATE_ERROR_AT])]
        cause: Exception | None = None
        if self.state[code.STATE_ERROR] == code.CALL_FAILED:
            what, cause = self.around.memo.why(int(self.state[code.STATE_FAILURE]))
            what, hint = what + ",", "exclude such arguments in the body"
            self.around.memo.forget_failures()
        else:
            what, hint = PROBLEMS[int(self.state[code.STATE_ERROR])]
        bound = {
            rule.variables[order[depth]]: self.around.decode(self._value(depth, prefixes), rule.types[order[depth]])
            for depth in range(int(self.state[code.STATE_FAILED_BOUND]))
            if rule.variables[order[depth]].isidentifier()  # others stand for constants and expressions
        }
        binding = ", ".join(f"{name} = {shown(value)}" for name, value in bound.items())
        message = f"`{operation.name}` {what}" + (f" where {binding}" if binding else "")
        message = f"{message.removesuffix(',')}, in the {written_as(rule.head, rule.text)}"
        raise EvaluationError([Diagnostic(message, span.file, span.line, span.column, hint=hint)]) from cause


def _key_slot(encoded: EncodedPlan) -> int:
    """The slot of a tree that has the values of the first variable for its first column; -1 if there is none."""
    depths = encoded.plan.depths
    if not depths or depths[0].binding or not depths[0].iterators:
        return -1
    return encoded.atoms.index(depths[0].iterators[0][0])


def _ends_unseen(encoded: EncodedPlan) -> bool:
    """Whether the last variables are not part of the output, and nothing fails when they are bound."""
    return encoded.last_output < len(encoded.plan.order) - 1 and not encoded.operations


def _dismiss(worker: tuple[Join, Budget]) -> None:
    worker[1].limit = 0


def written_as(head: str, text: str) -> str:
    """What messages call the rule or the query that core rules for `head` come from."""
    return f"{'query' if head.startswith(QUERY) else 'rule'} `{text}`"


def _emptied(into: list[Words], buffer: Words, state: Words, counter: int) -> Words:
    """Keep what the buffer holds, and return another, larger one as long as that helps."""
    into.append(buffer[: state[counter]])
    state[counter] = 0
    return np.empty((min(4 * len(buffer), LARGEST_BUFFER), buffer.shape[1]), np.int64)


def _together(blocks: list[Words]) -> Words:
    """The rows of all blocks, each of which is given up as soon as it is copied: so there is not twice as much memory in use."""
    whole = np.empty((sum(map(len, blocks)), blocks[0].shape[1]), np.int64)
    end = len(whole)
    while blocks:
        block = blocks.pop()
        whole[end - len(block) : end] = block
        end -= len(block)
        del block
    return whole
