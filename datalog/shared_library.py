"""Functors in shared libraries, with Soufflé's C signatures: `extern "C"` functions that ctypes calls.

    .functor f(x: number, y: symbol): float             double f(int64_t x, const char* y)
    .functor g(x: unsigned, l: List): List stateful     int64_t g(SymbolTable*, RecordTable*, int64_t x, int64_t l)

numbers are int64_t, unsigneds uint64_t, floats double, symbols null-terminated UTF-8. A `stateful` functor gets and gives words of 64
bits, as Soufflé lays values out, and two tables by which it takes them apart and makes new ones (`datalog.souffle_tables`).
What goes wrong inside a library (a C++ exception, a wrong pointer) ends the process; nothing can be done about that from here.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from datalog.errors import FunctionError
from datalog.evaluate.calls import Computed, Failed, UserFunction
from datalog.ir.core import Type
from datalog.ir.functors import Functor
from datalog.ir.structures import Structure
from datalog.reading import FunctorFiles

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from datalog.souffle_tables import Tables

SUFFIX = ".dylib" if sys.platform == "darwin" else ".so"
C_TYPES: dict[Type, Any] = {
    Type.NUMBER: ctypes.c_int64,
    Type.UNSIGNED: ctypes.c_uint64,
    Type.FLOAT: ctypes.c_double,
    Type.SYMBOL: ctypes.c_char_p,
}


class SharedLibrary:
    """One library that has been loaded."""

    def __init__(self, path: str) -> None:
        self.name = path
        try:
            self._library = ctypes.CDLL(path)
        except OSError as error:
            raise FunctionError(f"the library {path} cannot be loaded: {error}") from error

    def has(self, name: str) -> bool:
        return hasattr(self._library, name)

    def function(self, functor: Functor, tables: Callable[[], Tables]) -> UserFunction:
        """The function of a functor; `tables` are those of the database. TypeError for types that C functions do not take."""
        for type in (*functor.arguments, functor.result):
            if type not in C_TYPES and not isinstance(type, Structure):
                raise TypeError(f"a {type.value} is nothing that a C function takes or gives")
        symbol = self._library[functor.name]
        if functor.stateful:
            return UserFunction(functor.name, functor.arguments, functor.result, _stateful(symbol, functor, tables()), codes=True)
        symbol.argtypes = [C_TYPES[type] for type in functor.arguments]
        symbol.restype = C_TYPES[functor.result]
        return UserFunction(functor.name, functor.arguments, functor.result, _plain(symbol, functor))


def find_libraries(files: FunctorFiles) -> list[SharedLibrary]:
    """The libraries that are asked for, or, where the command line asks for none, Soufflé's `functors` if there is one."""
    found: list[SharedLibrary] = []
    for name in files.libraries or files.usual:
        paths = [Path(name)] if os.sep in name else [folder / f"lib{name}{SUFFIX}" for folder in files.folders or (Path(),)]
        path = next((path for path in paths if path.is_file()), None)
        if path is not None:
            found.append(SharedLibrary(str(path.absolute())))
        elif files.libraries:
            there = [file.name for path in paths for file in sorted(path.parent.glob(f"lib*{SUFFIX}"))]
            beside = f"; there is {', '.join(there[:5])}" if there else ""
            raise FunctionError(f"there is no library {' or '.join(map(str, paths))}{beside}")
    return found


def _plain(symbol: Callable[..., Any], functor: Functor) -> Callable[..., Any]:
    texts = [place for place, type in enumerate(functor.arguments) if type is Type.SYMBOL]
    gives_text = functor.result is Type.SYMBOL

    def call(*arguments: Any) -> Any:
        given = list(arguments)
        for place in texts:
            given[place] = _null_terminated(given[place])
        result = symbol(*given)
        return result.decode() if gives_text and result is not None else result

    return call


def _null_terminated(text: str) -> bytes:
    if "\0" in text:
        raise ValueError("a text with a null character in it would end there for a C function")
    return text.encode()


def _stateful(symbol: Any, functor: Functor, tables: Tables) -> Callable[..., Computed]:
    symbol.argtypes = [ctypes.c_void_p, ctypes.c_void_p, *(ctypes.c_int64 for _ in functor.arguments)]
    symbol.restype = ctypes.c_int64

    def compute(columns: Sequence[NDArray[np.int64]], rows: int, failed: Failed) -> Computed:
        import numpy as np

        codes, failures = np.zeros(rows, np.int64), dict[int, str]()
        words = [tables.words(column, type) for column, type in zip(columns, functor.arguments, strict=True)]
        for row in range(rows):
            try:
                codes[row] = tables.code(tables.call(symbol, [column[row] for column in words]), functor.result)
            except (ValueError, LookupError) as error:
                failures[row] = failed(error)
        tables.settle()
        return codes, failures

    return compute
