"""Options of the command line about what is done with a program before it is read, and where its functors are; Soufflé's, by the same
names."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

_OPTIONS = (
    click.option(
        "-I",
        "--include-dir",
        "folders",
        multiple=True,
        type=click.Path(path_type=Path, exists=True, file_okay=False),
        metavar="DIR",
        help="Where included files are looked for, besides the folder of the file that includes them; may be given several times.",
    ),
    click.option(
        "-M", "--macro", "macros", multiple=True, metavar="NAME=VALUE", help="Define macros for the preprocessor: -M 'N=10 DEBUG'."
    ),
    click.option("--no-preprocessor", is_flag=True, help="Start no C preprocessor, whatever lines the program has."),
    click.option(
        "--preprocessor",
        default="",
        metavar="CMD",
        help="The C preprocessor for programs with lines such as #define: mcpp, gcc or a command.  [default: what is installed]",
    ),
    click.option(
        "--functors",
        "modules",
        multiple=True,
        type=click.Path(path_type=Path, exists=True, dir_okay=False),
        metavar="FILE.py",
        help="Python functions for the functors that the program declares with .functor, by their names; may be given several times.",
    ),
    click.option(
        "-l",
        "--libraries",
        "libraries",
        multiple=True,
        metavar="NAMES",
        help="Shared libraries with C functions for them: N is libN.so.  [default: functors, if there is one]",
    ),
    click.option(
        "-L",
        "--library-dir",
        "library_folders",
        multiple=True,
        type=click.Path(path_type=Path, file_okay=False),
        metavar="DIR",
        help="Where libraries are looked for.  [default: the current directory]",
    ),
)


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command the options; it takes what they say as `reading`."""

    @functools.wraps(command)
    def packed(
        *arguments: Any,
        folders: Sequence[Path],
        macros: Sequence[str],
        no_preprocessor: bool,
        preprocessor: str,
        modules: Sequence[Path],
        libraries: Sequence[str],
        library_folders: Sequence[Path],
        **others: Any,
    ) -> Any:
        from datalog.reading import FunctorFiles, Reading

        words = tuple(word for text in macros for word in text.split())
        named = tuple(name for text in libraries for name in text.split())
        functors = FunctorFiles(tuple(modules), named, tuple(library_folders), ("functors",))
        return command(*arguments, reading=Reading(tuple(folders), words, not no_preprocessor, preprocessor, functors), **others)

    for option in reversed(_OPTIONS):
        packed = option(packed)
    return packed
