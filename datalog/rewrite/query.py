"""A query as core rules: the rule `?query(x̄) ← body`, x̄ the query's variables in order of first appearance.

Variables that occur in negated groups only are the groups' own and no columns. A query may need helper predicates, as any
rule; their names begin with `?query`, so that they never meet those of the program. So do its versions of predicates on demand.
"""

from __future__ import annotations

from dataclasses import dataclass

from datalog.analysis.desugar import Primitives
from datalog.analysis.query import analyse_query
from datalog.ir.core import QUERY, CoreRule, Predicate, Stratum
from datalog.ir.formulas import Program
from datalog.ir.primitives import PRIMITIVES
from datalog.rewrite.ask import Source, ask
from datalog.rewrite.existence import ask_existence
from datalog.rewrite.passes import PASSES
from datalog.rewrite.program import core_rules
from datalog.rewrite.read_in_place import read_in_place
from datalog.rewrite.stratify import stratify
from datalog.syntax import tree


@dataclass(frozen=True, slots=True)
class CoreQuery:
    """`head` is the predicate `?query`; `predicates` holds it and the query's helpers, all of them hidden and derived.

    `strata` index `rules` and cover these predicates only: dependencies first, `head` last. The rules read the program's
    predicates as they stand. A query without variables has a nullary head: one row if it holds, none if not.
    """

    head: Predicate
    columns: tuple[str, ...]
    predicates: dict[str, Predicate]
    rules: tuple[CoreRule, ...]
    strata: tuple[Stratum, ...]


def lower_query(
    body: tree.Conjunction, program: Program, text: str = "", primitives: Primitives = PRIMITIVES, source: Source | None = None
) -> CoreQuery:
    """The core rules of a query against an analysed program; `text` is the source that the query's spans point into.

    `primitives` are all that its terms may call, `source` is what is known of predicates on demand. Raises ProgramError with all
    errors of the query.
    """
    query = analyse_query(body, program, text, primitives)
    for rewrite in PASSES:
        query = rewrite(query)
    query = ask(query, source) if source is not None else query
    everything = {
        name: Predicate(name, signature.attributes, signature.types, name.startswith(QUERY), signature.hidden)
        for name, signature in query.signatures.items()
    }
    rules, asked = ask_existence(core_rules(query), everything, prefix=f"{QUERY}@")
    own = {name: predicate for name, predicate in (everything | asked).items() if predicate.derived}
    head = own[QUERY]
    return CoreQuery(head, head.attributes, own, tuple(rules), stratify(own, rules, read_in_place(query.aggregates, rules), text))
