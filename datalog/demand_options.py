"""Options of the command line about what is evaluated on demand, by Soufflé's names for it: the magic set transformation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click


def demand_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command the options; `read_demand` tells what they say."""

    def note(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
        if value is not None:
            context.meta[f"datalog.{parameter.name}"] = value

    whole = click.option(
        "--magic-transform-exclude", "whole", metavar="NAMES", expose_value=False, callback=note, help="Predicates that -m leaves whole."
    )
    on_demand = click.option(
        "-m",
        "--magic-transform",
        "on_demand",
        metavar="NAMES|*",
        expose_value=False,
        callback=note,
        help="Predicates to evaluate on demand, with commas between them, or all but outputs (*): of them, only what outputs ask for.",
    )
    return on_demand(whole(command))


def read_demand() -> dict[str, Any]:
    """What the options of the running command say is on demand, as options of `Database`."""
    meta = click.get_current_context().meta
    return {name: meta[f"datalog.{name}"] for name in ("on_demand", "whole") if f"datalog.{name}" in meta}
