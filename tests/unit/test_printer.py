"""How trees are written: pieces on one line, and whole programs in their canonical layout."""

from __future__ import annotations

from dataclasses import replace
from textwrap import dedent

import pytest

from datalog.syntax import format_clause, format_literal, format_program, format_rule, format_term, parse, parse_literals
from datalog.syntax.tree import (
    NOWHERE,
    Atom,
    Comparison,
    Conjunction,
    Constant,
    Declaration,
    Operation,
    Plan,
    PlanVersion,
    Program,
    Rule,
    Term,
    Variable,
)

X, Y = Variable("x"), Variable("y")


def formatted(text: str) -> str:
    return format_program(parse(dedent(text)))


def laid_out(text: str) -> str:
    """The expected layout, without the indentation that this file gives it."""
    return dedent(text).lstrip("\n")


# --- Pieces ------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("((x)+(1*y))", "x + 1 * y"),
        ("(x+1)*y", "(x + 1) * y"),
        ("x-(y-z)", "x - (y - z)"),
        ("(x-y)-z", "x - y - z"),
        ("x/(y*z)", "x / (y * z)"),
        ("(x^y)^z", "(x ^ y) ^ z"),
        ("x^(y^z)", "x ^ y ^ z"),
        ("(-x)^y", "(-x) ^ y"),
        ("-(x^y)", "-x ^ y"),
        ("(-x)*y", "-x * y"),
        ("-(x*y)", "-(x * y)"),
        ("x - (-1)", "x - -1"),
        ("(-1)^x", "(-1) ^ x"),
        ("-(1)", "-(1)"),
        ("- 1", "-1"),
        ("f( x,g( ) )", "f(x, g())"),
        ("_", "_"),
        ("0xff", "0xff"),
        ("1e3", "1e3"),
        ("01.50", "01.50"),
        ("true", "true"),
        ("(x band y) bor (z bxor 1)", "x band y bor z bxor 1"),
        ("x band (y bor 1)", "x band (y bor 1)"),
        ("(x lor y) land z", "(x lor y) land z"),
        ("x bshl (1 + y)", "x bshl 1 + y"),
        ("bshl(x, 1)", "x bshl 1"),
        ("bnot(x)", "bnot x"),
        ("bnot (x + 1)", "bnot (x + 1)"),
        ("(bnot x) ^ 2", "(bnot x) ^ 2"),
        ("-bnot(1)", "-bnot 1"),
        ("bnot", "(bnot)"),
        ("band band band", "band band band"),
        ("F [ x,1 ] + a.G[]", "F[x, 1] + a.G[]"),
        ("sum x:{p(x)}", "sum x : { p(x) }"),
        ("1 + (sum x : {p(x)})", "1 + sum x : { p(x) }"),
        ("(sum x : {p(x)}) + 1", "sum x : { p(x) } + 1"),
        ("count:p(_)", "count : { p(_) }"),
        ("count : { p(x); q(x), !r(x) }", "count : { p(x); q(x), !r(x) }"),
        ("sum(x * 2) : { p(x) }", "sum x * 2 : { p(x) }"),
        ("sum (x + 1) * y : { p(x, y) }", "sum (x + 1) * y : { p(x, y) }"),
        ("sum -x : { p(x) }", "sum -x : { p(x) }"),
        ("quantile x,0.9 : { p(x) }", "quantile x, 0.9 : { p(x) }"),
        ("sum (count : p(x)) : { q(x) }", "sum (count : { p(x) }) : { q(x) }"),
        ("sum count : { q(count) }", "sum (count) : { q(count) }"),
        ("sum max(x, y) : { q(x, y) }", "sum max(x, y) : { q(x, y) }"),
        ("sum -max(x, y) : { q(x, y) }", "sum -max(x, y) : { q(x, y) }"),
        ("sum (max(x)) : { q(x, y) }", "sum (max(x)) : { q(x, y) }"),
    ],
)
def test_a_term_takes_the_fewest_parentheses_and_keeps_its_spellings(written: str, canonical: str) -> None:
    (literal,) = parse_literals(f"0 = {written}").literals
    assert isinstance(literal, Comparison)
    assert format_term(literal.right) == canonical


@pytest.mark.parametrize(
    ("term", "canonical"),
    [
        (Constant(-5, "number"), "-5"),
        (Constant(5, "unsigned"), "5u"),
        (Constant(2.0, "float"), "2.0"),
        (Constant(1e100, "float"), "1e+100"),
        (Constant('a"b\\c\n\t\x00\x1f\x7fé', "symbol"), '"a\\"b\\\\c\\n\\t\\x00\\x1f\\x7fé"'),
        (Operation("-", (Constant(-5, "number"),)), "--5"),
    ],
)
def test_a_constant_without_a_spelling_is_written_canonically(term: Term, canonical: str) -> None:
    assert format_term(term) == canonical


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("p( x,1 )", "p(x, 1)"),
        ("x<=y", "x <= y"),
        ("!( p(x) )", "!p(x)"),
        ("!!true", "!!true"),
        ("!x=y", "!(x = y)"),
        ("!(p(x),q(x))", "!(p(x), q(x))"),
        ("!(p(x);q(x))", "!(p(x); q(x))"),
        ("F[x]=y", "F[x] = y"),
        ("!F[x]=y", "!(F[x] = y)"),
        ("F[x]!=y", "F[x] != y"),
        ("true=x", "true = x"),
        ("!(p(x),(q(x);r(x)))", "!(p(x), (q(x); r(x)))"),
    ],
)
def test_a_literal_is_written_with_the_fewest_parentheses(written: str, canonical: str) -> None:
    (literal,) = parse_literals(written).literals
    assert format_literal(literal) == canonical


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("p(1) .", "p(1)."),
        ("p(x),q(x):-r(x),(s(x);t(x)).", "p(x), q(x) :- r(x), (s(x); t(x))."),
        ("p(x)<-(q(x);r(x)).", "p(x) <- q(x); r(x)."),
        (".decl p,q( x:number )  inline brie", ".decl p, q(x: number) inline brie"),
        (".decl p( )", ".decl p()"),
        (".decl F( x:number )=y:decimal( 02 )  inline", ".decl F(x: number) = y: decimal(2) inline"),
        (".type P=decimal(2)", ".type P = decimal(2)"),
        ('F["a",-1]=70 .', 'F["a", -1] = 70.'),
        ("F[x]=G[x]-1<-q(x).", "F[x] = G[x] - 1 <- q(x)."),
        ("t[p]=s<-agg<<s=sum(c),n=count()>>q(p,c).", "t[p] = s <- agg<<s = sum(c), n = count()>> q(p, c)."),
        (".type T<:symbol", ".type T <: symbol"),
        (".number_type T", ".type T <: number"),
        (".input p()", ".input p"),
        (".plan 0 : ( 2,1 ) ,1:(1,2)", ".plan 0:(2, 1), 1:(1, 2)"),
        ('.input p,q(IO="file",filename=x,headers="true",n=0x10)', '.input p, q(IO=file, filename="x", headers=true, n=16)'),
    ],
)
def test_a_clause_on_one_line(written: str, canonical: str) -> None:
    (clause,) = parse(written).clauses
    assert format_clause(clause) == canonical
    if isinstance(clause, Rule):
        assert format_rule(clause) == canonical


def test_a_generated_rule_without_an_arrow_is_written_with_one() -> None:
    rule = Rule((Atom("p", (X,)),), Conjunction((Atom("q", (X, Y)),)), "")
    assert format_rule(rule) == "p(x) :- q(x, y)."


# --- Layout ------------------------------------------------------------------------------------------------------------------------


def test_blank_lines_between_clauses_stay_as_one_each() -> None:
    assert formatted("\n\n.decl p(x:number)\n\n\n\np(1).\np(2).   p(3).\n\n\n") == ".decl p(x: number)\n\np(1).\np(2).\np(3).\n"


def test_an_empty_program_is_an_empty_text() -> None:
    assert formatted("\n\n") == ""


def test_a_generated_program_has_blank_lines_between_kinds_of_clauses() -> None:
    declaration = Declaration(("p",), ())
    fact = Rule((Atom("p", ()),), Conjunction(()), "")
    assert format_program(Program((declaration, declaration, fact, fact))) == ".decl p()\n.decl p()\n\np().\np().\n"


def test_a_plan_stays_beside_its_rule() -> None:
    program = parse("p(x):-q(x),r(x).  .plan 0:(2,1)\n.output p")
    assert format_program(program) == "p(x) :- q(x), r(x).\n.plan 0:(2, 1)\n.output p\n"
    assert format_program(parse("p(x) :- q(x). // why\n\n/* how */ .plan 0:(1)")) == "p(x) :- q(x). // why\n\n/* how */\n.plan 0:(1)\n"
    plan = Plan((PlanVersion(0, (1,)),))
    rule = parse("p(x) :- q(x).").clauses[0]
    fact = parse("q(1).").clauses[0]
    without_places = Program(tuple(replace(clause, span=NOWHERE) for clause in (rule, plan, fact)))
    assert format_program(without_places) == "p(x) :- q(x).\n.plan 0:(1)\nq(1).\n"


def test_a_long_rule_has_one_literal_a_line() -> None:
    long = "points_to(variable, heap) :- assign(variable, other), points_to(other, heap), !ignored(variable), heap != 0."
    assert formatted(long) == laid_out(
        """
        points_to(variable, heap) :-
            assign(variable, other),
            points_to(other, heap),
            !ignored(variable),
            heap != 0.
        """
    )


def test_a_rule_of_exactly_the_width_stays_on_its_line() -> None:
    for surplus in (0, 1):
        rule = f"p(x) :- q(x), r({'y' * (82 + surplus)})."
        assert (len(rule), len(formatted(rule).splitlines())) == ((100, 1) if not surplus else (101, 3))


def test_a_long_disjunction_has_one_branch_a_line_where_that_fits() -> None:
    names = ["a" * 40, "b" * 40, "c" * 40, "d" * 60]
    one, two, three, four = (f"{name}(x)" for name in names)
    assert formatted(f"p(x) :- {one}, {two}; {three}, {four}.") == laid_out(
        f"""
        p(x) :-
            {one}, {two};
            {three},
            {four}.
        """
    )


def test_the_body_of_a_long_aggregate_has_one_literal_a_line() -> None:
    literals = "sales(region, store, day, amount), !returned(region, store, day), day >= first_day, day < last_day"
    text = f'total[region] = t :- t = sum amount : {{ {literals} }}, region != "", count : {{ {literals} }} > 1.'
    expected = laid_out(
        """
        total[region] = t :-
            t = sum amount : {
                sales(region, store, day, amount),
                !returned(region, store, day),
                day >= first_day,
                day < last_day
            },
            region != "",
            count : {
                sales(region, store, day, amount),
                !returned(region, store, day),
                day >= first_day,
                day < last_day
            } > 1.
        """
    )
    assert formatted(text) == formatted(expected) == expected


def test_a_long_aggregate_keeps_the_comments_at_its_literal() -> None:
    branches = "; ".join(f"{name * 40}(x)" for name in "abc")
    text = f"p(s) :- q(s), // one\n s = count : {{ {branches} /* two */ }}. // three"
    expected = laid_out(
        f"""
        p(s) :-
            q(s), // one
            /* two */
            s = count : {{
                {"a" * 40}(x);
                {"b" * 40}(x);
                {"c" * 40}(x)
            }}. // three
        """
    )
    assert formatted(text) == formatted(expected) == expected


# --- Comments ----------------------------------------------------------------------------------------------------------------------


def test_comments_between_clauses_and_at_their_ends_stay_in_place() -> None:
    text = laid_out(
        """
        // The graph.
        .decl edge(x: number, y: number) // one row an edge
        .input edge

        /* Two
           lines. */
        edge(1, 2). /* a */ // b
        // the end
        """
    )
    assert formatted(text) == text


def test_comments_among_the_literals_of_a_rule_stay_at_their_literals() -> None:
    text = laid_out(
        """
        p(x) :- // why
            q(x), // one
            // own
            r(x), /* two */ // three
            s(x). // four
        """
    )
    assert formatted(text) == text


def test_comments_inside_a_literal_move_before_it_and_those_of_columns_stay() -> None:
    text = """
        .decl p(x: number, // the key
            // the value
            y: number)
        p(1, /* one */ 2). // two
        p(x, y) :- q(x), r(x, /* three */ y).
        p(/* four */ x, y) :- q(x, y).
        """
    assert formatted(text) == laid_out(
        """
        .decl p(
            x: number, // the key
            // the value
            y: number
        )
        /* one */
        p(1, 2). // two
        p(x, y) :-
            q(x),
            /* three */
            r(x, y).
        /* four */
        p(x, y) :- q(x, y).
        """
    )


def test_no_comment_follows_a_comment_that_runs_to_the_end_of_the_line() -> None:
    text = """
        p(x) :- q(x) // one
            , r(x) // two
            . // three
        """
    assert formatted(text) == laid_out(
        """
        p(x) :-
            q(x), // one
            r(x). // two
        // three
        """
    )
