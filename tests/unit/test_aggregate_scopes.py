"""What aggregates give in every place and form: which variables are theirs, which come from outside, and which are witnesses.

The rows of `AS_IN_SOUFFLE` are also those of Soufflé 2.5, by experiment.
"""

from __future__ import annotations

import random

import pytest

import datalog
from datalog.errors import ProgramError

FACTS = {
    "d": ("a: number, b: number", [(1, 10), (2, 20), (3, 20), (4, 5)]),
    "t": ("a: number", [(1,), (2,), (9,)]),
    "none": ("a: number", []),
    "w": ("who: symbol, town: symbol, pay: number", [("ann", "Rom", 7), ("bob", "Rom", 9), ("cid", "Oslo", 9), ("dan", "Oslo", 4)]),
    "u": ("a: unsigned, b: number", [(3, 1), (5, 2), (2, 2)]),
    "f": ("a: number, x: float", [(1, 1.5), (2, -2.5), (2, 4.0)]),
}
DECLARED = "\n".join(f".decl {name}({columns})" for name, (columns, _) in FACTS.items())

Case = tuple[str, str, list[tuple[object, ...]]]

AS_IN_SOUFFLE: dict[str, tuple[Case, ...]] = {
    "groups from outside": (
        ("number number", "p(a, n) :- t(a), n = count : { d(a, _) }.", [(1, 1), (2, 1), (9, 0)]),
        ("number number", "p(a, n) :- t(a), n = sum b : { d(a, b) }.", [(1, 10), (2, 20), (9, 0)]),
        ("number number", "p(a, n) :- t(a), n = min b : { d(a, b) }.", [(1, 10), (2, 20)]),
        ("number number", "p(a, n) :- t(a), n = count : { d(e, _), e > a }.", [(1, 3), (2, 2), (9, 0)]),
        ("number number", "p(a, n) :- t(a), n = sum b : { d(e, b), e <= a, e != 1 }.", [(1, 0), (2, 20), (9, 45)]),
        ("number number", "p(a, n) :- n = count : { d(a, _) }, t(a).", [(1, 1), (2, 1), (9, 0)]),
        ("number number", "p(a, n) :- c = a + 1, t(a), n = sum b : { d(c, b) }.", [(1, 20), (2, 20), (9, 0)]),
        ("number number", "p(a, n) :- t(a), n = count : { !d(a, _), t(_) }.", [(1, 0), (2, 0), (9, 3)]),
        ("symbol number", "p(m, n) :- w(_, m, _), n = sum v : { w(_, m, v) }.", [("Oslo", 13), ("Rom", 16)]),
        ("symbol number", "p(m, n) :- w(_, m, _), n = count : { w(_, m, _), !w(_, m, 7) }.", [("Oslo", 2), ("Rom", 0)]),
    ),
    "empty groups": (
        ("number", "p(n) :- n = count : none(_).", [(0,)]),
        ("number", "p(n) :- n = sum a : none(a).", [(0,)]),
        ("number", "p(n) :- n = min a : none(a).", []),
        ("number", "p(n) :- n = max a : { t(a), a > 99 }.", []),
        ("float", "p(n) :- n = sum x : { f(9, x) }.", [(0.0,)]),
        ("unsigned", "p(n) :- n = sum a : { u(a, 9) }.", [(0,)]),
        ("number", "p(1) :- 0 = count : { t(a), a > 99 }.", [(1,)]),
        ("number", "p(1) :- 0 < min a : { none(a) }.", []),
    ),
    "bodies without atoms": (
        ("number", "p(n) :- n = count : { true }.", [(1,)]),
        ("number", "p(n) :- n = count : { t(_), false }.", [(0,)]),
        ("number", "p(n) :- n = max 3 + 1 : { true }.", [(4,)]),
        ("number", "p(count : { false } + count : { true }).", [(1,)]),
    ),
    "what counts: in a body of one atom its rows, else what has a name": (
        ("number", "p(n) :- n = count : { d(_, _) }.", [(4,)]),
        ("number", "p(n) :- n = sum b : { d(_, b) }.", [(55,)]),
        ("number", "p(n) :- n = sum 1 : { d(_, _) }.", [(4,)]),
        ("number", "p(n) :- n = sum b : { d(_, b), t(_) }.", [(35,)]),
        ("number", "p(n) :- n = sum b : { d(a, b), t(c) }.", [(165,)]),
        ("number", "p(n) :- n = count : { d(_, _), t(_) }.", [(1,)]),
        ("number", "p(n) :- n = count : { d(a, _), t(a) }.", [(2,)]),
        ("number", "p(n) :- n = count : { w(_, _, v), v > 4 }.", [(3,)]),
        ("number", "p(n) :- n = count : { w(_, m, v), w(_, m, z), v < z }.", [(2,)]),
        ("number", "p(n) :- n = count : { w(_, _, v), 1 < count : { w(_, _, v) } }.", [(1,)]),
        ("number", "p(n) :- n = sum b : { d(_, b), b = range(10, 21, 5) }.", [(30,)]),
    ),
    "one name inside and outside": (
        ("number", "p(a) :- a = min a : t(a).", [(1,)]),
        ("number number", "p(a, n) :- t(a), n = sum a : { d(a, _) }.", [(1, 10), (2, 10), (9, 10)]),
        ("number number", "p(a, n) :- t(a), n = sum a + b : { d(a, b) }.", [(1, 65), (2, 65), (9, 65)]),
        ("number number", "p(a, n) :- t(a), n = max a : { d(a, b), b > 9 }.", [(1, 3), (2, 3), (9, 3)]),
        ("number number", "p(a, b) :- a = min b : { d(b, _) }, b = max a : { d(_, a) }.", [(1, 20)]),
        ("number", "p(b) :- b = min a + b : { t(a), d(a, b) }.", [(11,)]),
        ("number", "p(b) :- b = sum b : { d(_, b), b < 15 }.", [(15,)]),
        ("number number", "p(n, k) :- n = count : { d(_, b), b > 9 }, k = count : { d(_, b), b < 9 }.", [(3, 1)]),
        (
            "number number number",
            "p(a, b, c) :- a = max b : { d(b, _), b < max b : { d(b, _) } }, b = min b : { d(_, b) }, c = min b : { t(b), b != 1 }.",
            [(3, 5, 2)],
        ),
        ("symbol number", "p(n, k) :- w(n, _, _), k = sum n : { d(n, _) }.", [("ann", 10), ("bob", 10), ("cid", 10), ("dan", 10)]),
    ),
    "witnesses": (
        ("number number", "p(a, n) :- n = max b : { d(a, b) }.", [(2, 20), (3, 20)]),
        ("number number", "p(a, n) :- n = min b : d(a, b).", [(4, 5)]),
        ("number", "p(a) :- _ = max b : { d(a, b) }.", [(2,), (3,)]),
        ("number", "p(a) :- 5 = min b : { d(a, b) }.", [(4,)]),
        ("number", "p(a) :- 5 < min b : { d(a, b) }.", []),
        ("number number", "p(a, n) :- n = 1 + max b : { d(a, b) }.", [(2, 21), (3, 21)]),
        ("number number", "p(a, max b : { d(a, b) }).", [(2, 20), (3, 20)]),
        ("symbol symbol number", "p(n, m, v) :- v = max z : { w(n, m, z) }.", [("bob", "Rom", 9), ("cid", "Oslo", 9)]),
        ("symbol number", "p(n, v) :- v = min z : { w(n, _, z) }.", [("dan", 4)]),
        ("number number", "p(a, n) :- n = max b : { d(a, b), t(a) }.", [(2, 20)]),
        ("number number number", "p(a, b, n) :- n = min a + b : { d(a, b) }.", [(4, 5, 9)]),
        ("number number number", "p(a, b, n) :- n = min s : { d(a, b), s = a + b }.", [(4, 5, 9)]),
        (
            "number number number",
            "p(a, n, c) :- n = max b : { d(a, b), t(c) }.",
            [(2, 20, 1), (2, 20, 2), (2, 20, 9), (3, 20, 1), (3, 20, 2), (3, 20, 9)],
        ),
        ("number number", "p(a, n) :- n = max 2 * a : { d(a, _) }.", [(4, 8)]),
        ("number number", "p(a, n) :- n = max b : { d(a, b), !t(a) }.", [(3, 20)]),
        ("number number", "p(a, c) :- n = max b : { d(a, b) }, c = a + n.", [(2, 22), (3, 23)]),
        ("number number", "p(a, n) :- n = max b : { d(a, b) }, a < 3.", [(2, 20)]),
        ("symbol number", "p(n, v) :- w(_, m, _), v = max z : { w(n, m, z) }.", [("bob", 9), ("cid", 9)]),
        ("number number number", "p(c, a, n) :- t(c), n = max b : { d(a, b), a < c }.", [(2, 1, 10), (9, 2, 20), (9, 3, 20)]),
        ("unsigned number", "p(a, n) :- n = max b : { u(a, b) }.", [(2, 2), (5, 2)]),
        ("number float", "p(a, n) :- n = min x : { f(a, x) }.", [(2, -2.5)]),
        ("number number", "p(a, b) :- 20 = max b : { d(a, b) }, 9 = max b : { t(b) }.", []),
        ("number number number", "p(a, n, k) :- n = max b : { d(a, b) }, k = min b : { d(a, b) }.", []),
    ),
    "no witness: something outside binds the variable": (
        ("number number", "p(a, n) :- n = max b : { d(a, b) }, t(a).", [(1, 10), (2, 20)]),
        ("number number", "p(a, n) :- t(a), n = max b : { d(a, b) }.", [(1, 10), (2, 20)]),
        ("number", "p(n) :- n = max b : { d(a, b) }.", [(20,)]),
        ("number number", "p(a, n) :- (t(a), n = max b : { d(a, b) } ; n = min b : { d(a, b) }).", [(1, 10), (2, 20), (4, 5)]),
        ("number number", "p(a, b) :- a = max b : { d(_, b) }, b = a - 20, t(_).", [(20, 0)]),
    ),
    "one in another": (
        ("number number", "p(a, n) :- t(a), n = count : { d(e, b), b > min b : { d(a, b) } }.", [(1, 2), (2, 0), (9, 0)]),
        ("number number", "p(n, a) :- n = count : { d(e, _), e > min b : { d(b, a) } }.", [(3, 10)]),
        ("number", "p(n) :- n = max k : { t(a), k = count : { d(e, _), e > a } }.", [(3,)]),
        (
            "symbol number",
            "p(m, n) :- w(_, m, _), n = max s : { w(_, m, v), s = sum z : { w(_, m, z), z <= v } }.",
            [("Oslo", 13), ("Rom", 16)],
        ),
        ("number", "p(n) :- n = min x : { t(a), x = max y : { d(b, c), b <= a, y = count : { d(_, c) } } }.", [(1,)]),
    ),
    "where they may stand": (
        ("number number", "p(a, count : { d(_, b), b > a }) :- t(a).", [(1, 4), (2, 4), (9, 3)]),
        ("number", "p(sum b : { d(_, b) } / (1 + count : { d(_, _) })).", [(11,)]),
        ("number", "p(a) :- d(a, max b : { d(_, b) }).", [(2,), (3,)]),
        ("number", "p(a) :- t(a), !d(a, max b : { d(a, b) }).", []),
        ("number", "p(a) :- t(a), !(0 = count : { d(a, _) }).", [(1,), (2,)]),
        ("number", "p(a) :- t(a), (1 = count : { d(a, _) } ; 4 < count : { w(_, _, a) }).", [(1,), (2,)]),
        ("number", "p(a) :- t(a), count : { d(_, _) } > max b : { t(b), b < 9 } + 1.", [(1,), (2,), (9,)]),
        ("number", "p(1) :- max b : { d(_, b) } = 2 * min b : { d(_, b), b > 5 }.", [(1,)]),
        ("symbol", 'p(cat("n", to_string(count : { t(_) }))).', [("n3",)]),
        ("number", "p(max(count : { t(_) }, 2, max a : { none(a) })).", []),
        ("number", "p(max(count : { t(_) }, 2)).", [(3,)]),
        ("number number", "p(a, -sum b : { d(a, b) }) :- t(a).", [(1, -10), (2, -20), (9, 0)]),
    ),
    "values": (
        ("unsigned", "p(n) :- n = max a : { u(a, _) }.", [(5,)]),
        ("unsigned", "p(n) :- n = sum a : { u(a, _) }.", [(10,)]),
        ("float", "p(n) :- n = max x : { f(_, x) }.", [(4.0,)]),
        ("float number", "p(n, a) :- t(a), n = sum x : { f(a, x) }.", [(0.0, 9), (1.5, 1), (1.5, 2)]),
        ("float", "p(n) :- n = mean x : { f(2, x) }.", [(0.75,)]),
    ),
}

OF_OUR_OWN: tuple[Case, ...] = (
    # The witness is the extremum itself; in Soufflé it is any value.
    ("number number", "p(a, b) :- b = max a : { d(a, _) }.", [(4, 4)]),
    # What stands in the body beside the witness makes no groups; in Soufflé a variable with a name does.
    ("number number", "p(a, n) :- n = max b : { d(a, b), u(c, e) }.", [(2, 20), (3, 20)]),
    # Another aggregate may use a witness; in Soufflé none may.
    ("number number", "p(a, n) :- _ = max b : { d(a, b) }, n = count : { t(c), c < a }.", [(2, 1), (3, 2)]),
    # A result of an inner aggregate may wait for one that is outside.
    ("number number", "p(a, n) :- t(a), n = sum b : { d(c, b), c = min e : { d(e, _), e > a } }.", [(1, 20), (2, 20), (9, 0)]),
    # Variables of the arguments that the body does not bind come from outside.
    ("number number", "p(a, n) :- t(a), n = sum a * b : { d(_, b) }.", [(1, 55), (2, 110), (9, 495)]),
    ("float", "p(n) :- n = mean a : { d(a, _) }.", [(2.5,)]),
    ("float", "p(n) :- n = mean a : { none(a) }.", []),
    ("number", "p(n) :- n = sum (1 + count : { t(_) }) : { d(_, _) }.", [(4,)]),
    ("number", "p(n) :- n = count : { (t(a) ; d(a, _)) }.", [(5,)]),
    ("symbol", "p(n) :- n = min s : { w(s, _, _) }.", [("ann",)]),
    ("symbol symbol", "p(n, m) :- m = max s : { w(n, s, _) }.", [("ann", "Rom"), ("bob", "Rom")]),
    ("number number", "p(a, n) :- (t(a) ; a < 4), n = max b : { d(a, b) }.", [(1, 10), (2, 20), (3, 20)]),
    ("number number", "p(a, n) :- a = max b : { d(b, _) }, n = argmax b, c : { d(c, b) }.", [(4, 2)]),
)

IN_RECURSION: dict[str, tuple[str, list[tuple[int, ...]]]] = {
    "a count of rows within bounds": (
        "p(0, 0). p(n + 1, c) :- p(n, _), n < 4, c = count : { d(a, b), a <= n + 1, b > 5 * n }.",
        [(0, 0), (1, 1), (2, 2), (3, 2), (4, 2)],
    ),
    "a least value above one, with its witness": (
        "p(0, 0). p(m, a) :- p(n, _), m = min b : { d(a, b), b > n }.",
        [(0, 0), (5, 4), (10, 1), (20, 2), (20, 3)],
    ),
    "a sum that ends it": (
        "p(1, 0). p(a + 1, s) :- p(a, _), s = sum b : { d(c, b), c < a }, s < 40, a < 9.",
        [(1, 0), (2, 0), (3, 10), (4, 30)],
    ),
    "two that wait for each other in turn": (
        "p(0, 0). p(m, c) :- p(n, _), m = min b : { d(_, b), b > n }, c = count : { t(a), a < m, a > n }.",
        [(0, 0), (5, 2), (10, 1), (20, 0)],
    ),
    "groups that the body binds, too": (
        "p(4, 0). p(a, c) :- p(b, _), d(a, _), a < b, c = count : { d(a, x), x > b }.",
        [(1, 1), (2, 1), (3, 1), (4, 0)],
    ),
    "through another predicate": (
        ".decl q(a: number) p(1, 0). q(c) :- p(a, _), c = count : { t(b), b > a }. p(a + 1, a) :- q(a), a < 9.",
        [(1, 0), (2, 1), (3, 2)],
    ),
}

REFUSED = {
    "p(a, n) :- n = count : { d(a, _) }.": "`a` is in the head",
    "p(a, n) :- n = sum b : { d(a, b) }.": "`a` is in the head",
    "p(b, n) :- n = sum b : { d(_, b) }.": "`b` is in the head",
    "p(n, n) :- n = sum b : { d(_, b), b < n }.": "here `n` is a variable of the aggregate's own",
    "p(n, n) :- n = min c : { t(_) }.": "`c` is aggregated here",
    "p(n, n) :- n = max b : { t(b), b < c }.": "`c` is compared here",
    "p(a, n) :- a = sum b : { d(_, b) }, n = count : { t(b), b > c }.": "`c` is compared here",
    "p(a, n) :- d(a, n), 0 = count : { d(a, b), b < n }, 0 = count : { d(b, n), b < a }.": "depend on each other",
    "p(a, n) :- a = min b : { t(b), b < n }, n = min b : { t(b), b < a }.": "depend on each other",
    "p(1, 1). p(a, n) :- t(a), n = count : { p(a, _) }.": "an aggregate through recursion",
    "p(1, 1). p(n, k) :- p(n, _), k = sum x : { t(a), x = count : { t(b), b < a, a < n } }.": "an aggregate through recursion",
}


def program(types: str, rules: str) -> str:
    columns = ", ".join(f"c{place}: {type}" for place, type in enumerate(types.split()))
    return f"{DECLARED}\n.decl p({columns})\n.output p\n{rules}"


def every_case() -> list[Case]:
    found = [case for cases in AS_IN_SOUFFLE.values() for case in cases]
    return [*found, *OF_OUR_OWN, *(("number number", rules, list(rows)) for rules, rows in IN_RECURSION.values())]


@pytest.mark.parametrize("case", every_case(), ids=lambda case: case[1])
def test_an_aggregate_has_its_rows_however_the_facts_came(case: Case) -> None:
    types, rules, rows = case
    db = datalog.Database(program(types, rules))
    chances = random.Random(rules)
    facts = [(name, row) for name, (_, rows) in FACTS.items() for row in rows]
    chances.shuffle(facts)
    for name, row in (*facts[:10], *facts[:3]):
        with db.transaction() as tx:
            (tx.delete if row in db[name] else tx.insert)(name, [row])
    with db.transaction() as tx:
        for name, row in facts:
            tx.insert(name, [row])
    assert sorted(db["p"]) == rows
    db.check()
    again = datalog.Database(program(types, rules))
    with again.transaction() as tx:
        for name, row in facts:
            tx.insert(name, [row])
    assert sorted(again["p"]) == rows


@pytest.mark.parametrize("rules", REFUSED)
def test_a_variable_without_values_is_told(rules: str) -> None:
    with pytest.raises(ProgramError, match=REFUSED[rules]):
        datalog.Database(program("number number", rules))


def test_the_plan_says_that_an_aggregate_is_asked_in_a_recursion() -> None:
    rules, _ = IN_RECURSION["a count of rows within bounds"]
    db = datalog.Database(program("number number", rules))
    (stratum,) = (stratum for stratum in db.core.strata if stratum.asked)
    assert stratum.recursive and stratum.guard is not None
    assert [(one.asked, one.empty) for one in stratum.asked] == [("p@need1", 0)]
