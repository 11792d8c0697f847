"""The index of sensitivity records against the `intervaltree` package: which intervals hold a point."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from intervaltree import IntervalTree

from datalog.kernels import encoding as code
from datalog.kernels.sensitivities import SCRATCH_WORDS, stab
from datalog.store.btree import GREATEST_PAYLOAD, MAX, BTree
from datalog.store.pool import PagePool
from tests.kernels.blocks import block, examples


@settings(max_examples=examples(80))
@given(seed=st.integers(0, 10**6), count=st.sampled_from([0, 1, 30, 600]), per_page=st.sampled_from([3, 4, None]))
@pytest.mark.parametrize("bulk", [True, False], ids=["built", "planted"])
def test_a_point_hits_the_records_whose_intervals_an_interval_tree_finds(bulk: bool, seed: int, count: int, per_page: int | None) -> None:
    """Records (a, γ) with end b of an atom's first level; each context γ has one interval [a, b]."""
    random = Random(seed)
    pool = PagePool(rows_per_page=per_page)
    records, changed = BTree(pool, 2, payload=True, scan=GREATEST_PAYLOAD), BTree(pool, 1)
    model, keyed = IntervalTree(), {}
    for context in range(count):
        low = random.randrange(1_000)
        high = low + random.choice([0, 3, 50, 1_000])
        model.addi(low, high + 1, context)  # the package's intervals are half open
        keyed[low, context] = high
    rows, ends = block(sorted(keyed), 2), np.array([keyed[key] for key in sorted(keyed)], np.int64)
    pool.begin()
    root = records.build(rows, ends) if bulk else records.apply(-1, rows, ends, MAX)[0]
    points = sorted({random.randrange(1_200) for _ in range(20)})
    roots = np.array([-1, changed.build(block([(point,) for point in points], 1)), root], np.int64)
    pool.commit()
    expected = [(point, interval.data) for point in points for interval in sorted(model.at(point), key=lambda one: (one.begin, one.data))]
    regions = np.zeros((len(expected) + 1, code.PREFIX_VALUES + 2), np.int64)
    path, watch = np.zeros(SCRATCH_WORDS, np.int64), np.array([0, 1, 0], np.int64)
    rows = block([(point,) for point in points], 1)
    found = stab(pool.pages, changed.shape, records.shape, roots, rows, watch, path, regions)
    assert found == len(expected)
    hits = [(int(region[code.PREFIX_LOW]), int(region[code.PREFIX_VALUES])) for region in regions[:found]]
    assert hits == expected
