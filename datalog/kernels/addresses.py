"""What kernels reach by addresses: arrays of which there are as many as a program says, and other kernels.

A kernel has a fixed number of arguments, and a list of arrays is none that Numba passes quickly. So a kernel that works on many plans or
relations takes a table of the addresses of their arrays; the caller keeps these alive. Kernels take long to compile, the join as long as
all others together, and would be compiled once more into each kernel that calls them; they are called where they lie instead.

As plain Python these are the functions here. In their place machine code has what `machine_forms` makes.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from datalog.kernels.btree import apply_rows
from datalog.kernels.gather import gather
from datalog.kernels.jit import Kernel, Words, device
from datalog.kernels.triejoin import complete

WORD_BYTES = 8


@device
def words_at(address: int, count: int) -> Words:
    """The `count` words at an address."""
    there = (ctypes.c_int64 * int(count)).from_address(int(address))
    return np.frombuffer(memoryview(there), np.int64) if count else np.empty(0, np.int64)


@device
def rows_at(address: int, count: int, width: int) -> Words:
    """The rows at an address, one behind the other."""
    return words_at(address, count * width).reshape(int(count), int(width))


@device
def complete_at(
    address: int,
    pages: Words,
    roots: Words,
    plan: Words,
    labels: Words,
    memo: Words,
    prefixes: Words,
    state: Words,
    output: Words,
    records: Words,
    missed: Words,
) -> int:
    """Call `complete`, whose machine code lies at the address."""
    return complete(pages, roots, plan, labels, memo, prefixes, state, output, records, missed)


@device
def gather_at(address: int, heads: Words, gathered: Words, table: Words, state: Words) -> int:
    """Call `gather`, whose machine code lies at the address."""
    return gather(heads, gathered, table, state)


@device
def apply_rows_at(address: int, pages: Words, ledger: Words, ctl: Words, shape: Words, rows: Words, weights: Words, action: int) -> int:
    """Call `apply_rows`, whose machine code lies at the address."""
    return apply_rows(pages, ledger, ctl, shape, rows, weights, action)


def machine_forms(signature: Callable[[Kernel], Any]) -> dict[Any, Any]:
    """For each of these functions what Numba is to compile in its place; `signature` gives that of a kernel in Numba's types."""
    from numba import types
    from numba.extending import intrinsic
    from numba.np.arrayobj import populate_array

    word = types.int64

    def array(context: Any, builder: Any, kind: Any, address: Any, shape: list[Any], strides: list[Any]) -> Any:
        made = context.make_array(kind)(context, builder)
        data = builder.inttoptr(address, made.data.type)
        size = context.get_constant(types.intp, WORD_BYTES)
        fill: Any = populate_array
        fill(made, data=data, shape=shape, strides=[*strides, size], itemsize=size, meminfo=None)
        return made._getvalue()

    @intrinsic
    def words(typing: Any, address: Any, count: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
            return array(context, builder, sig.return_type, arguments[0], [arguments[1]], [])

        return types.Array(word, 1, "C")(word, word), generate

    @intrinsic
    def rows(typing: Any, address: Any, count: Any, width: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
            a_row = builder.mul(arguments[2], context.get_constant(types.intp, WORD_BYTES))
            return array(context, builder, sig.return_type, arguments[0], list(arguments[1:]), [a_row])

        return types.Array(word, 2, "C")(word, word, word), generate

    def call(kernel: Any) -> Any:
        kinds = signature(kernel)

        def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
            convention = context.call_conv
            function = builder.inttoptr(arguments[0], convention.get_function_type(sig.return_type, sig.args[1:]).as_pointer())
            _, result = convention.call_function(builder, function, sig.return_type, sig.args[1:], arguments[1:])
            return result

        return kinds.return_type(word, *kinds.args), generate

    # Numba asks for as many arguments as the function has.
    return {
        words_at: words,
        rows_at: rows,
        complete_at: intrinsic(lambda typing, address, a, b, c, d, e, f, g, h, i, j: call(complete)),
        gather_at: intrinsic(lambda typing, address, a, b, c, d: call(gather)),
        apply_rows_at: intrinsic(lambda typing, address, a, b, c, d, e, f, g: call(apply_rows)),
    }
