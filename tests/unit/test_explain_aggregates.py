"""Proofs and their absence where rules aggregate, use functional predicates, or compute on strings."""

from __future__ import annotations

from pathlib import Path

import pytest

import datalog
from datalog.explain import explain
from tests.command_line import datalog as command

SALES = """\
.decl sales(region: symbol, store: number) = total: number
.decl region(r: symbol)
region("n"). region("e").
sales["n", 1] = 30. sales["n", 2] = 60. sales["s", 1] = 5.
total(r, s) :- region(r), s = sum x : { sales[r, _] = x }.
best(r, m) :- region(r), m = max x : { sales[r, _] = x }.
by[r] = t <- agg<<t = sum(x), n = count()>> sales[r, _] = x, x > 4.
gain(by[r] - 10, r) :- region(r).
"""


def premises(program: str, fact: str) -> list[str]:
    """The lines of the proof behind the first."""
    return str(datalog.Database(program).explain(fact)).split("\n")[1:]


def failing(program: str, fact: str) -> list[str]:
    """What fails in each rule."""
    return [line.removeprefix("└─ ✗ ") for line in str(datalog.Database(program).why_not(fact)).split("\n") if line.startswith("└─ ")]


# --- proofs ----------------------------------------------------------------------------------------------------------------


def test_an_aggregate_is_shown_as_it_is_written_with_the_rows_that_it_is_over() -> None:
    assert str(datalog.Database(SALES).explain('total("n", 90)')) == (
        'total("n", 90)  by total(r, s) :- region(r), s = sum x : { sales[r, _] = x }.  (<program>:5)\n'
        '├─ region("n")  given\n'
        '└─ 90 = sum x : { sales["n", _] = x }  over 2 rows\n'
        '   ├─ sales["n", 1] = 30  given\n'
        '   └─ sales["n", 2] = 60  given'
    )


def test_an_aggregate_over_no_rows_is_a_leaf() -> None:
    assert premises(SALES, 'total("e", 0)') == ['├─ region("e")  given', '└─ 0 = sum x : { sales["e", _] = x }  over no rows']


def test_of_a_maximum_the_row_that_decides_is_shown() -> None:
    assert premises(SALES, 'best("n", 60)')[1:] == [
        '└─ 60 = max x : { sales["n", _] = x }  over 2 rows, this one decides',
        '   └─ sales["n", 2] = 60  given',
    ]


def test_totals_are_shown_as_they_are_written_and_each_row_with_its_literals() -> None:
    assert premises(SALES, 'by["s"] = 5') == [
        '├─ agg<<5 = sum(x)>> sales["s", _] = x, x > 4  over 1 row',
        "│  └─ x = 5",
        '│     ├─ sales["s", 1] = 5  given',
        "│     └─ 5 > 4  x > 4",
        '└─ agg<<1 = count()>> sales["s", _] = x, x > 4  over 1 row',
        "   └─ x = 5  see above",
    ]


def test_the_value_of_a_function_in_a_term_is_a_premise() -> None:
    proof = datalog.Database(SALES).explain('gain(80, "n")')
    assert [(premise.fact, premise.kind) for premise in proof.premises] == [
        ('by["n"] = 90', "derived"),
        ('region("n")', "given"),
        ("80 = 90 - 10", "computed"),
    ]
    assert proof.premises[-1].note == "by[r] - 10"


def test_of_many_rows_the_first_are_shown_and_the_others_counted() -> None:
    facts = " ".join(f"e({number})." for number in range(2_000))
    (aggregate,) = datalog.Database(f"{facts} n(c) :- c = count : {{ e(_) }}.").explain("n(2000)").premises
    assert aggregate.note == "over 2,000 rows"
    assert [(node.fact, node.kind) for node in aggregate.premises] == [
        *((f"e({number})", "given") for number in range(5)),
        ("… and 1,995 more", "more"),
    ]


def test_as_many_rows_are_shown_as_are_asked_for() -> None:
    db = datalog.Database("e(1). e(2). e(3). n(c) :- c = count : { e(_) }.")
    proof = explain(db._engine, db.program.text, "n(3)", rows=2)
    assert [node.fact for node in proof.premises[0].premises] == ["e(1)", "e(2)", "… and 1 more"]


def test_each_derivation_of_a_row_counts() -> None:
    db = datalog.Database("e(1, 5). e(2, 5). e(1, 7). s(t) :- t = sum x : { e(_, x) }.")
    (aggregate,) = db.explain("s(17)").premises
    assert [node.fact for node in aggregate.premises] == ["e(1, 5)", "e(2, 5)", "e(1, 7)"]


@pytest.mark.parametrize(
    ("aggregate", "result", "deciding"),
    [
        ("min x : { e(x, _) }", "1", ['e(1, "c")']),
        ("argmax x, w : { e(x, w) }", '"b"', ['e(9, "b")']),
        ("argmin w, x : { e(x, w) }", "3", ['e(3, "a")']),
        ("median x : { e(x, _) }", "3", ['e(3, "a")']),
        ("quantile w, 1.0 : { e(_, w) }", '"c"', ['e(1, "c")', 'e(9, "c")']),
        ("max x : { e(x, _), x < 9 }", "3", ['e(3, "a")']),
    ],
)
def test_of_functions_that_pick_a_value_the_rows_that_have_it_are_shown(aggregate: str, result: str, deciding: list[str]) -> None:
    db = datalog.Database(f'e(1, "c"). e(3, "a"). e(9, "b"). e(9, "c").\np(v) :- v = {aggregate}.')
    (node,) = db.explain(f"p({result})").premises
    assert node.fact.startswith(f"{result} = ")
    facts = [one.fact for premise in node.premises for one in premise.nodes() if one.kind == "given"]
    assert facts == deciding


def test_an_interval_is_shown_with_its_ends_and_over_its_rows_only() -> None:
    program = "day(1, 10). day(2, 20). day(3, 30). ask(1, 2).\nt(a, s) :- ask(a, b), s = sum v : { day(d, v), d > a, d <= b + 1 }."
    assert premises(program, "t(1, 50)")[1:] == [
        "└─ 50 = sum v : { day(d, v), d > 1, d <= 2 + 1 }  over 2 rows",
        "   ├─ day(2, 20)  given",
        "   └─ day(3, 30)  given",
    ]


def test_rows_of_aggregates_are_proved_further() -> None:
    program = "e(1). d(x) :- e(x). n(c) :- c = count : { d(x), 0 < count : { e(x) } }."
    assert premises(program, "n(1)") == [
        "└─ 1 = count : { d(x), 0 < count : { e(x) } }  over 1 row",
        "   └─ x = 1",
        "      ├─ d(1)  by d(x) :- e(x).  (<program>:1)",
        "      │  └─ e(1)  given",
        "      ├─ 0 < 1  0 < count : { e(x) }",
        "      └─ 1 = count : { e(1) }  over 1 row",
        "         └─ e(1)  given",
    ]


def test_two_rules_that_share_an_aggregate_show_it_in_their_own_words() -> None:
    program = "e(1, 4). g(1). a(x, s) :- g(x), s = sum y : { e(x, y) }. b(u) :- g(u), sum w : { e(u, w) } = 4."
    assert premises(program, "a(1, 4)")[1] == "└─ 4 = sum y : { e(1, y) }  over 1 row"
    assert premises(program, "b(1)")[1] == "└─ 4 = sum w : { e(1, w) }  over 1 row"


def test_a_negated_group_with_an_aggregate_is_shown_as_it_is_written() -> None:
    program = "g(1). e(1, 3). p(x) :- g(x), !(g(x), s = sum y : { e(x, y) }, s > 5)."
    assert premises(program, "p(1)")[1:] == ["└─ !(g(x), s = sum y : { e(x, y) }, s > 5)  nothing satisfies it where x = 1"]


def test_of_a_negated_group_with_a_test_of_an_aggregate_that_part_is_shown_which_does_not_hold() -> None:
    facts = "g(1). e(1, 3). "
    assert premises(facts + "p(x) :- g(x), !(g(x), sum y : { e(x, y) } > 5).", "p(1)")[1:] == [
        "├─ 3 <= 5  !(g(x), sum y : { e(x, y) } > 5)",
        "└─ 3 = sum y : { e(1, y) }  over 1 row",
        "   └─ e(1, 3)  given",
    ]
    assert premises(facts + "h(2). p(x) :- g(x), !(h(x), sum y : { e(x, y) } > 2).", "p(1)")[1:] == ["└─ !h(1)  no such row"]


def test_an_aggregate_in_a_negated_comparison_is_shown_beside_it() -> None:
    program = "g(1). e(1, 3). p(x) :- g(x), !(sum y : { e(x, y) } > 5)."
    assert premises(program, "p(1)")[1:] == [
        "├─ 3 <= 5  !(sum y : { e(x, y) } > 5)",
        "└─ 3 = sum y : { e(1, y) }  over 1 row",
        "   └─ e(1, 3)  given",
    ]


def test_functions_of_strings_and_ranges_are_shown_with_their_values() -> None:
    program = 'w("ab", "x"). p(cat(a, b), n) :- w(a, b), match("a.", a), !contains("z", b), n = range(1, 3).'
    assert premises(program, 'p("abx", 2)') == [
        '├─ w("ab", "x")  given',
        '├─ match("a.", "ab")  match("a.", a)',
        '├─ !contains("z", "x")  !contains("z", b)',
        "├─ 2 = range(1, 3)  n = range(1, 3)",
        '└─ "abx" = cat("ab", "x")  cat(a, b)',
    ]


def test_what_an_inverse_finds_is_shown_by_the_literal_alone() -> None:
    assert premises("n(7). i(x) :- n(y), y = 2 * x + 1.", "i(3)") == ["├─ n(7)  given", "└─ 7 = 2 * 3 + 1  y = 2 * x + 1"]


def test_a_key_stands_for_the_fact_that_has_it() -> None:
    db = datalog.Database(SALES)
    for written in ('by["n"]', 'by["n"].', 'by["n"] = 90', 'by["n"] = _', 'by("n", 90)'):
        assert db.explain(written).fact == 'by["n"] = 90'
    with pytest.raises(datalog.DatalogError, match=r'by\["e"\] has no value'):
        db.explain('by["e"]')


@pytest.mark.parametrize(
    ("fact", "message"),
    [
        ('region["n"] = 1', "<fact>:1:1: error: `region` is no functional predicate"),
        ('by["n", 3] = 1', "<fact>:1:1: error: `by` is given 3 values and has 2 columns"),
        ("by[r]", "<fact>:1:4: error: a fact has values only"),
        ('by["n"] = 3 + 4', "<fact>:1:11: error: a fact has values only, and this is a computation"),
        ("by[3] = 4", "<fact>:1:4: error: 3 is no symbol"),
    ],
)
def test_what_is_no_fact_of_a_functional_predicate_is_refused(fact: str, message: str) -> None:
    with pytest.raises(datalog.DatalogError) as caught:
        datalog.Database(SALES).explain(fact)
    assert str(caught.value).startswith(message)


def test_the_command_line_takes_facts_in_brackets(tmp_path: Path) -> None:
    path = tmp_path / "p.dl"
    path.write_text(SALES)
    outcome = command("explain", path, 'sales["n", 1] = 30')
    assert (outcome.status, outcome.out) == (0, 'sales["n", 1] = 30  given\n')
    outcome = command("explain", "--why-not", path, 'sales["n", 1] = 31')
    assert (outcome.status, outcome.out) == (0, 'sales["n", 1] = 31 does not hold: sales["n", 1] is 30, not 31\n')


# --- why not ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fact", "reasons"),
    [
        ('total("n", 91)', ['91 = sum x : { sales["n", _] = x }  it is 90 here, not 91']),
        ('total("e", 1)', ['1 = sum x : { sales["e", _] = x }  it is 0 here, not 1']),
        ('best("n", 30)', ['30 = max x : { sales["n", _] = x }  it is 60 here, not 30']),
        ('best("e", 1)', ['1 = max x : { sales["e", _] = x }  an aggregate over no rows has no result']),
        ('by["n"] = 5', ['agg<<5 = sum(x)>> sales["n", _] = x, x > 4  it is 90 here, not 5']),
        ('by["e"] = 5', ['agg<<5 = sum(x)>> sales["e", _] = x, x > 4  an aggregate over no rows has no result']),
        ('gain(1, "n")', ["1 = 90 - 10  does not hold, or has no value"]),
        ('gain(1, "e")', ['by["e"]  by["e"] has no value']),
    ],
)
def test_what_an_aggregate_or_a_function_is_instead_is_told(fact: str, reasons: list[str]) -> None:
    assert failing(SALES, fact) == reasons


def test_the_rule_for_no_rows_is_not_an_alternative_of_its_own() -> None:
    db = datalog.Database("g(1). g(2). e(1, 3). p(x) :- g(x), sum y : { e(x, y) } > 5.")
    for fact, found in (("p(1)", "3"), ("p(2)", "0")):
        (attempt,) = db.why_not(fact).attempts
        assert (attempt.alternative, [condition.source for condition in attempt.satisfied]) == ("", ["g(x)", "sum y : { e(x, y) }"])
        assert attempt.failed is not None
        assert (attempt.failed.text, attempt.reason) == (f"{found} > 5", "does not hold")


def test_a_function_with_another_value_in_a_body_is_told() -> None:
    program = "F[1] = 6. F[2] = 2. p(x) :- F[x] = x. q(x) :- F[x] = 2."
    assert failing(program, "p(1)") == ["F[1] = 1  F[1] is 6, not 1"]
    assert failing(program, "q(1)") == ["F[1] = 2  F[1] is 6, not 2"]
    assert failing(program, "q(3)") == ["F[3] = 2  F[3] has no value"]


def test_an_aggregate_waits_for_its_groups_wherever_it_stands() -> None:
    program = "g(1). e(1, 3). p(s) :- s = sum y : { e(x, y) }, g(x)."
    assert failing(program, "p(4)") == ["4 = sum y : { e(1, y) }  it is 3 here, not 4"]


def test_an_interval_that_is_computed_is_asked_for() -> None:
    program = "g(1, 2). e(3, 7). p(s) :- g(a, b), s = sum y : { e(k, y), k > a + 1, k <= a + b }."
    assert failing(program, "p(8)") == ["8 = sum y : { e(k, y), k > 1 + 1, k <= 1 + 2 }  it is 7 here, not 8"]


def test_a_value_that_no_inverse_finds_is_told() -> None:
    assert failing("n(8). z() :- n(y), y = 2 * x + 1.", "z()") == ["8 = 2 * x + 1  no value of x makes it true"]


def test_a_key_has_to_have_a_value_to_be_asked_about() -> None:
    db = datalog.Database(SALES)
    with pytest.raises(datalog.DatalogError, match=r'by\["e"\] has no value\n    hint: ask for one that you expect'):
        db.why_not('by["e"]')
    with pytest.raises(datalog.DatalogError, match=r'by\["n"\] = 90 holds'):
        db.why_not('by["n"]')
