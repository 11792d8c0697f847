"""What each construct of the two dialects means, as a tree."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from datalog.errors import ProgramError
from datalog.ir import primitives
from datalog.syntax import parse, parse_atom, parse_literals
from datalog.syntax.aggregates import AGGREGATES
from datalog.syntax.terms import DEEPEST
from datalog.syntax.tree import (
    Aggregate,
    Application,
    Atom,
    Attribute,
    Clause,
    Comparison,
    Conjunction,
    Constant,
    Declaration,
    Directive,
    Disjunction,
    Literal,
    Negation,
    Operation,
    Plan,
    PlanVersion,
    Rule,
    Span,
    Term,
    Total,
    Truth,
    TypeDeclaration,
    Variable,
    Wildcard,
)

X, Y, Z = Variable("x"), Variable("y"), Variable("z")
P, Q, R = Atom("p", (X,)), Atom("q", (X,)), Atom("r", (X,))


def clause(text: str) -> Clause:
    (only,) = parse(text).clauses
    return only


def body(text: str) -> tuple[Literal, ...]:
    return parse_literals(text).literals


def term(text: str) -> Term:
    (literal,) = body(f"0 = {text}")
    assert isinstance(literal, Comparison)
    return literal.right


def number(value: int) -> Constant:
    return Constant(value, "number")


def both(*literals: Literal) -> Conjunction:
    return Conjunction(literals)


def messages(text: str) -> list[str]:
    with pytest.raises(ProgramError) as caught:
        parse(text)
    return [diagnostic.message for diagnostic in caught.value.diagnostics]


# --- Declarations and directives ---------------------------------------------------------------------------------------------------


def test_a_declaration_has_attributes_and_qualifiers() -> None:
    attributes = (Attribute("x", "number"), Attribute("y", "symbol"))
    assert clause(".decl p(x: number, y: symbol) btree inline") == Declaration(("p",), attributes, ("btree", "inline"))


def test_a_declaration_may_name_several_predicates_or_have_no_attributes() -> None:
    assert clause(".decl a, b(x:number)") == Declaration(("a", "b"), (Attribute("x", "number"),))
    assert clause(".decl p()") == Declaration(("p",), ())


def test_a_qualifier_word_can_still_name_a_predicate() -> None:
    program = parse(".decl p(x: number)\ninline(1).\noutput(x) :- input(x).")
    assert [type(found) for found in program.clauses] == [Declaration, Rule, Rule]
    assert program.clauses[0] == Declaration(("p",), (Attribute("x", "number"),))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (".type X <: symbol", TypeDeclaration("X", "symbol", True)),
        (".type X = number", TypeDeclaration("X", "number", False)),
        (".type X", TypeDeclaration("X", "symbol", True)),
        (".symbol_type X", TypeDeclaration("X", "symbol", True)),
        (".number_type X", TypeDeclaration("X", "number", True)),
    ],
)
def test_types_are_declared_in_the_new_and_the_old_way(text: str, expected: TypeDeclaration) -> None:
    assert clause(text) == expected


def test_a_directive_keeps_its_parameters_in_order_with_their_python_types() -> None:
    found = clause('.input p(IO=file, filename="x.csv", delimiter="\\t", headers=true, skip=-1, n=0x10)')
    parameters = (("IO", "file"), ("filename", "x.csv"), ("delimiter", "\t"), ("headers", "true"), ("skip", -1), ("n", 16))
    assert found == Directive("input", ("p",), parameters)


def test_directives_may_name_several_predicates_and_need_no_parameters() -> None:
    program = parse(".output a, b.c\n.printsize a\n.input d()\na(1).")
    assert program.clauses[:3] == (Directive("output", ("a", "b.c")), Directive("printsize", ("a",)), Directive("input", ("d",)))


def test_a_plan_is_a_clause_of_its_own_behind_a_rule_of_either_dialect() -> None:
    for arrow in (":-", "<-"):
        program = parse(f"p(x) {arrow} q(x), r(x). // why\n.plan 0:(2,1), 1 : ( 1 , 2 )\np(1).")
        assert [type(found) for found in program.clauses] == [Rule, Plan, Rule]
        assert program.clauses[1] == Plan((PlanVersion(0, (2, 1)), PlanVersion(1, (1, 2))))
        assert (program.clauses[1].span.line, program.clauses[1].span.end_column) == (2, 29)


@pytest.mark.parametrize("written", [".plan", ".plan 0", ".plan 0:(x)", ".plan 0:(1,)", ".plan 0x1:(1)", ".plan 0:(12345)"])
def test_a_malformed_plan_is_refused_and_what_follows_is_read(written: str) -> None:
    with pytest.raises(ProgramError) as caught:
        parse(f"p(x) :- q(x).\n{written}\np(1) :- .\n")
    assert [found.line for found in caught.value.diagnostics][-1] == 3
    assert caught.value.line in (2, 3)
    assert len(caught.value.diagnostics) == 2


# --- Rules -------------------------------------------------------------------------------------------------------------------------


def test_a_fact_has_an_empty_body_and_no_arrow() -> None:
    assert clause('p(1, -2, "a").') == Rule((Atom("p", (number(1), number(-2), Constant("a", "symbol"))),), both(), "")
    assert clause("p().") == Rule((Atom("p", ()),), both(), "")
    assert clause("p(1 + 2).") == Rule((Atom("p", (Operation("+", (number(1), number(2))),)),), both(), "")


def test_a_fact_reads_the_same_with_and_without_comments_in_it() -> None:
    plain, commented = clause('p(1, 0xff, 2u, -1.5, "a, (b)\\n").'), clause('p(1, 0xff, 2u, -1.5, /* c */ "a, (b)\\n").')
    assert plain == commented


@pytest.mark.parametrize("arrow", [":-", "<-"])
def test_both_arrows_define_rules_and_are_remembered(arrow: str) -> None:
    found = clause(f"p(x) {arrow} q(x), r(x).")
    assert isinstance(found, Rule)
    assert found.arrow == arrow
    assert found.body == both(Q, R)


def test_a_rule_may_have_several_heads() -> None:
    assert clause("p(x), q(x) :- r(x).") == Rule((P, Q), both(R), ":-")


def test_an_arrow_in_a_body_is_a_comparison_with_a_negative_number() -> None:
    assert body("x <-1") == (Comparison("<", X, number(-1)),)


def test_a_comma_binds_tighter_than_a_semicolon() -> None:
    assert body("p(x), q(x); r(x)") == (Disjunction((both(P, Q), both(R))),)
    assert body("p(x), (q(x); r(x))") == (P, Disjunction((both(Q), both(R))))


def test_parentheses_that_change_nothing_leave_no_trace() -> None:
    assert body("(p(x))") == body("((p(x)))") == (P,)
    assert body("(p(x), q(x)), r(x)") == (P, Q, R)
    assert body("p(x); (q(x); r(x))") == (Disjunction((both(P), both(Q), both(R))),)
    assert body("((x + 1)) = (y)") == (Comparison("=", Operation("+", (X, number(1))), Y),)


def test_negation_takes_an_atom_a_comparison_or_a_group() -> None:
    assert body("!p(x)") == body("!(p(x))") == (Negation(both(P)),)
    assert body("!(p(x), q(x))") == (Negation(both(P, Q)),)
    assert body("!(p(x); q(x))") == (Negation(both(Disjunction((both(P), both(Q))))),)
    assert body("!x = y") == (Negation(both(Comparison("=", X, Y))),)
    assert body("!!p(x)") == (Negation(both(Negation(both(P)))),)


@pytest.mark.parametrize("operator", ["=", "!=", "<", "<=", ">", ">="])
def test_each_comparison_operator_compares_terms(operator: str) -> None:
    (found,) = body(f"x+1{operator}f(y)")
    assert found == Comparison(operator, Operation("+", (X, number(1))), Operation("f", (Y,)))  # type: ignore[arg-type]


def test_true_and_false_are_literals() -> None:
    assert body("true, false, truex(x)") == (Truth(True), Truth(False), Atom("truex", (X,)))
    assert body("(true)") == body("((true))") == (Truth(True),)
    assert body("!(true; false)") == (Negation(both(Disjunction((both(Truth(True)), both(Truth(False)))))),)


def test_true_and_false_are_terms_where_a_term_stands() -> None:
    yes, no = Constant(True, "bool"), Constant(False, "bool")
    assert body("x = true, false != f(true)") == (Comparison("=", X, yes), Comparison("!=", no, operation("f", yes)))
    assert clause("p(true, 1).") == Rule((Atom("p", (yes, number(1))),), both(), "")
    assert clause("p(false, x) :- p(x).") == Rule((Atom("p", (no, X)),), both(P), ":-")


def test_names_may_have_question_marks_underscores_and_capitals() -> None:
    assert body("P(?x, _x, _, X_1)") == (Atom("P", (Variable("?x"), Variable("_x"), Wildcard(), Variable("X_1"))),)


def test_a_full_stop_is_never_part_of_a_name() -> None:
    program = parse("p(x) :- q(x).r(1).p(x) :- q(x), x = y.a.b(x) :- a.c(x).")
    names = [found.heads[0].predicate for found in program.clauses if isinstance(found, Rule)]
    assert names == ["p", "r", "p", "a.b"]


def test_a_full_stop_behind_a_number_ends_the_clause() -> None:
    assert parse("p(x) :- x = 1.q(2).").clauses == (
        Rule((P,), both(Comparison("=", X, number(1))), ":-"),
        Rule((Atom("q", (number(2),)),), both(), ""),
    )


# --- Terms -------------------------------------------------------------------------------------------------------------------------


def operation(name: str, *arguments: Term) -> Operation:
    return Operation(name, arguments)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x + y * z", operation("+", X, operation("*", Y, Z))),
        ("x - y - z", operation("-", operation("-", X, Y), Z)),
        ("x - (y - z)", operation("-", X, operation("-", Y, Z))),
        ("x / y % z", operation("%", operation("/", X, Y), Z)),
        ("x ^ y ^ z", operation("^", X, operation("^", Y, Z))),
        ("-x ^ y", operation("-", operation("^", X, Y))),
        ("x ^ -y", operation("^", X, operation("-", Y))),
        ("-x * y", operation("*", operation("-", X), Y)),
        ("x - -1", operation("-", X, number(-1))),
        ("-1 * x", operation("*", number(-1), X)),
        ("-2 ^ x", operation("-", operation("^", number(2), X))),
        ("(-2) ^ x", operation("^", number(-2), X)),
        ("-(1)", operation("-", number(1))),
        ("-(/* ( */ 1)", operation("-", number(1))),
        ("--1", operation("-", number(-1))),
        ("x lor y lxor z", operation("lor", X, operation("lxor", Y, Z))),
        ("x land y bor z", operation("land", X, operation("bor", Y, Z))),
        ("x bxor y band z", operation("bxor", X, operation("band", Y, Z))),
        ("x bshl 1 + y", operation("bshl", X, operation("+", number(1), Y))),
        ("x bshr y bshru z", operation("bshru", operation("bshr", X, Y), Z)),
        ("bnot x band y", operation("band", operation("bnot", X), Y)),
        ("lnot -x ^ y", operation("lnot", operation("-", operation("^", X, Y)))),
        ("x ^ bnot y ^ z * x", operation("*", operation("^", X, operation("bnot", operation("^", Y, Z))), X)),
        ("bnot + band", operation("+", Variable("bnot"), Variable("band"))),
        ("band(x, y)", operation("band", X, Y)),
        ("f(x, g()) + 1", operation("+", operation("f", X, operation("g")), number(1))),
    ],
)
def test_operators_bind_as_usual(text: str, expected: Term) -> None:
    assert term(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12", Constant(12, "number")),
        ("-9223372036854775808", Constant(-(2**63), "number")),
        ("9223372036854775807", Constant(2**63 - 1, "number")),
        ("0xfF", Constant(255, "number", "0xfF")),
        ("-0xff", Constant(-255, "number", "-0xff")),
        ("- 5", Constant(-5, "number")),
        ("-0", Constant(0, "number", "-0")),
        ("0b101", Constant(5, "number", "0b101")),
        ("007", Constant(7, "number", "007")),
        ("18446744073709551615u", Constant(2**64 - 1, "unsigned")),
        ("0xffu", Constant(255, "unsigned", "0xffu")),
        ("1.5", Constant(1.5, "float")),
        ("-1.5e-3", Constant(-0.0015, "float", "-1.5e-3")),
        ("1e3", Constant(1000.0, "float", "1e3")),
        ("1e+16", Constant(1e16, "float")),
        ('"a"', Constant("a", "symbol")),
        ('"é\\t\\"\\\\"', Constant('é\t"\\', "symbol")),
        ('"\\x41\\101\\7"', Constant("AA\a", "symbol", '"\\x41\\101\\7"')),
        ('"// no /* comment"', Constant("// no /* comment", "symbol")),
    ],
)
def test_literals_keep_a_spelling_only_where_it_is_not_canonical(text: str, expected: Constant) -> None:
    found = term(text)
    assert found == expected
    assert isinstance(found, Constant)
    assert type(found.value) is type(expected.value)


@pytest.mark.parametrize("text", ["18446744073709551616", "-9223372036854775809", "18446744073709551616u", "-1u", "1e999", "9" * 5000])
def test_a_number_out_of_range_is_refused_and_not_wrapped(text: str) -> None:
    with pytest.raises(ProgramError) as caught:
        parse(f"p(0,\n  {text}).")
    (found,) = caught.value.diagnostics
    assert (found.line, found.column, found.length) == (2, 3, len(text))
    assert text[:20] in found.message


NESTED = (
    f"p(x) :- q(x), y = {'F[' * (DEEPEST + 1)}x{']' * (DEEPEST + 1)}.",
    f"p(x) :- q(x), y = {'count : { x = ' * (DEEPEST + 1)}x{' }' * (DEEPEST + 1)}.",
    f"p(x) :- q(x), y = {'sum (' * (DEEPEST + 1)}x{') : p(x)' * (DEEPEST + 1)}.",
)


def test_nesting_deeper_than_a_recursive_walk_can_go_is_refused() -> None:
    assert len(parse(f"p({'-' * DEEPEST}x) :- q(x).").clauses) == 1
    for text in (f"p({'-' * (DEEPEST + 1)}x) :- q(x).", f"p(x) :- {'!' * (DEEPEST + 1)}q(x).", f"p({'1+' * 10_000}x) :- q(x).", *NESTED):
        assert messages(text) == [f"this nests more than {DEEPEST} levels deep"]


# --- Functional predicates ---------------------------------------------------------------------------------------------------------


def functional(name: str, *terms: Term) -> Atom:
    return Atom(name, terms, functional=True)


def test_a_functional_declaration_has_its_value_last() -> None:
    region, total = Attribute("region", "symbol"), Attribute("total", "decimal(2)")
    assert clause(".decl s(region: symbol) = total: decimal(02)") == Declaration(("s",), (region, total), functional=True)
    program = parse(".decl s() = total: decimal(2) inline\nbtree[1] = 2.")
    assert program.clauses[0] == Declaration(("s",), (total,), ("inline",), functional=True)
    assert program.clauses[0].span.end_column == 37


def test_a_decimal_stands_wherever_a_type_does() -> None:
    assert clause(".type P <: decimal( 2 )") == TypeDeclaration("P", "decimal(2)", True)
    assert clause(".type P = decimal(18)") == TypeDeclaration("P", "decimal(18)", False)
    assert clause(".decl decimal(decimal: decimal(0))") == Declaration(("decimal",), (Attribute("decimal", "decimal(0)"),))


@pytest.mark.parametrize("text", ['F["a", -3, true] = 7.', 'F[ "a",-3 , true ]= 7 .', 'F /* c */ ["a", -3, true] = 7.'])
def test_a_functional_fact_reads_the_same_however_it_is_spaced(text: str) -> None:
    found = clause(text)
    head = functional("F", Constant("a", "symbol"), number(-3), Constant(True, "bool"), number(7))
    assert found == Rule((head,), both(), "")
    assert isinstance(found, Rule)
    assert text[found.heads[0].span.start : found.heads[0].span.end] == text.rstrip(". ")


def test_an_equality_of_a_functional_value_is_an_atom_and_every_other_comparison_is_none() -> None:
    application = Application("F", (X,))
    assert body("F[x] = y, F[] = F[x], a.b[x] = 1") == (
        functional("F", X, Y),
        functional("F", application),
        functional("a.b", X, number(1)),
    )
    assert body("y = F[x]") == (Comparison("=", Y, application),)
    assert body("F[x] != y") == (Comparison("!=", application, Y),)
    assert body("F[x] + 1 = y") == (Comparison("=", operation("+", application, number(1)), Y),)
    assert body("!F[x] = y") == (Negation(both(functional("F", X, Y))),)


def test_the_value_of_a_functional_head_is_any_term_and_either_arrow_may_follow() -> None:
    difference = functional("F", X, operation("-", Application("G", (X,)), Y))
    assert clause("F[x] = G[x] - y <- q(x).") == Rule((difference,), both(Q), "<-")
    assert clause("F[x] = G[x] - y, p(x) :- q(x).") == Rule((difference, P), both(Q), ":-")
    assert clause("F[x] = G[x] - y.") == Rule((difference,), both(), "")


@pytest.mark.parametrize("left", ["f(x)", "F[x]", "(x + 1)", "sum x : { p(x) }"])
def test_an_arrow_in_a_body_compares_whatever_stands_before_it(left: str) -> None:
    assert body(f"{left} <-1") == (Comparison("<", term(left), number(-1)),)


# --- Aggregates --------------------------------------------------------------------------------------------------------------------


def aggregate(function: str, *arguments: Term) -> Aggregate:
    return Aggregate(function, arguments, both(P))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sum x : { p(x) }", aggregate("sum", X)),
        ("count : { p(x) }", aggregate("count")),
        ("count : p(x)", aggregate("count")),
        ("sum(x * 2) : { p(x) }", aggregate("sum", operation("*", X, number(2)))),
        ("sum (x) * 2 : { p(x) }", aggregate("sum", operation("*", X, number(2)))),
        ("sum -x : { p(x) }", aggregate("sum", operation("-", X))),
        ("quantile (x), 0.5 : { p(x) }", aggregate("quantile", X, Constant(0.5, "float"))),
        ("max(x, y)", operation("max", X, Y)),
        ("max(x, y) + sum z : { p(x) }", operation("+", operation("max", X, Y), aggregate("sum", Z))),
        ("sum max(x, y) : { p(x) }", aggregate("sum", operation("max", X, Y))),
        ("f(max, sum x : { p(x) })", operation("f", Variable("max"), aggregate("sum", X))),
        ("f(join(x), join y, z : { p(x) })", operation("f", operation("join", X), aggregate("join", Y, Z))),
        ("sum - 1", operation("-", Variable("sum"), number(1))),
        ("sum band : { p(x) }", aggregate("sum", Variable("band"))),
        ("sum count : { p(x) }", aggregate("sum", Variable("count"))),
        ("sum (count : p(x)) : { p(x) }", aggregate("sum", aggregate("count"))),
        ("sum x : { p(x) } + count : p(x)", operation("+", aggregate("sum", X), aggregate("count"))),
    ],
)
def test_a_colon_makes_an_aggregate_of_a_word_that_is_not_reserved(text: str, expected: Term) -> None:
    assert term(text) == expected


def test_the_names_of_aggregates_remain_names() -> None:
    program = parse(
        "sum(x) :- count(x), max = min, !join(x, mean).\nmax[x] = min[x].\n.decl sum(count: max)\ncount(1).\nagg(agg) <- agg(agg)."
    )
    assert [type(found) for found in program.clauses] == [Rule, Rule, Declaration, Rule, Rule]


def test_the_body_of_an_aggregate_is_as_that_of_a_rule() -> None:
    (found,) = body("x = sum y : { q(x), !(r(x); y < 1), z = max y : { p(x) } ; p(x) }")
    assert isinstance(found, Comparison)
    assert isinstance(found.right, Aggregate)
    (disjunction,) = found.right.body.literals
    assert isinstance(disjunction, Disjunction)
    assert disjunction.branches[0].literals[-1] == Comparison("=", Z, aggregate("max", Y))


def test_totals_stand_between_the_arrow_and_the_body() -> None:
    totals = (Total(Y, "sum", (operation("*", X, number(2)),)), Total(Z, "count", ()))
    for arrow in (":-", "<-"):
        found = clause(f"F[] = y {arrow} agg << y = sum(x * 2), z = count() >> p(x), q(x).")
        assert found == Rule((functional("F", Y),), both(P, Q), arrow, totals=totals)


def test_the_syntax_and_the_engine_know_the_same_aggregates() -> None:
    assert {name: len(function.arguments) for name, function in primitives.AGGREGATES.items()} == AGGREGATES


# --- Places ------------------------------------------------------------------------------------------------------------------------


def test_spans_tell_where_each_node_stands() -> None:
    text = '.decl p(x: number)\np(x) :-\n    q(x, "é"), x + 1 < 2.'
    declaration, rule = parse(text, "f.dl").clauses
    assert declaration.span == Span("f.dl", 0, 18, 1, 1, 1, 19)
    assert rule.span == Span("f.dl", 19, 52, 2, 1, 3, 26)
    assert isinstance(rule, Rule)
    atom, comparison = rule.body.literals
    assert (atom.span.line, atom.span.column, text[atom.span.start : atom.span.end]) == (3, 5, 'q(x, "é")')
    assert text[comparison.span.start : comparison.span.end] == "x + 1 < 2"
    assert isinstance(comparison, Comparison)
    assert text[comparison.left.span.start : comparison.left.span.end] == "x + 1"


def test_the_span_of_a_negative_number_begins_at_its_minus() -> None:
    found = parse("p(- 1).").clauses[0]
    assert isinstance(found, Rule)
    span = found.heads[0].terms[0].span
    assert (span.start, span.end) == (2, 5)


def test_a_program_keeps_its_text_file_and_comments() -> None:
    text = "// one\np(1). /* two */ // three\n/* four\n*/ q(2). // five  \n"
    program = parse(text, "f.dl")
    assert (program.text, program.file) == (text, "f.dl")
    assert [(comment.text, comment.trailing) for comment in program.comments] == [
        ("// one", False),
        ("/* two */", True),
        ("// three", True),
        ("/* four\n*/", False),
        ("// five", True),
    ]


def test_lines_may_end_as_windows_ends_them() -> None:
    program = parse("// c\r\n.decl p(x: number)\r\np(1).\r\n")
    assert [comment.text for comment in program.comments] == ["// c"]
    assert [found.span.line for found in program.clauses] == [2, 3]


# --- Queries -----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["p(x), !q(x)", "p(x), !q(x).", "?- p(x), !q(x).", "  ?-p(x),\n!q(x)\n"])
def test_a_query_may_begin_with_its_sign_and_end_with_a_full_stop(text: str) -> None:
    found = parse_literals(text)
    assert found == both(P, Negation(both(Q)))
    assert text[found.literals[0].span.start : found.literals[0].span.end] == "p(x)"


@pytest.mark.parametrize("text", ["", "?-", "p(x", "p(x) :- q(x)", "p(x). q(x)."])
def test_a_query_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ProgramError) as caught:
        parse_literals(text)
    assert caught.value.file == "<query>"


def test_one_atom_is_read_alone() -> None:
    assert parse_atom(" path(1, x) ") == parse_atom("path(1, x).") == Atom("path", (number(1), X))
    assert parse_atom("F[1] = x.") == functional("F", number(1), X)
    assert parse_atom("F[] = sum x : { p(x) }") == functional("F", aggregate("sum", X))
    for text in ("p(x), q(x)", "!p(x)", "x = 1", "F[x] < 1"):
        with pytest.raises(ProgramError, match="expected one atom"):
            parse_atom(text)


# --- All errors in one run ---------------------------------------------------------------------------------------------------------


def lines(text: str) -> list[int]:
    with pytest.raises(ProgramError) as caught:
        parse(text)
    return [diagnostic.line for diagnostic in caught.value.diagnostics]


def test_every_broken_clause_is_reported_once_and_the_good_ones_are_not() -> None:
    assert lines("p(1.\nq(1).\nr(x) :- s(x,, y).\nt(1).\nu(v w).\n") == [1, 3, 5]


def test_a_broken_directive_ends_with_its_line_or_its_parentheses() -> None:
    assert lines(".decl p(x number)\nq(1).\nr(1.\n") == [1, 3]
    assert lines('.input p(IO=,\n filename="x")\nq(1).\nr(1.\n') == [1, 4]
    assert lines(".decl p(x: number\n.decl q(y: )\nr(1).\ns(1.\n") == [1, 2, 4]


def test_a_forgotten_full_stop_is_placed_at_the_end_of_its_clause() -> None:
    with pytest.raises(ProgramError) as caught:
        parse("p(x) :- q(x)\n\nr(x) :- s(x)\n.output r\nt(1)")
    found = caught.value.diagnostics
    assert [(diagnostic.line, diagnostic.column) for diagnostic in found] == [(1, 13), (3, 13), (5, 5)]
    assert {diagnostic.message for diagnostic in found} == {"the full stop is missing"}


def test_full_stops_in_strings_comments_and_numbers_do_not_end_a_broken_clause() -> None:
    assert lines('p(x y, "a.b", /* . */ 1.5). // .\nq(1).\nr(1.\n') == [1, 3]


def test_bad_values_and_broken_clauses_are_reported_together_in_order() -> None:
    assert lines('p(99999999999999999999).\nq(1.\nr("\\q").\ns(1 2).\n') == [1, 2, 3, 4]


def test_many_errors_take_time_in_proportion_to_the_text() -> None:
    assert len(lines("p(1 2).\nq(3).\n" * 500)) == 500


# --- Start-up, threads -------------------------------------------------------------------------------------------------------------


def test_importing_the_syntax_does_not_load_the_parser_generator() -> None:
    code = "import sys, datalog.syntax; sys.exit('lark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_threads_may_parse_at_the_same_time() -> None:
    def read(count: int) -> int:
        return len(parse("".join(f"p{count}(x) :- q(x, {number}).\n" for number in range(count))).clauses)

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(read, range(1, 40))) == list(range(1, 40))
