"""What a hint says to write instead is accepted, and means what was meant."""

from __future__ import annotations

from decimal import Decimal

import pytest

from datalog import Database, ProgramError

DECLARED = """
.decl sale(id: number, amount: decimal(2), weight: decimal(4), rate: float, text: symbol)
.decl visit(d: date, t: datetime)
sale(3, 2.50, 0.1250, 0.5, "12.75").
visit("2024-02-28", "2024-02-28T12:00:00Z").
"""


def refused(clause: str) -> ProgramError:
    with pytest.raises(ProgramError) as caught:
        Database(DECLARED + clause)
    return caught.value


def answer(clause: str) -> object:
    ((value,),) = Database(DECLARED + clause)["p"]
    return value


@pytest.mark.parametrize(
    ("wrong", "hinted", "value"),
    [
        ("a * 0.075", "to_decimal(to_decimal(a, 5) * 0.075, 2)", Decimal("0.19")),
        ("0.075 * a", "to_decimal(0.075 * to_decimal(a, 5), 2)", Decimal("0.19")),
        ("a - 0.125", "to_decimal(to_decimal(a, 3) - 0.125, 2)", Decimal("2.38")),
        ("a * i", "a * to_decimal(i)", Decimal("7.50")),
        ("i * a", "to_decimal(i) * a", Decimal("7.50")),
        ("a * w", "to_decimal(a, 4) * w", Decimal("0.3125")),
        ("w + a", "w + to_decimal(a, 4)", Decimal("2.6250")),
        ("a * r", "a * to_decimal(r)", Decimal("1.25")),
        ("a * r", "to_float(a) * r", 1.25),
        ("to_decimal(s)", "to_decimal(s, 2)", Decimal("12.75")),
        ('cat("no ", i)', "to_string(i)", "3"),
        ("strlen(a)", "to_string(a)", "2.50"),
    ],
)
def test_a_computation_of_two_types_has_a_way_out(wrong: str, hinted: str, value: object) -> None:
    body = "sale(i, a, w, r, s)."
    assert hinted in refused(f"p({wrong}) :- {body}").hint
    assert answer(f"p({hinted}) :- {body}") == value


@pytest.mark.parametrize(
    ("wrong", "hinted"),
    [
        ("a > 0.075", "to_decimal(a, 3) > 0.075"),
        ("i > a", "to_decimal(i) > a"),
        ("a > w", "to_decimal(a, 4) > w"),
        ("a > r", "a > to_decimal(r)"),
    ],
)
def test_a_comparison_of_two_types_has_a_way_out(wrong: str, hinted: str) -> None:
    assert hinted in refused(f"p(i) :- sale(i, a, w, r, _), {wrong}.").hint
    assert answer(f"p(i) :- sale(i, a, w, r, _), {hinted}.") == 3


@pytest.mark.parametrize(
    ("wrong", "functors"),
    [
        ("d > d - 30", ("add_days(", "days_between(")),
        ("d - d < 2", ("add_days(", "days_between(")),
        ("t + 60 > t", ("add_seconds(", "seconds_between(")),
        ("y = d + 1, y > d", ("add_days(", "days_between(")),
    ],
)
def test_arithmetic_on_times_is_one_error_that_names_the_functors_for_it(wrong: str, functors: tuple[str, ...]) -> None:
    error = refused(f"p(d) :- visit(d, t), {wrong}.")
    assert len(error.diagnostics) == 1
    assert all(functor in error.hint for functor in functors)


@pytest.mark.parametrize(
    ("wrong", "total"),
    [
        ("p(i, sum(a)) :- sale(i, a, _, _, _).", "p(i, t) <- agg<<t = sum(a)>> sale(i, a, _, _, _)"),
        ("p(i, t) :- sale(i, a, _, _, _), t = max(a).", "p(i, t) <- agg<<t = max(a)>> …"),
        ("p(i, avg(a)) :- sale(i, a, _, _, _).", "p(i, t) <- agg<<t = mean(a)>> sale(i, a, _, _, _)"),
        ("p[i] = count() :- sale(i, _, _, _, _).", "p[i] = t <- agg<<t = count()>> sale(i, _, _, _, _)"),
        ("p(t, sum(a)) :- sale(t, a, _, _, _).", "p(t, total) <- agg<<total = sum(a)>> sale(t, a, _, _, _)"),
    ],
)
def test_an_aggregate_that_is_called_as_a_functor_has_its_right_form(wrong: str, total: str) -> None:
    error = refused(wrong)
    assert len(error.diagnostics) == 1
    assert f"write {total}, or " in error.hint
    if "…" not in total:
        assert len(Database(f"{DECLARED}{total}.")["p"]) == 1


def test_the_other_form_of_an_aggregate_stands_in_a_body() -> None:
    hint = refused("p(i, sum(a)) :- sale(i, a, _, _, _).").hint
    form = hint.partition(", or ")[2].removesuffix(" beside what binds the rest")
    assert form == "t = sum a : { sale(i, a, _, _, _) }"
    assert list(Database(f"{DECLARED}p(i, t) :- sale(i, _, _, _, _), {form}.")["p"]) == [(3, Decimal("2.50"))]


def test_one_mistake_of_a_rule_does_not_hide_another_rules() -> None:
    error = refused("p(a * i) :- sale(i, a, _, _, _).\np(w * i) :- sale(i, _, w, _, _).\np(x) :- visit(d, _), x = d + 1.")
    assert [diagnostic.line for diagnostic in error.diagnostics] == [6, 7, 8]
