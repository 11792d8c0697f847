"""Names that are probably meant for others: nothing is wrong with them, but what they say does nothing.

Nobody has to declare predicates, so a fact `edgee(1, 2)` beside a declaration of `edge` says something of another predicate, which
nothing reads. And a predicate that is to be on demand may have no rules, or not be there.
"""

from __future__ import annotations

import warnings

from datalog.analysis.dependencies import rule_edges
from datalog.analysis.findings import did_you_mean
from datalog.errors import LikelyTypo
from datalog.ir.demand import EVERYTHING, Demand
from datalog.ir.formulas import Program


def warn_of_likely_typos(program: Program) -> None:
    """Warn of predicates without a declaration that nothing reads or shows and whose names are nearly those of declared ones."""
    read = {predicate for head, predicate, _, _ in rule_edges(program.rules) if head != predicate}
    read.update(name for directive in program.directives for name in directive.predicates)
    if not any(directive.kind in ("output", "printsize") for directive in program.directives):
        read.update(head.predicate for rule in program.rules for head in rule.heads)  # all that is derived is shown
    declared = [name for name, one in program.signatures.items() if one.declared and not one.hidden]
    for name, one in program.signatures.items():
        if not (one.declared or one.hidden or name in read) and (hint := did_you_mean(name, declared)):
            message = LikelyTypo(f"`{name}` has no declaration, and nothing reads it; {hint}")
            warnings.warn_explicit(message, None, one.span.file or program.file, one.span.line)


def warn_of_unknown_on_demand(program: Program, demand: Demand) -> None:
    """Warn of names that pragmas or `demand` put on demand, or exclude from that, and that are no predicates of the program."""
    known = (*program.signatures, *program.inline)
    wanted = demand.joined(program.demand)
    for name in sorted((wanted.asked | wanted.excluded) - {EVERYTHING, *known}):
        wish = "evaluated on demand" if name in wanted.asked else "left whole"
        told = f"there is no predicate `{name}`, which is to be {wish}"
        hint = did_you_mean(name, known)
        warnings.warn_explicit(LikelyTypo("; ".join(filter(None, (told, hint)))), None, program.file, 0)
