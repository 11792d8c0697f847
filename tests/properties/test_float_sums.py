"""Sums and means of floats: the same bits whatever the order of the changes, those of the exact sum rounded once."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from datalog import Database
from tests.oracle.aggregates import aggregate

Row = tuple[int, int, float]
PROGRAM = """
.decl v(group: number, key: number, value: float)
.decl total(group: number, value: float)
.decl average(group: number) = value: float
total(g, s) :- v(g, _, _), s = sum x : { v(g, _, x) }.
average[g] = m <- agg<<m = mean(x)>> v(g, _, x).
"""
WIDE = [1e300, 1e-300, 5e-324, 1.7976931348623157e308, 1.0, 2.0**53, 1e16, 0.1, -0.1]
SCALE = 1074  # every finite float is an integer times 2^-1074

finite = st.floats(allow_nan=False, allow_infinity=False, width=64) | st.sampled_from([*WIDE, *(-value for value in WIDE)])


def bits(value: Any) -> bytes:
    return struct.pack(">d", value)


def expected(rows: set[Row], function: str) -> dict[int, bytes]:
    groups: dict[int, list[tuple[float]]] = {}
    for group, _, value in rows:
        groups.setdefault(group, []).append((value,))
    return {group: bits(aggregate(function, values, "float")) for group, values in groups.items()}


def assert_exact(db: Any, rows: set[Row]) -> None:
    assert {group: bits(value) for group, value in db["total"]} == expected(rows, "sum")
    assert {group: bits(value) for group, value in db["average"]} == expected(rows, "mean")


def change(db: Any, old: set[Row], new: set[Row]) -> None:
    with db.transaction() as tx:
        tx.delete("v", sorted(old - new))
        tx.insert("v", sorted(new - old))


@settings(max_examples=30)
@given(values=st.lists(st.tuples(st.integers(0, 1), finite), min_size=1, max_size=8), random=st.randoms(use_true_random=False))
def test_sums_of_floats_keep_their_bits_under_permuted_and_undone_changes(values: list[tuple[int, float]], random: Random) -> None:
    rows = [(group, key, value + 0.0) for key, (group, value) in enumerate(values)]
    db = Database(PROGRAM, rows_per_page=4)
    states: list[set[Row]] = [set()]
    for row in random.sample(rows, len(rows)):
        states.append(states[-1] | {row})
    for row in random.sample(rows, len(rows) // 2):
        states.append(states[-1] - {row})
    for old, new in zip((*states, *states[:0:-1]), (*states[1:], *states[::-1]), strict=False):
        change(db, old, new)
        assert_exact(db, new)
    db.check()


def exact_sum(values: Sequence[float]) -> float:
    """Rounded once, by integers in units of the least float."""
    total = 0
    for value in values:
        numerator, denominator = value.as_integer_ratio()
        total += numerator << (SCALE - denominator.bit_length() + 1)
    return total / (1 << SCALE)


def test_a_hundred_thousand_floats_from_1e_300_to_1e300_add_up_exactly_on_every_way() -> None:
    random = Random(4)
    rows = [(0, key, random.choice((-1, 1)) * random.uniform(1, 10) * 10.0 ** random.randint(-300, 299)) for key in range(100_000)]
    greatest = sorted(rows, key=lambda row: -abs(row[2]))[:90_000]  # without them, small ones decide
    whole, rest = set(rows), set(rows) - set(greatest)
    forward, backward = Database(PROGRAM), Database(PROGRAM)
    shuffled = random.sample(rows, len(rows))
    change(forward, set(), whole)
    for first in range(0, len(rows), 20_000):
        with backward.transaction() as tx:
            tx.insert("v", shuffled[first : first + 20_000])
    before = whole
    for state in (whole, rest, whole, {rows[7]}, rest):
        sums: list[bytes] = []
        for db in (forward, backward):
            change(db, before, state)
            sums += [bits(value) for _, value in db["total"]]
        assert sums == [bits(exact_sum([value for _, _, value in state]))] * 2
        before = state
