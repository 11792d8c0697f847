"""The change oracle's kernels against loops over all records: which records a change hits, and which regions are left after merging."""

from __future__ import annotations

from random import Random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from datalog.kernels import encoding as code
from datalog.kernels.sensitivities import SCRATCH_WORDS, merge_regions, stab
from datalog.store.btree import GREATEST_PAYLOAD, BTree
from datalog.store.pool import PagePool
from tests.kernels.blocks import GREATEST, LEAST, Block, Row, block, examples, tuples

PAGES = st.sampled_from([3, 4, None])
WORDS = [*range(5), LEAST, GREATEST]


class Case:
    """A watch with its records, and an arrangement before and after a change."""

    def __init__(self, random: Random, per_page: int | None, size: int) -> None:
        self.width = random.randint(1, 3)
        self.level = random.randrange(self.width)
        self.depth = self.level + random.randint(0, 2)
        self.depths = random.sample(range(self.depth), self.depth)
        self.old = {self._row(random, self.width) for _ in range(random.randint(0, size))}
        self.changed = {self._row(random, self.width) for _ in range(random.randint(1, 6))}
        self.changed |= set(random.sample(sorted(self.old), min(len(self.old), random.randint(0, 4))))
        self.new = self.old ^ self.changed
        self.records: dict[Row, int] = {}
        for _ in range(random.randint(0, size)):
            key = self._row(random, self.depth + 1)
            self.records[key] = max(key[self.level], random.choice(WORDS))
        pool = PagePool(rows_per_page=per_page)
        self.tree, self.watched = BTree(pool, self.depth + 1, payload=True, scan=GREATEST_PAYLOAD), BTree(pool, self.width)
        pool.begin()
        keys = sorted(self.records)
        roots = [self.watched.build(block(sorted(rows), self.width)) for rows in (self.old, self.new)]
        roots.append(self.tree.build(block(keys, self.depth + 1), np.array([self.records[key] for key in keys], np.int64)))
        pool.commit()
        self.roots, self.pages = np.array(roots, np.int64), pool.pages

    def _row(self, random: Random, width: int) -> Row:
        return tuple(random.choice(WORDS) for _ in range(width))

    def stab(self, room: int) -> tuple[int, list[Row]]:
        regions = np.zeros((room, code.PREFIX_VALUES + self.depth + 1), np.int64)
        watch = np.array([self.level, self.depth, *self.depths], np.int64)
        rows, path = block(sorted(self.changed), self.width), np.zeros(SCRATCH_WORDS, np.int64)
        count = stab(self.pages, self.watched.shape, self.tree.shape, self.roots, rows, watch, path, regions)
        return int(count), tuples(regions[:count])

    def expected(self) -> list[Row]:
        """For every trie node born or dead at the watch's level, a region for every record of its α that holds its key."""
        found = []
        nodes = [{row[: self.level + 1] for row in rows} for rows in (self.old, self.new)]
        for *alpha, key in sorted(nodes[0] ^ nodes[1]):
            for record, end in sorted(self.records.items()):
                if list(record[: self.level]) == alpha and record[self.level] <= key <= end:
                    context = [0] * (self.depth + 1)
                    for place, value in zip(self.depths, record[: self.level] + record[self.level + 1 :], strict=True):
                        context[place] = value
                    found.append((self.depth, key, key, 0, *context))
        return found


@settings(max_examples=examples(400))
@given(seed=st.integers(0, 10**6), per_page=PAGES, size=st.sampled_from([5, 40, 300]))
def test_a_change_hits_exactly_the_records_whose_intervals_hold_it(seed: int, per_page: int | None, size: int) -> None:
    case = Case(Random(seed), per_page, size)
    expected = case.expected()
    assert case.stab(len(expected) + 1) == (len(expected), expected)


@settings(max_examples=examples(60))
@given(seed=st.integers(0, 10**6), room=st.integers(0, 3))
def test_regions_that_do_not_fit_are_counted(seed: int, room: int) -> None:
    case = Case(Random(seed), 4, 40)
    expected = case.expected()
    count, regions = case.stab(room)
    assert count == len(expected)
    assert regions == expected[:room]


def test_a_row_whose_trie_node_stays_hits_nothing() -> None:
    pool = PagePool()
    watched, records = BTree(pool, 2), BTree(pool, 1, payload=True, scan=GREATEST_PAYLOAD)
    pool.begin()
    old, new = (watched.build(block(rows, 2)) for rows in ([(1, 1), (1, 2)], [(1, 2), (1, 3)]))
    roots = np.array([old, new, records.build(block([(LEAST,)], 1), np.array([GREATEST]))], np.int64)
    pool.commit()
    regions, rows = np.zeros((4, code.PREFIX_VALUES + 1), np.int64), block([(1, 1), (1, 3)], 2)
    path = np.zeros(SCRATCH_WORDS, np.int64)
    assert stab(pool.pages, watched.shape, records.shape, roots, rows, np.array([0, 0]), path, regions) == 0


def merged(regions: Block) -> list[Row]:
    out = np.empty_like(regions)
    count = merge_regions(regions, np.empty((2, len(regions)), np.int64), out)
    return tuples(out[:count])


def place(region: Row) -> Row:
    """The values that a region fixes: its prefix and its one key."""
    return (*region[code.PREFIX_VALUES : code.PREFIX_VALUES + region[code.PREFIX_LENGTH]], region[code.PREFIX_LOW])


@settings(max_examples=examples(300))
@given(places=st.lists(st.lists(st.sampled_from([0, 1, 2, LEAST, GREATEST]), min_size=1, max_size=3), max_size=25))
def test_merging_leaves_the_regions_that_lie_in_no_other_one_in_order(places: list[list[int]]) -> None:
    regions = np.full((len(places), code.PREFIX_VALUES + 3), 9, np.int64)
    for row, (*values, key) in zip(regions, places, strict=True):
        row[: code.PREFIX_VALUES] = len(values), key, key, 0
        row[code.PREFIX_VALUES : code.PREFIX_VALUES + len(values)] = values
    distinct = {tuple(values) for values in places}
    left = sorted(one for one in distinct if not any(one[: len(other)] == other for other in distinct - {one}))
    assert [place(region) for region in merged(regions)] == left
