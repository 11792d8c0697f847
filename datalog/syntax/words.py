"""Words that the lexer takes for one terminal, told apart by what they are: `.decl` begins another clause than `.type` does."""

from __future__ import annotations

from lark import Token

CLAUSES = {
    ".type": "TYPE",
    ".symbol_type": "OLD_TYPE",
    ".number_type": "OLD_TYPE",
    **dict.fromkeys((".input", ".output", ".printsize", ".limitsize", ".override"), "DIRECTIVE"),
    ".plan": "PLAN",
    ".lattice": "LATTICE",
    ".functor": "FUNCTOR",
    **dict.fromkeys((".pragma", ".include", ".once"), "SETTING"),
    ".comp": "COMP",
    ".init": "INIT",
    "choice-domain": "CHOICE",
    "$": "AUTOINC",
}


def told_apart(token: Token) -> Token:
    """The token with its own type."""
    kind = CLAUSES.get(token)
    if kind is None and token[0] == "@":
        kind = "USER_AGGREGATE" if token.startswith("@@") else "USER_FUNCTOR"
    return token if kind is None else token.update(type=kind)
