"""Expressions as the postfix code that the join kernel interprets."""

from __future__ import annotations

from collections.abc import Callable

from datalog.ir.core import Apply, Expression, PyValue, Reference, Type, Value
from datalog.kernels import encoding as code
from datalog.syntax.tree import Span

Encode = Callable[[PyValue, Type], int]
Number = Callable[[str, tuple[Type, ...], Type], int]  # of a function that the kernel looks up

LOWEST = -(2**63)
NESTED = ("cat", "min", "max")  # of more than two arguments: nested calls of two
ARITHMETIC = {
    "+": code.CODE_ADD,
    "-": code.CODE_SUBTRACT,
    "*": code.CODE_MULTIPLY,
    "/": code.CODE_DIVIDE,
    "%": code.CODE_REMAINDER,
    "^": code.CODE_POWER,
    "neg": code.CODE_NEGATE,
    "abs": code.CODE_ABSOLUTE,
    "band": code.CODE_AND,
    "bor": code.CODE_OR,
    "bxor": code.CODE_EXCLUSIVE_OR,
    "bnot": code.CODE_COMPLEMENT,
    "bshl": code.CODE_SHIFT_LEFT,
    "bshr": code.CODE_SHIFT_RIGHT,
    "bshru": code.CODE_SHIFT_RIGHT_UNSIGNED,
    "land": code.CODE_BOTH,
    "lor": code.CODE_EITHER,
    "lxor": code.CODE_EITHER_ONE,
    "lnot": code.CODE_NOT,
    "min": code.CODE_LEAST,
    "max": code.CODE_GREATEST,
}
WRAPPING = ("+", "-", "*", "/", "%", "^", "neg", "abs")
KINDS = {Type.UNSIGNED: code.KIND_UNSIGNED, Type.FLOAT: code.KIND_FLOAT}  # all others count as numbers do


class Postfix:
    """The code section of a plan as it grows. `operations` maps the offsets of operations back to the rule."""

    def __init__(self, encode: Encode, number: Number, depth_of: dict[int, int], wraps: bool = False) -> None:
        self.words: list[int] = []
        self.operations: dict[int, tuple[Apply, Span]] = {}
        self.deepest = 1  # words that the deepest expression needs
        self.arguments = 0  # the most that a function is called with
        self._encode, self._number, self._depth_of, self._wraps = encode, number, depth_of, wraps

    def expression(self, expression: Expression) -> int:
        """Append the code of an expression; returns its offset within the section."""
        at = len(self.words)
        self._push(expression, 1)
        self.words.append(code.CODE_END)
        return at

    def _push(self, expression: Expression, height: int) -> None:
        self.deepest = max(self.deepest, height)
        match expression:
            case Reference(variable=variable):
                self.words += [code.CODE_VARIABLE, self._depth_of[variable]]
            case Value(value=value, type=type):
                self.words += [code.CODE_CONSTANT, self._encode(value, type)]
            case Apply(name=name, arguments=arguments):
                if name in NESTED:
                    self._push(arguments[0], height)
                    for argument in arguments[1:]:
                        self._push(argument, height + 1)
                        self._combine(expression)
                    return
                for place, argument in enumerate(arguments):
                    self._push(argument, height + place)
                if name == "range":
                    self._range(expression, height)
                elif name in ARITHMETIC:
                    kind = wrapping_kind_of(expression) if self._wraps else kind_of(expression)
                    self._operate(expression, ARITHMETIC[name] + kind * code.CODE_KIND, unit_of(expression.type))
                elif is_conversion(expression):
                    self._convert(expression, height)
                else:
                    self._call(expression, tuple(argument.type for argument in arguments))

    def within(self, value: Expression, range: Apply) -> int:
        """Append the code of a test whether a value is in a range: 1 or 0."""
        at = len(self.words)
        self._push(value, 1)
        for place, argument in enumerate(range.arguments, 2):
            self._push(argument, place)
        self._range(range, 2)
        self.words += [code.CODE_WITHIN + kind_of(range) * code.CODE_KIND, 0, code.CODE_END]
        return at

    def _range(self, whole: Apply, height: int) -> None:
        """Start, end and perhaps the step are on the stack."""
        self.deepest = max(self.deepest, height + 2)
        default = (max(unit_of(whole.type), 1)) if len(whole.arguments) == 2 else 0
        self._operate(whole, code.CODE_RANGE + kind_of(whole) * code.CODE_KIND, default)

    def _combine(self, whole: Apply) -> None:
        """Combine the two values on the stack."""
        if whole.type is Type.SYMBOL:
            self._call(whole, (Type.SYMBOL, Type.SYMBOL))
        else:
            self._operate(whole, ARITHMETIC[whole.name])

    def _call(self, whole: Apply, types: tuple[Type, ...]) -> None:
        self.arguments = max(self.arguments, len(types))
        self._operate(whole, code.CODE_CALL + len(types) * code.CODE_KIND, self._number(whole.name, types, whole.type))

    def _operate(self, whole: Apply, operation: int, operand: int = 0) -> None:
        self.operations[len(self.words)] = (whole, whole.span)
        self.words += [operation, operand]

    def _convert(self, whole: Apply, height: int) -> None:
        """A conversion between numeric types; the argument is on the stack. Many codes stay as they are."""
        source, unit = whole.arguments[0].type, unit_of(whole.arguments[0].type)
        kind = KINDS.get(source, code.KIND_NUMBER) * code.CODE_KIND
        decimal = code.KIND_DECIMAL * code.CODE_KIND
        match whole.name:
            case "to_bool":
                self._operate(whole, code.CODE_NOT + kind)
                if source is Type.UNSIGNED:
                    self._operate(whole, code.CODE_TO_NUMBER + kind)
                self._operate(whole, code.CODE_NOT)
            case "to_float" if source is not Type.FLOAT:
                self._operate(whole, code.CODE_TO_FLOAT + (decimal if unit else kind), unit)
            case "to_number" | "to_unsigned" if self._wraps and {source, whole.type} == {Type.NUMBER, Type.UNSIGNED}:
                self._by(whole, code.CODE_EXCLUSIVE_OR, LOWEST, height)  # the bits stay as they are
            case "to_number" | "to_unsigned" if source is not whole.type:
                if unit > 1:
                    self._by(whole, code.CODE_DIVIDE, unit, height)
                if whole.name == "to_unsigned" or kind:
                    self._operate(whole, (code.CODE_TO_NUMBER if whole.name == "to_number" else code.CODE_TO_UNSIGNED) + kind)
            case "to_decimal" if source is Type.FLOAT:
                self._operate(whole, code.CODE_TO_DECIMAL + kind, unit_of(whole.type))
            case "to_decimal":
                if source is Type.UNSIGNED:
                    self._operate(whole, code.CODE_TO_NUMBER + kind)
                before, after = max(unit, 1), unit_of(whole.type)
                if before < after:
                    self._by(whole, code.CODE_MULTIPLY, after // before, height)
                elif before > after:
                    self._by(whole, code.CODE_MULTIPLY + decimal, 1, height, before // after)

    def _by(self, whole: Apply, operation: int, number: int, height: int, operand: int = 0) -> None:
        """Combine what is on the stack with a number."""
        self.deepest = max(self.deepest, height + 1)
        self.words += [code.CODE_CONSTANT, number]
        self._operate(whole, operation, operand)


def is_conversion(expression: Apply) -> bool:
    """Is it a conversion that the kernel makes? Symbols come from and go to their texts outside of it."""
    if expression.name == "ord":
        return True  # the code is the value
    return expression.name in ("to_number", "to_unsigned", "to_float", "to_decimal", "to_bool") and (
        expression.arguments[0].type is not Type.SYMBOL
    )


def kind_of(expression: Apply) -> int:
    """The kind of an operation's arguments: decimals only multiply and divide in a way of their own."""
    if expression.type.scale >= 0 and expression.name in "*/":
        return code.KIND_DECIMAL
    return KINDS.get(expression.type, code.KIND_NUMBER)


def wrapping_kind_of(expression: Apply) -> int:
    """The same where arithmetic is that of the machine."""
    if expression.type is Type.NUMBER and expression.name in WRAPPING:
        return code.KIND_WRAPPING
    return code.KIND_UNCHECKED if expression.type is Type.FLOAT and expression.name == "/" else kind_of(expression)


def unit_of(type: Type) -> int:
    """How many of the smallest decimals of a type make 1; 0 if the type is no decimal."""
    return int(10**type.scale) if type.scale >= 0 else 0
