"""What a program means, before anything runs: predicates, types, quantifiers, range restriction, stratification.

    tree → instances of components → rules for lattices and subsumptions → plain terms       a tree with less in it
    → signatures → types → formulas → quantifiers → inlining → safety → recursion             what it means

Each step goes on after errors of the one before, on what it can still trust, and all of them report into one `Findings`, so
that one run tells all errors of a file; only wrong components and qualifiers end it at once. A program that comes out is well typed,
range restricted and stratified.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from datalog.analysis.dependencies import check_recursion, component_of, rule_edges
from datalog.analysis.desugar import Primitives, desugar
from datalog.analysis.equivalences import equivalences
from datalog.analysis.findings import Findings
from datalog.analysis.folding import fold_fact, is_folded
from datalog.analysis.forms import check_forms, is_fact
from datalog.analysis.functors import declare_functors
from datalog.analysis.inline import check_declared, inline_declarations, inlined
from datalog.analysis.instantiate import instantiate
from datalog.analysis.join_plans import join_plans
from datalog.analysis.lattices import lattices_as_rules
from datalog.analysis.numbers import check_inline_numbers, check_numbers
from datalog.analysis.on_demand import wanted_on_demand
from datalog.analysis.pragmas import is_of_papers, is_strict, read_pragmas, wraps_around
from datalog.analysis.qualifiers import check_qualifiers, expand_old_qualifiers
from datalog.analysis.quantify import quantify
from datalog.analysis.rounds import check_rounds
from datalog.analysis.signatures import Columns, collect_signatures
from datalog.analysis.subsumption import subsumptions_as_rules
from datalog.analysis.subtypes import check_subtypes
from datalog.analysis.translate import Translation
from datalog.analysis.type_system import declare_types
from datalog.analysis.types import Inference
from datalog.ir import formulas
from datalog.ir.functors import with_functors
from datalog.ir.primitives import PRIMITIVES
from datalog.ir.text import format_rule
from datalog.syntax import tree

__all__ = ["analyse"]


def analyse(
    written: tree.Program, primitives: Primitives = PRIMITIVES, settings: Mapping[str, str] = MappingProxyType({})
) -> formulas.Program:
    """The program as quantified rules, facts and signatures; `primitives` are all that its terms may call. Of `settings`, each wins
    over the pragma of its name.

    Raises ProgramError with all errors of the program, in the order of its text.
    """
    findings = Findings(written.text)
    written = instantiate(written, findings)
    check_qualifiers(written, findings)
    written = expand_old_qualifiers(written)
    findings.raise_if_any()
    declared = inline_declarations(written)
    check_declared(declared, written, findings)
    pragmas = {**read_pragmas(written, findings), **settings}
    strict, wraps = is_strict(pragmas), wraps_around(pragmas)
    written, lattices = lattices_as_rules(written, findings)
    written = subsumptions_as_rules(written, findings)
    program = desugar(written, primitives)
    check_rounds(program.clauses, findings)
    types = declare_types(program, findings)
    functors = declare_functors(program, types, findings)
    primitives = {**primitives, **with_functors(functors)}
    known = collect_signatures(program, types, primitives, findings, declared_only=strict)
    same = equivalences(program, findings)
    inference = Inference(known, types, primitives, findings)
    clauses = [clause for clause in program.clauses if isinstance(clause, tree.Rule)]
    cells = [inference.add(clause) for clause in clauses]
    for clause in clauses:
        check_forms(clause, primitives, findings)
    inference.settle()
    for clause in clauses if types.has_subtypes and types.are_right else ():
        check_subtypes(clause, types, known, functors, inference, findings)

    facts: list[formulas.Atom] = []
    rules: list[formulas.Rule] = []
    for clause, own in zip(clauses, cells, strict=True):
        translation = Translation(inference, own)
        heads = [translation.atom(head) for head in clause.heads]
        if is_fact(clause) and all(map(is_folded, heads)):
            facts += [fold_fact(head, findings, wraps) for head in heads]
        else:
            rules.append(_rule(clause, heads, translation, findings))
    check_inline_numbers(rules, declared, findings)
    rules, inline = inlined(declared, {name: _signature(known[name], inference) for name in declared}, rules, facts, findings)
    edges = rule_edges(rules)
    check_recursion(known, edges, findings, {name for name, columns in known.items() if columns.functional})
    components = component_of(known, edges)
    check_numbers(rules, components, {clause.span for clause in clauses if not clause.arrow}, findings)
    plans = join_plans(written, components, findings, recursive_only=strict)
    findings.raise_if_any()
    signatures = {name: _signature(columns, inference) for name, columns in known.items() if name not in inline}
    facts = [fact for fact in facts if fact.predicate not in inline]
    directives = tuple(clause for clause in program.clauses if isinstance(clause, tree.Directive))
    bases = {name: base for name, base in types.bases.items() if base is not None}
    return formulas.Program(
        signatures,
        tuple(facts),
        tuple(rules),
        directives,
        program.text,
        program.file,
        plans,
        types=bases,
        functors=functors,
        lattices=lattices,
        pragmas=pragmas,
        wraps=wraps,
        papers=is_of_papers(written),
        equivalences=same,
        demand=wanted_on_demand(program),
        inline=inline,
    )


def _rule(clause: tree.Rule, heads: list[formulas.Atom], translation: Translation, findings: Findings) -> formulas.Rule:
    rule = quantify(heads, translation.conjunction(clause.body), clause.span)
    return replace(rule, text=findings.one_line(clause.span) or format_rule(rule))


def _signature(columns: Columns, inference: Inference) -> formulas.Signature:
    return columns.typed(tuple(inference.column_type(columns.name, at) for at in range(len(columns.attributes))))
