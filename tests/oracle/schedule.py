"""An order in which each literal of a flat conjunction finds its variables bound."""

from __future__ import annotations

from functools import lru_cache

from tests.oracle.rules import Atom, Compare, Fold, Literal, Not, Op, Or, Term, Test, Var, computes, mentions
from tests.oracle.values import INVERTIBLE


@lru_cache(maxsize=4096)
def schedule(body: tuple[Literal, ...], names: tuple[str, ...], wanted: frozenset[str]) -> tuple[Literal, ...]:
    """The literals such that computations come as late as they can. Raises ValueError if one of `wanted` remains unbound."""
    bound, waiting, order = set(names), list(body), []
    while waiting:
        ready = [literal for literal in waiting if _is_ready(literal, bound, waiting, wanted)]
        if not ready:
            raise ValueError(f"not range restricted: {waiting}")
        chosen = min(ready, key=lambda literal: (computes(literal), *_cost(literal, bound)))
        waiting.remove(chosen)
        order.append(chosen)
        if not isinstance(chosen, Not):
            bound.update(mentions(chosen))
    if not wanted <= bound:
        raise ValueError(f"unbound: {wanted - bound}")
    return tuple(order)


def _is_ready(literal: Literal, bound: set[str], waiting: list[Literal], wanted: frozenset[str]) -> bool:
    match literal:
        case Atom(_, terms):
            own = {term.name for term in terms if isinstance(term, Var)}
            return all(set(mentions(term)) <= bound | own for term in terms)
        case Compare(symbol, left, right):
            unbound = [side for side in (left, right) if not set(mentions(side)) <= bound]
            return not unbound or (symbol == "=" and len(unbound) == 1 and _is_solvable(unbound[0], bound))
        case Not():
            outside = wanted.union(*(mentions(other) for other in waiting if other is not literal and not isinstance(other, Not)))
            return set(mentions(literal)) & outside <= bound
        case Fold():
            return literal.grouping or set(literal.groups) <= bound
        case Or() | Test():
            raise AssertionError("a literal that is not flat, or outside the normal form")


def _is_solvable(term: Term, bound: set[str]) -> bool:
    """Whether the value of `term` tells that of its only unbound variable."""
    match term:
        case Var():
            return True
        case Op(name, arguments, type):
            unbound = [argument for argument in arguments if not set(mentions(argument)) <= bound]
            return name in INVERTIBLE and type != "float" and len(unbound) == 1 and _is_solvable(unbound[0], bound)
    return False


def _cost(literal: Literal, bound: set[str]) -> tuple[int, int]:
    if isinstance(literal, Compare):
        # A check costs less than a binding that would have to be checked.
        return 0, sum(1 for name in mentions(literal) if name not in bound)
    if isinstance(literal, Atom):
        return 1, sum(1 for term in literal.terms if not set(mentions(term)) <= bound)
    return 2, 0
