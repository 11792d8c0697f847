"""`autoinc()`: after every transaction each binding has the number that its place among all that hold gives it, whatever was before."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from datalog import Database
from tests.kernels.blocks import examples

MAINTAIN = ["auto", "derived", "recorded", "recompute"]
Row = tuple[Any, ...]
Relations = dict[str, set[Row]]

DECLARED = """
.decl e(x: symbol, y: symbol)
.decl w(x: symbol, n: number)
.decl same(x: symbol, y: symbol) eqrel
same(x, y) :- e(x, y).
.decl path(x: symbol, y: symbol)
path(x, y) :- e(x, y).
path(x, z) :- path(x, y), e(y, z).
.decl id(n: number, x: symbol)
.decl pair(x: symbol, n: number, m: number)
.decl only(n: number)
.decl order(k: number, n: number)
.decl far(n: number, x: symbol)
.decl last(n: number)
last(n) :- id(n, _), !later(n).
.decl later(n: number)
later(n) :- id(n, _), id(m, _), n < m.
.decl total(s: number)
total(s) :- s = sum n : { id(n, _) }.
"""


@dataclass(frozen=True)
class Numbered:
    """A rule with `autoinc()`: its bindings, which head rows they make with their numbers, and on whose rules these depend."""

    head: str
    text: str
    each: int
    bindings: Callable[[Relations], Iterable[Row]]
    rows: Callable[[Row, int], Row]
    needs: tuple[str, ...] = ()


RULES = [
    Numbered("id", "id(autoinc(), x) :- w(x, n).", 1, lambda r: r["w"], lambda b, n: (n, b[0])),
    Numbered("id", "id(autoinc(), x) :- e(x, _).", 1, lambda r: r["e"], lambda b, n: (n, b[0])),
    Numbered(
        "id",
        "id(autoinc(), y) :- e(_, y), w(y, _).",
        1,
        lambda r: {(y,) for _, y in r["e"] if y in {row[0] for row in r["w"]}},
        lambda b, n: (n, b[0]),
    ),
    Numbered(
        "pair",
        "pair(x, autoinc(), autoinc()) :- path(x, y), !e(x, y), w(y, k), k < 3.",
        2,
        lambda r: {(x, y, k) for x, y in r["path"] - r["e"] for z, k in r["w"] if y == z and k < 3},
        lambda b, n: (b[0], n, n + 1),
    ),
    Numbered("only", "only(autoinc()) :- same(x, y), x < y.", 1, lambda r: {(x, y) for x, y in r["same"] if x < y}, lambda b, n: (n,)),
    Numbered("only", 'only(autoinc()) :- e("a", "b").', 1, lambda r: {()} if ("a", "b") in r["e"] else set(), lambda b, n: (n,)),
    Numbered("order", "order(k, autoinc()) :- pair(_, k, _).", 1, lambda r: r["pair"], lambda b, n: (b[1], n), ("pair",)),
    Numbered(
        "order",
        "order(k + 100, autoinc()) :- id(k, x), w(x, j), j > 1.",
        1,
        lambda r: {(k, x, j) for k, x in r["id"] for y, j in r["w"] if x == y and j > 1},
        lambda b, n: (b[0] + 100, n),
        ("id",),
    ),
    Numbered("far", "far(n, x) :- w(x, k), n = autoinc() + k.", 1, lambda r: r["w"], lambda b, n: (n + b[1], b[0])),
]


def expected(rules: list[Numbered], facts: Relations) -> Relations:
    relations: Relations = {name: set() for name in ("id", "pair", "only", "order", "far", "path", "same")}
    relations |= {name: set(rows) for name, rows in facts.items()}
    relations["path"] = closure(facts["e"])
    links = closure(facts["e"] | {row[::-1] for row in facts["e"]})
    relations["same"] = links
    number, waiting = 0, list(rules)
    while waiting:
        heads = {rule.head for rule in waiting}
        rule = next(rule for rule in waiting if heads.isdisjoint(rule.needs))
        waiting.remove(rule)
        for binding in sorted(set(rule.bindings(relations))):
            relations[rule.head].add(rule.rows(binding, number))
            number += rule.each
    ids = {n for n, _ in relations["id"]}
    relations["last"] = {(max(ids),)} if ids else set()
    relations["total"] = {(sum(n for n, _ in relations["id"]),)}
    return relations


def closure(edges: set[Row]) -> set[Row]:
    paths = set(edges)
    while more := {(x, z) for x, y in paths for a, z in edges if a == y} - paths:
        paths |= more
    return paths


def random_row(name: str, random: Random) -> Row:
    # Names are interned in the order in which they come, which is not that of their texts.
    node = random.choice("dbzcay")
    return (node, random.choice("bzadcy")) if name == "e" else (node, random.randrange(5))


def transaction(facts: Relations, random: Random) -> list[tuple[int, str, Row]]:
    changes: list[tuple[int, str, Row]] = []
    for _ in range(random.randint(1, 5)):
        name = random.choice("ew")
        if facts[name] and random.random() < 0.45:
            changes.append((-1, name, random.choice(sorted(facts[name]))))
        else:
            changes.append((1, name, random_row(name, random)))
        sign, name, row = changes[-1]
        (facts[name].add if sign > 0 else facts[name].discard)(row)
    return changes


@settings(max_examples=examples(40))
@given(seed=st.integers(0, 10**6), maintain=st.sampled_from(MAINTAIN), rows_per_page=st.sampled_from([4, None]))
def test_numbers_depend_on_what_holds_and_not_on_what_has_been(seed: int, maintain: str, rows_per_page: int | None) -> None:
    random = Random(seed)
    rules = random.sample(RULES, random.randint(1, len(RULES)))
    text = DECLARED + "\n".join(rule.text for rule in rules)
    db = Database(text, maintain=maintain, rows_per_page=rows_per_page)  # type: ignore[arg-type]
    facts: Relations = {"e": set(), "w": set()}
    before = expected(rules, facts)
    for _ in range(6):
        with db.transaction() as tx:
            for sign, name, row in transaction(facts, random):
                (tx.insert if sign > 0 else tx.delete)(name, [row])
        after = expected(rules, facts)
        for name, rows in after.items():
            assert set(db[name]) == rows, (name, text)
            assert set(tx.changes[name].inserted) == rows - before[name], name
            assert set(tx.changes[name].deleted) == before[name] - rows, name
        db.check()
        before = after
