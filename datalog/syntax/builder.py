"""Makes the tree while the parser reads: one method for each rule of `grammar/datalog.lark`, called when that rule is complete.

Shapes that say the same are made the same here, so that each tree has one way to be written: parentheses around a single
literal vanish, a conjunction inside a conjunction and a disjunction that is all of a branch are spliced into their parents, and
a minus directly before a numeric literal is part of the literal.
"""

from __future__ import annotations

import re
from typing import Literal as OneOf
from typing import cast

from lark import Token, v_args

from datalog.syntax.aggregates import AGGREGATES, OTHER_NAMES
from datalog.syntax.terms import Arguments, Call, TermBuilder
from datalog.syntax.tree import (
    Application,
    Atom,
    Attribute,
    Clause,
    Comment,
    Comparison,
    Conjunction,
    Declaration,
    Directive,
    Disjunction,
    Literal,
    Negation,
    Plan,
    PlanVersion,
    Program,
    Rule,
    Span,
    Term,
    Total,
    Truth,
    TypeDeclaration,
    Variable,
)

LARGEST_PLACE = 9999  # of an atom in a plan

PLAIN_LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s,()\[\]=]+')

# Parts, and the offset behind the last of them.
Signature = tuple[tuple[Attribute, ...], int]
Parameter = tuple[str, str | int]
Parameters = tuple[tuple[Parameter, ...], int]
Written = tuple[str, int]


@v_args(inline=True)
class Builder(TermBuilder):
    """Lark calls the methods with the values of a rule's parts; named tokens come along, punctuation does not."""

    # --- Program, comments ----------------------------------------------------------------------------------------------------

    def comment(self, token: Token) -> Token:
        """Not a rule: the lexer reports each comment that it skips."""
        start = self._start(token)
        line_start = self.source.line_start(start)
        previous = self.comments[-1] if self.comments else None
        if previous is not None and previous.span.end > line_start:
            code = self.source.text[previous.span.end : start].strip()
            trailing = bool(code) or (previous.trailing and previous.span.start >= line_start)
        else:
            trailing = bool(self.source.text[line_start:start].strip())
        text = str(token).rstrip()
        self.comments.append(Comment(text, trailing, self.source.span(start, start + len(text))))
        return token

    def program(self, *clauses: Clause) -> Program:
        return Program(clauses, tuple(self.comments), self.source.text, self.source.file)

    def query(self, body: Conjunction, _stop: Token | None = None) -> Conjunction:
        return body

    # --- Declarations and directives ------------------------------------------------------------------------------------------

    def declaration(self, keyword: Token, names: list[Token], signature: Signature, *qualifiers: Token) -> Declaration:
        attributes, end = signature
        span = self._clause_span(keyword, self._end(qualifiers[-1]) if qualifiers else end)
        return Declaration(tuple(map(str, names)), attributes, tuple(map(str, qualifiers)), span)

    def functional_declaration(
        self, keyword: Token, names: list[Token], keys: Signature, _sign: Token, value: Attribute, *qualifiers: Token
    ) -> Declaration:
        span = self._clause_span(keyword, self._end(qualifiers[-1]) if qualifiers else value.span.end)
        return Declaration(tuple(map(str, names)), (*keys[0], value), tuple(map(str, qualifiers)), span, functional=True)

    def names(self, *names: Token) -> list[Token]:
        return list(names)

    def signature(self, *parts: Attribute | Token) -> Signature:
        return cast(tuple[Attribute, ...], parts[:-1]), self._end(cast(Token, parts[-1]))

    def attribute(self, name: Token, _colon: Token, type_name: Written) -> Attribute:
        written, end = type_name
        return Attribute(str(name), written, self.source.span(self._start(name), end))

    def type(self, name: Token | Written) -> Written:
        return (str(name), self._end(name)) if isinstance(name, Token) else name

    def scaled_type(self, name: Token, _opening: Token, scale: Token, closing: Token) -> Written:
        start, end = self._start(name), self._end(closing)
        if name != "decimal":
            self._report(f"the type `{name}` takes no scale", start, end, "a type with a scale is decimal(2)")
        elif not scale.isdecimal() or len(scale) > len(str(LARGEST_PLACE)):
            self._report("the scale of a decimal is a plain number", self._start(scale), self._end(scale), "it goes up to 18")
        else:
            return f"decimal({int(scale)})", end
        return "decimal(0)", end

    def subtype(self, keyword: Token, name: Token, _sign: Token, base: Written) -> TypeDeclaration:
        return TypeDeclaration(str(name), base[0], True, self._clause_span(keyword, base[1]))

    def same_type(self, keyword: Token, name: Token, _sign: Token, base: Written) -> TypeDeclaration:
        return TypeDeclaration(str(name), base[0], False, self._clause_span(keyword, base[1]))

    def named_type(self, keyword: Token, name: Token) -> TypeDeclaration:
        """Old Soufflé's `.number_type X`, `.symbol_type X`, and `.type X`, which meant symbols."""
        base = "number" if keyword == ".number_type" else "symbol"
        return TypeDeclaration(str(name), base, True, self._clause_span(keyword, self._end(name)))

    def directive(self, keyword: Token, names: list[Token], parameters: Parameters | None = None) -> Directive:
        pairs, end = parameters or ((), self._end(names[-1]))
        kind = cast(OneOf["input", "output", "printsize"], str(keyword[1:]))
        return Directive(kind, tuple(map(str, names)), pairs, self._clause_span(keyword, end))

    def parameters(self, *parts: Parameter | Token) -> Parameters:
        return cast(tuple[Parameter, ...], parts[:-1]), self._end(cast(Token, parts[-1]))

    def parameter(self, name: Token, _sign: Token, value: str | int) -> Parameter:
        return str(name), value

    def text_value(self, token: Token) -> str:
        return str(self._constant(self._start(token), self._end(token)).value)

    def word_value(self, token: Token) -> str:
        return str(token)

    def number_value(self, *parts: Token) -> int:
        """A number with or without a minus."""
        start, end = self._start(parts[-1]), self._end(parts[-1])
        return cast(int, self._constant(start, end, negative=len(parts) == 2).value)

    def plan(self, keyword: Token, *versions: PlanVersion) -> Plan:
        return Plan(versions, self._clause_span(keyword, versions[-1].span.end))

    def version(self, number: Token, _colon: Token, _opening: Token, *parts: Token) -> PlanVersion:
        *atoms, closing = parts
        span = self.source.span(self._start(number), self._end(closing))
        return PlanVersion(self._count(number), tuple(map(self._count, atoms)), span)

    def _count(self, token: Token) -> int:
        if token.isdecimal() and len(token) <= len(str(LARGEST_PLACE)):
            return int(token)
        self._report("a plan takes plain numbers", self._start(token), self._end(token), f"they go up to {LARGEST_PLACE}")
        return 0

    # --- Rules ----------------------------------------------------------------------------------------------------------------

    def plain_fact(self, token: Token) -> Rule:
        # The token ends at the full stop, so what lies between the parentheses is literals and commas.
        return self._plain_fact(token, token.index("("), token.rindex(")") + 1)

    def plain_functional_fact(self, token: Token) -> Rule:
        return self._plain_fact(token, token.index("["), len(token[:-1].rstrip()), functional=True)

    def _plain_fact(self, token: Token, opening: int, closed: int, functional: bool = False) -> Rule:
        start, end = self._start(token), self._end(token)
        name = token[:opening]
        self._check_name(name, start)
        terms = tuple(self._constant(start + m.start(), start + m.end()) for m in PLAIN_LITERAL.finditer(token, opening + 1, closed))
        head = Atom(name, terms, self.source.span(start, start + closed), functional)
        self.finished = end
        nothing = Conjunction((), self.source.span(start + closed, start + closed))
        return Rule((head,), nothing, "", self.source.span(start, end))

    def fact(self, heads: tuple[Atom, ...], stop: Token) -> Rule:
        nothing = Conjunction((), self.source.span(heads[-1].span.end, heads[-1].span.end))
        return Rule(heads, nothing, "", self._rule_span(heads, stop))

    def rule(self, heads: tuple[Atom, ...], arrow: Token, body: Conjunction, stop: Token) -> Rule:
        return Rule(heads, body, cast(OneOf[":-", "<-"], str(arrow)), self._rule_span(heads, stop))

    def totalling_rule(
        self, heads: tuple[Atom, ...], arrow: Token, _agg: Token, totals: tuple[Total, ...], _end: Token, body: Conjunction, stop: Token
    ) -> Rule:
        return Rule(heads, body, cast(OneOf[":-", "<-"], str(arrow)), self._rule_span(heads, stop), totals)

    def totals(self, *totals: Total) -> tuple[Total, ...]:
        return totals

    def total(self, result: Token, _sign: Token, function: Token, arguments: Arguments) -> Total:
        terms, end = arguments
        start = self._start(result)
        self._check_name(result, start)
        if function not in AGGREGATES:
            where, meant = self._start(function), OTHER_NAMES.get(function)
            hint = f"write `{meant}`" if meant else f"there are {', '.join(sorted(AGGREGATES))}"
            self._report(f"`{function}` is no aggregate function", where, self._end(function), hint)
        return Total(Variable(str(result), self._token_span(result)), str(function), terms, self.source.span(start, end))

    def heads(self, *heads: Atom) -> tuple[Atom, ...]:
        return heads

    def body(self, *branches: Conjunction) -> Conjunction:
        if len(branches) == 1:
            return branches[0]
        span = self.source.span(branches[0].span.start, branches[-1].span.end)
        spliced: list[Conjunction] = []
        for branch in branches:
            match branch.literals:
                case (Disjunction(inner),):
                    spliced.extend(inner)
                case _:
                    spliced.append(branch)
        disjunction = Disjunction(tuple(spliced), span)
        self._nest(disjunction, *(literal for branch in spliced for literal in branch.literals))
        return Conjunction((disjunction,), span)

    def conjunction(self, *literals: Literal) -> Conjunction:
        span = self.source.span(literals[0].span.start, literals[-1].span.end)
        spliced: list[Literal] = []
        for literal in literals:
            spliced.extend(literal.literals if isinstance(literal, Conjunction) else (literal,))
        return Conjunction(tuple(spliced), span)

    def group(self, opening: Token, body: Conjunction, closing: Token) -> Conjunction:
        return Conjunction(body.literals, self.source.span(self._start(opening), self._end(closing)))

    def negation(self, sign: Token, literal: Literal) -> Negation:
        body = literal if isinstance(literal, Conjunction) else Conjunction((literal,), literal.span)
        negation = Negation(body, self.source.span(self._start(sign), literal.span.end))
        self._nest(negation, *body.literals)
        return negation

    def truth(self, token: Token) -> Truth:
        return Truth(token == "true", self._token_span(token))

    def atom(self, *parts: Call | Token | Arguments) -> Atom:
        """`call`, or a qualified name and its arguments."""
        name, (terms, end) = cast(Call, parts if len(parts) == 2 else parts[0])
        start = self._start(name)
        self._check_name(name, start)
        return Atom(str(name), terms, self.source.span(start, end))

    def functional_atom(self, application: Application, _sign: Token, value: Term) -> Atom:
        span = self.source.span(application.span.start, value.span.end)
        return Atom(application.predicate, (*application.keys, value), span, functional=True)

    def comparison(self, left: Term, operator: Token, right: Term) -> Comparison | Atom:
        if isinstance(left, Application) and operator == "=":
            return self.functional_atom(left, operator, right)
        sign = cast(OneOf["=", "!=", "<", "<=", ">", ">="], str(operator))
        return Comparison(sign, left, right, self.source.span(left.span.start, right.span.end))

    # --- Common steps ---------------------------------------------------------------------------------------------------------

    def _clause_span(self, keyword: Token, end: int) -> Span:
        self.finished = end
        return self.source.span(self._start(keyword), end)

    def _rule_span(self, heads: tuple[Atom, ...], stop: Token) -> Span:
        self.finished = self._end(stop)
        return self.source.span(heads[0].span.start, self.finished)
