"""Inline predicates: what stands for their atoms, where they may stand, and what users are told of them."""

from __future__ import annotations

from itertools import permutations

import pytest

import datalog
from datalog.errors import DatalogError, ProgramError, UnknownPredicate

EDGES = """
.decl e(x: number, y: number)
e(1, 2). e(2, 3). e(2, 4). e(6, 101).
"""
TWO = ".decl two(x: number, z: number) inline\ntwo(x, z) :- e(x, y), e(y, z).\n"
ODD = ".decl odd(x: number, y: number) inline\nodd(1, x) :- e(_, x), x != 3, x < 100.\nodd(3, x) :- e(x, _).\n"
SMALL = ".decl small(x: number) inline\nsmall(x) :- x < 5.\nsmall(x) :- x > 100.\n"


def rows(rules: str, name: str = "p") -> list[tuple[object, ...]]:
    return list(datalog.Database(EDGES + TWO + SMALL + ODD + rules)[name])


def errors(text: str) -> list[tuple[int, str]]:
    with pytest.raises(ProgramError) as refused:
        datalog.Database(text)
    return [(one.line, one.message) for one in refused.value.diagnostics]


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ("p(x, z) :- two(x, z).", [(1, 3), (1, 4)]),
        ("p(x) :- two(x, _), two(x, z), z < 4.", [(1,)]),
        ("p(x) :- e(_, x), small(x).", [(2,), (3,), (4,), (101,)]),
        ("p(x) :- e(x, _), !small(x).", [(6,)]),
        ("p(x) :- e(x, _), !(two(x, y), y > 2).", [(2,), (6,)]),
        ("p(c) :- c = count : { two(_, _) }.", [(2,)]),
        ("p(c) :- c = sum z : { e(_, z), small(z) }.", [(110,)]),
        ("p(x, c) :- e(x, _), c = count : { e(_, z), small(z), z > x }.", [(1, 4), (2, 3), (6, 1)]),
        ("p(x) :- (two(1, x) ; e(x, 101)).", [(3,), (4,), (6,)]),
        ("p(c) :- c = count : { odd(1, _) }.", [(2,)]),
        ("p(x, y), q(y) :- two(x, y).", [(1, 3), (1, 4)]),
    ],
)
def test_an_atom_says_what_the_rules_of_its_predicate_say(rules: str, expected: list[tuple[int, ...]]) -> None:
    width = len(expected[0])
    assert rows(f".decl p({', '.join(f'c{at}: number' for at in range(width))})\n.decl q(x: number)\n{rules}") == expected


def test_an_aggregate_counts_rows_of_the_predicate_and_not_the_ways_to_have_them() -> None:
    diamond = "e(1, 5). e(5, 3).\n.decl p(c: number)\np(c) :- c = count : { two(1, z) }."
    assert rows(diamond) == [(2,)], "3 is reached by 2 and by 5"


def test_what_a_rule_computes_is_compared_with_a_constant_of_the_atom() -> None:
    rules = """
        .decl out(x: number, c: number) inline
        out(x, c) :- c = count : { e(x, _) }.
        .decl up(x: number, y: number) inline
        up(x, y) :- y = range(x, x + 3).
        .decl p(x: number)
        p(x) :- e(x, _), out(x, 2).
        p(100 + x) :- e(x, _), out(x, x).
        p(200 + x) :- e(x, _), up(x, 3).
    """
    assert rows(rules) == [(2,), (101,), (102,), (201,), (202,)]


def test_repeated_variables_constants_and_computations_in_a_head_are_conditions() -> None:
    rules = """
        .decl same(x: number, y: number) inline
        same(x, x) :- true.
        .decl next(x: number, y: number) inline
        next(x, x + 1) :- e(x, _).
        .decl either(x: number, y: number) inline
        either(1, 2). either(3, x) :- e(_, x).
        .decl p(x: number, y: number, z: number)
        p(1, x, y) :- e(x, y), same(y, x + 1).
        p(2, x, y) :- next(x, y), e(x, y).
        p(3, x, y) :- either(x, y), y < 4.
        p(4, x, y) :- e(x, y), !either(x, y).
    """
    expected = [(1, 1, 2), (1, 2, 3), (2, 1, 2), (2, 2, 3), (3, 1, 2), (3, 3, 2), (3, 3, 3)]
    assert rows(rules) == [*expected, (4, 2, 3), (4, 2, 4), (4, 6, 101)]


def test_records_and_branches_of_a_head_are_taken_apart() -> None:
    text = """
        .type Pair = [first: number, rest: Pair]
        .type Shape = Round { radius: number } | Flat { a: number, b: Pair }
        .decl given(p: Pair, s: Shape)
        given([1, [2, nil]], $Round(3)). given(nil, $Flat(4, [5, nil])). given([7, nil], $Flat(1, nil)).
        .decl second(p: Pair, x: number) inline
        second([_x, [y, _rest]], y) :- true.
        .decl width(s: Shape, x: number) inline
        width($Round(r), r * 2) :- r > 0.
        width($Flat(a, [b, nil]), a + b) :- true.
        .decl p(x: number)
        p(x) :- given(p, _), second(p, x).
        p(x) :- second([1, [9, nil]], x).
        .decl q(x: number)
        q(x) :- given(_, s), width(s, x).
        .decl r(x: number)
        r(x) :- given([x, _], s), !width(s, 6).
    """
    db = datalog.Database(text)
    assert (list(db["p"]), list(db["q"]), list(db["r"])) == ([(2,), (9,)], [(6,), (9,)], [(7,)])


def test_what_no_rule_fits_does_not_hold_and_binds_nothing() -> None:
    rules = """
        .decl one(x: number, y: number) inline
        one(1, 5).
        .decl p(x: number, c: number)
        p(0, x) :- one(2, x).
        p(1, x) :- e(x, _), (one(2, x) ; x = 2).
        p(2, x) :- e(x, _), !one(2, x), !one(1, x), x = 1.
        p(3, c) :- c = sum x : { one(2, x) }.
        p(4, c) :- c = count : { one(2, x), x < 3 }.
        p(5, c) :- c = min x : { one(2, x) }.
        p(6, c) :- c = sum x : { one(1, x) }.
    """
    assert rows(rules) == [(1, 2), (2, 1), (3, 0), (4, 0), (6, 5)]


def test_inline_predicates_may_use_each_other_in_any_order_of_the_text() -> None:
    rules = ["a(x) :- b(x), x < 9.", "b(x) :- c(x, _).", "c(x, y) :- two(x, y)."]
    for order in permutations(rules):
        declared = ".decl a(x: number) inline\n.decl b(x: number) inline\n.decl c(x: number, y: number) inline\n.decl p(x: number)\n"
        assert rows(declared + "\n".join(order) + "\np(x) :- a(x).") == [(1,)]


def test_recursion_through_other_predicates_is_none_of_inline_predicates() -> None:
    rules = ".decl p(x: number, y: number)\n.decl step(x: number, y: number) inline\n"
    assert len(rows(rules + "p(x, y) :- e(x, y).\np(x, y) :- step(x, y).\nstep(x, z) :- p(x, y), e(y, z).")) == 6


def test_a_predicate_without_rules_has_no_rows() -> None:
    assert rows(".decl none(x: number) inline\n.decl p(x: number)\np(x) :- e(x, _), !none(x), none(x).") == []
    assert rows(".decl none(x: number) inline\n.decl p(c: number)\np(c) :- c = count : { none(_) }.") == [(0,)]


@pytest.mark.parametrize(
    "declaration",
    [
        ".decl i(x: number) inline no_inline",
        ".decl i(x: number) inline no_magic",
        '.pragma "inline-exclude" "j,i"\n.decl i(x: number) inline',
        '.pragma "inline-exclude" "j, i"\n.decl i(x: number) inline',
        '.pragma "magic-transform-exclude" "i"\n.decl i(x: number) inline',
    ],
)
def test_a_predicate_that_is_excluded_is_kept(declaration: str) -> None:
    assert rows(f"{declaration}\ni(x) :- e(x, _).", "i") == [(1,), (2,), (6,)]


def test_queries_find_what_inline_predicates_say() -> None:
    db = datalog.Database(EDGES + TWO + SMALL)
    assert db.query("two(x, z)") == [(1, 3), (1, 4)]
    assert db.query("two(x, _), !small(6)") == [(1,)]
    assert db.query("c = count : { two(_, z), small(z) }") == [(2,)]
    assert db.query("small(3)") == [()]
    with pytest.raises(ProgramError) as refused:
        db.query("e(1, _), small(x)")
    (wrong,) = refused.value.diagnostics
    assert (wrong.file, wrong.line, wrong.column) == ("<query>", 1, 16), "a query's errors are in its own text"
    assert wrong.message.startswith("`x` is ")


def test_rows_of_an_inline_predicate_cannot_be_had_or_changed() -> None:
    db = datalog.Database(EDGES + SMALL)
    assert "small" not in db
    with pytest.raises(UnknownPredicate, match="small is inline, so none of its rows are kept: query it"):
        db["small"]
    with pytest.raises(UnknownPredicate, match="inline"), db.transaction() as transaction:
        transaction.insert("small", [(3,)])
    with pytest.raises(DatalogError, match="`small` is inline, so it has no facts of its own"):
        db.explain("small(3)")


def test_proofs_rest_on_what_stands_for_an_inline_atom() -> None:
    db = datalog.Database(EDGES + TWO + SMALL + ".decl p(x: number)\np(x) :- two(x, z), small(z).")
    proof = str(db.explain("p(1)"))
    assert "e(1, 2)" in proof
    assert "e(2, 3)" in proof
    assert "3 < 5" in proof
    assert "two(x, z)  nothing satisfies it where x = 3" in str(db.why_not("p(3)"))


def test_added_rules_may_use_and_extend_inline_predicates() -> None:
    db = datalog.Database(EDGES + SMALL + ".decl p(x: number)\np(x) :- e(x, _), small(x).")
    db.add_rules("small(x) :- x = 6.\n.decl q(x: number)\nq(x) :- e(_, x), !small(x).")
    assert list(db["p"]) == [(1,), (2,), (6,)]
    assert list(db["q"]) == []


def test_what_is_unbound_is_reported_where_it_is_used_and_in_the_inline_rule() -> None:
    text = ".decl i(x: number, y: number) inline\ni(a, y) :- a < y.\n.decl p(x: number)\np(x) :- i(x, 2).\n"
    assert errors(text) == [(2, "`a` is compared here, but nothing binds it"), (4, "`x` is in the head, but nothing binds it")]


def test_a_rule_of_an_inline_predicate_binds_what_is_its_own() -> None:
    text = ".decl i(x: number) inline\ni(x) :- x < y.\n"
    assert errors(text) == [(2, "`y` is compared here, but nothing binds it")]


@pytest.mark.parametrize(
    ("rules", "line", "message"),
    [
        ("i(x) :- i(x).", 3, "inline predicates recurse: i → i"),
        (".decl j(x: number) inline\ni(x) :- j(x).\nj(x) :- e(x, _), !i(x).", 3, "inline predicates recurse: i → j → i"),
        (".output i", 3, "`i` is inline, so it has no rows to read or to write"),
        (".input i", 3, "`i` is inline, so it has no rows to read or to write"),
        ("i(x) :- e(x, y), e(y, x).\n.decl p(x: number)\np(x) :- e(x, _), !i(x).", 6,
         "`i` is inline and negated here, but brings `y` with it, line 4"),
        ("i(1).\n.decl p(x: number)\np(x) :- e(x, _), !i(_).", 6, "`_` stands in a negated atom of `i`, which is inline"),
    ],
)  # fmt: skip
def test_what_cannot_be_inline_is_refused(rules: str, line: int, message: str) -> None:
    text = f".decl e(x: number, y: number)\n.input e\n.decl i(x: number) inline\n{rules}\n"
    assert errors(text) == [(line, message)]


def test_an_atom_that_is_negated_twice_may_have_what_a_negated_one_may_not() -> None:
    database = datalog.Database("""
        .decl f(x: number, y: number)
        f(1, 2). f(1, 3). f(2, 1). f(4, 0).
        .decl i(x: number, y: number) inline
        i(x, y) :- f(x, y), f(y, z), z != x.
        .decl p(x: number)
        p(x) :- f(x, _), !(x > 3 ; !i(x, _)).
        .decl q(x: number)
        q(1).
        q(x + 1) :- q(x), x < 9, !(x > 1, !i(x, _)).
    """)
    assert (list(database["p"]), list(database["q"])) == ([(2,)], [(1,), (2,), (3,)])
    with database.transaction() as change:
        change.insert("f", [(3, 4), (2, 4)])
        change.delete("f", [(2, 1)])
    database.check()


def test_inlining_that_gets_out_of_hand_is_refused() -> None:
    rules = ["i0(x, y) :- x < y, e(x, y).", "i0(x, y) :- x > y, e(y, x)."]
    rules += [f"i{at}(x, y) :- i{at - 1}(x, z), i{at - 1}(z, y), i{at - 1}(y, x), i{at - 1}(x, y)." for at in range(1, 9)]
    declared = [f".decl i{at}(x: number, y: number) inline" for at in range(9)]
    ((_, message),) = errors("\n".join((EDGES, *declared, *rules)))
    assert message == "with all that is inline, this rule has more than 20000 literals"


def test_disjunctions_that_multiply_without_end_are_refused() -> None:
    chain = ", ".join(f"(x{at} = x{at + 1} ; x{at + 1} = x{at} + 1)" for at in range(16))
    ((line, message),) = errors(f"{EDGES}.decl p(x: number)\np(x16) :- e(x0, _), {chain}.")
    assert (line, message) == (5, "the disjunctions of this rule multiply to 32,768 rules")
