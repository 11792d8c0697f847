"""Stamps of the rows that a binding is made of: in what round of a fixpoint they came. Section 6 of the method."""

from __future__ import annotations

from datalog.kernels.encoding import (
    CURSOR_STACK,
    CURSOR_WORDS,
    DEPTH_ITERATORS,
    DEPTH_ITERATORS_END,
    DEPTH_WORDS,
    ITERATOR_STAMPS,
    ITERATOR_WORDS,
    PLAN_DEPTHS_AT,
    PLAN_ITERATORS,
    PLAN_ITERATORS_AT,
    PLAN_OLDER,
    PREFIX_STAMP,
    STATE_PREFIX,
)
from datalog.kernels.jit import Words, device


@device
def is_older(pages: Words, plan: Words, prefixes: Words, state: Words, depth: int, cursors: int) -> bool:
    """Are the rows that the depth's stamped iterators stand on older than the prefix's stamp?"""
    if plan[PLAN_OLDER] == 0:
        return True
    row = plan[PLAN_DEPTHS_AT] + depth * DEPTH_WORDS
    for iterator in range(plan[row + DEPTH_ITERATORS], plan[row + DEPTH_ITERATORS_END]):
        stamps = plan[plan[PLAN_ITERATORS_AT] + iterator * ITERATOR_WORDS + ITERATOR_STAMPS]
        if stamps >= 0:
            at = cursors + iterator * CURSOR_WORDS + CURSOR_STACK
            if pages[state[at], stamps + state[at + 1]] >= prefixes[state[STATE_PREFIX], PREFIX_STAMP]:
                return False
    return True


@device
def youngest_premise(pages: Words, plan: Words, prefixes: Words, state: Words, cursors: int) -> int:
    """The greatest of the prefix's stamp and the stamps of the rows that the binding is made of."""
    youngest = prefixes[state[STATE_PREFIX], PREFIX_STAMP]
    for iterator in range(plan[PLAN_ITERATORS]):
        stamps = plan[plan[PLAN_ITERATORS_AT] + iterator * ITERATOR_WORDS + ITERATOR_STAMPS]
        if stamps >= 0:
            at = cursors + iterator * CURSOR_WORDS + CURSOR_STACK
            youngest = max(youngest, pages[state[at], stamps + state[at + 1]])
    return int(youngest)
