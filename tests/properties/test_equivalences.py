"""Equivalences: after every transaction maintained = recomputed = a naive fixpoint with classes, alone and within recursions."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datalog import Database
from tests.kernels.blocks import examples
from tests.properties.recursive_programs import Relations, Shape, fixpoint, stream
from tests.properties.test_recursion import MAINTAIN, apply, assert_changes

SHAPES = {
    "of given pairs and of a rule, with a negation above": Shape(
        ("p(x, y) :- e(x, y).", "apart(x, y) :- p(x, _), p(y, _), !p(x, y).", "with(x) :- p(x, 0).", "first(x) :- p(x, _), !with(x)."),
        {"e": 2, "p": 2},
        values=9,
        density=0.08,
        equivalences=frozenset({"p"}),
    ),
    "one of another": Shape(
        ("p(x, y) :- e(x, y).", "q(x, z) :- p(x, y), f(y, z).", "r(x, y) :- q(x, y), !p(x, y)."),
        {"e": 2, "f": 2, "p": 2, "q": 2, "r": 2},
        values=8,
        density=0.08,
        equivalences=frozenset({"p", "q", "r"}),
    ),
    "through itself": Shape(
        ("p(x, y) :- e(x, y).\np(x, z) :- p(x, y), f(y, z), n(x).",),
        {"e": 2, "f": 2, "n": 1, "p": 2},
        values=8,
        density=0.1,
        equivalences=frozenset({"p"}),
    ),
    "through another predicate": Shape(
        ("p(x, y) :- q(x, y), q(y, x).\nq(x, y) :- f(x, y), p(x, x).\nq(x, y) :- p(x, z), q(z, y), f(y, _).",),
        {"f": 2, "p": 2},
        values=7,
        density=0.15,
        equivalences=frozenset({"p"}),
    ),
    "two through each other": Shape(
        ("p(x, y) :- e(x, y).\np(x, y) :- r(x, z), e(z, y).\nr(x, y) :- f(x, y), p(x, y).\nr(x, y) :- p(x, z), p(z, y), f(x, z).",),
        {"e": 2, "f": 2, "p": 2, "r": 2},
        values=8,
        density=0.07,
        equivalences=frozenset({"p", "r"}),
    ),
    "with values that rules compute": Shape(
        ("p(x, y) :- p(a, b), n(a), a < 9, b < 9, x = a + 1, y = b + 1.",),
        {"n": 1, "p": 2},
        values=10,
        density=0.1,
        equivalences=frozenset({"p"}),
    ),
}


def random_shape(random: Random) -> Shape:
    """Some rules through two equivalences and a plain predicate, and one above them with a negation."""

    def atom(predicates: str) -> str:
        return f"{random.choice(predicates)}({random.choice('xyz')}, {random.choice('xyzz_')})"

    rules = []
    for _ in range(random.randint(2, 5)):
        head = random.choice("ppqr")
        body = [atom("efpqr") for _ in range(random.randint(1, 3))]
        bound = [letter for letter in "xyz" if any(letter in literal[2:] for literal in body)]
        rules.append(f"{head}({random.choice(bound)}, {random.choice(bound)}) :- {', '.join(body)}.")
    one, other, denied, also = (random.choice(names) for names in ("pqr", "pq", "pqr", "pq"))
    above = f"s(x, y) :- {one}(x, y), {other}(y, _), !{denied}(y, x), !{also}(x, 1)."
    given = {"e": 2, "f": 2, "p": 2, "q": 2, "r": 2, "s": 2}
    return Shape(("\n".join(rules), above), given, values=7, density=0.05, equivalences=frozenset(random.choice(["p", "pq", "pqs"])))


def follow(shape: Shape, random: Random, maintain: str, rows_per_page: int | None) -> None:
    facts = shape.facts(random)
    db = Database(shape.text, maintain=maintain, rows_per_page=rows_per_page)  # type: ignore[arg-type]
    apply(db, [(1, name, row) for name, rows in facts.items() for row in rows])
    before: Relations = fixpoint(shape, facts)
    for changes in stream(shape, random, facts, 5):
        done = apply(db, changes)
        after = fixpoint(shape, facts)
        for name, rows in after.items():
            assert set(db[name]) == rows, name
        assert_changes(done, {name: before[name] for name in shape.derived}, {name: after[name] for name in shape.derived})
        db.check()
        before = after


@pytest.mark.parametrize("name", SHAPES)
def test_an_equivalence_stays_true_under_a_stream_that_deletes_a_lot(name: str) -> None:
    @settings(max_examples=examples(10))
    @given(seed=st.integers(0, 10**6), maintain=st.sampled_from(MAINTAIN), rows_per_page=st.sampled_from([4, None]))
    def run(seed: int, maintain: str, rows_per_page: int | None) -> None:
        follow(SHAPES[name], Random(seed), maintain, rows_per_page)

    run()


@settings(max_examples=examples(40))
@given(seed=st.integers(0, 10**6), maintain=st.sampled_from(MAINTAIN), rows_per_page=st.sampled_from([4, None]))
def test_random_recursions_through_equivalences_stay_true(seed: int, maintain: str, rows_per_page: int | None) -> None:
    random = Random(seed)
    follow(random_shape(random), random, maintain, rows_per_page)


@pytest.mark.parametrize("maintain", MAINTAIN)
def test_links_leave_a_ring_one_by_one_and_it_falls_apart_with_the_second(maintain: str) -> None:
    ring = [(node, (node + 1) % 12) for node in range(12)]
    db = Database(".decl p(x: number, y: number) eqrel", maintain=maintain, rows_per_page=4)  # type: ignore[arg-type]
    apply(db, [(1, "p", pair) for pair in ring])
    assert len(db["p"]) == 144
    assert len(apply(db, [(-1, "p", ring[0])])) == 0
    assert len(apply(db, [(-1, "p", ring[6])])["p"].deleted) == 72
    assert len(apply(db, [(-1, "p", ring[1])])["p"].deleted) == 11  # 1 is alone, and in no pair
    assert len(apply(db, [(1, "p", (1, 1))])["p"].inserted) == 1
    db.check()
