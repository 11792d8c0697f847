"""The classes of an equivalence: which rows come when pairs unite them, and which go when pairs that held them together are lost.

A class is kept as its rows (x, y), all of them, so that joins read an equivalence as they read any relation; those that begin with x
are the members of its class. A class of k elements has k² rows. What is done here takes time in proportion to the rows that come
or go, and to the pairs within the classes that lose some.
"""

from __future__ import annotations

import numpy as np

from datalog.errors import InternalError
from datalog.evaluate.join import Budget, OverBudget
from datalog.kernels import classes as kernels
from datalog.kernels.jit import Flags, Words
from datalog.store.ranges import Ranges
from datalog.store.storage import Storage
from datalog.store.tally import A_BINDING, Tally

FEW = 16  # pairs that are looked at one by one
NO_ROWS = np.empty((0, 2), np.int64)


def closure_of(pairs: Words, tally: Tally) -> Words:
    """The rows of the least equivalence on the elements of `pairs` that holds them. Distinct, not sorted. O(k²) for classes of k."""
    elements, numbers = _numbered(pairs)
    roots = _united(numbers, len(elements))
    order = np.argsort(roots, kind="stable")
    found = _crossing(elements[order], roots[order], order, tally)
    return np.concatenate((found, np.column_stack((elements, elements))))


class Classes:
    """The classes of the relation `head` that are touched, as far as they have been looked at: those are not read again.

    They are read in the running version, or in another one. The rows that `split` gives go and those that `merge` gives come; both are to
    be applied to the relation in the end."""

    def __init__(self, storage: Storage, head: str, budget: Budget | None = None, version: Words | None = None) -> None:
        self._storage, self._head, self._budget, self._version = storage, head, budget, version
        self._labels: dict[int, int] = {}  # by element; a label is an element of its class
        self._members: dict[int, Words] = {}  # by label
        self._without: set[int] = set()  # elements that were in a class and are in none

    def merge(self, pairs: Words) -> Words:
        """The rows that come when the classes of each pair become one; an element that is in none is one. Distinct, not sorted."""
        elements, numbers = _numbered(pairs)
        fresh = self._look_at(elements)
        known, places = np.unique(self.label_of_each(elements), return_inverse=True)
        roots = _united(places.reshape(-1)[numbers], len(known))
        order = np.argsort(roots, kind="stable")
        several = (np.bincount(roots, minlength=len(known)) > 1)[roots[order]]
        order = order[several]
        own = np.column_stack((fresh, fresh))
        if not len(order):
            return own
        labels, outer = known[order], roots[order]
        joined = [self._members[label] for label in labels.tolist()]
        sizes = np.array([len(members) for members in joined])
        members = np.concatenate(joined)
        rows = _crossing(members, np.repeat(outer, sizes), np.repeat(order, sizes), self._storage.tally, self._budget)
        self._join(labels, outer, sizes, members)
        return np.concatenate((rows, own))

    def split(self, gone: Words, pairs: Ranges) -> Words:
        """The rows that go with pairs that are gone; `pairs` has those that are there now. Distinct, not sorted.

        Of few pairs it is first seen whether their elements have a neighbour in common, as they mostly do where there are many pairs: then
        they hold nothing together that others do not."""
        if len(gone) <= FEW:
            gone = gone[[not _are_close(one, other, pairs) for one, other in gone.tolist()]]
        if not len(gone):
            return NO_ROWS
        labels = self.labels_of(np.unique(gone))
        members, outer = self.members_of(labels)
        left, held = pairs_within(members, pairs)
        roots = _united(left, len(members))
        order = np.lexsort((roots, outer))
        members, outer, inner, held = members[order], outer[order], roots[order], held[order]
        rows = _crossing(members, outer, inner, self._storage.tally, self._budget)
        for label in labels.tolist():
            for element in self._members.pop(label).tolist():
                del self._labels[element]
        for part in np.split(members[held], np.flatnonzero(_changes(outer[held], inner[held]))[1:]):
            self._name(part)
        lone = members[~held]
        self._without.update(lone.tolist())
        return np.concatenate((rows, np.column_stack((lone, lone))))

    def labels_of(self, elements: Words) -> Words:
        """The distinct classes of elements, by their labels. InternalError if one is in no class."""
        if len(self._look_at(elements)):
            raise InternalError(f"{self._head}: an element of a pair is in no class")
        return np.array(sorted({self._labels[element] for element in elements.tolist()}), np.int64)

    def label_of_each(self, elements: Words) -> Words:
        """The label of the class of each of the elements, whose classes are known."""
        return np.array([self._labels[element] for element in elements.tolist()], np.int64)

    def members_of(self, labels: Words) -> tuple[Words, Words]:
        """The members of classes, ascending, and the label of the class of each."""
        classes = [self._members[label] for label in labels.tolist()]
        members, outer = np.concatenate(classes), np.repeat(labels, np.array([len(one) for one in classes]))
        order = np.argsort(members)
        return members[order], outer[order]

    def _look_at(self, elements: Words) -> Words:
        """Know the classes of elements. Returns those that were in none, each of which now is one."""
        unknown = np.array([element for element in elements.tolist() if element not in self._labels], np.int64).reshape(-1, 1)
        if not len(unknown):
            return unknown[:, 0]
        ranges = ranges_of(self._storage, self._head, self._version)
        there, firsts = ranges.select(unknown, unknown, 1)
        if self._without:
            there &= np.array([element not in self._without for element in unknown[:, 0].tolist()])
        least = np.unique(firsts[there, 1]).reshape(-1, 1)
        found = ranges.rows(least, least)
        for part in np.split(found.rows[:, 1], np.flatnonzero(_changes(found.which))[1:]):
            self._name(part)
        fresh: Words = unknown[~there, 0]
        for place in range(len(fresh)):
            self._name(fresh[place : place + 1])
        return fresh

    def _name(self, members: Words) -> None:
        if len(members):
            label = int(members[0])
            self._members[label] = members
            self._labels.update(dict.fromkeys(members.tolist(), label))

    def _join(self, labels: Words, roots: Words, sizes: Words, members: Words) -> None:
        """Make each run of classes with one root one class, which has the label of the largest."""
        starts = np.flatnonzero(_changes(roots)).tolist()
        ends = [0, *np.cumsum(sizes).tolist()]
        for start, end in zip(starts, [*starts[1:], len(roots)], strict=True):
            kept = int(labels[start + int(np.argmax(sizes[start:end]))])
            for label in labels[start:end].tolist():
                if label != kept:
                    self._labels.update(dict.fromkeys(self._members.pop(label).tolist(), kept))
            self._members[kept] = members[ends[start] : ends[end]]


def ranges_of(storage: Storage, predicate: str, version: Words | None = None) -> Ranges:
    """The ranges of a binary predicate's rows by their first elements, in the running version or in another one."""
    kept = storage.serving(predicate, (0, 1))
    if kept is None:
        raise InternalError(f"{predicate} is not arranged by its elements")
    return Ranges(kept.tree, int((storage.roots if version is None else version)[kept.number]), storage.tally)


def pairs_within(members: Words, pairs: Ranges) -> tuple[Words, Flags]:
    """The pairs whose elements both are among the ascending `members`, by their places there, and which members some pair has."""
    ends = members.reshape(-1, 1)
    found = pairs.rows(ends, ends)
    places = np.searchsorted(members, found.rows[:, 1])
    within = members[np.minimum(places, len(members) - 1)] == found.rows[:, 1]
    held = np.zeros(len(members), np.bool_)
    held[found.which] = True
    held[places[within]] = True
    return np.column_stack((found.which[within], places[within])), held


def _are_close(one: int, other: int, pairs: Ranges) -> bool:
    """Whether pairs join the two elements directly or by a third one, as far as pairs tell that begin with one of the two."""
    ends = np.array([[one], [other]])
    found = pairs.rows(ends, ends)
    after, behind = found.rows[found.which == 0, 1], found.rows[found.which == 1, 1]
    if one == other:
        return len(after) > 0
    if len(np.intersect1d(after, behind, assume_unique=True)):
        return True
    steps = np.concatenate((_beside(after, other), _beside(behind, one), [[one, other], [other, one]]))
    return bool((pairs.fold(steps, steps)[1] > 0).any())


def _beside(elements: Words, other: int) -> Words:
    """The pairs that would join each of the elements to another one."""
    pairs = np.column_stack((elements, np.full(len(elements), other)))
    return np.concatenate((pairs, pairs[:, ::-1]))


def _numbered(pairs: Words) -> tuple[Words, Words]:
    """The elements of pairs, ascending, and the pairs by their places there."""
    elements, places = np.unique(pairs, return_inverse=True)
    return elements, places.reshape(-1, 2)


def _united(pairs: Words, count: int) -> Words:
    """For each of so many elements the least one of its class."""
    parents = np.arange(count)
    lefts, rights = np.ascontiguousarray(pairs.T)
    kernels.unite(lefts, rights, parents)
    return parents


def _crossing(members: Words, outer: Words, inner: Words, tally: Tally, budget: Budget | None = None) -> Words:
    """The rows (x, y) for members of one run of `outer` that are of different runs of `inner`."""
    outside, inside = _changes(outer), _changes(outer, inner)
    count = _squares(outside) - _squares(inside)
    if budget is not None and A_BINDING * count > budget.left:
        raise OverBudget
    tally.cost += A_BINDING * count
    rows = np.empty((count, 2), np.int64)
    if count:
        kernels.cross(members, np.cumsum(outside), np.cumsum(inside), rows)
    return rows


def _changes(*columns: Words) -> Flags:
    """Where runs of equal rows begin."""
    begins = np.ones(len(columns[0]), np.bool_)
    if len(begins):
        begins[1:] = False
        for column in columns:
            begins[1:] |= column[1:] != column[:-1]
    return begins


def _squares(begins: Flags) -> int:
    """The sum of the squares of the runs' sizes."""
    sizes = np.diff(np.append(np.flatnonzero(begins), len(begins)))
    return int(np.dot(sizes, sizes))
