"""Given rows and derived rows never share a predicate: the given rows of a derived predicate p lie in `p@base`.

A predicate is derived if it has a rule, is one of an aggregate or an equivalence. Every derived predicate that is not hidden has a base,
because a transaction may give it rows even where the text gives none; a core rule copies the base, so that given and derived rows are
counted alike. Of a predicate on demand, each version takes from the base what is asked of it.
"""

from __future__ import annotations

from dataclasses import replace

from datalog.ir.core import ALL, BASE, CoreAtom, CoreRule, Predicate, Row, Type
from datalog.ir.formulas import Constant, Program
from datalog.ir.text import format_signature
from datalog.rewrite.supersets import SUPERSET
from datalog.syntax.tree import NOWHERE


def separate_facts(program: Program) -> tuple[dict[str, Predicate], list[CoreRule], dict[str, list[Row]]]:
    """All predicates of the program, bases among them; the copying rules; and the facts of each given predicate."""
    derived = {rule.heads[0].predicate for rule in program.rules} | program.equivalences.keys()
    derived |= program.demanded.keys()
    derived |= program.guard.predicates | {name + ALL for name in program.signatures if name + ALL in program.signatures}
    for aggregate in program.aggregates:
        derived |= {aggregate.head, aggregate.source, aggregate.needs}
    derived |= {numbering.head for numbering in program.numberings}
    facts: dict[str, dict[Row, None]] = {}
    for fact in program.facts:
        row = tuple(term.value for term in fact.terms if isinstance(term, Constant))
        facts.setdefault(fact.predicate, {})[row or (0,)] = None
    predicates: dict[str, Predicate] = {}
    copies: list[CoreRule] = []
    rows: dict[str, list[Row]] = {}
    for name, signature in program.signatures.items():
        base = name + BASE if name in derived and not signature.hidden and not signature.delta_of else ""
        predicates[name] = Predicate(
            name, signature.attributes, signature.types, name in derived, signature.hidden, base, signature.functional, signature.choices
        )
        if base:
            predicates[base] = Predicate(base, signature.attributes, signature.types, False, hidden=True, functional=signature.functional)
            text = f"the given rows of {format_signature(signature)}"
            if name not in program.demanded:  # its versions take what is asked of them (`datalog.rewrite.demand`)
                copies.append(_copy(replace(predicates[name], name=name + ALL if name + ALL in program.signatures else name), base, text))
            if name + SUPERSET in program.signatures:
                copies.append(_copy(replace(predicates[name], name=name + SUPERSET), base, text))
        if name in facts:
            rows[base or name] = list(facts[name])
    return predicates, copies, rows


def _copy(predicate: Predicate, base: str, text: str) -> CoreRule:
    """p(x̄) ← p@base(x̄)"""
    names, types = (("=0",), (Type.NUMBER,)) if predicate.nullary else (predicate.attributes, predicate.types)
    columns = tuple(range(len(names)))
    atom = CoreAtom(base, columns, False, NOWHERE)
    return CoreRule(predicate.name, columns, names, types, (atom,), (), (), NOWHERE, text)
