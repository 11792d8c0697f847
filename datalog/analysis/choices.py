"""Choice domains of a declaration: the keys of which each has one row, by the places of their columns.

`choice-domain x, (y, z)`. A key that holds all columns of another one says nothing more and is left out, as is one of all columns.
"""

from __future__ import annotations

from datalog.analysis.findings import Findings, did_you_mean
from datalog.syntax.tree import Declaration


def choice_keys(declaration: Declaration, findings: Findings) -> tuple[tuple[int, ...], ...]:
    """The keys, each with its columns in order; what is wrong with them is reported."""
    places = {attribute.name: at for at, attribute in enumerate(declaration.attributes)}
    names = " and ".join(f"`{name}`" for name in declaration.predicates)
    if declaration.choices and declaration.functional:
        findings.add(declaration.span, f"{names} is functional, and has a choice domain", "declare it as a relation")
    if declaration.choices and "eqrel" in declaration.qualifiers:
        findings.add(declaration.span, f"{names} is an equivalence, and has a choice domain", "an equivalence has all rows that follow")
    keys: set[frozenset[int]] = set()
    for choice in declaration.choices:
        unknown = [name for name in choice if name not in places]
        for name in unknown:
            shown = f"`{declaration.predicates[0]}` has the columns {', '.join(places)}" if places else "it has no columns"
            findings.add(
                declaration.span, f"the choice domain names a column `{name}`, which {names} has not", did_you_mean(name, places) or shown
            )
        if not unknown:
            keys.add(frozenset(places[name] for name in choice))
    least = [key for key in keys if len(key) < len(places) and not any(other < key for other in keys)]
    return tuple(sorted(tuple(sorted(key)) for key in least))
