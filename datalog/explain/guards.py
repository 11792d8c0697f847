"""What choice domains and subsumption have to do with a row: in whose place it stands, or what keeps it out.

Outside of recursion a predicate's rows are those of `p@all` that are left (`datalog.rewrite.guards`); proofs and absences speak of these
as rows of p. In recursion a row may rest on rows that have left since: then there is no proof, and that is said.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from datalog.explain.facts import Codes, Fact, show_row
from datalog.explain.literals import kind_of
from datalog.explain.workbench import Workbench
from datalog.ir.core import ALL, CHOSEN, NO_GUARD, ROUND, SUBSUMED, CoreRule, Type

LEFT = "from rows that have left since"


def whole(bench: Workbench, name: str) -> str:
    """The predicate of all rows that a predicate is given and derives, if its own rows are some of these. (Of columns of lattices an
    aggregate joins them, see `datalog.rewrite.join_lattices`.)"""
    read = {atom.predicate for rule in bench.rules.get(name, []) for atom in rule.atoms}
    return name + ALL if read & {name + ALL, name + CHOSEN} else name


def count_rounds(bench: Workbench, numbers: np.ndarray | None = None) -> None:
    """Let rules read the numbers of rounds; of all that there have been where none are given. While the workbench is open."""
    if ROUND not in bench.program.predicates:
        return
    if numbers is None:
        guarded = [name for name, guard in bench.guards.items() if guard.counted]
        last = max((int(bench.storage.stamps(name, rows).max()) for name in guarded if len(rows := bench.storage.rows(name))), default=0)
        numbers = np.arange(last + 1)
    codes = bench.values.encode_column(numbers.tolist(), Type.UNSIGNED).reshape(-1, 1)
    bench.storage.clear(ROUND)
    bench.storage.replace(ROUND, np.unique(codes, axis=0))


def is_guarded(bench: Workbench, name: str) -> bool:
    """Whether a row of the predicate may be missing that a rule derives."""
    return name in bench.guards or whole(bench, name) != name


def is_given(bench: Workbench, fact: Fact) -> bool:
    """Whether the row is among those that its predicate is given."""
    base = fact.predicate.base
    return bool(base) and bool(bench.storage.has(base, fact.rows)[0])


def kept_out(bench: Workbench, name: str, codes: Codes) -> str:
    """What keeps a row out that a rule derives, or that is given, as far as it can be told."""
    return next(_reasons(bench, name, codes), "no round had all that this takes")


def _reasons(bench: Workbench, name: str, codes: Codes) -> Iterator[str]:
    storage, predicate = bench.storage, bench.program.predicates[name]
    guard = bench.guards.get(name, NO_GUARD)
    row = np.array([codes], np.int64)
    standing = storage.rows(_chosen(bench, name))
    for key in predicate.choices:
        same = standing[(standing[:, key] == row[:, key]).all(axis=1)]
        if len(same) and not (same == row).all(axis=1).any():
            columns = ", ".join(predicate.attributes[column] for column in key)
            taken = show_row(predicate, tuple(same[0].tolist()), bench.values)
            yield f"{taken} has its key ({columns})"
    for rule in bench.rules.get(name + SUBSUMED, []):
        greater = _dominating(bench, rule, codes)
        if greater is not None:
            yield f"{show_row(predicate, greater, bench.values)} subsumes it, by {rule.text}"
    if not predicate.choices:
        yield from _extremes(bench, name, row)
    if name + SUBSUMED in bench.program.predicates:
        yield "a row that has left since subsumed it"
    limited = [f"{one} has {limit} rows" for one, limit in guard.limits.items() if storage.size(one) >= limit]
    if limited:
        yield f"the recursion has ended, since {' and '.join(limited)}"


def _extremes(bench: Workbench, name: str, row: np.ndarray) -> Iterator[str]:
    """The rows that are left of the same group, where a subsumption keeps extremes (`datalog.rewrite.extremes`)."""
    standing = bench.storage.rows(name)
    for rule in bench.rules.get(name, []):
        for atom in rule.atoms:
            if kind_of(atom.predicate) == "agg" and whole(bench, name) != name:
                groups = atom.columns[: bench.aggregates[atom.predicate].groups]
                key = [rule.head_columns.index(column) for column in groups if column is not None]
                same = standing[(standing[:, key] == row[:, key]).all(axis=1)]
                if len(same):
                    shown = show_row(bench.program.predicates[name], tuple(same[0].tolist()), bench.values)
                    yield f"{shown} subsumes it, by {rule.text}"


def _chosen(bench: Workbench, name: str) -> str:
    """The predicate of what choice domains have left of a predicate's rows."""
    if name + CHOSEN in bench.program.predicates:
        return name + CHOSEN
    return name + ALL if bench.guards.get(name + ALL, NO_GUARD).choices else name


def _dominating(bench: Workbench, rule: CoreRule, codes: Codes) -> Codes | None:
    """The row that dominates a row, which need not stand itself, by one subsumption."""
    less = next(atom for atom in rule.atoms if atom.predicate.partition("@")[0] == rule.head.removesuffix(SUBSUMED))
    greater = next(atom for atom in rule.atoms if atom.predicate == less.predicate and atom is not less)
    variables = [*rule.variables]
    types = [*rule.types]
    columns = list(greater.columns)
    for at, column in enumerate(columns):
        if column is None:
            columns[at] = len(variables)
            variables.append(f"_{at}")
            types.append(bench.program.predicates[greater.predicate].types[at])
    shown = replace(greater, columns=tuple(columns))
    atoms = tuple(shown if atom is greater else atom for atom in rule.atoms if atom is not less)
    other = replace(rule, variables=tuple(variables), types=tuple(types), atoms=atoms)
    found = bench.complete(bench.join(other, ()), np.array([codes], np.int64))
    return tuple(int(found[0, column]) for column in columns if column is not None) if len(found) else None
