"""A query about predicates on demand: the program's rules for them come into the query, as far as it asks for their rows.

    ?query(y) ← path(1, y)       ?query@path@bf@demand(1) ←      ?query@path@bf(x, y) ← ?query@path@bf@demand(x), edge(x, y)    …

Versions that the program keeps are of no use here: they hold what its outputs ask for. The given rows of p are read where they are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from datalog.analysis.quantify import quantify
from datalog.errors import DatalogError
from datalog.ir.core import BASE, QUERY, CoreAggregate
from datalog.ir.demand import EVERYTHING, Demand
from datalog.ir.formulas import Atom, Conjunction, Program, Rule, Signature
from datalog.ir.occurrences import literal_atoms
from datalog.rewrite.demand import evaluate_on_demand
from datalog.rewrite.sideways import atom_of, with_predicate

PREFIX = f"{QUERY}@"


@dataclass(frozen=True, slots=True)
class Source:
    """What a query can be told of a program: its rules, which have gone through all passes, and the predicates whose rows are there."""

    program: Program
    there: Collection[str]


def ask(query: Program, source: Source) -> Program:
    """The query with the rules for what it asks of predicates on demand; both have gone through all passes.

    Raises DatalogError where no rules are known for a predicate without rows.
    """
    rules = _by_head(source.program.rules)
    aggregates = {aggregate.head: aggregate for aggregate in source.program.aggregates}
    missing = _missing(query, source, rules, aggregates)
    if not missing:
        return query
    signatures = {**source.program.signatures, **query.signatures}
    bases = {name + BASE: replace(signatures[name], name=name + BASE, hidden=True) for name in missing if not signatures[name].hidden}
    given = [_copy(signatures[name], name + BASE) for name in missing if not signatures[name].hidden]
    own = [rule for name in missing for rule in rules.get(name, ())]
    together = replace(
        query,
        signatures={**signatures, **bases},
        rules=(*query.rules, *given, *own),
        aggregates=(*query.aggregates, *(aggregates[name] for name in missing if name in aggregates)),
    )
    return _prefixed(evaluate_on_demand(together, Demand(frozenset((EVERYTHING,))), (QUERY,), PREFIX))


def _missing(query: Program, source: Source, rules: Mapping[str, list[Rule]], aggregates: Mapping[str, CoreAggregate]) -> dict[str, None]:
    """The predicates without rows that the query depends on."""
    own = {rule.heads[0].predicate for rule in query.rules}.union(*({one.head, one.source, one.needs} for one in query.aggregates), {""})
    found: dict[str, None] = {}
    waiting = list(_read(query.rules))
    while waiting:
        name = waiting.pop()
        if name in found or name in own or name in source.there:
            continue
        if name not in rules and name not in aggregates and name not in source.program.demanded:
            raise DatalogError(f"{name} has not been read, since no output needs it")
        found[name] = None
        waiting += _read(rules.get(name, ()))
        if name in aggregates:
            waiting += [one for one in (aggregates[name].source, aggregates[name].needs, aggregates[name].asked) if one]
    return found


def _read(rules: Iterable[Rule]) -> Iterable[str]:
    return (atom.predicate for rule in rules for atom, _ in literal_atoms(rule.body))


def _by_head(rules: Iterable[Rule]) -> dict[str, list[Rule]]:
    found: dict[str, list[Rule]] = {}
    for rule in rules:
        found.setdefault(rule.heads[0].predicate, []).append(rule)
    return found


def _copy(signature: Signature, base: str) -> Rule:
    """p(x̄) ← p@base(x̄)"""
    columns = signature.variables
    return quantify([Atom(signature.name, columns)], Conjunction((), (Atom(base, columns),)), text=f"the given rows of {signature.name}")


def _prefixed(program: Program) -> Program:
    """The program, in which everything derived has a name of the query's own."""
    derived = {rule.heads[0].predicate for rule in program.rules}.union(*({one.head, one.source} for one in program.aggregates))
    names = {name: name if name.startswith(QUERY) else f"{PREFIX}{name}" for name in derived}

    def rule(old: Rule) -> Rule:
        (head,) = old.heads
        literals = []
        for literal in old.body.literals:
            atom = atom_of(literal)
            literals.append(with_predicate(literal, names.get(atom.predicate, atom.predicate)) if atom is not None else literal)
        return replace(old, heads=(replace(head, predicate=names[head.predicate]),), body=replace(old.body, literals=tuple(literals)))

    aggregates = tuple(
        replace(one, head=names[one.head], source=names[one.source], needs=names.get(one.needs, one.needs)) for one in program.aggregates
    )
    signatures = {names.get(name, name): replace(one, name=names.get(name, name)) for name, one in program.signatures.items()}
    return replace(program, signatures=signatures, rules=tuple(map(rule, program.rules)), aggregates=aggregates)
