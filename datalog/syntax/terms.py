"""Makes the trees of terms while the parser reads, and holds what the builder of clauses shares with it: where the text begins,
what has been found wrong with it, and how deep its parts nest.
"""

from __future__ import annotations

from typing import cast

from lark import Token, Transformer, v_args

from datalog.errors import Diagnostic
from datalog.syntax.aggregates import aggregates
from datalog.syntax.constants import BadLiteral, placeholder, read_constant
from datalog.syntax.operators import INFIX, Tightness
from datalog.syntax.source import Source
from datalog.syntax.tree import (
    Aggregate,
    Application,
    Atom,
    Comment,
    Comparison,
    Conjunction,
    Constant,
    Disjunction,
    Literal,
    Negation,
    Operation,
    Program,
    Span,
    Term,
    Variable,
    Wildcard,
)

DEEPEST = 200  # nested operations and groups: the walks over a tree are recursive, and Python's stack is not endless

# The value of some rules is a tuple of parts and the offset behind the last of them.
Arguments = tuple[tuple[Term, ...], int]
Call = tuple[Token, Arguments]
Nested = Operation | Application | Aggregate | Negation | Disjunction


@v_args(inline=True)
class TermBuilder(Transformer[Token, Program]):
    """`base` is added to all offsets, for the parser may be given a tail of the source. Findings that do not stop the parser are
    collected in `findings`, by offset; `finished` is the offset behind the last complete clause.
    """

    def __init__(self) -> None:
        super().__init__()
        self.reset(Source("", ""))

    def reset(self, source: Source, base: int = 0) -> None:
        self.source = source
        self.base = base
        self.finished = base
        self.findings: dict[int, Diagnostic] = {}
        self.comments: list[Comment] = []
        self._depths: dict[int, int] = {}  # by id of a node; `_nested` keeps the nodes alive so that no id is used twice
        self._nested: list[Nested] = []
        self._aggregates: set[int] = set()  # where aggregates begin, as far as `_looked_to`
        self._looked_to = base

    def aggregate_word(self, token: Token) -> Token:
        """Not a rule: the lexer asks at each word that may begin an aggregate, and takes it for a name if it does not."""
        start = self._start(token)
        if start >= self._looked_to:
            self._aggregates, self._looked_to = aggregates(self.source.text, start)
        return token if start in self._aggregates else token.update(type="NAME")

    # --- Terms ----------------------------------------------------------------------------------------------------------------

    def expression(self, *parts: Term | Token) -> Term:
        """Operands, and operators before and between them: an operator waits while those behind it bind tighter."""
        operands: list[Term] = []
        waiting: list[Token] = []

        def apply(least: Tightness) -> None:
            while waiting and (Tightness.PREFIX if waiting[-1].type != "INFIX" else INFIX[waiting[-1]][0]) >= least:
                operator, right = waiting.pop(), operands.pop()
                operands.append(self._infix(operands.pop(), operator, right) if operator.type == "INFIX" else self._prefix(operator, right))

        for part in parts:
            if not isinstance(part, Token):
                operands.append(part)
                continue
            if part.type == "INFIX":
                apply(least=INFIX[part][1])
            waiting.append(part)
        apply(least=Tightness.LOR)
        return operands[0]

    def _infix(self, left: Term, operator: Token, right: Term) -> Operation:
        return self._operation(str(operator), (left, right), left.span.start, right.span.end)

    def _prefix(self, sign: Token, operand: Term) -> Term:
        start, span = self._start(sign), operand.span
        if sign == "-" and isinstance(operand, Constant) and self.source.text[span.start].isdigit():
            self.findings.pop(span.start, None)  # the number alone may be out of range: the smallest one is
            return self._constant(span.start, span.end, negative=True, minus=start)
        return self._operation(str(sign), (operand,), start, span.end)

    def operation(self, call: Call) -> Operation:
        name, (terms, end) = call
        start = self._start(name)
        self._check_name(name, start)
        return self._operation(str(name), terms, start, end)

    def variable(self, name: Token) -> Variable:
        self._check_name(name, self._start(name))
        return Variable(str(name), self._token_span(name))

    def wildcard(self, token: Token) -> Wildcard:
        return Wildcard(self._token_span(token))

    def symbol(self, token: Token) -> Constant:
        return self._constant(self._start(token), self._end(token))

    def number(self, token: Token) -> Constant:
        return self._constant(self._start(token), self._end(token))

    def boolean(self, token: Token) -> Constant:
        return self._constant(self._start(token), self._end(token))

    def parentheses(self, opening: Token, term: Term, closing: Token) -> Term:
        # A constant takes its parentheses into its span, by which `minus` sees that they stand between: -(1) is an operation.
        if isinstance(term, Constant):
            span = self.source.span(self._start(opening), self._end(closing))
            return Constant(term.value, term.type, term.spelling, span)
        return term

    def call(self, name: Token, arguments: Arguments) -> Call:
        return name, arguments

    def arguments(self, *parts: Term | Token) -> Arguments:
        return cast(tuple[Term, ...], parts[:-1]), self._end(cast(Token, parts[-1]))

    def application(self, name: Token, *parts: Term | Token) -> Application:
        keys, start = cast(tuple[Term, ...], parts[:-1]), self._start(name)
        self._check_name(name, start)
        application = Application(str(name), keys, self.source.span(start, self._end(cast(Token, parts[-1]))))
        self._nest(application, *keys)
        return application

    def aggregate(self, word: Token, arguments: tuple[Term, ...], _colon: Token, body: Conjunction, closing: Token) -> Aggregate:
        return self._aggregate(word, arguments, body, self._end(closing))

    def aggregate_of_atom(self, word: Token, arguments: tuple[Term, ...], _colon: Token, atom: Atom) -> Aggregate:
        return self._aggregate(word, arguments, Conjunction((atom,), atom.span), atom.span.end)

    def aggregated(self, *terms: Term) -> tuple[Term, ...]:
        return terms

    def _aggregate(self, word: Token, arguments: tuple[Term, ...], body: Conjunction, end: int) -> Aggregate:
        aggregate = Aggregate(str(word), arguments, body, self.source.span(self._start(word), end))
        self._nest(aggregate, *arguments, *body.literals)
        return aggregate

    # --- Common steps ---------------------------------------------------------------------------------------------------------

    def _operation(self, name: str, arguments: tuple[Term, ...], start: int, end: int) -> Operation:
        operation = Operation(name, arguments, self.source.span(start, end))
        self._nest(operation, *arguments)
        return operation

    def _constant(self, start: int, end: int, negative: bool = False, minus: int | None = None) -> Constant:
        written = self.source.text[start:end]
        shift = start
        if negative:
            written, shift = f"-{written}", start - 1
        span = self.source.span(start if minus is None else minus, end)
        try:
            return read_constant(written, span)
        except BadLiteral as bad:
            self._report(bad.message, max(start, shift + bad.start), shift + bad.end, bad.hint)
            return placeholder(written, span)

    def _nest(self, node: Nested, *parts: Term | Literal) -> None:
        depth = 1 + max(map(self._depth, parts), default=0)
        self._depths[id(node)] = depth
        self._nested.append(node)
        if depth == DEEPEST + 1:
            hint = "give a part of it a name by a rule of its own"
            self._report(f"this nests more than {DEEPEST} levels deep", node.span.start, node.span.end, hint)

    def _depth(self, part: Term | Literal) -> int:
        match part:
            case Atom(terms=terms):
                return max(map(self._depth, terms), default=0)
            case Comparison(left=left, right=right):
                return max(self._depth(left), self._depth(right))
            case _:
                return self._depths.get(id(part), 0)

    def _check_name(self, name: str, start: int) -> None:
        if name in ("true", "false"):
            self._report(f"`{name}` is a literal, not a name", start, start + len(name), "choose another name")

    def _token_span(self, token: Token) -> Span:
        return self.source.span(self._start(token), self._end(token))

    def _start(self, token: Token) -> int:
        assert token.start_pos is not None
        return self.base + token.start_pos

    def _end(self, token: Token) -> int:
        assert token.end_pos is not None
        return self.base + token.end_pos

    def _report(self, message: str, start: int, end: int, hint: str = "") -> None:
        self.findings.setdefault(start, self.source.diagnostic(message, start, end, hint))
