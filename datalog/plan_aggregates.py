"""What `datalog plan` says of an aggregate: what is kept for it, and how it follows changes.

In words, what `datalog.evaluate.aggregates` has decided and `datalog.maintain.aggregates` does.
"""

from __future__ import annotations

from collections.abc import Iterator

from datalog.evaluate.aggregates import way_of
from datalog.ir.core import CoreAggregate, CoreFunction

SCANNED = {"min": "least value", "max": "greatest value", "product": "product", "bitand": "and", "bitor": "or", "bitxor": "exclusive or"}
ANEW = "its stratum is evaluated anew"


def kept_texts(aggregate: CoreAggregate) -> Iterator[str]:
    """What results are read from, by function if there are several."""
    for function in aggregate.functions:
        text = kept_text(aggregate, function)
        yield text if len(aggregate.functions) == 1 else f"{function.name}: {text}"


def kept_text(aggregate: CoreAggregate, function: CoreFunction) -> str:
    """What a function's results are read from, and what reading one costs for n rows in the group or interval."""
    name, source = function.name, aggregate.read
    match way_of(aggregate, function):
        case "counts":
            counts = f"the rows of {source}, counted" if aggregate.origin else f"the counts of {source}, added up"
            return f"{counts} in its tree: O(log n) a result"
        case "added":
            return "the sum before, to which exact changes are added: O(1) a result"
        case "totals":
            return "exact sums in chunks of 32 bits, rounded at the end: O(log n) a result"
        case "scan":
            again = "; a product beyond 63 bits is made again from the rows" if name == "product" else ""
            return f"a tree of the values with a scan of their {SCANNED[name]}: O(log n) a result{again}"
        case "order":
            ties = "; symbols that begin with the same eight bytes are compared" if function.ordered else ""
            return f"the order of {source}: O(log n) a result{ties}"
        case "rows":
            return f"nothing but {source}, whose rows are read: O(n) a result"


def upkeep_text(aggregate: CoreAggregate, maintain: str) -> str:
    """How results follow changes of the source."""
    if aggregate.asked:
        return f"each round is told the results for the groups that it brings to {aggregate.asked}; {ANEW}"
    if maintain == "recompute":
        return ANEW
    reach = "the intervals around changed rows, which an index finds," if aggregate.needs else "the groups of changed rows"
    way = f"{reach} are asked again"
    return f"{way}, or {ANEW} where that takes fewer steps" if maintain == "auto" else way
