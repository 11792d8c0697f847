"""Demand ("magic sets"): predicates of which only what is asked for is evaluated.

    out(y) ← path(1, y)              path@bf@demand(1) ←
    path(x, y) ← edge(x, y)    →     path@bf(x, y) ← path@bf@demand(x), edge(x, y)
    path(x, z) ← path(x, y),         path@bf(x, z) ← path@bf@demand(x), path@bf(x, y), edge(y, z)
                 edge(y, z)          out(y) ← path@bf(1, y)

The rules are flat already, so negated groups, disjunctions and aggregates' bodies are predicates like all others. A predicate on demand
vanishes, and there is a version of it for each set of columns that it is asked by. A version holds rows of the predicate only, and
all of them that have the values asked for; so do the groups of an aggregate. A demand may be larger than what is needed, never
smaller, and what a demand is made from (`datalog.rewrite.sideways`) is ordinary rules: to maintain it takes nothing new.

What stays whole: outputs, and what is not on demand; functional predicates, whose keys must be seen to have one value; what is asked
for without a condition; and whatever else it takes to leave the program stratified. A predicate that nothing whole asks for is not
evaluated at all.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import replace

from datalog.analysis.dependencies import component_of, rule_edges
from datalog.analysis.quantify import quantify
from datalog.ir.core import ALL, BASE, CoreAggregate, CoreAtom, CoreBinding, CoreRule, Type, Value
from datalog.ir.demand import Demand, Version, version_of
from datalog.ir.formulas import Atom, Conjunction, Literal, Program, Rule, Signature, Term
from datalog.ir.text import format_signature
from datalog.rewrite.edges import aggregate_edges
from datalog.rewrite.sideways import Roles, askings, atom_of, with_predicate
from datalog.rewrite.supersets import SUPERSET
from datalog.rewrite.take_apart import take_apart
from datalog.syntax.tree import NOWHERE

Widest = dict[str, list[tuple[bool, ...]]]

MOST = 2  # versions that are asked by some columns; beyond, one that is asked by some of the columns of another one stands for it


def evaluate_on_demand(program: Program, demand: Demand, roots: Iterable[str], prefix: str = "") -> Program:
    """The program with versions in place of the predicates that are on demand; `roots` are evaluated whole.

    The program has gone through all passes before. Names of versions begin with `prefix`.
    """
    derived = {rule.heads[0].predicate for rule in program.rules}.union(aggregate.head for aggregate in program.aggregates)
    asked = demand.of(name for name, signature in program.signatures.items() if name in derived and not signature.hidden)
    if not asked:
        return program
    kept = frozenset(roots)
    owners = (asked | kept) - _special(program)
    movable = {name for name in derived if name in owners - kept or (_owner(name) in owners and name != _owner(name))}
    movable -= {name for name in movable if name.endswith(SUPERSET)}
    widest: Widest = {}
    while True:
        movable -= {aggregate.head for aggregate in program.aggregates if aggregate.source not in movable}
        rewriting = _Rewriting(program, movable, derived, widest, prefix)
        rewriting.run()
        more = rewriting.whole or rewriting.unstratified()
        wider = rewriting.too_many()
        if not more and not wider:
            return rewriting.program()
        movable -= more
        widest |= wider


def _covers(wide: tuple[bool, ...], narrow: tuple[bool, ...]) -> bool:
    """Whether what is asked by the bound columns of `narrow` is among what is asked by those of `wide`, which are some of them."""
    return all(other or not one for one, other in zip(wide, narrow, strict=True))


def _owner(name: str) -> str:
    """The author's predicate that a hidden one helps."""
    return name.partition("@")[0]


def _special(program: Program) -> set[str]:
    """The predicates whose rows depend on more than what the rules derive, and those that recurse through them."""
    guard = program.guard
    found = {name for name, one in program.signatures.items() if one.functional or one.choices or one.delta_of}
    found |= {_owner(name) for name in (*guard.predicates, *guard.rounds, *guard.subsumed.values(), *program.equivalences)}
    found |= {_owner(aggregate.asked) for aggregate in program.aggregates if aggregate.asked}
    found |= {_owner(numbering.head) for numbering in program.numberings}  # each binding counts
    found |= {name for name in program.signatures if name + ALL in program.signatures}  # their given rows are not theirs
    groups = component_of(program.signatures, rule_edges(program.rules))
    return found.union(*({_owner(other) for other in group} for group in groups.values() if not group.isdisjoint(found)))


class _Rewriting:
    """One attempt, with the predicates `demanded` on demand; `whole` are those that turn out to be asked for all their rows in any case."""

    def __init__(self, program: Program, demanded: set[str], derived: set[str], widest: Widest, prefix: str) -> None:
        self._program, self._demanded, self._derived, self._prefix = program, demanded, derived, prefix
        self._aggregates = {aggregate.head: aggregate for aggregate in program.aggregates}
        keys = {name: aggregate.keys for name, aggregate in self._aggregates.items()}
        self._roles = Roles(program.signatures.keys() - derived, demanded, keys)
        self._versions: dict[tuple[str, tuple[bool, ...]], Version] = {}
        self._waiting: deque[Version] = deque()
        self._rules: list[Rule] = []
        self._demands: dict[Rule, None] = {}
        self._made: list[CoreAggregate] = []
        self._widest = widest
        self.whole: set[str] = set()

    def run(self) -> None:
        rules: dict[str, list[Rule]] = {}
        for rule in self._program.rules:
            rules.setdefault(rule.heads[0].predicate, []).append(rule)
        for name, own in rules.items():
            for rule in own if name not in self._demanded else ():
                self._rewrite(rule, None)
        for aggregate in self._program.aggregates:
            if aggregate.head not in self._demanded:
                self._made.append(aggregate)
                self.whole.update({aggregate.source, aggregate.needs} & self._demanded)
        while self._waiting:
            version = self._waiting.popleft()
            if version.predicate in self._aggregates:
                self._aggregate(self._aggregates[version.predicate], version)
            for rule in rules.get(version.predicate, ()):
                self._rewrite(rule, version)

    def unstratified(self) -> set[str]:
        """The predicates that cannot be on demand, since recursion would go through a negation or an aggregate, or through what may not
        recurse, or not with more than it does by itself."""
        edges = rule_edges((*self._rules, *self._demands))
        edges += aggregate_edges(self._made, edges)
        groups = component_of(dict.fromkeys(head for head, _, _, _ in edges), edges)
        versions = {version.name: version.predicate for version in self._versions.values()}
        alone = _special(self._program)
        found: set[str] = set()
        for head, read, under, _ in edges:
            if read in groups.get(head, ()) and (under or (_owner(head) in alone and not groups[head].isdisjoint(versions))):
                blamed = {versions[read]} if read in versions else {versions[name] for name in groups[head] if name in versions}
                found |= blamed
        return found

    def too_many(self) -> Widest:
        """Of the predicates with too many versions, those that others make needless, since they are asked by some of the same columns."""
        ways: dict[str, list[tuple[bool, ...]]] = {}
        for name, bound in self._versions:
            if any(bound):  # for all its rows it is asked for a reason, which does not make the rest of them needed
                ways.setdefault(name, []).append(bound)
        crowded = {name: bounds for name, bounds in ways.items() if len(bounds) > MOST}
        found = {
            name: [one for one in bounds if not any(other != one and _covers(other, one) for other in bounds)]
            for name, bounds in crowded.items()
        }
        return {name: bounds for name, bounds in found.items() if len(bounds) < len(crowded[name])}

    def program(self) -> Program:
        """The program that this attempt has come to."""
        kept = {name: one for name, one in self._program.signatures.items() if not one.hidden or name not in self._demanded}
        signatures = {**kept, **{one.name: one for version in self._versions.values() for one in self._signatures(version)}}
        versions: dict[str, tuple[Version, ...]] = {
            name: () for name in self._program.signatures if name in self._demanded and name in kept
        }
        for version in self._versions.values():
            if version.predicate in versions:
                versions[version.predicate] += (version,)
        return replace(
            self._program, signatures=signatures, rules=(*self._rules, *self._demands), aggregates=tuple(self._made), demanded=versions
        )

    # --- one rule, one aggregate --------------------------------------------------------------------------------------------

    def _rewrite(self, rule: Rule, version: Version | None) -> None:
        """The rule as it stands for a version of its head, or for its head whole, and what its body asks for."""
        (head,) = rule.heads
        first, literals = None, list(rule.body.literals)
        if version is not None:
            head, literals = take_apart(head, literals, version.columns)
            first = Atom(version.demand, tuple(head.terms[column] for column in version.columns), NOWHERE)
            head = replace(head, predicate=version.name)
        for asking in askings(literals, first, self._roles):
            atom = atom_of(literals[asking.at])
            assert atom is not None
            asked = self._version(atom.predicate, asking.bound)
            terms = tuple(atom.terms[column] for column in asked.columns)
            self._ask(asked, terms, [_renamed(literal, literals, at) for at, literal in asking.told], rule)
            literals[asking.at] = with_predicate(literals[asking.at], asked.name)
        if first is not None:
            literals.insert(0, first)
        self._rules.append(quantify([head], Conjunction((), tuple(literals), rule.body.span), rule.span, rule.text))

    def _aggregate(self, aggregate: CoreAggregate, version: Version) -> None:
        """An aggregate of the groups that are asked for: its source has the rows of these groups, and `needs` what is asked of it."""
        signature = self._program.signatures[aggregate.head]
        names = signature.variables
        demand = Atom(version.demand, tuple(names[column] for column in version.columns), NOWHERE)
        read: list[str] = []
        for name, keys in ((aggregate.source, aggregate.groups), (aggregate.needs, aggregate.keys)):
            if name not in self._demanded:
                read.append(name)
                continue
            width = len(self._program.signatures[name].types)
            asked = self._version(name, (*version.bound[:keys], *(False,) * (width - keys)))
            self._ask(asked, tuple(names[column] for column in asked.columns), [demand], None, aggregate.text)
            read.append(asked.name)
        self._made.append(replace(aggregate, head=version.name, source=read[0], needs=read[1]))

    def _version(self, name: str, bound: tuple[bool, ...]) -> Version:
        bound = next((other for other in self._widest.get(name, ()) if _covers(other, bound)), bound)
        if (name, bound) not in self._versions:
            self._versions[name, bound] = version_of(name, bound, self._prefix)
            self._waiting.append(self._versions[name, bound])
        return self._versions[name, bound]

    def _ask(self, version: Version, terms: tuple[Term, ...], told: Sequence[Literal], rule: Rule | None, text: str = "") -> None:
        """The rule for a demand, unless it says that what is asked is asked."""
        if not told and not terms:
            self.whole.add(version.predicate)
        head = Atom(version.demand, terms, NOWHERE)
        if head in told:
            return
        origin = rule.text if rule is not None else text
        shown = f"what is asked of {version.name}, by {origin}"
        self._demands.setdefault(quantify([head], Conjunction((), tuple(told)), rule.span if rule is not None else NOWHERE, shown))

    def _signatures(self, version: Version) -> tuple[Signature, Signature]:
        """The signatures of a version and of its demand."""
        own = self._program.signatures[version.predicate]
        columns = version.columns
        asked = Signature(
            version.demand,
            tuple(own.attributes[column] for column in columns),
            tuple(own.types[column] for column in columns),
            tuple(own.type_names[column] for column in columns),
            False,
            hidden=True,
            span=own.span,
        )
        return replace(own, name=version.name, hidden=True), asked


def _renamed(told: Literal, literals: Sequence[Literal], at: int) -> Literal:
    """What a literal tells, of the version that stands at its place by now."""
    atom = atom_of(literals[at]) if at >= 0 else None
    return with_predicate(told, atom.predicate) if atom is not None else told


def given_rows(program: Program) -> list[CoreRule]:
    """What versions have of the given rows of their predicates: p@bf(x, y) ← p@bf@demand(x), p@base(x, y)"""
    return [_given(program.signatures[name], version) for name, versions in program.demanded.items() for version in versions]


def _given(signature: Signature, version: Version) -> CoreRule:
    names, types, asked = signature.attributes, signature.types, version.columns
    columns: tuple[int, ...] = tuple(range(len(names) or 1))
    bindings: tuple[CoreBinding, ...] = ()
    if not asked:  # a nullary demand is a column that holds 0
        asked = (len(names),)
        names, types = (*names, "=0"), (*types, Type.NUMBER)
        bindings = (CoreBinding(asked[0], Value(0, Type.NUMBER), NOWHERE),)
    atoms = (CoreAtom(version.demand, asked, False, NOWHERE), CoreAtom(signature.name + BASE, columns, False, NOWHERE))
    text = f"the given rows of {format_signature(signature)} that are asked for"
    return CoreRule(version.name, columns, names, types, atoms, bindings, (), NOWHERE, text)
