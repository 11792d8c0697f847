"""`python -m tests.bench [NAMES] [--seconds S] [--save FILE]`"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import click
from rich.console import Console

from tests.bench.measure import Skipped, Wrong
from tests.bench.report import Report

BENCHES = ("facebook", "closure", "points_to", "aggregates", "crossover", "orders", "records_versus_derived", "startup")


@click.command()
@click.argument("names", nargs=-1, type=click.Choice(BENCHES))
@click.option("--seconds", default=60.0, show_default=True, help="How long one stream of transactions may take.")
@click.option("--save", type=click.Path(dir_okay=False, path_type=Path), help="Write the figures as JSON.")
def main(names: tuple[str, ...], seconds: float, save: Path | None) -> None:
    """Run benchmarks (all, without NAMES) and print their figures.

    Seconds are CPU time. Every result is checked against a known count; exit status 1 says that one was wrong.
    Data sets that the repository does not hold are looked for in the folder that DATALOG_DATA names.
    """
    report = Report(Console(width=None if sys.stdout.isatty() else 160))
    wrong = False
    for name in names or BENCHES:
        bench = importlib.import_module(f"tests.bench.{name}")
        report.begin(name, str(bench.__doc__).split("\n")[0])
        try:
            bench.run(report, seconds)
        except Skipped as reason:
            report.note(f"skipped: {reason}")
        except Wrong as reason:
            report.note(f"wrong: {reason}")
            wrong = True
    if save is not None:
        report.save(save)
    sys.exit(wrong)


if __name__ == "__main__":
    main()
