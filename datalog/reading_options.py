"""Options of the command line about what is done with a program before it is read; Soufflé's, by the same names."""

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
)


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command the options; it takes what they say as `reading`."""

    @functools.wraps(command)
    def packed(
        *arguments: Any, folders: Sequence[Path], macros: Sequence[str], no_preprocessor: bool, preprocessor: str, **others: Any
    ) -> Any:
        from datalog.reading import Reading

        words = tuple(word for text in macros for word in text.split())
        return command(*arguments, reading=Reading(tuple(folders), words, not no_preprocessor, preprocessor), **others)

    for option in reversed(_OPTIONS):
        packed = option(packed)
    return packed
