"""Terms and literals of primitives: such as cannot fail for bodies, and such as can for rules made to fail."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from tests.oracle.rules import Compare, Const, Literal, Not, Op, Term, Test, Value, Var
from tests.properties.bodies import MOST_VARIABLES, Body, constant
from tests.properties.ranges import Column, column_of, full, result

PATTERNS = ("a.*", ".*b", "[a-c]+", "", "a|é", "[^\\n\\r]")
NO_PATTERNS = ("(", "a**b)", "[z-a]")
PARTS = ("a", "", "b", '"')
DIVISORS: dict[str, Value] = {"number": 4, "unsigned": 4, "float": 2.0, "decimal(2)": Decimal("0.08")}
WORDS = ("band", "bor", "bxor", "bshl", "bshr", "bshru", "bnot")
CHANGES = ("lower", "upper", "trim")
LOGICAL = ("land", "lor", "lxor", "lnot")


def safe_term(body: Body, type: str) -> tuple[Term, Column] | None:
    """A primitive with a result of `type` that has one, or None if there is none for the variables of `body`.

    In recursion, only those that give no more values than they take.
    """
    makers: list[Callable[[Body, str], tuple[Term, Column] | None]] = [_least]
    known = {column.type for column in body.scope.values()}
    if type in ("number", "unsigned", "float", "decimal(2)"):
        makers.append(_absolute)
    if body.floats:
        if type in ("number", "unsigned"):
            makers += [_word, _word, _logical, _power]
        if type == "bool":
            makers += [_truth, _logical]
        if type == "symbol":
            makers += [_text, _text]
        makers += [_conversion] * 2 if any((source, type) in CONVERSIONS for source in known) else []
    return body.choose.pick(makers)(body, type)


def _argument(body: Body, type: str) -> tuple[Term, Column]:
    known = body.variables(type)
    if known and body.choose.chance(75):
        name = body.choose.pick(known)
        return Var(name), body.scope[name]
    return constant(body.choose, type)


def _least(body: Body, type: str) -> tuple[Term, Column]:
    arguments = [_argument(body, type) for _ in range(body.choose.pick((2, 2, 3)))]
    name = body.choose.pick(("min", "max"))
    bound = min if name == "min" else max
    columns = [column for _, column in arguments]
    column = Column(type, bound(column.low for column in columns), bound(column.high for column in columns))
    return Op(name, tuple(term for term, _ in arguments), type), column


def _absolute(body: Body, type: str) -> tuple[Term, Column] | None:
    term, column = _argument(body, type)
    if type == "float":
        return Op("abs", (term,), type), column
    negated = Column(type) if column.low >= 0 else result("-", [column])
    if negated is None:
        return None
    low = 0 if column.low < 0 else column.low
    return Op("abs", (term,), type), Column(type, low, max(column.high, negated.high))


def _word(body: Body, type: str) -> tuple[Term, Column]:
    name = body.choose.pick(WORDS)
    arguments = tuple(_argument(body, type)[0] for _ in range(1 if name == "bnot" else 2))
    return Op(name, arguments, type), full(type)


def _logical(body: Body, type: str) -> tuple[Term, Column]:
    name = body.choose.pick(LOGICAL)
    arguments = tuple(_argument(body, type)[0] for _ in range(1 if name == "lnot" else 2))
    return Op(name, arguments, type), Column(type) if type == "bool" else Column(type, 0, 1)


def _power(body: Body, type: str) -> tuple[Term, Column] | None:
    term, column = _argument(body, type)
    squared = result("*", [column, column])
    return None if squared is None else (Op("^", (term, Const(2, type)), type), squared.hull(column_of((0,), type)))


def _truth(body: Body, type: str) -> tuple[Term, Column]:
    return condition(body), Column(type)


def condition(body: Body) -> Op:
    """`contains("a", x)` or `match("a.*", x)`."""
    text = _argument(body, "symbol")[0]
    if body.choose.chance(50):
        return Op("contains", (Const(body.choose.pick(PARTS), "symbol"), text), "bool")
    return Op("match", (Const(body.choose.pick(PATTERNS), "symbol"), text), "bool")


def _text(body: Body, type: str) -> tuple[Term, Column]:
    name = body.choose.pick(("cat", "+", "substr", "substr", "to_string", "to_string", "replace", *CHANGES))
    match name:
        case "cat":
            arguments = tuple(_argument(body, type)[0] for _ in range(body.choose.pick((2, 2, 3))))
            return Op("cat", arguments, type), Column(type)
        case "replace":
            old, new = (Const(body.choose.pick(PARTS), type) for _ in range(2))
            return Op("replace", (_argument(body, type)[0], old, new), type), Column(type)
        case "lower" | "upper" | "trim":
            return Op(name, (_argument(body, type)[0],), type), Column(type)
        case "+":
            return Op("+", (_argument(body, type)[0], _argument(body, type)[0]), type), Column(type)
        case "substr":
            place = Const(body.choose.pick((0, 0, 1, 5, -1)), "number")
            length = Const(body.choose.pick((1, 0, 2, 100, -1)), "number")
            return Op("substr", (_argument(body, type)[0], place, length), type), Column(type)
    name = body.choose.pick(list(body.scope) or [""])
    if not name:
        return constant(body.choose, type)
    return Op("to_string", (Var(name),), type), Column(type)


# (from, to): the name, and the column of the results, None where it may fail.
CONVERSIONS: dict[tuple[str, str], tuple[str, Callable[[Column], Column | None]]] = {
    ("symbol", "number"): ("strlen", lambda _: Column("number", 0, 2**40)),
    ("bool", "number"): ("to_number", lambda _: Column("number", 0, 1)),
    ("unsigned", "number"): ("to_number", lambda column: (column.high < 2**63 and Column("number", column.low, column.high)) or None),
    ("date", "number"): ("to_number", lambda _: Column("number", -719162, 2932896)),
    ("datetime", "number"): ("to_number", lambda _: Column("number", -(2**56), 2**58)),
    ("decimal(2)", "number"): ("to_number", lambda column: Column("number", int(column.low) - 1, int(column.high) + 1)),
    ("number", "unsigned"): ("to_unsigned", lambda column: Column("unsigned", column.low, column.high) if column.low >= 0 else None),
    ("number", "float"): ("to_float", lambda _: Column("float")),
    ("decimal(2)", "float"): ("to_float", lambda _: Column("float")),
    ("number", "bool"): ("to_bool", lambda _: Column("bool")),
    ("number", "decimal(2)"): (
        "to_decimal",
        lambda column: Column("decimal(2)", column.low, column.high) if -(10**15) < column.low <= column.high < 10**15 else None,
    ),
    ("datetime", "date"): ("to_date", lambda _: Column("date")),
    ("date", "datetime"): ("to_datetime", lambda _: Column("datetime")),
}
PARTS_OF_TIME = {"year": (1, 9999), "month": (1, 12), "day": (1, 31)}
SPANS = {"date": ("days_between", 3652058), "datetime": ("seconds_between", 3652059 * 86400)}


def _conversion(body: Body, type: str) -> tuple[Term, Column] | None:
    name = body.choose.pick([name for name, column in body.scope.items() if (column.type, type) in CONVERSIONS])
    source = body.scope[name].type
    if type == "number" and source in ("date", "datetime") and body.choose.chance(60):
        part = body.choose.pick(sorted(PARTS_OF_TIME))
        return Op(part, (Var(name),), type), Column(type, *PARTS_OF_TIME[part])
    if type == "number" and source in SPANS and body.choose.chance(50):
        primitive, longest = SPANS[source]
        return Op(primitive, (Var(name), _argument(body, source)[0]), type), Column(type, -longest, longest)
    primitive, converted = CONVERSIONS[source, type]
    column = converted(body.scope[name])
    return None if column is None else (Op(primitive, (Var(name),), type), column)


def generated(body: Body) -> None:
    """`z = range(a, b)` or with a step, which binds a new variable or tests one that there is."""
    near = [name for name, column in body.scope.items() if column.is_integer and -20 <= column.low <= column.high <= 20]
    type = body.scope[body.choose.pick(near)].type if near else "number"
    ends: list[tuple[Term, Column]] = []
    for _ in range(2):
        fitting = [name for name in near if body.scope[name].type == type]
        if fitting and body.choose.chance(60):
            name = body.choose.pick(fitting)
            ends.append((Var(name), body.scope[name]))
        else:
            value = body.choose.pick((0, 1, 3, 5, 7))
            ends.append((Const(value, type), column_of((value,), type)))
    arguments = tuple(term for term, _ in ends)
    if body.choose.chance(25):
        arguments += (Const(body.choose.pick((2, 1, 3, 0) if type == "unsigned" else (2, 1, -1, -2, 0)), type),)
    known = body.variables(type)
    if known and (len(body.scope) >= MOST_VARIABLES or body.choose.chance(20)):
        variable = Var(body.choose.pick(known))
    elif len(body.scope) < MOST_VARIABLES:
        variable = Var(next(body.names))
        body.scope[variable.name] = ends[0][1].hull(ends[1][1])
    else:
        return
    body.place(Compare("=", variable, Op("range", arguments, type)))


def inverted(body: Body) -> None:
    """`y = z + 1`, which gives z the value from which y comes."""
    known = [name for name, column in body.scope.items() if column.is_exact]
    if not known or len(body.scope) >= MOST_VARIABLES:
        return
    name = body.choose.pick(known)
    type = body.scope[name].type
    fresh = Var(next(body.names))
    other = _argument(body, type)[0]
    match body.choose.pick(("+", "right", "-", "minus")):
        case "+":
            term = Op("+", (fresh, other), type)
        case "right":
            term = Op("+", (other, fresh), type)
        case "-":
            term = Op("-", (fresh, other) if body.choose.chance(50) else (other, fresh), type)
        case _:
            term = Op("-", (fresh,), type) if type != "unsigned" else Op("-", (fresh, other), type)
    sides = (Var(name), term) if body.choose.chance(70) else (term, Var(name))
    body.place(Compare("=", *sides))
    body.scope[fresh.name] = full(type)


def tested(body: Body) -> Literal | None:
    """A condition on a text that is known, or that it does not hold; a text that is no pattern is neither."""
    if not body.variables("symbol"):
        return None
    test = Test(condition(body))
    if body.choose.chance(10):
        pattern = Const(body.choose.pick(NO_PATTERNS), "symbol")
        test = Test(Op("match", (pattern, _argument(body, "symbol")[0]), "bool"))
    return Not((test,)) if body.choose.chance(30) else test


def risky_term(body: Body) -> Op | None:
    """A primitive over one or two variables of `body` that has no value for some of their values."""
    choose = body.choose
    options: list[Op] = []
    for name, column in body.scope.items():
        variable = Var(name)
        match column.type:
            case "symbol":
                options.append(Op("to_number", (variable,), "number"))
                options.append(Op("to_bool", (variable,), "bool"))
            case "number":
                options.append(Op("to_unsigned", (variable,), "unsigned"))
                options.append(Op("^", (variable, Const(choose.pick((-1, 40, 63)), "number")), "number"))
                options.append(Op(choose.pick("+-*"), (variable, Const(choose.pick((2**62, 2**63 - 1, -(2**63))), "number")), "number"))
            case "unsigned":
                options.append(Op("to_number", (variable,), "number"))
            case "date":
                options.append(Op("add_days", (variable, Const(choose.pick((1, -738000, 3000000)), "number")), "date"))
            case "datetime":
                options.append(Op("add_seconds", (variable, Const(choose.pick((1, -(10**11), 2**62)), "number")), "datetime"))
            case "float" | "decimal(2)":
                options.append(Op("/", (Const(DIVISORS[column.type], column.type), variable), column.type))
    return choose.pick(options) if options else None
