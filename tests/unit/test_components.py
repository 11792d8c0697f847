"""What components mean: instances, parameters, bases, overriding, scopes, and what is wrong with them."""

from __future__ import annotations

import pytest

from datalog import Database
from datalog.errors import ProgramError

GRAPH = """
.comp Graph<T> {
    .decl edge(x: T, y: T)
    .decl path(x: T, y: T)
    path(x, y) :- edge(x, y).
    path(x, z) :- path(x, y), edge(y, z).
}
"""


def found(text: str) -> list[tuple[int, str]]:
    with pytest.raises(ProgramError) as caught:
        Database(text)
    return [(one.line, one.message) for one in caught.value.diagnostics]


def test_each_instance_has_predicates_of_its_own_with_the_types_that_it_is_given() -> None:
    database = Database(GRAPH + '.init a = Graph<number>\n.init b = Graph<symbol>\na.edge(1, 2). a.edge(2, 3). b.edge("x", "y").')
    assert list(database["a.path"]) == [(1, 2), (1, 3), (2, 3)]
    assert list(database["b.path"]) == [("x", "y")]


def test_instances_follow_transactions() -> None:
    database = Database(GRAPH + ".init a = Graph<number>\na.edge(1, 2).")
    with database.transaction() as transaction:
        transaction.insert("a.edge", [(2, 3)])
        transaction.delete("a.edge", [(1, 2)])
    assert list(database["a.path"]) == [(2, 3)]
    database.check()


def test_a_component_that_nothing_instantiates_derives_nothing() -> None:
    assert list(Database(GRAPH + "p(1).")) == ["p"]


def test_a_base_gives_its_clauses_and_takes_more_rules() -> None:
    more = ".comp Cyclic<T> : Graph<T> { .decl loop(x: T) loop(x) :- path(x, x). edge(y, x) :- edge(x, y). }"
    database = Database(f"{GRAPH}{more}.init a = Cyclic<number>\na.edge(1, 2).")
    assert list(database["a.loop"]) == [(1,), (2,)]


def test_what_is_overridden_keeps_the_rules_of_the_component_that_does_it() -> None:
    base = ".comp A { .decl p(x: number) overridable p(1). .decl q(x: number) q(x) :- p(x). }"
    derived = ".comp B : A { .override p p(2). } .comp C : B { p(3). }"
    database = Database(f"{base}{derived}.init a = A .init b = B .init c = C")
    assert [list(database[name]) for name in ("a.q", "b.q", "c.q")] == [[(1,)], [(2,)], [(2,), (3,)]]


def test_a_parameter_may_be_a_component() -> None:
    parts = ".comp One { .decl p(x: number) p(1). } .comp Two { .decl p(x: number) p(2). }"
    user = ".comp User<C> { .init c = C .decl q(x: number) q(x) :- c.p(x). }"
    database = Database(f"{parts}{user}.init a = User<One> .init b = User<Two>")
    assert list(database["a.q"]) == [(1,)]
    assert list(database["b.q"]) == [(2,)]
    assert list(database["b.c.p"]) == [(2,)]


def test_a_name_that_a_component_does_not_declare_is_one_further_out() -> None:
    inner = ".comp Inner { .decl r(x: number) r(x) :- p(x), q(x). }"
    outer = f".comp Outer {{ {inner} .decl p(x: number) p(1). p(2). .init i = Inner }}"
    database = Database(f"{outer} .decl q(x: number) q(2). q(3). .init o = Outer")
    assert list(database["o.i.r"]) == [(2,)]


def test_a_rule_for_a_predicate_further_out_adds_to_that() -> None:
    outer = ".comp Outer { .decl p(x: number) .comp Inner { p(1). q(2). } .init i = Inner }"
    database = Database(f".decl q(x: number) {outer} .init o = Outer")
    assert list(database["o.p"]) == [(1,)]
    assert list(database["q"]) == [(2,)]


def test_a_rule_of_several_heads_adds_to_each_where_it_is_declared() -> None:
    database = Database(".decl q(x: number) .comp C { .decl p(x: number) p(x), q(x) :- x = 1. } .init c = C")
    assert list(database["c.p"]) == list(database["q"]) == [(1,)]


def test_types_of_a_component_are_those_of_the_instance() -> None:
    database = Database(".comp C<T> { .type Id = T .decl p(x: Id) p(1). } .init c = C<number> .decl q(x: c.Id) q(x) :- c.p(x).")
    assert list(database["q"]) == [(1,)]


def test_functional_predicates_aggregates_and_plans_belong_to_the_instance() -> None:
    text = """
    .comp C {
        .decl F(x: number) = y: number
        F[1] = 5.
        .decl p(x: number, y: number)
        p(x, y) :- F[x] = y, q(x), n = count : { q(_) }, n = 1.
        .plan 0:(2, 1)
        .decl q(x: number)
        q(1).
    }
    .init a = C
    .init b = C
    """
    database = Database(text)
    assert list(database["a.p"]) == list(database["b.p"]) == [(1, 5)]


def test_outputs_have_the_names_of_the_instance() -> None:
    database = Database(".comp C { .decl p(x: number) p(1). .output p } .init c = C")
    assert [directive.predicates for directive in database.core.directives] == [("c.p",)]


def test_old_qualifiers_are_directives() -> None:
    database = Database(".decl p(x: number) output printsize\np(1).")
    assert [directive.kind for directive in database.core.directives] == ["output", "printsize"]


# --- What is wrong -----------------------------------------------------------------------------------------------------------------


def test_an_unknown_component_is_named_where_it_is_used() -> None:
    assert found(".comp Graph {}\n.init a = Grph\n.comp B : Nowhere {}") == [
        (2, "unknown component `Grph`"),
        (3, "unknown component `Nowhere`"),
    ]


def test_a_parameter_that_stands_for_no_component_is_unknown_in_the_instance() -> None:
    assert found(".comp A<T> {\n.init x = T\n}\n.init a = A<number>") == [(2, "unknown component `number`")]


def test_the_number_of_parameters_has_to_fit() -> None:
    wrong = "wrong number of type parameters for component `A`"
    assert found(".comp A<T> {}\n.init a = A\n.init b = A<number, number>\n.comp B : A {}") == [(2, wrong), (3, wrong), (4, wrong)]


def test_inheritance_has_no_circles() -> None:
    assert found(".comp A : B {}\n.comp B : A {}\n.comp C : C {}") == [
        (1, "component `A` inherits from itself"),
        (2, "component `B` inherits from itself"),
        (3, "component `C` inherits from itself"),
    ]


def test_an_instance_holds_no_instance_of_its_own_component() -> None:
    message = "component `A` is instantiated inside itself"
    assert found(".comp A {\n.init x = A\n}\n.init a = A") == [(2, message)]
    assert found(".comp A<T> {\n.init x = T\n}\n.init a = A<A>") == [(2, message)]


def test_only_what_a_base_declares_as_overridable_is_overridden() -> None:
    base = ".comp A { .decl p(x: number) .decl q(x: number) overridable }\n"
    assert found(f"{base}.comp B : A {{ .override p }}\n.comp C {{ .decl r() .override r }}\n.comp D : A {{ .override q }}") == [
        (2, "component `B` overrides `p`, which is not overridable"),
        (3, "component `C` overrides `r`, which is its own"),
    ]


def test_an_override_stands_in_a_component() -> None:
    assert found("p(1).\n.override p") == [(2, "`.override` stands outside of a component")]


def test_components_and_instances_have_names_of_their_own() -> None:
    text = ".type t <: number\n.decl r(x: number)\n.comp t {}\n.comp r {}\n.comp C {}\n.init C = C\n.init r = C"
    assert found(text) == [(line, f"the name `{name}` is taken") for line, name in ((3, "t"), (4, "r"), (6, "C"), (7, "r"))]


def test_a_predicate_that_two_bases_declare_is_declared_twice() -> None:
    bases = ".comp A { .decl p(x: number) }\n.comp B { .decl p(x: number) }\n"
    assert found(f"{bases}.comp C : A, B {{}}\n.init c = C") == [(2, "`c.p` is declared twice")]


def test_pragmas_and_functors_stand_outside_of_components() -> None:
    assert found('.comp C {\n.pragma "magic-transform" "*"\n}\n.init c = C') == [(2, "this belongs outside of components")]


def test_a_mistake_in_a_component_is_shown_where_it_is_written() -> None:
    assert found(".comp C {\n.decl p(x: number)\np(x) :- p(y).\n}\n.init a = C\n.init b = C")[0][0] == 3
