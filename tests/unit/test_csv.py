"""Fact files and outputs: Soufflé's conventions, both ways of reading, and that what is written reads back."""

from __future__ import annotations

import gzip
import io
import math
import re
import warnings
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datalog.errors import DataError, ProgramError, UnreadableText
from datalog.io import delimited
from datalog.io.delimited import parse_carefully, parse_fast
from datalog.io.facts import read_facts, read_table
from datalog.io.layout import Layout
from datalog.io.nulls import NO_NULLS, Nulls
from datalog.io.output import print_size, write_output
from datalog.io.rows import rows_of
from datalog.ir.core import Predicate, Type
from datalog.store.values import Row, Values
from datalog.syntax.tree import Directive, Span
from tests.unit.typed import BOOL, DATE, DATETIME, FINEST, FLOAT, MONEY, NUMBER, SYMBOL, TYPED, TYPES, UNSIGNED

EDGE = Predicate("edge", ("x", "y"), (NUMBER, NUMBER), False)
PERSON = Predicate("person", ("name", "age", "weight"), (SYMBOL, UNSIGNED, FLOAT), False)
WORD = Predicate("word", ("text",), (SYMBOL,), False)
PAIR = Predicate("pair", ("a", "b"), (SYMBOL, SYMBOL), False)
SALE = Predicate("sale", ("paid", "day", "at", "total"), (BOOL, DATE, DATETIME, MONEY), False)
ALL = Predicate("all", tuple(f"c{number}" for number in range(len(TYPES))), tuple(TYPES), False)
FLAG = Predicate("flag", (), (NUMBER,), False)
SPAN = Span("p.dl", 10, 22, 3, 1, 3, 13)


def directive(kind: str, predicate: Predicate, **parameters: str | int) -> Directive:
    assert kind in ("input", "output")
    return Directive("input" if kind == "input" else "output", (predicate.name,), tuple(parameters.items()), SPAN)


def facts(folder: Path, predicate: Predicate, data: bytes, name: str = "", **parameters: str | int) -> list[Row]:
    """The rows that `.input` reads from `data`."""
    (folder / (name or f"{predicate.name}.facts")).write_bytes(data)
    values = Values()
    return rows_of(read_facts(directive("input", predicate, **parameters), predicate, folder, values), predicate, values)


def output(folder: Path, predicate: Predicate, rows: list[Row], **parameters: str | int) -> str:
    """What `.output` writes for `rows`."""
    values = Values()
    codes = np.zeros((len(rows), 1), np.int64) if predicate.nullary else values.encode_rows(rows, predicate.types)
    path = write_output(directive("output", predicate, **parameters), predicate, codes, values, folder, io.StringIO())
    assert path is not None
    return path.read_bytes().decode()


def test_fields_are_parted_by_tabs_and_taken_verbatim(tmp_path: Path) -> None:
    assert facts(tmp_path, PAIR, b'a b\t "c"\n\t\nNULL\tn/a\\t\n') == [("a b", ' "c"'), ("", ""), ("NULL", "n/a\\t")]
    assert facts(tmp_path, PERSON, b"Ann\t41\t-1.5e3\n") == [("Ann", 41, -1500.0)]
    assert facts(tmp_path, EDGE, b"1\t2\n1\t2\n-3\t007") == [(1, 2), (1, 2), (-3, 7)]
    assert facts(tmp_path, EDGE, b"") == facts(tmp_path, WORD, b"") == []


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        (b"18446744073709551615", 2**64 - 1),
        (b"0x10", 16),
        (b"0XfF", 255),
        (b"0b101", 5),
        (b"+5", 5),
        (b" 5 ", 5),
    ],
)
def test_unsigned_numbers_are_read_as_souffle_reads_them(cell: bytes, value: int, tmp_path: Path) -> None:
    assert facts(tmp_path, PERSON, b"a\t%b\t1\n" % cell) == [("a", value, 1.0)]


@pytest.mark.parametrize(("cell", "value"), [(b"+5", 5), (b"0x7fffffffffffffff", 2**63 - 1), (b"-0x10", -16), (b"-0b11", -3), (b" 5", 5)])
def test_numbers_may_have_a_sign_and_a_base(cell: bytes, value: int, tmp_path: Path) -> None:
    assert facts(tmp_path, EDGE, b"1\t%b\n" % cell) == [(1, value)]


@pytest.mark.parametrize(
    ("cell", "value"),
    [(b"1", 1.0), (b".5", 0.5), (b"5.", 5.0), (b"+1E5", 1e5), (b"inf", math.inf), (b"-Infinity", -math.inf), (b"1e-400", 0.0)],
)
def test_floats_are_read_as_c_spells_them(cell: bytes, value: float, tmp_path: Path) -> None:
    assert facts(tmp_path, PERSON, b"a\t1\t%b\n" % cell) == [("a", 1, value)]


@pytest.mark.parametrize(
    ("line", "row"),
    [
        (
            b"true\t2024-05-01\t2024-05-01T12:00:00Z\t12.50",
            (True, date(2024, 5, 1), datetime(2024, 5, 1, 12, tzinfo=UTC), Decimal("12.50")),
        ),
        (b"FALSE\t 0001-01-01 \t0001-01-01 00:00\t+.5", (False, date.min, datetime.min.replace(tzinfo=UTC), Decimal("0.50"))),
        (
            b"False\t9999-12-31\t9999-12-31T23:59:59.999999\t-7.",
            (False, date.max, datetime.max.replace(tzinfo=UTC), Decimal("-7.00")),
        ),
        (
            b"true\t1970-01-01\t2024-05-01T12:00:00.5-0430\t1.500",
            (True, date(1970, 1, 1), datetime(2024, 5, 1, 16, 30, 0, 500000, UTC), Decimal("1.50")),
        ),
    ],
)
def test_bools_dates_datetimes_and_decimals_are_read(line: bytes, row: Row, tmp_path: Path) -> None:
    assert facts(tmp_path, SALE, line) == facts(tmp_path, SALE, b"true\t2024-05-01\t2024-05-01 00:00\t1\n" + line)[1:] == [row]


def test_an_empty_line_is_the_empty_symbol_of_a_predicate_with_one_column(tmp_path: Path) -> None:
    assert facts(tmp_path, WORD, b"a\n\nb\n\n") == [("a",), ("",), ("b",), ("",)]
    assert facts(tmp_path, WORD, b"\n") == [("",)]
    assert facts(tmp_path, WORD, b"a\n\nb\n\n", rfc4180="true") == [("a",), ("",), ("b",), ("",)]


def test_empty_lines_at_the_end_hold_no_row(tmp_path: Path) -> None:
    assert facts(tmp_path, EDGE, b"1\t2\n\n\r\n\n") == [(1, 2)]


def test_windows_line_ends_and_a_byte_order_mark_are_let_pass(tmp_path: Path) -> None:
    assert facts(tmp_path, PAIR, b"\xef\xbb\xbfa\tb\r\nc\td\r\n") == [("a", "b"), ("c", "d")]
    assert facts(tmp_path, PAIR, b'a,"b\r\nc"\r\nd,e\r\n', rfc4180="true") == [("a", "b\r\nc"), ("d", "e")]


def test_a_lone_carriage_return_is_text(tmp_path: Path) -> None:
    assert facts(tmp_path, PAIR, b"a\rb\tc\r\nd\te\n") == [("a\rb", "c"), ("d", "e")]
    assert facts(tmp_path, PAIR, b"a\rb,c\r\nd,e\n", rfc4180="true") == [("a\rb", "c"), ("d", "e")]


def test_quotes_hold_delimiters_line_ends_and_doubled_quotes(tmp_path: Path) -> None:
    data = b'"a,b","c\nd"\n"say ""hi""",e"f\n"",\n'
    assert facts(tmp_path, PAIR, data, rfc4180="true") == [("a,b", "c\nd"), ('say "hi"', 'e"f'), ("", "")]
    assert facts(tmp_path, EDGE, b'"1",2\n', rfc4180="true") == [(1, 2)]
    assert facts(tmp_path, PAIR, b'a\\b;"c;"\n', rfc4180="true", delimiter=";") == [("a\\b", "c;")]


@pytest.mark.parametrize(
    ("delimiter", "between"), [("|", b"|"), ("\\t", b"\t"), ("\t", b"\t"), ("||", b"||"), (", ", b", "), ("→", "→".encode())]
)
@pytest.mark.parametrize("rfc4180", ["true", "false"])
def test_the_delimiter_may_be_any_characters(delimiter: str, between: bytes, rfc4180: str, tmp_path: Path) -> None:
    data = between.join((b"a|b" if between != b"|" else b"ab", b"c")) + b"\n" + between.join((b"", b"d")) + b"\n"
    expected = [("a|b" if between != b"|" else "ab", "c"), ("", "d")]
    assert facts(tmp_path, PAIR, data, delimiter=delimiter, rfc4180=rfc4180) == expected


def test_a_header_is_passed_over_only_where_the_directive_says_so(tmp_path: Path) -> None:
    assert facts(tmp_path, EDGE, b"x\ty\n1\t2\n", headers="true") == [(1, 2)]
    assert facts(tmp_path, EDGE, b"x\ty", headers="true") == []
    assert facts(tmp_path, EDGE, b'"x,\ny",z\n1,2\n', headers="true", rfc4180="true") == [(1, 2)]
    assert facts(tmp_path, PAIR, b"a\tb\n", headers="false") == [("a", "b")]
    assert facts(tmp_path, EDGE, b"x\ty\n+1\t2\n", headers="true") == [(1, 2)]


def test_a_nullary_predicate_holds_if_its_file_says_so(tmp_path: Path) -> None:
    assert facts(tmp_path, FLAG, b"()\n") == facts(tmp_path, FLAG, b"()\n()\n") == [()]
    assert facts(tmp_path, FLAG, b"") == []
    with pytest.raises(DataError, match=r"flag\.facts:1:1: error: the only row that flag, which has no columns, can have is \(\)"):
        facts(tmp_path, FLAG, b"true\n")


def test_compressed_files_are_read_as_what_they_hold(tmp_path: Path) -> None:
    assert facts(tmp_path, EDGE, gzip.compress(b"1\t2\n"), "edge.facts.gz") == [(1, 2)]
    assert facts(tmp_path, EDGE, gzip.compress(b"1\t3\n"), "e.gz", filename="e.gz") == [(1, 3)]
    assert facts(tmp_path, EDGE, gzip.compress(b"1\t4\n")) == [(1, 4)]
    with pytest.raises(DataError, match="the compressed data is damaged"):
        facts(tmp_path, EDGE, gzip.compress(b"1\t2\n" * 1000)[:-20])


def test_a_file_may_be_named_and_lie_anywhere(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    assert facts(tmp_path, EDGE, b"1,2\n", "deep/e.csv", IO="file", filename="deep/e.csv", delimiter=",") == [(1, 2)]
    assert facts(tmp_path / "deep", EDGE, b"", filename=str(tmp_path / "deep" / "e.csv"), delimiter=",") == [(1, 2)]


def test_a_missing_file_names_the_directive(tmp_path: Path) -> None:
    (tmp_path / "edges.facts").touch()
    with pytest.raises(DataError) as caught:
        read_facts(directive("input", EDGE), EDGE, tmp_path, Values())
    wanted = tmp_path / "edge.facts"
    assert str(caught.value) == f"p.dl:3:1: error: there is no fact file {wanted} for edge\n    hint: did you mean `edges.facts`?"
    with pytest.raises(DataError) as caught:
        read_facts(None, EDGE, tmp_path / "no", Values())
    assert caught.value.hint == f"there is no directory {tmp_path / 'no'}"
    with pytest.raises(DataError) as caught:
        read_facts(None, PERSON, tmp_path, Values())
    assert caught.value.hint == f"in {tmp_path} there are edges.facts"


@pytest.mark.parametrize(
    ("parameters", "message", "hint"),
    [
        ({"IO": "sqlit"}, "IO=sqlit is nothing that .input knows", "did you mean `sqlite`?"),
        ({"columns": "0:y"}, 'columns="0:y" has the name y in it, and there is no header', "say headers=true"),
        ({"headers": "yes"}, 'headers="yes" is neither true nor false', ""),
        ({"delimiter": ""}, "the delimiter is empty", ""),
        ({"delimiter": "\\n"}, "the delimiter has a line end in it", ""),
        ({"delimiter": '"', "rfc4180": "true"}, 'the delimiter has a " in it, which rfc4180 quotes fields with', ""),
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters: dict[str, str], message: str, hint: str, tmp_path: Path) -> None:
    with pytest.raises(ProgramError) as caught:
        facts(tmp_path, EDGE, b"1\t2\n", **parameters)
    error = caught.value
    assert (error.message, error.hint, error.file, error.line, error.column) == (message, hint, "p.dl", 3, 1)


def test_tables_are_laid_out_as_their_extension_says(tmp_path: Path) -> None:
    values = Values()

    def table(name: str, data: bytes, **options: Any) -> list[Row]:
        (tmp_path / name).write_bytes(data)
        return rows_of(read_table(tmp_path / name, PAIR, values, **options), PAIR, values)

    assert table("a.csv", b'"x,1",y\n') == [("x,1", "y")]
    assert table("a.CSV.gz", gzip.compress(b"x,y\n")) == [("x", "y")]
    assert table("a.tsv", b'"x,1"\ty\n') == table("a.facts", b'"x,1"\ty\n') == table("a.txt", b'"x,1"\ty\n') == [('"x,1"', "y")]
    assert table("a.csv", b"a,b\nx,y\n", headers=True) == [("x", "y")]
    assert table("a.dat", b"x|y\n", delimiter="|") == [("x", "y")]
    assert table("a.csv", b'"x\ty\n', delimiter="\t", rfc4180=False) == [('"x', "y")]
    for name, message in (
        ("a.parquet", "files called .parquet are not supported yet"),
        ("a.dat", "files called .dat say nothing of the layout"),
    ):
        with pytest.raises(DataError, match=message):
            table(name, b"")
    with pytest.raises(DataError, match="the delimiter is empty"):
        table("a.csv", b"", delimiter="")
    with pytest.raises(DataError, match="there is no file"):
        read_table(tmp_path / "b.csv", PAIR, values)
    with pytest.raises(DataError) as caught:
        table("b.csv", b"x\ty\n")
    assert caught.value.hint == 'the line has tabs in it: say delimiter="\\t" if they part its fields'


CELLS = st.text(st.sampled_from('a1 -.+x0,"\t\r\n|'), max_size=5)


DEFAULTS: dict[Type, Any] = {NUMBER: -1, UNSIGNED: 2**64 - 1, FLOAT: 0.5, SYMBOL: "?", BOOL: True, MONEY: Decimal("0.25")}
DEFAULTS[DATE], DEFAULTS[DATETIME], DEFAULTS[FINEST] = date(1999, 12, 31), datetime(1999, 12, 31, tzinfo=UTC), Decimal(0)
NULLS = Nulls(frozenset({"NA", ""}), (None,) * 4)


@pytest.mark.parametrize("predicate", [EDGE, PERSON, WORD, PAIR, SALE], ids=lambda predicate: predicate.name)
@pytest.mark.parametrize(
    "layout", [Layout(), Layout(","), Layout(",", rfc4180=True), Layout(",", headers=True), Layout("|,"), Layout("||", rfc4180=True)]
)
@given(data=st.data())
def test_the_fast_way_reads_what_the_careful_way_reads_or_leaves_it(predicate: Predicate, layout: Layout, data: st.DataObject) -> None:
    cell = {NUMBER: st.sampled_from(["1", "-2", "0x5", " 7", "0xffffffffffffffff"]), UNSIGNED: st.sampled_from(["1", "0x5"]), SYMBOL: CELLS}
    cell[FLOAT] = st.sampled_from(["1", "1.5e3", "inf", "1e400", "nan"])
    cell[BOOL] = st.sampled_from(["true", "False", " TRUE", "1"])
    cell[DATE] = st.sampled_from(["2024-05-01", "0001-01-01", "0000-01-01", "2023-02-30", "2024-5-1", " 2024-05-01"])
    clock = st.sampled_from(["00:00", "23:59:59", "12:00:00.5", "12:00:00.123456", "12:00:00.1234567", "24:00:00", "12:00:60", "12"])
    cell[DATETIME] = st.builds("{}{}{}{}".format, cell[DATE], st.sampled_from("T "), clock, st.sampled_from(["", "Z", "+01:00"]))
    cell[MONEY] = st.sampled_from(
        ["1", "-1.5", "+.25", "7.", "1e3", "1.255", "1.500", "92233720368547758.07", "92233720368547758.08", "-0.0"]
    )
    cell = {type: st.sampled_from(["NA", "", '"NA"', " NA"]) | texts for type, texts in cell.items()}
    nulls = data.draw(st.sampled_from([NO_NULLS, NULLS, replace(NULLS, defaults=tuple(DEFAULTS[type] for type in predicate.types))]))
    line = st.tuples(*(cell[type] for type in predicate.types)).map(layout.delimiter.join) | CELLS
    raw = data.draw(st.lists(line, max_size=4).map("\n".join)).encode()
    if predicate is not WORD:
        raw = raw.rstrip(b"\r\n")
    values = Values()
    fast = parse_fast(raw, layout, predicate, values, nulls)
    if fast is not None:
        assert fast.tolist() == parse_carefully(raw, layout, predicate, values, "f", nulls)[0].tolist()


def test_ordinary_files_go_the_fast_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: object) -> None:
        raise AssertionError("the careful way")

    monkeypatch.setattr(delimited, "parse_carefully", forbidden)
    assert facts(tmp_path, EDGE, b"1\t2\r\n3\t4\r\n\r\n") == [(1, 2), (3, 4)]
    assert facts(tmp_path, PERSON, b'"a,""b""",0x5,-1.5\n', rfc4180="true") == [('a,"b"', 5, -1.5)]
    assert facts(tmp_path, PAIR, b"h||h\na||b\n", delimiter="||", headers="true") == [("a", "b")]
    assert facts(tmp_path, WORD, b"\n\n") == [("",), ("",)]
    assert facts(tmp_path, SALE, b"true\t2024-05-01\t2024-05-01 12:00:00\t1.5\n") == facts(
        tmp_path, SALE, b"TRUE\t2024-05-01\t2024-05-01T14:00:00+02:00\t+1.5\n"
    )
    assert facts(tmp_path, PERSON, b"Ann\tNA\t1\nNA\t5\tNA\n", null="NA", default_name="?", default_age=9, default_weight="inf") == [
        ("Ann", 9, 1.0),
        ("?", 5, math.inf),
    ]


def test_output_is_sorted_and_parted_by_tabs(tmp_path: Path) -> None:
    assert output(tmp_path, EDGE, [(10, 1), (9, 2), (-1, 5), (9, 1)]) == "-1\t5\n9\t1\n9\t2\n10\t1\n"
    assert output(tmp_path, PERSON, [("b", 2**64 - 1, 0.1), ("B", 0, -math.inf), ("b", 2, math.nan)]) == (
        "B\t0\t-inf\nb\t2\tnan\nb\t18446744073709551615\t0.10000000000000001\n"
    )
    assert (output(tmp_path, FLAG, [()]), output(tmp_path, FLAG, []), output(tmp_path, EDGE, [])) == ("()\n", "", "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["edge.csv", "flag.csv", "person.csv"]


def test_output_follows_the_directives_parameters(tmp_path: Path) -> None:
    assert output(tmp_path, EDGE, [(1, 2)], headers="true", delimiter=", ") == "x, y\n1, 2\n"
    assert output(tmp_path, PAIR, [('a"b', "c,\nd")], rfc4180="true", headers="true") == 'a,b\n"a""b","c,\nd"\n'
    output(tmp_path, EDGE, [(1, 2)], filename="deep/e.tsv")
    assert (tmp_path / "deep" / "e.tsv").read_text() == "1\t2\n"


def test_standard_output_is_framed_as_souffle_frames_it(tmp_path: Path) -> None:
    stdout = io.StringIO()
    values = Values()
    codes = values.encode_rows([(3, 4), (1, 2)], EDGE.types)
    assert write_output(directive("output", EDGE, IO="stdout"), EDGE, codes, values, tmp_path, stdout) is None
    write_output(directive("output", EDGE, IO="stdout", headers="true"), EDGE, codes[:0], values, tmp_path, stdout)
    assert stdout.getvalue() == (
        "---------------\nedge\n===============\n1\t2\n3\t4\n===============\n---------------\nedge\nx\ty\n===============\n===============\n"
    )
    assert list(tmp_path.iterdir()) == []
    assert print_size("edge", 2) == "edge\t2\n"


@pytest.mark.parametrize(
    ("row", "parameters", "message"),
    [
        (("a\tb", "c"), {}, '"a\\tb" (column a of pair) has the delimiter in it and would not read back'),
        (("a", "b\nc"), {}, '"b\\nc" (column b of pair) has a line end in it and would not read back'),
        (("a", "b\r"), {}, '"b\\r" (column b of pair) has a carriage return at its end and would not read back'),
        (("a|", "b"), {"delimiter": "||"}, '"a|" (column a of pair) has the delimiter in it and would not read back'),
        (("\ufeffa", "b"), {}, '"\\ufeffa" (column a of pair) has a byte order mark before it and would not read back'),
    ],
)
def test_a_symbol_that_would_not_read_back_stands_as_it_is_with_a_warning(
    row: tuple[str, str], parameters: dict[str, str], message: str, tmp_path: Path
) -> None:
    with pytest.warns(UnreadableText, match=re.escape(f"{message}; with rfc4180=true it is quoted")):
        output(tmp_path, PAIR, [row, ("x", "y")], **parameters)
    assert parameters.get("delimiter", "\t").join(row) in (tmp_path / "pair.csv").read_bytes().decode()
    assert [path.name for path in tmp_path.iterdir()] == ["pair.csv"]


def test_a_file_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "out").touch()
    with pytest.raises(DataError, match=r"p\.dl:3:1: error: cannot write edge to .*out/edge\.csv: "):
        output(tmp_path / "out", EDGE, [(1, 2)])


@pytest.mark.parametrize(
    "parameters",
    [
        {"rfc4180": "true"},
        {"rfc4180": "true", "delimiter": "||", "headers": "true"},
        {"rfc4180": "true", "delimiter": "-"},
        {"rfc4180": "true", "delimiter": "e"},
        {"delimiter": "%d"},
        {"delimiter": "."},
        {"delimiter": "00"},
    ],
)
@given(rows=st.lists(st.tuples(*TYPED.values()), max_size=4))
def test_what_is_written_reads_back(parameters: dict[str, str], rows: list[Row], tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("out")
    values = Values()
    codes = values.encode_rows(rows, ALL.types)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", UnreadableText)
            write_output(directive("output", ALL, filename="p", **parameters), ALL, codes, values, folder, io.StringIO())
    except (DataError, UnreadableText):
        assert "rfc4180" not in parameters
    else:
        read = read_facts(directive("input", ALL, filename="p", **parameters), ALL, folder, values)
        assert read.tolist() == values.sort_by_value(codes, ALL.types).tolist()


@pytest.mark.parametrize("type", [type for type in TYPES if type is not SYMBOL], ids=str)
@given(data=st.data())
def test_values_of_one_type_read_back(type: Type, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    rows = data.draw(st.lists(st.tuples(TYPED[type]), max_size=4))
    folder = tmp_path_factory.mktemp("out")
    one = Predicate("one", ("x",), (type,), False)
    values = Values()
    codes = values.encode_rows(rows, one.types)
    write_output(directive("output", one, filename="p"), one, codes, values, folder, io.StringIO())
    read = read_facts(directive("input", one, filename="p"), one, folder, values)
    assert read.tolist() == values.sort_by_value(codes, one.types).tolist()


def test_a_value_that_holds_the_delimiter_is_an_error_where_it_cannot_be_quoted(tmp_path: Path) -> None:
    row = (True, date(2024, 5, 1), datetime(2024, 5, 1), Decimal("0.5"))
    with pytest.raises(DataError, match=r'"0\.50" \(column total of sale\) has the delimiter in it and would not read back'):
        output(tmp_path, SALE, [row], delimiter=".")
    assert output(tmp_path, SALE, [row], delimiter="-", rfc4180="true") == '"true"-"2024-05-01"-"2024-05-01T00:00:00Z"-"0.50"\n'
    assert output(tmp_path, SALE, [row]) == "true\t2024-05-01\t2024-05-01T00:00:00Z\t0.50\n"


@given(words=st.lists(st.text(max_size=4).filter(str.isprintable), max_size=5))
def test_symbols_alone_read_back_also_the_empty_one(words: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("out")
    output(folder, WORD, [(word,) for word in words], filename="w")
    values = Values()
    read = read_facts(directive("input", WORD, filename="w"), WORD, folder, values)
    assert rows_of(read, WORD, values) == [(word,) for word in sorted(words)]
