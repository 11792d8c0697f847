"""Why a fact does not hold: what the given facts say, and how far each rule for its predicate gets (`attempt.py`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from datalog.errors import DatalogError
from datalog.explain.absence import Attempt, WhyNot
from datalog.explain.attempt import RuleAttempt
from datalog.explain.facts import Fact, completed, read_fact, show_key_of, show_row, spell_codes
from datalog.explain.guards import count_rounds, is_given, is_guarded, kept_out, whole
from datalog.explain.literals import is_copy
from datalog.explain.paths import class_of
from datalog.explain.wording import Wording
from datalog.explain.workbench import Workbench
from datalog.io.rows import counted
from datalog.ir.core import CoreClosure, CoreRule
from datalog.maintain.engine import Engine
from datalog.syntax.tree import Span

NEARBY = 3  # rows that are shown


def why_not(engine: Engine, text: str, fact: str) -> WhyNot:
    """What each rule lacks to derive a fact that does not hold; `text` is the program's.

    Raises ProgramError or DataError for what is no fact of the program, DatalogError if the fact holds.
    """
    asked = read_fact(fact, engine.program, engine.values)
    bench = Workbench(engine)
    if asked.is_key:
        key, has = show_key_of(asked.predicate, asked.codes, engine.values), completed(asked, bench.storage)
        holds = f"{show_row(has.predicate, has.codes, engine.values)} holds\n    hint: explain shows why" if has else ""
        raise DatalogError(holds or f"{key} has no value\n    hint: ask for one that you expect: {key} = …")
    shown = show_row(asked.predicate, asked.codes, engine.values)
    if bench.storage.has(asked.predicate.name, asked.rows)[0]:
        raise DatalogError(f"{shown} holds\n    hint: explain shows why")
    closure = bench.closures.get(asked.predicate.name)
    name = closure.pairs if closure else whole(bench, asked.predicate.name)
    rules = [rule for rule in bench.rules.get(name, []) if not is_copy(rule)]
    given, nearby = _among_the_given(bench, asked)
    if closure is not None:
        given = "; ".join(filter(None, (given, _classes(bench, closure, asked))))
    wording = Wording(text, bench.program)
    with bench.open():
        out = kept_out(bench, asked.predicate.name, asked.codes) if is_guarded(bench, asked.predicate.name) else ""
        if out and is_given(bench, asked):
            given = f"it is given, but {out}"
        count_rounds(bench)
        attempts = [(rule, *RuleAttempt(bench, wording, rule, asked.codes).made(out)) for rule in rules]
    # An aggregate that may be over no rows makes two rules of one. The one whose case it is not says nothing.
    telling = {rule.span for rule, _, other_case in attempts if not other_case}
    told = [(rule, attempt) for rule, attempt, other_case in attempts if not other_case or rule.span not in telling]
    return WhyNot(shown, given, nearby, tuple(_merged(told)))


def _classes(bench: Workbench, closure: CoreClosure, asked: Fact) -> str:
    """The classes that the two elements of a row are in."""
    shown = spell_codes(asked.predicate, asked.codes, bench.values)
    told = {}
    for element, name in zip(asked.codes, shown, strict=True):
        size = len(class_of(bench, closure, element))
        told[name] = f"{name} is in a class of {counted(size, 'element')}" if size else f"{name} is in no class"
    return " and ".join(told.values()) + (", which are not the same" if all(" of " in one for one in told.values()) else "")


def _merged(attempts: Sequence[tuple[CoreRule, Attempt]]) -> Iterator[Attempt]:
    """The attempts, with the alternatives of one rule of the text numbered, and those that fail alike as one."""
    by_rule: dict[Span, list[Attempt]] = {}
    for rule, attempt in attempts:
        by_rule.setdefault(rule.span, []).append(attempt)
    for alternatives in by_rule.values():
        alike: list[tuple[Attempt, list[str]]] = []
        for number, attempt in enumerate(alternatives, 1):
            same = next((numbers for other, numbers in alike if other == attempt), None)
            if same is None:
                alike.append((attempt, same := []))
            same.append(str(number))
        for attempt, numbers in alike:
            label = f"{', '.join(numbers)} of {len(alternatives)}" if len(alike) > 1 else ""
            yield replace(attempt, alternative=label)


def _among_the_given(bench: Workbench, asked: Fact) -> tuple[str, tuple[str, ...]]:
    """What the given facts say, and those that differ in one column from the fact. O(n) for n of them."""
    predicate = asked.predicate
    if predicate.functional:
        key = Fact(predicate, asked.codes[:-1])
        has = completed(key, bench.storage)
        named = show_key_of(predicate, asked.codes, bench.values)
        if has is not None:
            found, wanted = (spell_codes(predicate, one.codes, bench.values)[-1] for one in (has, asked))
            return f"{named} is {found}, not {wanted}", ()
        if not predicate.derived:
            return f"{named} has no value", ()
    if predicate.derived and not predicate.base:
        return "", ()
    stored = bench.program.predicates[predicate.base] if predicate.derived else predicate
    rows = bench.storage.rows(stored.name, bench.storage.committed)
    if predicate.derived and not len(rows):
        return "", ()
    if not len(rows):
        return f"{predicate.name} has no facts", ()
    near = rows[(rows == asked.rows).sum(axis=1) == predicate.width - 1] if predicate.width > 1 else rows[:0]
    shown = bench.values.sort_by_value(near, predicate.types)[:NEARBY].tolist()
    message = f"it is not among the {'given ' if predicate.derived else ''}facts of {predicate.name}"
    return message, tuple(show_row(predicate, tuple(row), bench.values) for row in shown)
