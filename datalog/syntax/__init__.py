"""The surface syntax: text to tree, tree to text, in both dialects."""

from datalog.syntax.formatter import format_program
from datalog.syntax.parser import parse, parse_atom, parse_literals
from datalog.syntax.printer import format_clause, format_literal, format_rule, format_term

__all__ = ["format_clause", "format_literal", "format_program", "format_rule", "format_term", "parse", "parse_atom", "parse_literals"]
