"""Predicates that are inline: what their rules say stands in the place of each of their atoms, and no rows of them are kept.

    near(x, y) :- x < y + 2, y < x + 2.      declared `inline`: neither x nor y is bound by it
    p(x) :- q(x), !r(x), near(x, 3).         becomes   p(x) ← q(x), !r(x), x < 3 + 2, 3 < x + 2

An atom becomes a disjunction with a branch for each rule whose head fits it, the rule's variables under names of their own. In a
negated group these are the group's own; in the body of an aggregate they do not count (`uncounted`): there the branches stay a
disjunction, of which each row counts once (`datalog.rewrite.lower_aggregates`). Range restriction is asked of what comes out.

Inline predicates among themselves must not recurse. Soufflé refuses negated atoms (but not those negated twice) whose rules have
variables beside those of their heads, or that have wildcards; so do we, in programs, for it may be that more was meant. It refuses
all aggregates over inline atoms, which we do not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal as OneOf

from datalog.analysis.components import components
from datalog.analysis.dependencies import recurses, rule_edges, successors
from datalog.analysis.findings import Findings, place
from datalog.analysis.quantify import quantify
from datalog.analysis.safety import check_safety, is_impossible
from datalog.analysis.unify import equal
from datalog.ir.demand import names_of
from datalog.ir.formulas import (
    Aggregation,
    Atom,
    Comparison,
    Conjunction,
    Constant,
    Disjunction,
    Inline,
    Literal,
    Negation,
    Operation,
    Rule,
    Signature,
    Term,
    Truth,
    Variable,
    Wildcard,
)
from datalog.ir.occurrences import is_of_one_atom, literal_atoms, literal_names, names_in, term_variables
from datalog.ir.primitives import GENERATORS
from datalog.ir.renaming import Substitution, fresh_name, uncounted, with_named_wildcards
from datalog.syntax import tree

LIMIT = 20_000  # literals of one rule
EXCLUDING = ("inline-exclude", "magic-transform-exclude")

_Place = OneOf["plain", "wild", "rows", "within"]
"""Of a conj: whether it is the body of an aggregate, of which wildcards count (`wild`) or do not, or within a disjunction there."""


def inline_declarations(program: tree.Program) -> dict[str, tree.Declaration]:
    """The predicates that are inline, with their declarations. `inline` is a way to evaluate: where the rows themselves are
    needed, for an equivalence relation, a choice, a dominance, or a value, it has no effect."""
    kept: set[str] = set()
    for clause in program.clauses:
        if isinstance(clause, tree.Pragma) and clause.key in EXCLUDING:
            kept.update(names_of(clause.value))
        elif isinstance(clause, tree.Subsumption):
            kept.add(clause.less.predicate)
    return {
        name: clause
        for clause in program.clauses
        if isinstance(clause, tree.Declaration) and "inline" in clause.qualifiers
        for name in clause.predicates
        if not (clause.functional or clause.choices or name in kept or {"no_inline", "no_magic", "eqrel"}.intersection(clause.qualifiers))
    }


def check_declared(declared: Mapping[str, tree.Declaration], program: tree.Program, findings: Findings) -> None:
    """Report inline predicates that a directive takes from, or gives to, a file."""
    for clause in program.clauses:
        if isinstance(clause, tree.Directive):
            for name in clause.predicates:
                if name in declared:
                    hint = f"`.{clause.kind}`, {place(clause.span)}, needs rows; declare `{name}` without `inline`"
                    findings.add(declared[name].span, f"`{name}` is inline, so it has no rows to read or to write", hint)


def inlined(
    declared: Mapping[str, tree.Declaration],
    signatures: Mapping[str, Signature],
    rules: Sequence[Rule],
    facts: Iterable[Atom],
    findings: Findings,
) -> tuple[list[Rule], dict[str, Inline]]:
    """The rules of the predicates that are not inline, without inline atoms, and what stands for these; all range restricted.

    What is wrong with a rule is reported where its text is; in the rules that come out, everything stands where the atom stood.
    """
    if not declared:
        for rule in rules:
            check_safety(rule, findings)
        return list(rules), {}
    own: dict[str, list[Rule]] = {name: [] for name in declared}
    for fact in facts:
        if fact.predicate in own:
            own[fact.predicate].append(quantify([fact], Conjunction((), (), fact.span), fact.span))
    others: list[Rule] = []
    for rule in rules:
        for head in rule.heads:
            if head.predicate in own:
                own[head.predicate].append(quantify([head], rule.body, rule.span, rule.text))
        heads = [head for head in rule.heads if head.predicate not in own]
        if heads:
            others.append(rule if len(heads) == len(rule.heads) else quantify(heads, rule.body, rule.span, rule.text))
    _check_negated((rule for name in own for rule in own[name]), own, findings)
    inline = _defined(declared, signatures, own, findings)
    there, here = Inlining(inline), Inlining(inline, in_place=True)
    kept: list[Rule] = []
    for rule in others:
        right = _check_negated([rule], own, findings)
        made = here.rule(rule, findings)
        if made is not rule and is_impossible(made.body):
            continue  # it has an atom that no rule fits
        kept.append(made)
        if right:
            check_safety(made, findings)
        if right and made is not rule:
            check_safety(there.rule(rule, findings), findings, elsewhere=True)
    return kept, inline


def _defined(
    declared: Mapping[str, tree.Declaration], signatures: Mapping[str, Signature], own: dict[str, list[Rule]], findings: Findings
) -> dict[str, Inline]:
    """What stands for each inline predicate, with no inline atom in it."""
    following = successors(edge for edge in rule_edges(rule for name in own for rule in own[name]) if edge[1] in own)
    found: dict[str, Inline] = {}
    for group in components(own, following):  # what a predicate depends on comes before it
        (name, *others) = sorted(group, key=lambda name: (declared[name].span.start, name))
        # The atoms of what is wrong stay, and the error is told once.
        if recurses(name, group, following):
            cycle = " → ".join([name, *others, name])
            findings.add(declared[name].span, f"inline predicates recurse: {cycle}", "declare one of them without `inline`")
            continue
        rules = [Inlining(found).rule(rule, findings) for rule in own[name]]
        right = [check_safety(rule, findings, given=literal_names(rule.heads[0])) for rule in rules]
        if all(right):
            found[name] = Inline(signatures[name], tuple(rules))
    return found


def _check_negated(rules: Iterable[Rule], own: Mapping[str, Sequence[Rule]], findings: Findings) -> bool:
    """Report negated atoms with wildcards, or of predicates whose rules have variables beside those of their heads; False if there are."""
    right = True
    for rule in rules:
        for negation in _negations(rule.body):
            match negation.body.literals:
                case (Atom(predicate=name, terms=terms),) if name in own:
                    hint = f"declare `{name}` without `inline`, or write what it stands for as a group: `!(…)`"
                    for term in terms:
                        if isinstance(term, Wildcard):
                            right = False
                            findings.add(term.span, f"`_` stands in a negated atom of `{name}`, which is inline", hint)
                    for defining in own[name]:
                        new = literal_names(defining.body) - literal_names(defining.heads[0])
                        shown = sorted(one for one in new if one[0] != "=")
                        if shown:
                            right = False
                            brings = f"brings `{shown[0]}` with it, {place(defining.span)}"
                            findings.add(negation.span, f"`{name}` is inline and negated here, but {brings}", hint)
                            break
    return right


def _negations(literal: Literal, under: int = 0) -> Iterator[Negation]:
    """The negations in the literal, which stands `under` so many, but for those that another one takes back."""
    match literal:
        case Negation():
            if under % 2 == 0:
                yield literal
            yield from _negations(literal.body, under + 1)
        case Conjunction():
            for inner in literal.literals:
                yield from _negations(inner, under)
        case Disjunction():
            for branch in literal.branches:
                yield from _negations(branch, under)
        case Aggregation():
            yield from _negations(literal.body)


class Inlining:
    """Puts what inline predicates say in the place of their atoms; with `in_place`, everything is said to stand where the atom stood."""

    def __init__(self, inline: Mapping[str, Inline], in_place: bool = False) -> None:
        self._inline = inline
        self._in_place = in_place
        self._names: set[str] = set()
        self._size = 0

    def rule(self, rule: Rule, findings: Findings) -> Rule:
        """The rule without inline atoms in its body."""
        if not any(atom.predicate in self._inline for atom, _ in literal_atoms(rule.body)):
            return rule
        self._names = set(names_in((*rule.heads, rule.body), ()))
        try:
            body = self.conjunction(rule.body)
        except _TooLong as error:
            hint = f"declare `{error.args[0]}`, or what it stands for, without `inline`"
            findings.add(rule.span, f"with all that is inline, this rule has more than {LIMIT} literals", hint)
            return rule
        return quantify(rule.heads, body, rule.span, rule.text)

    def conjunction(self, conjunction: Conjunction, where: _Place = "plain") -> Conjunction:
        """The conj without inline atoms, and without quantifiers; where no rule fits one of them, nothing but that it does not hold."""
        literals = tuple(made for literal in conjunction.literals for made in self._literal(literal, where))
        found = replace(conjunction, literals=literals)
        return replace(found, literals=(Truth(False, conjunction.span),)) if is_impossible(found) else found

    def _literal(self, literal: Literal, where: _Place) -> Iterator[Literal]:
        match literal:
            case Atom() if literal.predicate in self._inline:
                yield from self._atom(literal, where)
            case Negation():
                yield replace(literal, body=self.conjunction(literal.body))
            case Disjunction():
                within: _Place = "plain" if where == "plain" else "within"
                yield replace(literal, branches=tuple(self.conjunction(branch, within) for branch in literal.branches))
            case Conjunction():
                yield self.conjunction(literal, where)
            case Aggregation():
                wild = literal.grouping or is_of_one_atom(literal.body.literals)
                body = self.conjunction(literal.body, "wild" if wild else "rows")
                if is_impossible(body):  # what it is over has its names from there all the same
                    over = {variable.name: variable for term in literal.arguments for variable in term_variables(term)}
                    named = (Comparison("=", variable, variable, literal.span) for variable in over.values())
                    body = replace(body, literals=(*body.literals, *named))
                yield replace(literal, body=body)
            case _:
                yield literal

    def _atom(self, atom: Atom, where: _Place) -> Iterator[Literal]:
        if where == "wild":
            atom = with_named_wildcards(atom, self._names)
        rules = self._inline[atom.predicate].rules
        span = atom.span if self._in_place else None
        branches = [branch for rule in rules if (branch := self._branch(atom, rule, span, where != "plain")) is not None]
        if not branches:
            yield Truth(False, atom.span)
        elif len(branches) == 1 and (where == "plain" or (where == "wild" and all(map(_is_plain, rules)))):
            yield from branches[0].literals
        else:
            yield Disjunction(tuple(branches), atom.span)

    def _branch(self, atom: Atom, rule: Rule, span: tree.Span | None, counting: bool) -> Conjunction | None:
        """What the rule says of the atom; None if its head does not fit."""
        (head,) = rule.heads
        known: dict[str, Term] = {}
        pairs: list[tuple[Term, Term]] = []
        computed = _computed(rule.body)
        for own, given in zip(head.terms, atom.terms, strict=True):
            match own, given:
                case Variable(), Wildcard():
                    continue
                case Variable(name), (Variable() | Constant()) if name not in known and name not in computed:
                    known[name] = given
                case _:
                    pairs.append((own, given))

        def stands(variable: Variable) -> Term:
            if variable.name not in known:
                name = fresh_name(uncounted(variable.name) if counting else variable.name, self._names)
                known[variable.name] = replace(variable, name=name)
            return known[variable.name]

        put = Substitution(stands, span)
        literals: list[Literal] = []
        for own, given in pairs:
            literals += equal(put.term(own), given, self._names, atom.span)
        if is_impossible(Conjunction((), tuple(literals))):
            return None
        literals += put.conjunction(rule.body).literals
        self._size += sum(map(_size, literals))
        if self._size > LIMIT:
            raise _TooLong(atom.predicate)
        return Conjunction((), tuple(literals), atom.span)


class _TooLong(Exception):
    """With the inline predicate whose atom was one too many."""


def _size(literal: Literal) -> int:
    match literal:
        case Negation() | Aggregation():
            return 1 + _size(literal.body)
        case Conjunction():
            return sum(map(_size, literal.literals))
        case Disjunction():
            return sum(map(_size, literal.branches))
        case _:
            return 1


def _is_plain(rule: Rule) -> bool:
    """Whether each row of the rule stands for one way in which its body holds."""
    wild = any(isinstance(term, Wildcard) for atom, _ in literal_atoms(rule.body) for term in atom.terms)
    return not wild and literal_names(rule.body) <= literal_names(rule.heads[0])


def _computed(literal: Literal) -> frozenset[str]:
    """The variables that are what an aggregate or a generator gives: no constant can stand in their place."""
    match literal:
        case Aggregation(result=result):
            return frozenset((result.name,)) | _computed(literal.body)
        case Comparison(operator="=", left=Variable(name), right=Operation(name=generator)) if generator in GENERATORS:
            return frozenset((name,))
        case Negation():
            return _computed(literal.body)
        case Conjunction():
            return frozenset().union(*map(_computed, literal.literals))
        case Disjunction():
            return frozenset().union(*map(_computed, literal.branches))
        case _:
            return frozenset()
