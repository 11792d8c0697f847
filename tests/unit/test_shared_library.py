"""Functors of shared libraries, compiled from C++ here: plain ones, and stateful ones, which call the tables' virtual methods."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from datalog import Branch, Database, FunctionError, ProgramError
from datalog.errors import EvaluationError
from tests.command_line import datalog

COMPILER = shutil.which("g++") or shutil.which("c++")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler")

SOURCE = r"""
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>

using Word = int64_t;

// The interfaces that functors know: the order of the methods is what counts.
struct SymbolTable {
    virtual ~SymbolTable() {}
    virtual void begin() const = 0;
    virtual void end() const = 0;
    virtual bool weakContains(const std::string&) const = 0;
    virtual Word encode(const std::string&) = 0;
    virtual const std::string& decode(Word) const = 0;
    virtual Word unsafeEncode(const std::string&) = 0;
    virtual const std::string& unsafeDecode(Word) const = 0;
    virtual void findOrInsert(const std::string&) = 0;
};

struct RecordTable {
    virtual ~RecordTable() {}
    virtual void setNumLanes(std::size_t) = 0;
    virtual Word pack(const Word*, std::size_t) = 0;
    virtual Word pack(const std::initializer_list<Word>&) = 0;
    virtual const Word* unpack(Word, std::size_t) const = 0;
    virtual void enumerate() const = 0;
};

extern "C" {
Word plus(Word x, Word y) { return x + y; }
uint64_t flip(uint64_t x) { return ~x; }
double half(double x) { return x / 2; }
Word length(const char* text) { return std::strlen(text); }
const char* sign(Word x) { return x < 0 ? "négatif" : x > 0 ? "positif" : nullptr; }
const char* twice(const char* text) {
    static std::string kept;
    kept = std::string(text) + text;
    return kept.c_str();
}

// What a list of symbols says, from right to left.
Word joined(SymbolTable* symbols, RecordTable* records, Word list) {
    std::string text;
    for (; list != 0; list = records->unpack(list, 2)[1]) {
        text = symbols->decode(records->unpack(list, 2)[0]) + text;
    }
    return symbols->encode(text);
}
Word reversed(SymbolTable*, RecordTable* records, Word list) {
    Word done = 0;
    for (; list != 0; list = records->unpack(list, 2)[1]) {
        done = records->pack({records->unpack(list, 2)[0], done});
    }
    return done;
}
// [u: unsigned, f: float, s: symbol]
Word changed(SymbolTable* symbols, RecordTable* records, Word record) {
    const Word* old = records->unpack(record, 3);
    double number;
    std::memcpy(&number, &old[1], sizeof number);
    number *= 2;
    Word fields[3] = {old[0] + 1, 0, symbols->unsafeEncode(symbols->unsafeDecode(old[2]) + "'")};
    std::memcpy(&fields[1], &number, sizeof number);
    return records->pack(fields, 3);
}
// Box {a, b} | Circle {r} | Nothing {}: 0, 1, 2
Word turned(SymbolTable*, RecordTable* records, Word shape) {
    const Word* parts = records->unpack(shape, 2);
    if (parts[0] != 0) return shape;
    const Word* sides = records->unpack(parts[1], 2);
    Word other[2] = {sides[1], sides[0]};
    Word box[2] = {0, records->pack(other, 2)};
    return records->pack(box, 2);
}
// Blue | Green | Red
Word next(SymbolTable*, RecordTable*, Word colour) { return (colour + 1) % 3; }
Word bad(SymbolTable*, RecordTable*, Word) { return 77; }
Word worse(SymbolTable* symbols, RecordTable*, Word) { return symbols->decode(12345).size(); }
Word known(SymbolTable* symbols, RecordTable*, Word text) {
    return symbols->weakContains(symbols->decode(text)) + symbols->weakContains("nowhere");
}
}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("library")
    (folder / "functors.cpp").write_text(SOURCE, encoding="utf-8")
    made = folder / "libfunctors.so"
    assert COMPILER is not None
    command = [COMPILER, "-shared", "-fPIC", "-std=c++17", "-O1", str(folder / "functors.cpp"), "-o", str(made)]
    subprocess.run(command, check=True, capture_output=True)
    return made


def test_plain_functors_take_and_give_values_of_c(library: Path) -> None:
    text = """.functor plus(x: number, y: number): number
.functor flip(x: unsigned): unsigned
.functor half(x: float): float
.functor length(x: symbol): number
.functor twice(x: symbol): symbol
.decl p(a: number, b: unsigned, c: float, d: number, e: symbol)
p(@plus(-9223372036854775807, -1), @flip(0), @half(5), @length("hé"), @twice("né")).
p(0, @flip(18446744073709551615), @half(-0.5), @length(""), @twice("")).
"""
    database = Database(text, libraries=[library])
    assert list(database["p"]) == [(-(2**63), 2**64 - 1, 2.5, 3, "néné"), (0, 0, -0.25, 0, "")]


def test_a_null_pointer_and_a_null_character_are_errors(library: Path) -> None:
    text = ".functor sign(x: number): symbol .functor length(x: symbol): number .decl q(x: number) q(-1). p(@sign(x)) :- q(x)."
    database = Database(text, libraries=[library])
    assert list(database["p"]) == [("négatif",)]
    with pytest.raises(EvaluationError, match="`@sign` has no value: returned None"), database.transaction() as transaction:
        transaction.insert("q", [(0,)])
    assert list(database["p"]) == [("négatif",)]
    with pytest.raises(EvaluationError, match="a text with a null character in it would end there"):
        Database('.functor length(x: symbol): number .decl q(x: symbol) q("a\\0b"). p(@length(x)) :- q(x).', libraries=[library])


def test_stateful_functors_take_records_apart_and_make_new_ones(library: Path) -> None:
    text = """.type List = [head: symbol, tail: List]
.type Mixed = [u: unsigned, f: float, s: symbol]
.functor joined(l: List): symbol stateful
.functor reversed(l: List): List stateful
.functor changed(m: Mixed): Mixed stateful
.decl list(l: List) .decl mixed(m: Mixed)
.decl text(t: symbol) .decl back(l: List)
list(nil). list(["a", ["b", ["é", nil]]]).
mixed([18446744073709551614, -0.25, "s"]).
text(@joined(l)) :- list(l).
back(@reversed(l)) :- list(l).
mixed(@changed(m)) :- mixed(m), m = [u, _, _], u != 18446744073709551615.
"""
    database = Database(text, libraries=[library])
    assert list(database["text"]) == [("",), ("éba",)]
    assert list(database["back"]) == [(None,), (("é", ("b", ("a", None))),)]
    assert set(database["mixed"]) == {((2**64 - 2, -0.25, "s"),), ((2**64 - 1, -0.5, "s'"),)}
    with database.transaction() as transaction:
        transaction.insert("list", [(("x", None),)])
        transaction.delete("list", [(None,)])
    assert list(database["text"]) == [("x",), ("éba",)]
    database.check()


def test_long_lists_are_no_trouble(library: Path) -> None:
    text = """.type List = [head: symbol, tail: List]
.functor reversed(l: List): List stateful
.decl list(n: number, l: List) .decl last(x: symbol)
list(0, nil). list(n + 1, [to_string(n), l]) :- list(n, l), n < 5000.
last(x) :- list(5000, l), [x, _] = @reversed(l).
"""
    assert list(Database(text, libraries=[library])["last"]) == [("0",)]


def test_branches_are_laid_out_as_in_souffle(library: Path) -> None:
    text = """.type Shape = Nothing {} | Circle {r: number} | Box {a: number, b: number}
.type Colour = Red {} | Green {} | Blue {}
.functor turned(s: Shape): Shape stateful
.functor next(c: Colour): Colour stateful
.decl shape(s: Shape) .decl colour(c: Colour, d: Colour)
.decl turned(s: Shape)
shape($Nothing()). shape($Circle(-3)). shape($Box(1, 2)).
turned(@turned(s)) :- shape(s).
colour($Red(), @next($Red())). colour($Blue(), @next($Blue())).
"""
    database = Database(text, libraries=[library])
    assert set(database["turned"]) == {(Branch("Nothing"),), (Branch("Circle", -3),), (Branch("Box", 2, 1),)}
    assert set(database["colour"]) == {(Branch("Red"), Branch("Blue")), (Branch("Blue"), Branch("Green"))}


def test_words_that_are_no_values_are_errors_with_the_rule(library: Path) -> None:
    record = ".type Pair = [x: number, y: number] .decl q(x: number) q(1)."
    with pytest.raises(EvaluationError, match=r"`@bad` raised LookupError: there is no record 77 of 2 fields, where x = 1"):
        Database(f"{record} .functor bad(x: number): Pair stateful .decl p(x: Pair) p(@bad(x)) :- q(x).", libraries=[library])
    with pytest.raises(EvaluationError, match=r"`@worse` raised LookupError: there is no symbol 12345, where x = 1"):
        Database(f"{record} .functor worse(x: number): number stateful p(@worse(x)) :- q(x).", libraries=[library])
    text = '.functor known(x: symbol): number stateful p(@known("a")).'
    assert list(Database(text, libraries=[library])["p"]) == [(1,)]


def test_types_that_c_does_not_know_are_refused_at_the_declaration(library: Path) -> None:
    with pytest.raises(
        ProgramError, match=r"functor `length` cannot be a function of .*libfunctors\.so: a date is nothing that a C function"
    ):
        Database('.functor length(x: date): number p(@length("2024-01-01")).', libraries=[library])


def test_the_command_line_finds_libraries_as_souffle_does(library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "p.dl"
    program.write_text(".functor plus(x: number, y: number): number\n.decl p(x: number)\n.output p\np(@plus(1, 2)).\n")
    other = tmp_path / "libother.so"
    other.write_bytes(library.read_bytes())
    for given in (["-L", library.parent], ["-lother", "-L", tmp_path], ["--libraries", "functors other", "--library-dir", library.parent]):
        if "functors other" in given:
            given += ["-L", tmp_path]
        outcome = datalog("run", program, "-D", "-", *given)
        assert (outcome.status, outcome.out.splitlines()[-2]) == (0, "3"), outcome.err
    monkeypatch.chdir(library.parent)
    assert datalog("run", program).status == 0
    monkeypatch.chdir(os.sep)
    outcome = datalog("run", program)
    assert outcome.status == 1 and "there is no function for functor `plus`" in outcome.err
    outcome = datalog("run", program, "-l", "nowhere", "-L", tmp_path)
    assert outcome.status == 1
    assert outcome.err.startswith(f"there is no library {tmp_path / 'libnowhere.so'}; there is ")
    assert "libother.so" in outcome.err
    (tmp_path / "empty").mkdir()
    outcome = datalog("run", program, "-l", "nowhere", "-L", tmp_path / "empty")
    assert outcome.err == f"there is no library {tmp_path / 'empty' / 'libnowhere.so'}\n"


def test_one_library_may_be_given_by_itself(library: Path) -> None:
    for given in (library, str(library), [library]):
        assert list(Database(".functor plus(x: number, y: number): number p(@plus(1, 2)).", libraries=given)["p"]) == [(3,)]


def test_a_library_without_the_function_is_named(library: Path) -> None:
    with pytest.raises(ProgramError) as caught:
        Database(".functor minus(x: number): number p(@minus(1)).", libraries=[library])
    assert caught.value.hint.endswith(f"{library} has none")


def test_what_is_no_library_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "libx.so").write_text("no library")
    with pytest.raises(FunctionError, match=r"the library .*libx\.so cannot be loaded"):
        Database(".functor f(x: number): number p(@f(1)).", libraries=[tmp_path / "libx.so"])
