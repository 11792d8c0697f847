"""Inline predicates: programs give with `inline` what they give without, and what they give with the bodies written out by hand."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import datalog
from datalog.errors import DatalogError, ProgramError
from tests.oracle.text import to_text
from tests.properties.programs import Drawn, programs, rich_programs
from tests.properties.streams import Transaction, streams
from tests.properties.test_differential import apply

REFUSED = re.compile(r"`(\w+)`(?: is inline and negated here|, which is inline)")


@st.composite
def cases(draw: Any) -> tuple[Drawn, list[Transaction]]:
    drawn = draw(st.one_of(programs(), rich_programs()))
    return drawn, draw(streams(drawn))


def inlined(text: str, names: set[str]) -> tuple[datalog.Database, set[str]]:
    """The program with those predicates inline, but for those that must not be; and which are."""
    while True:
        marked = text
        for name in names:
            marked = re.sub(rf"(?m)^\.decl {name}\([^)]*\)$", r"\g<0> inline", marked)
        try:
            return datalog.Database(marked, failing="skip"), names
        except ProgramError as error:
            refused = {found for one in error.diagnostics for found in REFUSED.findall(one.message)}
            assert refused & names, error
            names = names - refused


def outcome(db: datalog.Database, transaction: Transaction) -> str:
    try:
        apply(db, transaction)
    except DatalogError as error:
        return type(error).__name__
    return ""


@settings(max_examples=60, deadline=None)
@given(case=cases())
def test_programs_give_the_same_with_inline_as_without(case: tuple[Drawn, list[Transaction]]) -> None:
    drawn, stream = case
    facts = {name: set[Any]() for name in drawn.facts}
    text = to_text(drawn.program, facts, replace(drawn.style, declare=True))
    derived = {head.predicate for rule in drawn.program.rules for head in rule.heads} - drawn.domains.keys() - drawn.program.functional
    plain = datalog.Database(text, failing="skip")
    with_inline, names = inlined(text, {name for name in derived if name.startswith("d")})
    first = tuple(("insert", name, row) for name, rows in drawn.facts.items() for row in sorted(rows))
    for transaction in (first, *stream):
        assert outcome(with_inline, transaction) == outcome(plain, transaction)
        for name in plain:
            if name in names:
                columns = [f"c{at}" for at in range(len(plain.predicates[name].types))]
                assert with_inline.query(f"{name}({', '.join(columns)})") == sorted(plain.query(f"{name}({', '.join(columns)})")), name
            else:
                assert list(with_inline[name]) == list(plain[name]), name
    with_inline.check()


@dataclass(frozen=True)
class Template:
    """A rule of an inline predicate of two columns, which need not bind them; `own` has a variable beside them."""

    body: str
    own: bool = False

    def put(self, first: str, second: str, own: str) -> str:
        return self.body.format(a=first, b=second, n=own)


TEMPLATES = (
    Template("{a} < {b} + 2"),
    Template("{a} = {b}"),
    Template("{a} != 2, {b} != 3"),
    Template("e({a}, {b})"),
    Template("e({a}, _), {b} > 1"),
    Template("!e({a}, {b})"),
    Template("({a} < 3 ; e({b}, {a}))"),
    Template("{b} = {a} + 1"),
    Template("e({a}, {n}), {n} <= {b}", own=True),
    Template("e({n}, {a}), !e({n}, {b})", own=True),
    Template("{n} = count : {{ e({a}, _) }}, {n} < {b}", own=True),
)
COUNTING = "e(x, _), y = count : {{ e(w, z), {2} }}"
FORMS = ("e(x, y), {0}", "e(x, z), e(z, y), {0}", "e(x, y), {0}, {1}", "e(x, y), ({0} ; x = 1)", COUNTING)
NEGATED = ("e(x, y), !{0}", "e(x, y), !{0}, !{1}", "e(x, y), {0}, !{1}")


def twins(random: Random) -> tuple[str, str]:
    """A program with inline predicates, and what it says without them."""
    shared = ".decl e(a: number, b: number)\n.input e\n"
    rules = {f"i{number}": random.sample(TEMPLATES, random.choice((1, 1, 2, 3))) for number in range(3)}
    marked = written = shared
    for name, templates in rules.items():
        marked += f".decl {name}(a: number, b: number) inline\n"
        marked += "".join(f"{name}(a, b) :- {one.put('a', 'b', 'n')}.\n" for one in templates)
    for number in range(6):
        called = [random.choice(list(rules)) for _ in range(3)]
        arguments = [("x", "y"), (random.choice(("y", "x", "3")), random.choice(("x", "2"))), ("z", "x")]
        negatable = not any(one.own for name in called for one in rules[name])
        form = random.choice(NEGATED if negatable and random.random() < 0.5 else FORMS)
        atoms = [f"{name}({', '.join(given)})" for name, given in zip(called, arguments, strict=True)]
        groups = [
            f"({' ; '.join(one.put(*given, f'n{at}') for one in rules[name])})"
            for at, (name, given) in enumerate(zip(called, arguments, strict=True))
        ]
        if form == COUNTING:  # what is found in an inline predicate's rule makes no rows
            groups = [f"!(!({group}))" for group in groups]
        head = f".decl p{number}(x: number, y: number)\np{number}(x, y) :- "
        marked += f"{head}{form.format(*atoms)}.\n"
        written += f"{head}{form.format(*groups)}.\n"
    return marked, written


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_rules_that_bind_nothing_say_what_they_say_where_they_are_used(seed: int) -> None:
    random = Random(seed)
    marked, written = twins(random)
    inline, by_hand = datalog.Database(marked), datalog.Database(written)
    for _ in range(5):
        rows = [(random.randint(0, 4), random.randint(0, 4)) for _ in range(random.choice((1, 4, 8)))]
        gone = [(random.randint(0, 4), random.randint(0, 4)) for _ in range(random.choice((0, 3, 9)))]
        for db in (inline, by_hand):
            with db.transaction() as transaction:
                transaction.delete("e", gone)
                transaction.insert("e", rows)
        for name in by_hand:
            assert list(inline[name]) == list(by_hand[name]), (name, marked)
    inline.check()
