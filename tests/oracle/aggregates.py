"""What aggregates give for the rows of a group, each row as often as there are assignments that give it.

Sums and means are exact fractions, rounded once; the rest follows the order of values.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from operator import and_, or_, xor
from typing import Any

from tests.oracle.functors import FUNCTORS
from tests.oracle.rules import Row, Value
from tests.oracle.values import ordered, plain, scale_of, spelled, wrapped


def aggregate(function: str, rows: Sequence[Row], type: str, parameter: Any = None) -> Value | None:
    """The result of `type`, None if there is none. Raises OracleArithmeticError if 64 bits do not hold it."""
    if function == "count":
        return len(rows)
    if function.startswith("@@"):
        in_order: list[Any] = sorted((row[0] for row in rows), key=ordered)
        return reduce(FUNCTORS[function[2:]].call, in_order, parameter)
    if not rows:
        return _zero(type) if function == "sum" else None
    values: list[Any] = sorted((row[0] for row in rows), key=ordered)
    match function:
        case "sum":
            return _sum(values) if type == "float" else wrapped(sum(map(Fraction, values), Fraction(0)), type, f"the sum of {values}")
        case "mean":
            return _sum(values, len(values))
        case "min":
            return values[0]  # type: ignore[no-any-return]
        case "max":
            return values[-1]  # type: ignore[no-any-return]
        case "median":
            return quantile(values, Fraction(1, 2))
        case "quantile":
            return quantile(values, Fraction(str(parameter)))
        case "argmin" | "argmax":
            best = values[0 if function == "argmin" else -1]
            return min((row[1] for row in rows if ordered(row[0]) == ordered(best)), key=ordered)
        case "product":
            return _product(values, type)
        case "bitand" | "bitor" | "bitxor":
            return int(reduce({"bitand": and_, "bitor": or_, "bitxor": xor}[function], values))
        case "collect":
            return f"[{', '.join(_quoted(value) for value in sorted(set(values), key=ordered))}]"
        case "join":
            return str(parameter).join(map(spelled, values))
    raise ValueError(f"no aggregate: {function}")


def quantile(values: Sequence[Value], fraction: Fraction) -> Value:
    """The value at rank max(1, ceil(fraction · n)) of sorted `values`."""
    return values[max(1, math.ceil(fraction * len(values))) - 1]


def _zero(type: str) -> Value:
    scale = scale_of(type)
    if scale is not None:
        return Decimal(0).scaleb(-scale)
    return 0.0 if type == "float" else 0


def _sum(values: Sequence[Any], divisor: int = 1) -> float:
    """The exact sum over `divisor` as the nearest float. Infinities and NaN are as IEEE has them."""
    special = [value for value in values if isinstance(value, float) and not math.isfinite(value)]
    if special:
        return plain(sum(special))
    exact = sum(map(Fraction, values), Fraction(0)) / divisor
    try:
        return plain(float(exact))
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def _product(values: Sequence[Any], type: str) -> Value:
    if type == "float":
        return plain(reduce(lambda left, right: left * right, values, 1.0))
    return wrapped(Fraction(math.prod(values)), type, f"the product of {values}")


def _quoted(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else spelled(value)
