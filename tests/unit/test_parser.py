"""What each construct of the two dialects means, as a tree."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from datalog.errors import ProgramError
from datalog.syntax import parse, parse_atom, parse_literals
from datalog.syntax.builder import DEEPEST
from datalog.syntax.tree import (
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


@pytest.mark.parametrize("written", [".plan", ".plan 0", ".plan 0:()", ".plan 0:(x)", ".plan 0:(1,)", ".plan 0x1:(1)", ".plan 0:(12345)"])
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


def test_nesting_deeper_than_a_recursive_walk_can_go_is_refused() -> None:
    assert len(parse(f"p({'-' * DEEPEST}x) :- q(x).").clauses) == 1
    for text in (f"p({'-' * (DEEPEST + 1)}x) :- q(x).", f"p(x) :- {'!' * (DEEPEST + 1)}q(x).", f"p({'1+' * 10_000}x) :- q(x)."):
        assert messages(text) == [f"this nests more than {DEEPEST} levels deep"]


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
    for text in ("p(x), q(x)", "!p(x)", "x = 1"):
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
