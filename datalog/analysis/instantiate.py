"""Components become plain clauses: each `.init x = C` makes the clauses of C anew, with `x.` before the names that C declares.

    .comp C<T> { .decl p(x: T)  p(y) :- q(y). }
    .init a = C<number>          becomes   .decl a.p(x: number)   a.p(y) :- q(y).

The rules are Soufflé's. An instance has the clauses of the component's bases first, then its own, and those of its own instances
under their names; type parameters are replaced by what is given for them. A name that the component declares or inherits, also
through an instance in it, is that of the instance; any other belongs to the next instance around it, or to the program. A rule
for a predicate that `.override` names in a component that inherits it does not count. A rule or fact whose predicate is declared
further out goes there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from datalog.analysis.component_scopes import TYPES, Binding, Scopes, bound, check_components, report_unknown_component
from datalog.analysis.findings import Findings
from datalog.analysis.qualify import Names, qualify
from datalog.syntax.tree import (
    AlgebraicDeclaration,
    Clause,
    Component,
    Declaration,
    DeltaDeclaration,
    Directive,
    Instantiation,
    LatticeDeclaration,
    Override,
    Plan,
    Program,
    Rule,
    Subsumption,
)


def instantiate(program: Program, findings: Findings) -> Program:
    """The program without components, instantiations and overrides. Raises ProgramError if they are wrong."""
    if not any(isinstance(clause, (Component, Instantiation, Override)) for clause in program.clauses):
        return program
    scopes = Scopes(program.clauses)
    check_components(program.clauses, scopes, findings)
    findings.raise_if_any()
    clauses: list[Clause] = []
    making = _Making(scopes, findings)
    for clause in program.clauses:
        if isinstance(clause, Instantiation):
            orphans: list[_Derivation] = []
            content = making.instance(clause, None, {}, frozenset(), orphans)
            clauses += content.declarations
            clauses += (made for derivation in (*content.derivations, *orphans) for made in derivation.clauses())
        elif not isinstance(clause, Component):
            clauses.append(clause)
    findings.raise_if_any()
    return replace(program, clauses=tuple(clauses))


@dataclass(slots=True)
class _Derivation:
    """A rule, a fact or a subsumption, with its plan."""

    rule: Rule | Subsumption
    plan: Plan | None = None

    def heads(self) -> list[str]:
        return [head.predicate for head in self.rule.heads] if isinstance(self.rule, Rule) else [self.rule.less.predicate]

    def clauses(self) -> Iterator[Clause]:
        yield self.rule
        if self.plan is not None:
            yield self.plan


@dataclass(slots=True)
class _Content:
    """What an instance consists of, under the names by which the place of its `.init` knows it."""

    declarations: list[Clause] = field(default_factory=list)  # and directives
    derivations: list[_Derivation] = field(default_factory=list)

    def add(self, other: _Content) -> None:
        self.declarations += other.declarations
        self.derivations += other.derivations

    def predicates(self) -> list[str]:
        names: list[str] = []
        for clause in self.declarations:
            if isinstance(clause, Declaration):
                names += clause.predicates
            elif isinstance(clause, DeltaDeclaration):
                names.append(clause.name)
        return names

    def types(self) -> list[str]:
        names: list[str] = []
        for clause in self.declarations:
            if isinstance(clause, TYPES):
                names.append(clause.name)
            elif isinstance(clause, LatticeDeclaration):
                names.append(clause.type)
            if isinstance(clause, AlgebraicDeclaration):
                names += (branch.name for branch in clause.branches)
        return names


class _Making:
    """Makes instances; `_begun` are those around the one that is being made, by component and parameters."""

    def __init__(self, scopes: Scopes, findings: Findings) -> None:
        self._scopes, self._findings = scopes, findings
        self._begun: list[tuple[int, frozenset[tuple[str, str]]]] = []

    def instance(
        self, init: Instantiation, scope: Component | None, binding: Binding, overridden: frozenset[str], orphans: list[_Derivation]
    ) -> _Content:
        """The content of an instance that is made in the body of `scope`; `orphans` are rules for predicates declared further out."""
        content = _Content()
        component = self._scopes.find(init.component.name, scope, binding)
        if component is None:
            report_unknown_component(
                binding.get(init.component.name, init.component.name), init.component.span, self._scopes, self._findings
            )
            return content
        own = bound(binding, component.type.parameters, init.component.parameters)
        key = (id(component), frozenset(own.items()))
        if key in self._begun:
            hint = "an instance cannot hold an instance of its own component"
            self._findings.add(init.span, f"component `{component.type.name}` is instantiated inside itself", hint)
            return content
        self._begun.append(key)
        for clause in component.clauses:
            if isinstance(clause, Instantiation):
                content.add(self.instance(clause, component, own, overridden, orphans))
        self._collect(component, own, overridden, content, orphans)
        self._begun.pop()
        names = Names(
            {name: f"{init.name}.{name}" for name in content.predicates()}, {name: f"{init.name}.{name}" for name in content.types()}
        )
        orphans[:] = [_Derivation(qualify(orphan.rule, names), orphan.plan) for orphan in orphans]
        return _Content(
            [qualify(clause, names) for clause in content.declarations],
            [_Derivation(qualify(derivation.rule, names), derivation.plan) for derivation in content.derivations],
        )

    def _collect(
        self, component: Component, binding: Binding, overridden: frozenset[str], content: _Content, orphans: list[_Derivation]
    ) -> None:
        """Adds what the bases of a component hold, and then what it holds itself."""
        by_bases = overridden.union(clause.predicate for clause in component.clauses if isinstance(clause, Override))
        for use in component.bases:
            base = self._scopes.find(use.name, self._scopes.enclosing(component), binding)
            if base is None:
                report_unknown_component(binding.get(use.name, use.name), use.span, self._scopes, self._findings)
                continue
            inherited = bound(binding, base.type.parameters, use.parameters)
            for clause in base.clauses:
                if isinstance(clause, Instantiation):
                    content.add(self.instance(clause, base, inherited, frozenset(), orphans))
            self._collect(base, inherited, by_bases, content, orphans)
        parameters = Names({}, binding)
        for clause in component.clauses:
            if isinstance(clause, (*TYPES, LatticeDeclaration, Declaration, DeltaDeclaration)):
                content.declarations.append(qualify(clause, parameters))
            elif isinstance(clause, Directive):
                content.declarations.append(clause)
            elif not isinstance(clause, (Rule, Subsumption, Plan, Component, Instantiation, Override)):
                self._findings.add(clause.span, "this belongs outside of components", "move it to the program's own clauses")
        known = set(content.predicates())
        waiting = orphans[:]
        orphans.clear()
        for derivation in [*self._derivations(component, overridden, known), *waiting]:
            (content.derivations if known.issuperset(derivation.heads()) else orphans).append(derivation)

    def _derivations(self, component: Component, overridden: frozenset[str], known: set[str]) -> Iterator[_Derivation]:
        """The component's own rules, but for overridden heads; one with heads of which only some are known here becomes one for each."""
        following = (*component.clauses[1:], None)
        for clause, after in zip(component.clauses, following, strict=False):
            plan = after if isinstance(after, Plan) else None
            if isinstance(clause, Rule):
                heads = tuple(head for head in clause.heads if head.predicate.split(".")[0] not in overridden)
                together = known.issuperset(head.predicate for head in heads)
                for some in ([heads] if together else [(head,) for head in heads]) if heads else []:
                    yield _Derivation(replace(clause, heads=some), plan)
            elif isinstance(clause, Subsumption) and clause.less.predicate.split(".")[0] not in overridden:
                yield _Derivation(clause, plan)
