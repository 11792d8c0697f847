"""Tree to text, each piece on one line, with the fewest parentheses that keep its meaning. `parse` gives the same tree back."""

from __future__ import annotations

import re
from collections.abc import Iterable

from datalog.syntax.aggregates import AGGREGATES
from datalog.syntax.constants import spell
from datalog.syntax.operators import INFIX, PREFIX, PREFIX_WORDS, Tightness
from datalog.syntax.tree import (
    Aggregate,
    AlgebraicDeclaration,
    Application,
    Atom,
    Attribute,
    Branch,
    BranchDeclaration,
    Cast,
    Clause,
    Comparison,
    Component,
    ComponentType,
    Conjunction,
    Constant,
    Declaration,
    DeltaDeclaration,
    Directive,
    Disjunction,
    FunctorDeclaration,
    Include,
    Instantiation,
    LatticeDeclaration,
    Literal,
    Negation,
    Nil,
    Once,
    Operation,
    Override,
    Plan,
    Pragma,
    Record,
    RecordDeclaration,
    Rule,
    Subsumption,
    Term,
    Total,
    Truth,
    TypeDeclaration,
    UnionDeclaration,
    Variable,
    Wildcard,
)

WORD = re.compile(r"[A-Za-z_?][A-Za-z0-9_?]*")


def format_term(term: Term) -> str:
    """`(x + 1) * -y`"""
    return _term(term)[0]


def format_literal(literal: Literal) -> str:
    """A literal as it stands among others: a disjunction, or a conjunction inside one, takes parentheses."""
    match literal:
        case Atom(predicate, (*keys, value), functional=True):
            return f"{predicate}[{_listed(keys)}] = {format_term(value)}"
        case Atom(predicate, terms):
            return f"{predicate}({_listed(terms)})"
        case Comparison(operator, left, right):
            return f"{format_term(left)} {operator} {format_term(right)}"
        case Truth(value):
            return "true" if value else "false"
        case Negation(Conjunction((Atom(functional=False) | Truth() | Negation() as only,))):
            return f"!{format_literal(only)}"
        case Negation(body):
            return f"!({format_body(body)})"
        case Disjunction(branches):
            return f"({format_branches(branches)})"
        case Conjunction():
            return f"({format_body(literal)})"


def format_body(body: Conjunction) -> str:
    """The literals of a body or group, without parentheses around them."""
    match body.literals:
        case (Disjunction(branches),):
            return format_branches(branches)
        case literals:
            return ", ".join(map(format_literal, literals))


def format_branches(branches: tuple[Conjunction, ...]) -> str:
    """`a(x), b(x); c(x)`"""
    return "; ".join(", ".join(map(format_literal, branch.literals)) for branch in branches)


def format_heads(rule: Rule) -> str:
    return ", ".join(map(format_literal, rule.heads))


def format_start(rule: Rule) -> str:
    """What stands before the body: heads, arrow and totals."""
    start = f"{format_heads(rule)} {rule.arrow or ':-'}"
    return f"{start} agg<<{', '.join(map(_total, rule.totals))}>>" if rule.totals else start


def format_rule(rule: Rule) -> str:
    """A rule or fact with its full stop, on one line."""
    if not rule.body.literals:
        return f"{format_heads(rule)}."
    return f"{format_start(rule)} {format_body(rule.body)}."


def format_clause(clause: Clause) -> str:
    """Any clause, on one line."""
    match clause:
        case Rule():
            return format_rule(clause)
        case Subsumption(body=body):
            return f"{format_subsumption(clause)} {format_body(body)}."
        case Declaration() | RecordDeclaration() | FunctorDeclaration():
            opening, parts, closing = format_parts(clause) or ("", (), "")
            return f"{opening}{', '.join(map(format_part, parts))}{closing}"
        case DeltaDeclaration(name, predicate, qualifiers):
            return " ".join([f".decl {name} = debug_delta({predicate})", *qualifiers])
        case TypeDeclaration(name, base, subtype):
            return f".type {name} {'<:' if subtype else '='} {base}"
        case UnionDeclaration(name, members):
            return f".type {name} = {' | '.join(members)}"
        case AlgebraicDeclaration(name, branches):
            return f".type {name} = {' | '.join(map(format_part, branches))}"
        case LatticeDeclaration(name, operators):
            written = ", ".join(f"{operator} -> {format_term(term)}" for operator, term in operators)
            return f".lattice {name}<> {{ {written} }}"
        case Component(clauses=clauses):
            return " ".join([format_component_head(clause), *map(format_clause, clauses), "}"])
        case Instantiation(name, component):
            return f".init {name} = {_component_type(component)}"
        case Override(predicate):
            return f".override {predicate}"
        case Pragma(key, value):
            return f".pragma {_quoted(key)} {_quoted(value)}" if value else f".pragma {_quoted(key)}"
        case Include(file):
            return f".include {_quoted(file)}"
        case Once():
            return ".once"
        case Directive(kind, predicates, parameters):
            pairs = ", ".join(f"{key}={_parameter(key, value)}" for key, value in parameters)
            return f".{kind} {', '.join(predicates)}" + (f"({pairs})" if pairs else "")
        case Plan(versions):
            return ".plan " + ", ".join(f"{version.number}:({', '.join(map(str, version.atoms))})" for version in versions)


def format_subsumption(clause: Subsumption) -> str:
    """What stands before the body."""
    return f"{format_literal(clause.less)} <= {format_literal(clause.greater)} :-"


def format_component_head(component: Component) -> str:
    """`.comp Name<T> : Base<T> {`"""
    bases = f" : {', '.join(map(_component_type, component.bases))}" if component.bases else ""
    return f".comp {_component_type(component.type)}{bases} {{"


def _component_type(component: ComponentType) -> str:
    return f"{component.name}<{', '.join(component.parameters)}>" if component.parameters else component.name


def format_parts(clause: Clause) -> tuple[str, tuple[Attribute | BranchDeclaration, ...], str] | None:
    """What stands before, in and behind the list of a declaration; None for a clause without a list."""
    match clause:
        case Declaration(predicates, attributes, qualifiers):
            attributes, value = (attributes[:-1], attributes[-1:]) if clause.functional else (attributes, ())
            words = [f") = {format_part(value[0])}" if value else ")", *qualifiers]
            if clause.choices:
                keys = (key[0] if len(key) == 1 else f"({', '.join(key)})" for key in clause.choices)
                words.append(f"choice-domain {', '.join(keys)}")
            return f".decl {', '.join(predicates)}(", attributes, " ".join(words)
        case RecordDeclaration(name, fields):
            return f".type {name} = [", fields, "]"
        case AlgebraicDeclaration(name, branches):
            return f".type {name} =", branches, ""
        case FunctorDeclaration(name, attributes, result, stateful):
            return f".functor {name}(", attributes, f"): {result}{' stateful' if stateful else ''}"
    return None


def format_part(part: Attribute | BranchDeclaration) -> str:
    """`x: number`, or `Name { x: number }`"""
    if isinstance(part, BranchDeclaration):
        return f"{part.name} {{ {', '.join(map(format_part, part.fields))} }}" if part.fields else f"{part.name} {{}}"
    return f"{part.name}{': ' if part.name else ''}{part.type}{'<>' if part.lattice else ''}"


def _quoted(text: str) -> str:
    return spell(Constant(text, "symbol"))


def _term(term: Term) -> tuple[str, Tightness]:
    match term:
        case Variable(name):
            return f"({name})" if name in PREFIX_WORDS else name, Tightness.PRIMARY
        case Wildcard():
            return "_", Tightness.PRIMARY
        case Constant():
            written = term.spelling or spell(term)
            return written, Tightness.PREFIX if written.startswith("-") else Tightness.PRIMARY
        case Application(predicate, keys):
            return f"{predicate}[{_listed(keys)}]", Tightness.PRIMARY
        case Aggregate(function, arguments, body, initial=initial):
            written = ", ".join(map(_aggregated, arguments))
            start = "" if initial is None else f"{_aggregated(initial)}, "
            return f"{function}{' ' if written else ''}{written} : {start}{{ {format_body(body)} }}", Tightness.PRIMARY
        case Nil():
            return "nil", Tightness.PRIMARY
        case Record(fields):
            return f"[{_listed(fields)}]", Tightness.PRIMARY
        case Branch(name, arguments):
            return f"${name}({_listed(arguments)})", Tightness.PRIMARY
        case Cast(inner, type_):
            return f"as({format_term(inner)}, {type_})", Tightness.PRIMARY
        case Operation("-", (operand,)):
            return f"-{_operand_of_minus(operand)}", Tightness.PREFIX
        case Operation(name, (operand,)) if name in PREFIX:
            written = _inside(operand, Tightness.PREFIX)
            return f"{name} ({written})" if written.startswith("[") else f"{name} {written}", Tightness.PREFIX
        case Operation(name, (left, right)) if name in INFIX:
            tightness, on_the_left, on_the_right = INFIX[name]
            return f"{_inside(left, on_the_left)} {name} {_inside(right, on_the_right)}", tightness
        case Operation(name, arguments):
            assert WORD.fullmatch(name.removeprefix("@")), f"`{name}` does not take {len(arguments)} arguments"
            return f"{name}({_listed(arguments)})", Tightness.PRIMARY


def _operand_of_minus(operand: Term) -> str:
    written = _inside(operand, Tightness.PREFIX)
    # -1 is a constant; the negation of the constant 1 is written -(1).
    return f"({written})" if isinstance(operand, Constant) and written[0].isdigit() else written


def _aggregated(argument: Term) -> str:
    """In parentheses if the colon behind it might be taken for that of another aggregate, or its bracket for one of keys."""
    written = format_term(argument)
    return f"({written})" if _exposes_aggregate(argument) or written.startswith("[") else written


def _exposes_aggregate(term: Term) -> bool:
    match term:
        case Aggregate():
            return True
        case Variable(name):
            return name in AGGREGATES
        case Operation(name, arguments) if name in INFIX or name in PREFIX:
            return any(map(_exposes_aggregate, arguments))
        case Operation(name, (_,)):
            return name in AGGREGATES
    return False


def _total(total: Total) -> str:
    return f"{total.result.name} = {total.function}({_listed(total.arguments)})"


def _inside(operand: Term, least: Tightness) -> str:
    written, tightness = _term(operand)
    return written if tightness >= least else f"({written})"


def _listed(terms: Iterable[Term]) -> str:
    return ", ".join(map(format_term, terms))


def _parameter(key: str, value: str | int) -> str:
    """A word stands without quotes where one is customary: `IO=file`, `headers=true`. The tree does not tell them apart."""
    if isinstance(value, int):
        return str(value)
    bare = value in ("true", "false") or (key == "IO" and WORD.fullmatch(value))
    return value if bare else _quoted(value)
