"""What becomes of aggregations: predicates for their bodies and needs, aggregates, and the atoms that stand for them."""

from __future__ import annotations

import pytest

from datalog import Database
from datalog.analysis import analyse
from datalog.errors import ProgramError
from datalog.ir.core import CoreAggregate, CoreProgram, Type
from datalog.ir.text import format_aggregate, format_core_rule
from datalog.rewrite import lower
from datalog.syntax.parser import parse

SALES = """
.decl sales(region: symbol, day: number, x: number)
.decl region(r: symbol)
.decl span(a: number, b: number)
.decl out(r: symbol, t: number)
.decl over(a: number, b: number, t: number)
"""


def lowered(text: str) -> CoreProgram:
    return lower(analyse(parse(SALES + text)))


def rules_of(program: CoreProgram, kind: str) -> list[str]:
    """The rules for the predicates `…@kindN`, or for those without an `@`."""
    return [
        format_core_rule(rule)
        for rule in program.rules
        if (f"@{kind}" in rule.head if kind else "@" not in rule.head) and not rule.text.startswith("the given rows")
    ]


def aggregates_of(program: CoreProgram) -> list[CoreAggregate]:
    return [stratum.aggregate for stratum in program.strata if stratum.aggregate is not None]


def name_of(aggregate: CoreAggregate) -> str:
    """The function of an aggregate with one result."""
    (function,) = aggregate.functions
    return function.name


def shown(program: CoreProgram) -> list[str]:
    return [format_aggregate(aggregate, program.predicates) for aggregate in aggregates_of(program)]


def test_the_rows_of_a_body_count_with_all_their_columns() -> None:
    program = lowered("out(r, t) :- region(r), t = sum x : { sales(r, _, x) }.")
    assert rules_of(program, "body") == ["out@body1(r, x) ← sales(r, _2, x)."]
    assert shown(program) == ["out@agg1(r, sum) = sum over out@body1(r, x)."]


def test_an_empty_group_has_the_sum_zero() -> None:
    program = lowered("out(r, t) :- region(r), t = sum x : { sales(r, _, x) }.")
    assert rules_of(program, "") == ["out(r, t) ← region(r), out@agg1(r, t).", "out(r, t) ← region(r), !out@agg1(r, _), t = 0."]


def test_an_empty_group_has_no_maximum() -> None:
    program = lowered("out(r, t) :- region(r), t = max x : { sales(r, _, x) }.")
    assert rules_of(program, "") == ["out(r, t) ← region(r), out@agg1(r, t)."]


def test_a_total_of_the_papers_binds_its_groups_and_has_no_empty_one() -> None:
    program = lowered("out(r, t) <- agg<<t = sum(x)>> sales(r, _, x).")
    assert rules_of(program, "") == ["out(r, t) ← out@agg1(r, t)."]


def test_aggregations_over_one_body_share_it_across_rules_whatever_their_variables_are_called() -> None:
    program = lowered(
        """out(r, t) :- region(r), t = sum x : { sales(r, _, x) }.
        out(q, n) :- region(q), n = max y : { sales(q, _, y) }, m = sum z : { sales(q, _, z) }, m > 3."""
    )
    assert len(rules_of(program, "body")) == 1
    assert [(name_of(aggregate), aggregate.source) for aggregate in aggregates_of(program)] == [("sum", "out@body1"), ("max", "out@body1")]


def test_a_count_takes_the_rows_of_another_aggregation() -> None:
    program = lowered("out(r, n) :- region(r), n = count : { sales(r, _, _) }, m = max y : { sales(r, _, y) }, m > 3.")
    assert [(name_of(aggregate), aggregate.source) for aggregate in aggregates_of(program)] == [
        ("max", "out@body1"),
        ("count", "out@body1"),
    ]


def test_a_count_does_not_take_rows_of_which_some_may_be_missing() -> None:
    program = lowered("out(r, n) :- region(r), n = count : { sales(r, _, y) }, m = max 10 / y : { sales(r, _, y) }, m > 3.")
    assert len({aggregate.source for aggregate in aggregates_of(program)}) == 2


def test_a_variable_of_one_aggregation_is_not_that_of_another() -> None:
    program = lowered("out(r, a + b) :- region(r), a = sum x : { sales(r, x, _) }, b = sum x : { sales(r, _, x) }.")
    assert rules_of(program, "body") == ["out@body1(r, x) ← sales(r, x, _3).", "out@body2(r, x') ← sales(r, _2, x')."]


def test_an_order_goes_with_symbols_only() -> None:
    program = lowered(
        ".decl first(r: symbol) first(r) :- r = min s : { region(s) }. out(r, d) :- region(r), d = min x : { sales(r, x, _) }."
    )
    assert rules_of(program, "body")[0] == "first@body1(=#order(s), s) ← region(s), =#order(s) = #order(s)."
    assert {(function.types, function.ordered) for aggregate in aggregates_of(program) for function in aggregate.functions} == {
        ((Type.SYMBOL,), True),
        ((Type.NUMBER,), False),
    }


@pytest.mark.parametrize(
    ("body", "bounds", "need"),
    [
        ("day >= a, day <= b", ">= <=", "over@need1(a, b) ← span(a, b)."),
        ("day > a, b >= day", "> <=", "over@need1(a, b) ← span(a, b)."),
        ("a <= day, day < b + 1", ">= <", "over@need1(a, =b + 1) ← span(a, b), =b + 1 = b + 1."),
    ],
)
def test_an_interval_of_a_key_is_asked_for(body: str, bounds: str, need: str) -> None:
    program = lowered(f"over(a, b, t) :- span(a, b), t = sum x : {{ sales(_, day, x), {body} }}.")
    (aggregate,) = aggregates_of(program)
    assert (aggregate.low, aggregate.high) == tuple(bounds.split())
    assert aggregate.groups == 0
    assert rules_of(program, "body") == ["over@body1(day, x) ← sales(_1, day, x)."]
    assert rules_of(program, "need") == [need]


def test_an_interval_may_be_open_and_have_groups() -> None:
    program = lowered("out(r, t) :- sales(r, d, _), t = count : { sales(r, day, _), day < d }.")
    assert shown(program) == ["out@agg1(r, d, count) = count over out@body1(r, day) with day < d, for each out@need1(r, d)."]
    assert rules_of(program, "need") == ["out@need1(r, d) ← sales(r, d, _)."]


@pytest.mark.parametrize(
    "body",
    [
        "sales(_, day, x), day >= a, day >= b",  # two lower ends
        "sales(_, day, x), day >= a, x <= b",  # two keys
        "sales(_, day, x), day >= a, day <= b, x != a",  # an end is used otherwise
        "sales(_, day, x), day != a, day <= b",
        "sales(_, day, x), day >= 10 / a, day <= b",  # there is not always such an end
    ],
)
def test_what_is_more_than_an_interval_is_guarded(body: str) -> None:
    program = lowered(f"over(a, b, t) :- span(a, b), t = sum x : {{ {body} }}.")
    (aggregate,) = aggregates_of(program)
    assert (aggregate.needs, aggregate.groups) == ("", 2)
    assert all("over@need1(a, b)" in rule for rule in rules_of(program, "body"))


def test_symbols_make_no_interval() -> None:
    program = lowered("out(r, t) :- region(r), t = sum x : { sales(s, _, x), s <= r }.")
    (aggregate,) = aggregates_of(program)
    assert not aggregate.needs
    assert rules_of(program, "body") == ["out@body1(r, x) ← sales(s, _2, x), out@need1(r), s <= r."]


def test_a_disjunction_in_a_body_counts_a_row_once() -> None:
    program = lowered("out(r, t) :- region(r), t = sum x : { sales(r, d, x), (d = 1 ; d = 2 ; sales(_, d, 3)) }.")
    (body,) = rules_of(program, "body")
    assert body == "out@body1(r, x) ← sales(r, d, x), out@or1(d)."
    assert len(rules_of(program, "or")) == 3


def test_a_body_may_be_a_disjunction_alone() -> None:
    program = lowered("out(r, t) :- region(r), t = sum x : { (sales(_, x, _) ; sales(_, _, x)) }.")
    assert rules_of(program, "body") == ["out@body1(x) ← out@or1(x)."]


def test_the_rows_of_a_disjunction_count_by_what_each_of_its_branches_binds() -> None:
    program = lowered(".decl n(k: number) n(k) :- k = count : { (region(s) ; sales(s, d, _), d > 3) }.")
    assert rules_of(program, "or") == ["n@or1(s) ← region(s).", "n@or1(s) ← sales(s, d, _), d > 3."]


def test_a_difference_of_unsigned_is_no_end() -> None:
    program = lowered(
        ".decl u(d: unsigned) .decl w(d: unsigned, k: number) w(d, k) :- u(d), k = count : { u(e), e >= d - 7 }."
        " w(d, k) :- u(d), k = count : { u(e), e >= d + 7 }."
    )
    assert sorted(bool(aggregate.needs) for aggregate in aggregates_of(program)) == [False, True]


def test_a_computation_that_may_fail_is_made_for_what_is_asked_for_only() -> None:
    program = lowered('out(r, t) :- region(r), r != "x", t = sum 10 / x : { sales(r, _, x) }.')
    assert rules_of(program, "need") == ['out@need1(r) ← region(r), r != "x".']
    assert "out@need1(r)" in rules_of(program, "body")[0]


def test_a_computation_that_cannot_fail_needs_no_guard() -> None:
    program = lowered('.decl p(s: symbol, n: number) p(r, n) :- region(r), n = count : { sales(r, _, _), contains("a", r) }.')
    assert not rules_of(program, "need")


def test_aggregations_nest() -> None:
    program = lowered("out(r, t) :- region(r), t = max n : { sales(r, d, _), n = count : { sales(_, d, _) } }.")
    assert [name_of(aggregate) for aggregate in aggregates_of(program)] == ["count", "max"]


def test_one_aggregation_may_make_the_groups_of_another() -> None:
    program = lowered("out(r, t) :- region(r), n = count : { sales(r, _, _) }, t = sum x : { sales(_, n, x) }.")
    assert {name_of(aggregate) for aggregate in aggregates_of(program)} == {"count", "sum"}


def test_negations_take_aggregations() -> None:
    program = lowered("out(r, 1) :- region(r), !(t = sum x : { sales(r, _, x) }, t > 3).")
    assert rules_of(program, "") == ["out(r, =1) ← region(r), !out@not1(r), !out@not2(r), =1 = 1."]


def test_an_aggregate_is_a_stratum_of_its_own_above_its_body() -> None:
    program = lowered("out(r, t) :- region(r), t = sum x : { sales(r, d, x), d > 3 }.")
    order = [stratum.predicates for stratum in program.strata]
    assert order == [("out@body1",), ("out@agg1",), ("out",)]
    assert [stratum.rules for stratum in program.strata][1] == ()


def test_the_rows_of_a_body_that_copies_columns_are_read_where_they_are() -> None:
    program = lowered("out(r, t) :- region(r), t = sum x : { sales(r, _, x) }.")
    (aggregate,) = aggregates_of(program)
    assert (aggregate.origin, aggregate.columns) == ("sales", (0, 2))
    assert [stratum.predicates for stratum in program.strata] == [("out@agg1",), ("out",)]


@pytest.mark.parametrize(
    "body",
    [
        "sales(r, d, x), d > 3",
        'sales(r, _, x), r = "n"',
        "sales(r, x, x)",
        "(sales(r, x, 1) ; sales(r, 2, x)), x > 1",
        "sales(r, _, y), x = y + 1",
    ],
)
def test_a_body_that_does_more_than_copy_columns_is_made(body: str) -> None:
    program = lowered(f"out(r, t) :- region(r), t = sum x : {{ {body} }}.")
    assert [(aggregate.origin, aggregate.columns) for aggregate in aggregates_of(program)] == [("", ())]
    assert any(stratum.predicates == ("out@body1",) for stratum in program.strata)


def test_a_few_columns_of_many_are_copied() -> None:
    program = lowered(
        ".decl w(a: number, b: number, c: number, d: number, e: number) .decl n(a: number, k: number) "
        "n(a, k) <- agg<<k = sum(e)>> w(a, _, _, _, e)."
    )
    assert [aggregate.origin for aggregate in aggregates_of(program)] == [""]


def test_totals_over_the_same_rows_are_one_aggregate() -> None:
    program = lowered(
        ".decl all(r: symbol, t: number, n: number, l: number, d: number) "
        "all(r, t, n, l, d) <- agg<<t = sum(x), n = count(), l = min(x), d = max(day)>> sales(r, day, x)."
    )
    first, second = shown(program)
    assert first == "all@agg1(r, sum, count, min) = sum, count, min over all@body1(r, x)."
    assert second.startswith("all@agg2(r, max) = max over all@body2(r, day")
    assert rules_of(program, "") == ["all(r, t, n, l, d) ← all@agg1(r, t, n, l), all@agg2(r, d)."]


def test_two_totals_of_one_function_have_names_of_their_own() -> None:
    program = lowered(
        ".decl both(r: symbol, a: number, b: number) both(r, a, b) <- agg<<a = quantile(x, 0.1), b = quantile(x, 0.9)>> sales(r, _, x)."
    )
    assert shown(program) == ["both@agg1(r, quantile, quantile') = quantile with 0.1, quantile with 0.9 over both@body1(r, x)."]


def test_groups_that_only_the_recursion_can_give_are_asked_for_in_it() -> None:
    program = lowered(".decl p(x: number) p(1). p(y + 1) :- p(y), y < 9, n = count : { sales(_, d, _), d < y }, n > 0.")
    (stratum,) = (stratum for stratum in program.strata if stratum.asked)
    assert stratum.recursive and stratum.guard is not None and aggregates_of(program) == []
    (aggregate,) = stratum.asked
    assert (aggregate.source, aggregate.asked, aggregate.empty) == ("p@body1", "p@need1", 0)
    assert set(stratum.predicates) == {"p", "p@need1", "p@body1", "p@agg1"} and "p@body1" not in stratum.stamped


def test_groups_whose_rows_rest_on_the_recursion_are_refused() -> None:
    with pytest.raises(ProgramError, match="an aggregate through recursion"):
        lowered(".decl p(x: number) p(1). p(n) :- p(y), n = count : { sales(_, d, _), d < y, d > count : { sales(_, e, _), e < y } }.")


def test_types_of_arguments_and_parameters_are_told() -> None:
    program = lowered(
        '.decl q(x: number, s: symbol) q(x, s) :- x = quantile d, 0.9 : { sales(_, d, _) }, s = join d, "+" : { sales(_, d, _) }.'
    )
    first, second = (aggregate.functions[0] for aggregate in aggregates_of(program))
    assert (first.types, first.parameter, first.result) == ((Type.NUMBER,), 0.9, Type.NUMBER)
    assert (second.types, second.parameter, second.result) == ((Type.NUMBER,), "+", Type.SYMBOL)


@pytest.mark.parametrize("function", ["max v", "count", "sum v"])
def test_an_interval_in_groups_of_the_recursion_is_no_aggregate_through_it(function: str) -> None:
    """The groups that are asked for come from the recursion, those that there are from the body: without intervals none need be asked."""
    text = ".decl v(x: number)\n.decl g(x: number)\n.decl r(x: number, n: number)\nr(1, 0).\n"
    rule = f"r(x, z) :- r(x, y), v(z), y < 9, 2 = {function} : {{ v(v), g(x), v > z }}."
    program = lower(analyse(parse(text + rule)))
    assert [stratum.aggregate is not None or "r" in stratum.predicates for stratum in program.strata].count(True) == 2
    db = Database(text + rule)
    with db.transaction() as transaction:
        transaction.insert("v", [(0,), (1,), (2,)])
        transaction.insert("g", [(1,)])
    db.check()
    assert (1, {"max v": 1, "count": 0, "sum v": 1}[function]) in db["r"]
