"""Helper predicates: their names, and the guard that makes a helper's rule range restricted.

A helper stands for a part of a rule's body, as a predicate of the variables that the part shares with the rest of the
rule. Where the part does not bind one of them itself, literals of the rest are put beside it in the helper's rule: the
guard. That changes no answer, for the helper is only asked about rows for which the rest of the body, so the guard, holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from datalog.analysis.quantify import quantify
from datalog.analysis.safety import bound_by, unbound_uses
from datalog.ir.formulas import Atom, Comparison, Conjunction, Disjunction, Literal, Negation, Rule, Signature, Variable
from datalog.ir.occurrences import literal_atoms, literal_variables, may_fail
from datalog.rewrite.supersets import is_group
from datalog.syntax.tree import Span


class Helpers:
    """Gives helper predicates their names, unique in a program, and keeps their signatures."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)
        self.signatures: dict[str, Signature] = {}

    def declare(self, owner: str, kind: str, columns: Sequence[Variable], span: Span) -> Signature:
        """A new hidden predicate `OWNER@KINDn`, one column a variable."""
        number = 1
        while (name := f"{owner}@{kind}{number}") in self._taken:
            number += 1
        self._taken.add(name)
        types = tuple(variable.type for variable in columns)
        names = tuple(variable.name for variable in columns)
        signature = Signature(name, names, types, tuple(type_.value for type_ in types), False, hidden=True, span=span)
        self.signatures[name] = signature
        return signature


def helper_rule(
    head: Atom, part: Sequence[Literal], context: Sequence[Literal], avoid: frozenset[str], text: str, strict: bool = False
) -> Rule:
    """The rule `head ← guard, part`, the guard taken from `context` and as small as it can be.

    Where a computation may fail, and where it is to be `strict`, the guard is as large as it can be: a computation that fails on
    rows which the rest of the body excludes is no error. Literals that mention a predicate in `avoid` come into the guard only if
    nothing else binds what they bind, so that a helper takes part in a recursion only if it must.
    """
    wanted = frozenset(variable.name for variable in literal_variables(head))
    guard = sorted(_usable(context), key=lambda literal: _reluctance(literal, avoid))
    assert _restricted(wanted, [*guard, *part])
    for literal in reversed(guard):
        fewer = without_unbound([other for other in guard if other is not literal], part)
        if _restricted(wanted, [*fewer, *part]):
            guard = fewer
    if strict or any(map(may_fail, (*guard, *part))):
        guard = _all_that_holds(guard, part, context, avoid)
    return quantify([head], Conjunction((), (*guard, *part), head.span), head.span, text)


def can_stand_alone(columns: Iterable[Variable], part: Literal, context: Sequence[Literal]) -> bool:
    """Whether there is a guard in `context` with which `part` can be a helper over `columns`."""
    return _restricted(frozenset(column.name for column in columns), [*_usable(context), part])


def shared_variables(part: Literal, elsewhere: frozenset[str]) -> tuple[Variable, ...]:
    """The variables of `part` that occur elsewhere in the rule, in order of appearance."""
    found: dict[str, Variable] = {}
    for variable in literal_variables(part):
        if variable.name in elsewhere:
            found.setdefault(variable.name, variable)
    return tuple(found.values())


def _restricted(wanted: frozenset[str], literals: Sequence[Literal]) -> bool:
    """Whether the literals bind all that is wanted and all that they use themselves. Their ∃ blocks are those of the whole rule,
    so a variable of the rule never passes for one of a negated group in it. That may be a plain atom by now, with variables of its own."""
    return wanted <= bound_by(literals, frozenset()) and all(use.local for use in unbound_uses(literals, frozenset()))


def _all_that_holds(guard: Sequence[Literal], part: Sequence[Literal], context: Sequence[Literal], avoid: frozenset[str]) -> list[Literal]:
    """The guard with all of the context that can stand beside it, tests included, but for what is to be avoided."""

    def may_stand(literal: Literal) -> bool:
        # A group would need a helper of its own in each helper that it guards.
        return not is_group(literal) and not any(atom.predicate in avoid for atom, _ in literal_atoms(literal))

    kept = [literal for literal in context if any(literal is needed for needed in guard) or may_stand(literal)]
    return without_unbound(kept, part)


def _usable(context: Sequence[Literal]) -> list[Literal]:
    """The largest part of the context that can be a guard: literals that may bind, without those that use what nothing there binds."""
    return without_unbound([literal for literal in context if _may_guard(literal)], ())


def without_unbound(literals: list[Literal], others: Sequence[Literal]) -> list[Literal]:
    """The largest part of `literals` that is range restricted beside `others`."""
    while True:
        bound = bound_by([*literals, *others], frozenset())
        fewer = [literal for literal in literals if not any(unbound_uses([literal], bound))]
        if len(fewer) == len(literals):
            return literals
        literals = fewer


def _may_guard(literal: Literal) -> bool:
    return not isinstance(literal, Negation) and not (isinstance(literal, Comparison) and literal.operator != "=")


def _reluctance(literal: Literal, avoid: frozenset[str]) -> tuple[bool, bool]:
    return any(atom.predicate in avoid for atom, _ in literal_atoms(literal)), isinstance(literal, Disjunction)
