"""Classes of numbered elements under pairs that unite them: disjoint sets, by halving paths and uniting by number.

`parents` has a number for each element, at first its own. A class is named by its least element, so parents only decrease.
"""

from __future__ import annotations

from datalog.kernels.jit import NOTHING, READ1, WRITE1, WRITE2, WRITE_FLAGS, Flags, Words, device, kernel


@device
def root_of(parents: Words, element: int) -> int:
    """The least element of an element's class."""
    while parents[element] != element:
        parents[element] = parents[parents[element]]
        element = parents[element]
    return int(element)


@device
def unite_two(parents: Words, left: int, right: int) -> None:
    one = root_of(parents, left)
    other = root_of(parents, right)
    if one < other:
        parents[other] = one
    else:
        parents[one] = other


@kernel(NOTHING(READ1, READ1, WRITE1))
def unite(lefts: Words, rights: Words, parents: Words) -> None:
    """Unite the classes of each pair; then each parent is the least element of the class."""
    for pair in range(lefts.shape[0]):
        unite_two(parents, lefts[pair], rights[pair])
    for element in range(parents.shape[0]):
        parents[element] = parents[parents[element]]


@kernel(NOTHING(READ1, READ1, READ1, READ1, READ1, READ1, WRITE1, WRITE_FLAGS))
def united_before(
    lefts: Words, rights: Words, stamps: Words, ones: Words, others: Words, limits: Words, parents: Words, flags: Flags
) -> None:
    """For each question (one, other, limit): do the pairs with stamps below the limit unite the two? Both ascend, by stamp and by limit.

    An element is in a class with itself if such a pair has it; `parents` begins with -1 for elements in no pair."""
    pair = 0
    for question in range(ones.shape[0]):
        while pair < lefts.shape[0] and stamps[pair] < limits[question]:
            left, right = lefts[pair], rights[pair]
            if parents[left] < 0:
                parents[left] = left
            if parents[right] < 0:
                parents[right] = right
            unite_two(parents, left, right)
            pair += 1
        one, other = ones[question], others[question]
        known = parents[one] >= 0 and parents[other] >= 0
        flags[question] = known and root_of(parents, one) == root_of(parents, other)


@kernel(NOTHING(READ1, READ1, READ1, WRITE2))
def cross(members: Words, outer: Words, inner: Words, rows: Words) -> None:
    """The rows (x, y) for members of one run of `outer` that are not of one run of `inner` within it; there is room for just these."""
    row = 0
    start = 0
    while start < members.shape[0]:
        end = start
        while end < members.shape[0] and outer[end] == outer[start]:
            end += 1
        own = start
        while own < end:
            after = own
            while after < end and inner[after] == inner[own]:
                after += 1
            for one in range(own, after):
                for other in range(start, own):
                    rows[row, 0], rows[row, 1] = members[one], members[other]
                    row += 1
                for other in range(after, end):
                    rows[row, 0], rows[row, 1] = members[one], members[other]
                    row += 1
            own = after
        start = end
