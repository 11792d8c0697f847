"""Transaction streams: what is read, when it is handed on, and that changes read back as what they were."""

from __future__ import annotations

import io
import json
import math
import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datalog.errors import DataError, StreamError
from datalog.io.changes import Changes, format_changes
from datalog.io.stream import Format, StagedTransaction, open_stream, read_transactions
from datalog.ir.core import Predicate, Type
from datalog.ir.spelling import decimal_of
from datalog.store.values import Row

SIGNATURE = {
    predicate.name: predicate
    for predicate in (
        Predicate("edge", ("x", "y"), (Type.NUMBER, Type.NUMBER), False),
        Predicate("path", ("x", "y"), (Type.NUMBER, Type.NUMBER), True, base="path@given"),
        Predicate("person", ("name", "age", "weight"), (Type.SYMBOL, Type.UNSIGNED, Type.FLOAT), False),
        Predicate("lib.word", ("text",), (Type.SYMBOL,), False),
        Predicate("flag", (), (Type.NUMBER,), False),
        Predicate("sales", ("region", "store", "total"), (Type.SYMBOL, Type.NUMBER, Type.NUMBER), False, functional=True),
        Predicate("rate", ("rate",), (Type.FLOAT,), False, functional=True),
        Predicate("stay", ("day", "paid", "at", "sum"), (Type.DATE, Type.BOOL, Type.DATETIME, Type.DECIMALS[2]), False, functional=True),
        Predicate("weight", ("grams", "exact"), (Type.DECIMALS[18], Type.DECIMALS[0]), False),
    )
}


def read(text: str, format: Format = "text") -> list[StagedTransaction]:
    found = list(read_transactions(text.splitlines(keepends=True), format, SIGNATURE, "s"))
    for item in found:
        assert isinstance(item, StagedTransaction), str(item)
    return [item for item in found if isinstance(item, StagedTransaction)]


def only(text: str, format: Format = "text") -> StagedTransaction:
    [transaction] = read(text, format)
    return transaction


def test_a_transaction_is_everything_up_to_its_commit() -> None:
    first, second, third = read('+edge(1,2).  -edge(2,3).\n+person("Ann", 41, 61.5).\ncommit.\ncommit. +flag(). commit.\n')
    assert first == StagedTransaction(1, 3, {"edge": [(1, 2)], "person": [("Ann", 41, 61.5)]}, {"edge": [(2, 3)]})
    assert second == StagedTransaction(4, 4, {}, {})
    assert third == StagedTransaction(4, 4, {"flag": [()]}, {})


def test_facts_may_spread_over_lines_with_comments_between() -> None:
    text = "// a\n% b: commit.\n+ edge ( 1 , // one\n\n  % two\n -2 )\n. commit // done\n.\n"
    assert only(text) == StagedTransaction(3, 8, {"edge": [(1, -2)]}, {})


def test_comment_marks_inside_strings_are_text() -> None:
    assert only('+lib.word("// % commit.").commit.').insert == {"lib.word": [("// % commit.",)]}


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("0", 0),
        ("-0", 0),
        ("007", 7),
        ("0xfF", 255),
        ("-0x10", -16),
        ("0b101", 5),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
    ],
)
def test_numbers_are_spelled_as_in_the_language(written: str, value: int) -> None:
    assert only(f"+edge({written},1). commit.").insert == {"edge": [(value, 1)]}


@pytest.mark.parametrize(
    ("written", "value"),
    [("5", 5), ("5u", 5), ("0xffu", 255), ("0b11", 3), ("18446744073709551615", 2**64 - 1), ("0x7fffffffffffffff", 2**63 - 1)],
)
def test_unsigned_numbers_need_no_suffix(written: str, value: int) -> None:
    assert only(f'+person("a",{written},1). commit.').insert == {"person": [("a", value, 1.0)]}


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("1", 1.0),
        ("-1.5", -1.5),
        ("1.5e3", 1500.0),
        ("1e-3", 0.001),
        ("1.5E+3", 1500.0),
        ("inf", math.inf),
        ("-inf", -math.inf),
        ("1e300", 1e300),
    ],
)
def test_floats_may_be_integers_and_infinities(written: str, value: float) -> None:
    [row] = only(f'+person("a",1,{written}). commit.').insert["person"]
    assert row[2] == value
    assert isinstance(row[2], float)


def test_nan_and_minus_zero_are_one_fact_each() -> None:
    staged = only('+person("a",1,nan). -person("a",1,nan). +person("a",1,-0.0). -person("a",1,0). commit.')
    assert staged.insert == {}
    assert len(staged.delete["person"]) == 2
    assert [str(row[2]) for row in staged.delete["person"] if row[2] == 0] == ["0.0"]


def test_strings_have_the_languages_escapes() -> None:
    assert only(r'+lib.word("a\tb\n\"c\"\\ \x41é"). commit.').insert == {"lib.word": [('a\tb\n"c"\\ Aé',)]}


@pytest.mark.parametrize(
    ("text", "inserted"), [("+edge(1,2). -edge(1,2). +edge(1,2).", True), ("-edge(1,2). +edge(1,2). -edge(0x1,2).", False)]
)
def test_the_last_word_on_a_fact_wins(text: str, inserted: bool) -> None:
    staged = only(f"{text} commit.")
    assert (staged.insert, staged.delete) == (({"edge": [(1, 2)]}, {}) if inserted else ({}, {"edge": [(1, 2)]}))


def test_abort_drops_what_is_pending() -> None:
    assert only("+edge(1,2). abort. +edge(3,4). commit. +edge(5,6). abort.\n").insert == {"edge": [(3, 4)]}


def test_a_derived_predicate_takes_given_facts() -> None:
    assert only("+path(1,2). commit.").insert == {"path": [(1, 2)]}


@pytest.mark.parametrize("format", ["text", "jsonl"])
def test_windows_line_ends_and_a_byte_order_mark_are_let_pass(format: Format) -> None:
    text = "\ufeff+edge(1,\r\n2).\r\n// c\r\ncommit.\r\n" if format == "text" else '\ufeff{"insert": {"edge": [[1,2]]}}\r\n\r\n'
    found = list(read_transactions(io.StringIO(text, newline=""), format, SIGNATURE, "s"))
    assert [item.insert for item in found if isinstance(item, StagedTransaction)] == [{"edge": [(1, 2)]}]
    assert len(found) == 1


@pytest.mark.parametrize("format", ["text", "jsonl"])
def test_an_empty_stream_has_no_transactions(format: Format) -> None:
    assert read("", format) == read("\n \n", format) == []


def test_lines_without_line_ends_are_lines() -> None:
    found = list(read_transactions(["+edge(1,2). // c", "commit."], "text", SIGNATURE, "s"))
    assert found == [StagedTransaction(1, 2, {"edge": [(1, 2)]}, {})]


def test_a_transaction_is_handed_on_before_the_next_line_is_asked_for() -> None:
    asked: list[str] = []

    def lines() -> Iterator[str]:
        for line in ("+edge(1,2).\n", "commit. +edge(3,4). commit.\n", "+edge(5,6).\n"):
            asked.append(line)
            yield line

    stream = read_transactions(lines(), "text", SIGNATURE, "s")
    assert asked == []
    assert isinstance(next(stream), StagedTransaction)
    assert len(asked) == 2
    second = next(stream)
    assert isinstance(second, StagedTransaction)
    assert second.insert == {"edge": [(3, 4)]}
    assert len(asked) == 2
    assert isinstance(next(stream), StreamError)
    assert list(stream) == []


def test_an_error_is_handed_on_before_the_rest_of_its_transaction_is_read() -> None:
    def lines() -> Iterator[str]:
        yield "+edge(1,x).\n"
        raise AssertionError("read ahead")

    error = next(read_transactions(lines(), "text", SIGNATURE, "f.txn"))
    assert isinstance(error, StreamError)
    assert (error.file, error.line, error.column, error.text) == ("f.txn", 1, 9, "+edge(1,x).")


def test_nothing_of_a_bad_transaction_reaches_the_next() -> None:
    text = '+edge(1,2).\n+edge(3,"x"). +edge(5,6).\n% commit.\n+lib.word("commit.").\ncommit.\n+edge(7,8). commit.\n'
    error, after = read_transactions(text.splitlines(keepends=True), "text", SIGNATURE, "s")
    assert isinstance(error, StreamError)
    assert after == StagedTransaction(6, 6, {"edge": [(7, 8)]}, {})


def test_in_a_json_line_insertions_come_after_deletions() -> None:
    for text in (
        '{"insert": {"edge": [[1,2]]}, "delete": {"edge": [[1,2],[2,3]]}}',
        '{"delete": {"edge": [[2,3],[1,2]]}, "insert": {"edge": [[1,2]]}}',
    ):
        assert only(text, "jsonl") == StagedTransaction(1, 1, {"edge": [(1, 2)]}, {"edge": [(2, 3)]})


def test_json_values_become_values_of_their_columns() -> None:
    text = '{"txn": 7, "insert": {"person": [["é", 18446744073709551615, 1], ["b", 0, "-inf"], ["c", 0, Infinity]], "flag": [[]]}}\n'
    assert only(text, "jsonl").insert == {"person": [("é", 2**64 - 1, 1.0), ("b", 0, -math.inf), ("c", 0, math.inf)], "flag": [()]}
    assert read('{}\n\n{"txn": 3, "insert": {}}\n', "jsonl") == [StagedTransaction(1, 1, {}, {}), StagedTransaction(3, 3, {}, {})]


CHANGES: Changes = {
    "path": ([(1, 3), (-2, 4)], [(2, 4)]),
    "edge": ([], []),
    "flag": ([], [()]),
    "person": ([('a"\n', 2, math.nan), ('a"\n', 2, 0.1)], []),
}


def test_changes_print_sorted_with_deletions_first() -> None:
    assert format_changes(3, CHANGES, "text", SIGNATURE) == (
        '-flag().\n-path(2,4).\n+path(-2,4).\n+path(1,3).\n+person("a\\"\\n",2,0.1).\n+person("a\\"\\n",2,nan).\ncommit.\n'
    )


def test_changes_print_as_one_json_line() -> None:
    line = format_changes(3, CHANGES, "jsonl", SIGNATURE)
    assert line.endswith("}\n")
    assert json.loads(line) == {
        "txn": 3,
        "insert": {"path": [[-2, 4], [1, 3]], "person": [['a"\n', 2, 0.1], ['a"\n', 2, "nan"]]},
        "delete": {"flag": [[]], "path": [[2, 4]]},
    }
    assert list(json.loads(line)["insert"]) == ["path", "person"]


def test_a_transaction_that_changes_nothing_prints_too() -> None:
    assert format_changes(4, {}, "text", SIGNATURE) == "commit.\n"
    assert format_changes(4, {"edge": ([], [])}, "jsonl", SIGNATURE) == '{"txn": 4, "insert": {}, "delete": {}}\n'


def rows(predicate: Predicate) -> st.SearchStrategy[list[Row]]:
    values = {
        Type.NUMBER: st.integers(-(2**63), 2**63 - 1),
        Type.UNSIGNED: st.integers(0, 2**64 - 1),
        Type.FLOAT: st.floats(allow_nan=False).map(lambda value: value + 0.0),
        Type.SYMBOL: st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
        Type.BOOL: st.booleans(),
        Type.DATE: st.dates(),
        Type.DATETIME: st.datetimes(timezones=st.just(UTC)),
        **{type: st.integers(-(2**63), 2**63 - 1).map(partial(decimal_of, scale=type.scale)) for type in Type.DECIMALS},
    }
    return st.lists(st.tuples(*(values[type] for type in predicate.types[: len(predicate.attributes)])), max_size=4, unique=True)


@pytest.mark.parametrize("format", ["text", "jsonl"])
@given(data=st.data())
def test_changes_read_back_as_what_they_were(format: Format, data: st.DataObject) -> None:
    transactions = []
    for _ in range(data.draw(st.integers(0, 3))):
        changes: dict[str, tuple[list[Row], list[Row]]] = {}
        for predicate in SIGNATURE.values():
            deleted = data.draw(rows(predicate))
            changes[predicate.name] = ([row for row in data.draw(rows(predicate)) if row not in deleted], deleted)
        transactions.append(changes)
    text = "".join(format_changes(number, changes, format, SIGNATURE) for number, changes in enumerate(transactions))
    found = list(read_transactions(io.StringIO(text, newline="\n"), format, SIGNATURE, "s"))
    assert len(found) == len(transactions)
    for item, changes in zip(found, transactions, strict=True):
        assert isinstance(item, StagedTransaction), str(item)
        assert item.insert == {name: sorted(inserted) for name, (inserted, _) in changes.items() if inserted}
        assert item.delete == {name: sorted(deleted) for name, (_, deleted) in changes.items() if deleted}


STAY = (date(2024, 2, 29), True, datetime(2024, 5, 1, 12, 0, 0, 500_000, UTC), Decimal("12.50"))


def test_facts_of_functional_predicates_are_written_with_brackets_or_as_any_other() -> None:
    text = '+sales["n", 3] = 70. -sales [ "n" , // c\n 3 ] = 60 . +sales("s", 1, 5). +rate[] = 1.5. -rate(2). commit.'
    assert only(text) == StagedTransaction(
        1, 2, {"sales": [("n", 3, 70), ("s", 1, 5)], "rate": [(1.5,)]}, {"sales": [("n", 3, 60)], "rate": [(2.0,)]}
    )


@pytest.mark.parametrize("value", ["70", "0x46", "070"])
def test_a_full_stop_ends_a_value_also_right_before_the_next_word(value: str) -> None:
    assert only(f'+sales["n",3] = {value}.+rate[] = 2.commit.').insert == {"sales": [("n", 3, 70)], "rate": [(2.0,)]}


def test_values_of_every_type_are_spelled_as_in_the_language() -> None:
    assert only('+stay["2024-02-29", true, "2024-05-01T12:00:00.500000Z"] = 12.50. commit.').insert == {"stay": [STAY]}
    assert only('+stay["2024-02-29", true, "2024-05-01 14:00:00.5+02:00"] = 12.5. commit.').insert == {"stay": [STAY]}
    line = '{"insert": {"stay": [["2024-02-29", true, "2024-05-01T12:00:00.5Z", 12.50]]}}'
    assert only(line, "jsonl").insert == {"stay": [STAY]}


def test_no_digit_of_a_decimal_is_lost_in_json() -> None:
    line = '{"insert": {"weight": [[0.123456789012345678, 9223372036854775807]]}}'
    row = (Decimal("0.123456789012345678"), Decimal(2**63 - 1))
    assert only(line, "jsonl").insert == {"weight": [row]}
    assert format_changes(1, {"weight": ([row], [])}, "jsonl", SIGNATURE) == '{"txn": 1, ' + line[1:-2] + '}, "delete": {}}\n'


def test_a_decimal_may_be_a_string_in_json() -> None:
    assert only('{"insert": {"weight": [["0.123456789012345678", "5"]]}}', "jsonl") == only(
        '{"insert": {"weight": [[0.123456789012345678, 5]]}}', "jsonl"
    )
    [error] = read_transactions(['{"insert": {"weight": [["1,5", 5]]}}'], "jsonl", SIGNATURE, "s")
    assert isinstance(error, StreamError)
    assert (error.column, error.message) == (25, '"1,5" is no decimal(18) (column grams of weight)')


UPSERTED = {"upsert": {"sales": [("n", 3, 70)]}, "delete_keys": {}, "insert": {}, "delete": {}}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ('^sales["n",3] = 70.', {}),
        ('^sales("n",3,70).', {}),
        ('^sales["n",3] = 60. ^sales["n",3] = 70.', {}),
        ('+sales["n",3] = 60. -sales["n",3] = 70. ^sales["n",3] = 70.', {}),
        ('^sales["n",3] = 70. +sales["n",3] = 60.', {"insert": {"sales": [("n", 3, 60)]}}),
        ('^sales["n",3] = 70. -sales["n",3] = 70.', {"delete": {"sales": [("n", 3, 70)]}}),
        ('-sales["n",3]. ^sales["n",3] = 70.', {}),
        (
            '^sales["n",3] = 70. +sales["n",4] = 1. -sales["n",3].',
            {"upsert": {}, "delete_keys": {"sales": [("n", 3)]}, "insert": {"sales": [("n", 4, 1)]}},
        ),
        ('-sales["n",3]. +sales["n",3] = 5.', {"upsert": {}, "delete_keys": {"sales": [("n", 3)]}, "insert": {"sales": [("n", 3, 5)]}}),
    ],
)
def test_an_upsert_takes_back_what_was_said_of_its_key_and_later_words_count(words: str, expected: dict[str, object]) -> None:
    staged = only(f"{words} commit.")
    assert {side: getattr(staged, side) for side in UPSERTED} == UPSERTED | expected


def test_in_a_json_line_deletions_apply_then_upserts_then_insertions() -> None:
    line = (
        '{"insert": {"sales": [["s",1,2]]}, "upsert": {"sales": [["n",3,70]]}, "delete": {"sales": [["n",3,70]]}, '
        '"delete_keys": {"sales": [["n",3],["s",1]]}}'
    )
    staged = only(line, "jsonl")
    assert (staged.insert, staged.upsert) == ({"sales": [("s", 1, 2)]}, {"sales": [("n", 3, 70)]})
    assert (staged.delete, staged.delete_keys) == ({}, {"sales": [("s", 1)]})


def test_changes_of_functional_predicates_print_with_brackets() -> None:
    changes: Changes = {"sales": ([("n", 3, 70)], [("n", 3, 60)]), "rate": ([(1.5,)], []), "stay": ([STAY], [])}
    assert format_changes(3, changes, "text", SIGNATURE) == (
        '-sales["n",3] = 60.\n+rate[] = 1.5.\n+sales["n",3] = 70.\n'
        '+stay["2024-02-29",true,"2024-05-01T12:00:00.500000Z"] = 12.50.\ncommit.\n'
    )


@given(text=st.text(alphabet='+-^edgcomitral.()[]=",01\\ \n%/x', max_size=60))
def test_any_text_gives_transactions_and_errors_only(text: str) -> None:
    for item in read_transactions(text.splitlines(keepends=True), "text", SIGNATURE, "s"):
        assert isinstance(item, StagedTransaction | StreamError)


@given(data=st.data())
def test_any_json_gives_transactions_and_errors_only(data: st.DataObject) -> None:
    leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["edge", "insert", "flag", "x"])
    keys = st.sampled_from(["insert", "delete", "edge", "flag", "txn", "x"])
    value = data.draw(
        st.recursive(leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3), max_leaves=12)
    )
    line = json.dumps({"insert": {"edge": value}} if data.draw(st.booleans()) else value)
    [item] = read_transactions([line], "jsonl", SIGNATURE, "s")
    if isinstance(item, StreamError):
        assert 1 <= item.column <= len(line)


def test_json_beyond_what_python_reads_is_an_error_with_a_place() -> None:
    for line in ("[" * 100_000, '{"insert": {"edge": [[' + "1" * 5000 + ", 1]]}}"):
        [item] = read_transactions([line], "jsonl", SIGNATURE, "s")
        assert isinstance(item, StreamError)
        assert (item.line, item.column) == (1, 1)


def test_a_stream_that_is_not_there_is_an_error() -> None:
    with pytest.raises(DataError, match="cannot read the stream no/such"):
        open_stream("no/such.txn")


def test_a_dash_is_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        sys, "stdin", io.TextIOWrapper(io.BytesIO(b'+lib.word("\xc3\xa9").\r\ncommit.\r\n+lib.word("\xff"). commit.\n'), "ascii")
    )
    first, second = read_transactions(open_stream("-"), "text", SIGNATURE, "-")
    assert isinstance(first, StagedTransaction)
    assert first.insert == {"lib.word": [("é",)]}
    assert isinstance(second, StreamError)
    assert second.message == "this is no valid UTF-8"
