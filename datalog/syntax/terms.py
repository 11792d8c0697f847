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
    Branch,
    Cast,
    Comment,
    Comparison,
    Component,
    Conjunction,
    Constant,
    Disjunction,
    Literal,
    Negation,
    Nil,
    Operation,
    Program,
    Record,
    Span,
    Term,
    Variable,
    Wildcard,
)

DEEPEST = 200  # nested operations and groups: the walks over a tree are recursive, and Python's stack is not endless

# The value of some rules is a tuple of parts and the offset behind the last of them.
Arguments = tuple[tuple[Term, ...], int]
Call = tuple[Token, Arguments]
Begun = tuple[Token, tuple[Term, ...], Term | None]  # an aggregate up to its body
Nested = Operation | Application | Aggregate | Record | Branch | Cast | Negation | Disjunction | Component

PLACES = frozenset(("__FILE__", "__LINE__", "__INCL__"))


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
        self._annotations = source.annotations[::-1]  # those that have not been met yet
        self._depths: dict[int, int] = {}  # by id of a node; `_nested` keeps the nodes alive so that no id is used twice
        self._nested: list[Nested] = []
        self._aggregates: set[int] = set()  # where aggregates begin, as far as `_looked_to`
        self._looked_to = base

    def aggregate_word(self, token: Token) -> Token:
        """Not a rule: the lexer asks at each word that may begin an aggregate, and takes it for a name if it does not."""
        start = self._start(token)
        if start >= self._looked_to:
            self._aggregates, self._looked_to = aggregates(self.source.code, start)
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

    def variable(self, name: Token) -> Variable | Nil | Constant:
        span = self._token_span(name)
        if name == "nil":
            return Nil(span)
        if name in PLACES:
            return self._place(name, span)
        self._check_name(name, self._start(name))
        return Variable(str(name), span)

    def _place(self, word: Token, span: Span) -> Constant:
        """Where the word stands, as text or number."""
        if word == "__LINE__":
            return Constant(span.line, "number", str(word), span)
        text = span.file if word == "__FILE__" else self.source.included_from(span.start)
        return Constant(text, "symbol", str(word), span)

    def wildcard(self, token: Token) -> Wildcard:
        return Wildcard(self._token_span(token))

    def symbol(self, token: Token) -> Constant:
        return self._constant(self._start(token), self._end(token))

    def number(self, token: Token) -> Constant:
        return self._constant(self._start(token), self._end(token))

    def record(self, opening: Token, *parts: Term | Token) -> Record:
        fields = cast(tuple[Term, ...], parts[:-1])
        record = Record(fields, self.source.span(self._start(opening), self._end(cast(Token, parts[-1]))))
        self._nest(record, *fields)
        return record

    def branch_of(self, sign: Token, arguments: Arguments | None = None) -> Branch:
        terms, end = arguments or ((), self._end(sign))
        branch = Branch(sign[1:].lstrip(), terms, self.source.span(self._start(sign), end))
        self._nest(branch, *terms)
        return branch

    def counter(self, sign: Token) -> Operation:
        return self._operation("autoinc", (), self._start(sign), self._end(sign))

    def casting(self, word: Token, _opening: Token, term: Term, type_name: tuple[str, int]) -> tuple[Token, Term, str]:
        return word, term, type_name[0]

    def cast(self, casting: tuple[Token, Term, str], closing: Token) -> Cast:
        word, term, type_name = casting
        found = Cast(term, type_name, self.source.span(self._start(word), self._end(closing)))
        self._nest(found, term)
        return found

    def user_operation(self, name: Token, arguments: Arguments) -> Operation:
        terms, end = arguments
        return self._operation(f"@{name[1:].lstrip()}", terms, self._start(name), end)

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

    def aggregated(self, word: Token, *parts: Term | Token) -> Begun:
        return word, cast(tuple[Term, ...], parts[:-1]), None

    def begun_aggregate(self, word: Token, *parts: Term | Token) -> Begun:
        """What the user's own aggregate begins with stands behind its colon."""
        initial = cast(Term, parts[-1])
        return word, cast(tuple[Term, ...], parts[:-2]), initial

    def aggregate(self, begun: Begun, body: Conjunction, closing: Token) -> Aggregate:
        return self._aggregate(begun, body, self._end(closing))

    def aggregate_of_atom(self, begun: Begun, atom: Atom) -> Aggregate:
        return self._aggregate(begun, Conjunction((atom,), atom.span), atom.span.end)

    def _aggregate(self, begun: Begun, body: Conjunction, end: int) -> Aggregate:
        word, arguments, initial = begun
        aggregate = Aggregate(str(word), arguments, body, self.source.span(self._start(word), end), initial=initial)
        self._nest(aggregate, *arguments, *(() if initial is None else (initial,)), *body.literals)
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

    def _nest(self, node: Nested, *parts: Term | Literal | Component) -> None:
        depth = 1 + max(map(self._depth, parts), default=0)
        self._depths[id(node)] = depth
        self._nested.append(node)
        if depth == DEEPEST + 1:
            hint = "give a part of it a name by a rule of its own"
            self._report(f"this nests more than {DEEPEST} levels deep", node.span.start, node.span.end, hint)

    def _depth(self, part: Term | Literal | Component) -> int:
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
