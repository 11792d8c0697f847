"""Options of Soufflé's command line that have nothing to do here, or go by another name.

What changes no result is passed over, with a note if somebody may wait for a file; what asks for something else than results is
refused, with what to do instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

NOTES = "datalog.notes"  # in the context's `meta`: what is to be said of options that were passed over

_NOT_COMPILED = "nothing is compiled here, nor needs to be: the program runs as it is"
_PROFILED = "no profile is written; `datalog plan PROGRAM.dl --run` shows what was done"
_NO_CODE = "no C++ is generated here; `datalog run PROGRAM.dl` runs a program at once, and in Python there is datalog.Database"
_SHOWN = "`datalog plan PROGRAM.dl` shows a program as it is evaluated, `datalog check PROGRAM.dl` what is wrong with it"

PASSED_OVER: tuple[tuple[tuple[str, ...], bool, str], ...] = (  # names, whether there is a value, what is said
    (("-a", "--auto-schedule"), True, "orders come from statistics by themselves"),
    (("-c", "--compile"), False, _NOT_COMPILED),
    (("-C", "--compile-many"), False, _NOT_COMPILED),
    (("-p", "--profile"), True, _PROFILED),
    (("-r", "--debug-report"), True, f"no report is written; {_SHOWN}"),
    (("--live-profile",), False, _PROFILED),
    (("--profile-frequency",), False, _PROFILED),
    (("--inline-exclude",), True, 'the program says it: .pragma "inline-exclude" "p,q"'),
    (("--emit-statistics",), False, "orders come from statistics by themselves"),
    (("-z", "--disable-transformers"), True, ""),
    (("-v", "--verbose"), False, ""),
    (("-W", "--warn"), True, ""),
    (("--wno",), True, ""),
)
REFUSED: tuple[tuple[tuple[str, ...], bool, str], ...] = (
    (("-o", "--dl-program"), True, _NO_CODE),
    (("-g", "--generate"), True, _NO_CODE),
    (("-G", "--generate-many"), True, _NO_CODE),
    (("-N", "--generate-namespace"), True, _NO_CODE),
    (("-s", "--swig"), True, _NO_CODE),
    (("-t", "--provenance"), True, "`datalog explain PROGRAM.dl 'path(1, 3)'` shows why a fact holds, and with --why-not why not"),
    (("-P", "--pragma"), True, "a pragma is an option of that name: give the option itself, such as -F DIR for fact-dir:DIR"),
    (("--parse-errors",), False, _SHOWN),
    (("--show",), True, _SHOWN),
)


def souffle_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command these options; `noted` tells what there is to be said of them."""
    for table, said in ((PASSED_OVER, _pass_over), (REFUSED, _refuse)):
        for names, valued, text in table:
            given: dict[str, Any] = {"multiple": True} if valued else {"is_flag": True}
            command = click.option(*names, expose_value=False, hidden=True, callback=said(text), **given)(command)
    return command


def noted(context: click.Context) -> Sequence[str]:
    notes: list[str] = context.meta.get(NOTES, [])
    return notes


Callback = Callable[[click.Context, click.Parameter, Any], None]


def _pass_over(text: str) -> Callback:
    def pass_over(context: click.Context, parameter: click.Parameter, value: Any) -> None:
        if value and text:
            context.meta.setdefault(NOTES, []).append(f"{parameter.opts[-1]} does nothing: {text}")

    return pass_over


def _refuse(text: str) -> Callback:
    def refuse(context: click.Context, parameter: click.Parameter, value: Any) -> None:
        if value and not (parameter.name == "provenance" and set(value) == {"none"}):
            raise click.UsageError(f"{parameter.opts[-1]} is nothing that this command does: {text}", context)

    return refuse
