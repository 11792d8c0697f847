"""How kernels run: as plain Python at first, as machine code once there is enough to do.

Importing Numba and loading a kernel's machine code takes some tenths of a second, and compiling all kernels takes many seconds; a small
program is done before that. So a `Kernel` is called as a plain Python function until all kernels together have run for `patience`
seconds, or until it meets a block of more than LARGE rows, which plain Python would not get through in that time. From then on each
kernel is replaced by its machine code when it is next called (`machine_code.py`). If that has to be compiled first, other processes do
so: calls go on in plain Python meanwhile, and only those with more than HUGE rows wait.

Both forms do the same to the same arrays (the tests run in both, and switch between calls), and kernels keep no state but in their
arguments, so it is safe to switch between any two calls. What could run for long on few rows must be a kernel that pauses at a budget:
its plain calls get slices of SLICE steps.

`device` is for functions that kernels call; nothing else calls them. DATALOG_PATIENCE sets the patience: with 0 kernels are machine
code from the first call, with inf they never are. Where Numba is missing or `NUMBA_DISABLE_JIT=1`, kernels are the plain functions
themselves.
"""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib import util
from time import thread_time
from types import FunctionType
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt

Words: TypeAlias = npt.NDArray[np.int64]
Flags: TypeAlias = npt.NDArray[np.bool_]
Function = TypeVar("Function", bound=Callable[..., Any])

LARGE, HUGE = 4_000, 200_000  # rows, of which each takes a plain kernel 10 to 20 µs: a patience, and some seconds
SLICE = 2_000  # steps of a join, of some 5 µs each
# Arguments whose size is not that of the work.
NO_WORK = ("pages", "ledger", "ctl", "plan", "labels", "memo", "state", "output", "records", "missed", "gathered", "table", "sizes")
PLAIN = -1  # an address that none has

# Is there Numba, and may it be used? Looking for it is much quicker than importing it.
has_numba = os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0") and util.find_spec("numba") is not None
patience = float(os.environ.get("DATALOG_PATIENCE") or 0.15)  # seconds, about what the import of Numba and loading some kernels take
on_wait: Callable[[], None] | None = None  # called before a wait for compilers
_spent = 0.0  # seconds that plain kernels have run


@dataclass(frozen=True, slots=True)
class Kind:
    """The type of an argument or a result: a word, or a C-contiguous array of words, in Numba's names."""

    word: str
    dimensions: int = 0
    readonly: bool = False

    def __call__(self, *arguments: Kind) -> Signature:
        return Signature(self, arguments)


@dataclass(frozen=True, slots=True)
class Signature:
    """The only types with which a kernel is called."""

    result: Kind
    arguments: tuple[Kind, ...]


# READ accepts frozen and writable arrays alike; machine code of both refuses strided arrays and other words.
READ1, READ2 = Kind("int64", 1, True), Kind("int64", 2, True)
WRITE1, WRITE2 = Kind("int64", 1), Kind("int64", 2)
WRITE_FLAGS = Kind("boolean", 1)
INT, NOTHING = Kind("int64"), Kind("void")


@dataclass(frozen=True, slots=True)
class Budget:
    """That a kernel pauses, when the word `steps` of its argument `state` reaches the word `limit`, for its caller to call it again."""

    steps: int
    limit: int


class Kernel:
    """A function over arrays that turns from plain Python into machine code; `py_func` stays the plain one."""

    __slots__ = ("_blocks", "_budget", "_run", "_state", "py_func", "signature")

    def __init__(self, function: FunctionType, signature: Signature, budget: Budget | None) -> None:
        self.py_func, self.signature, self._budget = function, signature, budget
        names = list(inspect.signature(function).parameters)
        arrays = [at for at, kind in enumerate(signature.arguments) if kind.dimensions]
        self._blocks = tuple(at for at in arrays if names[at] not in NO_WORK)
        self._state = names.index("state") if budget else -1
        self._run: Callable[..., Any] = self._at_first

    def __call__(self, *arguments: Any) -> Any:
        return self._run(*arguments)

    def _at_first(self, *arguments: Any) -> Any:
        rows = max(len(arguments[at]) for at in self._blocks)
        if _spent >= patience or (rows > LARGE and patience < math.inf):
            from datalog.kernels.machine_code import is_ready, load

            if is_ready(self, wait=rows > HUGE or patience == 0):
                self._run = load(self)
                return self._run(*arguments)
        return self._plainly(arguments)

    def _plainly(self, arguments: tuple[Any, ...]) -> Any:
        global _spent
        began = thread_time()
        limit, state = 0, None
        if self._budget is not None:
            state = arguments[self._state]
            limit = state[self._budget.limit]
            state[self._budget.limit] = min(limit, state[self._budget.steps] + SLICE)
        with np.errstate(all="ignore"):  # NumPy's numbers warn where the kernel checks the result afterwards
            result = self.py_func(*arguments)
        if self._budget is not None and state is not None:
            state[self._budget.limit] = limit
        _spent += thread_time() - began
        return result


def address_of(function: Callable[..., Any]) -> int:
    """Where the machine code of a kernel lies; PLAIN while it runs as plain Python, and 0 where it always does."""
    if not isinstance(function, Kernel):
        return 0
    if function._run == function._at_first:
        return PLAIN
    from datalog.kernels.machine_code import address

    return address(function._run)


devices: set[FunctionType] = set()


def kernel(signature: Signature, budget: Budget | None = None) -> Callable[[Function], Function]:
    """Make a function a kernel, for one signature. With a budget it must have an argument `state` that holds it."""

    def make(function: Function) -> Function:
        if not has_numba:
            return function
        return cast(Function, Kernel(cast(FunctionType, function), signature, budget))

    return make


def device(function: Function) -> Function:
    """A function that kernels call: compiled into each of them, for the types with which they call it.

    A constant is a type of its own, which is a variant to compile; `int(…)` around a constant makes it a plain number.
    """
    devices.add(cast(FunctionType, function))
    return function
