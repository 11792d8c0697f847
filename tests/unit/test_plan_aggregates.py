"""What `datalog plan` shows of aggregates and functional predicates."""

from __future__ import annotations

from pathlib import Path

import pytest

import datalog
from datalog.evaluate.scanned import Scanned
from datalog.evaluate.totals import Totals
from datalog.maintain.aggregates import AggregateStratum
from datalog.plan_aggregates import kept_text
from tests.command_line import datalog as command

SALES = """\
.decl sales(region: symbol, store: number) = total: number
.decl region(r: symbol)
region("n"). region("e").
sales["n", 1] = 30. sales["n", 2] = 60. sales["s", 1] = 5.
total(r, s) :- region(r), s = sum x : { sales[r, _] = x }.
upto(n, t) :- limit(n), t = max x : { sales[_, k] = x, k <= n }.
limit(1). limit(2).
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "p.dl"
    path.write_text(SALES)
    return path


def section(text: str, title: str) -> str:
    """The lines of one section."""
    return (
        text.split(f"\n{title}\n")[1].split("\n\n")[0]
        if title != "aggregates"
        else text.split("\naggregates\n")[1].split("\nfunctional")[0]
    )


def test_plan_shows_what_each_aggregate_is_over_and_how_it_is_kept(program: Path) -> None:
    assert section(command("plan", program, "--run").out, "aggregates") == (
        "  total@agg1(r, sum) = sum over total@body1(r, x).\n"
        "     in           total(r, s) :- region(r), s = sum x : { sales[r, _] = x }.\n"
        "     kept         the sum before, to which exact changes are added: O(1) a result\n"
        "     estimate     about 2 groups of 1.5\n"
        "     run          2 results over 3 rows\n"
        "     maintenance  the groups of changed rows are asked again, or its stratum is evaluated anew where that takes fewer steps\n"
        "\n"
        "  upto@agg1(n, max) = max over upto@body1(k, x) with k <= n, for each upto@need1(n).\n"
        "     in           upto(n, t) :- limit(n), t = max x : { sales[_, k] = x, k <= n }.\n"
        "     kept         a tree of the values with a scan of their greatest value: O(log n) a result\n"
        "     estimate     about 2 intervals\n"
        "     run          2 results over 3 rows\n"
        "     maintenance  the intervals around changed rows, which an index finds, are asked again,"
        " or its stratum is evaluated anew where that takes fewer steps\n"
    )


def test_plan_tells_which_strata_are_aggregates(program: Path) -> None:
    strata = section(command("plan", program).out, "strata")
    assert "1  total@agg1: sum over sales\n" in strata
    assert "4  upto@agg1: max over sales for upto@need1\n" in strata


def test_plan_shows_functional_predicates_as_they_are_declared(program: Path) -> None:
    shown = section(command("plan", program).out, "functional predicates")
    assert shown == "  sales(region: symbol, store: number) = total: number"


def test_an_aggregate_follows_changes_as_the_way_of_maintenance_says(program: Path) -> None:
    anew, derived = (section(command("plan", program, "--maintain", way).out, "aggregates") for way in ("recompute", "derived"))
    assert anew.count("maintenance  its stratum is evaluated anew\n") == 2
    assert "maintenance  the groups of changed rows are asked again\n" in derived


FUNCTIONS = ("sum x", "mean x", "count", "min x", "max x", "median x", "quantile x, 0.2", "argmin x, y", "argmax y, x", "product x")


@pytest.mark.parametrize("within", ["", ", k >= b"], ids=["groups", "intervals"])
@pytest.mark.parametrize("type", ["number", "float", "symbol"])
def test_what_is_kept_is_what_the_plan_says(type: str, within: str) -> None:
    functions = [*FUNCTIONS, "bitand x", "bitor x", "bitxor x", "collect x", 'join x, ","']
    numeric = ("sum", "mean", "product", "bit")
    fitting = [
        one for one in functions if not (type == "symbol" and one.startswith(numeric)) and not (type == "float" and one.startswith("bit"))
    ]
    rules = "".join(f"p{n}(a, v) :- g(a, b), v = {one} : {{ e(a, k, x, y){within} }}.\n" for n, one in enumerate(fitting))
    declared = f".decl e(a: number, k: number, x: {type}, y: {type})\n.decl g(a: number, b: number)\n"
    db = datalog.Database(declared + rules)
    kept = [stratum.keeper._aggregate for stratum in db._engine.strata if isinstance(stratum.keeper, AggregateStratum)]
    functions = {function.core.name for one in kept for function in one.functions}
    assert functions == {one.split()[0] for one in fitting}
    for aggregate, function in [(one, function) for one in kept for function in one.functions]:
        text = kept_text(aggregate.aggregate, function.core)
        assert ("chunks" in text) == isinstance(function.state, Totals), text
        assert ("scan" in text) == isinstance(function.state, Scanned), text
        assert aggregate.keyed == bool(within)
        if "the order of" in text:
            assert function.state is None and not aggregate.keyed
