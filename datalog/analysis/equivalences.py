"""Which predicates are equivalences, by the qualifier `eqrel`, and that a declaration says only once how its rows are kept."""

from __future__ import annotations

from datalog.analysis.findings import Findings
from datalog.syntax.tree import Declaration, Program, Span

EQREL = "eqrel"
_KEPT = ("btree", "brie", EQREL)
_HINT = "an equivalence has two columns of one type: .decl same(x: T, y: T) eqrel"


def equivalences(program: Program, findings: Findings) -> dict[str, Span]:
    """The names of all equivalences with the places of their declarations; wrong declarations are reported."""
    found: dict[str, Span] = {}
    for clause in program.clauses:
        if isinstance(clause, Declaration):
            _say_once(clause, findings)
            if EQREL in clause.qualifiers and _is_binary(clause, findings):
                found.update(dict.fromkeys(clause.predicates, clause.span))
    return found


def _say_once(declaration: Declaration, findings: Findings) -> None:
    said = ""
    for word in declaration.qualifiers:
        if said and word in (*_KEPT, "btree_delete"):
            findings.add(declaration.span, f"`{word}` after `{said}`", "one of btree, brie, btree_delete and eqrel says how rows are kept")
            return
        said = word if word in _KEPT else said


def _is_binary(declaration: Declaration, findings: Findings) -> bool:
    names, types = ", ".join(declaration.predicates), [attribute.type for attribute in declaration.attributes]
    if declaration.functional:
        findings.add(declaration.span, f"the equivalence `{names}` has a value", _HINT)
    elif len(types) != 2:
        findings.add(declaration.span, f"the equivalence `{names}` is not binary", _HINT)
    elif types[0] != types[1]:
        findings.add(declaration.span, f"the columns of the equivalence `{names}` have different types, {types[0]} and {types[1]}", _HINT)
    else:
        return True
    return False
