"""Functors at the edges of what they are defined for, against what Soufflé (2.5, 64 bits) gives, recorded by running it.

Arithmetic here is that of the machine (`overflow="wrap"`), as there. What differs, differs for a reason, which stands beside it.
"""

from __future__ import annotations

import warnings

import pytest

from datalog import Database, EvaluationError

SAME = (  # type of the result, or a condition; what is computed; what a file has of it, nothing for a condition that does not hold
    ("number", "2^63", "-9223372036854775808"), ("number", "2^-1", "0"), ("number", "-1^-3", "-1"), ("number", "0^0", "1"),
    ("number", "9223372036854775807+1", "-9223372036854775808"), ("number", "-9223372036854775807-2", "9223372036854775807"),
    ("number", "9223372036854775807*2", "-2"), ("number", "-7/2", "-3"), ("number", "-7%2", "-1"), ("number", "7%-2", "1"),
    ("number", "1 bshl 64", "1"), ("number", "1 bshl 63", "-9223372036854775808"), ("number", "1 bshl -1", "-9223372036854775808"),
    ("number", "-1 bshr 1", "-1"), ("number", "-1 bshru 1", "9223372036854775807"), ("number", "-8 bshr 65", "-4"),
    ("number", "bnot 0", "-1"), ("number", "lnot 0", "1"), ("number", "lnot 5", "0"), ("number", "3 land 0", "0"),
    ("number", "3 lor 0", "1"), ("number", "3 lxor 5", "0"), ("number", 'to_number(" 12")', "12"), ("number", 'to_number("12 ")', "12"),
    ("number", 'to_number("+5")', "5"), ("number", 'to_number("0x1F")', "31"), ("number", 'to_number("-0x1F")', "-31"),
    ("number", 'to_number("0b101")', "5"), ("number", 'to_number("-0b11")', "-3"), ("number", 'to_number("007")', "7"),
    ("number", "to_number(1.9)", "1"), ("number", "to_number(-1.9)", "-1"), ("number", "to_number(18446744073709551615u)", "-1"),
    ("number", 'strlen("")', "0"), ("number", "ord(5)", "5"), ("number", "min(1,2,-3)", "-3"), ("number", "max(1,2,-3)", "2"),
    ("unsigned", "0u-1u", "18446744073709551615"), ("unsigned", "18446744073709551615u+1u", "0"),
    ("unsigned", "18446744073709551615u*2u", "18446744073709551614"), ("unsigned", "2u^64u", "0"),
    ("unsigned", "bnot 0u", "18446744073709551615"), ("unsigned", "lnot 0u", "1"), ("unsigned", "1u bshl 64u", "1"),
    ("unsigned", "18446744073709551615u bshr 1u", "9223372036854775807"), ("unsigned", "18446744073709551615u bshru 63u", "1"),
    ("unsigned", "to_unsigned(-1)", "18446744073709551615"), ("unsigned", "to_unsigned(1.9)", "1"), ("float", "1.0/0.0", "inf"),
    ("float", "-1.0/0.0", "-inf"), ("float", "0.1+0.2", "0.30000000000000004"), ("float", "0.0^-1.0", "inf"),
    ("float", 'to_float("inf")', "inf"), ("float", 'to_float("nan")', "nan"),
    ("float", "to_float(9223372036854775807)", "9.2233720368547758e+18"),
    ("float", "to_float(18446744073709551615u)", "1.8446744073709552e+19"), ("symbol", "to_string(1.5)", "1.500000"),
    ("symbol", "to_string(0.1)", "0.100000"), ("symbol", "to_string(100000000000000000000.0)", "100000000000000000000.000000"),
    ("symbol", "to_string(0.0000001)", "0.000000"), ("symbol", "to_string(1.0/0.0)", "inf"), ("symbol", "to_string(-5)", "-5"),
    ("symbol", "to_string(18446744073709551615u)", "18446744073709551615"), ("symbol", 'to_string("x")', "x"),
    ("symbol", 'substr("abc",0,2)', "ab"), ("symbol", 'substr("abc",3,1)', ""), ("symbol", 'substr("abc",4,1)', ""),
    ("symbol", 'substr("abc",-1,2)', ""), ("symbol", 'substr("abc",1,-1)', "bc"), ("symbol", 'substr("abc",0,0)', ""),
    ("symbol", 'substr("abc",1,100)', "bc"), ("symbol", 'cat("a","b","c")', "abc"), ("symbol", 'cat("a","b")', "ab"),
    ("symbol", '"a"+"b"', "ab"), ("symbol", 'min("b","a","c")', "a"), ("symbol", 'max("B","a")', "a"), ("symbol", 'max("z","é")', "é"),
    ("cond", 'match("","")', "1"), ("cond", 'match("a","ab")', ""), ("cond", 'match("(","a")', ""), ("cond", '!match("(","a")', ""),
    ("cond", 'contains("","")', "1"), ("cond", 'contains("","a")', "1"), ("cond", 'contains("b","abc")', "1"),
    ("cond", "0.0/0.0 = 0.0/0.0", "1"), ("cond", "0.0/0.0 < 1.0", ""), ("cond", '"Z" < "a"', "1"), ("cond", '"z" < "é"', "1"),
    ("cond", "18446744073709551615u > 1u", "1"), ("cond", "-1 < 1", "1"),
)  # fmt: skip
CRASH = ""  # Soufflé ends: by a signal, or with status 1
DIFFERENT = (  # what is computed, what Soufflé gives, what we give (None: an error with place and binding), why
    ("number", "1/0", CRASH, None, "nothing is divided by zero"),
    ("number", "1%0", CRASH, None, "nothing is divided by zero"),
    ("unsigned", "1u/0u", CRASH, None, "nothing is divided by zero"),
    ("number", "0^-1", "-9223372036854775808", None, "nothing is divided by zero"),
    ("number", "(-9223372036854775807-1)/(-1)", CRASH, "-9223372036854775808", "it wraps around"),
    ("number", "(-9223372036854775807-1)%(-1)", CRASH, "0", "it has a value"),
    ("number", "2^64", "-9223372036854775808", "0", "powers are exact and wrap around, and are no floats on the way"),
    ("number", "7^22", "3909821048582988288", "3909821048582988049", "powers are exact"),
    ("number", "3^40", "-9223372036854775808", "-6289078614652622815", "powers are exact and wrap around"),
    ("unsigned", "3u^41u", "0", "18026252303461234787", "powers are exact and wrap around"),
    ("number", 'to_number("abc")', CRASH, None, "a text that is no number has none"),
    ("number", 'to_number("")', CRASH, None, "a text that is no number has none"),
    ("number", 'to_number("12abc")', "12", None, "all of the text must be a number"),
    ("number", 'to_number("1.5")', "1", None, "all of the text must be a number"),
    ("number", 'to_number("0X1F")', "0", "31", "0X is as good as 0x"),
    ("number", 'to_number("9223372036854775808")', CRASH, None, "it is out of range"),
    ("number", "to_number(10000000000000000000.0)", "-9223372036854775808", None, "it is out of range"),
    ("unsigned", "to_unsigned(-1.5)", "18446744073709551615", None, "it is out of range"),
    ("unsigned", 'to_unsigned("-1")', CRASH, None, "it is out of range"),
    ("unsigned", 'to_unsigned("12abc")', "12", None, "all of the text must be a number"),
    ("unsigned", 'to_unsigned("18446744073709551616")', CRASH, None, "it is out of range"),
    ("float", 'to_float("abc")', CRASH, None, "a text that is no number has none"),
    ("float", 'to_float("1.5x")', "1.5", None, "all of the text must be a number"),
    ("float", 'to_float("0x10")', "16", None, "floats are decimal"),
    ("float", 'to_float("1e400")', CRASH, None, "it is out of range"),
    ("float", "0.0/0.0", "-nan", "nan", "there is one NaN"),
    ("float", "(-8.0)^0.5", "-nan", "nan", "there is one NaN"),
    ("float", "-(0.0)", "-0", "0", "there is one zero"),
    ("condition", "-(0.0) = 0.0", "", "1", "there is one zero"),
    ("condition", "0.0/0.0 > 1.0", "", "1", "NaN is the greatest float"),
    ("number", 'strlen("é")', "2", "1", "texts have characters, and not bytes"),
    ("symbol", 'substr("é",0,1)', "\ufffd", "é", "texts have characters, and not bytes"),
)


def clauses(name: str, kind: str, expression: str) -> str:
    if kind in ("cond", "condition"):
        return f".decl {name}(x: number)\n{name}(1) :- one(_), {expression}.\n"
    return f".decl {name}(x: {kind})\n{name}({expression}) :- one(_).\n"


def shown(database: Database, name: str) -> str:
    return "".join(f"{value:.17g}" if isinstance(value, float) else str(value) for (value,) in database[name])


def test_functors_give_what_souffle_gives() -> None:
    text = "".join(clauses(f"r{number}", kind, expression) for number, (kind, expression, _) in enumerate(SAME))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        database = Database(f".decl one(x: number)\none(0).\n{text}", overflow="wrap")
    given = {expression: shown(database, f"r{number}") for number, (_, expression, _) in enumerate(SAME)}
    assert given == {expression: value for _, expression, value in SAME}


@pytest.mark.parametrize(("kind", "expression", "theirs", "ours", "why"), DIFFERENT)
def test_what_differs_differs_for_a_reason(kind: str, expression: str, theirs: str, ours: str | None, why: str) -> None:
    text = f".decl one(x: number)\none(0).\n{clauses('r', kind, expression)}"
    if ours is None:
        with pytest.raises(EvaluationError):
            Database(text, overflow="wrap")
    else:
        assert shown(Database(text, overflow="wrap"), "r") == ours != theirs, why
