"""What is done with the files of a program before it is read, and where the functions are that it calls."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class FunctorFiles:
    """Where the functors are that a program declares: Python files, and shared libraries.

    A library is a path, or the name N of a libN.so in one of the folders. `usual` are those that need not be there.
    """

    modules: tuple[Path, ...] = ()
    libraries: tuple[str, ...] = ()
    folders: tuple[Path, ...] = ()
    usual: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """Where included files are looked for, besides the folder of the file that includes them, and what is done before reading.

    `macros` are definitions such as `N=10` for the preprocessor; `preprocessor` is its name (mcpp, gcc) or a whole command, and empty
    for whichever is installed.
    """

    folders: tuple[Path, ...] = ()
    macros: tuple[str, ...] = ()
    preprocess: bool = True
    preprocessor: str = ""
    functors: FunctorFiles = FunctorFiles()
