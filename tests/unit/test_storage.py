"""Storage: all arrangements of a predicate hold the same rows, whatever they carry, and versions are kept apart."""

from __future__ import annotations

from itertools import permutations
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datalog.errors import InternalError
from datalog.store.pool import PagePool
from datalog.store.storage import COUNTING, Delta, Payload, Storage
from tests.kernels.blocks import Block, Row, block, examples, tuples

ORDERS = list(permutations(range(3)))
Model = dict[Row, int]


def signed(rows: dict[Row, int], random: Random) -> tuple[Block, Block]:
    """Rows with weights, in any order."""
    listed = list(rows.items())
    random.shuffle(listed)
    return block([row for row, _ in listed], 3), np.array([weight for _, weight in listed], np.int64)


def expected(model: Model, payload: Payload, rows: dict[Row, int]) -> tuple[Model, set[Row], set[Row]]:
    after = dict(model)
    for row, weight in rows.items():
        if payload in COUNTING:
            after[row] = after.get(row, 0) + weight
            if after[row] == 0:
                del after[row]
        elif weight > 0:
            after.setdefault(row, weight)
        elif weight < 0:
            after.pop(row, None)
    return after, after.keys() - model.keys(), model.keys() - after.keys()


def check(storage: Storage, payload: Payload, model: Model, roots: Block) -> None:
    assert set(tuples(storage.rows("p", roots))) == set(model) and storage.size("p", roots) == len(model)
    for place, arrangement in enumerate(storage.arrangements["p"]):
        root = int(roots[arrangement.number])
        arrangement.tree.check(root)
        assert set(tuples(arrangement.declared(arrangement.tree.export(root)))) == set(model)
        if payload == "stamps" or (payload in COUNTING and place == 0):
            rows, carried = arrangement.tree.export_with_payload(root)
            assert dict(zip(tuples(arrangement.declared(rows)), carried.tolist(), strict=True)) == model


def added(delta: Delta) -> Model:
    """By how much counts changed, as far as the delta tells it."""
    return {} if delta.counted is None else dict(zip(tuples(delta.counted[0]), delta.counted[1].tolist(), strict=True))


@settings(max_examples=examples(80))
@given(seed=st.integers(0, 10**6), payload=st.sampled_from(["nothing", "counts", "totals", "stamps"]), per_page=st.sampled_from([3, None]))
def test_changes_reach_all_arrangements_and_are_reported_exactly(seed: int, payload: Payload, per_page: int | None) -> None:
    random = Random(seed)
    storage = Storage(PagePool(rows_per_page=per_page))
    storage.arrange("p", random.sample(ORDERS, random.randint(1, 3)), payload)
    model: Model = {}
    versions = []
    for number in range(8):
        storage.begin()
        rows = {tuple(random.randrange(4) for _ in range(3)): random.randint(1, 3) for _ in range(random.choice([1, 5, 40]))}
        for row, count in random.sample(sorted(model.items()), min(len(model), random.choice([0, 3, 20]))):
            rows[row] = -count
        after, came, went = expected(model, payload, rows)
        delta = storage.change("p", *signed(rows, random))
        assert (set(tuples(delta.inserted)), set(tuples(delta.deleted))) == (came, went)
        assert len(delta) == (len(rows) if payload == "totals" else len(came) + len(went))
        assert added(delta) == (rows if payload == "totals" else {})
        check(storage, payload, after, storage.roots)
        if number == 4 and len(storage.arrangements["p"]) < 5:
            storage.add_arrangement("p", next(o for o in ORDERS if o not in [a.columns for a in storage.arrangements["p"]]))
            check(storage, payload, after, storage.roots)
        if random.random() < 0.3 and number != 4:
            storage.abort()
        else:
            storage.commit()
            model = after
            versions.append((storage.pool.pin(), storage.committed, after))
        check(storage, payload, model, storage.committed)
    for earlier, (_, old, was) in enumerate(versions):
        first = storage.arrangements["p"][0]
        assert set(tuples(storage.rows("p", old))) == set(was), "an old version is what it was"
        for _, new, is_ in versions[earlier:]:
            difference = storage.difference("p", old, new)
            assert set(tuples(difference.inserted)) == is_.keys() - was.keys()
            assert set(tuples(difference.deleted)) == was.keys() - is_.keys()
            changes = {row: is_.get(row, 0) - was.get(row, 0) for row in is_.keys() | was.keys()}
            assert added(difference) == ({row: change for row, change in changes.items() if change} if payload == "totals" else {})
        assert first.tree.size(int(old[first.number])) == len(was)


@settings(max_examples=examples(80))
@given(seed=st.integers(0, 10**6))
def test_node_changes_are_the_values_that_some_row_has_now_and_none_had_and_the_other_way_round(seed: int) -> None:
    random = Random(seed)
    storage = Storage(PagePool(rows_per_page=4))
    order = random.choice(ORDERS)
    storage.arrange("p", [order])
    before = {tuple(random.randrange(3) for _ in range(3)) for _ in range(random.randint(0, 20))}
    storage.begin()
    storage.replace("p", block(sorted(before), 3))
    storage.commit()
    old = storage.committed
    changes = {tuple(random.randrange(3) for _ in range(3)): random.choice([-1, 1]) for _ in range(random.randint(1, 8))}
    storage.begin()
    delta = storage.change("p", *signed(changes, random))
    storage.commit()
    after, _, _ = expected(dict.fromkeys(before, 1), "nothing", changes)
    for length in range(1, 4):
        for columns in permutations(order[:length]):
            had = {tuple(row[c] for c in columns) for row in before}
            has = {tuple(row[c] for c in columns) for row in after}
            born, died = storage.node_changes("p", delta, columns, old, storage.committed)
            assert (sorted(tuples(born)), sorted(tuples(died))) == (sorted(has - had), sorted(had - has))


def test_a_count_never_becomes_negative() -> None:
    storage = Storage(PagePool())
    storage.arrange("p", [(0, 1, 2)], "counts")
    storage.begin()
    storage.change("p", block([(1, 2, 3)], 3), np.array([2]))
    with pytest.raises(InternalError, match="negative"):
        storage.change("p", block([(1, 2, 3)], 3), np.array([-3]))


def test_an_aborted_arrangement_is_not_found_afterwards() -> None:
    storage = Storage(PagePool())
    storage.arrange("p", [(0, 1, 2)])
    storage.begin()
    storage.replace("p", block([(1, 2, 3)], 3))
    storage.commit()
    storage.begin()
    storage.add_arrangement("p", (2, 0, 1))
    storage.abort()
    found = storage.serving("p", (2,))
    assert found is None or storage.committed[found.number] >= 0, "an empty arrangement would hide the rows"


def test_a_delta_arranges_all_its_rows_once_for_each_order() -> None:
    storage = Storage(PagePool())
    storage.arrange("p", [(0, 1, 2), (2, 1, 0)])
    delta = Delta(block([(1, 2, 3), (4, 0, 0)], 3), block([(0, 9, 1)], 3))
    turned = delta.arranged(storage.arrangements["p"][1])
    assert tuples(turned) == [(0, 0, 4), (1, 9, 0), (3, 2, 1)]
    assert delta.arranged(storage.arrangements["p"][1]) is turned


def test_stamps_of_rows_that_are_not_there_are_zero_and_a_row_keeps_its_first_stamp() -> None:
    storage = Storage(PagePool())
    storage.arrange("p", [(2, 0, 1), (0, 1, 2)], "stamps")
    storage.begin()
    storage.change("p", block([(1, 2, 3)], 3), np.array([5]))
    assert len(storage.change("p", block([(1, 2, 3)], 3), np.array([9]))) == 0
    storage.commit()
    assert storage.stamps("p", block([(1, 2, 3), (3, 1, 2)], 3)).tolist() == [5, 0]
    assert storage.has("p", block([(1, 2, 3), (3, 1, 2)], 3)).tolist() == [True, False]
