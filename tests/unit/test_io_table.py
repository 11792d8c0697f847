"""`.input` and `.output` against what Soufflé (2.5, 64 bits) reads and writes, recorded by running it.

Rows are compared as sorted lines. What differs, differs for a reason, which stands beside it.
"""

from __future__ import annotations

import gzip
import io
import sys
from pathlib import Path

import pytest

from datalog import Database, DataError
from datalog.outputs import write_outputs

PLAIN = '.decl p(n: number, u: unsigned, f: float, s: symbol)\np(-1, 2u, 1.5, "a b").\np(3, 18446744073709551615u, 0.1, "c").\n'
TEXTS = '.decl p(s: symbol)\np("x,y").\np("").\n'
PAIRS = '.decl p(n: number, s: symbol)\np(1, "x").\np(2, "q\\"\\\\y").\n'
NESTED = ".type R = [a: number, b: R]\n.decl p(r: R)\np([1, [2, nil]]).\np(nil).\n"
RECORDS = '.type R = [a: number, b: symbol, c: R]\n.decl p(r: R)\np([1, "x", nil]).\np([2, "y", [3, "z", nil]]).\n'
BRANCHES = '.type T = A { x: number, s: symbol } | B {}\n.decl p(r: T)\np($A(1, "z")).\np($B()).\n'
FLOATS = ".decl p(f: float)\np(1.0).\np(100000000000000000000.0).\np(0.0000001).\np(123456789.125).\np(-2.5).\n"
TAB = "-1\t2\t1.5\ta b\n3\t18446744073709551615\t0.10000000000000001\tc\n"
COMMA = '-1,2,1.5,"a b"\n3,18446744073709551615,0.10000000000000001,"c"\n'
FRAME = "---------------\np\n===============\n{}===============\n"

WRITTEN = (  # program, parameters, file (empty: standard output), its contents
    (PLAIN, "", "p.csv", TAB),
    (PLAIN, "IO=file", "p.csv", TAB),
    (PLAIN, "headers=true", "p.csv", "n\tu\tf\ts\n" + TAB),
    (PLAIN, 'headers=true, attributeNames="w,x,y,z"', "p.csv", "w,x,y,z\n" + TAB),
    (PLAIN, 'delimiter=";"', "p.csv", TAB.replace("\t", ";")),
    (PLAIN, 'delimiter="\\t\\t"', "p.csv", TAB.replace("\t", "\t\t")),
    (PLAIN, "rfc4180=true", "p.csv", COMMA),
    (PLAIN, 'rfc4180=true, delimiter="|"', "p.csv", COMMA.replace(",", "|")),
    (PLAIN, 'filename="x.out"', "x.out", TAB),
    (PLAIN, 'name="q"', "q.csv", TAB),
    (PLAIN, "compress=true", "p.csv.gz", TAB),
    (PLAIN, 'compress=true, filename="z.gz"', "z.gz", TAB),
    (PLAIN, "IO=stdout", "", FRAME.format(TAB)),
    (PLAIN, 'IO=stdout, delimiter=","', "", FRAME.format(TAB.replace("\t", ","))),
    (PLAIN, "IO=stdout, headers=true", "", FRAME.format(TAB).replace("p\n", "p\nn\tu\tf\ts\n")),
    (PLAIN, "IO=stdoutprintsize", "", "p\t2\n"),
    (PLAIN, 'IO=stdoutprintsize, name="q"', "", "q\t2\n"),
    (TEXTS, "rfc4180=true", "p.csv", '""\n"x,y"\n'),
    (PAIRS, "IO=jsonfile", "p.json", '[[1, "x"],\n[2, "q\\"\\\\y"]]\n'),
    (PAIRS, "IO=jsonfile, format=object", "p.json", '[{"n": 1, "s": "x"},\n{"n": 2, "s": "q\\"\\\\y"}]\n'),
    (PAIRS, 'IO=jsonfile, filename="x.json"', "x.json", '[[1, "x"],\n[2, "q\\"\\\\y"]]\n'),
    (PAIRS, "IO=json", "", '[[1, "x"],\n[2, "q\\"\\\\y"]]\n'),
    (NESTED, "IO=jsonfile", "p.json", "[[null],\n[[1, [2, null]]]]\n"),
    (NESTED, "IO=jsonfile, format=object", "p.json", '[{"r": null},\n{"r": {"a": 1, "b": {"a": 2, "b": null}}}]\n'),
    (".decl p(n: number)\n", "IO=jsonfile", "p.json", "[]\n"),
    (".decl p(n: number)\n", "headers=true", "p.csv", "n\n"),
    (RECORDS, "", "p.csv", "[1, x, nil]\n[2, y, [3, z, nil]]\n"),
    (RECORDS, "rfc4180=true", "p.csv", '"[1, ""x"", nil]"\n"[2, ""y"", [3, ""z"", nil]]"\n'),
    (BRANCHES, "", "p.csv", "$A(1, z)\n$B\n"),
    (BRANCHES, "rfc4180=true", "p.csv", '"$A(1, ""z"")"\n"$B"\n'),
    (FLOATS, "", "p.csv", "-2.5\n1\n123456789.125\n1e+20\n9.9999999999999995e-08\n"),
    (".decl p()\np().\n", "", "p.csv", "()\n"),
    (".decl p()\n", "", "p.csv", ""),
    (".decl p()\np().\n", "IO=stdout, headers=true", "", "---------------\np\n\n===============\n()\n===============\n"),
)  # fmt: skip
WRITTEN_OTHERWISE = (  # … what Soufflé writes, what we write, why
    (PLAIN, "rfc4180=true, headers=true", "p.csv", "n\tu\tf\ts\n" + COMMA, "n,u,f,s\n" + COMMA, "names are parted as cells are"),
    (
        '.decl p(s: symbol)\np("a\\"b").\n', "rfc4180=true", "p.csv", '"a\\""b"\n', '"a""b"\n',
        "RFC 4180 doubles a quote, and with a backslash before it Soufflé reads another text back"
    ),
    (
        ".decl p(u: unsigned, f: float)\np(18446744073709551615u, 0.1).\n", "IO=jsonfile", "p.json",
        "[[-1, 0.1]]\n", "[[18446744073709551615, 0.10000000000000001]]\n", "numbers are not cut to 32 bits, nor floats to 6 digits"
    ),
    (
        '.type R = [a: number, b: symbol]\n.decl p(r: R)\np([2, "a, b"]).\n', "", "p.csv", "[2, a, b]\n", '[2, "a, b"]\n',
        "a text that would not read back is quoted within a record"
    ),
)  # fmt: skip

TWO = ".decl p(x: number, y: symbol)\n"
NUMBERS = ".decl p(n: number, u: unsigned, f: float)\n"
RECORD = ".type R = [a: number, b: symbol]\n.decl p(r: R)\n"
READ = (  # declarations, parameters, the file and what stands in it (empty: standard input), the rows as they are written
    (TWO, "", "p.facts", "1\ta\n2\tb c\n", "1\ta\n2\tb c\n"),
    (TWO, "", "p.facts", "1\ta\n2\tb", "1\ta\n2\tb\n"),
    (TWO, "", "p.facts", "1\ta\r\n2\tb\r\n", "1\ta\n2\tb\n"),
    (TWO, 'delimiter=","', "p.facts", "1,a\n2,b c\n", "1\ta\n2\tb c\n"),
    (TWO, "headers=true", "p.facts", "x\ty\n1\ta\n", "1\ta\n"),
    (TWO, 'columns="2:0"', "p.facts", "a\tX\t1\nb\tY\t2\n", "1\ta\n2\tb\n"),
    (TWO, "rfc4180=true", "p.facts", '1,"a, b"\n2,"q""r"\n3,plain\n', '1\ta, b\n2\tq"r\n3\tplain\n'),
    (TWO, "rfc4180=true, headers=true", "p.facts", 'x,y\n1,"a"\n', "1\ta\n"),
    (TWO, 'filename="z.txt"', "z.txt", "1\ta\n", "1\ta\n"),
    (TWO, 'name="q"', "q.facts", "7\tq\n", "7\tq\n"),
    (TWO, "IO=stdin", "", "5\tfrom\n", "5\tfrom\n"),
    (TWO, "", "p.facts", gzip.compress(b"1\ta\n", mtime=0), "1\ta\n"),
    (TWO, "", "p.facts", "1\t\n", "1\t\n"),
    (TWO, "", "p.facts", '1\t"a"\n', '1\t"a"\n'),
    (TWO, "", "p.facts", "1\ta\n1\ta\n", "1\ta\n"),
    (TWO, 'IO=jsonfile, filename="p.json"', "p.json", '[[1, "a"], [2, "b"]]', "1\ta\n2\tb\n"),
    (TWO, "IO=jsonfile", "p.json", '[[3, "d"]]', "3\td\n"),
    (TWO, "IO=jsonfile, format=object", "p.json", '[{"x": 1, "y": "a"}, {"y": "b", "x": 2}]', "1\ta\n2\tb\n"),
    (TWO, "IO=json", "", '[[1, "a"]]', "1\ta\n"),
    (NUMBERS, "", "p.facts", "-5\t7\t1.5\n+5\t0x10\t1e3\n007\t0b11\t.5\n", "-5\t7\t1.5\n5\t16\t1000\n7\t3\t0.5\n"),
    (".decl p(n: number)\n", "", "p.facts", " 12\n", "12\n"),
    (RECORD, "", "p.facts", "[1, x]\n[2,y z]\nnil\n", "[1, x]\n[2, y z]\nnil\n"),
    (".type R = [a: number, b: symbol]\n.decl p(r: R, n: number)\n", 'delimiter=","', "p.facts", "[1, x],5\n", "[1, x]\t5\n"),
    (".type T = A { x: number } | B {}\n.decl p(r: T)\n", "", "p.facts", "$A(1)\n$B\n", "$A(1)\n$B\n"),
    (".decl p()\n", "", "p.facts", "\n", "()\n"),
    (".decl p()\n", "", "p.facts", "()\n", "()\n"),
    (".decl p()\n", "", "p.facts", "", ""),
)  # fmt: skip
READ_OTHERWISE = (  # … what Soufflé refuses, and we read, why
    (".decl p(n: number)\n", "", "p.facts", "0x10\n", "16\n", "numbers may be hexadecimal, as unsigned ones"),
    (TWO, "", "p.facts", b"\xef\xbb\xbf1\ta\n", "1\ta\n", "a byte order mark is none of the text"),
)
REFUSED = (  # by both
    (".decl p(n: number)\n", "12x\n"),
    (".decl p(n: number)\n", "9223372036854775808\n"),
    (".decl p(n: unsigned)\n", "-1\n"),
    (TWO, "1\n"),
    (TWO, "1\ta\n\n2\tb\n"),
)


def outputs(program: str, folder: Path, monkeypatch: pytest.MonkeyPatch, facts: Path | None = None) -> dict[str, str]:
    """What is written, by file; "" is standard output."""
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    write_outputs(Database(program, facts=facts), folder, out)
    monkeypatch.undo()
    files = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    texts = {name: (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode() for name, data in files.items()}
    return {**texts, "": out.getvalue()} if out.getvalue() else texts


def rows(text: str) -> list[str]:
    return text.splitlines() if text.startswith("[") else sorted(text.splitlines())


@pytest.mark.parametrize(("program", "parameters", "file", "text"), WRITTEN)
def test_outputs_are_written_as_souffle_writes_them(
    program: str, parameters: str, file: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = outputs(f"{program}.output p({parameters})\n", tmp_path, monkeypatch)
    assert {name: rows(given) for name, given in written.items()} == {file: rows(text)}


@pytest.mark.parametrize(("program", "parameters", "file", "theirs", "ours", "why"), WRITTEN_OTHERWISE)
def test_outputs_that_differ_differ_for_a_reason(
    program: str, parameters: str, file: str, theirs: str, ours: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (written,) = outputs(f"{program}.output p({parameters})\n", tmp_path, monkeypatch).values()
    assert rows(written) == rows(ours) != rows(theirs), why


def read(declared: str, parameters: str, file: str, data: str | bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    facts, out = tmp_path / "facts", tmp_path / "out"
    facts.mkdir()
    out.mkdir()
    if file:
        (facts / file).write_bytes(data if isinstance(data, bytes) else data.encode())
    else:
        monkeypatch.setattr(sys, "stdin", io.StringIO(str(data)))
    return outputs(f"{declared}.input p({parameters})\n.output p\n", out, monkeypatch, facts)["p.csv"]


@pytest.mark.parametrize(("declared", "parameters", "file", "data", "text"), READ)
def test_facts_are_read_as_souffle_reads_them(
    declared: str, parameters: str, file: str, data: str | bytes, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert rows(read(declared, parameters, file, data, tmp_path, monkeypatch)) == rows(text)


@pytest.mark.parametrize(("declared", "parameters", "file", "data", "text", "why"), READ_OTHERWISE)
def test_facts_that_souffle_refuses_may_be_read(
    declared: str, parameters: str, file: str, data: str | bytes, text: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert rows(read(declared, parameters, file, data, tmp_path, monkeypatch)) == rows(text), why


@pytest.mark.parametrize(("declared", "data"), REFUSED)
def test_facts_that_both_refuse(declared: str, data: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError):
        read(declared, "", "p.facts", data, tmp_path, monkeypatch)
