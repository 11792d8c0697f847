"""Which component a name means where, and what is wrong with components whether or not anything instantiates them.

A name is looked for in the components that enclose its place, innermost first, in each among those declared there and then in
its bases, and last among those of the whole program. A type parameter that is bound stands for what it is bound to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from datalog.analysis.findings import Findings, did_you_mean, place
from datalog.syntax.tree import (
    AlgebraicDeclaration,
    Clause,
    Component,
    ComponentType,
    Declaration,
    DeltaDeclaration,
    Instantiation,
    Override,
    RecordDeclaration,
    Span,
    TypeDeclaration,
    UnionDeclaration,
)

TYPES = (TypeDeclaration, UnionDeclaration, RecordDeclaration, AlgebraicDeclaration)
Binding = Mapping[str, str]  # type parameters and what they stand for


def bound(binding: Binding, formal: Sequence[str], actual: Sequence[str]) -> Binding:
    """What the parameters of a component stand for where it is used; `binding` is that of the place of use."""
    if len(formal) != len(actual):
        return binding
    return {name: binding.get(given, given) for name, given in zip(formal, actual, strict=True)}


def predicates_of(component: Component) -> Iterator[str]:
    """The predicates that a component itself declares."""
    for clause in component.clauses:
        if isinstance(clause, Declaration):
            yield from clause.predicates
        elif isinstance(clause, DeltaDeclaration):
            yield clause.name


class Scopes:
    """All components of a program."""

    def __init__(self, clauses: Sequence[Clause]) -> None:
        self._globals = [clause for clause in clauses if isinstance(clause, Component)]
        self._enclosing: dict[int, Component | None] = {}  # by id: two components may read alike
        for component in self._globals:
            self._enter(component, None)

    def _enter(self, component: Component, enclosing: Component | None) -> None:
        self._enclosing[id(component)] = enclosing
        for inner in component.clauses:
            if isinstance(inner, Component):
                self._enter(inner, component)

    def names(self) -> list[str]:
        """The components of the whole program."""
        return [component.type.name for component in self._globals]

    def enclosing(self, component: Component) -> Component | None:
        return self._enclosing[id(component)]

    def find(self, name: str, scope: Component | None, binding: Binding) -> Component | None:
        """The component that `name` means in the body of `scope` (None: outside of all)."""
        return self._find(binding.get(name, name), scope, binding, frozenset())

    def _find(self, name: str, scope: Component | None, binding: Binding, seen: frozenset[int]) -> Component | None:
        while scope is not None and id(scope) not in seen:
            seen |= {id(scope)}
            for clause in scope.clauses:
                if isinstance(clause, Component) and clause.type.name == name:
                    return clause
            enclosing = self.enclosing(scope)
            for base in scope.bases:
                inherited = self._find(binding.get(base.name, base.name), enclosing, binding, seen)
                if inherited is not None and (found := self._declared(name, inherited, binding, seen)):
                    return found
            scope = enclosing
        return next((component for component in self._globals if component.type.name == name), None)

    def _declared(self, name: str, base: Component, binding: Binding, seen: frozenset[int]) -> Component | None:
        """A component that is declared in a base or in one of its bases."""
        found = self._find(name, base, binding, seen)
        return found if found is not None and self.enclosing(found) is not None else None

    def bases(self, component: Component, binding: Binding) -> list[Component]:
        """All components from which one inherits, also itself if it does in a circle."""
        found: dict[int, Component] = {}
        waiting = [component]
        while waiting:
            for base in waiting.pop().bases:
                inherited = self.find(base.name, self.enclosing(component), binding)
                if inherited is not None and id(inherited) not in found:
                    found[id(inherited)] = inherited
                    waiting.append(inherited)
        return list(found.values())


def check_components(clauses: Sequence[Clause], scopes: Scopes, findings: Findings) -> None:
    """Report what is wrong with components and instantiations as they are written."""
    for clause in clauses:
        match clause:
            case Component():
                _check(clause, None, scopes, {}, findings)
            case Instantiation():
                _check_use(clause.component, clause.span, None, scopes, {}, findings)
            case Override():
                findings.add(clause.span, "`.override` stands outside of a component", "it says that a component's base does not count")
    _check_names(clauses, findings)


def _check(component: Component, enclosing: Component | None, scopes: Scopes, outer: Binding, findings: Findings) -> None:
    parameters = component.type.parameters
    binding = bound(outer, parameters, ["a parameter"] * len(parameters))  # which is no name
    for base in component.bases:
        _check_use(base, component.type.span, enclosing, scopes, binding, findings)
    bases = scopes.bases(component, outer)
    name, where = component.type.name, component.type.span
    if any(base is component for base in bases):
        findings.add(where, f"component `{name}` inherits from itself", "leave out one of the bases that lead back to it")
    _check_overrides(component, [base for base in bases if base is not component], findings)
    for clause in component.clauses:
        if isinstance(clause, Component):
            _check(clause, component, scopes, binding, findings)
        elif isinstance(clause, Instantiation):
            _check_use(clause.component, clause.span, component, scopes, binding, findings)


def _check_overrides(component: Component, bases: list[Component], findings: Findings) -> None:
    name, where, own = component.type.name, component.type.span, set(predicates_of(component))
    inherited = {predicate: base for base in bases for predicate in predicates_of(base)}
    for override in (clause for clause in component.clauses if isinstance(clause, Override)):
        predicate = override.predicate
        if predicate in own:
            message, hint = f"component `{name}` overrides `{predicate}`, which is its own", "only what a base declares can be overridden"
            findings.add(where, message, hint)
        elif predicate in inherited and not _is_overridable(inherited[predicate], predicate):
            hint = f"say so where it is declared, at {place(inherited[predicate].type.span)}: .decl {predicate}(…) overridable"
            findings.add(where, f"component `{name}` overrides `{predicate}`, which is not overridable", hint)


def _is_overridable(component: Component, predicate: str) -> bool:
    for clause in component.clauses:
        if isinstance(clause, Declaration) and predicate in clause.predicates:
            return "overridable" in clause.qualifiers
    return True


def _check_use(use: ComponentType, span: Span, scope: Component | None, scopes: Scopes, binding: Binding, findings: Findings) -> None:
    if use.name in binding:
        return  # what it stands for is known where the component is instantiated
    component = scopes.find(use.name, scope, binding)
    if component is None:
        report_unknown_component(use.name, span, scopes, findings)
    elif len(component.type.parameters) != len(use.parameters):
        wanted = len(component.type.parameters)
        hint = f"it takes {wanted or 'no'} parameter{'s' * (wanted != 1)}, and {len(use.parameters) or 'none'} is given here"
        if len(use.parameters) > 1:
            hint = hint.replace(" is given", " are given")
        findings.add(span, f"wrong number of type parameters for component `{use.name}`", hint)


def report_unknown_component(name: str, span: Span, scopes: Scopes, findings: Findings) -> None:
    hint = did_you_mean(name, scopes.names()) or "no `.comp` of that name can be seen from here"
    findings.add(span, f"unknown component `{name}`", hint)


def _check_names(clauses: Sequence[Clause], findings: Findings) -> None:
    """Components and instances share their names with types and predicates."""
    taken: dict[str, Span] = {}
    for clause in clauses:
        if isinstance(clause, TYPES):
            taken.setdefault(clause.name, clause.span)
        elif isinstance(clause, Declaration):
            for name in clause.predicates:
                taken.setdefault(name, clause.span)
    for kind in (Component, Instantiation):
        for clause in clauses:
            if not isinstance(clause, kind):
                continue
            name, where = (clause.type.name, clause.type.span) if isinstance(clause, Component) else (clause.name, clause.span)
            if name in taken:
                findings.add(where, f"the name `{name}` is taken", f"`{name}` is something else at {place(taken[name])}")
            else:
                taken[name] = where
