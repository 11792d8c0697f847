"""Choice domains, subsumptions, `debug_delta`, `.limitsize` and `recursive_iteration_cnt()`: what is no matter of rules alone.

Outside of recursion all of it says the same as rules with negations and aggregates, which are maintained in small steps. For

    .decl p(x: number, y: number) choice-domain x          p(x, y1) <= p(x, y2) :- b(y1, y2).

what p's rules derive and what it is given becomes `p@all`, and of that stays

    p@chosen(x, y) ← p@all(x, y), y = min y' : { p@all(x, y') }         of the rows of a key the least by value
    p@subsumed(x, y1) ← p@chosen(x, y1), p@chosen(x, y2), b(y1, y2), y1 ≠ y2
    p(x, y) ← p@chosen(x, y), !p@subsumed(x, y)

A subsumption that says no more than that one column is less, or greater, keeps the extremes of groups, as an aggregate:

    p(x, _, c1) <= p(x, _, c2) :- c2 < c1.     becomes     p(x, y, c) ← p@all(x, y, c), c = min c' : { p@all(x, _, c') }

The body of a subsumption that mentions p itself means p before anything leaves it. The rows of `debug_delta(p)` are those of p, all of
round 0, and `recursive_iteration_cnt()` is 0 in rules that are not recursive.

What is left is a guard (`datalog.ir.core.Guard`): recursion through any of this, and choice domains of several keys, or with values
that have parts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from datalog.analysis.dependencies import component_of, recurses, recursion_of, rule_edges, successors
from datalog.analysis.quantify import quantify
from datalog.ir.core import ALL, CHOSEN, ROUND, SUBSUMED, Guard, Type
from datalog.ir.formulas import (
    Aggregation,
    Atom,
    Comparison,
    Conjunction,
    Constant,
    Disjunction,
    Literal,
    Negation,
    Program,
    Rule,
    Signature,
    Truth,
    Variable,
)
from datalog.ir.structures import Structure
from datalog.rewrite.extremes import Extreme, extreme_of
from datalog.syntax.tree import NOWHERE


def lower_guards(program: Program) -> Program:
    """The program with rules for what rules can say, and with the guard that the rest needs."""
    limits = _limits(program)
    if ROUND not in program.signatures and not limits and not any(map(_is_special, program.signatures.values())):
        return program
    lowering = _Lowering(_without_idle(program), limits)
    lowering.run()
    return replace(program, rules=tuple(lowering.rules), signatures=lowering.signatures, guard=lowering.guard)


def _is_special(signature: Signature) -> bool:
    return bool(signature.choices or signature.delta_of) or signature.name.endswith(SUBSUMED)


def _without_idle(program: Program) -> Program:
    """The program without rules that say `false`, which a subsumption of a row by itself is; so they are no part of a recursion."""
    rules = tuple(rule for rule in program.rules if Truth(False) not in rule.body.literals)
    dominated = {rule.heads[0].predicate for rule in rules}
    signatures = {name: one for name, one in program.signatures.items() if not name.endswith(SUBSUMED) or name in dominated}
    return replace(program, rules=rules, signatures=signatures)


def _limits(program: Program) -> dict[str, int]:
    """The least number of each `.limitsize`."""
    found: dict[str, int] = {}
    for directive in program.directives:
        for name in directive.predicates if directive.kind == "limitsize" else ():
            count = dict(directive.parameters).get("n")
            if isinstance(count, int):
                found[name] = min(count, found.get(name, count))
    return found


@dataclass(slots=True)
class _Lowering:
    """The rules and signatures as far as they have been rewritten."""

    program: Program
    limits: Mapping[str, int]
    rules: list[Rule] = field(default_factory=list)
    signatures: dict[str, Signature] = field(default_factory=dict)
    guard: Guard = field(default_factory=Guard)
    _inputs: dict[str, str] = field(default_factory=dict)  # where what is derived for a predicate goes
    _dropped: set[str] = field(default_factory=set)  # predicates of dominated rows that nothing need be known of
    _groups: dict[str, frozenset[str]] = field(default_factory=dict)
    _recursive: set[str] = field(default_factory=set)

    def run(self) -> None:
        self.signatures = dict(self.program.signatures)
        self._find_recursion()
        choices: dict[str, tuple[tuple[int, ...], ...]] = {}
        subsumed: dict[str, str] = {}
        deltas: dict[str, str] = {}
        for name, signature in self.program.signatures.items():
            if signature.delta_of and name in self._recursive:
                deltas[name] = signature.delta_of
            elif signature.delta_of:
                self._copy_delta(signature)
            elif name in self._recursive:
                if signature.choices:
                    choices[name] = signature.choices
                if name + SUBSUMED in self.signatures:
                    subsumed[name] = name + SUBSUMED
            elif signature.choices or name + SUBSUMED in self.signatures:
                choices.update(self._in_steps(signature))
        kept = [rule for rule in self.program.rules if rule.heads[0].predicate not in self._dropped]
        self.rules = [*map(self._rule, kept), *self.rules]
        limits = {name: limit for name, limit in self.limits.items() if name in self._recursive}
        counted = {head.predicate for rule in self.rules if _counts(rule) for head in rule.heads}
        rounds = frozenset().union(
            *(self._groups[name] for name in self._recursive & {*choices, *subsumed, *limits, *deltas, *deltas.values(), *counted})
        )
        self.guard = Guard(choices, subsumed, limits, deltas, rounds=rounds)

    def _find_recursion(self) -> None:
        """Which predicates recurse. That a subsumption mentions its own predicate is no recursion."""
        edges = []
        for rule in self.program.rules:
            own = rule.heads[0].predicate.removesuffix(SUBSUMED) if rule.heads[0].predicate.endswith(SUBSUMED) else ""
            edges += [edge for edge in rule_edges((rule,)) if edge[1] != own]
        edges += [(one.name, one.delta_of, "", one.span) for one in self.program.signatures.values() if one.delta_of]
        self._groups = component_of(self.program.signatures, edges)
        following = successors(edges)
        self._recursive = {name for name, group in self._groups.items() if recurses(name, group, following)}
        for name, signature in self.program.signatures.items():
            if signature.delta_of in self._recursive:
                self._recursive.add(name)

    # --- outside of recursion ---------------------------------------------------------------------------------------------

    def _copy_delta(self, delta: Signature) -> None:
        """d(x̄, 0) ← p(x̄)"""
        whose = self.signatures[delta.delta_of]
        columns = whose.variables
        head = Atom(delta.name, (*columns, Constant(0, Type.UNSIGNED)), delta.span)
        self.rules.append(quantify([head], Conjunction((), (Atom(whose.name, columns, delta.span),), delta.span), delta.span))

    def _in_steps(self, signature: Signature) -> dict[str, tuple[tuple[int, ...], ...]]:
        """Let the predicate be what is left of its rows; returns the choice domains that only a guard can see to."""
        name, dominated = signature.name, signature.name + SUBSUMED
        every = self._inputs[name] = self._hidden(signature, ALL)
        left: dict[str, tuple[tuple[int, ...], ...]] = {}
        if signature.choices and not _is_one_minimum(signature):
            left[name if dominated not in self.signatures else every] = signature.choices
        columns = signature.variables
        dominating = [rule for rule in self.program.rules if rule.heads[0].predicate == dominated]
        extreme = extreme_of(dominating[0]) if len(dominating) == 1 and not signature.choices else None
        if extreme is not None:  # then nothing need be known of dominated rows
            self._add(signature, name, [Atom(every, columns), extreme.literal(every, columns)], dominating[0].text)
            self._dropped.add(dominated)
            del self.signatures[dominated]
            return {}
        if signature.choices and not left:
            chosen = self._hidden(signature, CHOSEN) if dominated in self.signatures else name
            self._add(signature, chosen, [Atom(every, columns), *_least(every, columns, signature.choices[0])])
            every = chosen
        if dominated in self.signatures:
            self._add(signature, name, [Atom(every, columns), Negation(Conjunction((), (Atom(dominated, columns),)))])
            self._inputs[dominated] = every
        elif left:
            del self._inputs[name], self.signatures[every]
        return left

    def _hidden(self, signature: Signature, suffix: str) -> str:
        name = signature.name + suffix
        self.signatures[name] = replace(signature, name=name, hidden=True, choices=())
        return name

    def _add(self, signature: Signature, head: str, body: list[Literal], text: str = "") -> None:
        columns = signature.variables
        text = text or f"what is left of {signature.name}({', '.join(signature.attributes)})"
        self.rules.append(quantify([Atom(head, columns)], Conjunction((), tuple(body)), NOWHERE, text))

    # --- the program's own rules --------------------------------------------------------------------------------------------

    def _rule(self, rule: Rule) -> Rule:
        owner = rule.heads[0].predicate
        if owner.endswith(SUBSUMED):
            own = owner.removesuffix(SUBSUMED)
            if owner in self._inputs:
                body = _mapped(rule.body, lambda atom: replace(atom, predicate=self._inputs[owner]) if atom.predicate == own else atom)
                rule = quantify(rule.heads, body, rule.span, rule.text)
            return rule
        heads = tuple(replace(head, predicate=self._inputs.get(head.predicate, head.predicate)) for head in rule.heads)
        body = rule.body
        if ROUND in self.signatures and not self._is_recursive(rule):
            body = _mapped(
                body,
                lambda atom: Comparison("=", atom.terms[0], Constant(0, Type.UNSIGNED), atom.span) if atom.predicate == ROUND else atom,
            )
        return rule if body is rule.body and heads == rule.heads else quantify(heads, body, rule.span, rule.text)

    def _is_recursive(self, rule: Rule) -> bool:
        recursion = recursion_of(rule, self._groups)
        return any(predicate in recursion & self._recursive for _, predicate, _, _ in rule_edges((rule,)))


def _counts(rule: Rule) -> bool:
    """Whether a rule reads the number of the round."""
    return any(predicate == ROUND for _, predicate, _, _ in rule_edges((rule,)))


def _is_one_minimum(signature: Signature) -> bool:
    """Whether there is one key, whose least row is found by aggregates over single columns."""
    if len(signature.choices) > 1:
        return False
    return not any(isinstance(type_, Structure) for at, type_ in enumerate(signature.types) if at not in signature.choices[0])


def _least(name: str, columns: tuple[Variable, ...], key: tuple[int, ...]) -> list[Literal]:
    """For each column that is not of the key: it is the least of the rows that agree in the key and in such columns before it."""
    found: list[Literal] = []
    fixed = set(key)
    for at in range(len(columns)):
        if at in fixed:
            continue
        found.append(Extreme("min", at, frozenset(fixed)).literal(name, columns))
        fixed.add(at)
    return found


def _mapped(conjunction: Conjunction, change: Callable[[Atom], Literal]) -> Conjunction:
    """The conj with other literals for its atoms, at any depth."""

    def literal(one: Literal) -> Literal:
        match one:
            case Atom():
                return change(one)
            case Negation() | Aggregation():
                return replace(one, body=_mapped(one.body, change))
            case Disjunction():
                return replace(one, branches=tuple(_mapped(branch, change) for branch in one.branches))
            case Conjunction():
                return _mapped(one, change)
            case _:
                return one

    return replace(conjunction, literals=tuple(map(literal, conjunction.literals)))
