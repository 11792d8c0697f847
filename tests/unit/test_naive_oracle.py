"""The oracle itself, on programs whose answers are worked out by hand."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings

from tests.oracle.naive import OracleArithmeticError, compute, derivations, evaluate
from tests.oracle.rules import Atom, Blank, Compare, Const, Literal, Not, Op, Or, Program, Row, Rule, Term, Var
from tests.oracle.text import Style, to_text
from tests.properties.programs import Drawn, programs

X, Y, Z, W = Var("x"), Var("y"), Var("z"), Var("w")
BLANK = Blank()


def number(value: int) -> Const:
    return Const(value, "number")


def op(name: str, *arguments: Term) -> Op:
    return Op(name, arguments, "number")


def atom(predicate: str, *terms: Term) -> Atom:
    return Atom(predicate, terms)


def rule(head: Atom, *body: Literal) -> Rule:
    return Rule((head,), body)


def program(*rules: Rule, **arities: int) -> Program:
    return Program({name: ("number",) * arity for name, arity in arities.items()}, rules)


def rows(*values: int | tuple[int, ...]) -> set[Row]:
    return {value if isinstance(value, tuple) else (value,) for value in values}


TRIANGLES = program(rule(atom("t", X, Y, Z), atom("e", X, Y), atom("e", Y, Z), atom("e", X, Z)), e=2, t=3)
CLOSURE = program(
    rule(atom("path", X, Y), atom("e", X, Y)),
    rule(atom("path", X, Z), atom("path", X, Y), atom("e", Y, Z)),
    e=2,
    path=2,
)


def test_triangles_are_found_by_a_self_join() -> None:
    assert evaluate(TRIANGLES, {"e": rows((1, 2), (2, 3), (1, 3), (3, 4))})["t"] == rows((1, 2, 3))


def test_closure_of_a_cycle_is_everything_with_everything() -> None:
    assert evaluate(CLOSURE, {"e": rows((1, 2), (2, 3), (3, 1))})["path"] == {(a, b) for a in (1, 2, 3) for b in (1, 2, 3)}


def test_same_generation_meets_on_one_level() -> None:
    same = program(
        rule(atom("sg", X, X), atom("parent", X, BLANK)),
        rule(atom("sg", X, Y), atom("parent", X, Z), atom("sg", Z, W), atom("parent", Y, W)),
        parent=2,
        sg=2,
    )
    found = evaluate(same, {"parent": rows((1, 3), (2, 3), (3, 5), (4, 5), (6, 4), (5, 7))})["sg"]
    assert found == rows((1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 6), (1, 2), (2, 1), (3, 4), (4, 3), (1, 6), (6, 1), (2, 6), (6, 2))


def test_mutual_recursion_counts_even_and_odd_steps_up_to_its_bound() -> None:
    step = Compare("=", Y, op("+", X, number(1)))
    bound = Compare("<", Y, number(6))
    parity = program(
        rule(atom("even", X), atom("start", X)),
        rule(atom("odd", Y), atom("even", X), step, bound),
        rule(atom("even", Y), bound, step, atom("odd", X)),
        start=1,
        even=1,
        odd=1,
    )
    found = evaluate(parity, {"start": rows(0)})
    assert (found["even"], found["odd"]) == (rows(0, 2, 4), rows(1, 3, 5))


def test_negation_sees_the_finished_lower_stratum() -> None:
    unreached = program(
        *CLOSURE.rules, rule(atom("apart", X, Y), atom("n", X), atom("n", Y), Not((atom("path", X, Y),))), e=2, path=2, n=1, apart=2
    )
    found = evaluate(unreached, {"e": rows((1, 2), (2, 3)), "n": rows(1, 2, 3)})["apart"]
    assert found == rows((1, 1), (2, 1), (2, 2), (3, 1), (3, 2), (3, 3))


def test_a_negated_atom_with_a_wildcard_denies_every_row() -> None:
    sinks = program(rule(atom("sink", X), atom("n", X), Not((atom("e", X, BLANK),))), n=1, e=2, sink=1)
    assert evaluate(sinks, {"n": rows(1, 2, 3), "e": rows((1, 2), (2, 2))})["sink"] == rows(3)


def test_a_negated_group_denies_its_inner_join_only() -> None:
    # No successor of x is marked.
    clean = program(rule(atom("clean", X), atom("n", X), Not((atom("e", X, Z), atom("marked", Z)))), n=1, e=2, marked=1, clean=1)
    found = evaluate(clean, {"n": rows(1, 2, 3), "e": rows((1, 5), (1, 6), (2, 6)), "marked": rows(5)})["clean"]
    assert found == rows(2, 3)


def test_negation_through_recursion_is_refused() -> None:
    with pytest.raises(ValueError, match="negation through recursion"):
        evaluate(program(rule(atom("win", X), atom("move", X, Y), Not((atom("win", Y),))), move=2, win=1), {})


def test_an_unbound_head_variable_is_refused() -> None:
    with pytest.raises(ValueError, match="unbound"):
        evaluate(program(rule(atom("p", X, Y), atom("q", X)), p=2, q=1), {})


def test_a_disjunction_joins_what_its_branches_bind() -> None:
    either = program(
        rule(atom("h", X, Y), atom("p", X), Or(((atom("q", X, Y), Compare(">", Y, number(2))), (Compare("=", Y, X),)))), p=1, q=2, h=2
    )
    assert evaluate(either, {"p": rows(1, 2), "q": rows((1, 2), (1, 3), (9, 9))})["h"] == rows((1, 3), (1, 1), (2, 2))


def test_repeated_variables_and_computed_arguments_select_rows() -> None:
    select = program(
        rule(atom("loop", X), atom("e", X, X)),
        rule(atom("next", X), atom("e", X, op("+", X, number(1)))),
        e=2,
        loop=1,
        next=1,
    )
    found = evaluate(select, {"e": rows((1, 1), (1, 2), (2, 1), (4, 5))})
    assert (found["loop"], found["next"]) == (rows(1), rows(1, 4))


def test_every_head_of_a_rule_gets_its_rows_and_base_facts_stay() -> None:
    both = Program(
        {"e": ("number",) * 2, "from": ("number",), "to": ("number",)}, (Rule((atom("from", X), atom("to", Y)), (atom("e", X, Y),)),)
    )
    found = evaluate(both, {"e": rows((1, 2), (3, 4)), "to": rows(9)})
    assert (found["from"], found["to"]) == (rows(1, 3), rows(2, 4, 9))


@pytest.mark.parametrize(
    ("name", "left", "right", "expected"),
    [
        ("/", 7, 2, 3),
        ("/", -7, 2, -3),
        ("/", 7, -2, -3),
        ("/", -7, -2, 3),
        ("%", 7, 3, 1),
        ("%", -7, 3, -1),
        ("%", 7, -3, 1),
        ("%", -7, -3, -1),
    ],
)
def test_integer_division_truncates_toward_zero(name: str, left: int, right: int, expected: int) -> None:
    assert compute(name, [left, right], "number") == expected


@pytest.mark.parametrize(
    ("name", "values", "type"),
    [
        ("/", [1, 0], "number"),
        ("%", [1, 0], "number"),
        ("+", [2**63 - 1, 1], "number"),
        ("-", [-(2**63), 1], "number"),
        ("*", [2**32, 2**31], "number"),
        ("/", [-(2**63), -1], "number"),
        ("-", [-(2**63)], "number"),
        ("%", [1, 0], "unsigned"),
    ],
)
def test_an_operation_without_a_result_is_an_error(name: str, values: list[int], type: str) -> None:
    with pytest.raises(OracleArithmeticError):
        compute(name, list(values), type)


@pytest.mark.parametrize(
    ("name", "values", "result"),
    [("-", [1, 2], 2**64 - 1), ("+", [2**64 - 1, 1], 0), ("*", [2**63, 2], 0), ("^", [3, 41], 3**41 % 2**64), ("-", [1], 2**64 - 1)],
)
def test_unsigned_wrap_around(name: str, values: list[int], result: int) -> None:
    assert compute(name, list(values), "unsigned") == result


def test_numbers_wrap_around_if_they_are_to() -> None:
    double = program(rule(atom("h", op("*", X, number(2))), atom("p", X)), p=1, h=1)
    assert evaluate(double, {"p": rows(2**62, -(2**63))}, overflow="wrap")["h"] == rows(-(2**63), 0)
    with pytest.raises(OracleArithmeticError):
        evaluate(double, {"p": rows(2**62)})


QUOTIENT = Compare("=", Y, op("/", number(10), X))


def test_a_division_by_zero_fails_the_program() -> None:
    with pytest.raises(OracleArithmeticError):
        evaluate(program(rule(atom("h", Y), atom("p", X), QUOTIENT), p=1, h=1), {"p": rows(0, 5)})


@pytest.mark.parametrize(
    "guard", [Compare("!=", X, number(0)), atom("q", X, BLANK), Not((atom("zero", X),))], ids=["comparison", "atom", "negation"]
)
def test_a_guard_prevents_an_error_wherever_it_stands(guard: Literal) -> None:
    facts = {"p": rows(0, 5), "q": rows((5, 5)), "zero": rows(0)}
    for body in ((atom("p", X), QUOTIENT, guard), (guard, QUOTIENT, atom("p", X))):
        assert evaluate(program(rule(atom("h", Y), *body), p=1, q=2, zero=1, h=1), facts)["h"] == rows(2)


def test_an_atom_with_a_missing_value_holds_if_a_row_agrees_in_its_other_columns() -> None:
    half = 2**62
    doubled = program(rule(atom("h", X), atom("q", number(2), X), atom("q", X, op("+", X, X))), q=2, h=1)
    assert evaluate(doubled, {"q": rows((2, half))})["h"] == set()
    with pytest.raises(OracleArithmeticError):
        evaluate(doubled, {"q": rows((2, half), (half, 5))})


def test_a_missing_value_is_an_error_only_if_the_rest_of_the_body_holds() -> None:
    looked_up = program(rule(atom("h", Y), atom("p", X), QUOTIENT, atom("q", Y)), p=1, q=1, h=1)
    assert evaluate(looked_up, {"p": rows(0)})["h"] == set()
    with pytest.raises(OracleArithmeticError):
        evaluate(looked_up, {"p": rows(0), "q": rows(3)})


def test_derivations_count_assignments_over_all_rules_and_branches() -> None:
    count = program(
        rule(atom("h", X), atom("e", X, Y), atom("e", Y, Z), Compare("<", Y, Z)),
        rule(atom("h", X), Or(((atom("e", X, BLANK),), (atom("n", X),)))),
        e=2,
        n=1,
        h=1,
    )
    found = derivations(count, {"e": rows((1, 2), (1, 3), (2, 4), (3, 4), (3, 5)), "n": rows(1), "h": rows(7)})
    # 1: 1-2-4, 1-3-4, 1-3-5, then once for an edge and once for n; 7 is a base fact.
    assert found["h"] == Counter({(1,): 5, (2,): 1, (3,): 1, (7,): 1})


def test_a_variable_used_once_counts_as_existence() -> None:
    once = program(rule(atom("h", X), atom("e", X, Y)), e=2, h=1)
    assert derivations(once, {"e": rows((1, 2), (1, 3))})["h"] == Counter({(1,): 1})


def test_derivations_leave_recursive_predicates_out() -> None:
    assert derivations(CLOSURE, {"e": rows((1, 2))}) == {}


@settings(max_examples=100)
@given(drawn=programs())
def test_the_rows_with_derivations_are_the_rows_of_the_relation(drawn: Drawn) -> None:
    try:
        relations = evaluate(drawn.program, drawn.facts)
    except OracleArithmeticError:
        return
    for name, counter in derivations(drawn.program, drawn.facts).items():
        assert set(counter) == relations[name]


def test_the_text_of_a_program_is_souffle_s() -> None:
    sample = Program(
        {"e": ("number", "symbol"), "h": ("number",)},
        (
            Rule(
                (atom("h", op("*", op("+", X, number(1)), number(-2))),),
                (atom("e", X, Const('a"b', "symbol")), Not((atom("e", X, Y), Compare("<", Y, Const("c", "symbol")))), Not((atom("h", X),))),
            ),
            Rule((atom("h", X),), (Or(((atom("e", X, BLANK),), (Compare("=", X, op("-", number(3))),))),)),
        ),
    )
    assert to_text(sample, {"e": {(1, "x\n")}}) == (
        ".decl e(a: number, b: symbol)\n"
        ".decl h(a: number)\n"
        'e(1, "x\\n").\n'
        'h((x + 1) * -2) :- e(x, "a\\"b"), !(e(x, y), y < "c"), !h(x).\n'
        "h(x) :- e(x, _) ; x = -(3).\n"
    )


def test_the_papers_dialect_has_arrows_and_no_declarations() -> None:
    assert to_text(CLOSURE, style=Style(arrow="<-", declare=False)) == "path(x, y) <- e(x, y).\npath(x, z) <- path(x, y), e(y, z).\n"
