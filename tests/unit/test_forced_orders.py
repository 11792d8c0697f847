"""Variable orders that a program or its user asks for: they are followed, and change no answer."""

from __future__ import annotations

import pytest

from datalog import Database, SettingError
from datalog.plan.rule import RulePlan

EDGES = "e(1, 2). e(2, 3). e(3, 4). e(4, 2). e(9, 9).\n"
CLOSURE = """\
p(x, y) :- e(x, y).
p(x, z) :- p(x, y), p(y, z).
"""


def named(plan: RulePlan) -> str:
    return " ".join(plan.rule.variables[variable] for variable in plan.order)


def orders(db: Database, text: str) -> list[str]:
    """The orders of the full joins of the rules whose text begins so."""
    return [named(plan) for plan in db._engine.joins.plan.rules if plan.rule.text.startswith(text)]


def rounds(db: Database, text: str) -> list[str]:
    """The orders of the delta joins of recursive atoms."""
    plan = db._engine.joins.plan
    return [named(delta) for own, deltas in zip(plan.rules, plan.deltas, strict=True) if own.rule.text.startswith(text) for delta in deltas]


def contents(db: Database) -> dict[str, list[object]]:
    return {name: list(db[name]) for name in db}


def follow(db: Database) -> None:
    """Changes that go through every way of maintenance."""
    for change, row in (("insert", (4, 9)), ("delete", (2, 3)), ("delete", (4, 9)), ("insert", (2, 3))):
        with db.transaction() as tx:
            getattr(tx, change)("e", [row])
        db.check()


# --- .plan -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("plan", "order"), [("1,2,3", "a b c d"), ("3,2,1", "c d b a"), ("2,1,3", "b c a d"), ("3,1,2", "c d a b")])
def test_a_plan_orders_the_variables_as_its_atoms_have_them(plan: str, order: str) -> None:
    rule = "path(a, d) :- e(a, b), e(b, c), e(c, d).\n"
    plain, forced = Database(EDGES + rule), Database(f"{EDGES}{rule}.plan 0:({plan})\n")
    assert orders(forced, "path(a, d)") == [order]
    assert contents(forced) == contents(plain)
    follow(forced)
    assert contents(forced) == contents(plain)


def test_a_plan_changes_the_steps_and_not_the_answer() -> None:
    facts = "".join(f"big({x}, {y}). " for x in range(30) for y in range(30)) + "small(3, 4).\n"
    rule = "found(x, y) :- big(x, y), small(y, z), big(z, w), w < x.\n"
    steps = {}
    for plan in ("", ".plan 0:(1,2,3)", ".plan 0:(2,1,3)", ".plan 0:(3,2,1)"):
        db = Database(f"{facts}{rule}{plan}\n", maintain="recompute")
        assert len(db["found"]) == sum(any(w < x for w in range(30)) for x in range(30))
        steps[plan] = db.steps
    assert steps[".plan 0:(1,2,3)"] > steps[".plan 0:(2,1,3)"]
    assert len(set(steps.values())) >= 3


def test_versions_are_the_delta_plans_of_the_recursive_atoms_and_0_is_the_full_evaluation_too() -> None:
    rule = "t(a, d) :- e(a, b), t(b, c), t(c, d).\n"
    base = f"{EDGES}t(x, y) :- e(x, y).\n{rule}"
    forced = Database(f"{base}.plan 0:(3,1,2), 1:(1,2,3)\n")
    assert orders(forced, "t(a, d)") == ["c d a b"]
    assert rounds(forced, "t(a, d)") == ["b c d a", "c d a b"], "the given atom's variables come first"
    only_last = Database(f"{base}.plan 1:(1,2,3)\n")
    assert orders(only_last, "t(a, d)") == orders(Database(base), "t(a, d)"), "version 0 is the planner's"
    assert rounds(only_last, "t(a, d)")[1] == "c d a b"
    for db in (forced, only_last):
        assert contents(db) == contents(Database(base))
        follow(db)


def test_computed_variables_come_as_soon_as_they_can() -> None:
    rule = "s(x, z, w) :- e(x, _), z = x + 1, e(z, w).\n.plan 0:(1,2)\n"
    db = Database(EDGES + rule)
    assert orders(db, "s(x, z, w)") == ["x z w"]
    assert list(db["s"]) == [(1, 2, 3), (2, 3, 4), (3, 4, 2)]


def test_rules_of_a_disjunction_take_the_order_of_the_atoms_that_they_have() -> None:
    rule = "r(a, c) :- (e(a, b), e(b, c); p(a, c)), p(c, d), !e(d, a).\n.plan 0:(4,3,2,1)\n"
    db = Database(EDGES + CLOSURE + rule)
    assert orders(db, "r(a, c)") == ["c d b a", "c d a"]
    assert contents(db) == contents(Database(EDGES + CLOSURE + rule.partition(".plan")[0]))


def test_branches_that_have_as_many_atoms_may_be_counted_from_the_same_number_on() -> None:
    rule = "p(x, z) :- p(x, y), (e(y, z) ; e(z, y)), e(z, w), w > 1.\n"
    plain = Database(f"{EDGES}p(x, y) :- e(x, y).\n{rule}")
    forced = Database(f"{EDGES}p(x, y) :- e(x, y).\n{rule}.plan 0:(3, 2, 1)\n")
    assert set(orders(forced, "p(x, z)")) == {"z w y x"}
    assert contents(forced) == contents(plain)
    follow(forced)
    assert contents(forced) == contents(plain)


def test_conditions_are_no_atoms_of_a_plan_and_what_is_negated_twice_is_one() -> None:
    rule = 'p(x, z) :- p(x, y), contains("a", "ab"), e(y, z), !(!e(x, z) ; x > 3).\n'
    forced = Database(f"{EDGES}p(x, y) :- e(x, y).\n{rule}.plan 0:(2, 3, 1)\n")
    assert orders(forced, "p(x, z)") == ["y z x"]
    follow(forced)


def test_a_rule_with_several_heads_has_one_plan() -> None:
    rule = "a(x), b(z) :- e(x, y), e(y, z).\n.plan 0:(2,1)\n"
    assert orders(Database(EDGES + rule), "a(x), b(z)") == ["y x", "y z"]


def test_a_plan_is_ignored_where_a_part_of_the_body_became_a_predicate() -> None:
    choice = "(e(a, b); e(b, a); e(a, b), e(b, _); e(b, a), e(a, _); e(a, b), e(b, a))"
    rule = f"many(a, b) :- {choice}, {choice}.\n"
    plan = f".plan 0:({', '.join(str(n) for n in range(16, 0, -1))})\n"
    db = Database(EDGES + rule + plan)
    assert any(own.forced is not None and own.forced.ignored for own in db.core.rules)
    assert contents(db) == contents(Database(EDGES + rule))


def test_a_plan_comes_behind_its_rule_in_what_is_added_later() -> None:
    db = Database(EDGES)
    db.add_rules("path(a, c) :- e(a, b), e(b, c).")
    db.add_rules(".plan 0:(2,1)")
    assert orders(db, "path(a, c)") == ["b c a"]


# --- orders ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["x,y,z", "x,z,y", "y,x,z", "y,z,x", "z,x,y", "z,y,x"])
def test_a_forced_order_is_followed_by_the_full_evaluation_and_by_deltas(order: str) -> None:
    text = EDGES + CLOSURE
    db = Database(text, orders={3: order.split(",")})
    assert orders(db, "p(x, z)") == [order.replace(",", " ")]
    rest = [name for name in order.split(",") if name == "z"] + [name for name in order.split(",") if name == "x"]
    assert rounds(db, "p(x, z)") == [f"x y {rest[0]}", f"y z {rest[1]}"]
    assert contents(db) == contents(Database(text))
    follow(db)
    db.check()


def test_an_order_may_be_given_by_the_head_of_its_only_rule() -> None:
    rule = "a.b(x, z) :- e(x, y), e(y, z).\n"
    assert orders(Database(EDGES + rule, orders={"a.b": ["z", "x", "y"]}), "a.b(x, z)") == ["z x y"]


def test_an_order_goes_before_a_plan() -> None:
    rule = "path(a, c) :- e(a, b), e(b, c).\n.plan 0:(1,2)\n"
    assert orders(Database(EDGES + rule, orders={"path": ["c", "b", "a"]}), "path(a, c)") == ["c b a"]


def test_computed_variables_stand_where_the_order_has_them_and_constants_need_no_place() -> None:
    rule = "s(x, w) :- e(x, y), w = x + y, e(y, 4), w < 99.\n"
    assert orders(Database(EDGES + rule, orders={"s": ["y", "x", "w"]}), "s(x, w)") == ["=4 y x w"]
    assert list(Database(EDGES + rule, orders={"s": ["x", "y", "w"]})["s"]) == [(2, 5)]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"s": ["x", "y"]}, "order.s: w is missing"),
        ({"s": ["x", "v", "w"]}, "order.s: the rule has no variable v; it joins x, y, w"),
        ({"s": ["x", "x", "y", "w"]}, "order.s: x comes twice"),
        ({"s": ["w", "x", "y"]}, "order.s: w comes before x, y, from which it is computed"),
        ({"e": ["x"]}, "order.e: no rule derives e"),
        ({"nothing": ["x"]}, "order.nothing: no rule derives nothing"),
        ({"p": ["x", "y"]}, "order.p: p has the rules 3, 4; give the number of one"),
        ({0: ["x"]}, "order.0: there is no rule 0; `datalog plan` shows 1 to 5"),
        ({6: ["x"]}, "order.6: there is no rule 6; `datalog plan` shows 1 to 5"),
        ({"s": ["x", "y", "w"], 5: ["y", "x", "w"]}, "order.5: rule 5 has two orders"),
    ],
)
def test_an_order_that_does_not_fit_says_what_is_wrong(given: dict[str | int, list[str]], message: str) -> None:
    with pytest.raises(SettingError) as caught:
        Database(EDGES + CLOSURE + "s(x, w) :- e(x, y), w = x + y, w < 99.\n", orders=given)
    assert str(caught.value) == message
