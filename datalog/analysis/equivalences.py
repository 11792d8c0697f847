"""Which predicates are equivalences, by the qualifier `eqrel`."""

from __future__ import annotations

from datalog.analysis.findings import Findings
from datalog.syntax.tree import Declaration, Program, Span

EQREL = "eqrel"
_HINT = "an equivalence has two columns of one type: .decl same(x: T, y: T) eqrel"


def equivalences(program: Program, findings: Findings) -> dict[str, Span]:
    """The names of all equivalences with the places of their declarations; wrong declarations are reported."""
    found: dict[str, Span] = {}
    for clause in program.clauses:
        if isinstance(clause, Declaration) and EQREL in clause.qualifiers and _is_binary(clause, findings):
            found.update(dict.fromkeys(clause.predicates, clause.span))
    return found


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
