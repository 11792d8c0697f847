"""Queries: rules for a predicate `?query` that are evaluated once over the committed version and then forgotten.

Whatever a query needs beyond the trees that are there (an arrangement, the rows of a helper predicate) is built in a
transaction that is aborted, so nothing of it stays. A query that no arrangement serves costs O(n log n) for one.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice, permutations
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from datalog.evaluate.aggregates import Aggregate
from datalog.evaluate.fixpoint import DeltaJoin, Limits, RecursiveRule, evaluate
from datalog.evaluate.folds import Calls
from datalog.evaluate.join import Join
from datalog.ir.core import QUERY, CoreRule, Predicate, Stratum
from datalog.plan.order import variables_of
from datalog.plan.rule import RulePlan, plan_delta, plan_rule
from datalog.plan.statistics import Uniform
from datalog.store.rows import consolidate, sort_distinct
from datalog.store.storage import Storage
from datalog.store.values import Values

Words = NDArray[np.int64]
ORDERS_TRIED = 200
USUAL = Limits()


class LoweredQuery(Protocol):
    """The rules of `?query` and of its helpers, their predicates and strata; the query's own stratum is the last."""

    @property
    def rules(self) -> tuple[CoreRule, ...]: ...
    @property
    def predicates(self) -> dict[str, Predicate]: ...
    @property
    def strata(self) -> tuple[Stratum, ...]: ...


def run_query(
    storage: Storage, query: LoweredQuery, join: Callable[[RulePlan], Join], values: Values, calls: Calls, limits: Limits = USUAL
) -> Words:
    """The rows of the query, int64[n, columns], distinct and sorted by code. `limits` are those of each recursion.

    The query itself does not recurse; what it asks of predicates on demand may."""
    sources = {stratum.aggregate.source for stratum in query.strata if stratum.aggregate is not None}
    with storage.scratch():
        rows = np.empty((0, 1), np.int64)
        for stratum in query.strata:
            if stratum.recursive:
                _close(storage, query, stratum, join, limits)
                continue
            (name,) = stratum.predicates
            if stratum.aggregate is not None:
                if stratum.aggregate.origin:
                    storage.ensure([(stratum.aggregate.origin, stratum.aggregate.columns)])
                aggregate = Aggregate(storage, values, stratum.aggregate, query.predicates[stratum.aggregate.source], calls)
                _hold(storage, name, aggregate.evaluate())
                continue
            found = [np.empty((0, query.predicates[name].width), np.int64)]
            for number in stratum.rules:
                plan = _plan(storage, query.rules[number])
                storage.ensure(plan.requests)
                driver = join(plan)
                found.append(driver.complete(storage.pool.pages, driver.at(storage.roots), driver.everything(), judge=storage.roots)[0])
            rows = np.concatenate(found)
            if name in sources:
                _hold(storage, name, *consolidate(rows, np.ones(len(rows), np.int64)))
                continue
            rows = sort_distinct(rows)
            if name != QUERY:
                _hold(storage, name, rows)
        return rows


def _close(storage: Storage, query: LoweredQuery, stratum: Stratum, join: Callable[[RulePlan], Join], limits: Limits) -> None:
    """Evaluate a recursive stratum."""
    for name in stratum.predicates:
        storage.arrange(name, [tuple(range(query.predicates[name].width))], "stamps")
    statistics = Uniform(storage.size)
    rules = []
    for rule in (query.rules[number] for number in stratum.rules):
        own = _plan(storage, rule)
        deltas = [
            plan_delta(rule, statistics, place, stratum.predicates, joined_first=True)
            for place, atom in enumerate(rule.atoms)
            if not atom.negated and atom.predicate in stratum.predicates
        ]
        storage.ensure({request for plan in (own, *deltas) for request in plan.requests})
        changes = [DeltaJoin(plan.rule.atoms[plan.given].predicate, plan.given_columns, join(plan)) for plan in deltas]
        rules.append(RecursiveRule(rule.head, join(own), changes, ()))
    evaluate(storage, stratum.predicates, rules, 0, limits)


def _hold(storage: Storage, name: str, rows: Words, counts: Words | None = None) -> None:
    storage.arrange(name, [tuple(range(rows.shape[1]))], "nothing" if counts is None else "totals")
    storage.replace(name, rows, counts)


def _plan(storage: Storage, rule: CoreRule) -> RulePlan:
    """A plan that existing arrangements serve, if one of the first orders that could has it; else the planner's own."""
    own = plan_rule(rule, Uniform(storage.size))
    needs = {binding.variable: variables_of(binding.expression) for binding in rule.bindings}
    joined = {variable for atom in rule.atoms if not atom.negated for variable in atom.columns}
    for order in [own.order, *islice(permutations(own.order), ORDERS_TRIED)]:
        if all(v in joined or needs[v] <= set(order[:place]) for place, v in enumerate(order)):
            plan = plan_rule(rule, Uniform(storage.size), order=order)
            if all(storage.serving(predicate, columns) is not None for predicate, columns in plan.requests):
                return plan
    return own
