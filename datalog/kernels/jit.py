"""How kernels are compiled and where the compiled code is kept.

`kernel(signature)` compiles ahead of the first call, for that signature only; `device` is for functions that kernels call. Compiled
code is cached in a directory whose name holds a hash of the kernel's file, of all kernel files that it imports, and of the versions and
settings that shape machine code. Numba itself looks at the kernel's own file only, and would serve an old callee after an edit.

Where Numba is missing or `NUMBA_DISABLE_JIT=1`, kernels are the plain Python functions. Nothing outside this package imports Numba.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

Words: TypeAlias = npt.NDArray[np.int64]
Flags: TypeAlias = npt.NDArray[np.bool_]
Function = TypeVar("Function", bound=Callable[..., Any])

HERE = Path(__file__).parent
_IMPORT = re.compile(r"^\s*from datalog\.kernels\.(\w+) import", re.MULTILINE)


def _load() -> Any:
    """Numba, or None where it is missing or switched off."""
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        return None
    try:
        return importlib.import_module("numba")
    except ImportError:
        return None


numba = _load()


class _NoType:
    """Stands in for Numba's types in signatures when there is no Numba."""

    def __call__(self, *arguments: object) -> _NoType:
        return self


def _array(dimensions: int, readonly: bool, word: str = "int64") -> Any:
    if numba is None:
        return _NoType()
    return numba.types.Array(getattr(numba.types, word), dimensions, "C", readonly=readonly)


# C-contiguous arrays. READ accepts frozen and writable arrays alike; both refuse strided ones and other words.
READ1, READ2 = _array(1, True), _array(2, True)
WRITE1, WRITE2 = _array(1, False), _array(2, False)
READ_FLOATS, WRITE_FLAGS = _array(1, True, "float64"), _array(1, False, "boolean")
INT: Any = numba.types.int64 if numba else _NoType()
FLAG: Any = numba.types.boolean if numba else _NoType()
NOTHING: Any = numba.types.void if numba else _NoType()


def sources(name: str) -> frozenset[str]:
    """The kernel modules that the code of module `name` comes from: itself and all that it imports."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting += _IMPORT.findall((HERE / f"{module}.py").read_text(encoding="utf-8"))
    return frozenset(found)


def cache_directory(name: str) -> Path:
    """Where the compiled kernels of module `name` are kept."""
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__} {numba.config.BOUNDSCHECK} {numba.config.OPT}".encode())
    for module in sorted(sources(name)):
        digest.update(module.encode())
        digest.update((HERE / f"{module}.py").read_bytes())
    return _writable_base() / f"{name}-{digest.hexdigest()[:16]}"


def _writable_base() -> Path:
    """NUMBA_CACHE_DIR if set, else the user's cache, else a private directory among the temporary files."""
    home = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
    owner = os.getuid() if hasattr(os, "getuid") else 0
    temporary = Path(tempfile.gettempdir()) / f"leapfrog-datalog-{owner}"
    for base in (Path(os.environ.get("NUMBA_CACHE_DIR") or Path(home) / "leapfrog-datalog"), temporary):
        try:
            base.mkdir(mode=0o700, parents=True, exist_ok=True)
            # What lies in the cache is executed: among the temporary files it must be our own.
            if os.access(base, os.W_OK) and (base != temporary or base.stat().st_uid == owner):
                return base
        except OSError:
            continue
    return Path(tempfile.mkdtemp(prefix="leapfrog-datalog-"))


_directories: dict[str, Path] = {}


def kernel(signature: Any) -> Callable[[Function], Function]:
    """Compile a function for one signature, or take its compiled form from the cache."""

    def compile_function(function: Function) -> Function:
        if numba is None:
            return function
        name = function.__module__.rpartition(".")[2]
        if name not in _directories:
            _directories[name] = cache_directory(name)
        before = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = str(_directories[name])
        try:
            compiled: Function = numba.njit(signature, cache=True, nogil=True)(function)
        finally:
            numba.config.CACHE_DIR = before
        return compiled

    return compile_function


def device(function: Function) -> Function:
    """A function that kernels call: compiled into each of them, for the types with which they call it."""
    if numba is None:
        return function
    inlined: Function = numba.njit(nogil=True)(function)
    return inlined


def is_cached() -> bool:
    """Whether the kernels are compiled already (or never will be), so that importing them is quick."""
    modules = [path.stem for path in HERE.glob("*.py") if "@kernel(" in path.read_text(encoding="utf-8")]
    return numba is None or all(any(cache_directory(module).rglob("*.nbi")) for module in modules if module != "jit")
