"""A recursion of many rounds with a row each costs a few kernel calls, and few steps a round."""

from __future__ import annotations

from typing import Any

import pytest

from datalog import Database
from datalog.evaluate import join, rounds

COUNT = """.decl c(x: number)
c(range(0, 50)).
.decl a(x: number)
.decl b(x: number)
b(0).
a(x) :- b(x), c(y), c(z), z > y.
b(x + 1) :- a(x), x < {most}.
"""


@pytest.mark.parametrize("most", [1_000, 4_000])
def test_a_thousand_rounds_take_a_few_kernel_calls(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = 0

    def counting(kernel: Any) -> Any:
        def run(*arguments: Any) -> Any:
            nonlocal calls
            calls += 1
            return kernel(*arguments)

        return run

    monkeypatch.setattr(join, "run", counting(join.run))
    monkeypatch.setattr(rounds, "run", counting(rounds.run))
    db = Database(COUNT.format(most=most))
    assert len(db["a"]) == len(db["b"]) == most + 1
    assert calls <= 50 + most // 50  # each time that what is gathered has to be made anew, and some before
    assert db.steps <= 20 * most  # of the pairs of c one is enough
