"""The engines in which facts are explained: the database's own, or where predicates are on demand, one that has what a fact depends on."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from datalog.analysis.quantify import quantify
from datalog.explain.facts import read_fact
from datalog.ir.core import CoreProgram
from datalog.ir.demand import EVERYTHING, Demand
from datalog.ir.formulas import Atom, Conjunction, Constant, Program, Signature
from datalog.maintain.engine import Engine
from datalog.rewrite import lower
from datalog.syntax.tree import Directive

GOAL = "?goal"


def engine_that_holds(program: Program, engine: Engine, fact: str) -> Engine:
    """The engine itself, or one that evaluates what the fact depends on, where its predicate is on demand.

    Raises ProgramError or DataError for what is no fact of the program.
    """
    asked = read_fact(fact, engine.program, engine.values)
    predicate = asked.predicate
    if predicate.name not in engine.program.demanded:
        return engine
    values = [engine.values.decode(code, type_) for code, type_ in zip(asked.codes, predicate.types, strict=False)]
    terms = tuple(Constant(value, type_) for value, type_ in zip(values, predicate.types, strict=True))
    goal = quantify([Atom(GOAL, ())], Conjunction((), (Atom(predicate.name, terms),)), text=f"{GOAL}() ← {fact}")
    signatures = {**program.signatures, GOAL: Signature(GOAL, (), (), (), False, hidden=True)}
    asking = replace(program, signatures=signatures, rules=(*program.rules, goal))
    return _made(asking, engine, Demand(frozenset((EVERYTHING,)), frozenset(), outputs_only=True), (GOAL,))


def engine_that_is_whole(program: Program, engine: Engine, fact: str) -> Engine:
    """The engine itself, or where it has anything on demand, one that has all of what the fact could depend on: what was not asked for
    is not absent."""
    if not engine.program.demanded:
        return engine
    asked = read_fact(fact, engine.program, engine.values)
    return _made(replace(program, demand=Demand()), engine, Demand(outputs_only=True), (asked.predicate.name,))


def _made(program: Program, engine: Engine, demand: Demand, outputs: Collection[str]) -> Engine:
    core = lower(replace(program, directives=(Directive("output", tuple(outputs)),)), demand)
    return Engine(
        core, engine.values, {name: engine.storage.rows(name, engine.storage.committed) for name in _given(core, engine)}, engine.options
    )


def _given(core: CoreProgram, engine: Engine) -> list[str]:
    """The predicates that are given in both, under the names that the engine stores them by."""
    kept = engine.program.predicates
    return [name for name, one in core.predicates.items() if not one.derived and name in kept and not kept[name].derived]
