"""The last depth, listed leaf by leaf: the same rows wherever it is stopped, and a step for each."""

from __future__ import annotations

from random import Random

import pytest

from datalog.ir.core import CoreAtom, CoreRule, Type
from datalog.kernels import encoding as code
from datalog.plan.rule import plan_delta, plan_rule
from datalog.syntax.tree import NOWHERE
from tests.kernels.blocks import GREATEST, LEAST
from tests.kernels.triejoin_twin import Prefix, Trees, encode, run, sizes, twin

Stored = dict[str, dict[tuple[int, ...], int]]

LAST = (LEAST, LEAST + 1, *range(40), GREATEST - 1, GREATEST)


def rule(head: tuple[int, ...], *atoms: tuple[str, tuple[int | None, ...]]) -> CoreRule:
    body = tuple(CoreAtom(name, columns, False, NOWHERE) for name, columns in atoms)
    return CoreRule("h", head, ("x", "y"), (Type.NUMBER,) * 2, body, (), (), NOWHERE, "h ← …")


ONE = rule((1, 0, 1), ("e", (0, 1)))
PROJECTED = rule((0,), ("e", (0, 1)))
CUT = rule((0, 1), ("t", (0, 1, None)))
TWO = rule((0, 1), ("e", (0, 1)), ("f", (0, 1)))
TWO_CUT = rule((1, 0), ("e", (0, 1)), ("t", (0, 1, None)))


def relations(seed: int) -> Stored:
    random = Random(seed)
    e, f = ([(x, y) for x in range(4) for y in LAST if random.random() < 0.6] for _ in range(2))
    t = [(x, y, z) for x in range(4) for y in LAST for z in range(random.choice((0, 1, 3)))]
    return {"e": dict.fromkeys(e, 1), "f": dict.fromkeys(f, 1), "t": dict.fromkeys(t, 1)}


@pytest.mark.parametrize("per_page", [3, 5, None])
@pytest.mark.parametrize("told", [ONE, PROJECTED, CUT, TWO, TWO_CUT], ids=["one", "projected", "cut", "two", "two_cut"])
def test_rows_do_not_depend_on_where_the_listing_is_stopped(told: CoreRule, per_page: int | None) -> None:
    for seed in range(3):
        stored = relations(seed)
        plan = plan_rule(told, sizes(stored), (0, 1))
        trees = Trees(stored, per_page)
        encoded = encode(plan, trees)
        assert encoded.words[code.PLAN_TIGHT] == len(plan.depths[-1].iterators)
        for asked in ([Prefix(())], [Prefix((x,), low, high) for x in (0, 2, 1) for low, high in ((LEAST, GREATEST), (3, 20), (LEAST, 7))]):
            expected = twin(plan, stored, asked)
            free = run(encoded, trees, asked)
            assert free.output == expected
            for rows, pace in ((1, 1 << 40), (7, 1 << 40), (4096, 1), (3, 2)):
                stopped = run(encoded, trees, asked, rows=rows, pace=pace)
                assert stopped.output == expected
                assert stopped.steps <= free.steps + sum(stopped.stops.values()), "it goes on where it was stopped"


def test_a_listed_row_is_a_step() -> None:
    stored: Stored = {"e": {(1, y): 1 for y in range(1_000)}}
    trees = Trees(stored, None)
    encoded = encode(plan_rule(ONE, sizes(stored), (0, 1)), trees)
    leaves = -(-1_000 // next(iter(trees._built.values()))[0].leaf_rows)
    assert 1_000 <= run(encoded, trees, [Prefix((1,))]).steps <= 1_000 + leaves + 4


@pytest.mark.parametrize("ascending", [True, False])
def test_a_value_of_a_prefix_takes_one_look_up(ascending: bool) -> None:
    """h(x, z) :- p(x, y), e(y, z), where each y has one z."""
    body = (CoreAtom("p", (0, 1), False, NOWHERE), CoreAtom("e", (1, 2), False, NOWHERE))
    told = CoreRule("h", (0, 2), ("x", "y", "z"), (Type.NUMBER,) * 3, body, (), (), NOWHERE, "")
    stored: Stored = {"p": {}, "e": {(y, y + 1): 1 for y in range(300)}}
    trees = Trees(stored, None)
    encoded = encode(plan_delta(told, sizes(stored), 0), trees)
    asked = [Prefix((x, x if ascending else 299 - x)) for x in range(300)]
    done = run(encoded, trees, asked)
    assert len(done.output) == 300
    assert done.steps < 3.1 * 300, "one for y, one to open z, one for its value, and some to other leaves"
