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
from datalog.syntax.constants import NUMBERS, placeholder
from datalog.syntax.declarations import DeclarationBuilder
from datalog.syntax.terms import Arguments, Call
from datalog.syntax.tree import (
    Application,
    Atom,
    Clause,
    Comment,
    Comparison,
    Conjunction,
    Constant,
    Disjunction,
    Literal,
    Negation,
    Program,
    Rule,
    Span,
    Subsumption,
    Term,
    Total,
    Truth,
    Variable,
)

PLAIN_LITERAL = re.compile(
    r"""(?P<right>"(?:[^"\\]|\\.)*"|true|false|-?(?:0x[0-9a-fA-F]+u?|0b[01]+u?|[0-9]+(?:u|(?:\.[0-9]+){3}|(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)))(?=[\s,)\]]|\Z)
      | [^\s,()\[\]=]+""",
    re.VERBOSE,
)


@v_args(inline=True)
class Builder(DeclarationBuilder):
    """The whole tree: adds programs, rules and literals."""

    # --- Program, comments ----------------------------------------------------------------------------------------------------

    def comment(self, token: Token) -> Token:
        """Not a rule: the lexer reports each comment that it skips."""
        start = self._start(token)
        self._comment_annotations(start)
        self._comment(start, str(token).rstrip())
        return token

    def _comment_annotations(self, end: int) -> None:
        """Annotations are kept like comments."""
        while self._annotations and self._annotations[-1][0] < end:
            start, stop = self._annotations.pop()
            self._comment(start, self.source.text[start:stop])

    def _comment(self, start: int, text: str) -> None:
        line_start = self.source.line_start(start)
        previous = self.comments[-1] if self.comments else None
        if previous is not None and previous.span.end > line_start:
            code = self.source.text[previous.span.end : start].strip()
            trailing = bool(code) or (previous.trailing and previous.span.start >= line_start)
        else:
            trailing = bool(self.source.text[line_start:start].strip())
        self.comments.append(Comment(text, trailing, self.source.span(start, start + len(text))))

    def program(self, *clauses: Clause) -> Program:
        self._comment_annotations(len(self.source.text))
        return Program(clauses, tuple(self.comments), self.source.text, self.source.file)

    def rest(self, *clauses: Clause | None) -> Program:
        return self.program(*(clause for clause in clauses if clause is not None))

    def stray(self, _brace: Token) -> None:
        return None

    def query(self, body: Conjunction, _stop: Token | None = None) -> Conjunction:
        return body

    # --- Rules ----------------------------------------------------------------------------------------------------------------

    def plain_fact(self, token: Token) -> Rule:
        # The token ends at the full stop, so what lies between the parentheses is literals and commas.
        return self._plain_fact(token, token.index("("), token.rindex(")") + 1)

    def plain_functional_fact(self, token: Token) -> Rule:
        return self._plain_fact(token, token.index("["), len(token[:-1].rstrip()), functional=True)

    def _plain(self, literal: re.Match[str], base: int) -> Constant:
        start, end = base + literal.start(), base + literal.end()
        if literal["right"] is None:
            self._report(f"`{literal.group()}` is no number", start, end, NUMBERS)
            return placeholder("0", self.source.span(start, end))
        return self._constant(start, end)

    def _plain_fact(self, token: Token, opening: int, closed: int, functional: bool = False) -> Rule:
        start, end = self._start(token), self._end(token)
        name = token[:opening]
        self._check_name(name, start)
        terms = tuple(self._plain(match, start) for match in PLAIN_LITERAL.finditer(token, opening + 1, closed))
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

    def subsumption(self, less: Atom, _sign: Token, greater: Atom, _arrow: Token, body: Conjunction, stop: Token) -> Subsumption:
        return Subsumption(less, greater, body, self._rule_span((less,), stop))

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

    def _rule_span(self, heads: tuple[Atom, ...], stop: Token) -> Span:
        self.finished = self._end(stop)
        return self.source.span(heads[0].span.start, self.finished)
