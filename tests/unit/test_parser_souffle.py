"""What Soufflé's declarations, terms and components mean, as a tree."""

from __future__ import annotations

import pytest

from datalog.errors import ProgramError
from datalog.syntax import format_clause, parse, parse_literals
from datalog.syntax.tree import (
    Aggregate,
    AlgebraicDeclaration,
    Application,
    Atom,
    Attribute,
    Branch,
    BranchDeclaration,
    Cast,
    Clause,
    Comparison,
    Component,
    ComponentType,
    Conjunction,
    Constant,
    Declaration,
    DeltaDeclaration,
    Directive,
    FunctorDeclaration,
    Include,
    Instantiation,
    LatticeDeclaration,
    Nil,
    Once,
    Operation,
    Override,
    Plan,
    PlanVersion,
    Pragma,
    Record,
    RecordDeclaration,
    Rule,
    Subsumption,
    Term,
    TypeDeclaration,
    UnionDeclaration,
    Variable,
    Wildcard,
)

X, Y = Variable("x"), Variable("y")


def clause(text: str) -> Clause:
    (only,) = parse(text).clauses
    return only


def term(text: str) -> Term:
    (literal,) = parse_literals(f"0 = {text}").literals
    assert isinstance(literal, Comparison)
    return literal.right


def number(value: int, spelling: str = "") -> Constant:
    return Constant(value, "number", spelling)


# --- Types and declarations --------------------------------------------------------------------------------------------------------


def test_a_type_is_a_union_a_record_or_has_branches() -> None:
    fields = (Attribute("x", "number"), Attribute("next", "List"))
    assert clause(".type U = A | b.B | C") == UnionDeclaration("U", ("A", "b.B", "C"))
    assert clause(".type List = [x: number, next: List]") == RecordDeclaration("List", fields)
    assert clause(".type Unit = []") == RecordDeclaration("Unit", ())
    assert clause(".type T = Leaf {} | Node { x: number, next: List }") == AlgebraicDeclaration(
        "T", (BranchDeclaration("Leaf", ()), BranchDeclaration("Node", fields))
    )


def test_a_type_may_stand_before_a_clause_that_begins_with_a_name() -> None:
    assert parse(".type T = A\nB(1).").clauses[0] == TypeDeclaration("T", "A", False)


def test_a_declaration_chooses_by_keys() -> None:
    declared = clause(".decl p(x: number, y: T<>) brie choice-domain x, (x, y)")
    attributes = (Attribute("x", "number"), Attribute("y", "T", lattice=True))
    assert declared == Declaration(("p",), attributes, ("brie",), choices=(("x",), ("x", "y")))


def test_a_choice_domain_ends_where_the_next_clause_begins() -> None:
    assert len(parse(".decl p(x: number) choice-domain x\np(1).\nq(2) :- p(2).").clauses) == 3


def test_a_predicate_may_be_declared_as_the_delta_of_another() -> None:
    assert clause(".decl d = debug_delta(c.p) inline") == DeltaDeclaration("d", "c.p", ("inline",))


def test_a_functor_has_arguments_with_or_without_names() -> None:
    arguments = (Attribute("x", "number"), Attribute("", "symbol"))
    assert clause(".functor f(x: number, symbol): T stateful") == FunctorDeclaration("f", arguments, "T", True)
    assert clause(".functor f(): T") == FunctorDeclaration("f", (), "T")


def test_a_lattice_names_its_operators() -> None:
    lub = Operation("@lub", (Wildcard(), Wildcard()))
    assert clause(".lattice T<> { Bottom -> $A(), Lub -> @lub(_, _) }") == LatticeDeclaration(
        "T", (("Bottom", Branch("A", ())), ("Lub", lub))
    )


def test_settings_take_strings() -> None:
    assert clause('.pragma "a" "b"') == Pragma("a", "b")
    assert clause('.pragma "a"') == Pragma("a")
    assert clause('.include "x.dl"') == Include("x.dl")
    assert clause(".once") == Once()


def test_a_limit_is_a_directive_and_a_plan_may_be_empty() -> None:
    assert clause(".limitsize p(n=5)") == Directive("limitsize", ("p",), (("n", 5),))
    assert parse("p() :- q().\n.plan 0:()").clauses[1] == Plan((PlanVersion(0, ()),))


# --- Components --------------------------------------------------------------------------------------------------------------------


def test_a_component_has_parameters_bases_and_clauses() -> None:
    written = clause(".comp C<T, U> : A, B<T> { .decl p(x: T) .override q p(1). .comp D {} .init d = D }")
    bases = (ComponentType("A"), ComponentType("B", ("T",)))
    fact = Rule((Atom("p", (number(1),)),), Conjunction(()), "")
    clauses = (
        Declaration(("p",), (Attribute("x", "T"),)),
        Override("q"),
        fact,
        Component(ComponentType("D"), (), ()),
        Instantiation("d", ComponentType("D")),
    )
    assert written == Component(ComponentType("C", ("T", "U")), bases, clauses)


def test_what_follows_a_mistake_in_a_component_is_read_as_its_clauses() -> None:
    with pytest.raises(ProgramError) as caught:
        parse(".comp C {\np(x :- q(x).\nr(1).\n}\ns(1 2).\n}\n")
    assert [found.line for found in caught.value.diagnostics] == [2, 5]


def test_a_brace_that_closes_nothing_is_a_mistake() -> None:
    with pytest.raises(ProgramError, match="found `}`"):
        parse("p(1).\n}\n")


# --- Rules and terms ---------------------------------------------------------------------------------------------------------------


def test_a_subsumption_has_two_heads() -> None:
    body = Conjunction((Comparison("<", X, Y),))
    assert clause("p(x) <= p(y) :- x < y.") == Subsumption(Atom("p", (X,)), Atom("p", (Y,)), body)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("nil", Nil()),
        ("[]", Record(())),
        ("[x, [y, nil]]", Record((X, Record((Y, Nil()))))),
        ("$Zero", Branch("Zero", ())),
        ("$Zero()", Branch("Zero", ())),
        ("$c.Add(x, $Zero)", Branch("c.Add", (X, Branch("Zero", ())))),
        ("$", Operation("autoinc", ())),
        ("autoinc()", Operation("autoinc", ())),
        ("$ band 1", Operation("band", (Operation("autoinc", ()), number(1)))),
        ("as /* a type */ (x, T)", Cast(X, "T")),
        ("as(x, c.T)", Cast(X, "c.T")),
        ("as(as(x, T), decimal(2))", Cast(Cast(X, "T"), "decimal(2)")),
        ("@f(x, y)", Operation("@f", (X, Y))),
        ("-@f()", Operation("-", (Operation("@f", ()),))),
        ("bnot $A", Operation("bnot", (Branch("A", ()),))),
        ("F[[x]]", Application("F", (Record((X,)),))),
        ("F [x]", Application("F", (X,))),
        ("10.0.0.1", number(167772161, "10.0.0.1")),
        ("255.255.255.255", number(-1, "255.255.255.255")),
        ("0b11", number(3, "0b11")),
        ("__LINE__", number(1, "__LINE__")),
    ],
)
def test_a_term_is_read(text: str, meant: Term) -> None:
    assert term(text) == meant


def test_an_aggregate_of_the_user_begins_with_a_value() -> None:
    body = Conjunction((Atom("p", (X,)),))
    meant = Aggregate("@@lub", (X,), body, initial=Record((number(0), number(0))))
    assert term("@@lub x : [0, 0], { p(x) }") == meant
    assert term("@@lub x : [0, 0], p(x)") == meant


def test_an_aggregate_of_the_user_may_stand_in_another() -> None:
    inner = Aggregate("@@f", (X, Y), Conjunction((Atom("p", (X, Y)),)), initial=number(0))
    assert term("max (@@f x, y : 0, { p(x, y) }) : { q(x) }") == Aggregate("max", (inner,), Conjunction((Atom("q", (X,)),)))


def test_only_before_parentheses_is_as_no_name() -> None:
    assert clause("p(as) :- q(as).") == Rule((Atom("p", (Variable("as"),)),), Conjunction((Atom("q", (Variable("as"),)),)), ":-")


def test_where_arrows_end_heads_a_comparison_with_a_negative_number_needs_no_blank() -> None:
    (literal,) = parse_literals("as(x, number) <-1").literals
    assert literal == Comparison("<", Cast(X, "number"), number(-1))
    assert clause("F[x] = as(y, T) <- p(x, y).") == Rule(
        (Atom("F", (X, Cast(Y, "T")), functional=True),), Conjunction((Atom("p", (X, Y)),)), "<-"
    )


def test_annotations_are_kept_like_comments_whatever_stands_in_them() -> None:
    program = parse('@[doc = ".comp X {", f({[(1)]})]\np(1). // @[no]\n.decl q(\n  @![inner] x: number)')
    assert [comment.text for comment in program.comments] == ['@[doc = ".comp X {", f({[(1)]})]', "// @[no]", "@![inner]"]
    assert len(program.clauses) == 2


def test_lines_of_a_preprocessor_say_where_what_follows_comes_from() -> None:
    program = parse('# 7 "a.dl"\np(1).\n#line 3 "b.dl"\n\nq(__LINE__, __FILE__).\n# 9 "a.dl" 2\nr(1).', "main.dl")
    assert [(clause.span.file, clause.span.line) for clause in program.clauses] == [("a.dl", 7), ("b.dl", 4), ("a.dl", 9)]
    assert format_clause(program.clauses[1]) == "q(__LINE__, __FILE__)."
    fact = program.clauses[1]
    assert isinstance(fact, Rule)
    assert fact.heads[0].terms == (number(4, "__LINE__"), Constant("b.dl", "symbol", "__FILE__"))


def test_a_mistake_is_placed_where_its_line_comes_from() -> None:
    with pytest.raises(ProgramError) as caught:
        parse('p(1).\n# 40 "other.dl" 1\nq(1 2).\n', "main.dl")
    found = caught.value.diagnostics[0]
    assert (found.file, found.line, found.column, found.text) == ("other.dl", 40, 5, "q(1 2).")
