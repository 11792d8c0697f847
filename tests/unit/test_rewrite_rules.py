"""What each pass makes of a rule, shown as core rules."""

from __future__ import annotations

import pytest

import datalog
from datalog.analysis import analyse
from datalog.errors import ProgramError
from datalog.ir.core import CoreProgram
from datalog.ir.text import format_core_rule
from datalog.rewrite import lower
from datalog.syntax.parser import parse
from tests.unit.core_interpreter import evaluate_core
from tests.unit.test_rewrite_properties import check_core_program


def core(text: str) -> CoreProgram:
    program = lower(analyse(parse(text)))
    check_core_program(program)
    return program


def rules(text: str) -> list[str]:
    """The core rules, but for those that copy given rows."""
    program = core(text)
    return [format_core_rule(rule) for rule in program.rules if rule.atoms[:1] == () or not rule.atoms[0].predicate.endswith("@base")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("p(x) <- q(x, 5).", ["p(x) ← q(x, =5), =5 = 5."]),
        ("p(x, 5) <- q(x, 5).", ["p(x, =5) ← q(x, =5), =5 = 5."]),
        ("p(x) <- q(x, x).", ["p(x) ← q(x, x'), x' = x."]),
        ("p(x, x) <- q(x).", ["p(x, x') ← q(x), x' = x."]),
        ("p(x) <- q(x, y), r(x + y).", ["p(x) ← q(x, y), r(=x + y), =x + y = x + y."]),
        ("p(w) <- q(z), w = z + 1, z < 3.", ["p(w) ← q(z), w = z + 1, z < 3."]),
        ("p(w) <- q(z), z + 1 = w, 3 = z.", ["p(w) ← q(z), w = z + 1, z = 3."]),
        ("p(x) <- q(x), x = x + 0, x + 1 = x * 2.", ["p(x) ← q(x), x = x + 0, x + 1 = x * 2."]),
        ("p(y) <- q(x), r(z), x = y, z = y.", ["p(y) ← q(y), r(y)."]),
        ("p(x, y) <- q(x), x = y.", ["p(x, x') ← q(x), x' = x."]),
        ("p(x) <- q(x, y), r(x, z, z).", ["p(x) ← q(x, _), r(x, z, z'), z' = z."]),
        ("p(x), r(y) <- q(x, y).", ["p(x) ← q(x, _).", "r(y) ← q(_, y)."]),
        ("p(x) <- q(x), !(x < 3).", ["p(x) ← q(x), x >= 3."]),
        ("p(x) <- q(x), true, !false.", ["p(x) ← q(x)."]),
        ("p(x) <- q(x), (r(x) ; false ; s(x)).", ["p(x) ← q(x), r(x).", "p(x) ← q(x), s(x)."]),
        ("p(x) <- q(x), (r(x) ; true).", ["p(x) ← q(x)."]),
        ("p(x) <- q(x), false.", []),
        ("p() <- q(x), r(x).", ["p(=0) ← q(x), r(x), =0 = 0."]),
        ("p(x) <- q(x), !flag().", ["p(x) ← q(x), !flag(=0), =0 = 0."]),
        ("p(-1) <- q(-x, x).", ["p(=-1) ← q(=-x, x), =-x = -x, =-1 = -1."]),
    ],
)
def test_terms_become_variables(text: str, expected: list[str]) -> None:
    assert rules(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "p(x) <- q(x), r(_, _).",
            ["p(x) ← q(x), r@some(=0), =0 = 0.", "r@some(=0) ← r(c1, _), =0 = 0."],
        ),
        (
            "p(x) <- q(x), r(y, z), !r(_, _).",
            ["p(x) ← q(x), r@some(=0), !r@some(=0), =0 = 0.", "r@some(=0) ← r(c1, _), =0 = 0."],
        ),
        (
            "p(x) <- q(x, 0u), r(_).",
            ["p(x) ← q(x, =0), r@some(=0'), =0 = 0, =0' = 0.", "r@some(=0) ← r(c1), =0 = 0."],
        ),
    ],
)
def test_an_atom_of_wildcards_asks_a_helper(text: str, expected: list[str]) -> None:
    assert rules(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "p(x) <- q(x), !(r(x, y), s(y)).",
            ["p(x) ← q(x), !p@not1(x).", "p@not1(x) ← r(x, y), s(y)."],
        ),
        (
            "p(x) <- a(x, y), !(b(x, z), z < y).",
            ["p(x) ← a(x, y), !p@not1(x, y).", "p@not1(x, y) ← a(x, y), b(x, z), z < y."],
        ),
        (
            "p(x) <- q(x), !(r(x, y), !(s(y, z), t(z))).",
            ["p(x) ← q(x), !p@not1(x).", "p@not1(x) ← r(x, y), !p@not2(y).", "p@not2(y) ← s(y, z), t(z)."],
        ),
        (
            "p(x) <- q(x), !(r(y), s(y)).",
            ["p(x) ← q(x), !p@not1(=0), =0 = 0.", "p@not1(=0) ← r(y), s(y), =0 = 0."],
        ),
        (
            "p(x), o(x) <- q(x), !(r(x, y), s(y)).",
            ["p(x) ← q(x), !p@not1(x).", "o(x) ← q(x), !p@not1(x).", "p@not1(x) ← r(x, y), s(y)."],
        ),
    ],
)
def test_a_negated_group_becomes_a_negated_helper(text: str, expected: list[str]) -> None:
    assert rules(text) == expected


def test_a_negated_disjunction_excludes_what_any_of_its_branches_holds_for() -> None:
    text = "q(1). q(2). q(3). q(4). r(1, 2). r(2, 9). s(3). p(x) <- q(x), !(r(x, y), q(y) ; s(x))."
    assert evaluate_core(core(text))["p"] == {(2,), (4,)}


def test_groups_that_one_group_becomes_share_no_variable() -> None:
    text = "p(x, z) :- e(x, _), e(w, z), !(!(e(z, _), x > 1 ; e(n, z), !e(n, x))). e(1, 2). e(2, 3). e(3, 2). e(3, 1)."
    assert list(datalog.Database(text)["p"]) == [(1, 2), (1, 3), (2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (3, 3)]


def test_a_helper_that_computes_takes_the_whole_body_as_its_guard() -> None:
    text = "p(x) <- a(x, y), nonzero(y), x > 1, !(b(x, z), z < x / y)."
    assert rules(text)[1] == "p@not1(x, y) ← a(x, y), nonzero(y), b(x, z), x > 1, z < x / y."
    facts = "a(6, 0). a(6, 2). nonzero(2). b(6, 9). "
    assert evaluate_core(core(facts + text))["p"] == {(6,)}


def test_a_group_in_a_recursion_is_guarded_by_other_predicates_or_by_a_superset_of_it() -> None:
    assert "p@not1(y) ← e(y, _), q(z), z < y." in rules("p(x) <- p(y), e(y, x), !(q(z), z < y).")
    text = "p(x) <- p(y), x = y + 1, x < 5, !(q(z), z < x)."
    assert "p@not1(x) ← p@super(y), q(z), x = y + 1, x < 5, z < x." in rules(text)
    text = "p(0). p(x) <- p(x), !(q(z), z < x). p(x) <- p(y), x = y + 1, x < 5, !(q(z), z < x). q(3)."
    program = core(text)
    assert evaluate_core(program)["p"] == {(0,), (1,), (2,), (3,)}
    assert program.predicates["p@super"].hidden


def test_disjunctions_multiply_up_to_sixteen_rules() -> None:
    four = "(r(x, 1) ; r(x, 2) ; r(x, 3) ; r(x, 4))"
    assert len(rules(f"p(x) <- q(x), {four}, {four}.")) == 16
    five = "(r(x, 1) ; r(x, 2) ; r(x, 3) ; r(x, 4) ; s(x, y), y > 2)"
    shown = rules(f"p(x) <- q(x), {five}, {four}.")
    assert shown[0] == "p(x) ← q(x), p@or1(x), r(x, =1), =1 = 1."
    assert len(shown) == 4 + 5
    assert "p@or1(x) ← s(x, y), y > 2." in shown


def test_a_disjunction_that_shares_a_variable_that_it_does_not_bind_takes_a_guard() -> None:
    many = " ; ".join(f"s({number}), y < {number}" for number in range(9))
    shown = rules(f"p(x) <- q(x, y), ({many}), (r(x) ; t(x)).")
    assert "p@or1(y) ← q(_, y), s(=8), =8 = 8, y < 8." in shown


def test_given_rows_of_a_derived_predicate_lie_in_its_base() -> None:
    program = core("p(1). p(1). p(x) <- q(x). q(2). r(3).")
    assert program.facts == {"p@base": [(1,)], "q": [(2,)], "r": [(3,)]}
    assert (program.predicates["p"].base, program.predicates["q"].base) == ("p@base", "")
    assert format_core_rule(program.rules[0]) == "p(c1) ← p@base(c1)."
    assert program.predicates["p@base"].hidden and not program.predicates["p@base"].derived


def test_a_nullary_fact_is_a_zero() -> None:
    assert core("flag(). p(x) <- q(x), flag().").facts == {"flag": [(0,)]}


def test_a_declared_predicate_without_rules_is_given() -> None:
    assert not core(".decl p(x: number)").predicates["p"].derived


def test_strata_come_dependencies_first() -> None:
    text = (
        "path(x, y) <- edge(x, y). path(x, z) <- path(x, y), edge(y, z). gap(x, y) <- node(x), node(y), !path(x, y). top(x) <- gap(x, _)."
    )
    program = core(text)
    assert [(stratum.predicates, stratum.recursive) for stratum in program.strata] == [
        (("path",), True),
        (("gap",), False),
        (("top",), False),
    ]


def test_a_rule_keeps_its_text_on_one_line_without_comments() -> None:
    program = core('p(x) :- // why\n    q(x, "a  // b"),  /* because */ x\n  > 1.')
    assert program.rules[-1].text == 'p(x) :- q(x, "a  // b"), x > 1.'


def test_a_recursion_that_only_its_negated_group_bounds_is_refused() -> None:
    with pytest.raises(ProgramError, match="negation through recursion"):
        core("p(0). p(x) <- p(y), x = y + 1, !(limit(l), l < x).")


def test_a_test_of_what_only_the_recursion_binds_leaves_its_negated_group() -> None:
    program = core("p(0). p(x) <- p(y), x = y + 1, x < 9, !(limit(l), l > 2, x > y + 3).")
    helper = next(rule for rule in program.rules if "@not" in rule.head)
    assert {atom.predicate for atom in helper.atoms} == {"limit"}
    assert sum(rule.head == "p" and len(rule.atoms) == 2 for rule in program.rules) == 2  # no limit is that large, or x is small
