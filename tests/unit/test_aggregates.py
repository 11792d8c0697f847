"""Aggregates in an engine, by core programs made by hand, against the oracle's recomputation from the given rows."""

from __future__ import annotations

import math
from decimal import Decimal
from random import Random
from typing import Any

import numpy as np
import pytest

from datalog import Database
from datalog.errors import EvaluationError
from datalog.evaluate.query import QUERY, run_query
from datalog.ir.core import CoreAggregate, CoreAtom, CoreFunction, CoreRule, Predicate, Row, Stratum, Type
from datalog.maintain.check import check_engine
from datalog.maintain.engine import Maintain, Options
from datalog.plan.statistics import Counted
from datalog.rewrite.query import CoreQuery
from datalog.syntax.tree import NOWHERE
from tests.kernels.blocks import COMPILED
from tests.unit.aggregate_programs import Case, Live

N, U, F, S, DAY, CENTS = Type.NUMBER, Type.UNSIGNED, Type.FLOAT, Type.SYMBOL, Type.DATE, Type.DECIMALS[2]

COUNT, SUM, SUM_FLOATS = Case("count", (), N), Case("sum", (N,), N), Case("sum", (F,), F)
CASES = [
    *(COUNT, SUM, SUM_FLOATS, Case("sum", (U,), U), Case("sum", (CENTS,), CENTS)),
    *(Case("mean", (N,), F), Case("mean", (U,), F), Case("mean", (F,), F), Case("mean", (CENTS,), F)),
    *(Case("min", (N,), N), Case("max", (F,), F), Case("min", (DAY,), DAY), Case("max", (U,), U)),
    *(Case("min", (S,), S, ordered=True), Case("max", (S,), S, ordered=True), Case("min", (S,), S)),
    *(Case("median", (N,), N), Case("median", (S,), S, ordered=True), Case("quantile", (F,), F, 0.9)),
    *(Case("quantile", (S,), S, 0.25, ordered=True), Case("quantile", (N,), N, 0.0), Case("quantile", (N,), N, 1.0)),
    *(Case("argmin", (N, S), S), Case("argmax", (N, N), N), Case("argmin", (F, U), U), Case("argmax", (S, F), F, ordered=True)),
    *(Case("argmin", (S, S), S, ordered=True), Case("product", (N,), N), Case("product", (U,), U), Case("product", (F,), F)),
    *(Case(name, (type,), type) for name in ("bitand", "bitor", "bitxor") for type in (N, U)),
    *(Case("collect", (S,), S), Case("collect", (CENTS,), S), Case("join", (S,), S, "; ", ordered=True), Case("join", (N,), S, "")),
]
BOUNDS = [(">=", "<="), (">", "<"), (">=", ""), (">", ""), ("", "<="), ("", "<")]
STEPS = 30 if COMPILED else 6


def value(random: Random, type: Type) -> Any:
    choices: dict[Type, list[Any]] = {
        N: [-3, -1, 0, 1, 2, 7],
        U: [0, 1, 3, 2**40],
        F: [-1.25, 0.1, 0.2, 3.0, 1e300, 1e-300],
        S: ["", "a", "ab", "é", "zz", 'q"'],
        DAY: [np.datetime64(day, "D").item() for day in ("2024-02-29", "1969-07-20", "2000-01-01")],
        CENTS: [Decimal("0.00"), Decimal("1.25"), Decimal("-7.10")],
    }
    return random.choice(choices[type])


def row(random: Random, case: Case) -> Row:
    """A row (group…, [key,] [order,] arguments…); the order is by the first character only, so that it has ties."""
    arguments = [value(random, type) for type in case.types]
    if case.function == "product" and F not in case.types:
        arguments = [random.choice((0, 1, 1, 1, 2, 3) if U in case.types else (0, -1, -1, 1, 2, -3))]
    group = [random.randrange(4) for _ in range(case.groups)]
    key = [random.randrange(8)] if case.keyed else []
    order = [ord(arguments[0][0]) if arguments[0] else -1] if case.ordered else []
    return (*group, *key, *order, *arguments)


def need(random: Random, case: Case) -> Row:
    return (*(random.randrange(4) for _ in range(case.groups)), *(random.randrange(9) for _ in range(bool(case.low) + bool(case.high))))


def change(random: Random, live: Live, step: int) -> None:
    """One random transaction: some rows come, some go, now and then a whole group, or the least or greatest row of one."""
    case = live.case
    insert: dict[str, list[Row]] = {
        "e": [(*row(random, case), 1000 * step + place) for place in range(random.choice((0, 1, 1, 5)))],
        "f": [row(random, case) for _ in range(random.choice((0, 0, 1)))],
        "n": [need(random, case) for _ in range(random.choice((0, 0, 2)))] if case.keyed else [],
    }
    delete = {name: random.sample(sorted(rows, key=repr), min(len(rows), random.choice((0, 1, 2)))) for name, rows in live.given.items()}
    group = (random.randrange(4),)
    members = sorted((row for row in live.given["e"] if row[:1] == group[: case.groups]), key=lambda row: row[1:])
    if members:
        delete["e"] += random.choice(([], members[:1], members[-1:], members[:1] if step % 7 else members))
    if case.groups and step % 7 == 0:
        delete["f"] += [row for row in live.given["f"] if row[:1] == group]
    live.apply(insert, delete)


def follow(case: Case, maintain: Maintain, seed: int) -> None:
    random = Random(seed)
    given = {"e": {(*row(random, case), place) for place in range(25)}, "f": {row(random, case) for _ in range(5)}}
    if case.keyed:
        given["n"] = {need(random, case) for _ in range(12)}
    live = Live(case, Options(maintain=maintain, rows_per_page=4), given)
    assert live.rows() == live.expected()
    for step in range(STEPS):
        change(random, live, step)
        assert live.rows() == live.expected(), step
    check_engine(live.engine)


@pytest.mark.parametrize("maintain", ["auto", "derived", "recorded", "recompute"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_results_of_groups_follow_every_change(case: Case, maintain: Maintain) -> None:
    follow(case, maintain, 1)


@pytest.mark.parametrize("bounds", BOUNDS, ids="".join)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_results_of_intervals_follow_every_change_of_rows_and_intervals(case: Case, bounds: tuple[str, str]) -> None:
    follow(case.within(*bounds), "derived", 2)


@pytest.mark.parametrize("maintain", ["auto", "recompute"])
@pytest.mark.parametrize("function", ["count", "sum", "max", "median", "bitxor"])
def test_intervals_are_kept_by_all_ways_of_maintenance(function: str, maintain: Maintain) -> None:
    follow(next(case for case in CASES if case.function == function).within(">=", "<="), maintain, 3)


@pytest.mark.parametrize("groups", [0, 2])
@pytest.mark.parametrize("function", ["count", "sum", "min", "quantile", "bitor", "collect"])
def test_there_may_be_no_group_or_groups_of_two_values(function: str, groups: int) -> None:
    case = next(case for case in CASES if case.function == function)
    several = Case(function, case.types, case.result, case.parameter, groups=groups)
    follow(several, "derived", 4)
    follow(several.within(">=", "<"), "derived", 5)


@pytest.mark.parametrize("body", ["false", "x = 5, false", "x = 5, x > 6", "q(x), false"])
def test_an_aggregate_over_a_body_that_never_holds_is_that_of_no_rows(body: str) -> None:
    database = Database(f".decl q(x: number) .decl p(x: number) p(count : {{ {body} }}). p(sum x + 1 : {{ x = 0, {body} }}).")
    assert list(database["p"]) == [(0,)]
    with database.transaction() as transaction:
        transaction.insert("q", [(5,)])
    assert list(database["p"]) == [(0,)]
    database.check()


def test_results_that_stay_the_same_are_no_change() -> None:
    live = Live(Case("min", (N,), N), given={"e": {(1, 5, 0), (1, 7, 0), (2, 4, 0)}})
    deltas = live.apply({"e": [(1, 9, 0), (1, 5, 1)]}, {"e": [(1, 7, 0)]})
    assert deltas["body"].counted is not None
    assert "result" not in deltas
    assert "out" not in deltas
    deltas = live.apply({}, {"e": [(1, 5, 0), (1, 5, 1)]})
    assert (deltas["out"].deleted.tolist(), deltas["out"].inserted.tolist()) == ([[1, 5]], [[1, 9]])


def test_a_change_of_multiplicity_alone_changes_counts_and_sums() -> None:
    for case, before, after in ((COUNT, (1, 1), (1, 2)), (SUM, (1, 5), (1, 10))):
        arguments = (5,) * len(case.types)
        live = Live(case, given={"e": {(1, *arguments, 0)}})
        assert live.rows() == {before}
        deltas = live.apply({"f": [(1, *arguments)]})
        assert live.rows() == {after}
        assert len(deltas["body"].inserted) == 0, "the row was there"


def test_a_large_change_is_met_by_evaluating_anew_and_the_trees_are_right_afterwards() -> None:
    for case in (SUM, Case("bitxor", (N,), N), SUM_FLOATS.within(">=", "<=")):
        random = Random(7)
        given = {"e": {(*row(random, case), place) for place in range(300)}, "n": {need(random, case) for _ in range(60)}}
        given = given if case.keyed else {"e": given["e"]}
        live = Live(case, Options(), given)
        live.apply({"e": [(*row(random, case), 1000 + place) for place in range(3000)]}, {"e": sorted(given["e"], key=repr)[:250]})
        assert live.rows() == live.expected()
        live.apply({"e": [(*row(random, case), 5000)]})
        assert live.rows() == live.expected()
        check_engine(live.engine)


@pytest.mark.parametrize("maintain", ["auto", "derived", "recorded", "recompute"])
def test_rules_may_read_results_in_any_order_of_columns(maintain: Maintain) -> None:
    program = """
    .decl e(g: number, x: number)  .decl label(x: number, y: symbol)
    least(g, x) :- e(g, _), x = min y : { e(g, y) }.
    named(g, y) :- label(x, y), least(g, x).
    same(g, h) :- least(g, x), least(h, x), g < h.
    """
    db = Database(program, maintain=maintain)
    with db.transaction() as tx:
        tx.insert("e", [(1, 5), (1, 6), (2, 5), (3, 7)])
        tx.insert("label", [(5, "five"), (6, "six")])
    assert (list(db["named"]), list(db["same"])) == ([(1, "five"), (2, "five")], [(1, 2)])
    with db.transaction() as tx:
        tx.delete("e", [(1, 5)])
    assert (list(db["named"]), list(db["same"])) == ([(1, "six"), (2, "five")], [])
    db.check()


def test_a_result_beyond_64_bits_is_an_error_also_where_failing_computations_are_skipped() -> None:
    live = Live(Case("product", (N,), N), Options(failing="skip"), {"e": {(1, 2**62, 0), (2, 4, 0)}})
    with pytest.raises(EvaluationError, match="`product` leaves the 64-bit range where"):
        live.apply({"e": [(1, 2, 0), (2, 2, 0)]})
    assert live.rows() == {(1, 2**62), (2, 4)}
    check_engine(live.engine)


@pytest.mark.parametrize("total", ["t = sum x : { s(g, x) }", "t = sum x : { s(h, x), h <= g }"])
def test_a_sum_beyond_64_bits_never_passes_for_that_of_an_empty_group(total: str) -> None:
    db = Database(f"p(g, t) :- q(g), {total}. q(1). q(2). s(1, {2**63 - 1}). s(2, -5).", failing="skip")
    before = list(db["p"])
    with pytest.raises(EvaluationError, match="`sum` leaves the 64-bit range"), db.transaction() as tx:
        tx.insert("s", [(1, 7)])
    assert list(db["p"]) == before
    db.check()


def test_the_planner_expects_a_result_for_each_group() -> None:
    live = Live(Case("max", (N,), N), given={"e": {(group, group + place, 0) for group in range(40) for place in range(10)}})
    statistics = live.engine.joins.statistics
    assert isinstance(statistics, Counted)
    rows, (groups, results) = statistics.estimates["result"]
    assert rows == groups == results == pytest.approx(40, abs=2)


# --- exact sums -----------------------------------------------------------------------------------------------------------


def test_integer_sums_use_all_64_bits_and_may_leave_them_on_the_way() -> None:
    live = Live(SUM, given={"e": {(1, 2**63 - 1, 0), (1, 2**63 - 1, 1), (1, -(2**63), 2), (1, -(2**63) + 2, 3)}})
    assert live.rows() == {(1, 0)}
    live.apply({"e": [(1, -(2**63), 5)]})
    assert live.rows() == {(1, -(2**63))}
    unsigned = Live(Case("sum", (U,), U), given={"e": {(1, 2**63, 0), (1, 2**63 - 1, 1)}})
    assert unsigned.rows() == {(1, 2**64 - 1)}


@pytest.mark.parametrize(
    ("type", "rows"), [(N, [(7, 2**63 - 1, 0), (7, 1, 0)]), (U, [(7, 2**64 - 1, 0), (7, 1, 0)]), (N, [(7, -(2**63), 0), (7, -1, 0)])]
)
@pytest.mark.parametrize("maintain", ["derived", "recompute"])
def test_a_sum_that_leaves_64_bits_names_its_group_and_everything_stays_as_it_was(type: Type, rows: list[Row], maintain: Maintain) -> None:
    live = Live(Case("sum", (type,), type), Options(maintain=maintain, rows_per_page=4), {"e": {(1, 5, 0), rows[0]}})
    before = live.rows()
    with pytest.raises(EvaluationError, match=r"`sum` leaves the 64-bit range where g0 = 7, in the rule `out\(g, r\) :- …`"):
        live.apply({"e": rows[1:]})
    assert live.rows() == before
    check_engine(live.engine)
    live.apply({"e": [(1, 6, 0)]})
    assert live.rows() == live.expected()


def test_float_sums_are_the_same_bits_in_any_order_and_after_undoing() -> None:
    random = np.random.default_rng(5)
    count = 100_000 if COMPILED else 600
    numbers = random.uniform(1, 10, count) * 10.0 ** random.integers(-300, 300, count) * random.choice((-1, 1), count)
    numbers[: count // 2] = -numbers[count // 2 : count // 2 * 2] * (1 + random.integers(0, 2, count // 2) * 2.0**-52)
    rows = [
        (int(group), number, place)
        for place, (group, number) in enumerate(zip(random.integers(0, 3, count), numbers.tolist(), strict=True))
    ]
    whole = Live(SUM_FLOATS, Options(), {"e": set(rows)})
    exact = {(group, math.fsum(number for other, number, _ in rows if other == group)) for group in range(3)}
    assert whole.rows() == exact
    grown = Live(SUM_FLOATS, Options(maintain="derived"))
    order = random.permutation(count)
    for part in np.array_split(order, 12):
        grown.apply({"e": [rows[place] for place in part]})
    assert grown.rows() == exact
    strangers = [(group, number, -1 - place) for place, (group, number, _) in enumerate(rows[: count // 10])]
    grown.apply({"e": strangers}, {"e": rows[::3]})
    grown.apply({"e": rows[::3]}, {"e": strangers})
    assert grown.rows() == exact
    check_engine(grown.engine)


def test_float_sums_round_once_and_reach_all_floats() -> None:
    tiny, huge = 5e-324, 1.7976931348623157e308
    for numbers, total in (
        ([1.0, 2.0**-53, tiny], 1.0 + 2.0**-52),
        ([1.0, 2.0**-53], 1.0),
        ([huge, huge, -huge], huge),
        ([huge, 2.0**970], math.inf),
        ([-huge, -huge], -math.inf),
        ([tiny, -2 * tiny], -tiny),
        ([0.1, -0.1], 0.0),
        ([math.inf, 1.0], math.inf),
        ([-math.inf, 1.0], -math.inf),
    ):
        live = Live(SUM_FLOATS, given={"e": {(1, number, place) for place, number in enumerate(numbers)}})
        assert live.rows() == {(1, total)}, numbers


def test_infinities_and_nan_go_as_they_came() -> None:
    for case in (SUM_FLOATS, Case("mean", (F,), F)):
        live = Live(case, given={"e": {(1, 3.0, 0), (1, math.inf, 1)}})
        live.apply({"e": [(1, -math.inf, 2)]})
        assert math.isnan(next(iter(live.rows()))[1])  # type: ignore[arg-type]
        live.apply({}, {"e": [(1, math.inf, 1)]})
        assert live.rows() == {(1, -math.inf)}
        live.apply({"e": [(1, math.nan, 3)]}, {"e": [(1, -math.inf, 2)]})
        assert math.isnan(next(iter(live.rows()))[1])  # type: ignore[arg-type]
        live.apply({}, {"e": [(1, math.nan, 3)]})
        assert live.rows() == {(1, 3.0)}


def test_means_are_rounded_once() -> None:
    live = Live(Case("mean", (N,), F), given={"e": {(1, 2**62 + 1, 0), (1, 2**62, 1), (2, 1, 0), (2, 1, 1), (2, 0, 2)}})
    assert live.rows() == {(1, (2**63 + 1) / 2), (2, 2 / 3)}


# --- products and bits ----------------------------------------------------------------------------------------------------


def test_products_at_the_ends_of_the_range_are_exact() -> None:
    signed, unsigned = Case("product", (N,), N), Case("product", (U,), U)
    assert Live(signed, given={"e": {(1, -(2**31), 0), (1, 2**32, 0)}}).rows() == {(1, -(2**63))}
    assert Live(signed, given={"e": {(1, -(2**63), 0), (1, 1, 0), (1, 1, 1)}}).rows() == {(1, -(2**63))}
    assert Live(signed, given={"e": {(1, -1, place) for place in range(5)} | {(1, 2**62, 0)}}).rows() == {(1, -(2**62))}
    assert Live(unsigned, given={"e": {(1, 2**32 - 1, 0), (1, 2**32 + 1, 0)}}).rows() == {(1, 2**64 - 1)}


def test_a_product_that_leaves_64_bits_is_an_error_until_a_factor_goes_or_is_0() -> None:
    live = Live(Case("product", (N,), N), given={"e": {(4, 2**40, 0), (5, 3, 0)}})
    with pytest.raises(EvaluationError, match=r"`product` leaves the 64-bit range where g0 = 4"):
        live.apply({"e": [(4, 2**23, 0)]})
    live.apply({"e": [(4, 2**23, 0), (4, 0, 0)]})
    assert live.rows() == {(4, 0), (5, 3)}
    with pytest.raises(EvaluationError, match="`product` leaves"):
        live.apply({}, {"e": [(4, 0, 0)]})
    live.apply({}, {"e": [(4, 0, 0), (4, 2**40, 0)]})
    assert live.rows() == {(4, 2**23), (5, 3)}


# --- queries --------------------------------------------------------------------------------------------------------------


# ?query(g, r) ← ?agg(g, r), the sum over ?body(g, x) ← e(g, x, _).
PREDICATES = {name: Predicate(name, ("g", "r"), (N, N), True) for name in ("?body", "?agg", QUERY)}
QUERIED = CoreQuery(
    PREDICATES[QUERY],
    ("g", "r"),
    PREDICATES,
    (
        CoreRule("?body", (0, 1), ("g", "x", "id"), (N, N, N), (CoreAtom("e", (0, 1, 2), False, NOWHERE),), (), (), NOWHERE, "?"),
        CoreRule(QUERY, (0, 1), ("g", "r"), (N, N), (CoreAtom("?agg", (0, 1), False, NOWHERE),), (), (), NOWHERE, "?"),
    ),
    (
        Stratum(("?body",), (0,), False),
        Stratum(("?agg",), (), False, CoreAggregate("?agg", "?body", 1, (CoreFunction("sum", (N,), N, NOWHERE),), "?")),
        Stratum((QUERY,), (1,), False),
    ),
)


def test_a_query_may_have_aggregates_and_leaves_nothing_behind() -> None:
    live = Live(SUM, given={"e": {(1, 5, 0), (1, 5, 1), (2, 7, 0)}})
    storage = live.engine.storage
    pages, trees = storage.pool.used_pages, len(storage.roots)
    for _ in range(2):
        rows = run_query(storage, QUERIED, live.engine.joins.join, live.values, live.engine.joins.memo)
        assert rows.tolist() == [[1, 10], [2, 7]]
        assert (storage.pool.used_pages, len(storage.roots)) == (pages, trees)
    live.apply({}, {"e": [(1, 5, 1)]})
    assert run_query(storage, QUERIED, live.engine.joins.join, live.values, live.engine.joins.memo).tolist() == [[1, 5], [2, 7]]
