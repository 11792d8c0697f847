"""The joins that find how rows are derived, made when they are first needed."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from datalog.evaluate.join import Join
from datalog.explain.literals import Part, parts_of
from datalog.explain.workbench import Workbench
from datalog.ir.core import CoreProgram, CoreRule


@dataclass(frozen=True, slots=True)
class Search:
    """A rule whose wildcards in positive atoms have become variables, so that its bindings name whole rows."""

    rule: CoreRule
    join: Join
    parts: tuple[Part, ...]


class Searches:
    """The searches of one workbench."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench
        self._made: dict[tuple[str, int], Search] = {}

    def of(self, predicate: str, number: int) -> Search:
        """The search by one of a predicate's rules, in their order. In a recursive stratum it goes by stamps."""
        key = predicate, number
        if key not in self._made:
            rule = with_whole_rows(self._bench.rules[predicate][number], self._bench.program)
            stamped: Collection[str] = self._bench.recursion.get(predicate, ())
            self._made[key] = Search(rule, self._bench.join(rule, stamped), parts_of(rule, self._bench.aggregates))
        return self._made[key]


def with_whole_rows(rule: CoreRule, program: CoreProgram) -> CoreRule:
    """The rule with a variable for each wildcard of its positive atoms."""
    variables, types, atoms = list(rule.variables), list(rule.types), []
    for atom in rule.atoms:
        columns = list(atom.columns)
        for column, variable in enumerate(columns):
            if variable is None and not atom.negated:
                columns[column] = len(variables)
                variables.append(f"_{len(variables)}")
                types.append(program.predicates[atom.predicate].types[column])
        atoms.append(replace(atom, columns=tuple(columns)))
    return replace(rule, variables=tuple(variables), types=tuple(types), atoms=tuple(atoms))
