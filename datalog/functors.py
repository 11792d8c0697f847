"""Binds the functors that a program declares, `.functor f(…): …`, to Python functions and to functions of shared libraries.

A functor is the first of its name among the functions that the database was given, those of the Python files, and those of the
libraries. Its types are those of its declaration, whatever a Python function says of its own. Only what is called is looked for.
"""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeAlias, TypeVar

from datalog.errors import Diagnostic, FunctionError, ProgramError
from datalog.evaluate.calls import UserFunction
from datalog.functions import Function, check_call, define, name_of
from datalog.ir.functors import Functor
from datalog.ir.primitives import CALL
from datalog.reading import FunctorFiles

if TYPE_CHECKING:
    from datalog.shared_library import SharedLibrary
    from datalog.souffle_tables import Tables
    from datalog.store.values import Values

P = ParamSpec("P")
R = TypeVar("R")
Given: TypeAlias = "Iterable[Function[..., Any] | Callable[..., Any]] | Mapping[str, Callable[..., Any]]"

HINT = (
    "bind a Python function of that name: --functors FILE.py, or Database(functions=…); "
    "or a C function of a shared library: -l NAME and -L DIR, or Database(libraries=…)"
)


class Functors:
    """What a database binds functors to. `known` are the functions that rules call without a declaration."""

    def __init__(self, functions: Given = (), files: FunctorFiles | None = None) -> None:
        """Raises FunctionError for what cannot be a function, and for a Python file that cannot be executed."""
        self.known: dict[str, UserFunction] = {}
        self._given: dict[str, Callable[..., Any]] = {}
        self._untyped: dict[str, FunctionError] = {}
        self._files = files or FunctorFiles()
        self._modules = [_load(path) for path in self._files.modules]
        self._libraries: list[SharedLibrary] | None = None
        self._tables: Tables | None = None
        self._bound: dict[Functor, UserFunction] = {}
        for module in self._modules:
            self.known = define((one for one in vars(module).values() if isinstance(one, Function)), self.known)
        if isinstance(functions, Mapping):
            self._given.update(functions)
        else:
            for one in functions:
                self.add(one)

    @property
    def asked_for(self) -> bool:
        """Whether it is said where functions are."""
        return bool(self._given or self._files.modules or self._files.libraries or self._files.folders)

    def add(self, function: Function[..., Any] | Callable[..., Any]) -> None:
        """One more function. One that does not tell its types can only be a functor. Raises FunctionError for a second one of a name."""
        name = name_of(function)
        self._refuse_second(name)
        try:
            self.known = define([function], self.known)
        except FunctionError as error:
            if not callable(function):
                raise
            self._untyped[name] = error
        self._given[name] = function

    def add_functor(self, functor: Functor, call: Callable[P, R], columns: bool) -> Function[P, R]:
        """The function of a functor that is declared. FunctionError if there is one already."""
        self._refuse_second(functor.name)
        made = Function(call, UserFunction(functor.name, functor.arguments, functor.result, call, columns))
        self._given[functor.name] = made
        return made

    def _refuse_second(self, name: str) -> None:
        if name in self._given or any(functor.name == name for functor in self._bound):
            raise FunctionError(f"there is a function {name} already; give the other one another name")

    def declared(self, declared: Collection[str]) -> None:
        """Raise what was wrong with a function that is none of the declared functors."""
        for name, error in self._untyped.items():
            if name not in declared:
                raise error

    def bind(self, functors: Mapping[str, Functor], called: set[str], values: Values) -> dict[str, UserFunction]:
        """The functions of the functors that are called, by how terms call them; always for the values of one database.

        Raises ProgramError with the places of all functors that there is no function for, FunctionError for a library that cannot be read.
        """
        found: dict[str, UserFunction] = {}
        missing: list[Diagnostic] = []
        for name in sorted(functors.keys() & called):  # what is not declared tells its types
            functor = functors[name]
            try:
                if functor not in self._bound:
                    self._bound[functor] = self._function(functor, values)
                found[f"{CALL}{name}"] = self._bound[functor]
            except _Unbound as error:
                span = functor.span
                length = max(1, span.end_column - span.column) if span.end_line == span.line else 1
                missing.append(Diagnostic(str(error), span.file, span.line, span.column, "", length, error.hint))
        if missing:
            raise ProgramError(sorted(missing, key=lambda one: (one.line, one.column)))
        return found

    def _function(self, functor: Functor, values: Values) -> UserFunction:
        call = self._python(functor.name)
        if call is not None:
            columns = isinstance(call, Function) and call.definition.columns
            try:
                check_call(call, functor.name, len(functor.arguments))
            except FunctionError as error:
                raise _Unbound(f"the function for functor `{functor.name}` does not fit: {error}", "") from None
            return UserFunction(functor.name, functor.arguments, functor.result, call, columns)
        searched: list[str] = []
        for library in self._open():
            searched.append(library.name)
            if library.has(functor.name):
                try:
                    return library.function(functor, partial(self._own_tables, values))
                except TypeError as error:
                    raise _Unbound(f"functor `{functor.name}` cannot be a function of {library.name}: {error}", "") from None
        hint = f"{HINT}; {', '.join(searched)} {'has' if len(searched) == 1 else 'have'} none" if searched else HINT
        raise _Unbound(f"there is no function for functor `{functor.name}`", hint)

    def _python(self, name: str) -> Callable[..., Any] | None:
        if name in self._given:
            return self._given[name]
        for module in self._modules:
            named = (one for one in vars(module).values() if isinstance(one, Function) and one.definition.name == name)
            call = next(named, getattr(module, name, None))
            if callable(call):
                return call
        return None

    def _own_tables(self, values: Values) -> Tables:
        from datalog.souffle_tables import Tables

        if self._tables is None:
            self._tables = Tables(values)
        return self._tables

    def _open(self) -> list[SharedLibrary]:
        from datalog.shared_library import find_libraries

        if self._libraries is None:
            self._libraries = find_libraries(self._files)
        return self._libraries


class _Unbound(Exception):
    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


def with_libraries(files: FunctorFiles, libraries: str | Path | Iterable[str | Path]) -> FunctorFiles:
    """The files, and one more library or several."""
    more = (libraries,) if isinstance(libraries, str | Path) else libraries
    return replace(files, libraries=(*files.libraries, *map(str, more)))


def _load(path: Path) -> ModuleType:
    """Execute a Python file as a module."""
    name = f"datalog_functors_{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise FunctionError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise FunctionError(f"{path} cannot be executed: {type(error).__name__}: {error}") from error
    return module
