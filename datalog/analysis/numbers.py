"""Where `autoinc()` may stand: in a rule that does not recurse, outside of negated groups and of aggregates."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping

from datalog.analysis.dependencies import recursion_of
from datalog.analysis.findings import Findings
from datalog.ir.formulas import Aggregation, Atom, Comparison, Conjunction, Disjunction, Literal, Negation, Operation, Rule, Term
from datalog.ir.occurrences import literal_atoms
from datalog.ir.primitives import AUTOINC
from datalog.syntax.tree import Span

_BINDINGS = "it numbers the bindings of its rule"


def check_numbers(rules: Iterable[Rule], groups: Mapping[str, frozenset[str]], facts: Container[Span], findings: Findings) -> None:
    """Report each `autoinc()` that can have no number; `groups` are the components of predicates that depend on each other, `facts` the
    places of clauses that are facts."""
    for rule in rules:
        calls = list(_calls((*rule.heads, rule.body), ""))
        recursion = recursion_of(rule, groups) if calls else frozenset()
        recursive = any(atom.predicate in recursion for atom, _ in literal_atoms(rule.body))
        for call, within in calls:
            if within:
                findings.add(call.span, f"`{AUTOINC}()` within {within}", f"{_BINDINGS}; put it outside")
            elif recursive:
                hint = f"{_BINDINGS}, of which there may be no end then; number the rows in a rule of their own"
                findings.add(call.span, f"`{AUTOINC}()` in a recursive rule", hint)
            elif rule.span in facts:
                findings.add(call.span, f"`{AUTOINC}()` in a fact", f"{_BINDINGS}, and a fact has none")


def check_inline_numbers(rules: Iterable[Rule], inline: Container[str], findings: Findings) -> None:
    """Report each `autoinc()` in a rule that is to stand in others, and in an atom that a rule is to stand for."""
    hint = "it would number the bindings of each rule in whose place it stands; leave out `inline`"
    for rule in rules:
        atoms = [atom for atom, _ in literal_atoms(rule.body) if atom.predicate in inline]
        inlined = [head for head in rule.heads if head.predicate in inline]
        for call, _ in _calls((*rule.heads, rule.body) if inlined else atoms, ""):
            name = (inlined or atoms)[0].predicate
            findings.add(call.span, f"`{AUTOINC}()` with the inline predicate `{name}`", hint)


def refuse_numbers(body: Conjunction, findings: Findings) -> None:
    """Report each `autoinc()` in a query."""
    for call, _ in _calls((body,), ""):
        findings.add(call.span, f"`{AUTOINC}()` in a query", f"{_BINDINGS}, and a query is none; write a rule")


def _calls(literals: Iterable[Literal], within: str) -> Iterator[tuple[Operation, str]]:
    for literal in literals:
        match literal:
            case Atom(terms=terms):
                for term in terms:
                    yield from _in_term(term, within)
            case Comparison(left=left, right=right):
                yield from _in_term(left, within)
                yield from _in_term(right, within)
            case Negation(body=Conjunction(literals=(Atom() as atom,))):
                yield from _calls((atom,), within)
            case Negation(body=body):
                yield from _calls((body,), within or "a negated group")
            case Disjunction(branches=branches):
                yield from _calls(branches, within)
            case Conjunction(literals=inner):
                yield from _calls(inner, within)
            case Aggregation(arguments=arguments, body=body):
                for term in arguments:
                    yield from _in_term(term, "an aggregate")
                yield from _calls((body,), "an aggregate")


def _in_term(term: Term, within: str) -> Iterator[tuple[Operation, str]]:
    if isinstance(term, Operation):
        if term.name == AUTOINC:
            yield term, within
        for argument in term.arguments:
            yield from _in_term(argument, within)
