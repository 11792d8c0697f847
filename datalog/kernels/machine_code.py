"""Machine code of kernels: compiling it, and keeping it between runs.

Code is kept in a directory whose name holds a hash of the kernel's file, of all kernel files that it imports, and of the versions and
settings that shape machine code. Numba itself looks at the kernel's own file only, and would serve an old callee after an edit.

The modules of kernels stay plain Python. What Numba compiles are twins of their functions, with the same code and other globals, in
which the functions that kernels call are compiled ones.

Code that is not kept yet is compiled by one process or two, which go through the modules from both ends and so meet. They outlive this
process, lest each of many short runs compiles anew. Where they cannot be started or fail, the calling thread compiles.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from threading import RLock
from time import monotonic, sleep
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from datalog.cache_folder import cache_folder
from datalog.kernels import addresses, jit
from datalog.kernels.jit import Kernel, Kind, devices

if TYPE_CHECKING:
    from subprocess import Popen

HERE = Path(__file__).parent
LOOK = 0.1  # seconds between two looks for code that others compile
WAIT = 0.01
COMPILERS = 2  # more would find nothing to do: the join takes as long as all else
_IMPORT = re.compile(r"^\s*from datalog\.kernels\.(\w+) import", re.MULTILINE)
_KERNEL = re.compile(r"^@kernel\(", re.MULTILINE)

_compilers: list[Popen[bytes]] | None = None
_looks: dict[str, float] = {}  # when to look next for the code of a module
_lock = RLock()


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


def modules() -> list[str]:
    """The modules that have kernels, those first that take long to compile."""
    having = [path.stem for path in HERE.glob("*.py") if _kernels_in(path.stem)]
    return sorted(having, key=lambda name: (-sum((HERE / f"{source}.py").stat().st_size for source in sources(name)), name))


def _kernels_in(name: str) -> int:
    return len(_KERNEL.findall((HERE / f"{name}.py").read_text(encoding="utf-8")))


def _numba() -> Any:
    return import_module("numba")


def cache_directory(name: str) -> Path:
    """Where the compiled kernels of module `name` are kept."""
    import hashlib
    from importlib.metadata import version

    stamp = (HERE / f"{name}.py").stat().st_mtime_ns  # after a change of which Numba compiles anew
    settings = [os.environ.get(f"NUMBA_{setting}", "") for setting in ("BOUNDSCHECK", "OPT")]
    digest = hashlib.sha256(repr((version("numba"), np.__version__, sys.implementation.cache_tag, stamp, settings)).encode())
    for module in sorted(sources(name)):
        digest.update(module.encode())
        digest.update((HERE / f"{module}.py").read_bytes())
    return cache_folder() / f"{name}-{digest.hexdigest()[:16]}"


def is_kept(name: str) -> bool:
    """Whether all kernels of a module have been compiled."""
    return len(list(cache_directory(name).rglob("*.nbc"))) >= _kernels_in(name)


def is_ready(kernel: Kernel, wait: bool) -> bool:
    """Whether `load` would not take long, or would because nobody else compiles; with `wait`, after waiting for those who do."""
    name = _home(kernel)
    if not wait and monotonic() < _looks.get(name, 0):
        return False
    if is_kept(name):
        return True
    if wait:
        _wait(lambda: is_kept(name))
        return True
    _looks[name] = monotonic() + LOOK
    return not _are_compiling()


def _wait(until: Callable[[], bool]) -> None:
    if jit.on_wait is not None:
        jit.on_wait()
        jit.on_wait = None
    while _are_compiling() and not until():
        sleep(WAIT)


def _are_compiling() -> bool:
    """Whether compilers run; they are started once."""
    global _compilers
    with _lock:
        if _compilers is None:
            _compilers = _start()
    return any(process.poll() is None for process in _compilers)


def _start() -> list[Popen[bytes]]:
    from subprocess import DEVNULL, Popen

    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache_folder())}
    processes = []
    for number in range(min(COMPILERS, os.cpu_count() or 1)):
        code = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import compile_missing; compile_missing({number})"
        command = [sys.executable, "-c", code]
        try:
            processes.append(Popen(command, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, env=environment, start_new_session=True))
        except OSError:
            break
    return processes


def compile_missing(number: int = 0) -> None:
    """Compile what is not kept yet, module by module, in an order that an odd number turns round."""
    for name in modules()[:: -1 if number % 2 else 1]:
        if not is_kept(name):
            module = import_module(f"datalog.kernels.{name}")
            for value in vars(module).values():
                if isinstance(value, Kernel) and _home(value) == name:
                    load(value)


def compile_all() -> None:
    """Compile all kernels that are not kept yet, on two cores. Returns when they are."""
    names = modules()
    if not all(map(is_kept, names)):
        _wait(lambda: all(map(is_kept, names)))
        compile_missing()


def load(kernel: Kernel) -> Any:
    """The machine code of a kernel, from where it is kept; compiled and kept if it is not there."""
    numba = _numba()
    with _lock:
        before = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = str(cache_directory(_home(kernel)))
        try:
            return _kept(kernel) or _compiled(kernel)
        finally:
            numba.config.CACHE_DIR = before


def _kept(kernel: Kernel) -> Any:
    """The machine code that is kept, or None.

    Numba would ready itself to compile first, which takes as long as its import. Where its inside is another one, that is what happens.
    """
    function = kernel.py_func
    found = _dispatcher(kernel, _twin(function, function.__globals__))
    try:
        import_module("numba.core.runtime").rtsys.initialize(found.targetctx)  # for kernels that make arrays
        signature = _numba_signature(kernel)
        code = found._cache._load_overload(signature, found.targetctx)
        if code is not None:
            found._cache_hits[signature] += 1
            found.add_overload(code)
            found.disable_compile()
            return found
    except (AttributeError, TypeError):
        pass
    return None


def _compiled(kernel: Kernel) -> Any:
    made = _dispatcher(kernel, _twin(kernel.py_func, _world(kernel.py_func.__module__)))
    made.compile(_numba_signature(kernel))
    made.disable_compile()
    return made


def _dispatcher(kernel: Kernel, twin: FunctionType) -> Any:
    return _numba().njit(cache=True, nogil=True, no_cfunc_wrapper=True, _nrt=_makes_arrays(kernel.py_func))(twin)


def _home(kernel: Kernel) -> str:
    return kernel.py_func.__module__.rpartition(".")[2]


def _numba_type(kind: Kind) -> Any:
    types = _numba().types
    word = getattr(types, kind.word)
    return types.Array(word, kind.dimensions, "C", readonly=kind.readonly) if kind.dimensions else word


def _numba_signature(kernel: Kernel) -> Any:
    return _numba_type(kernel.signature.result)(*map(_numba_type, kernel.signature.arguments))


def address(code: Any) -> int:
    """Where machine code that was loaded lies, for kernels that call it."""
    (compiled,) = code.overloads.values()
    return int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name))


_worlds: dict[str, dict[str, Any]] = {}


def _world(module: str) -> dict[str, Any]:
    """The globals of a kernel module, with compiled functions in place of the devices."""
    if module not in _worlds:
        names = _worlds[module] = dict(vars(sys.modules[module]))
        if module == addresses.__name__:
            names.update({function.__name__: form for function, form in addresses.machine_forms(_numba_signature).items()})
            return names
        for name, value in names.items():
            if isinstance(value, FunctionType) and value in devices:
                own = value.__module__ == module
                names[name] = _compiled_device(value, names) if own else _world(value.__module__)[value.__name__]
    return _worlds[module]


def _compiled_device(function: FunctionType, world: dict[str, Any]) -> Any:
    # Nobody calls it but kernels: it needs no way in from Python or C, which would take a fifth of the time to compile.
    settings = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": _makes_arrays(function)}
    return _numba().njit(nogil=True, **settings)(_twin(function, world))


def _makes_arrays(function: FunctionType) -> bool:
    """Only these functions have to count who refers to arrays. Others are spared that, a fifth of a join's time."""
    return not {"empty", "zeros"}.isdisjoint(function.__code__.co_names)


def _twin(function: FunctionType, world: dict[str, Any]) -> FunctionType:
    twin = FunctionType(function.__code__, world, function.__name__, function.__defaults__)
    twin.__qualname__ = function.__qualname__
    return twin
