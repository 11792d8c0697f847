"""Every file in tests/rejected/data is refused with exactly the messages of its .err file."""

from __future__ import annotations

from pathlib import Path

import pytest

from datalog.errors import DataError
from datalog.io.facts import read_table
from datalog.io.stream import StagedTransaction, open_stream, read_transactions
from datalog.ir.core import Predicate, Type
from datalog.store.values import Values

CASES = Path(__file__).parent.parent / "rejected" / "data"
SIGNATURE = {
    predicate.name: predicate
    for predicate in (
        Predicate("edge", ("x", "y"), (Type.NUMBER, Type.NUMBER), True, base="_edge"),
        Predicate("_edge", ("x", "y"), (Type.NUMBER, Type.NUMBER), False, hidden=True),
        Predicate("person", ("name", "age", "weight"), (Type.SYMBOL, Type.UNSIGNED, Type.FLOAT), False),
        Predicate("word", ("text",), (Type.SYMBOL,), False),
        Predicate("sale", ("paid", "day", "at", "total"), (Type.BOOL, Type.DATE, Type.DATETIME, Type.DECIMALS[2]), False),
        Predicate("flag", (), (Type.NUMBER,), False),
        Predicate("sales", ("region", "store", "total"), (Type.SYMBOL, Type.NUMBER, Type.NUMBER), False, functional=True),
        Predicate("stay", ("day", "at", "paid", "sum"), (Type.DATE, Type.DATETIME, Type.BOOL, Type.DECIMALS[2]), False),
    )
}
FACTS = sorted(path.name for path in CASES.iterdir() if path.suffix in (".facts", ".csv"))
STREAMS = sorted(path.name for path in CASES.iterdir() if path.suffix in (".txn", ".jsonl"))


def expected(name: str) -> str:
    return (CASES / f"{name}.err").read_text(encoding="utf-8")


def test_every_case_has_its_messages_and_every_message_its_case() -> None:
    assert sorted(path.name for path in CASES.iterdir() if path.suffix == ".err") == sorted(f"{name}.err" for name in FACTS + STREAMS)


@pytest.mark.parametrize("name", FACTS)
def test_a_bad_fact_file_names_its_bad_rows(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(CASES)
    with pytest.raises(DataError) as caught:
        read_table(Path(name), SIGNATURE[name.partition("-")[0]], Values())
    assert f"{caught.value}\n" == expected(name)
    first = caught.value.diagnostics[0]
    assert (caught.value.file, caught.value.line, caught.value.column) == (name, first.line, first.column)


@pytest.mark.parametrize("name", STREAMS)
def test_a_bad_stream_names_the_first_error_of_each_bad_transaction(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(CASES)
    with open_stream(name) as lines:
        found = list(read_transactions(lines, "jsonl" if name.endswith(".jsonl") else "text", SIGNATURE, name))
    shown = [f"line {item.first_line}: fine" if isinstance(item, StagedTransaction) else str(item) for item in found]
    assert "\n".join(shown) + "\n" == expected(name)
