"""The dialect's words in colour, for the REPL and for whatever else speaks Pygments."""

from __future__ import annotations

from pygments.lexer import RegexLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text

from datalog.syntax.aggregates import AGGREGATES
from datalog.syntax.skim import DIRECTIVES


class DatalogLexer(RegexLexer):  # type: ignore[misc]  # Pygments ships no types
    """Programs, changes, queries and the REPL's commands."""

    name = "Datalog"
    tokens = {  # noqa: RUF012 (Pygments reads it as a class attribute)
        "root": [
            (r"\s+", Text),
            (r"//[^\n]*", Comment.Single),
            (r"/\*", Comment.Multiline, "comment"),
            (rf"\.({'|'.join(DIRECTIVES)})\b", Keyword.Declaration),
            (r"@!?\s*\[[^\]]*\]", Comment.Special),
            (r"^\s*#.*", Comment.Preproc),
            (r"^:\w+", Keyword.Namespace),
            (r"\?-|:-|<-", Operator),
            (r"\b(commit|abort)\b(?=\s*\.)", Keyword),
            (r"\b(number|unsigned|float|symbol|bool|date|datetime|decimal)\b", Keyword.Type),
            (r"\b(true|false|nil)\b", Keyword.Constant),
            (r"@@?\w+(?=\s*\()|@@\w+|\bas(?=\s*\()", Name.Function),
            (r"\$[A-Za-z_?][\w?.]*", Name.Class),
            (r'"(?:[^"\\\n]|\\[^\n])*"?', String),
            (r"0x[0-9a-fA-F]+u?|0b[01]+u?|[0-9]+(?:\.[0-9]+){3}|[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?u?", Number),
            (r"\b(band|bor|bxor|bshl|bshru?|bnot|land|lor|lxor|lnot)\b", Operator.Word),
            (rf"\b({'|'.join(AGGREGATES)})\b(?=\s+[\w?\"-]|\s*:(?!-))", Keyword),
            (r"\bagg(?=\s*<<)", Keyword),
            (rf"\b({'|'.join(AGGREGATES)})\b(?=\s*\((?:[^()]|\([^()]*\))*\)\s*:(?!-))", Keyword),
            (r"[A-Za-z_?][\w?]*(?=\s*[(\[])", Name.Function),
            (r"[A-Za-z_?][\w?]*", Name.Variable),
            (r"[!<>=+\-*/%^$|]+", Operator),
            (r"[().,;:\[\]{}]", Punctuation),
            (r".", Text),
        ],
        "comment": [(r"\*/", Comment.Multiline, "#pop"), (r"[^*]+|\*", Comment.Multiline)],
    }
