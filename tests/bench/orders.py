"""Variable orders: one program written in many ways, and the chosen orders beside the best of all orders."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, permutations
from pathlib import Path

import numpy as np

from datalog.evaluate.join import Budget, OverBudget
from datalog.ir.core import CoreRule
from datalog.plan.order import variables_of
from datalog.plan.rule import RulePlan, plan_delta, plan_in_order
from datalog.store.rows import sort_distinct
from tests.bench.graphs import Words, skewed
from tests.bench.measure import Cost, Facts, Measured, evaluate, require
from tests.bench.permutations import permuted
from tests.bench.points_to import PROGRAM as POINTS_TO
from tests.bench.report import Aim, Column, Report, count, seconds, times

SHUFFLES = 6
LIMIT = 1.5  # of the worst way to write a program to the best one
ORDERS = 720  # that are tried at most for one plan
WORTH = 5_000  # steps from which on a plan is worth a look
SHOWN = 12
ROLES = 12

GALEN = """
.decl p(x: number, z: number)
.decl q(x: number, r: number, z: number)
.decl r(y: number, u: number, e: number)
.decl c(y: number, w: number, z: number)
.decl u(w: number, r: number, z: number)
.decl s(r: number, q: number)
.input p, q, r, c, u, s
p(x, z) :- p(x, y), p(y, z).
q(x, r, z) :- p(x, y), q(y, r, z).
p(x, z) :- p(y, w), u(w, r, z), q(x, r, y).
p(x, z) :- c(y, w, z), p(x, w), p(x, y).
q(x, q, z) :- q(x, r, z), s(r, q).
q(x, e, o) :- q(x, y, z), r(y, u, e), q(z, u, o).
"""
CSPA = """
.decl assign(x: number, y: number)
.decl dereference(x: number, y: number)
.decl value_flow(x: number, y: number)
.decl value_alias(x: number, y: number)
.decl memory_alias(x: number, y: number)
.input assign, dereference
value_flow(y, x) :- assign(y, x).
value_flow(x, x) :- assign(x, _).
value_flow(x, x) :- assign(_, x).
value_flow(x, y) :- assign(x, z), memory_alias(z, y).
value_flow(x, y) :- value_flow(x, z), value_flow(z, y).
memory_alias(x, x) :- assign(_, x).
memory_alias(x, x) :- assign(x, _).
memory_alias(x, w) :- dereference(y, x), value_alias(y, z), dereference(z, w).
value_alias(x, y) :- value_flow(z, x), value_flow(z, y).
value_alias(x, y) :- value_flow(z, x), memory_alias(z, w), value_flow(w, y).
"""


@dataclass(frozen=True, slots=True)
class Case:
    """A program and what it derives; the counts were found by an independent evaluator."""

    name: str
    program: str
    facts: Facts | Path
    sizes: dict[str, int]


def cases() -> list[Case]:
    """The three programs on data on which each runs within seconds."""
    ontology = {
        "p": _upwards(skewed(256, 2, 220, seed=11, exponent=0.4)),
        "q": _coded(skewed(190, 3, 220, seed=12, exponent=0.4)),
        "r": skewed(12, 3, ROLES, seed=13),
        "c": skewed(118, 3, 220, seed=14, exponent=0.4),
        "u": _coded(skewed(57, 3, 220, seed=15, exponent=0.4)),
        "s": skewed(8, 2, ROLES, seed=16),
    }
    pointers = {"assign": _upwards(skewed(320, 2, 500, seed=21, exponent=0.3)), "dereference": skewed(170, 2, 500, seed=22, exponent=0.4)}
    return [
        Case("points-to, the extract", POINTS_TO.read_text(encoding="utf-8"), POINTS_TO.parent / "facts", {"VarPointsTo": 7_109}),
        Case("Galen-style", GALEN, ontology, {"p": 2_539, "q": 23_460}),
        Case("CSPA-style", CSPA, pointers, {"value_flow": 5_295, "value_alias": 30_131, "memory_alias": 2_871}),
    ]


def _upwards(rows: Words) -> Words:
    """Pairs turned so that the first value is the smaller one: a graph without cycles."""
    return np.unique(np.sort(rows[rows[:, 0] != rows[:, 1]], axis=1), axis=0)


def _coded(rows: Words) -> Words:
    """Triples whose middle value is a role, of which there are few."""
    return np.unique(np.stack((rows[:, 0], rows[:, 1] % ROLES, rows[:, 2]), axis=1), axis=0)


def run(report: Report, limit: float) -> None:
    """Write each program in several ways; then try other orders on what it derives."""
    rows: list[list[str | int | float]] = []
    for case in cases():
        costs, database = _written_in_many_ways(case)
        fewest, most = min(cost.steps for cost in costs), max(cost.steps for cost in costs)
        least, greatest = min(cost.seconds for cost in costs), max(cost.seconds for cost in costs)
        rows.append([case.name, len(costs), fewest, most, most / fewest, least, greatest, greatest / least])
        report.aim(Aim(f"worst to best way to write {case.name}, steps", most / fewest, LIMIT, times))
        report.aim(Aim(f"worst to best way to write {case.name}, seconds", greatest / least, LIMIT, times))
        _best_orders(report, case.name, database)
    report.table(
        "Evaluation of programs written in several ways",
        (
            Column("program"),
            Column("ways"),
            Column("fewest steps"),
            Column("most steps"),
            Column("ratio", times),
            Column("least time", seconds),
            Column("greatest time", seconds),
            Column("ratio", times),
        ),
        rows,
    )


def _written_in_many_ways(case: Case) -> tuple[list[Cost], Measured]:
    costs = []
    for text in permuted(case.program, SHUFFLES, seed=8):
        database = evaluate(text, case.facts, "recompute", times=2)
        for name, size in case.sizes.items():
            require(f"rows of {name} in {case.name}", len(database[name]), size)
        costs.append(database.evaluation)
    return costs, database


# --- the best of all orders -------------------------------------------------------------------------------------------------


def _best_orders(report: Report, name: str, database: Measured) -> None:
    """For each rule's full and delta plans: the steps of the chosen order over the final relations, and of the best one."""
    found: list[list[str | int | float]] = []
    chosen_steps = best_steps = 0
    for number, rule in enumerate(database.core.rules):
        for given in (-1, *(place for place, atom in enumerate(rule.atoms) if not atom.negated)):
            bench = _PlanBench(database, number, given)
            chosen = bench.chosen()
            steps = bench.steps(chosen, None)
            if steps < WORTH:
                continue
            best, best_plan = steps, chosen
            for plan in islice(bench.others(), ORDERS):
                tried = bench.steps(plan, best)
                if tried < best:
                    best, best_plan = tried, plan
            chosen_steps += steps
            best_steps += best
            atom = "all" if given < 0 else rule.atoms[given].predicate
            found.append([f"{_short(rule)}\n  {_named(chosen)}  →  {_named(best_plan)}", atom, steps, best, steps / best])
    found.sort(key=lambda row: -(float(row[2]) - float(row[3])))
    columns = (Column("rule, chosen order → best order"), Column("given"), Column("chosen"), Column("best"), Column("ratio", times))
    report.table(f"Chosen and best variable orders, {name}: steps over the final relations", columns, found[:SHOWN])
    report.note(f"all plans together, {name}: {count(chosen_steps)} steps in the chosen orders, {count(best_steps)} in the best")


class _PlanBench:
    """Runs plans of one rule, whole or with all rows of one atom given, over a database's relations."""

    def __init__(self, database: Measured, number: int, given: int) -> None:
        self._engine, self._number, self._given = database._engine, number, given
        self._rule = rule = database.core.rules[number]
        self._first = [] if given < 0 else list(dict.fromkeys(v for v in rule.atoms[given].columns if v is not None))

    def chosen(self) -> RulePlan:
        """The plan that evaluation used, or that a change would use."""
        joins = self._engine.joins
        if self._given < 0:
            return joins.plan.rules[self._number]
        used = (plan for plan in joins.plan.deltas[self._number] if plan.given == self._given)
        return next(used, None) or plan_delta(self._rule, joins.statistics, self._given)

    def others(self) -> Iterator[RulePlan]:
        """Plans in all orders in which what an expression computes comes after its operands."""
        rest = [variable for variable in range(len(self._rule.variables)) if variable not in self._first]
        for order in permutations(rest):
            place = {variable: depth for depth, variable in enumerate((*self._first, *order))}
            bindings = self._rule.bindings
            if all(place[b.variable] > max((place[v] for v in variables_of(b.expression)), default=-1) for b in bindings):
                yield plan_in_order(self._rule, (*self._first, *order), self._given)

    def steps(self, plan: RulePlan, at_most: int | None) -> int:
        """The plan's steps, or `at_most` if it takes more."""
        storage, joins = self._engine.storage, self._engine.joins
        joins._arrange([plan])
        join = joins.join(plan)
        prefixes = join.everything()
        if self._given >= 0:
            atom = self._rule.atoms[self._given]
            prefixes = join.prefixes(sort_distinct(storage.rows(atom.predicate)[:, plan.given_columns]))
        tally = storage.tally
        before = tally.steps
        budget = None if at_most is None else Budget(tally, tally.cost + at_most)
        try:
            join.complete(storage.pool.pages, join.at(storage.committed), prefixes, budget=budget)
        except OverBudget:
            assert at_most is not None
            return at_most
        return tally.steps - before


def _short(rule: CoreRule) -> str:
    text = " ".join(rule.text.split())
    return text if len(text) <= 60 else text[:59] + "…"


def _named(plan: RulePlan) -> str:
    return " ".join(plan.rule.variables[variable] for variable in plan.order)
