"""Proofs and their absence, on random programs after random streams: every step of a proof is an instance of its rule, whose
aggregates are those of the rows shown, and what is said to fail does fail. Instances are checked by the oracle, failures by queries."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from graphlib import TopologicalSorter
from typing import Any

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

import datalog
from datalog.errors import EvaluationError
from datalog.explain import Attempt, Proof, explain
from tests.oracle.naive import evaluate
from tests.oracle.rules import Agg, Application, Atom, Compare, Literal, Op, Or, Program, Row, Rule, Term, Test, Var, mentions
from tests.oracle.text import Style, to_text
from tests.properties.layers import DEFAULTS
from tests.properties.programs import Drawn, rich_programs
from tests.properties.streams import streams
from tests.properties.test_differential import Relations, cases, start, step

TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|[^\s,()"]+')
SHOWN = 6  # facts a state that are explained, and that are not


def parsed(fact: str, types: dict[str, tuple[str, ...]]) -> tuple[str, tuple[Any, ...]]:
    """The predicate and the row of a fact; None stands for a wildcard."""
    name, bracketed, rest = fact.partition("[") if re.match(r"\w+\[", fact) else fact.partition("(")
    if bracketed == "[":
        keys, _, last = rest.rpartition("] = ")
        rest = f"{keys}, {last}" if keys else last
    tokens = TOKEN.findall(rest)
    assert len(tokens) == len(types[name]), fact
    return name, tuple(None if token == "_" else value(token, type) for token, type in zip(tokens, types[name], strict=True))


def value(token: str, type: str) -> Any:
    if type in ("symbol", "date", "datetime"):
        text = ast.literal_eval(token)
        if type == "symbol":
            return text
        return date.fromisoformat(text) if type == "date" else datetime.fromisoformat(text.removesuffix("Z")).replace(tzinfo=UTC)
    if type == "bool":
        return token == "true"
    if type.startswith("decimal"):
        return Decimal(token)
    return float(token) if type == "float" else int(token)


def written(name: str, row: Row, types: dict[str, tuple[str, ...]]) -> str:
    return to_text(Program(types, ()), {name: {row}}, Style(declare=False, suffix=True)).strip().removesuffix(".")


def text_of(rule: Rule, style: Style) -> str:
    return to_text(Program({}, (rule,)), None, Style(style.arrow, False, style.suffix, style.bare)).strip()


def on_premises(literals: tuple[Literal, ...], aggregated: bool) -> tuple[Literal, ...]:
    """The literals with positive atoms of `p`, and applications, asking for `p+` instead; those of aggregates only if `aggregated`."""

    def changed(literal: Literal) -> Literal:
        match literal:
            case Atom(predicate, terms):
                return Atom(predicate + "+", with_premises(terms, aggregated))
            case Compare(operator, left, right):
                return Compare(operator, *with_premises((left, right), aggregated))
            case Test(term):
                return Test(replace(term, arguments=with_premises(term.arguments, aggregated)))
            case Or(branches):
                return Or(tuple(tuple(map(changed, branch)) for branch in branches))
        return literal

    return tuple(map(changed, literals))


def with_premises(terms: tuple[Term, ...], aggregated: bool) -> tuple[Term, ...]:
    """The same for terms."""

    def changed(term: Term) -> Term:
        match term:
            case Application(predicate, keys):
                return Application(predicate + "+", with_premises(keys, aggregated))
            case Op():
                return replace(term, arguments=with_premises(term.arguments, aggregated))
            case Agg() if aggregated:  # one within it is shown only where it has rows
                return replace(term, arguments=with_premises(term.arguments, False), body=on_premises(term.body, False))
        return term

    return tuple(map(changed, terms))


def on_shown(rule: Rule, head: Atom) -> Rule:
    """The rule for `goal` on premises alone. A rank needs the rows that are not shown, so there the aggregates stay as they are."""
    aggregated = not re.search("'(median|quantile)'", repr((head, rule.body, rule.totals)))
    if rule.totals and not aggregated:
        return Rule((Atom("goal", head.terms),), rule.body, rule.totals)
    totals = tuple(replace(total, arguments=with_premises(total.arguments, False)) for total in rule.totals)
    return Rule((Atom("goal", with_premises(head.terms, aggregated)),), on_premises(rule.body, aggregated), totals)


def used_facts(node: Proof) -> Iterator[Proof]:
    """The facts that a step of a proof rests on, those of its aggregates among them."""
    for premise in node.premises:
        if premise.kind in ("derived", "given"):
            yield premise
        elif premise.kind in ("aggregate", "row"):
            yield from used_facts(premise)


def assert_instance(node: Proof, drawn: Drawn, relations: Relations) -> None:
    """The rule of the node, on the node's premises for positive atoms and on everything for negated ones, gives its fact."""
    types = drawn.program.types
    name, row = parsed(node.fact, types)
    premises: Relations = {}
    for premise in used_facts(node):
        used, used_row = parsed(premise.fact, types)
        premises.setdefault(used, set()).add(used_row)
    fitting = [rule for rule in drawn.program.rules if text_of(rule, drawn.style) == node.rule]
    assert fitting, f"{node.rule} is no rule of the program"
    instances = [on_shown(rule, head) for rule in fitting for head in rule.heads if head.predicate == name]
    alone = {"goal": types[name], **types, **{f"{other}+": columns for other, columns in types.items()}}
    facts = {**relations, **{f"{other}+": rows for other, rows in premises.items()}}
    assert any(row in evaluate(Program(alone, (rule,)), facts)["goal"] for rule in instances), f"{node.fact} by {node.rule}"


def assert_proof(db: Any, proof: Proof, drawn: Drawn, facts: Relations, relations: Relations) -> None:
    graph: dict[str, set[str]] = {}
    types = drawn.program.types
    only_numbers = {type for columns in types.values() for type in columns} <= {"number"}
    for node in proof.nodes():
        match node.kind:
            case "derived":
                graph[node.fact] = {premise.fact for premise in used_facts(node)}
                name, row = parsed(node.fact, types)
                assert row in relations[name]
                assert_instance(node, drawn, relations)
            case "given":
                name, row = parsed(node.fact, types)
                assert row in facts[name], node.fact
            case "absent" if re.match(r"!\w+\(", node.fact) and "satisfies" not in node.note and "at all" not in node.note:
                name, row = parsed(node.fact[1:], types)
                assert not any(all(v in (None, w) for v, w in zip(row, other, strict=True)) for other in relations[name]), node.fact
            case "computed" if only_numbers:
                assert db.query(node.fact) == [()], node.fact
            case kind:
                assert kind in ("absent", "computed", "aggregate", "row"), "nothing is cut off that was asked for"
    list(TopologicalSorter(graph).static_order())  # raises CycleError


def spelled(value: Any, type: str) -> str:
    return written("p", (value,), {"p": (type,)})[2:-1]


def term_text(term: Term) -> str:
    return text_of(Rule((Atom("p", (term,)),), ()), Style(suffix=True))[2:-2]


def holds(db: Any, literals: list[str]) -> bool | None:
    """Whether the literals have a binding; None if a computation of theirs has no value on the way."""
    note(f"?- {', '.join(literals)}")
    try:
        return bool(db.query(", ".join(literals or ["true"])))
    except EvaluationError:
        return None


def unified(literals: tuple[Literal, ...]) -> Iterator[tuple[str, str]]:
    """The pairs of variables that the body says are equal."""
    for literal in literals:
        match literal:
            case Compare("=", Var(left), Var(right)):
                yield left, right
            case Or(branches):
                for branch in branches:
                    yield from unified(branch)


def computed_terms(literals: tuple[Literal, ...]) -> Iterator[str]:
    """The computations in positive atoms. Where two atoms wait for each other's variables, one is split from its computation, and
    then its source alone says more than what is claimed."""
    for literal in literals:
        match literal:
            case Atom(_, terms):
                yield from (term_text(term) for term in terms if isinstance(term, Op))
            case Or(branches):
                for branch in branches:
                    yield from computed_terms(branch)


def with_merged(literals: list[str], rule: Rule) -> list[str]:
    """The literals, and the equalities of variables that the rule says of them: those have made two variables one."""
    merged = list(unified(rule.body))
    known = set(re.findall(r"[a-z]\w*", " ".join(literals)))
    while used := [pair for pair in merged if known & set(pair)]:
        literals = [*literals, *(f"{left} = {right}" for left, right in used)]
        known.update(*used)
        merged = [pair for pair in merged if pair not in used]
    return literals


def assert_attempt(db: Any, attempt: Attempt, rule: Rule, name: str, row: Row, types: dict[str, tuple[str, ...]]) -> None:
    (head,) = (head for head in rule.heads if head.predicate == name)
    columns = list(zip(head.terms, row, types[name], strict=True))
    fixed = [f"{term.name} = {spelled(value, type)}" for term, value, type in columns if isinstance(term, Var)]
    if attempt.failed is None:
        ground = [f"{spelled(value, type)} = {term_text(term)}" for term, value, type in columns if not list(mentions(term))]
        assert holds(db, with_merged([*fixed, *ground], rule)) is False
        return
    satisfied = [condition.source for condition in attempt.satisfied]
    tests = [*fixed, *satisfied, attempt.failed.source]
    split = any(test.endswith(f" = {term}") for term in computed_terms(rule.body) for test in tests)
    if not split and not any(list(unified((literal,))) for literal in rule.body if isinstance(literal, Or)):
        assert holds(db, with_merged(fixed + satisfied, rule)) in (True, None)
        assert holds(db, with_merged(tests, rule)) in (False, None)
    assert attempt.ways is None or attempt.ways > 0


def absent_facts(draw: Any, drawn: Drawn, before: Relations, now: Relations) -> Iterator[tuple[str, Row]]:
    """Facts that do not hold: some that did hold, and some that are drawn from the values at hand."""
    types = drawn.program.types
    gone = [(name, row) for name in now for row in sorted(before[name] - now[name])]
    yield from gone[: SHOWN // 2]
    for _ in range(SHOWN // 2):
        name = draw(st.sampled_from(sorted(types)))
        seen = [sorted({row[column] for row in now[name]}) + list(DEFAULTS[type][1]) for column, type in enumerate(types[name])]
        row = tuple(draw(st.sampled_from(values)) for values in seen)
        if row not in now[name]:
            yield name, row


def finite(row: Row) -> bool:
    return all(not isinstance(value, float) or math.isfinite(value) for value in row)


@settings(max_examples=60)
@given(case=cases(), data=st.data())
def test_each_step_of_a_proof_is_an_instance_of_its_rule_and_rests_on_facts(case: Any, data: Any) -> None:
    drawn, stream = case
    db, facts, relations = start(drawn, rows_per_page=4)
    for transaction in [(), *stream]:
        facts, relations = step(db, drawn.program, transaction, facts, relations)
        derived = sorted({head.predicate for rule in drawn.program.rules for head in rule.heads})
        known = [(name, row) for name in derived for row in sorted(relations[name]) if finite(row)]
        chosen = data.draw(st.lists(st.sampled_from(known), max_size=SHOWN, unique=True)) if known else []
        for name, row in chosen:
            fact = written(name, row, drawn.program.types)
            proof = db.explain(fact)
            note(f"{fact}\n{proof}")
            assert parsed(proof.fact, drawn.program.types) == (name, row)
            assert_proof(db, proof, drawn, facts, relations)
            assert db.explain(fact).to_dict() == proof.to_dict(), "a proof is the same each time"
            with pytest.raises(datalog.DatalogError, match="holds"):
                db.why_not(fact)
    db.check()


@settings(max_examples=60)
@given(drawn=rich_programs(), data=st.data())
def test_aggregates_functions_and_primitives_are_proved_by_the_rows_that_are_shown(drawn: Drawn, data: Any) -> None:
    types = drawn.program.types
    db, facts, relations = start(drawn, rows_per_page=4)
    for transaction in [(), *data.draw(streams(drawn))]:
        facts, relations = step(db, drawn.program, transaction, facts, relations)
        derived = sorted({head.predicate for rule in drawn.program.rules for head in rule.heads})
        known = [(name, row) for name in derived for row in sorted(relations[name]) if finite(row)]
        for name, row in data.draw(st.lists(st.sampled_from(known), max_size=SHOWN, unique=True)) if known else []:
            proof = explain(db._engine, db.program.text, written(name, row, types), rows=1_000_000)
            note(f"{proof}")
            assert parsed(proof.fact, types) == (name, row)
            assert_proof(db, proof, drawn, facts, relations)
            assert "@" not in str(proof), "no predicate of the engine's own is named"


@settings(max_examples=60)
@given(drawn=rich_programs(), data=st.data())
def test_what_is_missing_is_told_of_every_rule_that_computes(drawn: Drawn, data: Any) -> None:
    types = drawn.program.types
    db, facts, relations = start(drawn, rows_per_page=4)
    for transaction in data.draw(streams(drawn)):
        before = relations
        facts, relations = step(db, drawn.program, transaction, facts, relations)
        for name, row in absent_facts(data.draw, drawn, before, relations):
            if finite(row):
                why = db.why_not(written(name, row, types))
                note(f"{why}")
                assert parsed(why.fact, types) == (name, row)
                rules = {text_of(rule, drawn.style) for rule in drawn.program.rules if any(head.predicate == name for head in rule.heads)}
                assert {attempt.rule for attempt in why.attempts} == rules, "each rule for the predicate is tried"
                assert "@" not in str(why), "no predicate of the engine's own is named"


@settings(max_examples=60)
@given(case=cases(), data=st.data())
def test_the_literal_that_is_said_to_fail_fails_beside_those_that_are_said_to_hold(case: Any, data: Any) -> None:
    drawn, stream = case
    types = drawn.program.types
    db, facts, relations = start(drawn, rows_per_page=4)
    for transaction in stream:
        before = relations
        facts, relations = step(db, drawn.program, transaction, facts, relations)
        for name, row in absent_facts(data.draw, drawn, before, relations):
            if not finite(row):
                continue
            why = db.why_not(written(name, row, types))
            note(f"{why}")
            assert parsed(why.fact, types) == (name, row)
            texts = {text_of(rule, drawn.style): rule for rule in drawn.program.rules}
            heads = {text for text, rule in texts.items() if any(head.predicate == name for head in rule.heads)}
            assert {attempt.rule for attempt in why.attempts} == heads, "each rule for the predicate is tried"
            for attempt in why.attempts:
                rule = texts[attempt.rule]
                if sum(head.predicate == name for head in rule.heads) == 1:
                    assert_attempt(db, attempt, rule, name, row, types)
            with pytest.raises(datalog.DatalogError, match="does not hold"):
                db.explain(written(name, row, types))
    db.check()
