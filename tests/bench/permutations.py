"""A program written in other ways that mean the same: its rules and the literals of their bodies in other orders."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

from datalog.syntax import format_clause, parse
from datalog.syntax.tree import Rule


def permuted(text: str, count: int, seed: int) -> Iterator[str]:
    """The program as it is, with all bodies reversed, and `count` times with everything shuffled."""
    clauses = parse(text).clauses
    rules = [clause for clause in clauses if isinstance(clause, Rule)]
    others = [clause for clause in clauses if not isinstance(clause, Rule)]
    generator = random.Random(seed)

    def written(rules: list[Rule]) -> str:
        return "\n".join(format_clause(clause) for clause in (*others, *rules))

    yield written(rules)
    yield written([replace(rule, body=replace(rule.body, literals=rule.body.literals[::-1])) for rule in rules])
    for _ in range(count):
        shuffled = [
            replace(rule, body=replace(rule.body, literals=tuple(generator.sample(rule.body.literals, len(rule.body.literals)))))
            for rule in generator.sample(rules, len(rules))
        ]
        yield written(shuffled)
