"""A variable that occurs once in its rule, in a positive atom, becomes a wildcard: nobody asks for its value.

p(x) ← q(x, y), r(z)    becomes    p(x) ← q(x, _), r(_)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from datalog.ir.core import Apply, CoreAtom, CoreFilter, CoreRule, Expression, Reference, Value


def forget_singletons(rule: CoreRule) -> CoreRule:
    """The rule without variables that nothing but one column of one positive atom mentions."""
    uses = Counter(rule.head_columns)
    for atom in rule.atoms:
        uses.update(column for column in atom.columns if column is not None)
    for binding in rule.bindings:
        uses.update([binding.variable, *_references(binding.expression)])
    for test in rule.filters:
        uses.update([*_references(test.left), *_references(test.right)])
    in_positive = {column for atom in rule.atoms if not atom.negated for column in atom.columns}
    in_head = set(rule.head_columns)
    kept = [at for at in range(len(rule.variables)) if uses[at] > 1 or at in in_head or at not in in_positive]
    return renumber(rule, kept)


def renumber(rule: CoreRule, kept: list[int]) -> CoreRule:
    """The rule with the variables `kept` only, in that order; the others stand in atoms only and become wildcards there."""
    number = {old: new for new, old in enumerate(kept)}

    def expression(old: Expression) -> Expression:
        match old:
            case Reference():
                return Reference(number[old.variable], old.type)
            case Value():
                return old
            case Apply():
                return replace(old, arguments=tuple(expression(argument) for argument in old.arguments))

    return replace(
        rule,
        head_columns=tuple(number[column] for column in rule.head_columns),
        variables=tuple(rule.variables[old] for old in kept),
        types=tuple(rule.types[old] for old in kept),
        atoms=tuple(_atom(atom, number) for atom in rule.atoms),
        bindings=tuple(replace(old, variable=number[old.variable], expression=expression(old.expression)) for old in rule.bindings),
        filters=tuple(CoreFilter(old.operator, expression(old.left), expression(old.right), old.span) for old in rule.filters),
    )


def _atom(atom: CoreAtom, number: dict[int, int]) -> CoreAtom:
    return replace(atom, columns=tuple(None if column is None else number.get(column) for column in atom.columns))


def _references(expression: Expression) -> Iterator[int]:
    match expression:
        case Reference():
            yield expression.variable
        case Apply():
            for argument in expression.arguments:
                yield from _references(argument)
        case Value():
            return
