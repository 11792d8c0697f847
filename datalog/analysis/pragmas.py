"""What a program says of itself: which dialect it is written in, and `.pragma "key" "value"`.

Pragmas are options of the command line that a program gives itself. The command line wins over them.

Soufflé takes every one of its long options there. Some say the same here, some say nothing that an engine without a compiler needs, and
those are passed over; of the rest, and of keys that nobody knows, a warning says that they do nothing. `dialect` and `overflow` are our
own: settings, which win over them, say the same.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping

from datalog.analysis.findings import Findings, did_you_mean
from datalog.errors import IgnoredPragma
from datalog.ir.dialect import WORDS
from datalog.syntax.tree import Declaration, Pragma, Program, Rule

HONOURED = frozenset(
    {
        "fact-dir",
        "inline-exclude",
        "jobs",
        "libraries",
        "library-dir",
        "magic-transform",
        "magic-transform-exclude",
        "no-warn",
        "output-dir",
        *WORDS,
    }
)
NEEDLESS = frozenset({"disable-transformers", "legacy", "suppress-warnings", "warn", "wno"})
WITHOUT_EFFECT = {
    "auto-schedule": "orders come from statistics by themselves",
    "compile": "nothing is compiled here",
    "compile-many": "nothing is compiled here",
    "debug-report": "`datalog plan` shows the program as it is evaluated",
    "dl-program": "nothing is compiled here",
    "emit-statistics": "orders come from statistics by themselves",
    "generate": "no C++ is generated here",
    "generate-many": "no C++ is generated here",
    "generate-namespace": "no C++ is generated here",
    "include-dir": "the command line says it: -I DIR",
    "live-profile": "`datalog plan --run` shows what was done",
    "macro": "the command line says it: -M NAME=VALUE",
    "no-preprocessor": "the command line says it",
    "parse-errors": "`datalog check` shows them",
    "preprocessor": "the command line says it",
    "profile": "`datalog plan --run` shows what was done",
    "profile-frequency": "`datalog plan --run` shows what was done",
    "provenance": "`datalog explain` shows proofs",
    "show": "`datalog plan` shows the program as it is evaluated",
    "swig": "no C++ is generated here",
    "verbose": "nothing more is said",
}


def read_pragmas(program: Program, findings: Findings) -> Mapping[str, str]:
    """The values of the pragmas, as they were written; of several with one key the last. Warns of those without effect."""
    found: dict[str, str] = {}
    for clause in program.clauses:
        if not isinstance(clause, Pragma):
            continue
        key, value, span = clause.key, clause.value, clause.span
        if value not in WORDS.get(key, (value,)):
            one, other = WORDS[key]
            findings.add(span, f'the pragma `{key}` is "{one}" or "{other}", not "{value}"')
        elif key == "jobs" and not is_jobs(value):
            findings.add(span, f'the pragma `jobs` is a number of threads, or "auto", not "{value}"')
        elif key not in HONOURED and key not in NEEDLESS:
            why = WITHOUT_EFFECT.get(key) or did_you_mean(key, HONOURED | NEEDLESS | WITHOUT_EFFECT.keys()) or "there is no such option"
            warnings.warn_explicit(IgnoredPragma(f"the pragma `{key}` has no effect: {why}"), None, span.file, span.line)
        found[key] = value
    return found


def is_strict(pragmas: Mapping[str, str]) -> bool:
    """Whether what Soufflé refuses is refused also where it would have a meaning here."""
    return pragmas.get("dialect") == "souffle"


def wraps_around(pragmas: Mapping[str, str]) -> bool:
    """Whether numbers that leave 64 bits wrap around."""
    return pragmas.get("overflow", "wrap" if is_strict(pragmas) else "error") == "wrap"


def is_jobs(text: str) -> bool:
    """Whether a text says a number of threads: 0 and auto are one a core."""
    return text == "auto" or (text.isascii() and text.isdecimal() and len(text) < 6)


def threads_of(text: str) -> int | None:
    """The threads that such a text asks for; None: one a core."""
    return None if text == "auto" or int(text) == 0 else int(text)


def is_of_papers(program: Program) -> bool:
    """Whether something is written as only the papers' dialect has it: an arrow `<-`, a function, an undeclared predicate."""
    declared: set[str] = set()
    used: set[str] = set()
    for clause in program.clauses:
        match clause:
            case Declaration():
                if clause.functional:
                    return True
                declared.update(clause.predicates)
            case Rule():
                if clause.arrow == "<-" or any(head.functional for head in clause.heads):
                    return True
                used.update(head.predicate for head in clause.heads)
    return not used <= declared
