"""An atom of wildcards only asks whether there is any row: a hidden nullary predicate `NAME@some` answers that.

    p(x) ← q(x), !r(_, _)    becomes    p(x) ← q(x), !r@some(=0), =0 = 0    and    r@some(=0) ← r(c1, _), =0 = 0

Like every nullary predicate it is stored as one column that is always 0.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from datalog.ir.core import SOME, CoreAtom, CoreBinding, CoreRule, Predicate, Type, Value
from datalog.syntax.tree import NOWHERE


def ask_existence(
    rules: Iterable[CoreRule], predicates: dict[str, Predicate], prefix: str = "", rounds: Collection[str] = ()
) -> tuple[list[CoreRule], dict[str, Predicate]]:
    """The rules, with the rules of the helpers that they need, and the helpers' predicates. `prefix` begins the helpers' names.

    A helper would know a round later what the predicates `rounds`, whose rounds count, know: their atoms get a variable, but for
    negated ones, which are asked when all rounds are over."""
    helpers: dict[str, Predicate] = {}
    asking = list(rules)
    added: list[CoreRule] = []
    for at, rule in enumerate(asking):
        for atom in rule.atoms:
            if not _asks(atom):
                continue
            if atom.predicate in rounds and not atom.negated:
                asking[at] = _look(asking[at], atom, predicates[atom.predicate])
                continue
            name = f"{prefix}{atom.predicate}{SOME}"
            if name not in helpers:
                helpers[name] = Predicate(name, (), (), True, hidden=True)
                added.append(_helper_rule(name, predicates[atom.predicate]))
            asking[at] = _replace_atom(asking[at], atom, name)
    return asking + added, helpers


def _asks(atom: CoreAtom) -> bool:
    return all(column is None for column in atom.columns)


def _helper_rule(name: str, asked: Predicate) -> CoreRule:
    first = asked.attributes[0]
    atom = CoreAtom(asked.name, (0, *(None,) * (len(asked.types) - 1)), False, NOWHERE)
    zero = CoreBinding(1, Value(0, Type.NUMBER), NOWHERE)
    text = f"{name}() ← {asked.name}({', '.join([first, *'_' * (len(asked.types) - 1)])})"
    return CoreRule(name, (1,), (first, "=0"), (asked.types[0], Type.NUMBER), (atom,), (zero,), (), NOWHERE, text)


def _replace_atom(rule: CoreRule, atom: CoreAtom, name: str) -> CoreRule:
    zero = next((binding.variable for binding in rule.bindings if binding.expression == Value(0, Type.NUMBER)), None)
    if zero is None:
        zero = len(rule.variables)
        rule = replace(
            rule,
            variables=(*rule.variables, _unused("=0", rule.variables)),
            types=(*rule.types, Type.NUMBER),
            bindings=(*rule.bindings, CoreBinding(zero, Value(0, Type.NUMBER), atom.span)),
        )
    answer = replace(atom, predicate=name, columns=(zero,))
    return replace(rule, atoms=tuple(answer if other is atom else other for other in rule.atoms))


def _look(rule: CoreRule, atom: CoreAtom, asked: Predicate) -> CoreRule:
    """The rule with a variable for the first column of an atom of wildcards."""
    variable = len(rule.variables)
    looking = replace(atom, columns=(variable, *atom.columns[1:]))
    return replace(
        rule,
        variables=(*rule.variables, _unused("_1", rule.variables)),
        types=(*rule.types, asked.types[0]),
        atoms=tuple(looking if other is atom else other for other in rule.atoms),
    )


def _unused(name: str, names: Sequence[str]) -> str:
    while name in names:
        name += "'"
    return name
