"""The memo of calls: what it holds, how it grows and forgets, and what becomes of failed calls in an engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from datalog import Database
from datalog.errors import EvaluationError
from datalog.evaluate.memo import SMALLEST_TABLE, Memo
from datalog.ir.core import Type
from datalog.kernels import encoding as code
from datalog.maintain.engine import Engine, Failing, Options
from datalog.store.values import Values

Words = NDArray[np.int64]
NUMBER = Type.NUMBER


class Sums:
    """Sums of the arguments; where that is negative there is none."""

    def __init__(self) -> None:
        self.calls: list[tuple[int, ...]] = []
        self.exceptions: dict[str, Exception] = {"-5 is negative": ValueError("five")}

    def compute(self, name: str, arguments: tuple[Type, ...], result: Type, columns: Sequence[Words]) -> tuple[Words, Mapping[int, str]]:
        self.calls += [tuple(row) for row in np.stack(columns, axis=1).tolist()]
        total = np.sum(columns, axis=0)
        return total, {row: f"{total[row]} is negative" for row in np.flatnonzero(total < 0).tolist()}


def held(memo: Memo) -> dict[tuple[int, ...], int]:
    """The rows of the table: key and arguments to result."""
    rows = [tuple(row) for row in memo.table.tolist() if row[0]]
    out = {row[:-1]: row[-1] for row in rows}
    assert len(out) == len(rows), "a call stands there once"
    return out


def test_a_growing_memo_keeps_every_call_and_computes_none_twice() -> None:
    sums = Sums()
    memo = Memo(sums)
    single, double = memo.number("f", (NUMBER,), NUMBER), memo.number("f", (NUMBER, NUMBER), NUMBER)
    assert memo.number("f", (NUMBER,), NUMBER) == single != double
    random = np.random.default_rng(3)
    for size in (3, 50, 1000, 20, 4000):
        wanted = random.integers(0, 60, (size, 3))
        wanted[:, 0] = random.choice([single, double], size)
        memo.fill(wanted)
        assert len(held(memo)) * 2 <= len(memo.table)
    assert len(sums.calls) == len(set(sums.calls)) == len(held(memo)) > SMALLEST_TABLE
    table = held(memo)
    for call in sums.calls:
        key = (single + 1, *call, 0) if len(call) == 1 else (double + 1, *call)
        assert table[key] == sum(call)


def test_failures_have_their_reasons_until_they_are_forgotten() -> None:
    sums = Sums()
    memo = Memo(sums)
    number = memo.number("f", (NUMBER,), NUMBER)
    memo.fill(np.array([[number, 4], [number, -5], [number, -6]]))
    failed = {key[1]: result for key, result in held(memo).items() if key[0] < 0}
    assert memo.why(failed[-6]) == ("has no value: -6 is negative", None)
    assert memo.why(failed[-5]) == ("raised -5 is negative", sums.exceptions["-5 is negative"])
    memo.forget_failures()
    assert held(memo) == {(number + 1, 4): 4}
    memo.fill(np.array([[number, 4], [number, -5]]))
    assert sums.calls == [(-6,), (-5,), (4,), (-5,)]


def test_a_function_of_more_arguments_widens_the_table_and_another_function_of_a_name_empties_it() -> None:
    memo = Memo(Sums())
    narrow = memo.number("f", (NUMBER,), NUMBER)
    memo.fill(np.array([[narrow, 4]]))
    wide = memo.number("g", (NUMBER,) * 5, NUMBER)
    memo.fill(np.array([[narrow, 7, 9, 9, 9, 9], [wide, 1, 2, 3, 4, 5]]))
    assert held(memo) == {(narrow + 1, 4, 0, 0, 0, 0): 4, (narrow + 1, 7, 0, 0, 0, 0): 7, (wide + 1, 1, 2, 3, 4, 5): 15}
    assert memo.table.shape[1] == 5 + code.MEMO_BESIDES
    memo.forget("f")
    assert held(memo) == {(wide + 1, 1, 2, 3, 4, 5): 15}


PROGRAM = """
.decl q(x: symbol)
.decl p(x: symbol, n: number)
p(x, n) :- q(x), n = 12 / to_number(x) + strlen(x).
"""


def engine(failing: Failing) -> tuple[Engine, Values]:
    values = Values()
    return Engine(Database(PROGRAM)._core, values, {}, Options(failing=failing, rows_per_page=4)), values


def change(live: Engine, values: Values, *texts: str) -> set[tuple[object, ...]]:
    """Insert texts into q; the rows of p."""
    rows = np.array(sorted([values.encode(text, Type.SYMBOL)] for text in texts), np.int64)
    live.apply({"q": (rows, np.ones(len(rows), np.int64))})
    return set(values.decode_rows(live.storage.rows("p"), (Type.SYMBOL, Type.NUMBER)))


def test_a_failed_call_rejects_the_transaction_with_its_reason_and_binding() -> None:
    live, values = engine("error")
    assert change(live, values, "3", " 0x4 ") == {("3", 5), (" 0x4 ", 8)}
    for _ in range(2):
        with pytest.raises(EvaluationError, match=r'`to_number` has no value: .*abc.*, where x = "abc", in the rule `p\(x, n\)'):
            change(live, values, "abc", "6")
    assert change(live, values, "6") == {("3", 5), (" 0x4 ", 8), ("6", 3)}
    assert live.failures == 0


def test_failing_computations_may_be_skipped_and_are_counted() -> None:
    live, values = engine("skip")
    assert change(live, values, "3", "abc", "0", "6") == {("3", 5), ("6", 3)}
    assert live.failures == 2, "no number, and a division by zero"
