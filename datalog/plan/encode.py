"""Encoding: a rule's plan and the trees that it reads, as the flat int64 array that the join kernel interprets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from datalog.ir.core import Apply, CoreBinding, CoreFilter, Type, Value
from datalog.kernels import encoding as code
from datalog.kernels.layout import HEADER
from datalog.plan.order import generates
from datalog.plan.postfix import Encode, Number, Postfix
from datalog.plan.rule import AtomPlan, RulePlan
from datalog.syntax.tree import Span

Shape = Callable[[str, tuple[int, ...]], tuple[int, int, int, int]]  # → tree, key columns, rows of a leaf, of an inner page

YOUNGEST = -1  # in place of a variable of the output

OPERATORS = {
    "=": code.EQUAL,
    "!=": code.NOT_EQUAL,
    "<": code.LESS,
    "<=": code.LESS_EQUAL,
    ">": code.GREATER,
    ">=": code.GREATER_EQUAL,
}


@dataclass(frozen=True, slots=True)
class EncodedPlan:
    """`words` for the kernel; `slots` names the tree of each slot; `operations` maps code offsets back to the rule."""

    plan: RulePlan
    words: NDArray[np.int64]
    slots: tuple[int, ...]
    atoms: tuple[AtomPlan, ...]  # the atom that reads each slot
    operations: dict[int, tuple[Apply, Span]]
    width: int  # of an output row
    last_output: int  # the greatest depth whose variable it has, or -1
    state_words: int
    compares_symbols: bool
    arguments: int  # the most that a function is called with


class _Encoder:
    def __init__(self, plan: RulePlan, encode: Encode, number: Number, wraps: bool) -> None:
        self.plan = plan
        self.depth_of = {variable: depth for depth, variable in enumerate(plan.order)}
        self.code = Postfix(encode, number, self.depth_of, wraps)
        self.compares_symbols = False

    def check(self, check: CoreFilter) -> list[int]:
        if generates(check.right):
            true = Value(1, Type.NUMBER)
            return [code.EQUAL, self.code.within(check.left, check.right), self.code.expression(true), 0]
        by_label = check.operator not in ("=", "!=") and check.left.type is Type.SYMBOL
        self.compares_symbols = self.compares_symbols or by_label
        return [OPERATORS[check.operator], self.code.expression(check.left), self.code.expression(check.right), int(by_label)]

    def numbers(self, numbers: tuple[int, ...]) -> int:
        at = len(self.code.words)
        self.code.words.extend(numbers)
        return at


def encode_plan(
    plan: RulePlan, encode: Encode, number: Number, shape: Shape, output: Sequence[int] | None = None, wraps: bool = False
) -> EncodedPlan:
    """Encode `plan`. `encode` gives the code of a constant, `number` the number of a function that the kernel does not
    compute, `shape` the tree that serves an atom's columns.

    `output` lists the variables that make up an output row: the head's, unless said otherwise; YOUNGEST is the greatest
    stamp of the prefix and of the plan's stamped atoms. With `wraps` arithmetic is that of the machine (`CoreProgram.wraps`).
    """
    out = _Encoder(plan, encode, number, wraps)
    atoms = (*plan.positive, *plan.negated)
    slot_of = {atom.number: slot for slot, atom in enumerate(atoms)}
    shapes = [shape(atom.predicate, atom.columns) for atom in atoms]
    columns = plan.rule.head_columns if output is None else output
    stamps_count = plan.older or YOUNGEST in columns
    depth_rows: list[list[int]] = []
    tight = 0
    iterators: list[list[int]] = []
    iterator_of: dict[tuple[int, int], int] = {}
    checks: list[list[int]] = []
    negations: list[list[int]] = []
    for depth in plan.depths:
        first_iterator, first_check, first_negation = len(iterators), len(checks), len(negations)
        binding = out.code.expression(depth.binding.expression) if depth.binding else -1
        for atom, level in depth.iterators:
            iterator_of[atom.number, level] = len(iterators)
            parent = iterator_of[atom.number, level - 1] if level else -1
            stamped = stamps_count and atom.number in plan.stamped and level == len(atom.depths) - 1
            stamps = _stamps_at(shapes[slot_of[atom.number]]) if stamped else -1
            iterators.append([slot_of[atom.number], level, parent, out.numbers(atom.depths[:level]), stamps])
        for bound in depth.bounds:
            checks.append([OPERATORS[bound.operator], -1, out.code.expression(bound.expression), 0])
        bounds_end = len(checks)
        checks += [out.check(check) for check in depth.filters]
        filters_end = len(checks)
        checks += [out.check(check) for check in depth.fallible]
        for atom in depth.negations:
            negations.append([slot_of[atom.number], len(atom.depths), out.numbers(atom.depths)])
        iterator_span = (first_iterator, len(iterators))
        check_spans = (first_check, bounds_end, bounds_end, filters_end, filters_end, len(checks))
        joined = depth.binding is None and not depth.bounds
        by_stamp = any(iterator[code.ITERATOR_STAMPS] >= 0 for iterator in iterators[first_iterator:])
        checked = len(checks) > bounds_end or len(negations) > first_negation or (plan.older and by_stamp)
        negation_span = (first_negation, len(negations))
        depth_rows.append([binding, *iterator_span, *check_spans, *negation_span, _gives(depth.binding), joined, checked])
        tight = 0 if depth.binding or checked or by_stamp or len(depth.iterators) > 2 else len(depth.iterators)
    depths_out = [-1 if variable == YOUNGEST else out.depth_of[variable] for variable in columns]
    last_column = depths_out.index(len(depth_rows) - 1) if depth_rows and len(depth_rows) - 1 in depths_out else -1
    innermost = [tight, last_column]
    words, code_at = _lay_out(out, depth_rows, iterators, checks, negations, [list(s[1:]) for s in shapes], depths_out, innermost)
    return EncodedPlan(
        plan,
        words,
        tuple(tree for tree, *_ in shapes),
        atoms,
        {code_at + at: operation for at, operation in out.code.operations.items()},
        len(depths_out),
        max(depths_out, default=-1),
        code.STATE_WORDS + len(depth_rows) * code.LEVEL_WORDS + len(iterators) * code.CURSOR_WORDS + out.code.deepest + 1,
        out.compares_symbols,
        out.code.arguments,
    )


def _gives(binding: CoreBinding | None) -> int:
    if binding is not None and generates(binding.expression):
        return code.GIVES_FLOATS if binding.expression.type is Type.FLOAT else code.GIVES_RANGE
    return code.GIVES_CANDIDATE if binding is not None and binding.inverse else code.GIVES_VALUE


def _lay_out(
    out: _Encoder,
    depths: list[list[int]],
    iterators: list[list[int]],
    checks: list[list[int]],
    negations: list[list[int]],
    slots: list[list[int]],
    output: list[int],
    innermost: list[int],
) -> tuple[NDArray[np.int64], int]:
    """Concatenate the sections behind the header, making offsets into the code section absolute."""
    sections = [depths, iterators, checks, negations, slots, [output]]
    starts = [code.PLAN_HEADER]
    for section in sections:
        starts.append(starts[-1] + sum(len(row) for row in section))
    code_at = starts[-1]
    for row in depths:
        row[code.DEPTH_BINDING] += code_at if row[code.DEPTH_BINDING] >= 0 else 0
    for row in iterators:
        row[code.ITERATOR_PREFIX_AT] += code_at
    for row in checks:
        row[code.CHECK_LEFT] += code_at
        row[code.CHECK_RIGHT] += code_at
    for row in negations:
        row[code.NEGATION_VALUES_AT] += code_at
    header = [len(depths), len(iterators), *starts[:6], len(output), len(negations), out.code.deepest, int(out.plan.older)]
    header += innermost
    words = header + [word for section in sections for row in section for word in row] + out.code.words
    return np.array(words, dtype=np.int64), code_at


def _stamps_at(shape: tuple[int, int, int, int]) -> int:
    """The word of a leaf at which the payload column begins."""
    _, columns, rows, _ = shape
    return HEADER + columns * rows
