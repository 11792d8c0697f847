"""A rule with several heads becomes one rule a head, each with the whole body."""

from __future__ import annotations

from dataclasses import replace

from datalog.analysis.quantify import quantify
from datalog.ir.formulas import Program


def split_heads(program: Program) -> Program:
    """The program with one head a rule."""
    rules = tuple(quantify([head], rule.body, rule.span, rule.text) for rule in program.rules for head in rule.heads)
    return replace(program, rules=rules)
