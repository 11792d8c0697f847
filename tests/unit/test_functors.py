"""Functors that programs declare, bound to Python functions: where they are looked for, how they are typed, what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import datalog
from datalog import Branch, Database, FunctionError, ProgramError
from datalog.errors import EvaluationError
from datalog.reading import FunctorFiles, Reading
from tests.command_line import datalog as command

LENGTH = """.functor length(text: symbol): number
.decl word(text: symbol)
.decl long(text: symbol, length: number)
.output long
word("a"). word("abc").
long(w, @length(w)) :- word(w), @length(w) > 1.
"""


def length(text: str) -> int:
    return len(text)


def test_a_functor_is_the_python_function_of_its_name() -> None:
    database = Database(LENGTH, functions=[length])
    assert list(database["long"]) == [("abc", 3)]
    with database.transaction() as transaction:
        transaction.insert("word", [("four",)])
        transaction.delete("word", [("abc",)])
    assert list(database["long"]) == [("four", 4)]
    database.check()


def test_a_mapping_gives_functions_by_the_names_of_functors() -> None:
    assert list(Database(LENGTH, functions={"length": len})["long"]) == [("abc", 3)]


def test_what_a_declaration_says_of_types_goes_before_annotations() -> None:
    text = ".functor half(x: unsigned): float .decl p(x: float) p(@half(3))."

    def half(x: int) -> int:
        return x / 2  # type: ignore[return-value]

    assert list(Database(text, functions=[half])["p"]) == [(1.5,)]


def test_a_function_without_annotations_can_be_nothing_but_a_functor() -> None:
    def length(text):  # type: ignore[no-untyped-def]
        return len(text)

    assert list(Database(LENGTH, functions=[length])["long"]) == [("abc", 3)]
    with pytest.raises(FunctionError, match="length: its argument text has no type"):
        Database("p(1).", functions=[length])


def test_records_and_branches_come_as_tuples_and_branches() -> None:
    text = """.type Pair = [x: number, y: symbol]
.type Shape = Circle {r: number} | Box {a: number, b: number} | Nothing {}
.functor swap(p: Pair): Pair stateful
.functor grown(s: Shape): Shape stateful
.decl p(p: Pair) .decl s(s: Shape)
.decl swapped(p: Pair) .decl bigger(s: Shape)
p([1, "a"]). p(nil). s($Circle(2)). s($Box(3, 4)). s($Nothing()).
swapped(@swap(x)) :- p(x).
bigger(@grown(x)) :- s(x).
"""

    def swap(pair: Any) -> Any:
        return None if pair is None else (pair.x + 1, pair.y + "!")

    def grown(shape: Branch) -> Branch:
        return Branch(shape.branch, *(field * 2 for field in shape.fields))

    database = Database(text, functions={"swap": swap, "grown": grown})
    assert list(database["swapped"]) == [(None,), ((2, "a!"),)]
    assert set(database["bigger"]) == {(Branch("Nothing"),), (Branch("Circle", 4),), (Branch("Box", 6, 8),)}


def test_a_functor_without_arguments_is_called_once() -> None:
    calls = []

    def now() -> int:
        calls.append(1)
        return 7

    database = Database(".functor now(): number .decl q(x: number) q(1). q(2). p(x, @now()) :- q(x). r(@now()).", functions=[now])
    assert (list(database["p"]), list(database["r"]), len(calls)) == ([(1, 7), (2, 7)], [(7,)], 1)


def test_functors_of_columns_get_arrays() -> None:
    @datalog.function("number", returns="number", columns=True)
    def twice(x: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
        assert isinstance(x, np.ndarray)
        return 2 * x

    assert list(Database(".functor twice(x: number): number q(1). q(4). p(@twice(x)) :- q(x).", functions=[twice])["p"]) == [(2,), (8,)]


def test_functors_may_stand_in_negations_aggregates_and_queries() -> None:
    text = """.functor f(x: number): number
.decl p(x: number) .decl q(x: number) .decl n(x: number) .decl s(x: number)
p(1). p(2). p(4).
q(@f(x)) :- p(x), !p(@f(x)).
n(sum @f(x) : { p(x), @f(x) < 8 }) :- true.
s(x) :- p(x), @f(@f(x)) = 4.
"""
    database = Database(text, functions={"f": lambda x: 2 * x})
    assert (list(database["q"]), list(database["n"]), list(database["s"])) == ([(8,)], [(6,)], [(1,)])
    assert database.query("p(x), y = @f(x), y > 2") == [(2, 4), (4, 8)]
    assert "@f(4)" in str(database.explain("q(8)"))
    assert "@f" in str(database.why_not("q(2)"))


# --- where functions are looked for ---------------------------------------------------------------------------------------------


def test_a_missing_function_is_an_error_at_the_declaration() -> None:
    with pytest.raises(ProgramError) as caught:
        Database(LENGTH)
    assert (caught.value.line, caught.value.message) == (1, "there is no function for functor `length`")
    assert "--functors FILE.py" in caught.value.hint and "functions=" in caught.value.hint and "-L DIR" in caught.value.hint
    assert caught.value.text == ".functor length(text: symbol): number"


def test_a_functor_that_is_not_called_needs_no_function() -> None:
    text = ".functor f(x: number): number\n.decl p(x: number)\np(1)."
    database = Database(text)
    with pytest.raises(ProgramError, match="there is no function for functor `f`"):
        database.query("p(x), y = @f(x)")
    with pytest.raises(ProgramError, match="there is no function for functor `f`"):
        database.add_rules("q(@f(x)) :- p(x).")
    assert list(database["p"]) == [(1,)] and "q" not in database

    @database.function
    def f(x):  # type: ignore[no-untyped-def]
        return x + 1

    assert f(1) == 2
    database.add_rules("q(@f(x)) :- p(x).")
    assert list(database["q"]) == [(2,)] and database.query("y = @f(5)") == [(6,)]
    with pytest.raises(FunctionError, match="there is a function f already"):
        database.function(f)


def test_a_function_that_takes_another_number_of_values_is_refused() -> None:
    with pytest.raises(ProgramError, match="the function for functor `length` does not fit: length cannot be called with 1 argument"):
        Database(LENGTH, functions={"length": lambda x, y: x})


def test_an_exception_names_rule_and_binding() -> None:
    def length(text: str) -> int:
        raise OSError("out of letters")

    with pytest.raises(EvaluationError, match=r"(?s)@length.*raised OSError: out of letters.*w = ") as caught:
        Database(LENGTH, functions=[length])
    assert caught.value.line == 6
    assert list(Database(LENGTH, functions=[length], failing="skip")["long"]) == []


def test_a_result_of_another_type_is_an_error() -> None:
    with pytest.raises(EvaluationError, match="the result"):
        Database(LENGTH, functions={"length": str})


def test_python_files_have_functions_for_the_command_line(tmp_path: Path) -> None:
    program, functions = tmp_path / "p.dl", tmp_path / "mine.py"
    program.write_text(LENGTH + "long(w, 0) :- word(w), w = upper(w).\nlong(w, 1) :- word(w), is_short(w) = true.\n")
    functions.write_text(
        "import datalog\ndef length(text): return len(text)\n@datalog.function\ndef is_short(text: str) -> bool: return len(text) < 2\n"
    )
    given = ("--functors", functions)
    assert command("run", program, *given, "-D", "-").out.splitlines()[-3:-1] == ["a\t1", "abc\t3"]
    assert command("check", program, *given).status == 0
    assert "@length" in command("plan", program, *given).out
    assert "@length" in command("explain", program, 'long("abc", 3)', *given).out


def test_the_repl_calls_functors(tmp_path: Path) -> None:
    functions = tmp_path / "mine.py"
    functions.write_text("def twice(x): return 2 * x\n")
    script = ".functor twice(x: number): number\n.decl p(x: number)\np(3).\nq(@twice(x)) :- p(x).\n?- q(x), y = @twice(x).\n"
    outcome = command("repl", "--functors", functions, stdin=script)
    assert (outcome.status, outcome.err) == (0, "") and outcome.out.splitlines()[-1].split() == ["6", "12"]
    outcome = command("repl", stdin=script)
    assert outcome.status == 1 and "there is no function for functor `twice`" in outcome.err


def test_check_and_plan_look_for_functions_only_where_they_are_told_to(tmp_path: Path) -> None:
    program, functions = tmp_path / "p.dl", tmp_path / "none.py"
    program.write_text(LENGTH)
    functions.write_text("length = 3\n")
    assert command("check", program).status == 0 and command("plan", program).status == 0
    outcome = command("check", program, "--functors", functions)
    assert outcome.status == 1 and outcome.err.startswith(f"{program}:1:1: error: there is no function for functor `length`")
    assert command("run", program).status == 1


def test_a_python_file_that_fails_is_named(tmp_path: Path) -> None:
    functions = tmp_path / "bad.py"
    functions.write_text("1 / 0\n")
    reading = Reading(functors=FunctorFiles((functions,)))
    with pytest.raises(FunctionError, match=r"bad\.py cannot be executed: ZeroDivisionError: division by zero"):
        Database(LENGTH, reading=reading)


def test_functions_that_are_given_go_before_those_of_files(tmp_path: Path) -> None:
    functions = tmp_path / "mine.py"
    functions.write_text("def length(text): return 100\n")
    reading = Reading(functors=FunctorFiles((functions,)))
    assert list(Database(LENGTH, functions=[length], reading=reading)["long"]) == [("abc", 3)]
    assert list(Database(LENGTH, reading=reading)["long"]) == [("a", 100), ("abc", 100)]


# --- declarations ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("p(@f(1)).", "functor `@f` is not declared", "declare it: .functor f(x: number): number"),
        (".functor plus(x: number): number p(@pluss(1)).", "functor `@pluss` is not declared", "did you mean `@plus`?"),
        (".functor f(x: int): number", "unknown type `int`", "write `number`"),
        (".functor f(x: number): T", "unknown type `T`", "the types are"),
        (".functor f(): number .functor f(): symbol", "functor `f` is declared twice", "the first is at line 1"),
        (
            ".type L = [x: number, l: L] .functor f(x: L): number",
            "a functor of the record type `L` has to be stateful",
            "write `stateful`",
        ),
        (".functor f(x: number): number p(@f(1, 2)).", "`@f` has 2 arguments here", "it takes 1 argument"),
        ('.functor f(x: number): number p(@f("a")).', 'type mismatch: "a" is a symbol, but argument 1 of `@f` is a number', ""),
        (
            ".functor f(x: number): symbol .decl p(x: number) p(@f(1)).",
            "type mismatch: the result of `@f` is a symbol, but column 1 of `p` is a number",
            "",
        ),
    ],
)
def test_what_is_wrong_about_functors_is_told(text: str, message: str, hint: str) -> None:
    with pytest.raises(ProgramError) as caught:
        Database(text, functions={"f": int, "g": int})
    assert caught.value.message == message
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("p(@low(1)) :- q(_).", ""),
        ("p(@low(x)) :- q(x).", ""),
        ("p(x) :- q(_), x = @any(1).", "type mismatch: `x` is a `number`, but column 1 of `p` takes a `Low`"),
        ("p(@any(x)) :- q(x).", "type mismatch: this is a `number`, but column 1 of `p` takes a `Low`"),
        ("q(@low(x)) :- p(x), o(x).", "`x` can have no value: the types of what it stands for have none in common"),
        ("q(@low(x)) :- o(x).", "`x` can have no value: the types of what it stands for have none in common"),
    ],
)
def test_functors_take_and_give_subtypes_as_they_are_declared(rule: str, message: str) -> None:
    text = """.type Low <: number
.type Other <: number
.functor low(x: Low): Low
.functor any(x: number): number
.decl p(x: Low) .decl q(x: number) .decl o(x: Other)
q(1).
"""
    functions = {"low": abs, "any": abs}
    if not message:
        assert list(Database(text + rule, functions=functions)["p"]) == [(1,)]
        return
    with pytest.raises(ProgramError) as caught:
        Database(text + rule, functions=functions)
    assert caught.value.message == message


def test_functors_may_have_names_of_functions_of_the_engine() -> None:
    text = '.functor order(x: symbol): number .functor cat(x: symbol, y: symbol): symbol .decl p(x: symbol) p("b").\n'
    text += 'q(@order(x), @cat(x, "c"), cat(x, "d"), y) :- p(x), y = min z : { p(z) }.'
    database = Database(text, functions={"order": lambda text: 42, "cat": lambda x, y: y + x})
    assert list(database["q"]) == [(42, "cb", "bd", "b")]
