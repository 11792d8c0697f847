"""Queries as core rules."""

from __future__ import annotations

import pytest

from datalog.analysis import analyse
from datalog.errors import ProgramError
from datalog.ir.core import Type
from datalog.ir.formulas import Program
from datalog.ir.text import format_core_rule
from datalog.rewrite import CoreQuery, lower_query
from datalog.syntax.parser import parse, parse_literals


@pytest.fixture
def program() -> Program:
    declarations = ".decl edge(from: number, to: number)\n.decl name(n: symbol)\n"
    return analyse(parse(declarations + "path(x, y) :- edge(x, y).\npath(x, z) :- path(x, y), edge(y, z)."))


def query(program: Program, text: str) -> CoreQuery:
    return lower_query(parse_literals(text), program, text)


@pytest.mark.parametrize(
    ("text", "columns", "rules"),
    [
        ("path(1, x), !edge(1, x)", ("x",), ["?query(x) ← path(=1, x), !edge(=1, x), =1 = 1."]),
        ("edge(y, x), x < y", ("y", "x"), ["?query(y, x) ← edge(y, x), x < y."]),
        ("path(1, 2)", (), ["?query(=0) ← path(=1, =2), =1 = 1, =2 = 2, =0 = 0."]),
        ("edge(x, 1) ; edge(2, x)", ("x",), ["?query(x) ← edge(x, =1), =1 = 1.", "?query(x) ← edge(=2, x), =2 = 2."]),
        (
            "edge(x, _), !(path(x, y), edge(y, x))",
            ("x",),
            ["?query(x) ← edge(x, _), !?query@not1(x).", "?query@not1(x) ← path(x, y), edge(y, x)."],
        ),
        (
            "!edge(_, _)",
            (),
            ["?query(=0) ← !?query@edge@some(=0), =0 = 0.", "?query@edge@some(=0) ← edge(from, _), =0 = 0."],
        ),
        ('name("a"), x = 1 + 2', ("x",), ['?query(x) ← name(="a"), ="a" = "a", x = 1 + 2.']),
    ],
)
def test_a_query_is_a_rule_over_its_variables(program: Program, text: str, columns: tuple[str, ...], rules: list[str]) -> None:
    lowered = query(program, text)
    assert lowered.columns == lowered.head.attributes == columns
    assert [format_core_rule(rule) for rule in lowered.rules] == rules
    assert [name for stratum in lowered.strata for name in stratum.predicates][-1] == "?query"
    assert all(name.startswith("?query") and predicate.derived and predicate.hidden for name, predicate in lowered.predicates.items())


def test_the_columns_of_a_query_have_types(program: Program) -> None:
    assert query(program, "name(n), edge(x, _)").head.types == (Type.SYMBOL, Type.NUMBER)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pth(1, x)", "<query>:1:1: error: unknown predicate `pth`"),
        ("path(x)", "<query>:1:1: error: `path` has 1 term here, but 2 where it is first used"),
        ("path(x, y), name(y)", "<query>:1:18: error: type mismatch"),
        ("path(1, x) ; edge(y, 1)", "is a column of the answer, but nothing binds it"),
        ("!edge(1, x)", "<query>:1:10: error: `x` is negated here, but nothing binds it"),
        ("edge(x, y), x < _", "<query>:1:17: error: `_` stands in a comparison"),
    ],
)
def test_a_wrong_query_is_refused_like_a_wrong_rule(program: Program, text: str, message: str) -> None:
    with pytest.raises(ProgramError) as caught:
        query(program, text)
    assert message in str(caught.value)
    assert all(diagnostic.text == text for diagnostic in caught.value.diagnostics)
