"""The canonical layout of a whole program: one clause a line, long rules one literal a line and so the bodies of long aggregates,
comments kept at what they explain.

The author's blank lines between clauses stay, as one each; a generated tree, which has no lines, gets one where the kind of
clause changes. A comment inside a rule stays at its literal, which breaks the rule into lines; inside a literal or any other
clause it moves to a line of its own before it. Formatting twice changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from datalog.syntax.printer import format_body, format_clause, format_literal, format_rule, format_start, format_term
from datalog.syntax.tree import (
    Aggregate,
    Atom,
    Clause,
    Comment,
    Comparison,
    Conjunction,
    Disjunction,
    Literal,
    Plan,
    Program,
    Rule,
    Span,
)

WIDTH = 100
INDENT = "    "


@dataclass(slots=True)
class Line:
    """A line of code with the comments on lines of their own before it, and those at its end."""

    code: str
    before: list[Comment] = field(default_factory=list)
    trailing: list[Comment] = field(default_factory=list)

    def admits_trailing(self) -> bool:
        """Whether a comment may follow: not behind `//`, and behind a comment of several lines it would not trail the code."""
        return not self.trailing or not (self.trailing[-1].text.startswith("//") or "\n" in self.trailing[-1].text)

    def text(self, indent: str) -> str:
        own = [f"{indent}{comment.text}" for comment in self.before]
        code = [" ".join([indent + self.code, *(comment.text for comment in self.trailing)])] if self.code else []
        return "\n".join(own + code)


def format_program(program: Program) -> str:
    """The program in canonical layout; `parse` gives the same tree back, but for comments that had to move to a line of their own."""
    page = _Page()
    comments = list(program.comments)
    for clause in program.clauses:
        while comments and comments[0].span.start < clause.span.start:
            page.add_comment(comments.pop(0))
        inside = []
        while comments and comments[0].span.start < clause.span.end:
            inside.append(comments.pop(0))
        page.add_clause(clause, inside)
    for comment in comments:
        page.add_comment(comment)
    return page.text()


class _Page:
    """The blocks of the text so far: a block is a clause with what is on its lines, or a comment."""

    def __init__(self) -> None:
        self._blocks: list[list[Line]] = []
        self._gaps: list[bool] = []  # whether a blank line stands before the block
        self._end_line = 0
        self._kind: type[Clause] | None = None

    def add_comment(self, comment: Comment) -> None:
        last = self._blocks[-1][-1] if self._blocks else None
        if comment.trailing and last is not None and last.code and last.admits_trailing():
            last.trailing.append(comment)
            self._end_line = max(self._end_line, comment.span.end_line)
        else:
            self._add([Line("", [comment])], comment.span, self._kind)

    def add_clause(self, clause: Clause, inside: list[Comment]) -> None:
        lines = _rule(clause, inside) if isinstance(clause, Rule) else [Line(format_clause(clause), inside)]
        self._add(lines, clause.span, Rule if isinstance(clause, Plan) else type(clause))  # a plan belongs to the rule before it

    def _add(self, lines: list[Line], span: Span, kind: type[Clause] | None) -> None:
        generated = not span.line
        self._gaps.append(bool(self._blocks) and (kind is not self._kind if generated else span.line - self._end_line > 1))
        self._blocks.append(lines)
        self._end_line = max(self._end_line, span.end_line)
        self._kind = kind

    def text(self) -> str:
        parts = []
        for lines, gap in zip(self._blocks, self._gaps, strict=True):
            block = "\n".join(line.text(INDENT if number else "") for number, line in enumerate(lines))
            parts.append(f"\n{block}\n" if gap else f"{block}\n")
        return "".join(parts)


def _rule(rule: Rule, comments: list[Comment]) -> list[Line]:
    """One line if it fits and no comment stands among the literals; else heads and arrow, then the body in lines."""
    whole = format_rule(rule)
    if not rule.body.literals:
        return [Line(whole, comments)]
    match rule.body.literals:
        case (Disjunction(branches),):
            pass
        case _:
            branches = (rule.body,)
    heads = format_start(rule)
    lines = [Line(code) for code in (heads, *_codes(branches, joined=False))]
    around_heads = (rule.heads[0].span.start, rule.heads[-1].span.end)
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
