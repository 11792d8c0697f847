"""Aggregates: how many pages a change of one row and an interval look into."""

from __future__ import annotations

import numpy as np
import pytest

from datalog.ir.core import Row, Type
from datalog.maintain.engine import Options
from tests.kernels.blocks import COMPILED
from tests.unit.aggregate_programs import Case, Live

N, F = Type.NUMBER, Type.FLOAT
SIZES = [1_000, 10_000, 100_000] if COMPILED else [100, 400, 1_600]
ROWS = 1_000_000 if COMPILED else 5_000
NODES = 64

GROUPED = [
    *(Case("min", (N,), N), Case("max", (N,), N), Case("argmin", (N, N), N), Case("median", (N,), N), Case("quantile", (N,), N, 0.1)),
    *(Case("sum", (N,), N), Case("sum", (F,), F), Case("count", (N,), N), Case("mean", (N,), F), Case("bitor", (N,), N)),
]
INTERVALS = [
    *(Case("sum", (N,), N), Case("sum", (F,), F), Case("mean", (F,), F), Case("count", (), N), Case("min", (N,), N), Case("max", (F,), F)),
    *(Case("bitand", (N,), N), Case("bitxor", (N,), N), Case("product", (N,), N)),
]


@pytest.mark.parametrize("case", GROUPED, ids=str)
def test_deleting_the_minimum_of_a_group_costs_the_logarithm_of_its_size(case: Case) -> None:
    costs = []
    for size in SIZES:
        values = [float(place) if case.types[0] is F else place for place in range(size)]
        rows: set[Row] = {(1, *(value,) * len(case.types), 0) for value in values} | {
            (2, *(value,) * len(case.types), 0) for value in values[:50]
        }
        live = Live(case, Options(maintain="derived", rows_per_page=16), {"e": rows})
        for place in range(3):
            before = live.engine.steps
            live.apply({}, {"e": [(1, *(values[place],) * len(case.types), 0)]})
            costs.append(live.engine.steps - before)
        if case.function == "min":
            assert (1, 3) in live.rows()
    assert max(costs) <= 40, f"pages and iterator steps, for groups of {SIZES}: {costs}"
    assert max(costs[-3:]) - min(costs[:3]) <= 15, costs


@pytest.mark.parametrize("case", INTERVALS, ids=str)
def test_an_interval_over_a_million_rows_looks_into_at_most_64_pages(case: Case) -> None:
    live = _intervals(case)
    for low, high in ((17, ROWS - 17), (ROWS // 3, ROWS // 3 + 5), (ROWS // 4, 3 * ROWS // 4), (0, ROWS)):
        before = live.engine.steps
        deltas = live.apply({"n": [(1, low, high)]})
        assert len(deltas["result"].inserted) == 1
        assert live.engine.steps - before <= NODES, "with the steps of the two rules that copy a row"


def test_a_changed_row_concerns_the_intervals_around_its_key_alone() -> None:
    live = _intervals(Case("sum", (N,), N))
    live.apply({"n": [(1, low, low + 10) for low in range(0, ROWS, ROWS // 500)]})
    before = live.engine.steps
    deltas = live.apply({"e": [(1, 5, 100, -1)]})
    assert len(deltas["result"].inserted) == 1
    assert live.engine.steps - before <= NODES


def _intervals(case: Case) -> Live:
    """A group with a row for each key below ROWS, which the engine gets as codes, since so many Python rows take long."""
    case = case.within(">=", "<=")
    live = Live(case, Options(maintain="derived"))
    keys = np.arange(ROWS, dtype=np.int64)
    columns = [np.ones_like(keys), keys]
    for type in case.types:
        values = np.random.default_rng(3).integers(-1000, 1000, ROWS)
        if case.function == "product":
            values = np.where(values < 0, -1, 1)
        columns.append(live.values.encode_column(values / 100, type) if type is F else values)
    columns.append(np.zeros_like(keys))
    live.engine.apply({"e": (np.column_stack(columns), np.ones(ROWS, np.int64))})
    return live
