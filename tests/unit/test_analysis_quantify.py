"""Where quantifiers go: the smallest conj that encloses all uses of a variable."""

from __future__ import annotations

import pytest

from datalog.analysis import analyse
from datalog.ir.text import format_program
from datalog.syntax.parser import parse


def quantified(text: str) -> str:
    return format_program(analyse(parse(text))).rstrip("\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "F(x,y) <- G(x,z), H(y,z), I(x,y,z).",
            "∀ x: number, y: number. F(x, y) ← ∃ z: number. G(x, z), H(y, z), I(x, y, z).",
        ),
        ("p(x) <- q(x, _).", "∀ x: number. p(x) ← q(x, _)."),
        ("p(1) <- q(x).", "p(1) ← ∃ x: number. q(x)."),
        (
            "p(x) <- q(x), !(r(x, y), s(y)).",
            "∀ x: number. p(x) ← q(x), !(∃ y: number. r(x, y), s(y)).",
        ),
        (
            "p(x) <- q(x), r(x, y), !(s(y), t(y)).",
            "∀ x: number. p(x) ← ∃ y: number. q(x), r(x, y), !(s(y), t(y)).",
        ),
        (
            "p(x) <- (q(x, y), y > 1 ; r(x)).",
            "∀ x: number. p(x) ← (∃ y: number. q(x, y), y > 1; r(x)).",
        ),
        (
            "p(x) <- (q(x, y), y > 1 ; r(x, y)).",
            "∀ x: number. p(x) ← ∃ y: number. (q(x, y), y > 1; r(x, y)).",
        ),
        (
            "p(x), r(z) <- q(x, y, z).",
            "∀ x: number, z: number. p(x), r(z) ← ∃ y: number. q(x, y, z).",
        ),
        (
            "p(x) <- q(x), !(r(x, y), !(s(y, z), t(z))).",
            "∀ x: number. p(x) ← q(x), !(∃ y: number. r(x, y), !(∃ z: number. s(y, z), t(z))).",
        ),
    ],
)
def test_a_variable_is_quantified_where_all_its_uses_meet(text: str, expected: str) -> None:
    assert quantified(text) == expected


def test_quantifiers_show_inferred_types() -> None:
    text = 'person("Ann", 1.5). p(n) <- person(n, w), w > 2.'
    assert quantified(text) == "∀ n: symbol. p(n) ← ∃ w: float. person(n, w), w > 2.0."


def test_expressions_keep_the_parentheses_that_they_need() -> None:
    text = "p(x) <- q(y, z), x = (y + z) * 2 - (y - (z - 1)) ^ 2 ^ z, -(-x) < 3."
    assert quantified(text).endswith("q(y, z), x = (y + z) * 2 - (y - (z - 1)) ^ 2 ^ z, -(-x) < 3.")
