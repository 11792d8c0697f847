"""Variable orders that somebody asked for: by `.plan` in the program, or by name (`order.RULE` of `--set`).

What is asked for is an order of variables. A delta plan begins with its given atom's variables whatever is asked, because
its rows come as prefixes; the others follow in the order that was asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from datalog.errors import SettingError
from datalog.ir.core import CoreProgram, CoreRule, ForcedOrder
from datalog.plan.order import computes, joined_variables, standings, variables_of

Orders = Mapping[str | int, Sequence[str]]


def force_orders(program: CoreProgram, orders: Orders) -> CoreProgram:
    """The program with the order of variables that `orders` gives for rules: by number from 1, or by head where it has one rule.

    An order names all variables of its rule, but for those that stand for constants and expressions or repeat another one.
    Raises SettingError for an order that does not fit.
    """
    if not orders:
        return program
    rules = list(program.rules)
    for asked, names in orders.items():
        number = _rule_number(program, str(asked))
        before = rules[number].forced
        if before is not None and before.by == "--set":
            raise SettingError(f"order.{asked}: rule {number + 1} has two orders")
        rules[number] = _ordered(rules[number], f"order.{asked}", list(names))
    return replace(program, rules=tuple(rules))


def _rule_number(program: CoreProgram, asked: str) -> int:
    if asked.isdecimal():
        if not 1 <= int(asked[:9]) <= len(program.rules):
            raise SettingError(f"order.{asked}: there is no rule {asked}; `datalog plan` shows 1 to {len(program.rules)}")
        return int(asked) - 1
    predicate = program.predicates.get(asked)
    found = [
        number
        for number, rule in enumerate(program.rules)
        if rule.head == asked and [atom.predicate for atom in rule.atoms] != [predicate.base if predicate else ""]
    ]
    if not found:
        raise SettingError(f"order.{asked}: no rule derives {asked}")
    if len(found) > 1:
        numbers = ", ".join(str(number + 1) for number in found)
        raise SettingError(f"order.{asked}: {asked} has the rules {numbers}; give the number of one")
    return found[0]


def _ordered(rule: CoreRule, setting: str, names: list[str]) -> CoreRule:
    for place, name in enumerate(names):
        if name not in rule.variables:
            raise SettingError(f"{setting}: the rule has no variable {name}; it joins {_listed(_to_name(rule))}")
        if name in names[:place]:
            raise SettingError(f"{setting}: {name} comes twice")
    missing = [name for name in _to_name(rule) if name not in names]
    if missing:
        raise SettingError(f"{setting}: {_listed(missing)} {'is' if len(missing) == 1 else 'are'} missing")
    wanted = tuple(rule.variables.index(name) for name in names)
    deltas = dict.fromkeys(range(len(rule.atoms)), wanted)
    try:
        forced_order(rule, wanted, exact=True)
    except Unorderable as error:
        variables = [rule.variables[variable] for variable in error.variables]
        if error.left_over:
            raise SettingError(f"{setting}: {_listed(variables)} {'is' if len(variables) == 1 else 'are'} missing") from None
        operands = {
            rule.variables[operand]
            for binding in rule.bindings
            if binding.variable == error.variables[0]
            for operand in variables_of(binding.expression)
        }
        raise SettingError(f"{setting}: {variables[0]} comes before {_listed(sorted(operands))}, from which it is computed") from None
    return replace(rule, forced=ForcedOrder("--set", wanted, deltas, exact=True))


def _to_name(rule: CoreRule) -> list[str]:
    """The variables that an order must name: those that a program can name, and those that nothing computes."""
    computed = {binding.variable for binding in rule.bindings}
    return [
        name for variable, name in enumerate(rule.variables) if variable not in computed or not (name.startswith("=") or name.endswith("'"))
    ]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"


def forced_order(rule: CoreRule, wanted: Sequence[int], exact: bool, first: Sequence[int] = (), without: int = -1) -> tuple[int, ...]:
    """The order that begins with `first` and then follows `wanted`; `exact` as in `ForcedOrder`, `without` as in `variable_order`.

    Variables that are not wanted are computed as soon as they can be. Raises Unorderable where the next wanted one has no
    value yet, and where variables are left over that nothing computes.
    """
    order = list(dict.fromkeys(first))
    joined = joined_variables(rule, without)
    operands = [variables_of(binding.expression) for binding in rule.bindings]
    standing = standings(rule)
    waiting = [variable for variable in wanted if variable not in order]
    while len(order) < len(rule.variables):
        computable = {
            binding.variable
            for number, binding in enumerate(rule.bindings)
            if operands[number] <= set(order) and computes(rule, number, joined)
        } - set(order)
        early = computable.difference(wanted) if exact else computable
        if early:
            chosen = min(early, key=lambda v: standing[v])
        elif not waiting:
            raise Unorderable(tuple(v for v in range(len(rule.variables)) if v not in order), left_over=True)
        elif waiting[0] in joined or waiting[0] in computable:
            chosen = waiting[0]
        else:
            raise Unorderable((waiting[0],), left_over=False)
        waiting = [variable for variable in waiting if variable != chosen]
        order.append(chosen)
    return tuple(order)


class Unorderable(Exception):
    """A forced order that cannot be followed: `variables` are left over, or the one has no value at its turn."""

    def __init__(self, variables: tuple[int, ...], left_over: bool) -> None:
        super().__init__(variables, left_over)
        self.variables, self.left_over = variables, left_over
