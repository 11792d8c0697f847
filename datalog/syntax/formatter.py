"""The canonical layout of a whole program: one clause a line, long rules one literal a line and so the bodies of long aggregates,
comments kept at what they explain.

The author's blank lines between clauses stay, as one each; a generated tree, which has no lines, gets one where the kind of
clause changes. What stands in a component is indented. A comment inside a rule stays at its literal, and one among the parts of a
declaration at that part, which breaks the clause into lines; inside a literal or any other clause it moves to a line of its own
before it. Formatting twice changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from datalog.syntax.printer import (
    format_body,
    format_clause,
    format_component_head,
    format_literal,
    format_part,
    format_parts,
    format_start,
    format_subsumption,
    format_term,
)
from datalog.syntax.tree import (
    Aggregate,
    AlgebraicDeclaration,
    Atom,
    Clause,
    Comment,
    Comparison,
    Component,
    Conjunction,
    Disjunction,
    Literal,
    Plan,
    Program,
    RecordDeclaration,
    Rule,
    Span,
    Subsumption,
)

WIDTH = 100
INDENT = "    "


@dataclass(slots=True)
class Line:
    """A line of code with the comments on lines of their own before it, and those at its end."""

    code: str
    before: list[Comment] = field(default_factory=list)
    trailing: list[Comment] = field(default_factory=list)
    indent: str = ""
    gap: bool = False  # whether a blank line stands before it

    def admits_trailing(self) -> bool:
        """Whether a comment may follow: not behind `//`, and behind a comment of several lines it would not trail the code."""
        return not self.trailing or not (self.trailing[-1].text.startswith("//") or "\n" in self.trailing[-1].text)

    def text(self) -> str:
        """With the line's end. Code of several lines stands in a rule, and knows the indentation of all but the components around it."""
        own = [f"{self.indent}{comment.text}" for comment in self.before]
        code = self.indent + self.code.replace("\n", f"\n{self.indent.removeprefix(INDENT)}")
        lines = [*own, " ".join([code, *(comment.text for comment in self.trailing)])] if self.code else own
        return "".join(("\n" * self.gap, *(f"{line}\n" for line in lines)))


def format_program(program: Program) -> str:
    """The program in canonical layout; `parse` gives the same tree back, but for comments that had to move to a line of their own."""
    page = _Page()
    page.fill(program.clauses, list(program.comments))
    return page.text()


class _Page:
    """The lines of the text so far, or of what stands in the braces of a component: then `opening` is the line with the brace."""

    def __init__(self, opening: Line | None = None) -> None:
        self.lines: list[Line] = [opening] if opening else []
        self._begun = len(self.lines)
        self._end_line = 0
        self._kind: type[Clause] | None = None

    def fill(self, clauses: tuple[Clause, ...], comments: list[Comment]) -> None:
        """Adds clauses, and the comments before, in and behind them."""
        for clause in clauses:
            while comments and comments[0].span.start < clause.span.start:
                self._add_comment(comments.pop(0))
            inside = []
            while comments and comments[0].span.start < clause.span.end:
                inside.append(comments.pop(0))
            self._add_clause(clause, inside)
        for comment in comments:
            self._add_comment(comment)

    def _add_comment(self, comment: Comment) -> None:
        last = self.lines[-1] if self.lines else None
        if comment.trailing and last is not None and last.code and last.admits_trailing():
            last.trailing.append(comment)
            self._end_line = max(self._end_line, comment.span.end_line)
        else:
            self._add([Line("", [comment])], comment.span, self._kind)

    def _add_clause(self, clause: Clause, inside: list[Comment]) -> None:
        kind = Rule if isinstance(clause, (Plan, Subsumption)) else type(clause)  # a plan belongs to the rule before it
        match clause:
            case Rule() | Subsumption():
                first, *others = _rule(clause, inside)
                self._add([first, *(_indented(line) for line in others)], clause.span, kind)
            case Component():
                self._add(self._component(clause, inside), clause.span, kind)
            case _:
                self._add(_listing(clause, inside) or [Line(format_clause(clause), inside)], clause.span, kind)

    def _component(self, component: Component, comments: list[Comment]) -> list[Line]:
        """Its head, its clauses, each indented already, and its closing brace."""
        head = max((part.span.end for part in (component.type, *component.bases)), default=0)
        before = [comment for comment in comments if comment.span.start < head]
        opening = Line(format_component_head(component), before)
        page = _Page(opening)
        page.fill(component.clauses, comments[len(before) :])
        return [opening, *map(_indented, page.lines[1:]), Line("}")]

    def _add(self, lines: list[Line], span: Span, kind: type[Clause] | None) -> None:
        generated = not span.line
        lines[0].gap = len(self.lines) > self._begun and (kind is not self._kind if generated else span.line - self._end_line > 1)
        self.lines += lines
        self._end_line = max(self._end_line, span.end_line)
        self._kind = kind

    def text(self) -> str:
        return "".join(line.text() for line in self.lines)


def _indented(line: Line) -> Line:
    line.indent += INDENT
    return line


def _rule(rule: Rule | Subsumption, comments: list[Comment]) -> list[Line]:
    """One line if it fits and no comment stands among the literals; else heads and arrow, then the body in lines."""
    whole = format_clause(rule)
    if not rule.body.literals:
        return [Line(whole, comments)]
    match rule.body.literals:
        case (Disjunction(branches),):
            pass
        case _:
            branches = (rule.body,)
    heads = format_start(rule) if isinstance(rule, Rule) else format_subsumption(rule)
    lines = [Line(code) for code in (heads, *_codes(branches, joined=False))]
    first, last = (rule.heads[0], rule.heads[-1]) if isinstance(rule, Rule) else (rule.less, rule.greater)
    around_heads = (first.span.start, last.span.end)
    literals = ((literal.span.start, literal.span.end) for branch in branches for literal in branch.literals)
    _place(comments, lines, [around_heads, *literals])
    if any(line.before for line in lines[1:]) or any(line.trailing for line in lines[:-1]):
        return lines
    # What comments there are will stand before and behind the clause, and not in it, when it is read again.
    codes = [whole] if len(whole) <= WIDTH else [heads, *_codes(branches, joined=len(branches) > 1)]
    before, trailing = lines[0].before, lines[-1].trailing
    lines = [Line(code) for code in codes]
    lines[0].before, lines[-1].trailing = before, trailing
    return lines


def _listing(clause: Clause, comments: list[Comment]) -> list[Line]:
    """A declaration with one part of its list a line, if comments stand among them or a type is long; nothing if it fits one line."""
    opening, parts, closing = format_parts(clause) or ("", (), "")
    whole = len(format_clause(clause)) > WIDTH and isinstance(clause, (RecordDeclaration, AlgebraicDeclaration))
    if not parts or not (comments or whole):
        return []
    if closing:
        codes = [f"{format_part(part)}," for part in parts[:-1]] + [format_part(parts[-1])]
    else:
        codes = [f"{'| ' if number else ''}{format_part(part)}" for number, part in enumerate(parts)]
    lines = [Line(opening), *(Line(code, indent=INDENT) for code in codes), *([Line(closing)] if closing else [])]
    _place(comments, lines, [(clause.span.start, clause.span.start + 1), *((part.span.start, part.span.end) for part in parts)])
    return lines


def _codes(branches: tuple[Conjunction, ...], joined: bool, indent: str = INDENT, end: str = ".") -> list[str]:
    """The body's lines: a literal each or, if `joined`, a branch each as far as it fits. Those of one literal are one code."""
    codes = []
    for number, branch in enumerate(branches, 1):
        stop = end if number == len(branches) else ";"
        together = f"{', '.join(map(format_literal, branch.literals))}{stop}"
        if joined and len(indent + together) <= WIDTH:
            codes.append(together)
        else:
            literals = [_literal(literal, indent) for literal in branch.literals]
            codes.extend(f"{literal}," for literal in literals[:-1])
            codes.append(f"{literals[-1]}{stop}")
    return codes


def _literal(literal: Literal, indent: str) -> str:
    """On one line if it fits, or if it has no aggregate on a side of its own; else that aggregate's body goes to lines of its own."""
    whole = format_literal(literal)
    match literal:
        case Atom(terms=(*_, Aggregate(body=body)), functional=True) | Comparison(right=Aggregate(body=body)):
            after = ""
        case Comparison(left=Aggregate(body=body) as left):
            after = whole.removeprefix(format_term(left))
        case _:
            return whole
    if len(indent + whole) < WIDTH:
        return whole
    match body.literals:
        case (Disjunction(branches),):
            pass
        case _:
            branches = (body,)
    inner = indent + INDENT
    before = whole.removesuffix(after).removesuffix(f" {format_body(body)} }}")
    lines = (inner + code for code in _codes(branches, joined=len(branches) > 1, indent=inner, end=""))
    return "\n".join((before, *lines, f"{indent}}}{after}"))


def _place(comments: list[Comment], lines: list[Line], places: list[tuple[int, int]]) -> None:
    """Gives each comment to the line whose code it precedes or stands in, or to the end of the line before; keeps their order."""
    for comment in comments:
        start = comment.span.start
        number = next((number for number, (_, end) in enumerate(places) if start < end), len(places))
        following = lines[min(number, len(lines) - 1)]
        in_gap = number == len(places) or start < places[number][0]
        overtakes = number < len(places) and bool(following.before)
        if number and comment.trailing and in_gap and not overtakes and lines[number - 1].admits_trailing():
            lines[number - 1].trailing.append(comment)
        else:
            following.before.append(comment)
