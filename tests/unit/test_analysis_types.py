"""Types that nobody wrote: of variables, of constants, of undeclared predicates."""

from __future__ import annotations

import pytest

from datalog.analysis import analyse
from datalog.ir.core import Type
from datalog.ir.formulas import Program
from datalog.syntax import tree
from datalog.syntax.parser import parse

NUMBER, UNSIGNED, FLOAT, SYMBOL = Type.NUMBER, Type.UNSIGNED, Type.FLOAT, Type.SYMBOL


def types_of(text: str, predicate: str) -> tuple[Type, ...]:
    return analyse(parse(text)).signatures[predicate].types


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('q("a", 1, 1.5, 2u). p(a, b, c, d) <- q(a, b, c, d).', (SYMBOL, NUMBER, FLOAT, UNSIGNED)),
        ("p(x) <- q(x), r(x). r(1.5).", (FLOAT,)),
        ("p(x + 1) <- q(x), x < 2u.", (UNSIGNED,)),
        ("p(x) <- q(y), x = y, y > 0.5.", (FLOAT,)),
        ('p(x) <- r(x). r(x) <- s(x). s("a").', (SYMBOL,)),
        ("p(1). p(2.5).", (FLOAT,)),
        ("p(x) <- q(x).", (NUMBER,)),
        ("p(18446744073709551615u).", (UNSIGNED,)),
        (".type Id <: symbol .type Key = Id .decl q(k: Key) p(x) :- q(x).", (SYMBOL,)),
        ('p(x) <- q(x), !(r(x, y), y < "b"). r(1.5, "a").', (FLOAT,)),
    ],
)
def test_types_come_from_uses(text: str, expected: tuple[Type, ...]) -> None:
    assert types_of(text, "p") == expected


def facts_of(program: Program) -> list[tuple[object, ...]]:
    return [tuple(getattr(term, "value", term) for term in fact.terms) for fact in program.facts]


def test_an_integer_literal_takes_the_type_of_its_column() -> None:
    program = analyse(parse(".decl p(a: number, b: unsigned, c: float)\np(1, 2, 3).\np(-1, 0xff, -3)."))
    rows = facts_of(program)
    assert rows == [(1, 2, 3.0), (-1, 255, -3.0)]
    assert [type(value) for value in rows[0]] == [int, int, float]


def test_an_integer_literal_that_only_an_unsigned_can_hold_is_one() -> None:
    literal = tree.Constant(2**64 - 1, "number")
    fact = tree.Rule((tree.Atom("p", (literal,)),), tree.Conjunction(()), "")
    assert analyse(tree.Program((fact,))).signatures["p"].types == (UNSIGNED,)


def test_a_tree_may_use_one_node_in_two_places_with_two_types() -> None:
    one, x = tree.Constant(1, "number"), tree.Variable("x")
    clauses = (
        tree.Declaration(("a",), (tree.Attribute("x", "number"),)),
        tree.Declaration(("b",), (tree.Attribute("x", "float"),)),
        tree.Rule((tree.Atom("a", (one,)),), tree.Conjunction(()), ""),
        tree.Rule((tree.Atom("b", (one,)),), tree.Conjunction(()), ""),
        tree.Rule((tree.Atom("c", (x,)),), tree.Conjunction((tree.Atom("a", (x,)),)), ":-"),
        tree.Rule((tree.Atom("d", (x,)),), tree.Conjunction((tree.Atom("b", (x,)),)), ":-"),
    )
    program = analyse(tree.Program(clauses))
    assert facts_of(program) == [(1,), (1.0,)]
    assert (program.signatures["c"].types, program.signatures["d"].types) == ((NUMBER,), (FLOAT,))


def test_declarations_may_follow_their_uses() -> None:
    assert types_of("p(x) :- q(x).\n.decl q(x: Name)\n.decl p(x: symbol)\n.type Name <: symbol", "p") == (SYMBOL,)


def test_facts_are_computed() -> None:
    program = analyse(parse("p(1 + 2 * 3, -7 / 2, -7 % 2, 2 ^ 10). p(2 ^ -1, (0 - 1) ^ -3, 1, 1). q(1.0 / 4, 0 - 0.5)."))
    assert facts_of(program) == [(7, -3, -1, 1024), (0, -1, 1, 1), (0.25, -0.5)]


def test_an_undeclared_predicate_is_given_where_an_input_names_it() -> None:
    program = analyse(parse(".decl p(x: number)\n.input edge\np(x) :- edge(x, _)."))
    assert program.signatures["edge"].attributes == ("c1", "c2")
    assert not program.signatures["edge"].declared


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("earned(item, total) <- sale(item, total).", ("item", "total")),
        ("earned[item] = total <- agg<<total = count()>> sale(item, _).", ("item", "total")),
        ("earned(item, total) <- sale(item, total). earned(x, y) <- sale(y, x).", ("item", "total")),
        ("p(x) <- earned(x, _). earned(item, total) <- sale(item, total).", ("item", "total")),
        ("earned(item, item) <- sale(item, _).", ("c1", "c2")),
        ("earned(item, 2 * n) <- sale(item, n).", ("c1", "c2")),
        ("earned(1, 2). earned(item, total) <- sale(item, total).", ("c1", "c2")),
        ("earned(?item, total) <- sale(?item, total).", ("c1", "c2")),
        ("p(x) <- earned(x, _).", ("c1", "c2")),
    ],
)
def test_undeclared_columns_are_named_as_the_variables_of_the_first_head(text: str, expected: tuple[str, ...]) -> None:
    assert analyse(parse(text)).signatures["earned"].attributes == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("p(to_decimal(s, 2)) <- q(s).", Type.DECIMALS[2]),
        ("p(to_decimal(to_decimal(s, 4), 2)) <- q(s).", Type.DECIMALS[2]),
        ("p(to_decimal(s, 0x12)) <- q(s).", Type.DECIMALS[18]),
        ("p(x + 1.5) <- q(s), x = to_decimal(s, 3).", Type.DECIMALS[3]),
        (".decl r(x: decimal(4)) p(x) <- q(s), x = to_decimal(s), r(x).", Type.DECIMALS[4]),
        ("p(to_decimal(s) * to_decimal(s, 1)) <- q(s).", Type.DECIMALS[1]),
        ("p(to_decimal(s)) <- q(s). p(x) <- t(x). t(to_decimal(s, 5)) <- q(s).", Type.DECIMALS[5]),
        ("p(1.50) <- q(_).", FLOAT),
    ],
)
def test_the_scale_of_a_decimal_is_what_is_said_somewhere(text: str, expected: Type) -> None:
    assert types_of(f".decl q(s: symbol)\n{text}", "p") == (expected,)


def test_symbols_are_ordered_too() -> None:
    assert types_of('.decl name(n: symbol) p(n) :- name(n), n >= "m".', "p") == (SYMBOL,)
