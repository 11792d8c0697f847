"""Patterns of `match` against what C++'s std::regex makes of them, as recorded by running Soufflé."""

from __future__ import annotations

import pytest

from datalog.evaluate.patterns import BadPattern, compiled

FITTING = (
    ("", ""), ("|", ""), ("a|", ""), ("()", ""), ("(?:)*", ""), ("(){3}", ""), ("\\B", ""), ("]", "]"), ("a}", "a}"), ("#a", "#a"),
    ("a**", "aa"), ("a*+", "aa"), ("a?+", "aaa"), ("a{2}{2}", "aaaa"), ("a+??", "aa"), ("a{1,2}?", "aa"), ("a{01}", "a"), ("x{0}y", "y"),
    ("x{0,}y", "xxy"), ("(a*)*b", "aab"), ("(a|b)*\\1", "abb"), ("(a)\\1", "aa"), ("(?=(a))\\1", "a"), ("a(?!b).*", "ac"),
    ("(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)\\10", "abcdefghijj"), ("a\\b", "a"), ("a\\Bb", "ab"), ("^a$", "a"),
    ("\\q", "q"), ("\\A", "A"), ("\\Z", "Z"), ("\\_", "_"), ("\\-", "-"), ("\\cA", "A"), ("\\x41", "A"), ("\\u0041", "A"), ("\\0", "\0"),
    ("\\t", "\t"), ("\\s", "\v"), ("\\w", "_"), ("[^]", "a"), ("[[a]]", "a]"), ("[[]", "["), ("[\\]]", "]"), ("[a\\-z]", "-"),
    ("[-a]", "-"), ("[a-]", "-"), ("[--0]", "."), ("[+--]", ","), ("[a-z-9]", "-"), ("[\\w-]", "-"), ("[\\b]", "\b"), ("[^\\D]", "5"),
    ("[\\x41-\\x43]", "B"), ("[&&]", "&"), ("[a||b]", "|"), ("[~~]", "~"), ("[$^]", "^"), ("[[:digit:]a-z]", "b"), ("[[:digit:]-]", "-"),
    ("[[:ALPHA:]]", "b"), ("[[:d:]]", "5"), ("[[:w:]]", "_"), ("[[:s:]]", " "), ("[[:print:]]", " "), ("[[:graph:]]", "!"),
    ("[[:punct:]]", "$"), ("[[:cntrl:]]", "\x7f"), ("[[:space:]]", "\v"), ("[[:lower:]]", "a"), ("[[.a.]]", "a"), ("[[=a=]]", "A"),
    ("[[:alpha:][:digit:]]*", "a1"), (".", "é"), ("[é]", "é"), ("é?", ""),
)  # fmt: skip
NOT_FITTING = (
    (".", "\n"), (".", "\r"), ("a$", "a\n"), ("a$b", "a"), ("a^", "a"), ("\\b", ""), ("[]", "a"), ("[]a]", "a]"), ("[^^]", "^"),
    ("\\cA", "\x01"), ("[a\\-z]", "b"), ("(a)|b\\1", "b"), ("(?!(a))\\1", "b"), ("a(?!b).*", "ab"), ("\\d", "٣"), ("\\w", "é"),
    ("\\s", "\u00a0"), ("[[:alpha:]]", "é"), ("[[:blank:]]", "\v"), ("[[:xdigit:]]", "G"), ("[[:upper:]]", "a"), ("a", "A"), ("a", "aa"),
    ("(a)\\01", "aa"), ("..", "é"),
)  # fmt: skip
REFUSED = (
    "{x}", "x{", "a{2", "a{,2}", "a{2,1}", "a{x}", "a{99999}", "*", "+a", "a|*b", "^*", "\\b+", "(?=a)*a", "(", "(a", "a)", ")", "[", "[a",
    "[[", "[[:alpha:]", "[[:alpha]]", "[[:foo:]]", "[[:^digit:]]", "[[.-.]]", "[z-a]", "[a--]", "[\\w-a]", "[a-\\w]", "[a-[:digit:]]",
    "[[:digit:]-z]", "[\\B]", "[\\1]", "\\", "[a\\", "\\x4", "\\u004", "\\xg1", "\\1", "\\1(a)", "(a\\1)", "(a)\\2", "(a)\\10",
    "(?", "(?<n>a)", "(?P<n>a)", "(?i)a", "(?<=a)b", "(?#c)a", "(?>a)", "(?a)", "(?:a", "(?=a",
)  # fmt: skip


@pytest.mark.parametrize(("pattern", "text"), FITTING)
def test_a_text_fits(pattern: str, text: str) -> None:
    assert compiled(pattern).fullmatch(text)


@pytest.mark.parametrize(("pattern", "text"), NOT_FITTING)
def test_a_text_does_not_fit(pattern: str, text: str) -> None:
    assert not compiled(pattern).fullmatch(text)


@pytest.mark.parametrize("pattern", REFUSED)
def test_what_is_no_pattern_there_is_none_here(pattern: str) -> None:
    with pytest.raises(BadPattern):
        compiled(pattern)


def test_groups_may_be_nested_deeper_than_can_be_read() -> None:
    with pytest.raises(BadPattern):
        compiled("(" * 5000 + ")" * 5000)
