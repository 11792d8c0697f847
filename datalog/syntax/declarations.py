"""Makes the declarations of the tree: predicates, types, functors, directives, components."""

from __future__ import annotations

from typing import Literal as OneOf
from typing import cast

from lark import Token, v_args

from datalog.syntax.terms import TermBuilder
from datalog.syntax.tree import (
    AlgebraicDeclaration,
    Attribute,
    BranchDeclaration,
    Clause,
    Component,
    ComponentType,
    Declaration,
    DeltaDeclaration,
    Directive,
    FunctorDeclaration,
    Include,
    Instantiation,
    LatticeDeclaration,
    Once,
    Override,
    Plan,
    PlanVersion,
    Pragma,
    RecordDeclaration,
    Span,
    Term,
    TypeDeclaration,
    UnionDeclaration,
)

LARGEST_PLACE = 9999  # of an atom in a plan
STRINGS = {".pragma": (1, 2), ".include": (1, 1), ".once": (0, 0)}  # fewest and most

# Parts, and the offset behind the last of them.
Signature = tuple[tuple[Attribute, ...], int]
Parameter = tuple[str, str | int]
Parameters = tuple[tuple[Parameter, ...], int]
Written = tuple[str, int]
Key = tuple[tuple[str, ...], int]
Qualities = tuple[tuple[str, ...], tuple[tuple[str, ...], ...], int]  # 0 where there are none
Head = tuple[Token, ComponentType, tuple[ComponentType, ...]]


@v_args(inline=True)
class DeclarationBuilder(TermBuilder):
    """Lark calls the methods with the values of a rule's parts; named tokens come along, punctuation does not."""

    # --- Predicates -----------------------------------------------------------------------------------------------------------

    def declaration(self, keyword: Token, names: list[Token], signature: Signature, qualities: Qualities) -> Declaration:
        attributes, end = signature
        qualifiers, choices, last = qualities
        return Declaration(tuple(map(str, names)), attributes, qualifiers, self._clause_span(keyword, max(end, last)), choices=choices)

    def functional_declaration(
        self, keyword: Token, names: list[Token], keys: Signature, _sign: Token, value: Attribute, qualities: Qualities
    ) -> Declaration:
        qualifiers, choices, last = qualities
        span = self._clause_span(keyword, max(value.span.end, last))
        return Declaration(tuple(map(str, names)), (*keys[0], value), qualifiers, span, functional=True, choices=choices)

    def delta_declaration(
        self,
        keyword: Token,
        names: list[Token],
        _sign: Token,
        word: Token,
        _opening: Token,
        of: Token,
        closing: Token,
        qualities: Qualities,
    ) -> DeltaDeclaration:
        qualifiers, choices, last = qualities
        span = self._clause_span(keyword, max(self._end(closing), last))
        if word != "debug_delta":
            self._report(f"`{word}` makes no predicate", self._start(word), self._end(word), "write `.decl d = debug_delta(p)`")
        if len(names) > 1:
            self._report("one predicate at a time is declared so", self._start(names[1]), self._end(names[1]))
        if choices:
            self._report("a choice-domain belongs to a predicate with columns", span.start, span.end)
        return DeltaDeclaration(str(names[0]), str(of), qualifiers, span)

    def names(self, *names: Token) -> list[Token]:
        return list(names)

    def signature(self, *parts: Attribute | Token) -> Signature:
        return cast(tuple[Attribute, ...], parts[:-1]), self._end(cast(Token, parts[-1]))

    functor_signature = signature

    def attribute(self, name: Token, _colon: Token, type_name: Written) -> Attribute:
        written, end = type_name
        return Attribute(str(name), written, self.source.span(self._start(name), end))

    def lattice_attribute(self, name: Token, _colon: Token, type_name: Written, _less: Token, greater: Token) -> Attribute:
        return Attribute(str(name), type_name[0], self.source.span(self._start(name), self._end(greater)), lattice=True)

    def nameless_attribute(self, type_name: Written) -> Attribute:
        written, end = type_name
        return Attribute("", written, self.source.span(end - len(written), end))

    def qualities(self, *parts: Token | Key) -> Qualities:
        qualifiers = [part for part in parts if isinstance(part, Token)]
        keys = [part for part in parts if not isinstance(part, Token)]
        last = keys[-1][1] if keys else self._end(qualifiers[-1]) if qualifiers else 0
        return tuple(str(word) for word in qualifiers if word.type != "CHOICE"), tuple(names for names, _ in keys), last

    def key(self, *parts: Token) -> Key:
        return tuple(str(part) for part in parts if part.type == "NAME"), self._end(parts[-1])

    # --- Types, functors ------------------------------------------------------------------------------------------------------

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

    def same_type(self, keyword: Token, name: Token, _sign: Token, *types: Written) -> TypeDeclaration | UnionDeclaration:
        span = self._clause_span(keyword, types[-1][1])
        if len(types) > 1:
            return UnionDeclaration(str(name), tuple(written for written, _ in types), span)
        return TypeDeclaration(str(name), types[0][0], False, span)

    def named_type(self, keyword: Token, name: Token) -> TypeDeclaration:
        """Old Soufflé's `.number_type X`, `.symbol_type X`, and `.type X`, which meant symbols."""
        base = "number" if keyword == ".number_type" else "symbol"
        return TypeDeclaration(str(name), base, True, self._clause_span(keyword, self._end(name)))

    def record_type(self, keyword: Token, name: Token, _sign: Token, *parts: Attribute | Token) -> RecordDeclaration:
        span = self._clause_span(keyword, self._end(cast(Token, parts[-1])))
        return RecordDeclaration(str(name), cast(tuple[Attribute, ...], parts[:-1]), span)

    def algebraic_type(self, keyword: Token, name: Token, _sign: Token, *branches: BranchDeclaration) -> AlgebraicDeclaration:
        return AlgebraicDeclaration(str(name), branches, self._clause_span(keyword, branches[-1].span.end))

    def branch(self, name: Token, *parts: Attribute | Token) -> BranchDeclaration:
        span = self.source.span(self._start(name), self._end(cast(Token, parts[-1])))
        return BranchDeclaration(str(name), cast(tuple[Attribute, ...], parts[:-1]), span)

    def lattice(
        self, keyword: Token, type_name: Written, _less: Token, _greater: Token, *parts: tuple[str, Term] | Token
    ) -> LatticeDeclaration:
        span = self._clause_span(keyword, self._end(cast(Token, parts[-1])))
        return LatticeDeclaration(type_name[0], cast(tuple[tuple[str, Term], ...], parts[:-1]), span)

    def lattice_operator(self, name: Token, term: Term) -> tuple[str, Term]:
        return str(name), term

    def functor(
        self, keyword: Token, name: Token, signature: Signature, _colon: Token, result: Written, stateful: Token | None = None
    ) -> FunctorDeclaration:
        span = self._clause_span(keyword, self._end(stateful) if stateful else result[1])
        return FunctorDeclaration(str(name), signature[0], result[0], stateful is not None, span)

    # --- Directives, settings, plans ------------------------------------------------------------------------------------------

    def directive(self, keyword: Token, names: list[Token], parameters: Parameters | None = None) -> Directive | Override:
        pairs, end = parameters or ((), self._end(names[-1]))
        span = self._clause_span(keyword, end)
        if keyword == ".override":
            if parameters or len(names) > 1:
                self._report("`.override` takes one name", self._end(names[0]), end, "write one `.override` for each predicate")
            return Override(str(names[0]), span)
        kind = cast(OneOf["input", "output", "printsize", "limitsize"], str(keyword[1:]))
        return Directive(kind, tuple(map(str, names)), pairs, span)

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

    def setting(self, keyword: Token, *strings: Token) -> Pragma | Include | Once:
        span = self._clause_span(keyword, self._end(strings[-1] if strings else keyword))
        fewest, most = STRINGS[keyword]
        if not fewest <= len(strings) <= most:
            wanted = {".pragma": "one or two strings", ".include": "one string, the file", ".once": "no string"}[keyword]
            self._report(f"`{keyword}` takes {wanted}", span.start, span.end)
        texts = [self.text_value(token) for token in strings]
        if keyword == ".once":
            return Once(span)
        if keyword == ".include":
            return Include("".join(texts), span)
        return Pragma(texts[0] if texts else "", texts[1] if len(texts) > 1 else "", span)

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

    # --- Components -----------------------------------------------------------------------------------------------------------

    def component_head(self, keyword: Token, *parts: ComponentType | Token) -> Head:
        types = [part for part in parts if isinstance(part, ComponentType)]
        opening = self.source.text.index("{", types[-1].span.end)
        self.finished = opening + 1
        return keyword, types[0], tuple(types[1:])

    def component(self, head: Head, *parts: Clause | Token) -> Component:
        keyword, type_, bases = head
        clauses = cast(tuple[Clause, ...], parts[:-1])
        component = Component(type_, bases, clauses, self._clause_span(keyword, self._end(cast(Token, parts[-1]))))
        self._nest(component, *(clause for clause in clauses if isinstance(clause, Component)))
        return component

    def component_type(self, name: Token, *parts: Token | Written) -> ComponentType:
        parameters = tuple(part[0] for part in parts if not isinstance(part, Token))
        last = cast(Token, parts[-1]) if parts else name
        return ComponentType(str(name), parameters, self.source.span(self._start(name), self._end(last)))

    def init(self, keyword: Token, name: Token, _sign: Token, component: ComponentType) -> Instantiation:
        return Instantiation(str(name), component, self._clause_span(keyword, component.span.end))

    # --- Common steps ---------------------------------------------------------------------------------------------------------

    def _clause_span(self, keyword: Token, end: int) -> Span:
        self.finished = end
        return self.source.span(self._start(keyword), end)
