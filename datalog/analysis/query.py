"""A query's body, analysed as the body of a rule `?query(x̄) ← body` against the predicates of a program.

x̄ are the query's variables in order of first appearance, but for those that occur in negated groups or in aggregates only:
those are their own. The same rules hold as in a program, with the same diagnostics; an undeclared predicate is always unknown.
"""

from __future__ import annotations

from dataclasses import replace

from datalog.analysis.desugar import Primitives, desugar_body
from datalog.analysis.findings import Findings
from datalog.analysis.forms import check_terms
from datalog.analysis.inline import Inlining
from datalog.analysis.lattices import lattices_in_query
from datalog.analysis.numbers import refuse_numbers
from datalog.analysis.quantify import quantify
from datalog.analysis.rounds import refuse_rounds
from datalog.analysis.safety import check_safety, hidden_variables
from datalog.analysis.signatures import Columns, check_arity, report_unknown
from datalog.analysis.translate import Translation
from datalog.analysis.type_system import Types
from datalog.analysis.types import Inference
from datalog.analysis.walk import atoms
from datalog.ir import formulas
from datalog.ir.core import QUERY, ROUND
from datalog.ir.functors import with_functors
from datalog.ir.occurrences import literal_variables
from datalog.ir.primitives import PRIMITIVES
from datalog.ir.text import format_rule
from datalog.syntax import tree


def analyse_query(
    body: tree.Conjunction, program: formulas.Program, text: str = "", primitives: Primitives = PRIMITIVES
) -> formulas.Program:
    """A program of one rule, the query's, that knows the predicates of `program`, itself among them as hidden ones.

    `text` is the source that the query's spans point into, `primitives` are all that its terms may call.
    Raises ProgramError with all errors of the query.
    """
    findings = Findings(text)
    known = {
        name: Columns(
            name, signature.attributes, signature.types, signature.type_names, signature.declared, signature.span, signature.functional
        )
        for name, signature in (program.signatures | {name: one.signature for name, one in program.inline.items()}).items()
    }
    primitives = {**primitives, **with_functors(program.functors)}
    body = desugar_body(lattices_in_query(body, program.lattices, findings), known, primitives)
    refuse_rounds(body, findings)
    for atom in atoms(body):
        if atom.predicate == ROUND:
            continue
        if atom.predicate in known:
            check_arity(atom, known[atom.predicate], findings)
        else:
            report_unknown(atom.predicate, atom.span, known, primitives, findings)
    check_terms(body, primitives, findings)
    inference = Inference(known, Types(program.types), primitives, findings)
    cells = inference.add(tree.Rule((), body, "", body.span))
    inference.settle()

    conjunction = Translation(inference, cells).conjunction(body)
    head = formulas.Atom(QUERY, _columns(conjunction), body.span)
    rule = Inlining(program.inline, in_place=True).rule(quantify([head], conjunction, body.span), findings)
    written = findings.one_line(replace(body.span, start=0, end=len(text)))  # the body's own span may end before a parenthesis
    rule = replace(rule, text=written.removeprefix("?-").removesuffix(".").strip() or format_rule(rule))
    refuse_numbers(rule.body, findings)
    check_safety(rule, findings, "a column of the answer")
    findings.raise_if_any()
    types = tuple(variable.type for variable in head.terms if isinstance(variable, formulas.Variable))
    names = tuple(variable.name for variable in head.terms if isinstance(variable, formulas.Variable))
    signature = formulas.Signature(QUERY, names, types, tuple(type_.value for type_ in types), False, hidden=True, span=body.span)
    return formulas.Program({**program.signatures, QUERY: signature}, (), (rule,), (), text, body.span.file, wraps=program.wraps)


def _columns(body: formulas.Conjunction) -> tuple[formulas.Variable, ...]:
    """The query's variables, but for those that a negated group or an aggregate quantifies."""
    own = hidden_variables(quantify([], body).body)
    first: dict[str, formulas.Variable] = {}
    for variable in literal_variables(body):
        if variable.name not in own and not variable.name.startswith("="):
            first.setdefault(variable.name, variable)
    return tuple(first.values())
