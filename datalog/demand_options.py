"""Options of the command line about what is evaluated on demand, by Soufflé's names for it: the magic set transformation."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click

_OPTIONS = (
    click.option(
        "-m",
        "--magic-transform",
        "on_demand",
        metavar="NAMES|*",
        help="Predicates to evaluate on demand, with commas between them, or all but outputs (*): of them, only what outputs ask for.",
    ),
    click.option("--magic-transform-exclude", "whole", metavar="NAMES", help="Predicates that -m leaves whole."),
)


def demand_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command the options; it takes what they say as `demand`, options of `Database`."""

    @functools.wraps(command)
    def packed(*arguments: Any, on_demand: str | None, whole: str | None, **others: Any) -> Any:
        said = {"on_demand": on_demand, "whole": whole}
        return command(*arguments, demand={name: names for name, names in said.items() if names is not None}, **others)

    for option in reversed(_OPTIONS):
        packed = option(packed)
    return packed
