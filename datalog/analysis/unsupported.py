"""What the grammar reads and no program may have when it is analysed: refused where it stands."""

from __future__ import annotations

from datalog.analysis.findings import Findings
from datalog.syntax.tree import Include, Program


def refuse_unsupported(program: Program, findings: Findings) -> None:
    """Report what is left of the text's preparation, and raise ProgramError if there is anything."""
    for clause in program.clauses:
        if isinstance(clause, Include):
            hint = "a program that is read from a file or given whole may include others"
            findings.add(clause.span, f'"{clause.file}" is not included here', hint)
    findings.raise_if_any()
