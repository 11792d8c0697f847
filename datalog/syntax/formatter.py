"""The canonical layout of a whole program: one clause a line, long rules one literal a line, comments kept at what they explain.

The author's blank lines between clauses stay, as one each; a generated tree, which has no lines, gets one where the kind of
clause changes. A comment inside a rule stays at its literal, which breaks the rule into lines; inside a literal or any other
clause it moves to a line of its own before it. Formatting twice changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from datalog.syntax.printer import format_body, format_clause, format_heads, format_literal
from datalog.syntax.tree import Clause, Comment, Conjunction, Disjunction, Program, Rule, Span

WIDTH = 100
INDENT = "    "


@dataclass(slots=True)
class Line:
    """A line of code with the comments on lines of their own before it, and those at its end."""

    code: str
    before: list[Comment] = field(default_factory=list)
    trailing: list[Comment] = field(default_factory=list)

    def admits_trailing(self) -> bool:
        return not self.trailing or not self.trailing[-1].text.startswith("//")

    def text(self, indent: str) -> str:
        own = [f"{indent}{comment.text}" for comment in self.before]
        return "\n".join([*own, " ".join([indent + self.code, *(comment.text for comment in self.trailing)])])


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
        self._add(_rule(clause, inside) if isinstance(clause, Rule) else [Line(format_clause(clause), inside)], clause.span, type(clause))

    def _add(self, lines: list[Line], span: Span, kind: type[Clause] | None) -> None:
        generated = not span.line
        self._gaps.append(bool(self._blocks) and (kind is not self._kind if generated else span.line - self._end_line > 1))
        self._blocks.append(lines)
        self._end_line = max(self._end_line, span.end_line)
        self._kind = kind

    def text(self) -> str:
        parts = []
        for lines, gap in zip(self._blocks, self._gaps, strict=True):
            block = "\n".join(line.text(INDENT if number else "").rstrip("\n ") for number, line in enumerate(lines))
            parts.append(f"\n{block}\n" if gap else f"{block}\n")
        return "".join(parts)


def _rule(rule: Rule, comments: list[Comment]) -> list[Line]:
    whole = format_clause(rule)
    if not rule.body.literals or (not comments and len(whole) <= WIDTH):
        return [Line(whole, comments)]
    pieces = _pieces(rule.body, fine=bool(comments))
    lines = [Line(f"{format_heads(rule)} {rule.arrow or ':-'}"), *(Line(code) for code, _ in pieces)]
    spans = [_heads_span(rule), *(span for _, span in pieces)]
    _place(comments, lines, spans)
    return lines
