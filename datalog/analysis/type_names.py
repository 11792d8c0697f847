"""The names of the primitive types, and what people who come from elsewhere call them."""

from __future__ import annotations

from collections.abc import Iterable

from datalog.analysis.findings import did_you_mean
from datalog.ir.core import Type

PRIMITIVES = {type_.value: type_ for type_ in Type.ALL}
LISTED = ", ".join(type_.value for type_ in Type.ALL if type_.scale < 0) + " or decimal(scale)"

_SCALE = "say how many digits stand behind the point: decimal(2)"
_OTHER_NAMES = {  # what other languages call them
    **dict.fromkeys(("int", "integer", "long", "bigint"), "number"),
    "uint": "unsigned",
    **dict.fromkeys(("double", "real"), "float"),
    **dict.fromkeys(("string", "str", "text", "varchar"), "symbol"),
    "boolean": "bool",
    **dict.fromkeys(("timestamp", "time"), "datetime"),
}


def hint_for(name: str, known: Iterable[str]) -> str:
    """What to write in place of an unknown type's name, or else which types there are."""
    if name in ("decimal", "numeric", "money"):
        return _SCALE
    if name.lower() in _OTHER_NAMES:
        return f"write `{_OTHER_NAMES[name.lower()]}`"
    if name.startswith("decimal("):
        return f"a decimal has 64 bits, and 0 to {len(Type.DECIMALS) - 1} digits behind the point"
    return did_you_mean(name, (other for other in known if not other.startswith("decimal("))) or f"the types are {LISTED}"
