"""The oracle on aggregates, functional predicates and failing computations: programs whose answers are worked out by hand."""

from __future__ import annotations

import pytest

from tests.oracle.naive import OracleArithmeticError, OracleConflictError, derivations, evaluate
from tests.oracle.rules import (
    Agg,
    Application,
    Atom,
    Blank,
    Compare,
    Const,
    Literal,
    Not,
    Op,
    Or,
    Program,
    Row,
    Rule,
    Term,
    Test,
    Total,
    Var,
)
from tests.oracle.text import Style, to_text

X, Y, Z, W, S = (Var(name) for name in "xyzws")
BLANK = Blank()
SALES: dict[str, set[Row]] = {"sale": {("n", 1, 10), ("n", 2, 10), ("s", 1, 5)}, "region": {("n",), ("s",), ("w",)}}


def number(value: int) -> Const:
    return Const(value, "number")


def op(name: str, *arguments: Term) -> Op:
    return Op(name, arguments, "number")


def atom(predicate: str, *terms: Term) -> Atom:
    return Atom(predicate, terms)


def agg(function: str, *rest: Term | tuple[Literal, ...]) -> Agg:
    *arguments, body = rest
    return Agg(function, tuple(arguments), body, "number")  # type: ignore[arg-type]


def rule(head: Atom, *body: Literal) -> Rule:
    return Rule((head,), body)


def results(*rules: Rule, facts: dict[str, set[Row]], functional: tuple[str, ...] = (), failing: str = "error") -> dict[str, set[Row]]:
    """The derived relations; column types do not matter to the oracle."""
    heads = {head.predicate: ("number",) * len(head.terms) for rule in rules for head in rule.heads}
    types = {**{name: ("number",) * len(next(iter(rows))) for name, rows in facts.items()}, **heads}
    return evaluate(Program(types, rules, frozenset(functional)), facts, failing)


def test_souffle_s_aggregates_group_by_what_stands_outside_and_know_empty_groups() -> None:
    total = rule(atom("total", X, S), atom("region", X), Compare("=", S, agg("sum", Z, (atom("sale", X, BLANK, Z),))))
    count = rule(atom("number", X, agg("count", (atom("sale", X, BLANK, BLANK),))), atom("region", X))
    least = rule(atom("least", X, agg("min", Y, (atom("sale", X, Y, BLANK),))), atom("region", X))
    found = results(total, count, least, facts=SALES)
    assert found["total"] == {("n", 20), ("s", 5), ("w", 0)}
    assert found["number"] == {("n", 2), ("s", 1), ("w", 0)}
    assert found["least"] == {("n", 1), ("s", 1)}


def test_grouping_rules_have_nothing_for_empty_groups() -> None:
    grouped = Rule(
        (atom("total", X, S, W),), (atom("sale", X, BLANK, Z),), (Total(S, "sum", (Z,), "number"), Total(W, "count", (), "number"))
    )
    assert results(grouped, facts=SALES)["total"] == {("n", 20, 2), ("s", 5, 1)}


def test_a_total_over_nothing_but_groups_that_are_no_variables_is_one_group() -> None:
    grouped = Rule((atom("total", S),), (atom("sale", BLANK, BLANK, Z),), (Total(S, "sum", (Z,), "number"),))
    assert results(grouped, facts=SALES)["total"] == {(25,)}


def test_a_wildcard_counts_in_a_body_of_one_atom_and_elsewhere_only_names_do() -> None:
    facts: dict[str, set[Row]] = {"e": {(1, 2), (1, 3), (2, 3)}, "f": {(2, 7), (2, 8), (3, 7)}}
    joined = rule(atom("n", agg("count", (atom("e", BLANK, Y), atom("f", Y, BLANK)))))
    assert results(joined, facts=facts)["n"] == {(2,)}
    named = rule(atom("n", agg("count", (atom("e", X, Y), atom("f", Y, Z)))))
    assert results(named, facts=facts)["n"] == {(4,)}
    alone = rule(atom("n", agg("count", (atom("e", BLANK, Y), Compare(">", Y, Const(2, "number"))))))
    assert results(alone, facts=facts)["n"] == {(2,)}


def test_witnesses_are_those_of_all_rows_with_the_extremum() -> None:
    facts: dict[str, set[Row]] = {"e": {(1, 5), (2, 9), (3, 9), (4, 9)}, "f": {(2,), (3,)}}
    most = Compare("=", S, agg("max", Y, (atom("e", X, Y),)))
    assert results(rule(atom("n", X, S), most), facts=facts)["n"] == {(2, 9), (3, 9), (4, 9)}
    assert results(rule(atom("n", X, S), most, Compare("<", X, Const(4, "number"))), facts=facts)["n"] == {(2, 9), (3, 9)}
    assert results(rule(atom("n", X, S), most, atom("e", X, BLANK)), facts=facts)["n"] == {(1, 5), (2, 9), (3, 9), (4, 9)}


def test_a_variable_that_an_aggregate_takes_is_its_own() -> None:
    facts: dict[str, set[Row]] = {"e": {(1, 5), (2, 9), (3, 9)}, "f": {(2,), (3,)}}
    own = rule(atom("n", X, S), atom("f", X), Compare("=", S, agg("sum", X, (atom("e", X, BLANK),))))
    assert results(own, facts=facts)["n"] == {(2, 6), (3, 6)}
    result = rule(atom("n", X), Compare("=", X, agg("min", X, (atom("e", X, BLANK),))))
    assert results(result, facts=facts)["n"] == {(1,)}


def test_a_disjunction_in_an_aggregate_is_a_set_over_what_its_branches_bind() -> None:
    facts: dict[str, set[Row]] = {"p": {(1, 5), (1, 6), (2, 5)}, "q": {(1, 9), (3, 9)}}
    either = Or(((atom("p", X, BLANK),), (atom("q", X, Y),)))
    assert results(rule(atom("n", agg("count", (either,)))), facts=facts)["n"] == {(3,)}
    assert results(rule(atom("n", agg("sum", X, (either,)))), facts=facts)["n"] == {(6,)}


def test_bodies_of_aggregates_hold_negations_comparisons_and_aggregates() -> None:
    facts: dict[str, set[Row]] = {"e": {(1, 2), (1, 3), (2, 3), (2, 9)}, "gone": {(9,)}}
    body = (atom("e", X, Y), Not((atom("gone", Y),)), Compare("<", Y, agg("max", Z, (atom("e", BLANK, Z),))))
    assert results(rule(atom("n", X, agg("count", body)), atom("e", X, BLANK)), facts=facts)["n"] == {(1, 2), (2, 1)}


def test_variables_of_two_aggregates_with_one_name_are_two_variables() -> None:
    both = rule(atom("n", agg("min", Y, (atom("e", BLANK, Y),)), agg("max", Y, (atom("e", BLANK, Y),))))
    assert results(both, facts={"e": {(1, 2), (1, 3)}})["n"] == {(2, 3)}


def test_intervals_of_aggregates_are_bounded_from_outside() -> None:
    within = (atom("v", Z, W), Compare(">=", Z, X), Compare("<=", Z, Y))
    total = rule(atom("t", X, Y, agg("sum", W, within)), atom("ask", X, Y))
    found = results(total, facts={"v": {(1, 10), (2, 20), (3, 30)}, "ask": {(1, 2), (2, 3), (5, 9)}})
    assert found["t"] == {(1, 2, 30), (2, 3, 50), (5, 9, 0)}


def test_an_aggregate_through_recursion_is_refused() -> None:
    with pytest.raises(ValueError, match="through recursion"):
        results(rule(atom("p", X, agg("count", (atom("p", BLANK, BLANK),))), atom("e", X)), facts={"e": {(1,)}})


def test_applications_hold_where_the_function_has_a_value() -> None:
    profit = rule(Atom("profit", (X, op("-", Application("sell", (X,)), Application("buy", (X,)))), True), atom("item", X))
    facts: dict[str, set[Row]] = {"item": {("a",), ("b",)}, "sell": {("a", 10), ("b", 9)}, "buy": {("a", 7)}}
    assert results(profit, facts=facts, functional=("sell", "buy", "profit"))["profit"] == {("a", 3)}


def test_an_application_under_a_negation_stays_there() -> None:
    free = rule(atom("free", X), atom("item", X), Not((atom("dear", Application("price", (X,))),)))
    facts: dict[str, set[Row]] = {"item": {(1,), (2,), (3,)}, "price": {(1, 10), (2, 20)}, "dear": {(20,)}}
    assert results(free, facts=facts, functional=("price",))["free"] == {(1,), (3,)}


def test_a_key_with_two_values_is_a_conflict() -> None:
    loose = rule(Atom("F", (X, Y), True), atom("e", X, Y))
    assert results(loose, facts={"e": {(1, 2), (2, 2)}}, functional=("F",))["F"] == {(1, 2), (2, 2)}
    with pytest.raises(OracleConflictError, match="F"):
        results(loose, facts={"e": {(1, 2), (1, 3)}}, functional=("F",))


def test_an_equation_binds_what_only_one_value_can_solve() -> None:
    before = rule(atom("h", X), atom("p", Y), Compare("=", Y, op("-", op("+", X, number(3)), number(1))))
    assert results(before, facts={"p": {(5,), (-(2**63),)}})["h"] == {(3,)}


def test_ranges_bind_and_test() -> None:
    assert results(rule(atom("h", X), Compare("=", X, op("range", number(1), number(4)))), facts={"p": {(1,)}})["h"] == {(1,), (2,), (3,)}
    tested = rule(atom("h", X), atom("p", X), Compare("=", X, op("range", number(1), number(4))))
    assert results(tested, facts={"p": {(3,), (4,)}})["h"] == {(3,)}


def test_a_condition_is_a_term_that_has_to_be_true() -> None:
    ends = Test(Op("match", (Const(".*b", "symbol"), X), "bool"))
    facts: dict[str, set[Row]] = {"p": {("ab",), ("ba",)}}
    assert results(rule(atom("h", X), atom("p", X), ends), facts=facts)["h"] == {("ab",)}
    assert results(rule(atom("h", X), atom("p", X), Not((ends,))), facts=facts)["h"] == {("ba",)}


def test_a_failing_argument_fails_its_group_only_where_the_body_holds() -> None:
    ratio = op("/", number(10), Y)
    facts: dict[str, set[Row]] = {"e": {(1, 0), (2, 5)}, "ok": {(2,)}}
    with pytest.raises(OracleArithmeticError):
        results(rule(atom("h", X, agg("sum", ratio, (atom("e", X, Y),))), atom("e", X, BLANK)), facts=facts)
    guarded = rule(atom("h", X, agg("sum", ratio, (atom("e", X, Y), atom("ok", X)))), atom("e", X, BLANK))
    assert results(guarded, facts=facts)["h"] == {(1, 0), (2, 2)}


def test_what_fails_does_not_hold_where_failing_is_skip() -> None:
    ratio = op("/", number(10), Y)
    facts: dict[str, set[Row]] = {"e": {(1, 0), (1, 5), (2, 0)}}
    sums = rule(atom("s", X, agg("sum", ratio, (atom("e", X, Y),))), atom("e", X, BLANK))
    heads = rule(atom("h", X, ratio), atom("e", X, Y))
    denied = rule(atom("d", X, Y), atom("e", X, Y), Not((Compare(">", ratio, number(0)),)))
    found = results(sums, heads, denied, facts=facts, failing="skip")
    assert found["s"] == {(1, 2), (2, 0)}
    assert found["h"] == {(1, 2)}
    assert found["d"] == {(1, 0), (2, 0)}


def test_derivations_count_what_stands_beside_an_aggregate() -> None:
    counted = Program(
        {"e": ("number",) * 2, "h": ("number",) * 2},
        (rule(atom("h", X, agg("count", (atom("e", X, BLANK),))), atom("e", X, Y), Compare(">", Y, number(1))),),
    )
    assert derivations(counted, {"e": {(1, 1), (1, 2), (1, 3)}})["h"] == {(1, 3): 2}


def test_the_text_of_functions_and_aggregates_is_that_of_both_dialects() -> None:
    sample = Program(
        {"sale": ("symbol", "number"), "F": ("symbol", "number"), "h": ("number",)},
        (
            Rule(
                (Atom("F", (X, op("+", S, number(1))), True),),
                (atom("sale", X, Y),),
                (Total(S, "quantile", (Y,), "number", Const(0.5, "float")), Total(Z, "count", (), "number")),
            ),
            rule(
                atom("h", agg("count", (atom("sale", X, BLANK),))),
                Compare("<", op("+", agg("sum", op("*", Y, number(2)), (atom("sale", X, Y), atom("h", Y))), number(1)), number(3)),
                Compare("=", op("bnot", X), op("max", X, Application("F", (X,)))),
                Not((Atom("F", (X, BLANK), True),)),
                Not((Test(Op("contains", (Const("a", "symbol"), X), "bool")),)),
            ),
        ),
        frozenset({"F"}),
    )
    assert to_text(sample, {"F": {("a", 1)}}, Style(bare=True)) == (
        ".decl sale(a: symbol, b: number)\n"
        ".decl F(a: symbol) = b: number\n"
        ".decl h(a: number)\n"
        'F["a"] = 1.\n'
        "F[x] = s + 1 <- agg<<s = quantile(y, 0.5), z = count()>> sale(x, y).\n"
        "h(count : sale(x, _)) :- (sum y * 2 : { sale(x, y), h(y) }) + 1 < 3, bnot x = max(x, F[x]), "
        '!(F[x] = _), !contains("a", x).\n'
    )


def test_a_result_may_be_given_and_is_tested_then() -> None:
    two = rule(atom("h", X), Compare("=", number(2), agg("count", (atom("sale", X, BLANK, BLANK),))), atom("region", X))
    found = rule(atom("k", Y), atom("sale", X, Y, BLANK), Compare("=", Y, agg("count", (atom("sale", X, BLANK, BLANK),))))
    assert results(two, facts=SALES)["h"] == {("n",)}
    assert results(found, facts=SALES)["k"] == {(2,), (1,)}
